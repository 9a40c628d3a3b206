//! What a program passes on in a pipe: what it read, fetched, packed or listed.

use super::{find, git};
use crate::effects::shell::Flow;
use crate::effects::{Origin, Piece, Run, Text, path};
use crate::programs::{Invocation, Role};

/// The output of a program.
#[expect(clippy::too_many_lines, reason = "a table: one arm per program")]
pub(super) fn flow_of(
    call: &Invocation<'_>,
    text: Option<Flow>,
    stdin: &Flow,
    known: bool,
    project: &str,
) -> Flow {
    let run = call.run;
    let name = run.name.as_str();
    if let Some(mut flow) = text {
        name.clone_into(&mut flow.from);
        flow.environment &= !names_alone(run);
        flow.file |= reads_files(call) && !call.operands().is_empty() && name != "echo" && name != "printf";
        return flow;
    }
    let mut flow = Flow { piped: true, from: name.to_owned(), ..Flow::default() };
    match name {
        "find" => {
            let mut text = Text::default();
            for found in find::reported_all(run) {
                if !text.is_empty() {
                    text.push_str("\n");
                }
                // A folder's name means everything in it.
                text.extend(&find::contents(&found).unwrap_or(found));
            }
            flow.text = Some(text).filter(Text::has_hole);
        }
        "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "lynx" | "nc" | "ncat" | "netcat"
        | "socat" | "ftp" => {
            // A `file://` address is not a download.
            let local = |url: &&Text| url.prefix().starts_with("file://");
            let all_local = !call.operands().is_empty() && call.operands().iter().all(local);
            flow.network = !all_local;
            flow.file = all_local;
        }
        "tar" | "zip" | "7z" | "gzip" | "bzip2" | "cpio" | "pax" | "ar" | "zstd" | "xz" | "git"
        | "pg_dump" | "mysqldump" | "mongodump" | "docker" => {
            let sub = if name == "git" { call.word(0) } else { "" };
            flow.archive = match name {
                "git" => matches!(sub, "archive" | "bundle"),
                "docker" => matches!(call.word(0), "save" | "export"),
                _ => true,
            };
            flow.file = stdin.file || name == "git" && git::shows_content(call);
            flow.network = stdin.network;
            match sub {
                "ls-files" | "ls-tree" => flow.text = git::listed(call),
                "rev-parse" => flow.text = git::place(run, project),
                _ => {}
            }
        }
        // `-` and `cat` write the stored file to the pipe.
        "aws" | "gsutil" | "gcloud" | "mc" | "s3cmd" | "rclone" => {
            flow.file =
                call.words.last().is_some_and(|last| last.known() == "-") || matches!(call.word(0), "cat");
            // The file comes from elsewhere, and others may have put it there.
            flow.network = flow.file && !stdin.piped;
        }
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            flow.text = call.operands().first().map(|name| {
                let mut text = Text::lit("/");
                text.push(Piece::Hole(Origin::Below));
                text.push_str("/");
                text.extend(name);
                text
            });
        }
        "redis-cli" | "valkey-cli" if run.has("--rdb") => flow.archive = true,
        "jq" | "yq" if call.has("-n") => flow.environment = stdin.environment,
        "sqlite3" if run.args.iter().any(|arg| arg.known().contains(".dump")) => flow.archive = true,
        "openssl" if run.arg(0) == "s_client" => flow.network = true,
        "telnet" => flow.network = true,
        "base64" | "base32" | "xxd" | "uudecode" | "openssl" | "gunzip" | "zcat" => {
            let args: Vec<&str> = run.args.iter().map(Text::known).collect();
            flow.decoded = matches!(name, "gunzip" | "zcat" | "uudecode")
                || args.iter().any(|arg| matches!(*arg, "-d" | "-D" | "--decode" | "-r" | "-rp"));
            flow.file = stdin.file || known;
            flow.credential = stdin.has_credential();
            flow.environment = stdin.environment;
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            flow.file = stdin.file || !stdin.piped;
            flow.network = stdin.network;
            let counts = call.has_any(&["-c", "-q"]);
            flow.environment = stdin.environment && !counts && !harmless_filter(call);
            flow.text = filtered_names(call, stdin)
                .or_else(|| every_name(call))
                .or_else(|| named_outside(call, project));
            flow.credential = stdin.has_credential();
        }
        "env" | "printenv" => flow.environment = true,
        // Our own program prints recorded prompts and calls.
        _ if crate::guards::own_verbs::is_own_name(name) => flow.file = true,
        "wc" | "md5sum" | "sha256sum" | "sha1sum" | "shasum" | "sum" | "cksum" | "true" | "false" => {}
        _ if reads_files(call) => {
            flow.file = stdin.file || !stdin.piped;
            flow.network = stdin.network;
            flow.environment = stdin.environment;
            flow.credential = stdin.has_credential();
            flow.decoded = stdin.decoded;
        }
        _ => {}
    }
    flow
}

