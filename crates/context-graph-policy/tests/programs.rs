//! The tables of programs: every row can be parsed, names only existing rules, and follows its program's conventions.

#![expect(clippy::unwrap_used, reason = "a row that cannot be read fails the test")]

use std::collections::BTreeMap;

use context_graph_policy::config::PolicyConfig;
use context_graph_policy::effects::{Run, Text};
use context_graph_policy::programs::{Invocation, Row, known, read, rows};
use context_graph_policy::{Context, Guards, ListedFileSystem, guards};
use serde_json::json;

fn every_row<'r>(rows: &'r [Row], found: &mut Vec<&'r Row>) {
    for row in rows {
        found.push(row);
        every_row(&row.sub, found);
    }
}

#[test]
fn every_row_is_in_order() {
    let mut all = Vec::new();
    every_row(rows(), &mut all);
    assert!(all.len() > 400, "only {} rows", all.len());
    for row in all {
        let mut names: Vec<&str> =
            row.options.iter().flat_map(|option| option.names.iter().map(AsRef::as_ref)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{}: an option is there twice: {names:?}", row.name);
        for stop in row.stops.iter() {
            assert!(guards::exists(&stop.rule) && stop.rule.contains('/'), "{}: {}", row.name, stop.rule);
            assert!(!stop.when.is_empty(), "{}: {} without a condition", row.name, stop.rule);
        }
    }
}

#[test]
fn a_row_written_out_reads_as_it_was() {
    for row in rows() {
        let text = toml::to_string(&BTreeMap::from([(row.name.as_ref(), row)])).unwrap();
        let mut read: BTreeMap<String, Row> = toml::from_str(&text).unwrap();
        let mut again = read.remove(row.name.as_ref()).unwrap();
        again.name = row.name.clone();
        again.source = row.source.clone();
        assert_eq!(&again, row, "{text}");
    }
}

fn run(line: &str) -> Run {
    let mut words = line.split(' ').map(Text::from);
    let name = words.next().unwrap().to_string();
    Run {
        name,
        args: words.collect(),
        assigns: Vec::new(),
        stdin: None,
        fed_by: String::new(),
        cwd: Text::from("/"),
    }
}

fn with(line: &str, look: impl FnOnce(&Invocation<'_>)) {
    let run = run(line);
    look(&read(&run, known(&run.name)));
}

#[test]
fn options_are_read_as_each_program_reads_them() {
    // getopt_long: clusters, values attached or not, unambiguous prefixes of long names.
    with("chmod --rec 000 x", |call| assert!(call.has("-R") && call.operands().len() == 2));
    with("tar -xzf a.tgz -C out b", |call| {
        assert_eq!(call.value("--file").unwrap().known(), "a.tgz");
        assert_eq!((call.value("-C").unwrap().known(), call.operand(0)), ("out", "b"));
    });
    with("tar czf a.tgz src", |call| assert!(call.has("--create") && call.operand(0) == "src"));
    with("wget --post-f=x -T 10 http://h", |call| {
        assert_eq!(call.value("--post-file").unwrap().known(), "x");
        assert_eq!(call.operands().len(), 1);
    });
    with("ssh -voProxyCommand=x host ls -la", |call| {
        assert_eq!(call.value("-o").unwrap().known(), "ProxyCommand=x");
        assert_eq!(call.command().len(), 2);
    });
    // git: its own options before the subcommand, others after it.
    with("git -C sub checkout -qf", |call| assert!(call.has("--force") && call.word(0) == "checkout"));
    with("git switch -cfeature", |call| assert!(!call.has("-f") && call.has("--create")));
    with("git gc --p=now", |call| assert_eq!(call.value("--prune").unwrap().known(), "now"));
    with("git commit -mnew", |call| assert!(!call.has("--no-verify")));
    with("git diff -C HEAD~1", |call| assert_eq!(call.word(1), "HEAD~1"));
    with("git switch -- -f", |call| assert!(!call.has("-f")));
    // clap: whole names, `-o=value`.
    with("kubectl -n=prod delete pod x", |call| {
        assert_eq!(call.value("--namespace").unwrap().known(), "prod");
    });
    with("kubectl --names prod", |call| assert!(!call.has("--namespace")));
    // Go: one dash or two.
    with("terraform --destroy -target x apply", |call| {
        assert!(call.has("-destroy") && call.word(0) == "apply");
    });
    // PowerShell: any prefix, any case.
    with("pwsh -NOP -enc abc", |call| assert!(call.has("-EncodedCommand") && call.has("-NoProfile")));
    // Wrappers: options end at the first word, and `--` is skipped.
    with("timeout -k 5 10 rm -rf x", |call| assert_eq!(call.command().len(), 3));
    with("xargs --replace -t rm -rf", |call| assert!(call.has("-i") && call.command().len() == 2));
    with("kubectl exec -it pod -- rm -rf /x", |call| assert_eq!(call.command().len(), 3));
    with("perl -lne print", |call| assert_eq!(call.value("-e").unwrap().known(), "print"));
    with("python -Ic pass", |call| assert_eq!(call.value("-c").unwrap().known(), "pass"));
}

fn rules(config: &str, command: &str) -> Vec<String> {
    let config: PolicyConfig = toml::from_str(config).unwrap();
    assert_eq!(config.check(guards::exists), Ok(()));
    let fs = ListedFileSystem::default();
    let ctx = Context { home: "/home/dev", project: "/home/dev/app", cwd: "/home/dev/app", fs: &fs };
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/home/dev/app",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "1",
    });
    let event = context_graph_events::Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
    Guards::new(config).decide(&event, &ctx).findings().map(|finding| finding.rule.clone()).collect()
}

