# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Read", "Grep", "Glob", "Bash"]
package cupcake.global.policies.builtins.sensitive_data_protection

import rego.v1

hidden := [".env", "id_rsa", ".pem", "credentials", ".npmrc"]

about := lower(concat(" ", [text |
	some key in ["file_path", "path", "pattern", "command"]
	text := input.tool_input[key]
]))

deny contains decision if {
	some name in hidden
	contains(about, name)
	reason := input.builtin_config.sensitive_data_protection.message
	decision := {"rule_id": "BAKERY-SECRET", "reason": reason, "severity": "HIGH"}
}
