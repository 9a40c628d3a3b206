//! Whether two inputs belong to the same call, when there is no id.

use serde_json::Value;

/// The marker where a long text was cut.
const CUT: &str = "…[";

/// Whether two inputs are equal as far as they were kept: a long text may be cut at different places in two
/// events.
pub(super) fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b || alike_where_cut(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}

fn alike_where_cut(a: &str, b: &str) -> bool {
    let head = |text: &str| text.find(CUT);
    match (head(a), head(b)) {
        (None, None) => false,
        (Some(end), None) => b.starts_with(&a[..end]),
        (None, Some(end)) => a.starts_with(&b[..end]),
        (Some(one), Some(other)) => {
            let end = one.min(other);
            a.as_bytes()[..end] == b.as_bytes()[..end]
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cut_text_is_like_the_whole_one_and_like_no_other() {
        let whole = json!({"file_path": "/a", "content": "one two three four"});
        let cut = json!({"file_path": "/a", "content": "one two…[6 bytes left out]… four"});
        let shorter = json!({"file_path": "/a", "content": "one…[10 bytes left out]… four"});
        let other = json!({"file_path": "/a", "content": "one six…[6 bytes left out]… four"});
        assert!(alike(&whole, &whole) && alike(&whole, &cut) && alike(&cut, &shorter));
        assert!(!alike(&whole, &other) && !alike(&cut, &other));
        assert!(!alike(&whole, &json!({"file_path": "/b", "content": "one two three four"})));
        assert!(!alike(&whole, &json!({"file_path": "/a"})));
    }
}
