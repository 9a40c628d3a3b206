//! Files with code that other code runs: modules of the project, and files that are read and evaluated.

use super::literals::string_literals;
use crate::effects::Text;
use crate::effects::shell::Shell;

/// How many files are looked for.
const MAX_FILES: usize = 8;

/// Calls whose first string is a file that is run.
const RUN_FILES: &[&str] =
    &["exec(open(", "run_path(", "execfile(", "spec_from_file_location(", "require(", "import("];
/// The same in languages that need no parentheses.
const RUN_FILES_BARE: &[&str] = &["load ", "load(", "require ", "require_relative ", "do "];

/// Notes the files that a piece of code runs.
pub(super) fn note(shell: &mut Shell<'_>, language: &str, code: &str) {
    let base = language.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (own, ending) = match base {
        "python" | "pypy" | "ipython" => (&[][..], "py"),
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => (&[][..], "js"),
        "ruby" | "perl" | "php" | "lua" => (RUN_FILES_BARE, if base == "ruby" { "rb" } else { "" }),
        _ => return,
    };
    let mut files: Vec<String> = Vec::new();
    for call in RUN_FILES.iter().chain(own) {
        let behind = code.split(call).skip(1).filter(|rest| rest.trim_start().starts_with(['"', '\'']));
        files.extend(behind.take(4).filter_map(|rest| string_literals(rest).into_iter().next()));
    }
    if ending == "py" {
        files.extend(imported(code).map(|module| format!("{}.py", module.replace('.', "/"))));
    }
    files.dedup();
    for file in files.iter().take(MAX_FILES) {
        let names = [file.clone(), format!("{file}.{ending}")];
        // A bare name of JavaScript is an installed package.
        let is_own = ending != "js" || file.starts_with(['.', '/']);
        let found = names.iter().filter(|_| is_own).find(|name| shell.is_file(name));
        if let Some(name) = found {
            shell.runs_file(&Text::lit(name.as_str()), language, &[]);
        }
    }
}

/// The modules that Python code imports.
fn imported(code: &str) -> impl Iterator<Item = &str> {
    code.split([';', '\n']).map(str::trim).take(64).flat_map(|statement| {
        let list = statement.strip_prefix("import ");
        let from = statement.strip_prefix("from ").map(|rest| rest.split_whitespace().next().unwrap_or(""));
        let names = list.into_iter().flat_map(|list| list.split(','));
        names.chain(from).filter_map(|name| name.split_whitespace().next())
    })
}
