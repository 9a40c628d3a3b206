# METADATA
# scope: package
# title: Protected files
# authors: ["Platform team"]
# custom:
#   severity: HIGH
#   id: PROTECTED-FILES
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash"]
package cupcake.policies.protected_files

import data.cupcake.helpers.commands
import data.cupcake.helpers.paths
import rego.v1

halt contains decision if {
	input.tool_name in {"Edit", "Write", "NotebookEdit"}
	file_path := input.resolved_file_path
	file_path != null
	protected(file_path)
	decision := {
		"rule_id": "PROTECTED-FILES",
		"reason": concat("", [message, " (", file_path, ")"]),
		"severity": "HIGH",
	}
}

halt contains decision if {
	input.tool_name == "MultiEdit"
	some edit in input.tool_input.edits
	file_path := edit.resolved_file_path
	protected(file_path)
	decision := {
		"rule_id": "PROTECTED-FILES",
		"reason": concat("", [message, " (", file_path, ")"]),
		"severity": "HIGH",
	}
}

halt contains decision if {
	input.tool_name == "Bash"
	command := lower(input.tool_input.command)
	some pattern in patterns
	mentions(command, pattern)
	not only_reads(command)
	decision := {
		"rule_id": "PROTECTED-FILES",
		"reason": concat("", [message, " (only reading is allowed)"]),
		"severity": "HIGH",
	}
}

halt contains decision if {
	input.tool_name == "Bash"
	commands.runs_any(lower(input.tool_input.command), {"rm", "chmod", "chown", "mv"})
	some folder in input.affected_parent_directories
	some pattern in patterns
	startswith(pattern, "/")
	startswith(pattern, folder)
	decision := {
		"rule_id": "PROTECTED-FILES-PARENT",
		"reason": concat("", [pattern, " would go with ", folder]),
		"severity": "HIGH",
	}
}

protected(path) if {
	some pattern in patterns
	paths.matches(lower(path), lower(pattern))
}

mentions(command, pattern) if contains(command, lower(pattern))

mentions(command, pattern) if {
	endswith(pattern, "/")
	contains(command, trim_suffix(lower(pattern), "/"))
}

reading_programs := {
	"cat", "less", "more", "head", "tail", "grep", "rg", "wc", "file", "stat",
	"ls", "diff", "cmp", "md5sum", "sha256sum", "hexdump", "strings", "od",
}

only_reads(command) if {
	some program in reading_programs
	startswith(command, concat("", [program, " "]))
	not commands.redirects(command)
	not commands.substitutes(command)
	not contains(command, ";")
	not contains(command, "&&")
}

message := text if {
	text := input.builtin_config.protected_paths.message
} else := "This path is read-only"

patterns := configured if {
	configured := input.builtin_config.protected_paths.paths
} else := []
