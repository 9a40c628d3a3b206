# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.bakery.links

import rego.v1

import data.cupcake.system.commands

deny contains decision if {
	some path in {"oven", "vault"}
	commands.symlink_involves_path(input.tool_input.command, path)
	decision := {"rule_id": "BAKERY-LINK", "reason": "No links to or from here", "severity": "HIGH"}
}

ask contains decision if {
	commands.creates_symlink(input.tool_input.command)
	decision := {"rule_id": "BAKERY-LINK-ASK", "reason": "Is this link wanted?", "severity": "LOW"}
}
