//! The routing header of a policy, parsed line by line without the engine.
//!
//! ```rego
//! # METADATA
//! # scope: package
//! # custom:
//! #   routing:
//! #     required_events: ["PreToolUse"]
//! #     required_tools: ["Bash"]
//! #     required_signals: ["git_branch"]
//! package cupcake.policies.example
//! ```
//!
//! A file that decides but has no route runs for every event: better too often than never. A misspelt
//! `required_…` key is an error for the same reason.

use super::yaml::{self, Flow};
use crate::effects::glob;

/// Sets that a package may define, strictest first.
pub const DECISION_SETS: [&str; 7] =
    ["halt", "deny", "block", "ask", "modify", "allow_override", "add_context"];

/// What a file is routed to. An empty list means all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// Events.
    pub events: Vec<String>,
    /// Tools; `*` matches any characters.
    pub tools: Vec<String>,
    /// Signals that the policy needs.
    pub signals: Vec<String>,
}

impl Route {
    /// Whether the route includes an event.
    pub fn matches(&self, event: &str, tool: Option<&str>) -> bool {
        let named = |list: &[String], name: &str| {
            list.iter().any(|known| known == name || (known.contains('*') && glob::matches(known, name)))
        };
        (self.events.is_empty() || named(&self.events, event))
            && (self.tools.is_empty()
                || match tool {
                    Some(tool) => named(&self.tools, tool),
                    None => self.tools.iter().any(|known| known == "*"),
                })
    }
}

/// What is known about a file without compiling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The package.
    pub package: String,
    /// The route, if the file states one.
    pub route: Option<Route>,
    /// The line of `routing`, if the file states a route.
    pub routed_at: Option<u32>,
    /// Whether it seems to define a decision set.
    pub decides: bool,
}

/// A header that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub what: String,
}

/// Parses the header of a policy's text.
pub fn read(text: &str) -> Result<Header, HeaderError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut package = None;
    let mut decides = false;
    let mut route: Option<(Route, u32)> = None;
    let mut block: Option<Vec<Line<'_>>> = None;
    for (at, line) in text.lines().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        if let Some(comment) = line.trim().strip_prefix('#') {
            if comment.trim() == "METADATA" {
                finish(&mut block, &mut route)?;
                block = Some(Vec::new());
            } else if let Some(lines) = &mut block {
                lines.push(Line::new(number, comment));
            }
            continue;
        }
        finish(&mut block, &mut route)?;
        if package.is_none() && !line.trim().is_empty() {
            package = Some(package_name(line.trim()).ok_or_else(|| HeaderError {
                line: number,
                what: "`package` must come before everything else".to_owned(),
            })?);
        }
        decides = decides || defines_a_set(line);
    }
    finish(&mut block, &mut route)?;
    let package = package.ok_or_else(|| HeaderError { line: 1, what: "there is no `package`".to_owned() })?;
    let (route, routed_at) = route.unzip();
    Ok(Header { package, route, routed_at, decides })
}

fn package_name(line: &str) -> Option<String> {
    let name = line.strip_prefix("package")?.strip_prefix([' ', '\t'])?.trim_start();
    let name = name.split([' ', '\t', '#', ';']).next().unwrap_or("");
    (!name.is_empty()).then(|| name.to_owned())
}

fn defines_a_set(line: &str) -> bool {
    DECISION_SETS
        .iter()
        .filter_map(|verb| line.strip_prefix(verb))
        .any(|rest| rest.starts_with([' ', '\t', '[', ':', '=']))
}

/// Ends a metadata block. The first block with a route counts.
fn finish(block: &mut Option<Vec<Line<'_>>>, route: &mut Option<(Route, u32)>) -> Result<(), HeaderError> {
    if let Some(lines) = block.take()
        && route.is_none()
    {
        let stated = lines.iter().find(|line| line.text.contains("routing"));
        *route = routing(&lines)?.zip(stated.map(|line| line.number));
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Line<'a> {
    number: u32,
    indent: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn new(number: u32, comment: &'a str) -> Self {
        let content = yaml::without_comment(comment);
        let text = content.trim_start();
        Self { number, indent: content.len() - text.len(), text }
    }

    fn error(&self, what: impl Into<String>) -> HeaderError {
        HeaderError { line: self.number, what: what.into() }
    }
}

/// A key's line, the rest of that line, and the lines below that belong to it.
struct Section<'a, 'b> {
    line: Line<'a>,
    key: &'a str,
    rest: &'a str,
    below: &'b [Line<'a>],
}

