//! Commands that open this machine to others: tunnels, browser terminals, servers for whole folders.

use super::Case;
use super::places::is_within;
use crate::effects::path::absolute_str;
use crate::effects::{Run, Text, host_of, is_loopback};
use crate::programs::Invocation;

/// What would be open to others, if anything. The tables cover tunnels and terminals.
pub(super) fn opened(case: &Case<'_>, call: &Invocation<'_>) -> Option<&'static str> {
    if forwards_from_there(call) {
        return Some("a port of this machine");
    }
    let folder = served(call)?;
    is_too_much(case, call.run, folder).then_some("a folder beyond the project")
}

/// `ssh -R 80:localhost:3000 host`.
fn forwards_from_there(call: &Invocation<'_>) -> bool {
    let is_forward = |value: &str| {
        value.starts_with(|c: char| c.is_ascii_digit() || c == '*')
            && value.chars().all(|c| c.is_ascii_alphanumeric() || ".:*-_[]".contains(c))
    };
    matches!(call.run.name.as_str(), "ssh" | "autossh")
        && !matches!(call.operand(0), "localhost" | "127.0.0.1")
        && call.values("-R").any(|value| is_forward(value.known()))
}

/// The folder that a file server shares.
fn served<'c>(call: &'c Invocation<'_>) -> Option<&'c str> {
    let value = |name: &str| call.value(name).map(Text::known);
    let first = || {
        let named = |word: &&&Text| !word.known().chars().all(|c| c.is_ascii_digit());
        call.operands().iter().find(named).map(|word| word.known())
    };
    match call.run.name.as_str() {
        "python" | "python3" | "python2" => {
            // The words after the module's name are arguments of the module.
            let words: Vec<&str> = call.run.args.iter().map(Text::known).collect();
            let serves = words.windows(2).any(|pair| {
                pair[0] == "-m"
                    && matches!(pair[1], "http.server" | "SimpleHTTPServer" | "pyftpdlib" | "uploadserver")
            });
            let told = |pair: &&[Text]| matches!(pair[0].known(), "-d" | "--directory");
            let folder = call.run.args.windows(2).find(told).map(|pair| pair[1].known());
            serves.then_some(folder.unwrap_or("."))
        }
        "serve" | "http-server" | "live-server" | "servor" | "miniserve" | "darkhttpd" | "static-server"
        | "updog" | "simple-http-server" => Some(value("-d").or_else(first).unwrap_or(".")),
        "php" if call.has("-S") => Some(value("-t").unwrap_or(".")),
        "ruby" if call.run.has("-run") => {
            let words = call.run.args.iter().map(Text::known);
            words.skip_while(|word| *word != "httpd").nth(1).or(Some("."))
        }
        "httpd" => value("-h"),
        "caddy" if call.word(0) == "file-server" => Some(value("--root").unwrap_or(".")),
        "rclone" if call.word(0) == "serve" => Some(call.word(2)).filter(|folder| !folder.is_empty()),
        "twistd" | "twistd3" => value("--path"),
        _ => None,
    }
}

/// The options that say where a file server listens.
fn listening_options(server: &str) -> &'static [&'static str] {
    match server {
        "python" | "python3" | "python2" => &["-b", "--bind"],
        "serve" | "caddy" => &["-l", "--listen"],
        "http-server" => &["-a"],
        "live-server" | "updog" => &["--host"],
        "miniserve" => &["-i", "--interfaces"],
        "darkhttpd" | "rclone" => &["--addr"],
        "simple-http-server" => &["-i", "--ip"],
        "php" => &["-S"],
        "httpd" => &["-p"],
        "ruby" => &["-b", "--bind-address"],
        _ => &[],
    }
}

/// Whether a server listens only where this machine alone can reach it.
fn listens_only_here(run: &Run) -> bool {
    let options = listening_options(&run.name);
    let mut told = Vec::new();
    for (at, arg) in run.args.iter().enumerate() {
        let (name, value) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.clone(), run.args.get(at + 1).cloned()),
        };
        let text = name.prefix();
        let is_long = text.len() > 2 && text.starts_with("--");
        // A long option may be shortened; the value of a short one may follow at once.
        let begins = |option: &&&str| is_long && option.starts_with(text) || text.starts_with(**option);
        if let Some(option) = options.iter().find(begins) {
            let attached = arg.strip_prefix(option).filter(|_| !is_long && text != *option);
            told.push(attached.or(value).unwrap_or_default());
        }
    }
    !told.is_empty() && told.iter().all(|address| is_loopback(&host_of(address)))
}

/// Whether a folder contains more than a project: the home folder, a folder above it, or a hidden one in it.
fn is_too_much(case: &Case<'_>, run: &Run, folder: &str) -> bool {
    let home = case.ctx.home.trim_end_matches('/');
    let folder = folder.strip_prefix('~').map_or_else(|| folder.to_owned(), |rest| format!("{home}{rest}"));
    let place = absolute_str(&folder, run.cwd.literal().unwrap_or(case.ctx.cwd));
    let hidden = place.strip_prefix(home).is_some_and(|below| below.starts_with("/."));
    (is_within(home, &place) || hidden) && !listens_only_here(run)
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
