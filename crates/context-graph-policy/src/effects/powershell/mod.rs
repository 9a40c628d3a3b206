//! PowerShell, as far as it can be read word by word: cmdlets with a plain meaning become effects, programs are
//! handled as everywhere, and code built at run time is unknown.

mod listed;
mod read;

use listed::Listing;
use read::{nested, operands, slashed, statements, with_places, with_values, without_sayings, words};

use super::shell::{Flow, Shell, Taint};
use super::{Access, Cargo, Disclosure, Privilege, Run, Text, Unknown};

/// Ways to run computed code.
const HIDDEN: &[&str] = &[
    "invoke-expression",
    "frombase64string",
    "[scriptblock]::create",
    "-encodedcommand",
    ".invoke(",
    "add-type",
    "reflection.assembly",
];

/// Walks a PowerShell script.
pub(crate) fn script(shell: &mut Shell<'_>, source: &str) {
    if source.len() > 64 * 1024 {
        shell.unknown(Unknown::TooLarge);
        return;
    }
    let lower = source.to_ascii_lowercase();
    let run = without_sayings(&lower);
    if HIDDEN.iter().any(|word| run.contains(word))
        || run.split(|c: char| !c.is_alphanumeric()).any(|word| word == "iex")
    {
        shell.unknown(Unknown::Foreign("PowerShell code made at run time".to_owned()));
    }
    dotnet(shell, source, &lower);
    if lower.contains(".uploadfile(") || lower.contains(".uploaddata(") {
        let literals = super::inline::string_literals(source);
        let host = literals.iter().find(|text| text.contains("://")).map(|url| super::tools::host_of(url));
        shell.send(host.unwrap_or_default(), Cargo::File, "PowerShell");
    }
    if ["get-childitem env:", "gci env:", "ls env:", "dir env:", "get-item env:"]
        .iter()
        .any(|list| lower.contains(list))
    {
        shell.disclose(Disclosure::Environment);
    }
    // Only files of one kind are listed.
    let narrowed = ["get-childitem *.", "gci *.", "ls *.", "dir *."].iter().any(|list| lower.contains(list));
    let mut listed: Option<Listing> = None;
    let mut values: Vec<(String, String)> = Vec::new();
    let mut all = statements(source);
    all.extend(nested(source));
    for statement in all {
        let statement = with_values(&statement, &mut values);
        let shown = said(&statement).strip_prefix("$env:").filter(|rest| !rest.contains('='));
        if shown.is_some_and(|name| context_graph_secrets::names_credential(name.trim())) {
            shell.disclose(Disclosure::Variable);
        }
        if listed::deletes_itself(&statement) {
            listed::delete(shell, listed.take().as_ref(), &statement);
            continue;
        }
        let words = words(&statement, shell);
        if !words.is_empty() {
            // The listing is piped to the next command.
            let before = listed.take();
            listed = Listing::of(&words).or_else(|| before.clone().and_then(|before| before.through(&words)));
            command(shell, &words, before.as_ref(), narrowed);
        }
    }
}

/// What .NET classes do to files, judged by their string arguments.
fn dotnet(shell: &mut Shell<'_>, source: &str, lower: &str) {
    let on_files = lower.contains("io.file]::") || lower.contains("io.directory]::");
    if !on_files && ![".downloadfile(", "::setenvironmentvariable("].iter().any(|call| lower.contains(call)) {
        return;
    }
    let literals = super::inline::string_literals(&with_places(source, shell).replace('\\', "/"));
    if let (true, [_, file, ..]) = (lower.contains(".downloadfile("), literals.as_slice()) {
        shell.taint(&Text::from(file.as_str()), Taint::Network);
    }
    if lower.contains("::setenvironmentvariable(") {
        let args: Vec<Text> = literals.iter().map(|text| Text::from(text.as_str())).collect();
        // Without a third value the variable is set for this process only.
        if args.iter().any(|arg| ["user", "machine"].iter().any(|all| arg.known().eq_ignore_ascii_case(all)))
        {
            let cwd = shell.cwd().clone();
            shell.out.runs.push(Run { name: "setx".to_owned(), args, assigns: Vec::new(), stdin: None, cwd });
        }
    }
    if !on_files {
        return;
    }
    let access = if lower.contains("::delete") || lower.contains("::move") {
        Access::Delete
    } else if ["::write", "::append", "::create", "::copy", "::replace"]
        .iter()
        .any(|verb| lower.contains(verb))
    {
        Access::Write
    } else {
        Access::Read
    };
    for text in literals {
        shell.touch_all(access, &Text::from(text.as_str()), "PowerShell", true);
    }
}

