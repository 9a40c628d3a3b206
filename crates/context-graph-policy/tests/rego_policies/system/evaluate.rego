package cupcake.system

import rego.v1

# METADATA
# scope: document
# title: Collects every verb under data.cupcake.policies
# custom:
#   entrypoint: true
#   routing:
#     required_events: []
#     required_tools: []
evaluate := {
	"halts": collect("halt"),
	"denials": collect("deny"),
	"blocks": collect("block"),
	"asks": collect("ask"),
	"modifications": collect("modify"),
	"add_context": collect("add_context"),
}

collect(verb) := [decision |
	walk(data.cupcake.policies, [path, value])
	path[count(path) - 1] == verb
	some decision in value
]

default collect(_) := []
