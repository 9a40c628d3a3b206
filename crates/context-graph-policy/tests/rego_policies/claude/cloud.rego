# METADATA
# scope: package
# title: cloud
# authors: ["Platform team"]
# custom:
#   severity: HIGH
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.cloud

import data.cupcake.helpers.commands
import rego.v1

phrases := [
	"aws s3 rm",
	"aws ec2 terminate",
	"gcloud projects delete",
	"terraform destroy",
	"az group delete",
]

deny contains decision if {
	input.hook_event_name == "PreToolUse"
	input.tool_name == "Bash"
	command := lower(input.tool_input.command)
	some phrase in phrases
	contains(command, phrase)
	not rehearsed(command)
	decision := {
		"rule_id": "CLOUD-001",
		"reason": concat("", [message, " (", phrase, ")"]),
		"severity": severity(phrase),
	}
}

ask contains decision if {
	input.hook_event_name == "PreToolUse"
	command := lower(input.tool_input.command)
	commands.substitutes(command)
	some phrase in phrases
	first := split(phrase, " ")[0]
	commands.runs(command, first)
	decision := {
		"rule_id": "CLOUD-002",
		"reason": "A computed argument of a dangerous program",
		"severity": "MEDIUM",
	}
}

# A dry run changes nothing.
rehearsed(command) if commands.has_flag(command, "--dry-run")

rehearsed(command) if startswith(command, "echo ")

rehearsed(command) if regex.match(`^git\s+(commit|log|grep)\s`, command)

severity(phrase) := "CRITICAL" if {
	count(phrase) > 12
} else := "HIGH"

message := text if {
	text := input.builtin_config.cloud.message
} else := "This destroys what cannot be restored"
