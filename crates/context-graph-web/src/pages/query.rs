//! Parses the query of an address.

use context_graph_events::safe_text::is_invisible;

use crate::records::{Asked, SessionsAsked};

/// The query's pairs, in order.
pub(crate) type Pairs = Vec<(String, String)>;

/// The query without control and invisible characters: no search needs them.
pub(crate) fn seen(pairs: Pairs) -> Pairs {
    let visible = |text: String| text.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    pairs.into_iter().map(|(name, value)| (name, visible(value))).collect()
}

/// The first value of this name, trimmed.
pub(crate) fn one<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    pairs.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
}

/// All values of this name, optionally split at commas.
fn all(pairs: &[(String, String)], name: &str, by_commas: bool) -> Vec<String> {
    let own = pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let parts = own.flat_map(|value| if by_commas { value.split(',').collect() } else { vec![value] });
    parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The entries that a query asks for.
pub(crate) fn entries(pairs: &[(String, String)]) -> Asked {
    let before = one(pairs, "before").split_once('.');
    let before = before.and_then(|(at, skip)| Some((at.parse().ok()?, skip.parse().ok()?)));
    Asked {
        session: all(pairs, "session", true),
        tool: all(pairs, "tool", true),
        agent: all(pairs, "agent", true),
        event: all(pairs, "event", true),
        verdict: all(pairs, "verdict", true),
        outcome: all(pairs, "outcome", true),
        rule: all(pairs, "rule", true),
        path: all(pairs, "path", false),
        text: all(pairs, "text", false),
        since: one(pairs, "since").to_owned(),
        until: one(pairs, "until").to_owned(),
        since_ms: None,
        calls_only: one(pairs, "calls") == "1",
        before,
    }
}

/// The parts of a query, named like the options of `audit log`.
pub(crate) fn parts(asked: &Asked) -> [(&'static str, String); 11] {
    [
        ("session", asked.session.join(",")),
        ("tool", asked.tool.join(",")),
        ("agent", asked.agent.join(",")),
        ("event", asked.event.join(",")),
        ("verdict", asked.verdict.join(",")),
        ("outcome", asked.outcome.join(",")),
        ("rule", asked.rule.join(",")),
        ("path", asked.path.join(" ")),
        ("text", asked.text.join(" ")),
        ("since", asked.since.clone()),
        ("until", asked.until.clone()),
    ]
}

/// The command line with the same result.
pub(crate) fn command_line(asked: &Asked) -> String {
    let mut line = "context-graph audit log".to_owned();
    let several = [("path", &asked.path), ("text", &asked.text)];
    for (name, value) in parts(asked) {
        match several.iter().find(|(known, _)| *known == name) {
            Some((_, values)) => values.iter().for_each(|value| push(&mut line, name, value)),
            None if !value.is_empty() => push(&mut line, name, &value),
            None => {}
        }
    }
    if asked.calls_only && asked.tool.is_empty() {
        push(&mut line, "tool", "*");
    }
    line
}

fn push(line: &mut String, name: &str, value: &str) {
    line.push_str(" --");
    line.push_str(name);
    line.push(' ');
    line.push_str(&quoted(value));
}

/// A word, quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/@%+=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The sessions that a query asks for.
pub(crate) fn sessions(pairs: &[(String, String)], now_ms: i64, limit: usize) -> SessionsAsked {
    let before = one(pairs, "before").split_once('.');
    let before = before.and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    let since_ms = days(one(pairs, "since")).map(|days| now_ms - days * 86_400_000);
    SessionsAsked {
        project: one(pairs, "project").to_owned(),
        branch: one(pairs, "branch").to_owned(),
        agent: one(pairs, "agent").to_owned(),
        state: one(pairs, "state").to_owned(),
        since_ms,
        before,
        limit,
    }
}

/// A number of days: `1d`, `7d`.
pub(crate) fn days(text: &str) -> Option<i64> {
    text.strip_suffix('d')?.parse().ok().filter(|days| (0..=36_500).contains(days))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_a_command_line_ask_the_same() {
        let pairs = [("tool", "Bash,Edit"), ("text", "it's here"), ("outcome", ""), ("before", "17.2")];
        let pairs: Pairs = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let asked = entries(&pairs);
        assert_eq!((asked.tool.len(), asked.outcome.len(), asked.before), (2, 0, Some((17, 2))));
        assert_eq!(command_line(&asked), "context-graph audit log --tool Bash,Edit --text 'it'\\''s here'");
    }
}
