# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
package cupcake.policies.builtins.rulebook_security_guardrails

import rego.v1

import data.cupcake.system.commands

settings := input.builtin_config.rulebook_security_guardrails

names := [trim_suffix(path, "/") | some path in settings.protected_paths]

halt contains decision if {
	input.tool_name != "Bash"
	some name in names
	contains(lower(input.resolved_file_path), concat("", ["/", name]))
	decision := {"rule_id": "BAKERY-LOCKED", "reason": settings.message, "severity": "CRITICAL"}
}

halt contains decision if {
	input.tool_name == "Bash"
	some name in names
	contains(lower(input.tool_input.command), name)
	decision := {"rule_id": "BAKERY-LOCKED", "reason": settings.message, "severity": "CRITICAL"}
}
