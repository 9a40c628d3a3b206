//! Programs that run what a file of the project says: its package's scripts, its tasks, its pipelines.

use crate::effects::Text;
use crate::effects::shell::Shell;
use crate::programs::Invocation;

/// The files that a runner looks for, and how each is read. The runner takes the first one that exists.
type Files = (&'static [&'static str], &'static str);

impl Shell<'_> {
    /// Notes the file that a runner reads.
    pub(super) fn runs_tasks(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        if let "npm" | "pnpm" | "yarn" | "bun" | "node" = run.name.as_str() {
            let parts = package_scripts(call);
            if !parts.is_empty() {
                self.runs_file(&Text::lit("package.json"), "npm", &parts);
            }
            return;
        }
        // Programs that run another one and observe it.
        if let "coverage" | "kernprof" | "viztracer" | "scalene" | "pyinstrument" | "memray" | "py-spy" =
            run.name.as_str()
        {
            let is_code = |word: &&Text| word.known().rsplit_once('.').is_some_and(|(_, end)| end == "py");
            if let Some(file) = run.args.iter().find(is_code) {
                self.runs_file(file, "python3", &[]);
            }
            return;
        }
        if run.name == "ansible-playbook" {
            for book in call.operands() {
                match self.descriptor(book) {
                    Some(flow) if flow.network => {
                        self.unknown(crate::effects::Unknown::Downloaded(run.name.clone()));
                    }
                    Some(_) => {}
                    None => self.runs_file(book, "lines", &[]),
                }
            }
        }
        let installs = matches!(run.name.as_str(), "pip" | "pip3" | "uv") && run.has("install");
        let is_here = |arg: &Text| matches!(arg.known(), "." | "./") || arg.known().starts_with(".[");
        if installs && run.args.iter().any(is_here) {
            self.runs_file(&Text::lit("setup.py"), "python3", &[]);
        }
        let Some((files, by)) = files_of(run.name.as_str(), call.word(0)) else { return };
        if let Some(file) = files.iter().find(|file| self.is_file(file)) {
            self.runs_file(&Text::lit(*file), by, &[]);
        }
    }

    /// Whether a file is in the current folder.
    pub(crate) fn is_file(&self, name: &str) -> bool {
        let place = crate::effects::path::absolute(&Text::lit(name), self.cwd());
        place.literal().is_some_and(|place| self.base.fs.kind(place).is_some())
    }
}

/// What a runner reads when it is called with these words.
fn files_of(name: &str, first: &str) -> Option<Files> {
    Some(match (name, first) {
        ("task" | "go-task", _) => (&["Taskfile.yml", "Taskfile.yaml", "taskfile.yml"], "lines"),
        ("mise" | "rtx", "run" | "r" | "tasks") => (&["mise.toml", ".mise.toml"], "lines"),
        ("poe", _) | ("pdm" | "hatch" | "rye" | "uv" | "poetry", "run") => (&["pyproject.toml"], "lines"),
        ("tox", _) => (&["tox.ini", "pyproject.toml"], "lines"),
        ("nox", _) => (&["noxfile.py"], "python3"),
        ("invoke" | "inv", _) => (&["tasks.py"], "python3"),
        ("fab", _) => (&["fabfile.py"], "python3"),
        ("rake", _) => (&["Rakefile", "rakefile", "Rakefile.rb"], "ruby"),
        ("composer", "run" | "run-script" | "install" | "i" | "update" | "test") => {
            (&["composer.json"], "json")
        }
        ("cargo", "make") => (&["Makefile.toml"], "lines"),
        ("deno", "task") => (&["deno.json", "deno.jsonc", "package.json"], "json"),
        ("pre-commit", "run") => (&[".pre-commit-config.yaml"], "lines"),
        ("lefthook", "run") => (&["lefthook.yml", "lefthook.yaml", ".lefthook.yml"], "lines"),
        ("foreman" | "overmind" | "honcho" | "hivemind" | "forego", _) => (&["Procfile"], "lines"),
        ("direnv", "allow" | "exec" | "reload") => (&[".envrc"], "sh"),
        ("terraform" | "tofu", "apply" | "destroy") => (&["main.tf"], "lines"),
        _ => return None,
    })
}

/// The scripts of a package that a package manager runs. Installing all dependencies runs the package's own scripts.
fn package_scripts<'c>(call: &'c Invocation<'_>) -> Vec<&'c str> {
    let name = call.run.name.as_str();
    if name == "node" {
        let args = &call.run.args;
        let at = args.iter().position(|arg| arg.known() == "--run");
        let behind = at.and_then(|at| args.get(at + 1)).map(Text::known);
        let attached = args.iter().find_map(|arg| arg.known().strip_prefix("--run="));
        return behind.or(attached).into_iter().collect();
    }
    // The first word may be behind options that no table has.
    let word = |at: usize| call.words.get(at).map_or("", |word| word.known());
    match word(0) {
        "run" | "run-script" | "rum" | "urn" => vec![word(1)],
        "test" | "t" | "tst" if name != "bun" => vec!["test"],
        verb @ ("start" | "stop" | "restart") if name != "bun" => vec![verb],
        "it" | "cit" | "install-test" | "clean-install-test" if name == "npm" => {
            vec!["install", "prepare", "test"]
        }
        "install" | "i" | "in" | "ci" | "clean-install" | "install-clean" if word(1).is_empty() => {
            vec!["install", "prepare"]
        }
        "" if name == "yarn" && call.run.args.iter().all(|arg| arg.prefix().starts_with("--")) => {
            let tells = ["--version", "--help"];
            let runs = !call.run.args.iter().any(|arg| tells.contains(&arg.known()));
            if runs { vec!["install", "prepare"] } else { Vec::new() }
        }
        "pack" | "publish" => vec!["prepublishOnly", "prepack", "prepare", "publish"],
        verb @ "version" if name == "npm" => vec![verb],
        // Any other word may be a script of the package.
        script if matches!(name, "yarn" | "pnpm" | "bun") && !script.is_empty() => vec![script],
        _ => Vec::new(),
    }
}