const DEPLOYCTL: &str = r#"
    [programs.deployctl]
    also = ["dctl"]
    options = ["-e --env=value", "-n --dry-run", "--from=gather", "--hook=shell"]
    operands = "value delete*"
    recursive = ["--force"]
    quiet = ["--dry-run"]
    reach = "local"
    [[programs.deployctl.stops]]
    when = ["release --env=prod*", "drop"]
    says = "would release to production"
    [programs.deployctl.sub.exec]
    operands = "value command"
    early = true
"#;

#[test]
fn a_program_can_be_taught() {
    for (command, rule) in [
        ("deployctl release -e production", "programs/taught"),
        ("dctl --env=prod release", "programs/taught"),
        ("deployctl exec web rm -rf /", "destructive-files/root"),
        ("deployctl --hook 'rm -rf ~' plan", "destructive-files/home"),
        ("deployctl --force clean /etc", "destructive-files/root"),
        ("deployctl --from ~/.ssh plan", "secrets/read-key"),
    ] {
        assert!(
            rules(DEPLOYCTL, command).iter().any(|found| found == rule),
            "{command}: {:?}",
            rules(DEPLOYCTL, command)
        );
    }
    for command in [
        "deployctl release -e staging",
        "deployctl release --env prod -n",
        "deployctl status",
        "deployctl exec web ls",
    ] {
        assert_eq!(rules(DEPLOYCTL, command), Vec::<String>::new(), "{command}");
    }
    let added = "[[programs.git.stops]]\nwhen = [\"commit --amend\"]\n";
    assert_eq!(rules(added, "git commit --am"), ["programs/taught"]);
    assert_eq!(rules(added, "git reset --hard"), ["destructive-git/reset-hard"]);
}

#[test]
fn a_verb_that_destroys_asks_where_nobody_knows_the_program() {
    for command in
        ["acmectl tenants delete t1", "acme-cli -p prod destroy x", "npx acme-admin reset-all --yes"]
    {
        assert_eq!(rules("", command), ["programs/destroys"], "{command}");
    }
    for command in [
        "acmectl tenants list",
        "acmectl delete --help",
        "acmectl tenants delete t1 --dry-run",
        "./scripts/db.sh reset",
        "pip uninstall -y x",
        "cargo remove serde",
        "npm rm left-pad",
    ] {
        assert_eq!(rules("", command), Vec::<String>::new(), "{command}");
    }
    // An untrusted file's description of the program does not change that.
    let hostile: PolicyConfig = toml::from_str("[programs.acmectl]\nreach = \"local\"\n").unwrap();
    let merged = PolicyConfig::merge_untrusted(&PolicyConfig::default(), &hostile);
    assert_eq!(rules(&toml::to_string(&merged).unwrap(), "acmectl tenants delete t1"), ["programs/destroys"]);
}

#[test]
fn what_is_wrong_with_a_taught_program_is_said() {
    for (text, word) in [
        ("[programs.git]\noperands = \"read*\"", "described already"),
        ("[programs.x]\n[[programs.x.stops]]\nrule = \"no/such\"\nwhen = [\"y\"]", "no/such"),
        ("[programs.x]\n[[programs.x.stops]]\nwhen = []", "condition"),
        ("[programs.\"a b\"]", "a b"),
    ] {
        let config: PolicyConfig = toml::from_str(text).unwrap();
        let problem = config.check(guards::exists).unwrap_err().to_string();
        assert!(problem.contains(word), "{text}: {problem}");
    }
    for (text, word) in [
        ("[programs.x]\noptions = [\"output\"]", "option is written"),
        ("[programs.x]\noptions = [\"-o=eat\"]", "not a role"),
        ("[programs.x]\noperands = \"read* write*\"", "repeated"),
        ("[programs.x]\nquiet = [\"@sometimes\"]", "@sometimes"),
        ("[programs.x]\nquite = [\"-n\"]", "quite"),
    ] {
        let problem = toml::from_str::<PolicyConfig>(text).unwrap_err().to_string();
        assert!(problem.contains(word), "{text}: {problem}");
    }
}
