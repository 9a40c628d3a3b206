//! Reads YAML as a JSON value.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value};

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// The first document of a text; `null` if there is none.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    documents.first().map_or(Ok(Value::Null), |document| value(document, 0))
}

fn value(node: &Yaml<'_>, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("nested deeper than {MAX_DEPTH}"));
    }
    Ok(match node {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(truth)) => Value::from(*truth),
        Yaml::Value(Scalar::Integer(number)) => Value::from(*number),
        Yaml::Value(Scalar::FloatingPoint(number)) => Value::from(number.into_inner()),
        Yaml::Value(Scalar::String(text)) | Yaml::Representation(text, ..) => Value::from(text.as_ref()),
        Yaml::Sequence(items) => items.iter().map(|item| value(item, depth + 1)).collect::<Result<_, _>>()?,
        Yaml::Mapping(entries) => {
            let mut map = Map::new();
            for (key, entry) in entries {
                map.insert(name(key)?, value(entry, depth + 1)?);
            }
            Value::Object(map)
        }
        Yaml::Tagged(_, inner) => value(inner, depth + 1)?,
        Yaml::Alias(_) | Yaml::BadValue => return Err("a value that makes no sense".to_owned()),
    })
}

fn name(key: &Yaml<'_>) -> Result<String, String> {
    match value(key, MAX_DEPTH)? {
        Value::String(text) => Ok(text),
        other @ (Value::Bool(_) | Value::Number(_)) => Ok(other.to_string()),
        _ => Err("a key that is not a name".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_rulebooks_use_reads() {
        let text = "# a comment\na: &x\n  - one # two\n  - 'it''s'\n  - \"q\\\"\"\nb: *x\nc: {d: [1, 2.5, true, null]}\ne: |\n  l1\n  l2\nf:\n1: g\n";
        let expected = json!({"a": ["one", "it's", "q\""], "b": ["one", "it's", "q\""], "c": {"d": [1, 2.5, true, null]},
            "e": "l1\nl2\n", "f": null, "1": "g"});
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("# only this").unwrap(), Value::Null);
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        assert!(read("a: [1\nb: 2").unwrap_err().contains("line"));
        let deep = format!("a: {}1{}", "[".repeat(40), "]".repeat(40));
        assert!(read(&deep).unwrap_err().contains("deeper"));
    }
}
