# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.bakery.orders

import rego.v1

import data.cupcake.system.commands

deny contains decision if {
	commands.has_verb(input.tool_input.command, "cancel")
	some word in split(input.tool_input.command, " ")
	data.cupcake.system.is_order(word)
	decision := {"rule_id": "BAKERY-ORDER", "reason": "Orders are cancelled by people", "severity": "HIGH"}
}
