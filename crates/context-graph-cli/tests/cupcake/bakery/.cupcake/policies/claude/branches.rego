# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
#     required_signals: ["current_branch", "oven"]
package cupcake.policies.bakery.branches

import rego.v1

import data.cupcake.system.commands

deny contains decision if {
	commands.has_verb(input.tool_input.command, "git")
	commands.has_verb(input.tool_input.command, "push")
	input.signals.current_branch == "main"
	decision := {"rule_id": "BAKERY-PUSH", "reason": "main is baked by the desk", "severity": "HIGH"}
}

ask contains decision if {
	commands.has_verb(input.tool_input.command, "deploy")
	input.signals.oven.hot
	decision := {"rule_id": "BAKERY-OVEN", "reason": "The oven is hot", "severity": "MEDIUM"}
}
