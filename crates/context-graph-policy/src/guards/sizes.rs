//! How much a program writes at once.

use super::Case;
use crate::effects::{Run, Text};

/// No ordinary file is this large.
const HUGE: f64 = 100.0 * 1024.0 * 1024.0 * 1024.0;

/// Whether a run writes a file that would fill most disks.
pub(super) fn is_huge(case: &Case<'_>, run: &Run) -> bool {
    let call = case.known.read(run);
    let huge = |text: &Text| size(text.known()).is_some_and(|size| size >= HUGE);
    match run.name.as_str() {
        "fallocate" => call.value("--length").is_some_and(huge),
        "truncate" => call.value("--size").is_some_and(huge),
        "mkfile" => run.args.iter().any(huge),
        "head" | "tail" => {
            let endless = |arg: &Text| matches!(arg.known(), "/dev/zero" | "/dev/urandom" | "/dev/random");
            run.args.iter().any(endless) && call.value("--bytes").is_some_and(huge)
        }
        "dd" => {
            let named = |lead: &str| run.args.iter().find_map(|arg| size(arg.known().strip_prefix(lead)?));
            named("count=").is_some_and(|count| count * named("bs=").unwrap_or(512.0) >= HUGE)
        }
        _ => false,
    }
}

/// A size in bytes: `900G`, `500GiB`, `10k`, `1000000`.
fn size(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '<', '>', '/', '%']);
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let number: f64 = digits[..end].parse().ok()?;
    let power = match digits[end..].chars().next().map(|c| c.to_ascii_lowercase()) {
        None | Some('b' | 'c') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p' | 'e') => 5,
        Some(_) => return None,
    };
    Some(number * 1024f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(size("10k"), Some(10240.0));
        assert_eq!(size("1.5GiB"), Some(1.5 * 1024f64.powi(3)));
        assert_eq!(size("512"), Some(512.0));
        assert_eq!(size("x"), None);
        assert_eq!(size(""), None);
    }

    #[test]
    fn a_disk_is_not_filled_in_one_go() {
        let rule = "destructive-system/machine";
        stops(&[
            ("fallocate -l900G fill", rule),
            ("truncate --size=2T x", rule),
            ("dd if=/dev/zero of=fill bs=64M count=10k", rule),
            ("head -c 800G /dev/zero > fill.bin", rule),
        ]);
        passes(&[
            "fallocate -l 10G disk.img",
            "dd if=/dev/zero of=disk.img bs=1M count=1024",
            "head -c 100M /dev/urandom > t",
        ]);
    }
}
