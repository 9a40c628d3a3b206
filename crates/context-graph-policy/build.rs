//! Turns `programs/*.toml` into static tables, so that hooks do not parse them.

#[path = "src/programs/row.rs"]
#[expect(unreachable_pub, reason = "the library has these too, and shows them")]
mod row;
#[path = "src/programs/spelling.rs"]
#[expect(unreachable_pub, reason = "the library has these too, and shows them")]
mod spelling;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use row::{Operands, Opt, ProgramStop, Row, Term, Terms, Want};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=programs");
    println!("cargo::rerun-if-changed=src/programs/row.rs");
    println!("cargo::rerun-if-changed=src/programs/spelling.rs");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.replace('\n', " / "));
            ExitCode::FAILURE
        }
    }
}

/// A folder from a variable that cargo sets.
#[expect(clippy::disallowed_methods, reason = "cargo tells a build everything by variables")]
fn told(name: &str) -> Result<PathBuf, String> {
    env::var(name).map(PathBuf::from).map_err(|error| format!("{name}: {error}"))
}

fn build() -> Result<(), String> {
    let root = told("CARGO_MANIFEST_DIR")?;
    let mut rows: Vec<Row> = Vec::new();
    for file in &tables_in(&root.join("programs"))? {
        rows.extend(read(file)?);
    }
    let names = names_of(&rows)?;
    let mut tables = Tables::default();
    let list: Vec<String> = rows.iter().map(|row| tables.row(row)).collect();
    let mut text = tables.text;
    let _ = writeln!(text, "pub(super) static ROWS: &[Row] = &[{}];", list.join(","));
    let names: Vec<String> = names.iter().map(|(name, at)| format!("({name:?},{at})")).collect();
    let _ = writeln!(text, "pub(super) static NAMES: &[(&str, u16)] = &[{}];", names.join(","));
    fs::write(told("OUT_DIR")?.join("programs.rs"), text).map_err(|error| error.to_string())?;
    fs::write(told("OUT_DIR")?.join("lists.rs"), lists(&root)?).map_err(|error| error.to_string())
}

/// The lists of names, each a static under its own name.
fn lists(root: &Path) -> Result<String, String> {
    let mut out = String::new();
    for file in tables_in(&root.join("programs/lists"))? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).map_err(|error| format!("programs/lists/{name}: {error}"))?;
        let lists: BTreeMap<String, Vec<String>> =
            toml::from_str(&text).map_err(|error| format!("programs/lists/{name}: {error}"))?;
        for (list, words) in lists {
            let constant = list.to_ascii_uppercase();
            let _ = writeln!(
                out,
                "/// `{list}` of `programs/lists/{name}`.\npub(crate) static {constant}: &[&str] = &{words:?};"
            );
        }
    }
    Ok(out)
}

/// The files of a folder that are tables, in order.
fn tables_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    Ok(files)
}

/// The rows of one file, each with the line that it begins in.
fn read(file: &Path) -> Result<Vec<Row>, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(file).map_err(|error| format!("programs/{name}: {error}"))?;
    let rows: BTreeMap<String, Row> =
        toml::from_str(&text).map_err(|error| format!("programs/{name}: {error}"))?;
    Ok(rows
        .into_iter()
        .map(|(program, row)| {
            let heads = [
                format!("[{program}]"),
                format!("[\"{program}\"]"),
                format!("[[{program}."),
                format!("[{program}."),
            ];
            let line = text.lines().position(|line| heads.iter().any(|head| line.starts_with(head.as_str())));
            let source = format!("programs/{name}:{}", line.map_or(1, |line| line + 1));
            Row { name: program.into(), source: source.into(), ..row }
        })
        .collect())
}

/// Every name and the row it belongs to, sorted.
fn names_of(rows: &[Row]) -> Result<BTreeMap<String, usize>, String> {
    let mut names = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for name in std::iter::once(&row.name).chain(row.also.iter()) {
            if let Some(other) = names.insert(name.to_string(), at) {
                return Err(format!(
                    "`{name}` is described twice: {} and {}",
                    rows[other].source, row.source
                ));
            }
        }
    }
    Ok(names)
}

/// Static lists under numbered names. A list within a list becomes a separate static.
#[derive(Default)]
struct Tables {
    text: String,
    count: usize,
}

