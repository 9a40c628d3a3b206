//! Patterns in which `*` matches any characters, including slashes, and `?` matches one byte.

/// Whether a pattern matches a whole text. `fold` ignores case.
pub(crate) fn fits(pattern: &str, text: &str, fold: bool) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let same = |a: u8, b: u8| a == b || fold && a.eq_ignore_ascii_case(&b);
    let (mut p, mut t) = (0, 0);
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || same(*c, text[t]) => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, taken)) => {
                    p = star + 1;
                    t = taken + 1;
                    retry = Some((star, taken + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}
