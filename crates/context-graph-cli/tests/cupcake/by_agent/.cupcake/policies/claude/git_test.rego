package cupcake.policies.shop.git_test

import rego.v1

test_push if count(data.cupcake.policies.shop.git.deny) == 1 with input as {"tool_input": {"command": "git push"}}
