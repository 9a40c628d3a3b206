//! Trust: until the user trusts a clone, its files run no command, loosen no rule and tell the model nothing.

use super::EVERYTHING;
use crate::harness::{Test, tests};
use crate::lab::Lab;
use crate::model::Turn;

pub fn all() -> Vec<Test> {
    tests![
        "guards against the repository":
        a_clone_runs_nothing_until_it_is_trusted,
        a_clone_loosens_nothing_and_tells_the_model_nothing,
        an_agent_cannot_trust_what_it_changed,
    ]
}

const POLICY: &str = "[[stop_gates]]\nname = \"gate\"\ncommand = \"touch ran-gate\"\n\
                      [[signals]]\nname = \"fact\"\ncommand = \"touch ran-signal; echo yes\"\n\
                      [guards.secrets]\nenabled = false\n";

const SIGNALLED: &str = "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n\
                         #     required_signals: [\"fact\"]\npackage policies.signalled\n\nimport rego.v1\n\n\
                         add_context contains \"CHOSEN-WORDS\"\n";

fn a_clone_runs_nothing_until_it_is_trusted() {
    let lab = Lab::new([]);
    lab.write(".context-graph/policy.toml", POLICY);
    lab.write(".context-graph/policies/signalled.rego", SIGNALLED);
    lab.play([Turn::bash("echo hello > said.txt"), Turn::text("done")]);
    assert_eq!(lab.prompt("say hello", &EVERYTHING).code, Some(0));
    assert!(!lab.has("ran-signal") && !lab.has("ran-gate"), "a command of the clone was run");
    assert!(!lab.has("said.txt"), "a policy without its signal does not let pass");
    assert!(!lab.model_saw().contains("CHOSEN-WORDS"));
    lab.trust();
    lab.play([Turn::bash("echo hello > said.txt"), Turn::text("done")]);
    assert_eq!(lab.prompt("say hello", &EVERYTHING).code, Some(0));
    assert!(lab.has("ran-signal") && lab.has("ran-gate") && lab.has("said.txt"), "trust has no effect");
    assert!(lab.model_saw().contains("CHOSEN-WORDS"));
}

fn a_clone_loosens_nothing_and_tells_the_model_nothing() {
    let lab = Lab::new([]);
    lab.write(".context-graph/policy.toml", POLICY);
    let rule = "package policies.open\n\nimport rego.v1\n\nallow_override contains \"CHOSEN-WORDS\"\n\
                add_context contains \"CHOSEN-WORDS\"\n";
    lab.write(".context-graph/policies/open.rego", rule);
    lab.play([Turn::bash("cat ~/.ssh/id_rsa > copy.txt; touch copied"), Turn::text("done")]);
    assert_eq!(lab.prompt("copy the key", &EVERYTHING).code, Some(0));
    assert!(!lab.has("copied"), "the clone switched a guard off");
    assert!(!lab.model_saw().contains("CHOSEN-WORDS"));
    assert!(!lab.has("ran-gate"));
}

fn an_agent_cannot_trust_what_it_changed() {
    let lab = Lab::new([]);
    lab.write(".context-graph/policy.toml", "[guards.secrets]\nenabled = false\n");
    let home = lab.folder().join("home");
    let store = home.join(".config/context-graph/trust");
    let command = format!("mkdir -p {0}; echo '{{}}' > {0}/x.json", store.display());
    lab.play([Turn::bash(&command), Turn::text("done")]);
    assert_eq!(lab.prompt("trust it", &EVERYTHING).code, Some(0));
    assert!(!store.join("x.json").exists(), "an agent wrote what the user trusts");
}
