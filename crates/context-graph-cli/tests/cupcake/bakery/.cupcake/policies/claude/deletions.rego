# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.bakery.deletions

import rego.v1

import data.cupcake.system.commands

removing := {"rm", "rmdir", "shred", "unlink"}

deny contains decision if {
	commands.has_dangerous_verb(input.tool_input.command, removing)
	decision := {"rule_id": "BAKERY-DELETE", "reason": "Nothing is thrown away", "severity": "HIGH"}
}
