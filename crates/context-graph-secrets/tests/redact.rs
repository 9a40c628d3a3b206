//! Redaction over a corpus of made-up secrets and harmless texts, and the laws that hold for every text.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod secrets;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

use context_graph_secrets::{Memory, Redactor};
use proptest::prelude::*;
use secrets::{Dice, Positive, by_look, by_place, fresh, harmless, lookalikes};
use serde_json::{Value, json};

const REDACTOR: Redactor = Redactor::new([42; 32]);

/// The corpus, with its random parts drawn from the seed.
fn positives(seed: u64) -> Vec<Positive> {
    let parts = [
        by_look::prefixed(seed),
        by_look::composed(seed),
        by_look::blocks(seed),
        by_place::passwords(seed),
        by_place::tokens(seed),
        by_place::others(seed),
    ];
    parts.into_iter().flatten().collect()
}

/// The number of texts, the number of texts whose secret was not redacted, and a line for each of the latter.
fn missed(texts: impl Iterator<Item = (String, String, String)>) -> (usize, usize, String) {
    let (mut all, mut missed, mut lines) = (0, 0, String::new());
    for (kind, secret, redacted) in texts {
        all += 1;
        if redacted.contains(&secret) {
            missed += 1;
            writeln!(lines, "{kind}: {redacted}").unwrap();
        }
    }
    (all, missed, lines)
}

#[test]
fn secrets_are_found() {
    let found = positives(0).into_iter().map(|one| {
        let redacted = REDACTOR.redact_text(&one.text).into_owned();
        (one.kind.to_owned(), one.secret, redacted)
    });
    let (all, missed, lines) = missed(found);
    assert!(all >= 150, "{all}");
    assert!(missed * 50 <= all, "{missed} of {all} missed:\n{lines}");
    println!("{} of {all} found\n{lines}", all - missed);
}

/// Tokens that people type to test whether redaction works.
#[test]
fn tokens_that_count_up_are_taken_out_too() {
    for text in [
        "curl -H \"Authorization: Bearer abc123def456ghi789jkl012mno345\" https://x.y",
        "curl -H \"Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789\" https://x.y",
        "export OPENAI_API_KEY=sk-abcdefghijklmnopqrstuvwxyz123456",
    ] {
        let redacted = REDACTOR.redact_text(text);
        assert!(redacted.contains("[redacted:") && !redacted.contains("ghi"), "{redacted}");
    }
}

/// The half of the corpus that was written after the rules.
#[test]
fn secrets_that_nobody_had_in_mind_are_found() {
    assert!(fresh::kinds() >= 105, "{}", fresh::kinds());
    let found = (0..20).flat_map(fresh::texts).map(|one| {
        let redacted = REDACTOR.redact_text(&one.text).into_owned();
        (String::new(), one.secret, redacted)
    });
    let (all, missed, lines) = missed(found);
    println!("{} of {all} found\n{lines}", all - missed);
    assert!(missed * 50 <= all, "{missed} of {all} missed:\n{lines}");
}

