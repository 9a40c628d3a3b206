# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
package cupcake.global.policies.builtins.system_protection

import rego.v1

settings := input.builtin_config.system_protection

roots := array.concat(["/etc/", "/usr/bin/", "/boot/"], settings.additional_paths)

halt contains decision if {
	some root in roots
	startswith(lower(input.tool_input.file_path), root)
	decision := {"rule_id": "BAKERY-SYSTEM", "reason": settings.message, "severity": "CRITICAL"}
}

halt contains decision if {
	input.tool_name == "Bash"
	some root in array.concat(roots, ["sudo "])
	contains(lower(input.tool_input.command), root)
	decision := {"rule_id": "BAKERY-SYSTEM", "reason": settings.message, "severity": "CRITICAL"}
}
