# METADATA
# scope: package
# title: What is done to branches
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
#     required_signals: ["release_branch", "freeze"]
package cupcake.policies.shop.git

import rego.v1

import data.cupcake.helpers.shop_text

deny contains decision if {
	shop_text.starts_with_word(input.tool_input.command, "git push")
	contains(input.tool_input.command, input.signals.release_branch)
	decision := {
		"rule_id": "SHOP-GIT-1",
		"reason": sprintf("%s is pushed by the release desk", [input.signals.release_branch]),
		"severity": "HIGH",
	}
}

ask contains decision if {
	shop_text.starts_with_word(input.tool_input.command, "git merge")
	input.signals.freeze.active
	decision := {"rule_id": "SHOP-GIT-2", "reason": "Merging during a freeze?", "severity": "MEDIUM"}
}
