//! The commands a session works with: how it tests, builds and runs.
//!
//! A command is identified by its first words (`go test`, `npm run build`) and shown as it was last run.

use context_graph_events::safe_text::tame;
use serde::{Deserialize, Serialize};

use super::uses::Uses;

/// How many commands a session remembers.
const COMMANDS: usize = 16;
/// How much of a command is kept as it was run, in characters.
const FORM: usize = 90;
/// How much of an error is kept.
const ERROR: usize = 90;
/// How much of a command line is read, in bytes.
const READ: usize = 6_000;
/// Splitting a command line stops after four times this many commands.
const MAX_OF_CALL: usize = 6;

/// A command the session has run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandUsed {
    /// Its first words.
    pub key: String,
    /// As it was last run.
    pub form: String,
    /// The error of its last run; empty if it succeeded.
    pub error: String,
    /// The times it was run.
    pub uses: Uses,
}

/// Commands and when they ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commands(Vec<CommandUsed>);

impl Commands {
    /// The commands, highest presence first.
    pub fn by_presence(&self, now: u32) -> Vec<&CommandUsed> {
        let mut commands: Vec<_> = self.0.iter().map(|used| (used, used.uses.activation(now))).collect();
        commands.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.key.cmp(&b.0.key)));
        commands.into_iter().map(|(used, _)| used).collect()
    }

    /// The newest failed run at most `within` calls ago, if the same command has not succeeded since.
    pub fn failing(&self, now: u32, within: u32) -> Option<&CommandUsed> {
        let lately = |used: &&CommandUsed| now.saturating_sub(used.uses.newest()) <= within;
        self.0
            .iter()
            .filter(|used| !used.error.is_empty())
            .filter(lately)
            .max_by_key(|used| used.uses.newest())
    }

    /// Adds a call that ran a command line, with its error if it failed.
    pub(super) fn ran(&mut self, line: &str, error: Option<&str>, call: u32) {
        let error = error.map(telling).unwrap_or_default();
        let line = &line[..line.floor_char_boundary(READ)];
        for part in parts(&without_documents(line)) {
            let words = own_words(&part);
            let Some(key) = key(&words) else { continue };
            self.note(key, &words.join(" "), &error, call);
        }
    }

    fn note(&mut self, key: String, form: &str, error: &str, call: u32) {
        let (form, error) = (tame(form, FORM), error.to_owned());
        if let Some(used) = self.0.iter_mut().find(|used| used.key == key) {
            used.uses.again(call);
            (used.form, used.error) = (form, error);
            return;
        }
        if self.0.len() >= COMMANDS {
            let presence = |used: &CommandUsed| used.uses.activation(call);
            let least =
                self.0.iter().enumerate().min_by(|(_, a), (_, b)| presence(a).total_cmp(&presence(b)));
            if let Some((at, _)) = least {
                self.0.remove(at);
            }
        }
        self.0.push(CommandUsed { key, form, error, uses: Uses::at(call) });
    }
}

/// The most useful line of an error. A bare exit status says nothing.
fn telling(error: &str) -> String {
    let lines =
        || error.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Exit code"));
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "fail", "panic", "cannot", "not found", "undefined", "no such"]
            .iter()
            .any(|word| line.contains(word))
    };
    let line = lines().take(200).find(tells).or_else(|| lines().next()).unwrap_or_default();
    tame(line, ERROR)
}

/// The line without here-documents (`<<END`).
fn without_documents(line: &str) -> String {
    if !line.contains("<<") {
        return line.to_owned();
    }
    let mut kept = String::with_capacity(line.len());
    let mut until: Option<&str> = None;
    for row in line.lines() {
        match until {
            Some(end) if row.trim() == end => until = None,
            Some(_) => {}
            None => {
                let mark = row.split_once("<<").filter(|(_, rest)| !rest.starts_with('<'));
                kept.push_str(mark.map_or(row, |(before, _)| before));
                kept.push('\n');
                until = mark.and_then(|(_, rest)| {
                    let rest =
                        rest.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
                    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                    Some(&rest[..end]).filter(|end| !end.is_empty())
                });
            }
        }
    }
    kept
}

