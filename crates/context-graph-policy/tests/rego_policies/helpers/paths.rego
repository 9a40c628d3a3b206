# METADATA
# scope: package
# description: Comparing a path with a configured pattern.
package cupcake.helpers.paths

import rego.v1

under(path, folder) if {
	endswith(folder, "/")
	startswith(path, folder)
}

under(path, folder) if {
	not startswith(folder, "/")
	contains(path, concat("", ["/", trim_suffix(folder, "/"), "/"]))
}

named(path, name) if endswith(path, concat("", ["/", name]))

matches(path, pattern) if under(path, pattern)

matches(path, pattern) if {
	not contains(pattern, "/")
	named(path, pattern)
}

matches(path, pattern) if {
	contains(pattern, "*")
	expression := replace(replace(pattern, ".", `\.`), "*", ".*")
	regex.match(concat("", [expression, "$"]), path)
}
