//! What git runs and touches besides its own store. What it does to history is for the guards.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Text, path};

/// Options before the subcommand that take a value.
const GLOBAL_VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// Options of `git clone` that take a value.
const CLONE_VALUES: &[&str] = &[
    "-b",
    "--branch",
    "-o",
    "--origin",
    "-c",
    "--config",
    "--depth",
    "-j",
    "--jobs",
    "--reference",
    "--separate-git-dir",
    "--template",
    "-u",
    "--upload-pack",
    "--filter",
    "--shallow-since",
    "--shallow-exclude",
    "--bundle-uri",
    "--server-option",
];

/// What following an alias takes from the work that one call may cost.
const ALIAS_WORK: usize = 100;

/// The subcommand and what follows it.
pub(crate) fn subcommand(args: &[Text]) -> Option<(&str, &[Text])> {
    let mut at = 0;
    while at < args.len() {
        let arg = args[at].prefix();
        if !arg.starts_with('-') {
            return Some((args[at].known(), &args[at + 1..]));
        }
        // `-cname=value` and `--option=value` have theirs attached.
        at += 1 + usize::from(args[at].literal().is_some_and(|text| GLOBAL_VALUES.contains(&text)));
    }
    None
}

/// The folders that `-C` leads to, one from the other.
fn folders_before(args: &[Text]) -> Vec<Text> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next().filter(|arg| arg.prefix().starts_with('-')) {
        let value = arg.literal().filter(|text| GLOBAL_VALUES.contains(text)).and_then(|_| rest.next());
        found.extend(value.filter(|_| arg.known() == "-C").cloned());
    }
    found
}

/// Settings given on the command line with `-c name=value`.
pub(crate) fn settings(args: &[Text]) -> Vec<(String, Text)> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if !arg.prefix().starts_with('-') {
            break;
        }
        let attached = arg
            .strip_prefix("--config-env=")
            .or_else(|| arg.strip_prefix("-c").filter(|rest| !rest.is_empty()));
        let value = match attached {
            Some(value) => value,
            None if arg.literal().is_some_and(|text| GLOBAL_VALUES.contains(&text)) => match rest.next() {
                Some(value) if matches!(arg.known(), "-c" | "--config-env") => value.clone(),
                Some(_) => continue,
                None => break,
            },
            None => continue,
        };
        let (name, value) = value.split_once('=').unwrap_or_else(|| (value.clone(), Text::default()));
        found.push((name.to_string().to_ascii_lowercase(), value));
    }
    found
}