/// Splits a command line at `&&`, `||`, `;`, `|` and line ends. Text in quotes or brackets stays whole.
fn parts(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut quote, mut depth) = (None, 0u32);
    let mut before = ' ';
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(part) = found.last_mut() else { break };
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('"') | None, '\\') => {
                let escaped = chars.next().unwrap_or(' ');
                if escaped == '\n' {
                    part.push(' ');
                } else {
                    part.extend([c, escaped]);
                }
                before = escaped;
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth = depth.saturating_sub(1),
            (None, '&') if before == '>' || chars.peek() == Some(&'>') => {}
            (None, ';' | '\n' | '|' | '&') if depth == 0 => {
                if !part.trim().is_empty() {
                    if found.len() > 4 * MAX_OF_CALL {
                        break;
                    }
                    found.push(String::new());
                }
                before = c;
                continue;
            }
            _ => {}
        }
        part.push(c);
        before = c;
    }
    found
}

/// The words of a command, without prefixes (`sudo`, `env`, `X=1`) and redirections.
fn own_words(part: &str) -> Vec<&str> {
    let mut words = part.split_whitespace().peekable();
    while let Some(word) = words.peek() {
        let is_before = matches!(
            *word,
            "sudo"
                | "time"
                | "nice"
                | "env"
                | "then"
                | "do"
                | "else"
                | "if"
                | "while"
                | "!"
                | "("
                | "{"
                | "nohup"
                | "exec"
                | "command"
        );
        if *word == "timeout" {
            words.next();
            words.next_if(|length| length.starts_with(|c: char| c.is_ascii_digit()));
        } else if is_before || is_assignment(word) {
            words.next();
        } else {
            break;
        }
    }
    let mut own: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        let bare = word.trim_start_matches(|c: char| c.is_ascii_digit());
        if bare.starts_with(['>', '<']) || bare.starts_with("&>") {
            // `> file` is two words, `2>&1` and `>file` are one.
            if bare.trim_matches(['>', '<', '&']).is_empty() {
                words.next();
            }
            continue;
        }
        own.push(word);
    }
    if let Some(first) = own.first_mut() {
        *first = first.trim_start_matches(['(', '{']);
    }
    own
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Programs that every session runs, whatever its task.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    ".", "[", "awk", "base64", "basename", "bash", "break", "cat", "cd", "chmod", "chown", "column", "continue", "cp", "cut", "date", "df", "diff", "dirname",
    "done", "du", "echo", "egrep", "esac", "eval", "exit", "export", "false", "fgrep", "fi", "file", "find", "for", "function", "grep", "head", "hexdump", "id", "jq",
    "kill", "less", "ln", "local", "ls", "lsof", "md5", "md5sum", "mkdir", "mktemp", "more", "mv", "nl", "od", "open", "pgrep", "pkill", "popd", "printf", "ps",
    "pushd", "pwd", "read", "readlink", "realpath", "return", "rev", "rg", "rm", "rmdir", "sed", "seq", "set", "sh", "sha256sum", "shasum", "shift", "sleep",
    "sort", "source", "stat", "tail", "tee", "test", "touch", "tr", "trap", "tree", "true", "type", "umask", "uname", "uniq", "unset", "unzip", "wait", "wc", "which",
    "whoami", "xargs", "xxd", "zip", "zsh",
];

/// The `git` subcommands that every session runs.
#[rustfmt::skip]
const COMMON_GIT: &[&str] = &[
    "add", "am", "apply", "blame", "branch", "cat-file", "checkout", "cherry-pick", "clean", "clone", "commit", "config", "describe", "diff", "fetch", "grep",
    "log", "ls-files", "ls-remote", "ls-tree", "merge", "merge-base", "mv", "pull", "push", "rebase", "reflog", "remote", "reset", "restore", "rev-list",
    "rev-parse", "revert", "rm", "show", "show-ref", "stash", "status", "submodule", "switch", "symbolic-ref", "tag", "update-ref", "worktree",
];

/// Options whose value is the next word.
const VALUED: &[&str] = &[
    "-C",
    "-F",
    "-R",
    "-f",
    "-p",
    "--cwd",
    "--dir",
    "--file",
    "--filter",
    "--package",
    "--prefix",
    "--project",
    "--repo",
];

