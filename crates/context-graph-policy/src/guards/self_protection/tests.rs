use serde_json::json;

use super::super::testing::{passes, rules_of, stops};

#[test]
fn every_way_to_write_is_met() {
    stops(&[
        ("rm -r $(printf .context)-graph", "self-protection/state"),
        ("echo x > .context-graph/data/log", "self-protection/state"),
        ("sed -i s/deny/allow/ .claude/settings.json", "self-protection/client-settings"),
        ("echo '{}' | tee ~/.claude/settings.json", "self-protection/client-settings"),
        ("echo > link", "self-protection/client-settings"),
        ("python3 -c \"open('.context-graph/policy.toml','w').write('')\"", "self-protection/policy"),
        ("mv .claude .c", "self-protection/client-settings"),
        ("cp evil.toml .context-graph/policy.toml", "self-protection/policy"),
        ("context-graph uninstall", "self-protection/verb"),
        ("cp -r evil ~/.config/context-graph/trust", "self-protection/trust"),
        ("echo '{}' > ~/.config/context-graph/trust/0a1b.json", "self-protection/trust"),
        ("tee $XDG_CONFIG_HOME/context-graph/trust/0a1b.json < x", "self-protection/trust"),
        ("claude config set hooks '{}'", "self-protection/switch-off"),
        ("ln -sfn /tmp/c .claude", "self-protection/client-settings"),
        ("rm $(which context-graph)", "self-protection/client-settings"),
        ("echo > ~/heads.jsonl", "self-protection/state"),
        ("prlimit --pid 4711 --fsize=0", "self-protection/process"),
        ("prlimit -p$(pgrep claude) --as=1", "self-protection/process"),
        ("gdb -p $(pgrep claude) -batch -ex 'call close(1)'", "self-protection/process"),
        ("strace -p $PPID -o /dev/null", "self-protection/process"),
        ("ps aux | grep context-graph | awk '{print $2}' | xargs kill -STOP", "self-protection/switch-off"),
    ]);
}

#[test]
fn every_tool_is_met() {
    let found = rules_of(
        "mcp__files__write_file",
        &json!({"path": "/proj/app/.context-graph/policy.toml", "content": ""}),
    );
    assert_eq!(found, ["self-protection/policy"]);
    let found = rules_of(
        "Edit",
        &json!({"file_path": "/proj/app/.claude/settings.local.json", "old_string": "a", "new_string": "b"}),
    );
    assert_eq!(found, ["self-protection/client-settings"]);
}

#[test]
fn reading_is_free_and_neighbours_are_not_meant() {
    passes(&[
        "cat .claude/settings.json",
        "jq .hooks .claude/settings.json",
        "ls .context-graph",
        "ls ~/.config/context-graph/trust",
        "echo x > docs/trust/notes.md",
        "echo x > .claude/commands/review.md",
        "rm -rf .claude/skills/old",
        "jq . a.json > \"$f.json\"",
        "chmod 755 bin/*",
        "claude config list",
        "prlimit --nofile=10 ./app",
        "gdb -p 123 -batch -ex bt",
    ]);
}

#[test]
fn hooks_in_the_head_of_a_skill_are_met_however_they_are_written() {
    let rules = |head: &str| {
        let content = format!("---{head}---\nText\n");
        let path = "/proj/app/.claude/skills/lint/SKILL.md";
        rules_of("Write", &json!({"file_path": path, "content": content}))
    };
    for head in [
        "\nhooks:\n  Stop: []\n",
        "\n? hooks\n: {}\n",
        "\n? \"hooks\"\n: {}\n",
        "\n?  hooks # c\n: {}\n",
        "\n? !!str 'hooks'\n: {}\n",
        "\n!!str hooks:\n  Stop: []\n",
        "\n&a hooks:\n  Stop: []\n",
        "\n!!str &a \"h\\u006foks\":\n  Stop: []\n",
        "\nx: &h {hooks: {}}\n<<: *h\n",
        "\nname: &k hooks\n*k : {}\n",
        "\n!!map\n{hooks: {}}\n",
        "\rhooks:\r  Stop: []\r",
        "\n# c\n{name: x, hooks: {}}\n",
    ] {
        assert_eq!(rules(head), ["self-protection/client-settings"], "{head}");
    }
    for head in [
        "\nname: hooks\ndescription: Explains hooks: when they run\n",
        "\ndescription: |\n  *hooks* run early\n  **Note**: hooks are run\n  ? hooks or none\n",
        "\nname: webhooks\nwebhooks:\n  - a\n",
        "\nname: lint\ntools: Read\n",
    ] {
        assert!(rules(head).is_empty(), "{head}");
    }
}
