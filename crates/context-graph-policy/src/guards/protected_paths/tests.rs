use serde_json::json;

use super::super::testing::{decide_with, passes, stops};
use crate::PolicyConfig;

#[test]
fn files_of_secrets_and_the_system_are_not_changed() {
    stops(&[
        ("rm production.env && ls", "protected-paths/secret-file"),
        ("cat in | tee production.env", "protected-paths/secret-file"),
        ("echo 'ssh-rsa x' >> ~/.ssh/authorized_keys", "protected-paths/startup-file"),
        ("echo alias >> ~/.bashrc", "protected-paths/startup-file"),
        ("echo 127.0.0.1 x >> /etc/hosts", "protected-paths/system"),
        ("cp evil /usr/local/bin/ls", "protected-paths/system"),
    ]);
}

#[test]
fn a_template_may_become_the_first_file() {
    passes(&["cp .env.example .env", "cp config/app.example.toml config/app.toml", "touch .env.example"]);
}

#[test]
fn configured_lists_count_for_every_tool() {
    let config = || PolicyConfig {
        read_only: vec!["migrations/**".into()],
        no_read: vec!["vault".into()],
        ..PolicyConfig::default()
    };
    let rules = |tool: &str, input: serde_json::Value| {
        decide_with(config(), tool, &input).findings().map(|f| f.rule.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        rules("Write", json!({"file_path": "/proj/app/migrations/1.sql", "content": ""})),
        ["protected-paths/read-only"]
    );
    assert_eq!(rules("Read", json!({"file_path": "/proj/app/vault/x"})), ["protected-paths/no-read"]);
    assert_eq!(rules("Bash", json!({"command": "cat migrations/1.sql"})), Vec::<String>::new());
}

#[test]
fn a_pattern_protects_the_folder_it_fills() {
    let config = || PolicyConfig {
        read_only: vec!["migrations/**".into(), "db/schema/*.sql".into()],
        no_read: vec!["customers/**".into()],
        ..PolicyConfig::default()
    };
    let rules = |command: &str| {
        let decision = decide_with(config(), "Bash", &json!({ "command": command }));
        decision.findings().map(|finding| finding.rule.clone()).collect::<Vec<_>>()
    };
    for command in [
        "rm -rf migrations",
        "rm -rf ./migrations/",
        "mv migrations m2",
        "git mv migrations x",
        "git mv a.sql migrations",
        "git rm -r migrations",
        "find migrations -delete",
        "git checkout HEAD -- migrations",
        "git checkout HEAD~1 migrations",
        "git restore --source HEAD~1 migrations",
        "chmod -R a+w migrations",
        "rm -rf db",
        "mv db/schema old",
    ] {
        assert!(rules(command).contains(&"protected-paths/read-only".to_owned()), "{command}");
    }
    for command in [
        "grep -r x customers",
        "grep --recursive x customers",
        "rg x customers",
        "cp -r customers /tmp/o",
        "cp --recursive customers /tmp/o",
        "cp -r . /tmp/o",
        "tar cf /tmp/x.tar customers",
        "mv customers c2",
        "ln -s customers c2",
    ] {
        assert!(rules(command).contains(&"protected-paths/no-read".to_owned()), "{command}");
    }
    for command in [
        "ls migrations customers",
        "grep -r x migrations",
        "cp -r migrations /tmp/o",
        "grep -rn x .",
        "rg x src",
        "tar czf /tmp/x.tgz --exclude=customers .",
        "git mv a.rs db",
        "rm -rf migrations2 dist",
        "find . -name '*.pyc' -delete",
        "mkdir -p migrations",
        "git checkout migrations",
        "git checkout -b customers origin/dev",
    ] {
        assert!(rules(command).is_empty(), "{command}: {:?}", rules(command));
    }
}
