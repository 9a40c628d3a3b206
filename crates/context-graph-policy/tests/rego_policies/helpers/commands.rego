# METADATA
# scope: package
# description: Words of a shell command, as several policies need them.
package cupcake.helpers.commands

import rego.v1

# The command starts a program of this name, at its beginning or after a separator.
runs(command, program) if {
	pattern := concat("", [`(^|[\s;&|(])`, program, `(\s|$)`])
	regex.match(pattern, command)
}

runs_any(command, programs) if {
	some program in programs
	runs(command, program)
}

redirects(command) if {
	some operator in [` > `, ` >> `, ` | tee `]
	contains(command, operator)
}

has_flag(command, flag) if {
	some word in split(command, " ")
	word == flag
}

substitutes(command) if contains(command, "$(")

substitutes(command) if contains(command, "`")
