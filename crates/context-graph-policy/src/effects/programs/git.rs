//! What git runs and touches outside its own store. The guards judge what it does to history.

use crate::effects::path::{absolute_str, is_within};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, SentKind, Text, Unknown, path};
use crate::programs::Invocation;

/// How much of the work budget it costs to follow one alias.
const ALIAS_WORK: usize = 100;

/// Settings given on the command line with `-c name=value`.
pub(crate) fn settings(call: &Invocation<'_>) -> Vec<(String, Text)> {
    let given =
        call.given.iter().filter(|given| matches!(given.name.as_str(), "-c" | "--config-env" | "--config"));
    let set = |name: &str| call.run.assigns.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value);
    // `GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=…`, and `GIT_CONFIG_PARAMETERS` with all settings in one.
    let numbered = call.run.assigns.iter().filter_map(|(name, key)| {
        let value = set(&format!("GIT_CONFIG_VALUE_{}", name.strip_prefix("GIT_CONFIG_KEY_")?))?;
        Some((key.to_string().to_ascii_lowercase(), value.clone()))
    });
    let listed = set("GIT_CONFIG_PARAMETERS").and_then(Text::literal).unwrap_or("");
    let listed = listed.split('\'').map(Text::lit).filter(|setting| setting.known().contains('='));
    given
        .flat_map(|given| given.values.clone())
        .chain(listed)
        .map(|value| {
            let (name, value) = value.split_once('=').unwrap_or_else(|| (value.clone(), Text::default()));
            (name.to_string().to_ascii_lowercase(), value)
        })
        .chain(numbered)
        .collect()
}

