# METADATA
# scope: package
# title: Network
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash", "WebFetch"]
package cupcake.policies.network_guard

import data.cupcake.helpers.commands
import rego.v1

known_hosts := {"github.com", "crates.io", "docs.rs", "localhost", "127.0.0.1"}

ask contains decision if {
	input.tool_name == "WebFetch"
	host := regex.replace(input.tool_input.url, `^[a-z]+://([^/:]+).*$`, "$1")
	not known(host)
	decision := {"rule_id": "NET-001", "reason": concat("", ["An unknown host: ", host]), "severity": "LOW"}
}

ask contains decision if {
	input.tool_name == "Bash"
	command := input.tool_input.command
	commands.runs_any(command, {"curl", "wget", "nc", "scp", "rsync"})
	urls := regex.find_n(`https?://[^\s/'"]+`, command, -1)
	some url in urls
	host := split(url, "://")[1]
	not known(host)
	decision := {"rule_id": "NET-002", "reason": concat("", ["An unknown host: ", host]), "severity": "LOW"}
}

deny contains decision if {
	input.tool_name == "Bash"
	regex.match(`(curl|wget)[^|]*\|\s*(sudo\s+)?(ba|z|da)?sh\b`, input.tool_input.command)
	decision := {"rule_id": "NET-003", "reason": "What comes from the network is not run", "severity": "CRITICAL"}
}

known(host) if host in known_hosts

known(host) if {
	some name in known_hosts
	endswith(host, concat("", [".", name]))
}
