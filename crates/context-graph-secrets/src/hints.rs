//! Looser checks than redaction: is this likely to be, or to contain, a credential?
//!
//! A guard uses them before something is shown or sent. It prefers to ask once too often, so a placeholder such
//! as `AKIAIOSFODNN7EXAMPLE` counts here, although redaction leaves it alone.

use super::bytes::{ALNUM, BASE64, is, is_at, run};
use super::shapes::{Shape, beginning_at};

/// Whether a variable with this name is likely to hold a credential.
pub fn names_credential(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // Counts, limits and lifetimes are not credentials.
    let measures = ["COUNT", "LIMIT", "LENGTH", "LEN", "TTL", "EXPIRY", "BUDGET", "USAGE"];
    if upper.rsplit('_').next().is_some_and(|last| measures.contains(&last)) {
        return false;
    }
    upper.split('_').any(|part| {
        matches!(
            part,
            "TOKEN"
                | "SECRET"
                | "PASSWORD"
                | "PASSWD"
                | "PASSPHRASE"
                | "CREDENTIAL"
                | "CREDENTIALS"
                | "APIKEY"
                | "PAT"
        )
    }) || ["API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "SIGNING_KEY", "DATABASE_URL"]
        .iter()
        .any(|part| upper.contains(part))
}

/// Whether a text contains a credential.
pub fn holds_secret(text: &str) -> bool {
    text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----")
        || assigns_key(text)
        || holds_token(text.as_bytes())
}

/// How many characters must follow a prefix that is almost certainly a token's.
const ENOUGH: usize = 16;

/// Whether a word begins like the tokens of a known vendor.
fn holds_token(bytes: &[u8]) -> bool {
    (0..bytes.len().saturating_sub(1)).any(|at| {
        let begins = is(bytes[at], ALNUM) && (at == 0 || !is(bytes[at - 1], ALNUM));
        begins && beginning_at(bytes, at).iter().any(|shape| looks_like(bytes, at, shape))
    })
}

fn looks_like(bytes: &[u8], at: usize, shape: &Shape) -> bool {
    let prefix = shape.prefix.as_bytes();
    let telling = prefix.len() >= 4 && !is_at(prefix, prefix.len() - 1, ALNUM);
    let least = if telling { shape.length.0.min(ENOUGH) } else { shape.length.0 };
    bytes[at..].starts_with(prefix)
        && run(bytes, at + prefix.len(), shape.body, least) == at + prefix.len() + least
}

/// An AWS secret key has no prefix, only a name and a length.
fn assigns_key(text: &str) -> bool {
    text.match_indices("ECRET_ACCESS_KEY").chain(text.match_indices("ecret_access_key")).any(|(at, name)| {
        let value = text[at + name.len()..].trim_start_matches(['=', ':', ' ', '"', '\'']).as_bytes();
        run(value, 0, BASE64, 40) == 40
    })
}

#[cfg(test)]
mod tests {
    use super::holds_secret;

    #[test]
    fn tokens_are_told_from_words() {
        assert!(holds_secret("k=ghp_abcdefghijklmnopqrstuvwxyz0123456789"));
        assert!(holds_secret("AKIAIOSFODNN7EXAMPLE"));
        assert!(holds_secret("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl"));
        assert!(holds_secret("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"));
        assert!(!holds_secret("set AWS_SECRET_ACCESS_KEY=your-key-here first"));
        assert!(!holds_secret("what is a ghp_ token"));
        assert!(!holds_secret("ASIAN markets and their openings"));
        assert!(!holds_secret("-----BEGIN CERTIFICATE-----"));
    }
}
