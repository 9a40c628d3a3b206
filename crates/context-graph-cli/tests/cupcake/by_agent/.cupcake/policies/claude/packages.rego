# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.shop.packages

import rego.v1

modify contains change if {
	command := input.tool_input.command
	startswith(command, "pip install ")
	change := {
		"rule_id": "SHOP-PIP",
		"reason": "uv installs packages here",
		"severity": "LOW",
		"priority": 60,
		"updated_input": {"command": concat("", ["uv ", command])},
	}
}
