# METADATA
# scope: package
# title: One package manager
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.package_manager

import rego.v1

replacements := {
	"npm install": "pnpm install",
	"npm ci": "pnpm install --frozen-lockfile",
	"npm run": "pnpm run",
	"yarn add": "pnpm add",
}

modify contains change if {
	some old, new in replacements
	startswith(input.tool_input.command, old)
	change := {
		"rule_id": "PKG-001",
		"reason": sprintf("This project uses pnpm: %s", [new]),
		"severity": "LOW",
		"priority": 60,
		"updated_input": {"command": replace(input.tool_input.command, old, new)},
	}
}

deny contains decision if {
	regex.match(`(^|\s)npm\s+publish(\s|$)`, input.tool_input.command)
	decision := {"rule_id": "PKG-002", "reason": "Releases are published by the pipeline", "severity": "HIGH"}
}
