//! Addresses in the dashboard.

use std::fmt::Write as _;

/// Percent-encodes everything except letters and digits, so that the text fits any part of an address.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The address of a session's page.
pub(crate) fn session(id: &str) -> String {
    format!("/sessions/{}", encode(id))
}

/// The address of a call's or an event's page.
pub(crate) fn entry(id: &str, seq: u64) -> String {
    format!("/sessions/{}/{seq}", encode(id))
}

/// An address with a query; empty values are left out.
pub(crate) fn with<'a>(path: &str, asked: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = path.to_owned();
    let mut mark = '?';
    for (name, value) in asked.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, "{mark}{name}={}", encode(value));
        mark = '&';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leaves_its_place_in_an_address() {
        assert_eq!(session("a/../b?c#d\"e"), "/sessions/a%2F..%2Fb%3Fc%23d%22e");
        assert_eq!(
            with("/calls", [("tool", "Bash"), ("text", ""), ("path", "a b&c=d")]),
            "/calls?tool=Bash&path=a%20b%26c%3Dd"
        );
    }
}
