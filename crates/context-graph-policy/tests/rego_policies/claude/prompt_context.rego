# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["UserPromptSubmit", "SessionStart"]
package cupcake.policies.prompt_context

import rego.v1

add_context contains text if {
	input.hook_event_name == "UserPromptSubmit"
	some word in {"fix", "change", "implement"}
	contains(lower(input.prompt), word)
	text := "Run the tests after each change."
}

add_context contains note if {
	input.hook_event_name == "SessionStart"
	note := {"rule_id": "BRIEF-001", "context": concat(" ", ["Started by", input.source])}
}

block contains decision if {
	input.hook_event_name == "UserPromptSubmit"
	regex.match(`AKIA[0-9A-Z]{16}`, input.prompt)
	decision := {"rule_id": "PROMPT-001", "reason": "The prompt holds an access key", "severity": "CRITICAL"}
}
