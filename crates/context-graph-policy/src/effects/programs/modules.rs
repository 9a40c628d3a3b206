//! Modules of Python's library that are run as programs.

use crate::effects::inline;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Text};

impl Shell<'_> {
    /// `python -m MODULE`.
    pub(super) fn module(&mut self, run: &Run, module: &Text, args: &[Text]) -> Flow {
        let module = module.known();
        let files = args.iter().filter(|arg| !arg.prefix().starts_with('-'));
        let packs = matches!(module, "zipfile" | "tarfile");
        if packs
            || matches!(
                module,
                "base64" | "json.tool" | "gzip" | "tokenize" | "ast" | "dis" | "quopri" | "uu"
            )
        {
            for file in files {
                self.touch_all(Access::Read, file, &run.name, packs);
            }
        }
        // Modules that take code as an argument, or read it.
        if matches!(module, "timeit" | "code" | "pdb" | "cProfile" | "trace") {
            for code in args.iter().filter(|arg| arg.known().contains('(')) {
                inline::scan(self, "python", &code.to_string(), &[]);
            }
            if let ("code", Some(code)) = (module, run.stdin.as_deref()) {
                inline::scan(self, "python", code, &[]);
            }
        }
        // Modules that run a file and observe it.
        let watches =
            ["pdb", "cProfile", "profile", "trace", "coverage", "runpy", "debugpy", "memory_profiler"];
        let file = args.iter().find(|arg| arg.known().rsplit_once('.').is_some_and(|(_, end)| end == "py"));
        if let Some(file) = file.filter(|_| watches.contains(&module)) {
            self.runs_file(file, &run.name, &[]);
        }
        if let ("json.tool", [_, .., output]) = (module, args) {
            self.touch(Access::Write, output, &run.name);
        }
        let file = format!("{}.py", module.replace('.', "/"));
        self.runs_file(&Text::lit(file), &run.name, &[]);
        if module == "venv" && args.iter().any(|arg| arg.known() == "--clear") {
            for folder in args.iter().filter(|arg| !arg.prefix().starts_with('-')) {
                self.delete(folder, "venv", true);
            }
        }
        if module == "dotenv" {
            self.touch(Access::Read, &Text::lit(".env"), "dotenv list");
        }
        if crate::programs::known(module).is_some() && !matches!(module, "code" | "trace") {
            let words = std::iter::once(Text::lit(module)).chain(args.iter().cloned()).collect();
            return self.run(words, Vec::new(), &Flow::default());
        }
        if matches!(module, "http.server" | "SimpleHTTPServer") {
            return Flow::default();
        }
        Flow { piped: true, from: module.to_owned(), ..Flow::default() }
    }
}
