package cupcake.policies.bakery.deletions_test

import rego.v1

test_rm if count(data.cupcake.policies.bakery.deletions.deny) == 1 with input as {"tool_input": {"command": "rm x"}}
