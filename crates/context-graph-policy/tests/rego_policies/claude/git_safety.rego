# METADATA
# scope: package
# title: Git safety
# authors: ["Platform team"]
# custom:
#   severity: HIGH
#   id: GIT-SAFETY
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.git_safety

import data.cupcake.helpers.commands
import rego.v1

protected_branches := {"main", "master", "release"}

deny contains decision if {
	input.hook_event_name == "PreToolUse"
	command := lower(input.tool_input.command)
	commands.runs(command, "git")
	contains(command, "--no-verify")
	decision := {
		"rule_id": "GIT-001",
		"reason": "Commit hooks are not to be skipped",
		"severity": "HIGH",
	}
}

deny contains decision if {
	command := lower(input.tool_input.command)
	regex.match(`git\s+push\b.*(\s-f\b|--force\b)`, command)
	some branch in protected_branches
	contains(command, branch)
	decision := {
		"rule_id": "GIT-002",
		"reason": sprintf("Forced push to %s", [branch]),
		"severity": "CRITICAL",
	}
}

ask contains decision if {
	command := lower(input.tool_input.command)
	commands.runs(command, "git")
	regex.match(`git\s+push(\s|$)`, command)
	not contains(command, "--dry-run")
	decision := {
		"rule_id": "GIT-003",
		"reason": "Pushing to a remote repository",
		"question": "Push now?",
		"severity": "MEDIUM",
	}
}

ask contains decision if {
	command := lower(input.tool_input.command)
	some risky in ["git reset --hard", "git clean -fd", "git checkout -- .", "git stash drop"]
	contains(command, risky)
	decision := {
		"rule_id": "GIT-004",
		"reason": concat("", ["Local changes may be lost: ", risky]),
		"severity": "HIGH",
	}
}
