# METADATA
# scope: package
# title: Secrets
# custom:
#   routing:
#     required_events:
#       - PreToolUse
package cupcake.policies.secrets_guard

import rego.v1

deny contains decision if {
	input.tool_name in {"Read", "Grep", "Edit", "Write"}
	path := lower(input.resolved_file_path)
	secret_path(path)
	decision := {
		"rule_id": "SECRETS-001",
		"reason": concat("", ["Credentials are not for the agent: ", shown(path)]),
		"severity": "HIGH",
	}
}

deny contains decision if {
	input.tool_name == "Glob"
	some wanted in {"secret", "credential", ".env", ".pem", "id_rsa"}
	contains(lower(input.tool_input.pattern), wanted)
	decision := {
		"rule_id": "SECRETS-002",
		"reason": "The pattern looks for credentials",
		"severity": "MEDIUM",
	}
}

deny contains decision if {
	input.tool_name == "Bash"
	command := lower(input.tool_input.command)
	some program in {"cat", "less", "head", "tail", "grep", "awk", "sed", "xxd", "base64"}
	regex.match(concat("", [`(^|\s)`, program, `\s`]), command)
	some place in {".env", ".aws/", ".ssh/", ".npmrc", ".pypirc", "id_rsa", ".pem", ".netrc"}
	contains(command, place)
	decision := {
		"rule_id": "SECRETS-003",
		"reason": "The command reads credentials",
		"severity": "HIGH",
	}
}

secret_path(path) if {
	some ending in {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".env"}
	endswith(path, ending)
}

secret_path(path) if {
	some part in {"/.ssh/", "/.aws/", "/.gnupg/", "/.kube/config", "/.docker/config.json", "/.netrc", "/.npmrc"}
	contains(path, part)
}

secret_path(path) if {
	segments := split(path, "/")
	name := segments[count(segments) - 1]
	some word in {"credential", "secret", "apikey", "api_key", "passwd"}
	contains(name, word)
}

shown(path) := "[key]" if {
	contains(path, "key")
} else := "[environment]" if {
	contains(path, ".env")
} else := text if {
	parts := split(path, "/")
	text := concat("", ["[", parts[count(parts) - 1], "]"])
}