/// Commands that weaken the machine's protection, or end every process.
fn machine(shell: &mut Shell<'_>, name: &str, args: &[Text]) -> bool {
    let has = |word: &str| args.iter().any(|arg| arg.to_string().eq_ignore_ascii_case(word));
    match name {
        "set-executionpolicy" if (has("unrestricted") || has("bypass")) && !has("process") => {
            shell.out.privileges.push(Privilege::Grant("Set-ExecutionPolicy".to_owned()));
        }
        "stop-process" | "spps" if has("*") => {
            shell.script("kill -9 -1");
        }
        _ => return false,
    }
    true
}

/// What a statement prints: a value by itself, or the argument of a printing command.
fn said(statement: &str) -> &str {
    let statement = statement.trim();
    let Some((first, rest)) = statement.split_once(char::is_whitespace) else { return statement };
    match first.to_ascii_lowercase().as_str() {
        "write-host" | "write-output" | "echo" | "out-host" | "write" => rest.trim().trim_matches('"'),
        _ => statement,
    }
}

fn command(shell: &mut Shell<'_>, words: &[Text], listed: Option<&Listing>, narrowed: bool) {
    let mut words = words;
    while words.first().is_some_and(|word| matches!(word.known(), "&" | "." | "{" | "(" | "}")) {
        words = &words[1..];
    }
    let Some((first, args)) = words.split_first() else { return };
    // A value or an assignment, not a command.
    if first.has_hole() {
        return;
    }
    let name = first.known().to_ascii_lowercase();
    let files: Vec<Text> = operands(args);
    if is_cmdlet(&name) {
        let (args, cwd) = (args.to_vec(), shell.cwd().clone());
        let run_name = if name == "invoke-sqlcmd" { "sql" } else { name.as_str() }.to_owned();
        shell.out.runs.push(Run { name: run_name, args, assigns: Vec::new(), stdin: None, cwd });
    }
    redirected(shell, words);
    match name.as_str() {
        _ if on_files(shell, &name, args, &files, listed, narrowed) => {}
        "start-process" | "saps" if args.iter().any(|arg| arg.known().eq_ignore_ascii_case("runas")) => {
            shell.out.privileges.push(Privilege::OtherUser("Start-Process -Verb RunAs".to_owned()));
        }
        "start-process" | "saps" => {
            let line = files.iter().flat_map(|file| file.known().split_whitespace().map(Text::lit));
            shell.run(line.collect(), Vec::new(), &Flow::default());
        }
        "robocopy" if args.iter().any(|arg| matches!(arg.known(), "/MIR" | "/mir" | "/PURGE" | "/purge")) => {
            if let Some(target) = files.get(1) {
                shell.touch_all(Access::Delete, target, "robocopy", true);
            }
        }
        "diskpart" | "format-volume" | "clear-disk" | "remove-partition" | "initialize-disk"
        | "stop-computer" | "restart-computer" => {
            shell.unknown(Unknown::Foreign(name.clone()));
        }
        "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" | "start-bitstransfer" => {
            requested(shell, &name, &files, has_flag(args, "-infile"));
            let named = args.windows(2).find(|pair| {
                let option = pair[0].known().to_ascii_lowercase();
                option.len() > 1
                    && option.starts_with('-')
                    && ["-outfile", "-destination"].iter().any(|all| all.starts_with(&option))
            });
            let second = files.get(1).filter(|_| name == "start-bitstransfer");
            if let Some(file) = named.map(|pair| &pair[1]).or(second) {
                let file = slashed(file);
                shell.touch(Access::Write, &file, &name);
                shell.taint(&file, Taint::Network);
            }
        }
        "certutil" | "bitsadmin" | "mshta" | "regsvr32" | "rundll32" if fetches(args) => {
            shell.unknown(Unknown::Downloaded(name.clone()));
        }
        "set-location" | "cd" | "sl" | "chdir" => {
            if let Some(to) = files.first() {
                let to = super::path::absolute(to, shell.cwd());
                shell.set_cwd(to);
            }
        }
        _ if machine(shell, &name, args) => {}
        _ if name.contains('-') && !name.contains('.')
            || name.starts_with(['$', '[', '@', '}', '#'])
            || is_keyword(&name) => {}
        _ => {
            shell.run(words.to_vec(), Vec::new(), &Flow::default());
        }
    }
}

