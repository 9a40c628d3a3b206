# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Edit", "Write", "MultiEdit", "NotebookEdit", "Bash"]
package cupcake.policies.builtins.protected_paths

import rego.v1

import data.cupcake.system.commands
import data.cupcake.system.paths

import data.cupcake.system.places

settings := input.builtin_config.protected_paths

matches(path, pattern) if {
	endswith(pattern, "/")
	contains(path, concat("", ["/", pattern]))
}

matches(path, pattern) if {
	startswith(pattern, "*")
	endswith(path, trim_prefix(pattern, "*"))
}

matches(path, pattern) if endswith(path, concat("", ["/", pattern]))

halt contains decision if {
	some pattern in settings.paths
	matches(input.resolved_file_path, pattern)
	decision := {"rule_id": "BAKERY-KEPT", "reason": settings.message, "severity": "HIGH"}
}

halt contains decision if {
	some edit in input.tool_input.edits
	some pattern in settings.paths
	matches(edit.resolved_file_path, pattern)
	decision := {"rule_id": "BAKERY-KEPT", "reason": settings.message, "severity": "HIGH"}
}

halt contains decision if {
	input.tool_name == "Bash"
	places.names_one_kept(input.tool_input.command)
	not places.only_reads(input.tool_input.command)
	decision := {"rule_id": "BAKERY-KEPT", "reason": settings.message, "severity": "HIGH"}
}
