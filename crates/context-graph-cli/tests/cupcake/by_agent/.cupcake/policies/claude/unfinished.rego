# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
package cupcake.policies.shop.unfinished

import rego.v1

deny contains decision if {
	decision :=
}
