//! Guesses which known name an unknown one was meant to be.

/// A guess: the nearest name, or the only one that continues the wrong name after an underscore. Empty if there
/// is none.
pub fn meant(wrong: &str, known: &[&str]) -> String {
    let lower = wrong.to_ascii_lowercase();
    let mut longer = known.iter().filter(|name| name.starts_with(&format!("{lower}_")));
    if let (Some(name), None) = (longer.next(), longer.next()) {
        return format!("; perhaps `{name}`?");
    }
    let nearest = known.iter().map(|name| (distance(&lower, &name.to_ascii_lowercase()), *name)).min();
    match nearest {
        Some((apart, name)) if apart <= 2 && apart * 2 < wrong.len() => format!("; perhaps `{name}`?"),
        _ => String::new(),
    }
}

/// How many characters must be changed, added or removed.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let here = row[j + 1];
            row[j + 1] = (before + usize::from(x != y)).min(here + 1).min(row[j] + 1);
            before = here;
        }
    }
    row[b.len()]
}