impl Shell<'_> {
    pub(super) fn git(&mut self, run: &Run, stdin: &Flow) -> bool {
        if !matches!(run.name.as_str(), "git" | "hub" | "yadm") {
            return false;
        }
        let before = self.cwd().clone();
        for folder in folders_before(&run.args) {
            let folder = path::absolute(&self.home_expanded(&folder), self.cwd());
            self.set_cwd(folder);
        }
        self.git_command(run, stdin);
        self.set_cwd(before);
        true
    }

    fn git_command(&mut self, run: &Run, stdin: &Flow) {
        for (name, value) in settings(&run.args) {
            self.git_setting(&name, &value);
        }
        let Some((sub, rest)) = subcommand(&run.args) else { return };
        self.git_elsewhere(sub, run);
        self.git_alias(sub, rest, &run.args);
        self.git_helpers(sub, rest);
        if matches!(
            sub,
            "log" | "show" | "diff" | "diff-tree" | "diff-index" | "whatchanged" | "format-patch"
        ) {
            for file in option_values(rest, "", "--output") {
                self.touch(Access::Write, &file, "git");
            }
        }
        match sub {
            "config" => self.git_config(rest),
            "submodule" if rest.first().is_some_and(|arg| arg.known() == "foreach") => {
                // Options of `foreach` stand before the command, those behind are the command's own.
                let command = super::wrappers::after_options(&rest[1..], &[], 0);
                let script: Vec<&str> = command.iter().map(|arg| arg.known()).collect();
                self.script(&script.join(" "));
            }
            "bisect" if rest.first().is_some_and(|arg| arg.known() == "run") => {
                self.run(rest[1..].to_vec(), Vec::new(), &Flow::default());
            }
            "rebase" => {
                for script in option_values(rest, "-x", "--exec") {
                    self.script_text(&script, &Flow::default(), "git rebase");
                }
            }
            "filter-branch" => {
                for option in
                    ["--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter"]
                {
                    for script in option_values(rest, "", option) {
                        self.script_text(&script, &Flow::default(), "git filter-branch");
                    }
                }
            }
            "rm" if !rest.iter().any(|arg| matches!(arg.known(), "--cached" | "-n" | "--dry-run")) => {
                let recursive =
                    rest.iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('r'));
                for file in operands(rest, &[]) {
                    self.touch_all(Access::Delete, file, "git rm", recursive);
                }
            }
            "mv" => self.git_move(rest),
            "add" | "stage" => {
                for file in operands(rest, &[]) {
                    self.touch(Access::Mention, file, "git add");
                }
            }
            "log"
                if !rest.iter().any(|arg| matches!(arg.known(), "-p" | "--patch" | "-u" | "-c" | "--cc")) => {
            }
            "log" | "show" | "cat-file" | "hash-object" | "diff" | "blame" | "annotate" | "grep" => {
                for word in operands(rest, &["-L", "-n", "-S", "-G", "--format", "-e"]) {
                    // `HEAD:.env` reads a file out of history.
                    let file = word.split_once(':').map_or_else(|| word.clone(), |(_, file)| file);
                    self.touch(Access::Mention, &file, "git show");
                }
                if rest.iter().any(|arg| arg.known() == "--no-index") {
                    for file in operands(rest, &[]) {
                        self.touch(Access::Read, file, "git diff");
                    }
                }
            }
            // Only the index changes.
            "restore"
                if rest.iter().any(|arg| matches!(arg.known(), "--staged" | "-S"))
                    && !rest.iter().any(|arg| matches!(arg.known(), "--worktree" | "-W")) => {}
            "checkout" | "restore" | "stash" => self.git_checkout(sub, rest),
            "checkout-index" => {
                let prefix = option_values(rest, "", "--prefix").into_iter().next_back();
                if let Some(folder) = &prefix {
                    self.bring_unnamed(folder, true, "git checkout-index");
                }
                for file in operands(rest, &["--stage"]) {
                    let mut place = prefix.clone().unwrap_or_default();
                    place.extend(file);
                    self.touch(Access::Write, &place, "git checkout-index");
                }
            }
            "worktree" if rest.first().is_some_and(|arg| arg.known() == "add") => {
                if let Some(folder) = operands(&rest[1..], &["-b", "-B", "--reason"]).first() {
                    self.bring_unnamed(folder, false, "git worktree");
                }
            }
            "clone" | "fetch" | "pull" | "ls-remote" | "push" | "remote" => self.git_remote(sub, rest),
            "apply" | "am" => self.git_patch(sub, rest, stdin),
            "archive" => {
                for file in option_values(rest, "-o", "--output") {
                    self.touch(Access::Write, &file, "git");
                }
            }
            _ => {}
        }
    }

    /// Another folder than the repository's gets what git keeps: `git --work-tree=~ checkout …`.
    fn git_elsewhere(&mut self, sub: &str, run: &Run) {
        let writes = matches!(
            sub,
            "checkout" | "checkout-index" | "restore" | "reset" | "read-tree" | "switch" | "merge" | "pull"
        );
        if !writes {
            return;
        }
        let named = option_values(&run.args, "", "--work-tree").into_iter();
        let set =
            run.assigns.iter().filter(|(name, _)| name == "GIT_WORK_TREE").map(|(_, value)| value.clone());
        for folder in named.chain(set) {
            self.bring_unnamed(&folder, true, "git");
            let folder = path::absolute(&self.home_expanded(&folder), self.cwd());
            self.set_cwd(folder);
        }
    }

    fn git_move(&mut self, rest: &[Text]) {
        let words = operands(rest, &[]);
        let Some((destination, sources)) = words.split_last() else { return };
        for source in sources {
            self.touch_all(Access::Delete, source, "git mv", true);
            self.write_into(destination, source, "git mv");
        }
        self.touch(Access::Write, destination, "git mv");
    }

    /// Options that name a program for git to run.
    fn git_helpers(&mut self, sub: &str, rest: &[Text]) {
        let options: &[(&str, &str)] = match sub {
            "grep" => &[("-O", "--open-files-in-pager")],
            "difftool" => &[("-x", "--extcmd")],
            "clone" => &[("-u", "--upload-pack")],
            "fetch" | "pull" | "ls-remote" | "fetch-pack" => &[("", "--upload-pack"), ("", "--exec")],
            "push" | "send-pack" => &[("", "--receive-pack"), ("", "--exec")],
            "archive" => &[("", "--exec")],
            "send-email" => &[("", "--sendmail-cmd"), ("", "--smtp-server")],
            _ => return,
        };
        for (short, long) in options {
            for script in option_values(rest, short, long) {
                self.script_text(&script, &Flow::default(), "git");
            }
        }
    }

    /// What goes to other repositories, comes from them, or is run to reach them.
    fn git_remote(&mut self, sub: &str, rest: &[Text]) {
        self.unpacked |= sub == "clone" && rest.iter().any(is_address);
        if sub == "clone" {
            let words = operands(rest, CLONE_VALUES);
            let own_name = |from: &Text| {
                let name = from.to_string();
                let name = name.trim_end_matches('/').trim_end_matches(".git");
                Text::lit(name.rsplit(['/', ':']).next().unwrap_or(name))
            };
            let folder = words
                .get(1)
                .map(|folder| (*folder).clone())
                .or_else(|| words.first().map(|from| own_name(from)));
            if let Some(folder) = folder {
                self.bring_unnamed(&folder, false, "git clone");
            }
        }
        // A push to an address, not to a remote the project knows, takes the history elsewhere.
        if sub == "push" {
            let words = operands(rest, &["-o"]);
            let to = words.first().map_or_else(|| Text::lit("origin"), |to| (*to).clone());
            if is_address(&to) || self.remotes.iter().any(|name| to.literal() == Some(name)) {
                let host = super::host_of(&to);
                self.send(host, crate::effects::Cargo::Archive, "git push");
            }
        }
        if let ("remote", [verb, name, address, ..]) = (sub, operands(rest, &["-t", "-m"]).as_slice())
            && matches!(verb.known(), "add" | "set-url")
            && is_address(address)
        {
            self.remotes.push(name.known().to_owned());
        }
        // git runs what stands behind `ext::`.
        for script in
            rest.iter().filter_map(|arg| arg.known().split_once("ext::")).map(|(_, script)| script.to_owned())
        {
            self.script(&script);
        }
    }

    /// Files that are set to what git keeps of them.
    fn git_checkout(&mut self, sub: &str, rest: &[Text]) {
        let valued = ["-b", "-B", "--source", "-s", "-m"];
        let dashes = rest.iter().position(|arg| arg.literal() == Some("--"));
        let before = operands(&rest[..dashes.unwrap_or(rest.len())], &valued).len();
        for (index, file) in operands(rest, &valued).into_iter().enumerate() {
            // Only the first word before the dashes may be a branch.
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

    /// A subcommand that the same command line defines: `git -c alias.x='push --force' x`.
    fn git_alias(&mut self, sub: &str, rest: &[Text], args: &[Text]) {
        let name = format!("alias.{}", sub.to_ascii_lowercase());
        let defined =
            settings(args).into_iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
        let Some(value) = defined.or_else(|| self.defined_alias(&name)) else { return };
        let Some(text) = value.literal().filter(|text| !text.starts_with('!')) else { return };
        let words = text.split_whitespace().map(|word| Text::from(word.trim_matches(['"', '\''])));
        // Aliases of aliases, each with settings to look at, add up.
        if !self.charge(ALIAS_WORK) {
            return;
        }
        // What stands before the alias counts for what it means too, other aliases among it.
        let before = args[..args.len() - rest.len() - 1].iter().cloned();
        let meant = std::iter::once(Text::lit("git")).chain(before).chain(words).chain(rest.iter().cloned());
        self.run(meant.collect(), Vec::new(), &Flow::default());
    }

    /// `git config`: a setting may be a command, and the file may be any.
    fn git_config(&mut self, rest: &[Text]) {
        let words = operands(rest, &["-f", "--file", "--blob", "--type"]);
        let words: Vec<&Text> =
            words.into_iter().filter(|word| !matches!(word.known(), "set" | "get" | "unset")).collect();
        if let [name, value, ..] = words.as_slice() {
            let name = name.to_string().to_ascii_lowercase();
            if name.starts_with("alias.") {
                self.set_alias(&format!("git {name}"), value.known());
            }
            self.git_setting(&name, &(*value).clone());
            if name == "core.worktree" {
                self.bring_unnamed(value, true, "git");
            }
        }
        for file in option_values(rest, "-f", "--file") {
            self.touch(Access::Write, &file, "git");
        }
    }

    /// Settings whose value git will run.
    fn git_setting(&mut self, name: &str, value: &Text) {
        let Some(text) = value.literal() else { return };
        let runs = matches!(
            name,
            "core.sshcommand"
                | "core.pager"
                | "core.editor"
                | "core.fsmonitor"
                | "sequence.editor"
                | "diff.external"
                | "core.askpass"
                | "credential.helper"
                | "core.gitproxy"
                | "gpg.program"
        ) || name.starts_with("filter.")
            || name.starts_with("pager.")
            || [".cmd", ".command", ".program", ".textconv", ".driver", "hook", ".helper", ".editor"]
                .iter()
                .any(|end| name.ends_with(end));
        if let Some(script) = text.strip_prefix('!') {
            self.script(script);
        } else if runs && text != "true" && text != "false" && text.contains(' ') {
            self.script(text);
        } else if runs && ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| text.starts_with(folder)) {
            self.unknown(crate::effects::Unknown::Foreign(format!("git would run {text}")));
        }
    }
}

