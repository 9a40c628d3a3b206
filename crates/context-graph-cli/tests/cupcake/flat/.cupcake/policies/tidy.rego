# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.tidy

import rego.v1

deny contains decision if {
	startswith(input.tool_input.command, "npm ")
	decision := {"rule_id": "TIDY-1", "reason": "make does it", "severity": "LOW"}
}
