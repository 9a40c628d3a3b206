use serde_json::{Value, json};

use super::*;

fn gate(command: &str, ms: u64) -> Ended {
    run_shell(command, Path::new("/"), Duration::from_millis(ms))
}

fn signal(command: &str, timeout_ms: u64) -> Signal {
    Signal { name: "s".to_owned(), command: command.to_owned(), timeout_ms }
}

fn answer(command: &str) -> Value {
    let signal = signal(command, 10_000);
    run_signal(&signal, Path::new("/"), br#"{"tool_name":"Bash"}"#).into_value(&signal)
}

#[test]
fn what_a_command_says_and_how_it_ends_is_told() {
    let ended = gate("echo out; echo err >&2; exit 3", 5000);
    assert_eq!(ended.end, End::Exited(Some(3)));
    assert!(ended.output.contains("out") && ended.output.contains("err"));
    assert!(gate("true", 5000).succeeded());
    let nowhere = run_shell("true", Path::new("/no/such/folder"), Duration::from_secs(5));
    assert!(matches!(nowhere.end, End::NotStarted(_)), "{nowhere:?}");
}

#[test]
fn at_the_timeout_everything_it_started_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let slow = signal("echo early; (sleep 1; touch late) & sleep 30", 200);
    let started = Instant::now();
    let outcome = run_signal(&slow, folder.path(), b"{}");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(outcome, SignalOutcome::TimedOut { stdout: "early\n".into() });
    let seen = outcome.into_value(&slow);
    assert_eq!((&seen["success"], &seen["timed_out"]), (&json!(false), &json!(true)));
    assert_eq!(gate("sleep 60 & sleep 60", 200).end, End::TimedOut);
    thread::sleep(Duration::from_millis(1500));
    assert!(!folder.path().join("late").exists(), "a descendant lived on");
}

#[test]
fn what_is_left_in_the_background_is_neither_waited_for_nor_left_alive() {
    let started = Instant::now();
    assert!(gate("sleep 60 & echo done", 5000).succeeded());
    let outcome = run_signal(&signal("sleep 60 & echo done", 5000), Path::new("/"), b"{}");
    assert!(matches!(outcome, SignalOutcome::Ended { code: Some(0), stdout, .. } if stdout == "done\n"));
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_descendant_that_left_the_group_and_holds_the_output_holds_nobody() {
    let started = Instant::now();
    let ended = gate("setsid sleep 5 & echo done", 5000);
    assert!(ended.succeeded() && ended.output == "done\n", "{ended:?}");
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
}

#[test]
fn endless_output_is_bounded_to_the_part_that_tells() {
    let ended = gate("yes | head -c 5000000; echo the end; exit 1", 20_000);
    assert_eq!((ended.output.len(), &ended.end), (GATE_OUTPUT, &End::Exited(Some(1))));
    assert!(ended.output.ends_with("the end\n"));
    let large = signal("echo begin; head -c 3000000 /dev/zero | tr '\\0' x; cat >/dev/null", 20_000);
    let outcome = run_signal(&large, Path::new("/"), &vec![b' '; 2_000_000]);
    let SignalOutcome::Ended { code: Some(0), stdout, .. } = outcome else { panic!("{outcome:?}") };
    assert!(stdout.len() == SIGNAL_OUTPUT && stdout.starts_with("begin\n"));
}

#[test]
fn a_signals_answer_is_json_or_text_and_its_failure_says_so() {
    assert_eq!(answer("echo main"), "main");
    assert_eq!(answer("echo '{\"ok\": true}'"), json!({"ok": true}));
    assert_eq!(answer("cat"), json!({"tool_name": "Bash"}));
    assert_eq!(answer("pwd"), "/");
    assert_eq!(
        answer("echo out; echo err >&2; exit 3"),
        json!({"success": false, "exit_code": 3, "output": "out", "error": "err"})
    );
}

fn asked(script: &str, stdin: &str, ms: u64) -> ProgramOutput {
    ask(shell(script), stdin.as_bytes(), Duration::from_millis(ms))
}

#[test]
fn both_outputs_and_the_code_of_who_is_asked_come_back() {
    let reply = asked("cat; echo err >&2; exit 4", "hello", 5000);
    assert_eq!((reply.stdout.as_str(), reply.stderr.as_str()), ("hello", "err\n"));
    assert_eq!(reply.end, End::Exited(Some(4)));
    let missing = ask(Command::new("/nowhere/at/all"), b"", Duration::from_secs(1));
    assert!(matches!(missing.end, End::NotStarted(_)), "{missing:?}");
}

#[test]
fn much_input_that_nobody_reads_and_much_output_do_not_block() {
    let reply = asked("yes | head -c 300000; exit 0", &"x".repeat(1_000_000), 10_000);
    assert_eq!((reply.end, reply.stdout.len()), (End::Exited(Some(0)), 300_000));
}

#[test]
fn the_time_taken_is_that_of_the_program_alone() {
    let quick = asked("setsid sleep 5 & exit 0", "", 10_000);
    assert!(quick.succeeded() && quick.took < Duration::from_secs(1), "{quick:?}");
    // A program that has closed its output is still waited for.
    let slow = asked("exec >&- 2>&-; sleep 0.3; exit 3", "", 10_000);
    assert_eq!(slow.end, End::Exited(Some(3)));
    assert!(slow.took >= Duration::from_millis(300), "{slow:?}");
}
