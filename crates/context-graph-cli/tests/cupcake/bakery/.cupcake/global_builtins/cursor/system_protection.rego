# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["beforeShellExecution"]
package cupcake.policies.other.system_protection

import rego.v1

deny contains "never here"
