//! Invented sessions in the shapes that the client sends: prompts, calls in sequence and in parallel,
//! failures, denials, interruptions, subagents.

use std::path::Path;

use context_graph_core::session::{EventRecord, Ruling};
use serde_json::{Map, Value, json};

/// About when the newest session ends.
const NOW_MS: i64 = 1_793_000_000_000;
/// The time between the starts of two sessions.
const APART_MS: i64 = 6_000_000;

pub(crate) struct Story {
    pub(crate) id: String,
    pub(crate) started_ms: i64,
    pub(crate) ended_ms: i64,
    pub(crate) records: Vec<EventRecord>,
}

/// Session number `number` of `of`, with about `length` records.
pub(crate) fn session(number: u64, of: u64, length: u64, folder: &Path) -> Story {
    let mut chance = Chance(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
    let started_ms = NOW_MS - i64::try_from(of - number).unwrap_or(0) * APART_MS;
    let mut teller = Teller {
        id: format!("{:08x}-0000-4000-8000-{number:012x}", chance.next() >> 32),
        cwd: folder.to_string_lossy().into_owned(),
        at_ms: started_ms,
        prompt: 0,
        calls: 0,
        records: Vec::new(),
        // What a session is about: a few files and words that appear again and again.
        files: (0..6 + chance.below(20)).map(|_| chance.path()).collect(),
        words: (0..250).map(|_| chance.word()).collect(),
        chance,
    };
    teller.say("SessionStart", json!({"source": "startup"}));
    while (teller.records.len() as u64) + 2 < length {
        teller.turn(length);
    }
    teller.say("SessionEnd", json!({"reason": "other"}));
    Story { id: teller.id, started_ms, ended_ms: teller.at_ms, records: teller.records }
}

struct Teller {
    id: String,
    cwd: String,
    at_ms: i64,
    prompt: u64,
    calls: u64,
    records: Vec<EventRecord>,
    files: Vec<String>,
    words: Vec<String>,
    chance: Chance,
}

impl Teller {
    fn turn(&mut self, length: u64) {
        self.prompt += 1;
        let prompt = self.text(20, 60);
        self.say("UserPromptSubmit", json!({"prompt": prompt, "permission_mode": "acceptEdits"}));
        for _ in 0..=self.chance.below(8) {
            if self.records.len() as u64 + 3 >= length {
                break;
            }
            let side_by_side = if self.chance.below(4) == 0 { 2 + self.chance.below(3) } else { 1 };
            self.batch(side_by_side);
        }
        // One turn in thirty is interrupted.
        if self.chance.below(30) > 0 {
            let message = self.text(20, 120);
            self.say("Stop", json!({"stop_hook_active": false, "last_assistant_message": message}));
        }
    }

    fn batch(&mut self, calls: u64) {
        let agent = (self.chance.below(12) == 0)
            .then(|| json!({"agent_id": format!("a{}", self.prompt), "agent_type": "Explore"}));
        let mut open = Vec::new();
        for _ in 0..calls {
            self.calls += 1;
            let (tool, input) = self.call();
            let id = format!("toolu_01{:016x}{:06}", self.chance.next(), self.calls);
            let mut asked = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "permission_mode": "acceptEdits"});
            add(&mut asked, agent.as_ref());
            let denied = self.chance.below(60) == 0;
            self.say("PreToolUse", asked.clone());
            if denied {
                let rules =
                    ["guard/destructive-files", "guard/protected-paths", "guard/secrets", "team/no-push"];
                let rule = rules[self.chance.index(rules.len())];
                let ruling = Ruling {
                    verdict: (if self.chance.below(3) == 0 { "ask" } else { "deny" }).to_owned(),
                    rules: vec![rule.to_owned()],
                    reason: format!("{rule} does not allow this here"),
                };
                if let Some(record) = self.records.last_mut() {
                    record.ruling = Some(ruling);
                }
            }
            if !denied {
                open.push((tool, asked));
            }
        }
        while !open.is_empty() {
            let (tool, mut answer) = open.swap_remove(self.chance.index(open.len()));
            let lasted =
                5 + self.chance.below(40) * self.chance.below(40) * if tool == "Bash" { 20 } else { 1 };
            self.at_ms += i64::try_from(lasted).unwrap_or(0);
            answer["duration_ms"] = json!(lasted);
            if self.chance.below(14) == 0 {
                answer["error"] = json!(format!("Exit code 1\n{}", self.text(10, 80)));
                answer["is_interrupt"] = json!(false);
                self.say("PostToolUseFailure", answer);
            } else {
                answer["tool_response"] =
                    json!({"stdout": self.text(10, 160), "stderr": "", "interrupted": false});
                self.say("PostToolUse", answer);
            }
        }
    }

    fn call(&mut self) -> (&'static str, Value) {
        let file = self.files[self.chance.index(self.files.len())].clone();
        let path = format!("{}/{file}", self.cwd);
        match self.chance.below(10) {
            0..4 => {
                let commands = [
                    "cargo test -p",
                    "git diff --stat",
                    "rg -n",
                    "ls -la",
                    "cargo check --tests",
                    "sed -n 1,80p",
                ];
                let command = commands[self.chance.index(commands.len())];
                (
                    "Bash",
                    json!({"command": format!("{command} {file} {}", self.text(1, 4)), "description": self.text(3, 8)}),
                )
            }
            4..7 => ("Read", json!({"file_path": path})),
            7 => (
                "Edit",
                json!({"file_path": path, "old_string": self.text(5, 40), "new_string": self.text(5, 50), "replace_all": false}),
            ),
            8 => ("Grep", json!({"pattern": self.text(1, 3), "path": self.cwd, "output_mode": "content"})),
            _ => ("mcp__tracker__search", json!({"query": self.text(2, 6)})),
        }
    }

    fn say(&mut self, event: &str, own: Value) {
        self.at_ms += 20 + i64::try_from(self.chance.below(3_000)).unwrap_or(0);
        let mut payload = json!({
            "hook_event_name": event,
            "session_id": self.id,
            "transcript_path": format!("/home/user/.claude/projects/-home-user-project/{}.jsonl", self.id),
            "cwd": self.cwd,
            "prompt_id": format!("00000000-0000-4000-8000-{:012x}", self.prompt),
        });
        add(&mut payload, Some(&own));
        self.records.push(EventRecord {
            at_ms: self.at_ms,
            tool_use_id: own["tool_use_id"].as_str().map(str::to_owned),
            payload: payload.to_string(),
            took_us: 600 + u32::try_from(self.chance.below(900)).unwrap_or(0),
            link: None,
            ruling: None,
            updated_input: None,
            cuts: Vec::new(),
            remembered: Vec::new(),
        });
    }

    /// Between `from` and `to` words, most of them the session's own.
    fn text(&mut self, from: u64, to: u64) -> String {
        let count = from + self.chance.below(to - from + 1);
        let mut text = String::new();
        for _ in 0..count {
            let own = self.chance.below(20) > 0;
            let at = self.chance.index(self.words.len());
            let word = if own { self.words[at].clone() } else { self.chance.word() };
            text.push_str(&word);
            text.push(if self.chance.below(12) == 0 { '\n' } else { ' ' });
        }
        text
    }
}