/// Text directly before a token does not belong to it, and the stored form of a password is a secret.
#[test]
fn secrets_are_found_in_bad_company() {
    let mut dice = Dice::new(5);
    let token = ["gh", "p_", &dice.draw(secrets::ALNUM, 36)].concat();
    let lines: Vec<String> = (0..5).map(|_| dice.draw(secrets::BASE64, 64)).collect();
    let end = ["-----END RSA PRIV", "ATE KEY-----"].concat();
    let body = lines.join("\n");
    let salted = dice.draw(secrets::ALNUM, 86);
    let sha = Dice::base64(dice.draw(secrets::ALNUM, 20).as_bytes());
    let cases = [
        (format!("\u{1b}[31m{token}\u{1b}[0m"), &token),
        (format!("\u{1b}[1;38;5;208m{token}"), &token),
        (format!("\\u001b[32m{token}\\u001b[0m"), &token),
        (format!("\\x1b[0;32m{token}"), &token),
        (format!("[32m{token}[0m"), &token),
        (format!("https://x.test/cb?next=%2F{token}%2Fb"), &token),
        (format!("https://x.test/?a=b%3D{token}"), &token),
        (format!("n{token}"), &token),
        (format!("token{token} is mine"), &token),
        (format!("MIIEpAIBAAKCAQEA{}\n{body}\nabcd==\n", &lines[0][16..]), &lines[3]),
        (format!("MIIEvgIBADANBgkqhkiG{}\n{body}\n", &lines[0][20..]), &lines[2]),
        (format!("b3BlbnNzaC1rZXktdjEA{}\n{body}\n", &lines[0][20..]), &lines[1]),
        (format!("the end of it\n{body}\nabcd==\n{end}\n"), &lines[0]),
        (format!("db.internal:5432:shop:app:{}", &token[4..24]), &token[4..24].to_owned()),
        (format!("localhost:*:*:app:{}\n", &token[4..24]), &token[4..24].to_owned()),
        (format!("# pgpass\n*:5432:shop:app:{}\n", &token[4..24]), &token[4..24].to_owned()),
        (format!("root:$6$saltsalt${salted}:19000:0:99999:7:::"), &salted),
        (format!("me:$y$j9T$saltsalt${}", &salted[..43]), &salted[..43].to_owned()),
        (format!("me:$2y$10${}", &salted[..53]), &salted[..53].to_owned()),
        (format!("me:$apr1$saltsalt${}", &salted[..22]), &salted[..22].to_owned()),
        (format!("$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ${}", &salted[..43]), &salted[..43].to_owned()),
        (format!("me:{{SHA}}{sha}"), &sha),
        (format!("{{\"user\": \"me\", \"pw\": \"{}\"}}", &token[4..20]), &token[4..20].to_owned()),
    ];
    for (text, secret) in cases {
        let redacted = REDACTOR.redact_text(&text);
        assert!(!redacted.contains(secret.as_str()), "{text:?} became {redacted:?}");
    }
    for harmless in [
        "task-8f14e45fceea167a5a36dedd4bea2543-run",
        "src/main.rs:12:34:error:unused_variable",
        "main.c:12:5:warning:unused_variable_here",
        "echo $1$2$3 and $6$x",
        "10%25 of [31mred[0m and 100%",
        "-----END RSA PUBLIC KEY-----",
        "pw = 3",
    ] {
        assert_eq!(REDACTOR.redact_text(harmless), harmless);
    }
}

#[test]
fn colours_hide_nothing() {
    let secret = "Zk39dkjf83jd93kdXq";
    let token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM2";
    for (coloured, whole) in [
        (format!("\x1b[34;1m\"password\"\x1b[0m\x1b[1;39m: \x1b[0m\x1b[0;32m\"{secret}\"\x1b[0m"), secret),
        (format!("\x1b[01;31m\x1b[KAPI_TOKEN\x1b[m\x1b[K={secret}"), secret),
        (format!("API_\x1b[01;31m\x1b[KTOKEN\x1b[m\x1b[K={secret}"), secret),
        (format!("API_TOKEN=\x1b[01;31m\x1b[K{}\x1b[m\x1b[K{}", &secret[..9], &secret[9..]), secret),
        (
            format!("\x1b[38;5;81mDB_PASSWORD\x1b[0m\x1b[38;5;203m=\x1b[0m\x1b[38;5;186m{secret}\x1b[0m"),
            secret,
        ),
        (format!("{}\x1b[01;31m\x1b[K{}\x1b[m and on", &token[..8], &token[8..]), token),
        (format!("password\\u001b[0m=\\u001b[32m{secret}\\u001b[0m"), secret),
        (format!("\x1b]8;;http://x\x1b\\DB_PASSWORD\x1b]8;;\x1b\\={secret}"), secret),
    ] {
        let mut memory = Memory::default();
        let redacted = REDACTOR.redact_text_with(&coloured, &mut memory).into_owned();
        for part in [&whole[..6], &whole[whole.len() - 6..]] {
            assert!(!redacted.contains(part), "{coloured:?} became {redacted:?}");
        }
        assert_eq!(REDACTOR.redact_text(&redacted), redacted, "twice is once");
        // The same secret is recognised again without its colours.
        let plain = REDACTOR.redact_text_with(&format!("it is {whole} here"), &mut memory).into_owned();
        assert!(!plain.contains(whole), "{coloured:?}: {plain}");
    }
    for harmless in
        ["\x1b[32mok\x1b[0m 12 passed", "\x1b[1mtoken\x1b[0m: expected a string", "\x1b", "\x1b[", "\x1b]x"]
    {
        assert_eq!(REDACTOR.redact_text(harmless), harmless);
    }
    assert!(!REDACTOR.redact_text("keyAKIAIQ3ZT7LMNB5VRW2K").contains("AKIA"));
}

