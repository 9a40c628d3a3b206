//! The syntax of options, operands and conditions, and the errors in it.

use std::borrow::Cow;

use super::row::{List, Operand, Operands, Opt, Role, Term, Terms, Want};

/// The roles by their names in the tables.
const ROLES: &[(&str, Role)] = &[
    ("value", Role::Value),
    ("number", Role::Number),
    ("read", Role::Read),
    ("gather", Role::Gather),
    ("send", Role::Send),
    ("write", Role::Write),
    ("within", Role::Within),
    ("delete", Role::Delete),
    ("tree", Role::Tree),
    ("permissions", Role::Permissions),
    ("execute", Role::Execute),
    ("mention", Role::Mention),
    ("shell", Role::Shell),
    ("code", Role::Code),
    ("setting", Role::Setting),
    ("folder", Role::Folder),
    ("command", Role::Command),
    ("after", Role::After),
];

fn role(name: &str) -> Result<Role, String> {
    let known = ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role);
    known.ok_or_else(|| {
        let names: Vec<&str> = ROLES.iter().map(|(known, _)| *known).collect();
        format!("`{name}` is not a role; there are {}", names.join(", "))
    })
}

fn name_of(role: Role) -> &'static str {
    ROLES.iter().find(|(_, known)| *known == role).map_or("value", |(name, _)| name)
}

impl TryFrom<String> for Operands {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut kinds = Vec::new();
        for word in text.split_whitespace() {
            let (name, many) = word.strip_suffix('*').map_or((word, false), |name| (name, true));
            kinds.push(Operand { role: role(name)?, many });
        }
        if kinds.iter().filter(|kind| kind.many).count() > 1 {
            return Err(format!("`{text}`: only one kind of operand can be repeated"));
        }
        let opens = |kind: &Operand| matches!(kind.role, Role::Command | Role::After);
        if kinds.iter().rev().skip(1).any(|kind| kind.role == Role::Command)
            || kinds.iter().any(|k| opens(k) && k.many)
        {
            return Err(format!(
                "`{text}`: a command takes all words that are left, so it must be the last and only one"
            ));
        }
        Ok(Self(Cow::Owned(kinds)))
    }
}

impl From<Operands> for String {
    fn from(operands: Operands) -> Self {
        let shown = |kind: &Operand| format!("{}{}", name_of(kind.role), if kind.many { "*" } else { "" });
        operands.0.iter().map(shown).collect::<Vec<_>>().join(" ")
    }
}

impl TryFrom<String> for Opt {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (names, takes, optional) = match text.split_once("[=") {
            Some((names, rest)) => {
                let value =
                    rest.strip_suffix(']').ok_or_else(|| format!("`{text}`: `]` is missing at the end"))?;
                (names, value, true)
            }
            None => match text.split_once('=') {
                Some((names, value)) => (names, value, false),
                None => (text.as_str(), "", false),
            },
        };
        let names: Vec<_> = names.split_whitespace().map(|name| Cow::Owned(name.to_owned())).collect();
        let takes =
            takes.split(',').filter(|name| !name.is_empty()).map(role).collect::<Result<Vec<_>, _>>()?;
        let plain =
            |name: &Cow<'_, str>| name.len() > 1 && name.starts_with(['-', '/', '+']) && *name != "--";
        if names.is_empty() || !names.iter().all(plain) {
            return Err(format!(
                "`{text}`: an option is written `-o --output=write`, its names with their dashes"
            ));
        }
        Ok(Self { names: Cow::Owned(names), takes: Cow::Owned(takes), optional })
    }
}

impl From<Opt> for String {
    fn from(option: Opt) -> Self {
        let names = option.names.join(" ");
        let takes = option.takes.iter().map(|role| name_of(*role)).collect::<Vec<_>>().join(",");
        match (takes.is_empty(), option.optional) {
            (true, _) => names,
            (false, true) => format!("{names}[={takes}]"),
            (false, false) => format!("{names}={takes}"),
        }
    }
}

impl TryFrom<String> for Terms {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let terms = text.split_whitespace().map(|word| term(word, &text)).collect::<Result<Vec<_>, _>>()?;
        if terms.is_empty() {
            return Err("a condition needs at least one word or option".to_owned());
        }
        Ok(Self(Cow::Owned(terms)))
    }
}

fn term(word: &str, whole: &str) -> Result<Term, String> {
    let (not, word) = word.strip_prefix('!').map_or((false, word), |word| (true, word));
    let own = |text: &str| Cow::Owned(text.to_owned());
    let want = if let Some(rest) = word.strip_prefix("..").filter(|rest| !rest.is_empty()) {
        Want::Any(own(rest))
    } else if let Some(rest) = word.strip_prefix('@') {
        match rest.split_once('=') {
            None if rest == "end" => Want::End,
            None if rest == "fed" => Want::Fed(own("")),
            Some(("arg", pattern)) if !pattern.is_empty() => Want::Argument(own(pattern)),
            Some(("fed", text)) if !text.is_empty() => Want::Fed(own(text)),
            _ => return Err(format!("`{whole}`: `@{rest}` is none of `@end`, `@arg=…`, `@fed`, `@fed=…`")),
        }
    } else if let Some(rest) = word.strip_prefix('$') {
        let (name, value) = rest.split_once('=').unwrap_or((rest, "*"));
        Want::Variable(own(name), own(value))
    } else if word.len() > 1 && word.starts_with('-') {
        match word.split_once('=') {
            Some((name, value)) => Want::With(own(name), own(value)),
            None => Want::Given(own(word)),
        }
    } else if word.is_empty() {
        return Err(format!("`{whole}`: nothing follows `!`"));
    } else {
        Want::Word(own(word))
    };
    Ok(Term { not, want })
}

impl From<Terms> for String {
    fn from(terms: Terms) -> Self {
        let shown = |term: &Term| {
            let not = if term.not { "!" } else { "" };
            match &term.want {
                Want::Word(word) | Want::Given(word) => format!("{not}{word}"),
                Want::Any(word) => format!("{not}..{word}"),
                Want::End => format!("{not}@end"),
                Want::With(name, value) => format!("{not}{name}={value}"),
                Want::Argument(pattern) => format!("{not}@arg={pattern}"),
                Want::Variable(name, value) => format!("{not}${name}={value}"),
                Want::Fed(text) if text.is_empty() => format!("{not}@fed"),
                Want::Fed(text) => format!("{not}@fed={text}"),
            }
        };
        terms.0.iter().map(shown).collect::<Vec<_>>().join(" ")
    }
}

/// Rows in a table, each under its name.
pub mod named {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::super::row::Row;
    use super::List;

    /// Reads the table.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<List<Row>, D::Error> {
        let rows = BTreeMap::<String, Row>::deserialize(from)?;
        let named = |(name, row): (String, Row)| Row { name: Cow::Owned(name), ..row };
        Ok(Cow::Owned(rows.into_iter().map(named).collect()))
    }

    /// Writes it.
    pub fn serialize<S: Serializer>(rows: &List<Row>, to: S) -> Result<S::Ok, S::Error> {
        rows.iter().map(|row| (row.name.clone(), row)).collect::<BTreeMap<_, _>>().serialize(to)
    }
}