impl Shell<'_> {
    pub(super) fn git(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        if !matches!(call.run.name.as_str(), "git" | "hub" | "yadm") {
            return false;
        }
        for (name, value) in settings(call) {
            self.git_setting(&name, &value);
        }
        let Some(sub) = call.words.first().map(|word| word.known()) else { return true };
        self.remote_helpers(call);
        let rest = &call.words[1..];
        let before = self.cwd().clone();
        self.git_elsewhere(sub, call);
        self.git_alias(sub, call);
        self.kept_hooks(sub, call);
        self.git_command(sub, rest, call, stdin);
        self.set_cwd(before);
        true
    }

    fn git_command(&mut self, sub: &str, rest: &[&Text], call: &Invocation<'_>, stdin: &Flow) {
        match sub {
            "config" => self.git_config(call),
            "submodule" if call.word(1) == "foreach" => {
                // Options before the command belong to `foreach`, those after it to the command.
                let script: Vec<&str> = call.operands().iter().map(|arg| arg.known()).collect();
                self.script(&script.join(" "));
            }
            "bisect" if call.rest.is_some() => {
                self.run(call.command().to_vec(), Vec::new(), &Flow::default());
            }
            "rm" if !call.is_quiet() && !call.has("--cached") => {
                for file in rest {
                    self.touch_all(Access::Delete, file, "git rm", call.has("-r"));
                }
            }
            "mv" if !call.is_quiet() => self.git_move(rest),
            "add" | "stage" => {
                for file in rest {
                    self.touch(Access::Mention, file, "git add");
                }
            }
            "log" if !call.has_any(&["--patch", "-c", "--cc"]) => {}
            "log" | "show" | "cat-file" | "hash-object" | "diff" | "blame" | "annotate" | "grep" => {
                for word in rest {
                    // `HEAD:.env` reads a file from history.
                    let file = word.split_once(':').map_or_else(|| (*word).clone(), |(_, file)| file);
                    self.touch(Access::Mention, &file, "git show");
                    if call.has("--no-index") {
                        self.touch(Access::Read, word, "git diff");
                    }
                }
            }
            // Only the index changes.
            "restore" if call.has("--staged") && !call.has("--worktree") => {}
            "checkout" | "restore" | "stash" => self.git_checkout(sub, call),
            "checkout-index" => {
                let prefix = call.value("--prefix");
                if let Some(folder) = prefix {
                    self.bring_unnamed(folder, true, "git checkout-index");
                }
                for file in rest {
                    let mut place = prefix.cloned().unwrap_or_default();
                    place.extend(file);
                    self.touch(Access::Write, &place, "git checkout-index");
                }
            }
            "worktree" if call.word(1) == "add" => {
                if let Some(folder) = rest.get(1) {
                    self.bring_unnamed(folder, false, "git worktree");
                }
            }
            "clone" | "fetch" | "pull" | "ls-remote" | "push" | "remote" => self.git_remote(sub, call),
            "apply" | "am" => self.git_patch(call, stdin),
            _ => {}
        }
    }

    /// git writes outside its repository's folder (`git --work-tree=~ checkout …`), or into a folder of ours.
    fn git_elsewhere(&mut self, sub: &str, call: &Invocation<'_>) {
        let writes = matches!(
            sub,
            "checkout" | "checkout-index" | "restore" | "reset" | "read-tree" | "switch" | "merge" | "pull"
        );
        // A repository that contains our own files could restore an older state of them.
        let keeps =
            matches!(sub, "init" | "add" | "commit" | "stash" | "clean" | "rm" | "mv" | "apply" | "rebase");
        let folder = self.cwd().clone();
        // A project's own policies may be committed like its other files.
        let place = format!("{folder}/");
        let is_shared = ["policies", "signals", "actions"]
            .iter()
            .any(|name| place.contains(&format!("/.context-graph/{name}/")));
        let keeps = keeps && !(is_shared && matches!(sub, "add" | "commit"));
        if (writes || keeps)
            && folder.literal().is_some_and(|folder| format!("{folder}/").contains("/.context-graph/"))
        {
            self.touch(Access::Write, &folder, "git");
        }
        let named = call.values("--work-tree");
        let set = call.run.assigns.iter().filter(|(name, _)| name == "GIT_WORK_TREE").map(|(_, value)| value);
        for folder in named.chain(set).filter(|_| writes) {
            self.bring_unnamed(folder, true, "git");
            let folder = path::arrived(&self.home_expanded(folder), self.cwd(), self.base.fs);
            self.set_cwd(folder);
        }
    }

    fn git_move(&mut self, words: &[&Text]) {
        let Some((destination, sources)) = words.split_last() else { return };
        for source in sources {
            self.touch_all(Access::Delete, source, "git mv", true);
            self.write_into(destination, source, "git mv");
        }
        self.touch(Access::Write, destination, "git mv");
    }

    /// What git sends to other repositories, fetches from them, or runs to reach them.
    fn git_remote(&mut self, sub: &str, call: &Invocation<'_>) {
        let words = &call.words[1..];
        self.unpacked |= sub == "clone" && words.iter().any(|word| is_address(word));
        if sub == "clone" {
            let own_name = |from: &Text| {
                let name = from.to_string();
                let name = name.trim_end_matches('/').trim_end_matches(".git");
                Text::lit(name.rsplit(['/', ':']).next().unwrap_or(name))
            };
            let named = words.get(1).map(|folder| (*folder).clone());
            if let Some(folder) = named.or_else(|| words.first().map(|from| own_name(from))) {
                self.bring_unnamed(&folder, false, "git clone");
                if let Some(from) = words.first() {
                    self.cloned_from(from, &folder);
                }
            }
        }
        // A push to an address or to a new remote takes the history elsewhere.
        if sub == "push" {
            let to = words.first().map_or_else(|| Text::lit("origin"), |to| (*to).clone());
            let moved = settings(call).into_iter().any(|(name, value)| {
                name.starts_with("remote.") && matches!(name.rsplit('.').next(), Some("pushurl" | "url"))
                    || name.starts_with("url.")
                        && name.ends_with("insteadof")
                        && !is_same_host(&name, value.known())
            });
            if moved || is_address(&to) || self.remotes.iter().any(|name| to.literal() == Some(name)) {
                let host = super::host_of(&to);
                self.send(host, SentKind::Archive, "git push");
            }
        }
        if let ("remote", [verb, name, address, ..]) = (sub, words)
            && matches!(verb.known(), "add" | "set-url")
            && is_address(address)
        {
            self.remotes.push(name.known().to_owned());
        }
        // git runs the command after `ext::`.
        for word in words {
            if let Some((_, script)) = word.known().split_once("ext::") {
                self.script(script);
            }
        }
    }

    /// Files that are reset to git's version of them.
    fn git_checkout(&mut self, sub: &str, call: &Invocation<'_>) {
        let words = &call.words[1..];
        let before = call.dashes.map_or(words.len(), |at| at.saturating_sub(1));
        for (index, file) in words.iter().enumerate() {
            // Only the first word before `--` may be a branch.
            let is_path = match sub {
                "restore" => true,
                "checkout" => index > 0 || before == 0,
                _ => false,
            };
            if is_path || file.known().contains('/') || file.known().starts_with('.') {
                self.touch_all(Access::Write, file, "git checkout", true);
            }
        }
    }

    /// A subcommand that this command defines itself: `git -c alias.x='push --force' x`.
    fn git_alias(&mut self, sub: &str, call: &Invocation<'_>) {
        let args = &call.run.args;
        let name = format!("alias.{}", sub.to_ascii_lowercase());
        let defined =
            settings(call).into_iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
        let given = defined.or_else(|| self.defined_alias(&name));
        let is_kept = given.is_none();
        let Some(value) = given.or_else(|| self.kept_alias(sub)) else { return };
        let Some(text) = value.literal() else { return };
        if let Some(script) = text.strip_prefix('!') {
            // An alias that this command defines was already walked, by `git_setting`.
            if is_kept && self.charge(ALIAS_WORK) {
                let at = args.iter().position(|arg| arg.known() == sub).map_or(args.len(), |at| at + 1);
                let words = std::iter::once(Text::lit("git")).chain(args[at..].iter().cloned()).collect();
                self.script_with(&format!("{script} \"$@\""), words, &Flow::default());
            }
            return;
        }
        let words = text.split_whitespace().map(|word| Text::from(word.trim_matches(['"', '\''])));
        // Aliases may refer to aliases, and each has settings to read.
        if !self.charge(ALIAS_WORK) {
            return;
        }
        // The words before the alias apply to its expansion too; they may define further aliases.
        let Some(at) = args.iter().position(|arg| arg.known() == sub) else { return };
        let before = args[..at].iter().cloned();
        let meant = std::iter::once(Text::lit("git"))
            .chain(before)
            .chain(words)
            .chain(args[at + 1..].iter().cloned());
        self.run(meant.collect(), Vec::new(), &Flow::default());
    }

    /// `git config`: the setting may be a command.
    fn git_config(&mut self, call: &Invocation<'_>) {
        let words: Vec<&Text> = call.words[1..]
            .iter()
            .copied()
            .filter(|word| !matches!(word.known(), "set" | "get" | "unset"))
            .collect();
        if let [name, value, ..] = words.as_slice() {
            let name = name.to_string().to_ascii_lowercase();
            if name.starts_with("alias.") {
                self.set_alias(&format!("git {name}"), value.known());
            }
            self.git_setting(&name, value);
            if name == "core.worktree" {
                self.bring_unnamed(value, true, "git");
            }
            self.git_redirection(call, &name, value);
        }
    }

    /// Global settings that redirect every repository: another address for remotes, or a foreign program that
    /// git calls.
    fn git_redirection(&mut self, call: &Invocation<'_>, name: &str, value: &Text) {
        let everywhere = call.has_any(&["--global", "--system"]);
        let rewrites =
            name.starts_with("url.") && (name.ends_with(".insteadof") || name.ends_with(".pushinsteadof"));
        if everywhere && rewrites && !is_same_host(name, value.known()) {
            self.unknown(Unknown::Opaque(format!("git would go to {name} for {value}")));
        }
        // A credential helper sees every password.
        if everywhere
            && name.starts_with("credential.")
            && name.ends_with("helper")
            && super::foreign::is_own_helper(value, self.base.home, self.project)
        {
            self.unknown(Unknown::Opaque(format!("git would tell {value} every password")));
        }
        let speaks = ["core.sshcommand", "core.gitproxy", "core.askpass", "gpg.program", "gpg.ssh.program"];
        if everywhere
            && speaks.contains(&name)
            && value.known().contains('/')
            && !is_system_path(value.known())
            && !is_ssh_with_key(value.known())
        {
            self.unknown(Unknown::Opaque(format!("git would run {value} for every repository")));
        }
    }
}