/// The listed names that contain the word of this filter.
fn filtered_names(call: &Invocation<'_>, stdin: &Flow) -> Option<Text> {
    let lists = matches!(stdin.from.as_str(), "ls" | "git" | "fd" | "rg" | "tree");
    let word = call.operands().first().and_then(|word| word.literal())?;
    let word = word.trim_start_matches(['^', '\\']).trim_end_matches('$');
    let plain = word.len() > 2 && word.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
    // `grep -v` removes some names; the pattern still covers the others.
    if call.has("-v") && stdin.text.as_ref().is_some_and(Text::has_glob) {
        return stdin.text.clone();
    }
    if !lists || !stdin.piped || stdin.text.is_some() || !plain || call.has("-v") {
        return None;
    }
    let mut text = Text::hole(Origin::Output);
    text.push_str(word.trim_start_matches('.'));
    text.push(Piece::Hole(Origin::Output));
    Some(text)
}

/// Searching for an empty or match-all pattern lists every file.
fn every_name(call: &Invocation<'_>) -> Option<Text> {
    let words = call.operands();
    let narrowed = call.has_any(&["-g", "-t", "-T", "--glob", "--type", "--include"]);
    let anything =
        words.first().is_some_and(|pattern| matches!(pattern.literal(), Some("" | "." | ".*" | "^")));
    let all = call.has("--files") && words.is_empty() || call.has("-l") && anything && words.len() <= 2;
    (all && !narrowed).then(|| {
        let mut text = Text::default();
        text.push_globbed("./*");
        text
    })
}

/// Files outside the project that are found by content: any file of that folder may be among them.
fn named_outside(call: &Invocation<'_>, project: &str) -> Option<Text> {
    let recursive = matches!(call.run.name.as_str(), "rg" | "ag") || call.has_any(&["-r", "-R"]);
    if !recursive || !call.has_any(&["-l", "-L", "--files"]) {
        return None;
    }
    let skip = usize::from(!call.has_any(&["-e", "-f", "--files"]));
    let outside = call.operands().iter().skip(skip).find(|folder| {
        let place = path::absolute(folder, &call.run.cwd);
        place.literal().is_some_and(|place| !path::is_within(place, project))
    })?;
    let mut text = (*outside).clone();
    text.push_str("/");
    text.push(Piece::Hole(Origin::Below));
    Some(text)
}

/// Whether only the name of `NAME=value` passes through.
pub(super) fn names_alone(run: &Run) -> bool {
    let has = |word: &str| run.args.iter().any(|arg| arg.known() == word);
    // One program, one file, and no option that writes.
    if run.args.len() > 5
        || run.args.iter().any(|arg| arg.prefix().starts_with("-i") || arg.prefix().starts_with("--"))
    {
        return false;
    }
    match run.name.as_str() {
        "grep" => has("-o") && (has("^[A-Z_]*") || has("^[^=]*") || has("^[A-Z_]\\+")),
        "cut" => has("-d=") && has("-f1") || has("-d") && has("=") && (has("-f1") || has("-f") && has("1")),
        "sed" => has("s/=.*//") || has("s/=.*/=/") || has("s/=.*$//") || has("s/=.*$/=/"),
        "awk" => (has("-F=") || has("-F") && has("=")) && has("{print $1}"),
        _ => false,
    }
}

/// Whether a filter over the environment searches for something that is not a credential.
fn harmless_filter(call: &Invocation<'_>) -> bool {
    let pattern = call.value("-e").or_else(|| call.operands().first().copied());
    let Some(pattern) = pattern.and_then(Text::literal) else { return false };
    if call.has("-v") {
        return false;
    }
    let upper = pattern.to_ascii_uppercase();
    let telling = ["TOKEN", "SECRET", "PASS", "KEY", "CRED", "AUTH", "AWS", "API", "."];
    pattern.len() > 2 && !telling.iter().any(|word| upper.contains(word))
}

/// Whether a program's output is the content of files.
fn reads_files(call: &Invocation<'_>) -> bool {
    let name = call.run.name.as_str();
    call.kinds().iter().any(|kind| kind.role == Role::Read)
        || matches!(name, "sed" | "awk" | "jq" | "yq" | "grep" | "dd" | "cut" | "git" | "view")
}