/// The keys at the outermost indentation of these lines.
fn entries<'a, 'b>(lines: &'b [Line<'a>]) -> Vec<Section<'a, 'b>> {
    let Some(base) = lines.iter().filter(|line| !line.text.is_empty()).map(|line| line.indent).min() else {
        return Vec::new();
    };
    let starts: Vec<usize> = (0..lines.len())
        .filter(|&at| {
            let line = lines[at];
            line.indent == base && !line.text.is_empty() && !line.text.starts_with(['-', ']', '}'])
        })
        .collect();
    let mut found = Vec::new();
    for (nth, &at) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(lines.len());
        let (key, rest) = lines[at].text.split_once(':').unwrap_or((lines[at].text, ""));
        let key = key.trim().trim_matches(['"', '\'']);
        found.push(Section { line: lines[at], key, rest: rest.trim(), below: &lines[at + 1..end] });
    }
    found
}

fn routing(lines: &[Line<'_>]) -> Result<Option<Route>, HeaderError> {
    let Some(custom) = entries(lines).into_iter().find(|entry| entry.key == "custom") else {
        return Ok(None);
    };
    if !custom.rest.is_empty() {
        let Flow::Map(keys) = custom.flow()? else {
            return Err(custom.line.error("`custom` must hold keys"));
        };
        return match keys.into_iter().find(|(key, _)| key == "routing") {
            Some((_, value)) => from_flow(&custom.line, value).map(Some),
            None => Ok(None),
        };
    }
    let Some(routing) = entries(custom.below).into_iter().find(|entry| entry.key == "routing") else {
        return Ok(None);
    };
    if !routing.rest.is_empty() {
        return from_flow(&routing.line, routing.flow()?).map(Some);
    }
    let mut route = Route::default();
    for entry in entries(routing.below) {
        if let Some(list) = list_of(&mut route, &entry.line, entry.key)? {
            *list = entry.names()?;
        }
    }
    Ok(Some(route))
}

fn from_flow(line: &Line<'_>, value: Flow) -> Result<Route, HeaderError> {
    let Flow::Map(keys) = value else { return Err(line.error("`routing` must hold keys")) };
    let mut route = Route::default();
    for (key, value) in keys {
        if let Some(list) = list_of(&mut route, line, &key)? {
            *list = names(line, &key, value)?;
        }
    }
    Ok(route)
}

fn list_of<'a>(
    route: &'a mut Route,
    line: &Line<'_>,
    key: &str,
) -> Result<Option<&'a mut Vec<String>>, HeaderError> {
    match key {
        "required_events" => Ok(Some(&mut route.events)),
        "required_tools" => Ok(Some(&mut route.tools)),
        "required_signals" => Ok(Some(&mut route.signals)),
        _ if key.starts_with("require") => Err(line.error(format!(
            "`{key}` is unknown; there are `required_events`, `required_tools` and `required_signals`"
        ))),
        _ => Ok(None),
    }
}

fn names(line: &Line<'_>, key: &str, value: Flow) -> Result<Vec<String>, HeaderError> {
    let items = match value {
        Flow::List(items) => items,
        Flow::Scalar(text) if matches!(text.as_str(), "" | "~" | "null") => return Ok(Vec::new()),
        one @ Flow::Scalar(_) => vec![one],
        Flow::Map(_) => return Err(line.error(format!("`{key}` must be a list of names"))),
    };
    items
        .into_iter()
        .map(|item| match item {
            Flow::Scalar(name) if !name.is_empty() => Ok(name),
            _ => Err(line.error(format!("`{key}` must be a list of names"))),
        })
        .collect()
}

impl Section<'_, '_> {
    /// The value on the key's line, with the following lines while a bracket is open.
    fn flow(&self) -> Result<Flow, HeaderError> {
        let mut text = self.rest.to_owned();
        for line in self.below {
            if yaml::is_closed(&text) {
                break;
            }
            text.push(' ');
            text.push_str(line.text);
        }
        yaml::flow(&text).map_err(|what| self.line.error(what))
    }

    fn names(&self) -> Result<Vec<String>, HeaderError> {
        if !self.rest.is_empty() {
            return names(&self.line, self.key, self.flow()?);
        }
        let mut found = Vec::new();
        for line in self.below.iter().filter(|line| !line.text.is_empty()) {
            let Some(item) = line.text.strip_prefix('-') else {
                return Err(line.error(format!("`{}` must be a list: `- name`", self.key)));
            };
            let item = yaml::flow(item).map_err(|what| line.error(what))?;
            found.extend(names(line, self.key, Flow::List(vec![item]))?);
        }
        Ok(found)
    }
}
