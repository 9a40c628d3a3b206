package cupcake.system.places

import rego.v1

import data.cupcake.system.commands

kept := {"recipes", "production.env", ".sealed"}

names_one_kept(command) if {
	some name in kept
	contains(command, name)
}

only_reads(command) if {
	commands.has_dangerous_verb(command, {"cat", "head", "grep", "ls"})
	not commands.has_output_redirect(command)
}
