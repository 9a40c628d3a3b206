//! PowerShell, as far as it can be read word by word: cmdlets with a plain meaning become effects, programs are
//! handled as in other shells, and code built at run time is unknown.

mod listed;
mod machine;
mod plain;
mod read;

use listed::Listing;
use machine::{dotnet, machine, make_object, started};
use plain::{static_calls, with_values, without_splats};
use read::{nested, operands, slashed, statements, valued, without_comments, without_sayings, words};

use super::shell::{Flow, Shell, Taint};
use super::{Access, Disclosure, Privilege, SentKind, Text, Unknown};

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
    let source = &*without_comments(source);
    let lower = source.to_ascii_lowercase();
    let run = without_sayings(&lower);
    if HIDDEN.iter().any(|word| run.contains(word))
        || run.split(|c: char| !c.is_alphanumeric()).any(|word| word == "iex")
    {
        shell.unknown(Unknown::Opaque("PowerShell code made at run time".to_owned()));
    }
    let source = &*without_splats(source);
    if lower.contains(".uploadfile(") || lower.contains(".uploaddata(") {
        let literals = super::inline::string_literals(source);
        let host = literals.iter().find(|text| text.contains("://")).map(|url| super::tools::host_of(url));
        shell.send(host.unwrap_or_default(), SentKind::File, "PowerShell");
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
    let mut aliases: Vec<(String, Text)> = Vec::new();
    for (is_fed, statement) in statements(source).into_iter().chain(nested(source)) {
        // A variable may hold the listing of the statement before.
        if !is_fed && !statement.trim().is_empty() && !statement.trim_start().starts_with('$') {
            listed = None;
        }
        let mut statement = with_values(&statement, &mut values, shell);
        dotnet(shell, &statement);
        if shown_variable(&statement).is_some_and(|name| context_graph_secrets::names_credential(&name)) {
            shell.disclose(Disclosure::Variable);
        }
        if listed::deletes_itself(&statement) {
            listed::delete(shell, listed.take().as_ref(), &statement);
            continue;
        }
        // `$_` is the listed object.
        if listed.is_some() && !statement.trim_start().starts_with('$') {
            statement = statement.replace("$_.FullName", "").replace("$_", "");
        }
        let mut words = words(&statement, shell);
        renamed(&mut aliases, &mut words);
        if !words.is_empty() {
            // The listing is piped to the next command.
            let before = listed.take();
            listed = Listing::of(&words, &statement)
                .or_else(|| before.clone().and_then(|before| before.through(&words)));
            command(shell, &words, before.as_ref(), narrowed);
        }
    }
}