/// Words that need the next one to have a meaning: `npm run build`.
const LEADING: &[&str] =
    &["api", "compose", "dlx", "exec", "issue", "pr", "run", "run-script", "tool", "workspace", "x"];

/// The first words that identify a command; `None` if every session runs it.
fn key(words: &[&str]) -> Option<String> {
    let first = words.first()?;
    let program = if first.starts_with("./") { *first } else { first.rsplit('/').next()? };
    let is_name = program.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.')
        && program.chars().all(|c| c.is_ascii_alphanumeric() || "._/@+-".contains(c));
    if !is_name || program.len() > 40 || COMMON.binary_search(&program).is_ok() {
        return None;
    }
    let interprets = matches!(
        program,
        "python" | "python3" | "node" | "ruby" | "perl" | "php" | "deno" | "tsx" | "ts-node" | "Rscript"
    );
    if interprets && let Some(at) = words.iter().position(|word| *word == "-m") {
        return words.get(at + 1).map(|module| format!("{program} -m {module}"));
    }
    let mut rest = words.iter().skip(1).peekable();
    let mut key = program.to_owned();
    while let Some(word) = rest.next() {
        if VALUED.contains(word) {
            rest.next();
        } else if !word.starts_with(['-', '+']) {
            if program == "git" && COMMON_GIT.binary_search(word).is_ok() || interprets && !word.contains('.')
            {
                return None;
            }
            let is_word = |word: &str| {
                word.len() <= 60 && word.chars().all(|c| c.is_ascii_alphanumeric() || "._:/@-".contains(c))
            };
            let is_argument = !interprets && !word.contains(|c: char| c.is_ascii_lowercase());
            if is_word(word)
                && !is_argument
                && (interprets || !word.contains(['/', '.']) || word.starts_with("./"))
            {
                key.push(' ');
                key.push_str(word);
                if LEADING.contains(word)
                    && let Some(next) = rest.find(|next| !next.starts_with('-')).filter(|next| is_word(next))
                {
                    key.push(' ');
                    key.push_str(next);
                }
            }
            return Some(key);
        }
    }
    // A program that reads its script from elsewhere cannot be identified.
    (!interprets && program != "git").then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &str) -> Vec<String> {
        let mut commands = Commands::default();
        commands.ran(line, None, 1);
        commands.0.into_iter().map(|used| used.key).collect()
    }

    #[test]
    fn a_command_is_known_by_its_first_words() {
        assert_eq!(keys("cd x && GOFLAGS=-v go test ./... 2>&1 | tail -20"), ["go test"]);
        assert_eq!(
            keys("npm --prefix web run build; timeout 60 cargo test -p core"),
            ["npm run build", "cargo test"]
        );
        assert_eq!(
            keys("python3 -m pytest tests && python3 scripts/gen.py && python3 -c 'x'"),
            ["python3 -m pytest", "python3 scripts/gen.py"]
        );
        assert_eq!(keys("git status && git add -A && rg 'a|b' src"), [""; 0]);
        assert_eq!(keys("cat > a.sh <<'END'\nmake all\nEND\nmake check"), ["make check"]);
        assert_eq!(keys("echo \"a && make b\" | ./run.sh --now"), ["./run.sh"]);
        assert_eq!(keys("(cd sub && make all)"), [""; 0]);
        assert_eq!(keys("for x in 1 2; do golangci-lint run; done"), ["golangci-lint run"]);
    }

    #[test]
    fn the_last_run_says_whether_it_fails() {
        let mut commands = Commands::default();
        commands.ran("go test ./a", Some("Exit code 1\n=== RUN x\n--- FAIL: TestX"), 3);
        let failing = commands.failing(10, 25).unwrap();
        assert_eq!((failing.form.as_str(), failing.error.as_str()), ("go test ./a", "--- FAIL: TestX"));
        assert_eq!(commands.failing(40, 25), None);
        commands.ran("go test ./b", None, 4);
        assert_eq!(commands.failing(10, 25), None);
        commands.ran("make lint", Some("Exit code 1"), 5);
        assert_eq!(commands.failing(10, 25), None, "a bare status says nothing");
    }

    #[test]
    fn tables_are_sorted() {
        assert!(COMMON.is_sorted() && COMMON_GIT.is_sorted());
    }
}
