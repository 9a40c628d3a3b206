//! PowerShell: calls of .NET classes, commands that change the machine, and programs that it starts.

use super::plain::static_calls;
use super::read::{slashed, with_places};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Disclosure, Privilege, Text};

/// What methods of .NET classes do to the files they are given, and the programs they start.
pub(super) fn dotnet(shell: &mut Shell<'_>, statement: &str) {
    let statement = &*with_places(statement, shell);
    let lower = statement.to_ascii_lowercase();
    if lower.contains(".downloadfile(")
        && let [_, file, ..] =
            crate::effects::inline::string_literals(&statement.replace('\\', "/")).as_slice()
    {
        shell.touch(Access::Write, &Text::from(file.as_str()), "PowerShell");
        shell.taint(&Text::from(file.as_str()), Taint::Network);
    }
    for (class, method, args) in static_calls(statement) {
        let texts: Vec<Text> = args.iter().map(|arg| Text::from(arg.as_str())).collect();
        let of = |name: &str| class.ends_with(name);
        if method == "getenvironmentvariables" {
            shell.disclose(Disclosure::Environment);
        } else if method == "setenvironmentvariable" {
            // Without a third value the variable is set for this process only.
            if args.iter().any(|arg| ["user", "machine"].iter().any(|all| arg.eq_ignore_ascii_case(all))) {
                shell.note_run("setx", texts);
            }
        } else if of("process") && method == "start" {
            let line = args.iter().flat_map(|arg| arg.split_whitespace()).map(Text::lit);
            shell.run(line.collect(), Vec::new(), &Flow::default());
        } else if of("file") || of("directory") || of("filesystem") || of("streamwriter") || of("filestream")
        {
            let begins = |verbs: &[&str]| verbs.iter().any(|verb| method.starts_with(verb));
            let access = if begins(&["delete", "move", "replace"]) {
                Access::Delete
            } else if begins(&["write", "append", "create", "open", "set"]) || of("streamwriter") {
                Access::Write
            } else {
                Access::Read
            };
            let both = begins(&["copy", "move", "replace", "createsymboliclink"]);
            // The second file is a new one.
            let done = [(access, true), (Access::Write, both)].into_iter().filter(|(_, is_done)| *is_done);
            for (text, (access, _)) in texts.iter().zip(done) {
                if !text.prefix().starts_with('$') {
                    shell.touch_all(access, text, "PowerShell", true);
                }
            }
        }
    }
}

/// Commands that weaken the machine's protection, or end every process.
pub(super) fn machine(shell: &mut Shell<'_>, name: &str, args: &[Text]) -> bool {
    let has = |word: &str| args.iter().any(|arg| arg.to_string().eq_ignore_ascii_case(word));
    match name {
        "set-executionpolicy" if (has("unrestricted") || has("bypass")) && !has("process") => {
            shell.out.privileges.push(Privilege::Grant("Set-ExecutionPolicy".to_owned()));
        }
        "stop-process" | "spps" if has("*") => {
            shell.script("kill -9 -1");
        }
        "stop-process" | "spps" | "kill" if has("-name") => {
            let names = args.iter().filter(|arg| !arg.prefix().starts_with('-')).cloned();
            shell.run([Text::lit("pkill")].into_iter().chain(names).collect(), Vec::new(), &Flow::default());
        }
        _ => return false,
    }
    true
}

/// `Start-Process`: the program, and the words that are passed to it.
pub(super) fn started(shell: &mut Shell<'_>, args: &[Text], files: &[Text]) {
    let is_list = |arg: &Text| {
        let option = arg.known().to_ascii_lowercase();
        option.len() > 2 && ("-argumentlist".starts_with(&option) || option == "-args")
    };
    let Some((program, rest)) = files.split_first() else { return };
    let listed: Vec<Text> = match args.iter().position(is_list) {
        Some(at) => {
            let ends =
                ["-wait", "-nonewwindow", "-passthru", "-windowstyle", "-workingdirectory", "-filepath"];
            let own = |arg: &&Text| !ends.contains(&arg.known().to_ascii_lowercase().as_str());
            args[at + 1..].iter().take_while(own).cloned().collect()
        }
        None => rest.to_vec(),
    };
    let words: Vec<Text> = match listed.as_slice() {
        [line] => line.known().split_whitespace().map(Text::lit).collect(),
        _ => listed,
    };
    let program = program.known().split_whitespace().map(Text::lit);
    shell.run(program.chain(words).collect(), Vec::new(), &Flow::default());
}

/// `New-Object`: objects of some classes open a file for writing.
pub(super) fn make_object(shell: &mut Shell<'_>, words: &[Text]) {
    let class = words.first().map(|class| class.known().to_ascii_lowercase()).unwrap_or_default();
    let (class, given) = class.split_once('(').map_or((class.as_str(), None), |(class, _)| {
        let given = words[0].known().split_once('(').map(|(_, given)| given.trim_end_matches(')'));
        (class, given)
    });
    if class.ends_with("streamwriter") || class.ends_with("filestream") {
        let file = given.map(Text::lit).or_else(|| words.get(1).cloned());
        if let Some(file) = file {
            shell.touch(Access::Write, &slashed(&file), "New-Object");
        }
    }
}
