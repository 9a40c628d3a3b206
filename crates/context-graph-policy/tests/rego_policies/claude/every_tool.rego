# METADATA
# scope: package
# custom:
#   routing:
#     required_events: [PreToolUse, "PermissionRequest"]  # both gates
#     required_tools: ["*"]
package cupcake.policies.every_tool

import rego.v1

halt contains {"rule_id": "LOOP-001", "reason": "The session repeats itself", "severity": "HIGH"} if {
	input.session.looping == true
}

ask contains decision if {
	startswith(input.tool_name, "mcp__")
	some effect in input.effects.paths
	effect.access == "delete"
	decision := {"rule_id": "MCP-001", "reason": concat("", ["Deletes ", effect.path]), "severity": "MEDIUM"}
}