/// Whether this is the address of a repository, not the name of a remote.
fn is_address(text: &Text) -> bool {
    let text = text.to_string();
    text.contains("://") || (text.contains('@') && text.contains(':'))
}

/// What `git ls-files` prints: all that git keeps below here, unless it is asked for less.
pub(super) fn listed(run: &Run) -> Option<Text> {
    let (sub, rest) = subcommand(&run.args)?;
    let narrowed =
        ["-d", "--deleted", "-o", "--others", "-m", "--modified", "-i", "--ignored", "-u", "--unmerged"];
    if sub == "ls-tree" {
        let names = rest.iter().any(|arg| arg.known().starts_with("--name-"));
        let mut text = Text::default();
        text.push_globbed("./*");
        return (names && operands(rest, &[]).len() < 2).then_some(text);
    }
    if sub != "ls-files" || rest.iter().any(|arg| narrowed.contains(&arg.known())) {
        return None;
    }
    let mut text = Text::default();
    let named = operands(rest, &["-x", "-X", "--exclude", "--format"]);
    match named.as_slice() {
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

/// What `git rev-parse` says of where the repository is.
pub(super) fn place(run: &Run, project: &str) -> Option<Text> {
    let (_, rest) = subcommand(&run.args)?;
    // Elsewhere it is another repository.
    run.cwd.literal().filter(|cwd| cwd.starts_with(project.trim_end_matches('/')))?;
    let below = |name: &str| Some(Text::lit(format!("{}/{name}", project.trim_end_matches('/'))));
    match rest {
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

/// Whether a subcommand prints what files hold or held.
pub(super) fn shows_content(sub: &str, run: &Run) -> bool {
    let brief =
        ["--stat", "--name-only", "--name-status", "--shortstat", "--numstat", "-s", "--no-patch", "--quiet"];
    let patch = ["-p", "--patch", "-u", "-c", "--cc"];
    match sub {
        "show" | "diff" | "cat-file" | "blame" | "grep" | "format-patch" => {
            !run.args.iter().any(|arg| brief.contains(&arg.known()) || arg.prefix().starts_with("--format"))
        }
        "log" | "stash" => run.args.iter().any(|arg| patch.contains(&arg.known())),
        _ => false,
    }
}
