# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Write", "Edit", "Bash"]
package cupcake.policies.builtins.protected_paths

import rego.v1

message := text if {
	text := input.builtin_config.protected_paths.message
} else := "This path is kept"

halt contains decision if {
	some path in input.builtin_config.protected_paths.paths
	endswith(path, "/")
	contains(input.resolved_file_path, concat("", ["/", path]))
	decision := {"rule_id": "SHOP-KEPT", "reason": message, "severity": "HIGH"}
}

halt contains decision if {
	some path in input.builtin_config.protected_paths.paths
	some touched in input.affected_parent_directories
	contains(touched, trim_suffix(path, "/"))
	decision := {"rule_id": "SHOP-KEPT", "reason": message, "severity": "HIGH"}
}
