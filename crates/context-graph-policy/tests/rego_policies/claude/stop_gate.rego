# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["Stop", "SubagentStop"]
#     required_signals: ["unit_tests", "git_branch"]
package cupcake.policies.stop_gate

import rego.v1

block contains decision if {
	not input.stop_hook_active
	result := input.signals.unit_tests
	is_object(result)
	result.success == false
	decision := {
		"rule_id": "STOP-001",
		"reason": sprintf("Tests fail on %s: %s", [input.signals.git_branch, result.output]),
		"severity": "HIGH",
	}
}
