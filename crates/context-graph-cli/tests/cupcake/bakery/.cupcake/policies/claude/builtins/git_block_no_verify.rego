# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.builtins.git_block_no_verify

import rego.v1

import data.cupcake.system.commands

deny contains decision if {
	commands.has_verb(input.tool_input.command, "git")
	commands.has_dangerous_verb(input.tool_input.command, {"--no-verify", "-n"})
	reason := input.builtin_config.git_block_no_verify.message
	decision := {"rule_id": "BAKERY-HOOKS", "reason": reason, "severity": "HIGH"}
}