/// More seeds: a single one may pass by chance.
#[test]
fn it_holds_for_other_draws() {
    let found = (1..=20).flat_map(|turn| positives(100 * turn)).map(|one| {
        let redacted = REDACTOR.redact_text(&one.text).into_owned();
        (one.kind.to_owned(), one.secret, redacted)
    });
    let (all, missed, lines) = missed(found);
    assert!(missed * 100 <= all, "{missed} of {all} missed:\n{lines}");
    println!("{} of {all} found\n{lines}", all - missed);
    let texts: Vec<String> = (1..=20).flat_map(|turn| harmless::texts(100 * turn)).collect();
    let wrong: Vec<_> =
        texts.iter().filter(|text| matches!(REDACTOR.redact_text(text), Cow::Owned(_))).collect();
    println!("{} of {} taken for secrets: {wrong:#?}", wrong.len(), texts.len());
    assert!(wrong.len() * 1000 <= texts.len(), "{wrong:#?}");
}

#[test]
fn secrets_are_called_what_they_are() {
    let all = positives(0);
    let kinds: BTreeSet<_> = all.iter().map(|one| one.kind).collect();
    assert!(kinds.len() >= 25);
    let mut wrong = String::new();
    let mut count = 0;
    for one in &all {
        let redacted = REDACTOR.redact_text(&one.text);
        if !redacted.contains(&format!("[redacted:{}:", one.kind)) {
            count += 1;
            writeln!(wrong, "{}: {redacted}", one.kind).unwrap();
        }
    }
    println!("{} kinds; {count} of {} called otherwise\n{wrong}", kinds.len(), all.len());
    assert!(count * 20 <= all.len(), "{wrong}");
}

#[test]
fn secrets_are_found_in_the_inputs_of_tools() {
    let wrap: [fn(&str) -> Value; 7] = [
        |text| json!({"command": format!("cd /w && {text}"), "description": "Run"}),
        |text| json!({"file_path": "/w/.env", "content": format!("PORT=80\n{text}\nDEBUG=1\n")}),
        |text| json!({"file_path": "/w/settings.yml", "old_string": "a: b", "new_string": format!("a: b\n{text}")}),
        |text| json!({"prompt": format!("Why does this not work?\n```\n{text}\n```")}),
        |text| json!({"stdout": format!("+ set -x\n{text}\n"), "stderr": "", "interrupted": false}),
        |text| json!({"edits": [{"new_string": text}, {"new_string": "fine"}]}),
        |text| json!({"body": json!({"text": text}).to_string()}),
    ];
    for wrap in wrap {
        let found = positives(0).into_iter().map(|one| {
            let mut object = wrap(&one.text).as_object().unwrap().clone();
            REDACTOR.redact_object(&mut object, &mut Memory::default());
            (one.kind.to_owned(), one.secret, Value::Object(object).to_string())
        });
        let (all, missed, lines) = missed(found);
        assert!(missed * 50 <= all, "{missed} of {all} missed:\n{lines}");
        println!("{} of {all} found\n{lines}", all - missed);
    }
}

