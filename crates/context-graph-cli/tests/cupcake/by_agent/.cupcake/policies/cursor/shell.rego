# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["beforeShellExecution"]
package cupcake.policies.shop.shell

import rego.v1

deny contains {"rule_id": "SHOP-CURSOR", "reason": "no", "severity": "LOW"} if contains(input.command, "rm")
