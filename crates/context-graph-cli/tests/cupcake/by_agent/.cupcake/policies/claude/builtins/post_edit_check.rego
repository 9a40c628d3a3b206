# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PostToolUse"]
#     required_tools: ["Write", "Edit"]
package cupcake.policies.builtins.post_edit_check

import rego.v1

block contains decision if {
	parts := split(input.tool_input.file_path, ".")
	answer := input.signals[concat("", ["__builtin_post_edit_", parts[count(parts) - 1]])]
	answer.exit_code != 0
	decision := {"rule_id": "SHOP-EDIT", "reason": answer.output, "severity": "MEDIUM"}
}
