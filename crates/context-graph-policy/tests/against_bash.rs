//! Compares our splitting of words with bash's, if bash is installed: the arguments that a program gets must be the same.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fmt::Write as _;
use std::process::Command;

use context_graph_policy::{Context, Guards, ListedFileSystem};
use serde_json::json;

const PIECES: &[&str] = &[
    "a",
    "b c",
    "'x y'",
    "\"q r\"",
    "\\ ",
    "\\n",
    "$'\\x41\\t'",
    "$'\\''",
    "${HOME}",
    "$HOME",
    "\"$HOME\"",
    "$X",
    "\"$X\"",
    "${X}",
    "$Y",
    "\"${Y}\"",
    "{1,2}",
    "{a,b{c,d}}",
    "{1..3}",
    "$(echo o p)",
    "\"$(echo o p)\"",
    "`echo z`",
    "$(printf '%s' k)",
    "''",
    "\"\"",
    "\\\\",
    "\\$X",
    "'$X'",
    "\"\\$X\"",
    "\"\\\"\"",
    "${X:-d}",
    "${U:-d e}",
    "\"${U:-d e}\"",
    "${X:+s}",
    "${X%r}",
    "${X#f}",
    "${X:0:2}",
    "${Y/ /_}",
    "${X^^}",
    "$(( 1+2 ))",
    "#c",
    " #c",
    "{",
    "}",
    "{a",
    "a}",
    "~",
    "~/x",
    "=",
    "$@",
    "\"$@\"",
    "${#X}",
    "  ",
    "\"a'b\"",
    "'a\"b'",
    "$'a\\nb'",
    "$\"tr\"",
    "${Z[@]}",
    "\"${Z[@]}\"",
    "${Z[1]}",
    "${!P}",
    "\"`echo \"n m\"`\"",
    "\"$(echo \"n m\")\"",
    "$(echo 'a)b')",
    "$(cat <<E\nhd\nE\n)",
    "\\{1,2\\}",
    "\"{1,2}\"",
    "{1,'2 3'}",
    "{$X,k}",
];

/// Numbers that are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

fn command(dice: &mut Dice) -> String {
    let mut line = "X=foobar; Y='p q'; Z=(m 'n o'); P=X; probe".to_owned();
    for _ in 0..=dice.roll(3) {
        line.push(' ');
        for _ in 0..=dice.roll(3) {
            line.push_str(PIECES[dice.roll(PIECES.len())]);
        }
    }
    line
}

fn ours(command: &str) -> Option<Vec<String>> {
    let fs = ListedFileSystem::default();
    let ctx = Context { home: "/home/dev", project: "/", cwd: "/", fs: &fs };
    let effects = Guards::default().effects("Bash", &json!({ "command": command }), &ctx).unwrap();
    let probe = effects.runs.into_iter().find(|run| run.name == "probe")?;
    probe.args.iter().map(|arg| arg.literal().map(str::to_owned)).collect()
}

#[test]
fn words_become_the_arguments_that_bash_makes_of_them() {
    let mut dice = Dice(7);
    let commands: Vec<String> = (0..600).map(|_| command(&mut dice)).collect();
    let mut script = "probe() { printf P; for a in \"$@\"; do printf '\\001%s' \"$a\"; done; }\n".to_owned();
    for command in &commands {
        let quoted = command.replace('\'', "'\\''");
        writeln!(script, "( eval '{quoted}' ) 2>/dev/null; printf '\\002'").unwrap();
    }
    let run = Command::new("bash")
        .arg("-c")
        .arg(&script)
        .env_clear()
        .env("HOME", "/home/dev")
        .env("PATH", "/usr/bin:/bin")
        .output();
    let Ok(output) = run else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    let mut compared = 0;
    for (command, said) in commands.iter().zip(text.split('\u{2}')) {
        let (Some(said), Some(ours)) = (said.strip_prefix('P'), ours(command)) else { continue };
        let theirs: Vec<&str> = said.split('\u{1}').skip(1).collect();
        assert_eq!(ours, theirs, "{command}");
        compared += 1;
    }
    assert!(compared > 400, "only {compared} compared");
}
