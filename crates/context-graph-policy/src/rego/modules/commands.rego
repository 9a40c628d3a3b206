# METADATA
# scope: package
# description: Questions about a shell command, for policies whose folder does not bring these functions itself.
package cupcake.system.commands

import rego.v1

# Whether `verb` is a whole word of the command. It may be a pattern.
has_verb(command, verb) if regex.match(sprintf(`(?:^|\s)(?:%s)(?:\s|$)`, [verb]), command)

# Whether the command has one of these words.
has_dangerous_verb(command, verbs) if {
	some verb in verbs
	has_verb(command, verb)
}

# Whether the command makes a symbolic link: `ln` with `-s`, alone, among other letters or as `--symbolic`.
creates_symlink(command) if {
	has_verb(command, "ln")
	regex.match(`-[a-zA-Z]*s`, command)
}

# Whether the command makes a symbolic link and contains the path, as the link or as its target.
symlink_involves_path(command, path) if {
	creates_symlink(command)
	contains(command, path)
}

# Whether the command's output goes to a file or to another program.
has_output_redirect(command) if {
	some pattern in [
		`(?:^|[^-=])>`,
		`(?:^|[^|])\|&?\s`,
		`\s\|&?(?:[^|]|$)`,
		`(?:^|[\s|])tee(?:\s|$)`,
	]
	regex.match(pattern, _without_harmless(command))
}

# The command without redirections that write nothing: descriptors that are joined or closed, and `/dev/null`.
_without_harmless(command) := regex.replace(command, `[0-9]*>{1,2}\s*(?:&[0-9-]|/dev/null)`, "")
