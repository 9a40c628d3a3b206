//! The home folder and the working folder under the names that languages have for them.

/// Expressions for the home folder. Those that contain others come first.
const SPELLINGS: &[&str] = &[
    "require('node:os').homedir()",
    "require(\"node:os\").homedir()",
    "require('os').homedir()",
    "require(\"os\").homedir()",
    "os.homedir()",
    "homedir()",
    "Deno.env.get('HOME')!",
    "Deno.env.get(\"HOME\")!",
    "Deno.env.get('HOME')",
    "Deno.env.get(\"HOME\")",
    "Bun.env.HOME",
    "process.env['HOME']",
    "process.env[\"HOME\"]",
    "process.env.HOME",
    "process.env.USERPROFILE",
    "os.environ['HOME']",
    "os.environ[\"HOME\"]",
    "os.environ.get('HOME')",
    "os.environ.get(\"HOME\")",
    "os.getenv('HOME')",
    "os.getenv(\"HOME\")",
    "environ['HOME']",
    "environ[\"HOME\"]",
    "os.path.expanduser('~')",
    "os.path.expanduser(\"~\")",
    "pathlib.Path.home()",
    "Path.home()",
    "Dir.home()",
    "Dir.home",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "ENV.fetch('HOME')",
    "ENV.fetch(\"HOME\")",
    "$_SERVER['HOME']",
    "$_SERVER[\"HOME\"]",
    "$_ENV['HOME']",
    "getenv('HOME')",
    "getenv(\"HOME\")",
    "System.getProperty('user.home')",
    "System.getProperty(\"user.home\")",
    "System.getenv('HOME')",
    "System.getenv(\"HOME\")",
    "%*ENV<HOME>",
    "$*HOME",
];

/// Expressions for the working folder.
const HERE: &[&str] = &["process.cwd()", "Deno.cwd()", "os.getcwd()", "Path.cwd()", "Dir.pwd", "getcwd()"];

/// The code with each of the first expressions replaced by the string `~`; `None` if it has none. Inside a template,
/// `~` becomes part of the text. The working folder is only replaced there, by `.`.
pub(super) fn plain(code: &str) -> Option<String> {
    let names = ["HOME", "home", "USERPROFILE", "expanduser", "cwd()", "Dir.pwd"];
    if !names.iter().any(|word| code.contains(word)) {
        return None;
    }
    let mut text = code.to_owned();
    for spelling in HERE.iter().filter(|spelling| code.contains(**spelling)) {
        replace_within(&mut text, spelling, ".");
    }
    for name in renamed(code) {
        replace(&mut text, &format!("{name}()"));
    }
    for spelling in SPELLINGS.iter().filter(|spelling| code.contains(**spelling)) {
        replace(&mut text, spelling);
    }
    (text != code).then_some(text)
}

fn replace_within(text: &mut String, spelling: &str, place: &str) {
    for opening in ["${", "#{", "{"] {
        let within = format!("{opening}{spelling}}}");
        if text.contains(&within) {
            *text = text.replace(&within, place);
        }
    }
}

fn replace(text: &mut String, spelling: &str) {
    replace_within(text, spelling, "~");
    let mut from = 0;
    while let Some(at) = text[from..].find(spelling).map(|at| from + at) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            from = at + spelling.len();
        } else {
            text.replace_range(at..at + spelling.len(), "'~'");
            from = at + 3;
        }
    }
}

/// Names under which a module's function for the home folder is imported: `homedir as h`, `{homedir: h}`.
fn renamed(code: &str) -> Vec<String> {
    code.split("homedir")
        .skip(1)
        .filter_map(|rest| {
            let rest = rest.strip_prefix(" as ").or_else(|| rest.trim_start().strip_prefix(':'))?;
            let name: String =
                rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            (!name.is_empty()).then_some(name)
        })
        .take(4)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_home_has_one_spelling() {
        for (code, wanted) in [
            ("rm(os.environ['HOME'])", "rm('~')"),
            ("rm(`${process.env.HOME}/x`)", "rm(`~/x`)"),
            ("await Deno.remove(Deno.env.get(\"HOME\"))", "await Deno.remove('~')"),
            ("import {homedir as h} from 'os'; rm(h())", "import {homedir as h} from 'os'; rm('~')"),
            ("f\"{os.environ['HOME']}/x\"", "f\"~/x\""),
            ("run(`rm ${process.cwd()}/x`)", "run(`rm ./x`)"),
        ] {
            assert_eq!(plain(code).as_deref(), Some(wanted));
        }
        assert_eq!(plain("myhomedir()"), None);
        assert_eq!(plain("print(home)"), None);
        assert_eq!(plain("rm(os.getcwd())"), None);
    }
}