impl Tables {
    fn list(&mut self, kind: &str, items: &[String]) -> String {
        if items.is_empty() {
            return "Cow::Borrowed(&[])".to_owned();
        }
        self.count += 1;
        let (count, length) = (self.count, items.len());
        let _ = writeln!(self.text, "static T{count}: [{kind}; {length}] = [{}];", items.join(","));
        format!("Cow::Borrowed(&T{count})")
    }

    fn strings(&mut self, texts: &[row::Str]) -> String {
        let items: Vec<String> = texts.iter().map(|text| string(text)).collect();
        self.list("Str", &items)
    }

    fn option(&mut self, option: &Opt) -> String {
        let names = self.strings(&option.names);
        let takes: Vec<String> = option.takes.iter().map(|role| format!("Role::{role:?}")).collect();
        let takes = self.list("Role", &takes);
        format!("Opt{{names:{names},takes:{takes},optional:{}}}", option.optional)
    }

    fn operands(&mut self, operands: &Operands) -> String {
        let kinds: Vec<String> = operands
            .0
            .iter()
            .map(|kind| format!("Operand{{role:Role::{:?},many:{}}}", kind.role, kind.many))
            .collect();
        format!("Operands({})", self.list("Operand", &kinds))
    }

    fn terms(&mut self, terms: &Terms) -> String {
        let terms: Vec<String> = terms.0.iter().map(term).collect();
        format!("Terms({})", self.list("Term", &terms))
    }

    fn conditions(&mut self, list: &[Terms]) -> String {
        let items: Vec<String> = list.iter().map(|terms| self.terms(terms)).collect();
        self.list("Terms", &items)
    }

    fn stop(&mut self, stop: &ProgramStop) -> String {
        let (when, unless) = (self.conditions(&stop.when), self.conditions(&stop.unless));
        format!(
            "ProgramStop{{rule:{},when:{when},unless:{unless},says:{}}}",
            string(&stop.rule),
            string(&stop.says)
        )
    }

    fn row(&mut self, row: &Row) -> String {
        let options: Vec<String> = row.options.iter().map(|option| self.option(option)).collect();
        let options = self.list("Opt", &options);
        let also = self.strings(&row.also);
        let operands = row.operands.as_ref().map(|operands| self.operands(operands));
        let forms: Vec<String> = row
            .forms
            .iter()
            .map(|form| {
                let when = self.conditions(&form.when);
                format!("Form{{when:{when},operands:{}}}", self.operands(&form.operands))
            })
            .collect();
        let forms = self.list("Form", &forms);
        let variables = self.strings(&row.variables);
        let (recursive, quiet) = (self.conditions(&row.recursive), self.conditions(&row.quiet));
        let stops: Vec<String> = row.stops.iter().map(|stop| self.stop(stop)).collect();
        let stops = self.list("ProgramStop", &stops);
        let sub: Vec<String> = row.sub.iter().map(|sub| self.row(sub)).collect();
        let sub = self.list("Row", &sub);
        let dialect = row.dialect.map_or("None".to_owned(), |dialect| format!("Some(Dialect::{dialect:?})"));
        let reach = row.reach.map_or("None".to_owned(), |reach| format!("Some(Reach::{reach:?})"));
        let operands = operands.map_or("None".to_owned(), |operands| format!("Some({operands})"));
        format!(
            "Row{{name:{},source:{},also:{also},dialect:{dialect},options:{options},operands:{operands},forms:{forms},\
             early:{},bundle:{},sends:{},fold:{},recursive:{recursive},quiet:{quiet},variables:{variables},reach:{reach},stops:{stops},sub:{sub}}}",
            string(&row.name),
            string(&row.source),
            row.early,
            row.bundle,
            row.sends,
            row.fold,
        )
    }
}

fn string(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn term(term: &Term) -> String {
    let want = match &term.want {
        Want::End => "Want::End".to_owned(),
        Want::Word(text) => format!("Want::Word({})", string(text)),
        Want::Any(text) => format!("Want::Any({})", string(text)),
        Want::Given(text) => format!("Want::Given({})", string(text)),
        Want::Argument(text) => format!("Want::Argument({})", string(text)),
        Want::Fed(text) => format!("Want::Fed({})", string(text)),
        Want::With(name, value) => format!("Want::With({},{})", string(name), string(value)),
        Want::Variable(name, value) => format!("Want::Variable({},{})", string(name), string(value)),
    };
    format!("Term{{not:{},want:{want}}}", term.not)
}