#[test]
fn keys_name_their_values() {
    let token = Dice::new(5).draw(secrets::ALNUM, 30);
    let key = format!("gh{}{}", "p_", Dice::new(6).draw(secrets::ALNUM, 36));
    let mut object = json!({
        "password": "hunter2", "env": {"API_KEY": token, "HOME": "/root"}, "headers": {"Authorization": format!("Bearer {token}")},
        "args": ["serve", "--token", token, "--port", "80"], "vars": [{"name": "DB_PASSWORD", "value": "swordfish-9"}],
        "cookie": format!("a=b; sid={token}"), key.clone(): 1,
        "session_id": "6f2b7c1e-93d4-4f55-8a3b-0a1b2c3d4e5f", "tool_use_id": "toolu_01A9sYdLqTz7Kw3mNbVcXrGh",
    });
    let object = object.as_object_mut().unwrap();
    let count = REDACTOR.redact_object(object, &mut Memory::default());
    let text = Value::Object(object.clone()).to_string();
    assert!(
        !text.contains(&token)
            && !text.contains(&key)
            && !text.contains("hunter2")
            && !text.contains("swordfish"),
        "{text}"
    );
    assert_eq!(count, 7, "{text}");
    for kept in [
        "Bearer [redacted:bearer:",
        "a=b; sid=[",
        "/root",
        "6f2b7c1e",
        "toolu_01A9sYdLqTz7Kw3mNbVcXrGh",
        "\"80\"",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert_eq!(REDACTOR.redact_object(object, &mut Memory::default()), 0);
}

#[test]
fn what_is_around_a_secret_stays() {
    let of = |text: &str| {
        let redacted = REDACTOR.redact_text(text).into_owned();
        let at = redacted.rfind(':').unwrap();
        format!("{}:#{}", &redacted[..at], &redacted[at + 9..])
    };
    assert_eq!(of("export DB_PASSWORD=hunter2 && run"), "export DB_PASSWORD=[redacted:password:#] && run");
    let url = "postgres://app:pa55w0rd@db/shop";
    assert!(of(url).starts_with("postgres://app:[redacted:database-url:"));
    assert!(REDACTOR.redact_text(url).ends_with("]@db/shop"));
}

#[test]
fn equal_secrets_are_seen_to_be_equal() {
    let marker = |redactor: &Redactor, text: &str| {
        let redacted = redactor.redact_text(text).into_owned();
        let at = redacted.find("[redacted:").unwrap();
        redacted[at..].split(']').next().unwrap().rsplit(':').next().unwrap().to_owned()
    };
    let (one, other) = ("password=\"hunter2\"", "mysql -u me -phunter2 shop");
    assert_eq!(marker(&REDACTOR, one), marker(&REDACTOR, other));
    assert_ne!(marker(&REDACTOR, one), marker(&REDACTOR, "password=\"hunter3\""));
    assert_ne!(marker(&REDACTOR, one), marker(&Redactor::new([1; 32]), one));
}

#[test]
fn harmless_texts_are_left_alone() {
    let texts = harmless::texts(0);
    assert!(texts.len() >= 300, "{}", texts.len());
    let mut wrong = String::new();
    let mut count = 0;
    for text in &texts {
        if let Cow::Owned(redacted) = REDACTOR.redact_text(text) {
            count += 1;
            let lines = redacted.lines().filter(|line| line.contains("[redacted:"));
            wrong.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
    println!("{count} of {} taken for secrets\n{wrong}", texts.len());
    assert!(count * 100 <= texts.len(), "{count} of {}:\n{wrong}", texts.len());
}

/// As `harmless_texts_are_left_alone`, with texts that were written after the rules.
#[test]
fn look_alikes_are_left_alone() {
    let texts: Vec<String> = (0..20).flat_map(lookalikes::texts).collect();
    let touched = |text: &&String| matches!(REDACTOR.redact_text(text), Cow::Owned(_));
    let wrong: Vec<_> = texts.iter().filter(touched).collect();
    println!("{} of {} taken for secrets: {wrong:#?}", wrong.len(), texts.len());
    assert!(wrong.len() * 200 <= texts.len(), "{} of {}: {wrong:#?}", wrong.len(), texts.len());
}

/// A secret that appears a second time without context: in the same text, in the same event, later in the
/// session.
#[test]
fn what_was_recognised_once_is_recognised_again() {
    let all: Vec<Positive> = positives(0).into_iter().chain(fresh::texts(0)).collect();
    let (mut leaked, mut count) = (Vec::new(), 0);
    for one in &all {
        // Blocks of key lines and short secrets are recognised only by their context.
        let lines = one.text.contains("-----") || one.text.contains("Private-Lines");
        if lines || one.secret.len() < 8 {
            continue;
        }
        count += 1;
        let bare = format!("- item {} (seen)", one.secret);
        let mut object = json!({"a": {"note": bare}, "b": [one.text, bare]});
        let mut memory = Memory::default();
        REDACTOR.redact_object(object.as_object_mut().unwrap(), &mut memory);
        let mut memory = Memory::from_bytes(&memory.to_bytes());
        let later = REDACTOR.redact_text_with(&bare, &mut memory);
        let within = REDACTOR.redact_text(&format!("{bare}\n{}", one.text)).into_owned();
        if [object.to_string(), later.into_owned(), within].iter().any(|text| text.contains(&one.secret)) {
            leaked.push(&one.text);
        }
    }
    println!("{} of {count} leak when they stand again: {leaked:#?}", leaked.len());
    assert!(leaked.len() * 50 <= count, "{} of {count}: {leaked:#?}", leaked.len());
}

/// A long text that is made to be slow takes no longer per byte than a short one.
#[test]
fn hostile_texts_take_linear_time() {
    let token = Dice::new(3).draw(secrets::ALNUM, 24);
    let mut memory = Memory::default();
    // Remembers many secrets with the same anchor. One of the texts below consists of this anchor.
    for at in 0..64 {
        let text = format!("DEPLOY_TOKEN={token}-{at:04}{}", "q7".repeat(400));
        let _ = REDACTOR.redact_text_with(&text, &mut memory);
    }
    let took = |piece: &str, bytes: usize| {
        let text = piece.repeat(bytes / piece.len());
        let start = Instant::now();
        let _ = REDACTOR.redact_text_with(&text, &mut memory.clone());
        start.elapsed()
    };
    let anchors = format!("{token}-");
    for piece in SLOW.iter().copied().chain([anchors.as_str()]) {
        // Eight times the text may take eight times as long, but not sixty-four times. A busy machine gets
        // another try.
        let is_linear = |_| took(piece, 64 << 10) < took(piece, 8 << 10) * 24 + Duration::from_millis(100);
        assert!((0..4).any(is_linear), "{piece:?}");
    }
}

/// The pieces of the texts that are made to be slow.
#[rustfmt::skip]
const SLOW: &[&str] = &[
    "\x1b[0m", "\\u001b[", "\x1b]8;;", "token=", "password: ", "\"api_key\", \"", "setToken(\"", "password:\n ", "key=", "?key=aB3", "sk-", "-----BEGIN PRIVATE KEY-----",
    "hooks.slack.com/services/", "'''", "token string = \"", "password: aaa bbb ccc ", "storePassword \"", "token <- \"", "<password> ",
    "aB3dE6gH9-", "\"token\",", "=", "(\"", "[redacted:", "\\", "eyJ.", "-----END PRIVATE KEY-----", "token: |\n", "name: token value: ",
];

/// Pieces that trigger the rules, combined at random.
fn pieces() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "PASSWORD",
        "token",
        "API_KEY",
        "=",
        ": ",
        ":",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        " ",
        "://",
        "@",
        "/",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Authorization",
        "Bearer ",
        "Basic ",
        "eyJ",
        ".",
        "sk-",
        "gh",
        "p_",
        "--",
        "-p",
        "mysql ",
        "curl -u ",
        "Cookie: ",
        "name",
        "value",
        ";",
        "&",
        "[redacted:password:",
        "0badc0de]",
        "[redacted:token:0badc0de]",
        "é",
        "漢",
        "😀",
        "~",
        "Q~",
        "{{",
        "}}",
        "${",
        "hunter2",
        "machine ",
        "login ",
        "identified by ",
        "is ",
        "AKIA",
        "x",
        "7",
        "\"api_key\", ",
        "setToken(",
        "?key=",
        "Key=",
        "<-",
        "::=",
        ": |\n  ",
        "\"\"\"",
        "correct horse battery staple",
        "hooks.slack.com/services/T0/",
        "token string = ",
        "storePassword ",
        "%",
        "(",
        ",",
        "k9Xw27LqPz41RtYv",
    ]);
    let random = "[a-zA-Z0-9+/_-]{1,50}";
    let piece = prop_oneof![3 => fixed.prop_map(str::to_owned), 2 => random, 1 => ".{0,12}"];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_a_second_time_changes_nothing(text in pieces()) {
        let once = REDACTOR.redact_text(&text).into_owned();
        prop_assert_eq!(REDACTOR.redact_text(&once), once.as_str());
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let once = REDACTOR.redact_text(&text).into_owned();
        prop_assert_eq!(REDACTOR.redact_text(&once), once.as_str());
    }

    #[test]
    fn any_memory_is_read(bytes in prop::collection::vec(any::<u8>(), 0..400), text in pieces()) {
        let mut memory = Memory::from_bytes(&bytes);
        let _ = REDACTOR.redact_text_with(&text, &mut memory);
    }

    #[test]
    fn any_text_is_taken(text in ".{0,300}") {
        let once = REDACTOR.redact_text(&text).into_owned();
        prop_assert_eq!(REDACTOR.redact_text(&once), once.as_str());
    }

    #[test]
    fn an_object_is_redacted_once(key in pieces(), text in pieces(), other in pieces()) {
        let mut object = json!({key: text.clone(), "password": other, "list": [text, {"name": "token", "value": "x"}]});
        let object = object.as_object_mut().unwrap();
        REDACTOR.redact_object(object, &mut Memory::default());
        prop_assert_eq!(REDACTOR.redact_object(object, &mut Memory::default()), 0);
    }

    #[test]
    fn a_prefix_token_is_found_between_any_words(before in "[a-z ]{0,20}[ \"'=(]", seed in 0_u64..1_000_000) {
        let token = format!("gh{}{}", "p_", Dice::new(seed).draw(secrets::ALNUM, 36));
        let text = format!("{before}{token} and so on");
        prop_assert!(!REDACTOR.redact_text(&text).contains(&token));
    }
}
