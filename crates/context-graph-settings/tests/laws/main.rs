//! Properties that hold for any settings file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod generate;

use context_graph_settings::{
    Edited, NEWEST_KNOWN_CLIENT, Plan, PlanOptions, SettingsError, Undo, default_plan, diff, find_ours,
    install, uninstall,
};
use generate::{Format, file, format, settings, write};
use proptest::prelude::*;
use serde_json::Value;

fn plan(binary: &str) -> Plan {
    let options = PlanOptions { status_line: true, ..PlanOptions::default() };
    default_plan(binary, Some(NEWEST_KNOWN_CLIENT), &options)
}

fn installed(text: Option<&str>, plan: &Plan) -> (String, Undo) {
    let Edited { text, undo, .. } = install(text, plan).unwrap();
    // The record is serialised and read back, as in real use.
    (text.unwrap(), Undo::from_json(&undo.unwrap().to_json()).unwrap())
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Whether `part`, without white space, is in `whole`, in the same order.
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().filter(|c| !c.is_ascii_whitespace()).all(|c| whole.any(|other| other == c))
}

/// Whether `serde_json` parses it and no key is duplicated.
fn serde_reads(text: &str) -> bool {
    context_graph_events::decode::object(format!("{{\"a\":{}}}", without_bom(text)).as_bytes()).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn uninstalling_gives_back_every_byte(file in file()) {
        let (after, undo) = installed(file.as_deref(), &plan("/opt/bin/context-graph"));
        prop_assert_eq!(uninstall(&after, Some(&undo)).unwrap().text, file);
    }

    #[test]
    fn installing_twice_is_installing_once(file in file()) {
        let plan = plan("/opt/bin/context-graph");
        let (once, first) = installed(file.as_deref(), &plan);
        let again = install(Some(&once), &plan).unwrap();
        prop_assert_eq!(again.text.as_deref(), Some(once.as_str()));
        prop_assert_eq!(again.changes, vec![]);
        let both = again.undo.unwrap().following(&first);
        prop_assert_eq!(&both, &first);
        prop_assert_eq!(uninstall(&once, Some(&both)).unwrap().text, file);
    }

    #[test]
    fn everything_planned_is_there_and_everything_else_still_is(file in file()) {
        let plan = plan("/opt/bin/context-graph");
        let (after, _) = installed(file.as_deref(), &plan);
        prop_assert!(serde_json::from_str::<Value>(without_bom(&after)).is_ok() || after.contains("\\ud800"));
        prop_assert!(is_within(file.as_deref().unwrap_or(""), &after));
        let ours: Vec<_> = find_ours(&after).unwrap();
        prop_assert_eq!(ours.len(), plan.hooks.len());
        for hook in &plan.hooks {
            prop_assert!(ours.iter().any(|found| found.event == hook.event.as_str()));
        }
    }

    #[test]
    fn without_the_record_only_ours_goes(file in file()) {
        let (after, _) = installed(file.as_deref(), &plan("/opt/bin/context-graph"));
        let gone = uninstall(&after, None).unwrap().text.unwrap();
        prop_assert_eq!(find_ours(&gone).unwrap(), vec![]);
        let before = file.unwrap_or_default();
        let strip = |text: &str| text.chars().filter(|c| !c.is_ascii_whitespace()).collect::<String>();
        // Empty arrays and objects that we filled look the same as those that we created.
        if !strip(&before).contains("{}") && !strip(&before).contains("[]") && !strip(without_bom(&before)).is_empty() {
            prop_assert_eq!(gone, before);
        }
    }

    #[test]
    fn a_later_edit_survives_and_the_rest_is_as_before(json in settings(), format in format()) {
        let edit = |text: &str| text.replace("\"one\"", "\"another one\"");
        let before = write(&json, &format);
        let (after, undo) = installed(Some(&before), &plan("/opt/bin/context-graph"));
        let gone = uninstall(&edit(&after), Some(&undo)).unwrap();
        prop_assert_eq!(gone.text, Some(edit(&before)));
    }

    #[test]
    fn a_moved_program_is_followed_in_place(file in file()) {
        let (old, new) = (plan("/old/context-graph"), plan("C:\\New Folder\\context-graph.exe"));
        let (first, first_undo) = installed(file.as_deref(), &old);
        let (second, second_undo) = installed(Some(&first), &new);
        prop_assert_eq!(&second, &installed(Some(&second), &new).0);
        prop_assert_eq!(&second, &installed(file.as_deref(), &new).0, "as if it had been there from the start");
        let gone = uninstall(&second, Some(&second_undo)).unwrap().text.unwrap();
        prop_assert_eq!(find_ours(&gone).unwrap(), vec![]);
        let both = second_undo.following(&first_undo);
        prop_assert_eq!(uninstall(&second, Some(&both)).unwrap().text, file);
    }

    #[test]
    fn an_edit_between_two_installations_survives(json in settings(), format in format()) {
        let edit = |text: &str| text.replace("\"one\"", "\"another one\"");
        let before = write(&json, &format);
        let (first, first_undo) = installed(Some(&before), &plan("/old/context-graph"));
        let (second, second_undo) = installed(Some(&edit(&first)), &plan("/new/context-graph"));
        let both = second_undo.following(&first_undo);
        prop_assert_eq!(uninstall(&second, Some(&both)).unwrap().text, Some(edit(&before)));
    }

    #[test]
    fn a_smaller_plan_takes_the_rest_out(file in file()) {
        let small = default_plan("/opt/bin/context-graph", Some((2, 1, 139)), &PlanOptions::default());
        let (after, _) = installed(file.as_deref(), &plan("/opt/bin/context-graph"));
        let (less, _) = installed(Some(&after), &small);
        prop_assert_eq!(find_ours(&less).unwrap().len(), small.hooks.len());
    }

    #[test]
    fn the_reader_agrees_with_serde_json(json in settings(), format in format(), at in any::<prop::sample::Index>(), put in prop::option::of("[\\[\\]{},:\"\\\\ 0e.\\-a/\\n]")) {
        // Half a surrogate pair is JSON to us and to the client, but not to serde_json.
        let mut text = write(&json, &format).replace("\\ud", "\\u0");
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let place = places[at.index(places.len())];
        text.remove(place);
        text.insert_str(place, put.as_deref().unwrap_or(""));
        let ours = !matches!(install(Some(&text), &Plan::default()), Err(SettingsError::Syntax { .. }));
        prop_assert_eq!(ours, serde_reads(&text) || text.trim().is_empty(), "{}", text);
    }

    #[test]
    fn any_text_never_panics(text in ".{0,60}", json in "[\\[\\]{},:\"\\\\ 0e.\\-tn/]{0,40}") {
        for text in [&text, &json] {
            let _ = install(Some(text), &plan("x"));
            let _ = uninstall(text, None);
            let _ = Undo::from_json(text);
        }
    }

    #[test]
    fn a_record_of_another_file_does_no_harm(one in file(), other in file()) {
        let (_, undo) = installed(one.as_deref(), &plan("/opt/bin/context-graph"));
        let other = other.unwrap_or_default();
        prop_assert_eq!(uninstall(&other, Some(&undo)).unwrap().text, Some(other));
    }

    #[test]
    fn the_diff_leads_from_one_text_to_the_other(file in file()) {
        let before = file.unwrap_or_default();
        let (after, _) = installed(Some(&before), &plan("/opt/bin/context-graph"));
        let diff = diff(&before, &after);
        let count = |sign: char| diff.lines().skip(2).filter(|line| line.starts_with(sign)).count();
        let lines = |text: &str| text.split_inclusive('\n').count();
        prop_assert_eq!(lines(&before) + count('+'), lines(&after) + count('-'));
        prop_assert!(!diff.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
    }

    #[test]
    fn a_pretty_file_stays_pretty(json in settings(), indent in prop::sample::select(vec!["  ", "    ", "\t"]), newline in prop::sample::select(vec!["\n", "\r\n"])) {
        let before = write(&json, &Format::Pretty { indent, newline });
        prop_assume!(before != "{}");
        let (after, _) = installed(Some(&before), &plan("/opt/bin/context-graph"));
        for line in after.split(newline) {
            prop_assert!(!line.contains(['\n', '\r']), "{:?}", line);
            prop_assert!(line.len() < 400);
            let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
            if line.len() > blanks {
                prop_assert_eq!(line.get(..blanks).unwrap().replace(indent, ""), "", "{:?}", line);
            }
        }
    }
}