/// Remembers an alias that a statement defines, and replaces an alias by its command.
fn renamed(aliases: &mut Vec<(String, Text)>, words: &mut [Text]) {
    let Some((first, args)) = words.split_first_mut() else { return };
    let name = first.known().to_ascii_lowercase();
    if matches!(name.as_str(), "nal" | "sal" | "new-alias" | "set-alias") {
        let words = operands(args);
        let meant = valued(args, "-value").or_else(|| words.get(1));
        if let (Some(name), Some(meant), true) = (words.first(), meant, aliases.len() < 16) {
            aliases.push((name.known().to_ascii_lowercase(), meant.clone()));
        }
    } else if let Some((_, meant)) = aliases.iter().rev().find(|(known, _)| *known == name) {
        *first = meant.clone();
    }
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

/// The variable of the environment whose value a statement prints.
fn shown_variable(statement: &str) -> Option<String> {
    let said = said(statement).trim_start_matches('(').trim();
    if let Some(rest) = said.strip_prefix("$env:") {
        return (!rest.contains('=')).then(|| rest.trim().to_owned());
    }
    let (class, method, args) = static_calls(said).into_iter().next()?;
    let is_read = class.ends_with("environment") && method == "getenvironmentvariable";
    let is_whole = said.starts_with('[') && said.ends_with(')');
    args.into_iter().next().filter(|_| is_read && is_whole)
}

fn command(shell: &mut Shell<'_>, words: &[Text], listed: Option<&Listing>, narrowed: bool) {
    let mut words = words;
    while words.first().is_some_and(|word| matches!(word.known(), "&" | "." | "{" | "(" | "}")) {
        words = &words[1..];
    }
    let Some((first, args)) = words.split_first() else { return };
    // A value or an assignment, not a command. The name of a class is in brackets.
    if first.has_hole() || first.has_glob() && first.prefix().is_empty() {
        return;
    }
    let name = unqualified(first.known()).to_ascii_lowercase();
    let files: Vec<Text> = operands(args);
    if is_cmdlet(&name) {
        let known_as = if name == "invoke-sqlcmd" { "sql" } else { name.as_str() };
        shell.note_run(known_as, args.to_vec());
    }
    redirected(shell, words);
    match name.as_str() {
        _ if on_files(shell, &name, args, &files, listed, narrowed) => {}
        "start-process" | "saps" if args.iter().any(|arg| arg.known().eq_ignore_ascii_case("runas")) => {
            shell.out.privileges.push(Privilege::OtherUser("Start-Process -Verb RunAs".to_owned()));
        }
        "start-process" | "saps" => started(shell, args, &files),
        // Text that is written into the pipe is what a shell reads.
        _ if args.is_empty() && crate::programs::lists::SHELLS.contains(&name.as_str()) => {
            if let Some(script) = listed.and_then(|listing| listing.folder.literal()) {
                shell.script(script);
            }
        }
        "robocopy" if args.iter().any(|arg| matches!(arg.known(), "/MIR" | "/mir" | "/PURGE" | "/purge")) => {
            if let Some(target) = files.get(1) {
                shell.touch_all(Access::Delete, target, "robocopy", true);
            }
        }
        "diskpart" | "format-volume" | "clear-disk" | "remove-partition" | "initialize-disk"
        | "stop-computer" | "restart-computer" => {
            shell.unknown(Unknown::Opaque(name.clone()));
        }
        "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" | "start-bitstransfer" => {
            requested(shell, &name, &files, has_flag(args, "-infile"));
            if let Some(file) = valued(args, "-infile") {
                shell.touch(Access::Read, &slashed(file), &name);
            }
            let second = files.get(1).filter(|_| name == "start-bitstransfer");
            let named = valued(args, "-outfile").or_else(|| valued(args, "-destination"));
            if let Some(file) = named.or(second) {
                let file = slashed(file);
                shell.touch(Access::Write, &file, &name);
                shell.taint(&file, Taint::Network);
            }
        }
        "certutil" | "bitsadmin" | "mshta" | "regsvr32" | "rundll32" if fetches(args) => {
            shell.unknown(Unknown::Downloaded(name.clone()));
        }
        "set-location" | "cd" | "sl" | "chdir" | "push-location" | "pushd" => {
            if let Some(to) = files.first() {
                let to = super::path::absolute(&shell.home_expanded(to), shell.cwd());
                shell.set_cwd(to);
            }
        }
        _ if machine(shell, &name, args) => {}
        _ if name.contains('-') && !name.contains(['.', '/'])
            || name.starts_with(['$', '[', '@', '}', '#'])
            || is_keyword(&name) => {}
        _ => {
            run_as(shell, std::iter::once(slashed(first)).chain(args.iter().cloned()));
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
            remove(shell, args, files, listed, narrowed);
        }
        "new-item" | "ni"
            if valued(args, "-target").or_else(|| valued(args, "-value")).is_some_and(|_| links(args)) =>
        {
            let to = valued(args, "-target").or_else(|| valued(args, "-value"));
            let named = valued(args, "-path").or(files.first());
            let words = [Some(&Text::lit("ln")), Some(&Text::lit("-sf")), to, named];
            run_as(shell, words.into_iter().flatten().cloned());
        }
        "set-content" | "sc" | "add-content" | "ac" | "out-file" | "clear-content" | "clc" | "new-item"
        | "ni" | "tee-object" | "start-transcript" | "clear-item" | "cli" | "set-acl" => {
            if let Some(listing) = listed.filter(|_| files.is_empty()) {
                listing.act(shell, Access::Write, name);
            }
            for file in files.iter().take(1) {
                shell.touch(Access::Write, file, name);
            }
        }
        "new-object" => make_object(shell, files),
        _ if name.starts_with("export-") => {
            for file in files.iter().take(1) {
                shell.touch(Access::Write, file, name);
            }
        }
        "copy-item" | "cp" | "copy" | "cpi" => {
            let words: &[&str] = if has_flag(args, "-recurse") { &["cp", "-r"] } else { &["cp"] };
            // Unlike in other shells, `folder/*` includes hidden files.
            let whole = |file: &Text| match file.to_string().strip_suffix("/*") {
                Some(folder) if words.len() > 1 => Text::lit(format!("{folder}/.")),
                _ => file.clone(),
            };
            run_as(shell, words.iter().map(|word| Text::lit(*word)).chain(files.iter().map(whole)));
        }
        "move-item" | "mv" | "move" | "mi" | "rename-item" | "ren" | "rni" => {
            let piped = listed.filter(|_| files.len() < 2).map(Listing::files);
            run_as(shell, [Text::lit("mv")].into_iter().chain(piped).chain(files.iter().cloned()));
        }
        "expand-archive" => {
            let options = ["unzip", "-o"].map(Text::lit).into_iter();
            let folder = files.get(1).map(|folder| [Text::lit("-d"), folder.clone()]);
            run_as(shell, options.chain(files.first().cloned()).chain(folder.into_iter().flatten()));
        }
        "compress-archive" => {
            if let Some((to, from)) = files.split_last() {
                let options = ["zip", "-r"].map(Text::lit).into_iter();
                run_as(shell, options.chain([to.clone()]).chain(from.iter().cloned()));
            }
        }
        "get-content" | "gc" | "cat" | "type" | "select-string" | "sls" | "format-hex" | "import-csv" => {
            // `Select-String` may search in text of the pipe.
            if let Some(listing) = listed.filter(|_| files.is_empty() && !name.starts_with('s')) {
                listing.act(shell, Access::Read, name);
            }
            for file in files {
                shell.touch(Access::Read, file, name);
            }
        }
        _ => return false,
    }
    true
}

/// Removes files: those that are named, or those that a pipe lists.
fn remove(shell: &mut Shell<'_>, args: &[Text], files: &[Text], listed: Option<&Listing>, narrowed: bool) {
    if let Some(listing) = listed.filter(|_| files.is_empty()) {
        return listing.act(shell, Access::Delete, "Remove-Item");
    }
    let recursive = has_flag(args, "-recurse")
        || args.iter().any(|arg| matches!(arg.known(), "/s" | "/S" | "-rf" | "-r"));
    for file in files {
        if file.is_blank() && !narrowed {
            shell.unknown(Unknown::DeleteTarget(file.clone()));
        }
        shell.touch_all(Access::Delete, file, "Remove-Item", recursive);
    }
}

/// Whether a switch is given, possibly abbreviated.
fn has_flag(args: &[Text], switch: &str) -> bool {
    args.iter().any(|arg| {
        let arg = arg.known().to_ascii_lowercase();
        let arg = arg.strip_suffix(":$true").unwrap_or(&arg);
        arg.len() > 2 && arg.starts_with('-') && switch.starts_with(arg)
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

/// Handles a cmdlet as the program that does the same.
fn run_as(shell: &mut Shell<'_>, words: impl Iterator<Item = Text>) {
    shell.run(words.collect(), Vec::new(), &Flow::default());
}

/// Whether `New-Item` makes a link.
fn links(args: &[Text]) -> bool {
    let kinds = ["symboliclink", "hardlink", "junction"];
    args.iter().any(|arg| kinds.iter().any(|kind| arg.known().eq_ignore_ascii_case(kind)))
}

/// A cmdlet's name without its module: `Microsoft.PowerShell.Management\Remove-Item`.
fn unqualified(name: &str) -> &str {
    let cmdlet = name.rsplit_once('/').filter(|(module, _)| module.contains('.') && !module.starts_with('.'));
    cmdlet.map(|(_, cmdlet)| cmdlet).filter(|cmdlet| is_cmdlet(cmdlet)).unwrap_or(name)
}

/// Reports where a cmdlet's request goes, and whether it uploads a file.
fn requested(shell: &mut Shell<'_>, name: &str, files: &[Text], uploads: bool) {
    let host = |url: &Text| super::tools::host_of(&url.to_string());
    let kind = if uploads { SentKind::File } else { SentKind::Data };
    shell.send(files.first().map(host).unwrap_or_default(), kind, name);
    // The address of a proxy is one of them.
    for url in files.iter().skip(1).filter(|url| url.prefix().contains("://")) {
        shell.send(host(url), kind, name);
    }
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
