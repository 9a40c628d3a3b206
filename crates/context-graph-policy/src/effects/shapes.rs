//! What tokens and keys look like where they are written out.

/// How the tokens of well-known services begin, and how many characters follow at least.
const LEADS: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-ant-", 20),
    ("sk-proj-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-AgEI", 16),
    ("hf_", 30),
    ("dop_v1_", 30),
];

/// Whether a credential is written out in a text.
pub(crate) fn holds_secret(text: &str) -> bool {
    (text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----"))
        || assigns_key(text)
        || LEADS.iter().any(|(lead, least)| {
            text.match_indices(lead).any(|(at, _)| {
                if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
                    return false;
                }
                let after = &text[at + lead.len()..];
                let of_a_token = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
                after.bytes().take(*least).filter(of_a_token).count() == *least
                    && (lead.len() != 4
                        || lead.contains('_')
                        || *lead == "AIza"
                        || after.bytes().take(16).all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()))
            })
        })
}

/// The longer half of an AWS key has no shape of its own, only a name and a length.
fn assigns_key(text: &str) -> bool {
    text.match_indices("ECRET_ACCESS_KEY").chain(text.match_indices("ecret_access_key")).any(|(at, name)| {
        let value = text[at + name.len()..].trim_start_matches(['=', ':', ' ', '"', '\'']);
        value.bytes().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'/' | b'+')).count() >= 40
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
