# METADATA
# scope: document
# entrypoint: true
package cupcake.system

import rego.v1

evaluate := {"denials": [found | some found in data.cupcake.policies[_].deny]}

# What an order number looks like; policies ask for it here.
is_order(text) if regex.match(`^order-[0-9]+$`, text)
