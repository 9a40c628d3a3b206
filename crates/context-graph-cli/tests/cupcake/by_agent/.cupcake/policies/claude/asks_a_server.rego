# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["WebFetch"]
package cupcake.policies.shop.asks_a_server

import rego.v1

deny contains "no" if http.send({"method": "get", "url": input.tool_input.url}).status_code != 200
