//! Keys that a tool prints with line numbers or other margins: no line of them is stored.

use crate::common::Place;
use crate::stage::*;

const LINES: [&str; 3] = [
    "MIIEpAIBAAKCAQEA7Lk0vXz3Rt9Ym2PwB5cHs8JdNf6Ga1UeTi4KoQxVhZrMlCyE",
    "bSgWjDnApFuq7Lk0vXz3Rt9Ym2PwB5cHs8JdNf6Ga1UeTi4KoQxVhZrMlCyEbSgW",
    "c2hvcnQgYXQgdGhlIGVuZA==",
];

#[test]
fn no_line_of_a_key_in_a_difference_or_in_numbered_lines_is_kept() {
    let (begin, end) =
        (["-----BEGIN RSA PRIV", "ATE KEY-----"].concat(), ["-----END RSA PRIV", "ATE KEY-----"].concat());
    let margins: [fn(usize) -> String; 4] =
        [|_| "+".into(), |_| "-".into(), |number| format!("{number:6}\t"), |number| format!("{number}:")];
    for margin in margins {
        let all = [&begin[..]].into_iter().chain(LINES).chain([&end[..]]).enumerate();
        let lines: Vec<String> =
            all.map(|(number, line)| format!("{}{line}\n", margin(number + 1))).collect();
        for shown in [lines.concat(), lines[1..].concat(), lines[..4].concat()] {
            let place = Place::new();
            for event in [start("s"), prompt("s", &format!("look:\n{shown}so much for that")), stop("s")] {
                hook(&place, &event).succeeded();
            }
            let kept = place.run(&["session", "export", "s"]);
            assert!(kept.code == 0 && kept.stdout.contains("so much for that"), "{kept:?}");
            for line in LINES {
                assert!(!kept.stdout.contains(&line[4..20]), "{shown}{}", kept.stdout);
            }
        }
    }
}
