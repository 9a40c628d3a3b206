# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Write", "Edit"]
package cupcake.policies.builtins.global_file_lock

import rego.v1

halt contains {"rule_id": "SHOP-LOCK", "reason": "Nothing may be changed", "severity": "HIGH"} if input.tool_name
