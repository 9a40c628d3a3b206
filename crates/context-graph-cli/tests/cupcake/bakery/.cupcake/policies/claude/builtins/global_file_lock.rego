# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Write", "Edit"]
package cupcake.policies.builtins.global_file_lock

import rego.v1

halt contains {"rule_id": "BAKERY-CLOSED", "reason": input.builtin_config.global_file_lock.message, "severity": "HIGH"}
