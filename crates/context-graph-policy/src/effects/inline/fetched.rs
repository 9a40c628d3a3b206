//! Code that runs other code: fetched, piped in, or assembled from pieces.

use super::code_words::{DELETES, FETCHES, RUNS};
use super::literals::{outside_strings, string_literals};
use crate::effects::is_this_machine;
use crate::effects::tools::host_of;

/// Whether code is fetched and run: `exec(urlopen(…).read())`, `fetch(…).then(eval)`, `include "http…"`.
pub(super) fn runs_what_it_fetches(bare: &str, code: &str) -> bool {
    // These load the address directly.
    let loads =
        ["import('http", "import(\"http", "include \"http", "include 'http", "source(\"http", "source('http"];
    if loads.iter().any(|load| code.contains(load)) || bare.contains("include(download(") {
        return true;
    }
    evaluates(bare)
        && (FETCHES.iter().any(|word| bare.contains(word))
            || code.contains("curl ")
            || code.contains("wget "))
        && (bare.contains('`')
            || code.contains("curl")
            || string_literals(code).iter().any(|text| {
                text.starts_with("http") && text.contains("://") && !is_this_machine(&host_of(text))
            }))
}

/// Whether text is run as code of the same language. A method of that name, as in `model.eval()`, does not
/// count.
pub(super) fn evaluates(bare: &str) -> bool {
    let stands_alone = |word: &str, after: &[char]| {
        bare.match_indices(word).any(|(at, _)| {
            let before = bare[..at].chars().next_back();
            let next = bare[at + word.len()..].chars().next();
            !before.is_some_and(|c| c.is_alphanumeric() || "._".contains(c))
                && next.is_some_and(|c| after.contains(&c))
        })
    };
    stands_alone("eval", &['(', ' ', ')'])
        || stands_alone("exec", &['('])
        || (stands_alone("load", &['(']) && bare.contains("popen"))
        || bare.contains("new function(")
        || bare.contains("instance_eval")
}

/// Whether a string names a module. Modules look like paths.
pub(super) fn is_module(text: &str) -> bool {
    text.starts_with("node:")
        || matches!(
            text,
            "fs" | "fs/promises"
                | "child_process"
                | "os"
                | "path"
                | "fileutils"
                | "fs-extra"
                | "net"
                | "https"
                | "http"
        )
}

/// Whether the name of a dangerous function is assembled from pieces: `global["ev" + "al"]`.
pub(super) fn has_assembled_name(code: &str) -> bool {
    let names = [
        "eval",
        "exec",
        "execSync",
        "system",
        "spawn",
        "spawnSync",
        "popen",
        "child_process",
        "rmSync",
        "rmtree",
        "unlink",
        "os.system",
        "Function",
    ];
    code.contains('+')
        && string_literals(code)
            .iter()
            .any(|text| names.contains(&text.as_str()) && !code.contains(text.as_str()))
        || joined_names(code).iter().any(|text| names.contains(&text.as_str()))
}

/// Names that a list of strings is joined to: `["rm", "Sync"].join("")`.
fn joined_names(code: &str) -> Vec<String> {
    ["].join(\"\")", "].join('')"]
        .iter()
        .flat_map(|end| code.match_indices(end).take(8))
        .filter_map(|(at, _)| Some(string_literals(&code[code[..at].rfind('[')?..at]).concat()))
        .collect()
}

/// Whether text looks like code that runs or removes something.
pub(crate) fn acts(code: &str) -> bool {
    let bare = outside_strings(code);
    bare.contains(['(', '"']) && RUNS.iter().chain(DELETES).any(|word| bare.contains(word))
}

/// Whether code runs its standard input.
pub(crate) fn runs_its_input(code: &str) -> bool {
    let bare = outside_strings(code);
    let reads = ["stdin", "input(", "readfilesync(0", "$<", "run_path"];
    let fed = reads.iter().any(|word| bare.contains(word)) || code.contains("/dev/stdin");
    let runs = evaluates(&bare) || bare.contains("run_path") || RUNS.iter().any(|word| bare.contains(word));
    runs && fed || bare.contains("pty.spawn")
}
