//! Measures the cost of redaction: on text without secrets, with some, and on text made to be slow.
//!
//! ```text
//! cargo run --release --example redact_cost
//! ```
//!
//! The first call of a process matters most, since each hook is a new process; so it is shown separately.
#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use context_graph_secrets::Redactor;

const CODE: &str = r#"    pub fn resolve(&self, name: &str) -> Result<Target, Error> {
        let path = self.root.join(name).with_extension("toml");
        let token = self.lexer.next_token().ok_or(Error::Ended { at: path.clone() })?;
        if token.kind == Kind::Password || self.options.get("api_key").is_none() {
            return Err(Error::Missing { key: "name", value: token.text.to_owned() });
        }
        // The secret is to look at each byte once: see https://docs.test/guide?page=2#scan
        tracing::info!(target: "resolver", count = self.seen.len(), "resolved {name}");
        Ok(Target { path, commit: "3b1c9d2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c".into() })
    }
"#;

const PROSE: &str = "The session ended before the second pass, so the index was written again and every test was run \
    twice: once with the cache, once without. Nothing else changed, and the figures are in the table below. ";

fn filled(piece: &str, bytes: usize) -> String {
    let mut text = piece.repeat(bytes / piece.len() + 1);
    text.truncate((0..=bytes).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
    text
}

/// The median of several runs.
fn median(redactor: &Redactor, text: &str, times: usize) -> Duration {
    let mut all: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            black_box(redactor.redact_text(black_box(text)));
            start.elapsed()
        })
        .collect();
    all.sort_unstable();
    all[times / 2]
}

fn main() {
    let redactor = Redactor::new([9; 32]);
    let first = filled(CODE, 2048);
    let start = Instant::now();
    black_box(redactor.redact_text(black_box(&first)));
    println!("{:<34} {:>10.1?}", "first call, 2 KB of code", start.elapsed());

    for (name, piece) in [("code", CODE), ("prose", PROSE)] {
        for bytes in [2048, 64 * 1024] {
            let text = filled(piece, bytes);
            println!(
                "{:<34} {:>10.1?}",
                format!("{name}, {} KB", bytes / 1024),
                median(&redactor, &text, 201)
            );
        }
    }
    let secrets = format!(
        "{}\nexport DB_PASSWORD=hunter2\n{CODE}\ncurl -u me:s3cr3t-9 https://api.test\n",
        filled(CODE, 2048)
    );
    println!("{:<34} {:>10.1?}", "code, 2 KB, two secrets", median(&redactor, &secrets, 201));

    let slow = [
        "token=",
        "password=\"",
        "sk-",
        "eyJ-",
        "sk-ant-eyJ.",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "a1b2c3d4e5f6g7h8-",
        "Authorization: ",
        "Cookie: a=",
        "mysql -p",
        "name: token value: ",
        "password is ",
        "aA1",
        "=",
        "\\",
        "[redacted:",
        "token: \\\"",
        concat!("AK", "IA0123456789ABCDEF "),
        "hooks://hooks.slack.com/services/",
        "1:",
        "~Q~",
        "@tcp(",
        "password 'x",
        "machine login password ",
        "Basic dXNlcjpwYXNz",
        "LS0tLS1CRUdJTi",
        "-p ",
    ];
    println!("\nmade to be slow, 64 KB and 1 MB");
    for piece in slow {
        let small = median(&redactor, &filled(piece, 64 * 1024), 5);
        let large = median(&redactor, &filled(piece, 1024 * 1024), 3);
        println!("{piece:<34} {small:>10.1?} {large:>10.1?}");
    }
}
