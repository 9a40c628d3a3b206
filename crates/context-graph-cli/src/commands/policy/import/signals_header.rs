//! Adds the signals that a builtin's policy reads to its header. Cupcake runs them because of the builtin;
//! here a policy only gets what its header requests.

use context_graph_policy::rego::header;

/// The text with these signals in its header; `None` if the header has no place for them.
pub(super) fn require(text: &str, signals: &[String]) -> Option<String> {
    if signals.is_empty() {
        return Some(text.to_owned());
    }
    if text.contains("required_signals") {
        let asked = header::read(text).ok()?.route?.signals;
        return signals.iter().all(|name| asked.contains(name)).then(|| text.to_owned());
    }
    let names: Vec<String> = signals.iter().map(|name| format!("\"{name}\"")).collect();
    let names = names.join(", ");
    let mut changed = String::with_capacity(text.len() + 128);
    let mut is_done = false;
    for line in text.split_inclusive('\n') {
        if !is_done
            && let Some((before, _)) = line.split_once("required_events:")
            && before.starts_with('#')
            && before[1..].trim().is_empty()
        {
            changed.extend([before, "required_signals: [", &names, "]\n"]);
            is_done = true;
        }
        changed.push_str(line);
    }
    is_done.then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_asks_for_them_then() {
        let text = "# METADATA\n# custom:\n#   routing:\n#     required_events:\n#       - Stop\npackage p\ndeny contains 1";
        let changed = require(text, &["a".to_owned(), "b".to_owned()]).unwrap();
        let route = header::read(&changed).unwrap().route.unwrap();
        assert_eq!(
            (route.events, route.signals),
            (vec!["Stop".to_owned()], vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(require(text, &[]).as_deref(), Some(text));
        assert_eq!(require(&changed, &["b".to_owned()]).as_deref(), Some(changed.as_str()));
        assert_eq!(require(&changed, &["c".to_owned()]), None);
        assert_eq!(require("# custom: {routing: {required_events: [Stop]}}", &["a".to_owned()]), None);
    }
}