fn add(object: &mut Value, more: Option<&Value>) {
    let empty = Map::new();
    let more = more.and_then(Value::as_object).unwrap_or(&empty);
    for (key, value) in more {
        object[key] = value.clone();
    }
}

/// Pseudo-random numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// A word of two to four syllables. Many words share letters, so that searching for one is not too easy.
    fn word(&mut self) -> String {
        const BEGINNINGS: [&str; 20] = [
            "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pr",
            "ch", "qu",
        ];
        const MIDDLES: [&str; 12] = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "er", "in", "on", "al"];
        const ENDS: [&str; 12] = ["", "", "n", "r", "s", "t", "l", "ng", "nt", "d", "ck", "tion"];
        let mut word = String::new();
        for _ in 0..2 + self.below(3) {
            word.push_str(BEGINNINGS[self.index(BEGINNINGS.len())]);
            word.push_str(MIDDLES[self.index(MIDDLES.len())]);
        }
        word.push_str(ENDS[self.index(ENDS.len())]);
        word
    }

    fn path(&mut self) -> String {
        let folders = ["src", "tests", "docs", "crates/core/src", "crates/cli/src", "web/app", "scripts"];
        let endings = ["rs", "rs", "ts", "md", "toml", "py"];
        let (folder, ending) = (folders[self.index(folders.len())], endings[self.index(endings.len())]);
        format!("{folder}/{}_{}.{ending}", self.word(), self.word())
    }
}