/// Handles commands on files; false if it is another command.
fn on_files(
    shell: &mut Shell<'_>,
    name: &str,
    args: &[Text],
    files: &[Text],
    listed: Option<&Listing>,
    narrowed: bool,
) -> bool {
    match name {
        "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" if has_flag(args, "-whatif") => {}
        "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" | "clear-recyclebin" => {
            if let Some(listing) = listed.filter(|listing| files.is_empty() && listing.narrowed) {
                listing.remove_found(shell);
                return true;
            }
            let piped = listed.filter(|_| files.is_empty()).map(|listing| listing.folder.clone());
            for file in files.iter().cloned().chain(piped) {
                let recursive = has_flag(args, "-recurse")
                    || args.iter().any(|arg| matches!(arg.known(), "/s" | "/S" | "-rf" | "-r"));
                if file.is_blank() && !narrowed {
                    shell.unknown(Unknown::DeleteTarget(file.clone()));
                }
                shell.touch_all(Access::Delete, &file, "Remove-Item", recursive);
            }
        }
        "set-content" | "sc" | "add-content" | "ac" | "out-file" | "clear-content" | "clc" | "new-item"
        | "ni" | "tee-object" | "export-csv" => {
            for file in files.iter().take(1) {
                shell.touch(Access::Write, file, name);
            }
        }
        "copy-item" | "cp" | "copy" | "cpi" => {
            if let Some((last, rest)) = files.split_last() {
                for file in rest {
                    shell.touch_all(Access::Read, file, name, has_flag(args, "-recurse"));
                }
                shell.touch(Access::Write, last, name);
                if let (true, Some(effect)) = (is_template(rest), shell.out.paths.last_mut()) {
                    effect.from_template = true;
                }
            }
        }
        "move-item" | "mv" | "move" | "mi" | "rename-item" | "ren" | "rni" => {
            if let Some((last, rest)) = files.split_last() {
                for file in rest {
                    shell.touch_all(Access::Delete, file, name, true);
                }
                shell.touch(Access::Write, last, name);
            }
        }
        "get-content" | "gc" | "cat" | "type" | "select-string" | "sls" | "format-hex" | "import-csv" => {
            for file in files {
                shell.touch(Access::Read, file, name);
            }
        }
        _ => return false,
    }
    true
}

/// Whether a switch is given, possibly abbreviated.
fn has_flag(args: &[Text], switch: &str) -> bool {
    args.iter().any(|arg| {
        let arg = arg.known().to_ascii_lowercase();
        arg.len() > 2 && arg.starts_with('-') && switch.starts_with(arg.as_str())
    })
}

/// Whether a system program is passed an address.
fn fetches(args: &[Text]) -> bool {
    args.iter().any(|arg| {
        let arg = arg.known().to_ascii_lowercase();
        arg.contains("://")
            || arg.starts_with("//")
            || arg.starts_with("\\\\")
            || arg == "-urlcache"
            || arg == "/transfer"
    })
}

/// Whether a copied file is a template.
fn is_template(files: &[Text]) -> bool {
    let endings = [".example", ".sample", ".template"];
    files.iter().any(|file| endings.iter().any(|end| file.known().ends_with(end)))
}

/// Reports where a cmdlet's request goes, and whether it uploads a file.
fn requested(shell: &mut Shell<'_>, name: &str, files: &[Text], uploads: bool) {
    let host = files.first().map(|url| super::tools::host_of(&url.to_string())).unwrap_or_default();
    shell.send(host, if uploads { Cargo::File } else { Cargo::Data }, name);
}

/// Files that output is redirected to.
fn redirected(shell: &mut Shell<'_>, words: &[Text]) {
    for (at, word) in words.iter().enumerate() {
        if matches!(word.known(), ">" | ">>" | "2>" | "*>")
            && let Some(file) = words.get(at + 1)
        {
            shell.touch(Access::Write, &slashed(file), "PowerShell");
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "else"
            | "foreach"
            | "for"
            | "while"
            | "function"
            | "param"
            | "return"
            | "try"
            | "catch"
            | "finally"
            | "switch"
            | "echo"
            | "ls"
            | "dir"
            | "gci"
    )
}

/// `Verb-Noun`.
fn is_cmdlet(word: &str) -> bool {
    word.split_once('-').is_some_and(|(verb, noun)| {
        let letters = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric());
        letters(verb) && letters(noun)
    })
}
