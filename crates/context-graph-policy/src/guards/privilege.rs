//! Privilege escalation: acting as another user, granting rights, containers with full access.

use context_graph_events::quoted;

use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::Privilege;

static OTHER_USER: Rule = Rule::ask("privilege/other-user", Severity::High);
static GRANT: Rule = Rule::ask("privilege/grant", Severity::Critical);
static CONTAINER: Rule = Rule::ask("privilege/container", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "privilege",
    purpose: "nothing gets more rights than the user's without asking",
    rules: &[&OTHER_USER, &GRANT, &CONTAINER],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    for privilege in &case.effects.privileges {
        match privilege {
            Privilege::OtherUser(by) => found.add(&OTHER_USER, quoted!("`{}` acts as another user.", by)),
            Privilege::Grant(by) => {
                found.add(&GRANT, quoted!("`{}` sets setuid or grants a capability.", by));
            }
            Privilege::Container(by) => {
                found.add(&CONTAINER, quoted!("`{}`: that container has full access to the machine.", by));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn power_is_asked_for() {
        stops(&[
            ("sudo ls", "privilege/other-user"),
            ("su'd'o -u root cat /x", "privilege/other-user"),
            ("xargs sudo rm < list", "privilege/other-user"),
            ("chmod u+s ./a", "privilege/grant"),
            ("docker run -v /:/host alpine", "privilege/container"),
            ("docker run --privileged x", "privilege/container"),
        ]);
    }

    #[test]
    fn words_are_not_power() {
        passes(&[
            "echo sudo",
            "grep -r sudo docs",
            "docker run --rm -v $PWD:/src rust cargo test",
            "chmod 755 a",
        ]);
    }
}