/// Whether the program of a command line is in a system folder.
pub(super) fn is_system_path(line: &str) -> bool {
    let place = absolute_str(line.split_whitespace().next().unwrap_or_default(), "/");
    line.contains('/')
        && ["/usr", "/bin", "/opt", "/Applications", "C:"].iter().any(|folder| is_within(&place, folder))
}

/// `ssh -i ~/.ssh/id_work`: the only path is that of a key, so nothing but `ssh` is run.
fn is_ssh_with_key(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_key = |pair: &[&str]| pair[0] == "-i" || pair[1].starts_with("-i");
    words.first() == Some(&"ssh")
        && !line.contains([';', '&', '|', '$', '`', '\n'])
        && words.windows(2).all(|pair| !pair[1].contains('/') || is_key(pair))
}

/// Whether this is a repository's address, not the name of a remote.
fn is_address(text: &Text) -> bool {
    let text = text.to_string();
    text.contains("://") || (text.contains('@') && text.contains(':'))
}

/// `url.git@github.com:.insteadOf https://github.com/` is the same host by another protocol.
fn is_same_host(name: &str, value: &str) -> bool {
    let host = |text: &str| {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
        rest.split(['/', ':']).next().unwrap_or("").to_ascii_lowercase()
    };
    let base = name.strip_prefix("url.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(base, _)| base);
    host(base) == host(value)
}

/// What `git ls-files` prints: all tracked files below this folder, unless it is asked for fewer.
pub(super) fn listed(call: &Invocation<'_>) -> Option<Text> {
    let sub = call.word(0);
    let named = call.words.get(1..).unwrap_or_default();
    if sub == "ls-tree" {
        let mut text = Text::default();
        text.push_globbed("./*");
        return (call.has("--name-only") && named.len() < 2).then_some(text);
    }
    if sub != "ls-files" || call.has_any(&["-d", "-o", "-m", "-i", "-u"]) {
        return None;
    }
    let mut text = Text::default();
    match named {
        [] => text.push_globbed("./*"),
        [only] if only.has_glob() || only.known().contains('*') => text.push_globbed(&only.to_string()),
        [folder] => {
            text.extend(folder);
            text.push_globbed("/*");
        }
        _ => return None,
    }
    Some(text)
}

/// The path that `git rev-parse` prints for the repository.
pub(super) fn place(run: &Run, project: &str) -> Option<Text> {
    let at = run.args.iter().position(|arg| arg.known() == "rev-parse")?;
    // Outside the project it is another repository.
    run.cwd.literal().filter(|cwd| is_within(cwd, project))?;
    let below = |name: &str| Some(Text::lit(format!("{}/{name}", project.trim_end_matches('/'))));
    match &run.args[at + 1..] {
        [only] => match only.known() {
            "--show-toplevel" => Some(Text::lit(project)),
            "--git-dir" | "--absolute-git-dir" | "--git-common-dir" => below(".git"),
            "--show-cdup" => Some(Text::default()),
            _ => None,
        },
        [option, name] if option.known() == "--git-path" => below(&format!(".git/{}", name.literal()?)),
        _ => None,
    }
}

/// Whether a subcommand prints the current or former content of files.
pub(super) fn shows_content(call: &Invocation<'_>) -> bool {
    let brief = [
        "--stat",
        "--name-only",
        "--name-status",
        "--shortstat",
        "--numstat",
        "-s",
        "--quiet",
        "--format",
        "-q",
        "-l",
    ];
    match call.word(0) {
        "show" | "diff" | "cat-file" | "blame" | "grep" | "format-patch" => !call.has_any(&brief),
        "log" | "stash" => call.has_any(&["-p", "-c", "--cc"]),
        _ => false,
    }
}
