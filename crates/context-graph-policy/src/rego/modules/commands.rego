# METADATA
# scope: package
# description: Questions about a shell command, for policies whose folder does not bring these functions itself.
package cupcake.system.commands

import rego.v1

# A word of the command, between white space or at an end. `verb` may be a pattern.
has_verb(command, verb) if regex.match(sprintf(`(?:^|\s)(?:%s)(?:\s|$)`, [verb]), command)

# At least one of these words.
has_dangerous_verb(command, verbs) if {
	some verb in verbs
	has_verb(command, verb)
}

# A symbolic link is made: `ln` with `-s`, alone, among other letters or written out.
creates_symlink(command) if {
	has_verb(command, "ln")
	regex.match(`-[a-zA-Z]*s`, command)
}

# A symbolic link is made, and the path is named as its place or as what it leads to.
symlink_involves_path(command, path) if {
	creates_symlink(command)
	contains(command, path)
}

# What the command prints goes to a file or to another program.
has_output_redirect(command) if {
	some pattern in [
		`(?:^|[^-=])>`,
		`(?:^|[^|])\|&?\s`,
		`\s\|&?(?:[^|]|$)`,
		`(?:^|[\s|])tee(?:\s|$)`,
	]
	regex.match(pattern, _without_harmless(command))
}

# Descriptors that are joined or closed, and what is thrown away, write nothing.
_without_harmless(command) := regex.replace(command, `[0-9]*>{1,2}\s*(?:&[0-9-]|/dev/null)`, "")
