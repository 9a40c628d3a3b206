# METADATA
# scope: document
# entrypoint: true
package cupcake.system

import rego.v1

evaluate := {"denials": [d | some d in data.cupcake.policies[_].deny]}
