# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["UserPromptSubmit"]
package cupcake.policies.shop.welcome

import rego.v1

add_context contains "Prices are in cents." if contains(lower(input.prompt), "price")

block contains decision if {
	regex.match(`\b\d{16}\b`, input.prompt)
	decision := {"rule_id": "SHOP-CARD", "reason": "No card numbers in prompts", "severity": "CRITICAL"}
}
