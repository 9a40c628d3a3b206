package cupcake.system

import rego.v1

evaluate := {}
