# METADATA
# scope: package
# description: The bakery's own way to look at a command.
package cupcake.system.commands

import rego.v1

words(command) := split(trim_space(regex.replace(command, `\s+`, " ")), " ")

has_verb(command, verb) if verb in words(command)

has_dangerous_verb(command, verbs) if {
	some word in words(command)
	word in verbs
}

creates_symlink(command) if {
	has_verb(command, "ln")
	some word in words(command)
	regex.match(`^(-[a-zA-Z]*s|--symbolic)`, word)
}

symlink_involves_path(command, path) if {
	creates_symlink(command)
	contains(command, path)
}

has_output_redirect(command) if regex.match(`>|\||(^|\s)tee\s`, command)
