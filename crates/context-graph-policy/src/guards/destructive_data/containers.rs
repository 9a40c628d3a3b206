//! Containers, their volumes and the workloads of a cluster.

use super::Case;
use crate::effects::{Run, Text};

pub(super) fn removes_containers(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    match run.name.as_str() {
        "docker" | "podman" | "nerdctl" => match first {
            "system" => second == "prune" || second == "reset",
            "volume" => matches!(second, "rm" | "remove" | "prune"),
            "container" => {
                second == "prune"
                    || matches!(second, "rm" | "kill")
                        && words.iter().any(|word| word.starts_with('…') || *word == "--all")
            }
            "image" => {
                second == "prune" && (has("-a") || has("--all") || has("-af"))
                    || second == "rm" && words.iter().any(|word| word.starts_with('…'))
            }
            "pod" => {
                second == "rm" && words.iter().any(|word| matches!(*word, "-a" | "--all" | "-fa" | "-af"))
            }
            "rm" | "rmi" | "kill" => words
                .iter()
                .skip(1)
                .any(|word| word.starts_with('…') || matches!(*word, "-a" | "--all" | "-af" | "-fa")),
            "compose" => {
                has("down") && words.iter().any(|word| matches!(*word, "-v" | "--volumes" | "--rmi"))
                    || has("rm")
                        && words.iter().any(|word| {
                            word.starts_with('-') && !word.starts_with("--") && word.contains('v')
                        })
            }
            "stack" | "service" | "secret" | "config" => matches!(second, "rm" | "remove"),
            "swarm" => second == "leave" && (has("--force") || has("-f")),
            _ => false,
        },
        "docker-compose" => {
            has("down") && (has("-v") || has("--volumes"))
                || has("rm")
                    && words
                        .iter()
                        .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('v'))
        }
        "minikube" | "kind" | "k3d" => {
            words.iter().any(|word| matches!(*word, "--all" | "--purge" | "--all=true")) && has("delete")
        }
        "kubectl" | "oc" | "k" => {
            let removes = has("delete") && !is_one_pod(run, words)
                || has("drain")
                || has("scale")
                    && (has("--replicas=0") || words.windows(2).any(|pair| pair == ["--replicas", "0"]))
                || has("replace") && has("--force")
                || has("patch") && words.iter().any(|word| word.contains("finalizers"))
                || has("rollout") && has("undo") && run.args.iter().any(|arg| arg.known().contains("prod"))
                || has("apply") && has("--prune");
            removes && !words.iter().any(|word| word.starts_with("--dry-run") && *word != "--dry-run=none")
        }
        "k3s-uninstall.sh" | "k3s-agent-uninstall.sh" | "rke2-uninstall.sh" => true,
        "kubeadm" => first == "reset",
        "flux" => first == "uninstall",
        "helm" => {
            words.iter().take(4).any(|word| matches!(*word, "uninstall" | "delete")) && !has("--dry-run")
        }
        "argocd" => has("delete"),
        "nomad" => has("stop") || has("purge"),
        _ => false,
    }
}

/// Whether the services are those of a file, or a project, that is there for tests.
pub(super) fn is_composed_for_tests(words: &[&str]) -> bool {
    let for_tests = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        name.split(['.', '-', '_']).any(|part| matches!(part, "test" | "tests" | "e2e" | "ci"))
    };
    let told = |option: &str| matches!(option, "-f" | "--file" | "-p" | "--project-name");
    let mut named = words.windows(2).filter(|pair| told(pair[0])).map(|pair| pair[1]).peekable();
    words.contains(&"down") && named.peek().is_some() && named.all(for_tests)
}

/// Containers that have ended, asked for as such, and images that have lost their name: nothing runs in them any more.
pub(super) fn removes_finished(case: &Case<'_>, words: &[&str]) -> bool {
    let plain =
        words.first() == Some(&"rm") && !words.iter().any(|word| word.starts_with('-') && word.contains('v'));
    let finished = ["status=exited", "status=dead", "status=created"];
    let lists_leftovers = |run: &Run| {
        run.arg(0) == "images" && run.args.iter().any(|arg| arg.known().ends_with("dangling=true"))
    };
    if words.first() == Some(&"rmi") && case.runs().any(lists_leftovers) {
        return true;
    }
    let for_tests = |filter: &str| filter.rsplit("name=").next().is_some_and(|name| name.starts_with("test"));
    plain
        && case.runs().any(|run| {
            run.arg(0) == "ps"
                && run.args.iter().map(Text::known).any(|arg| {
                    finished.iter().any(|state| arg.ends_with(state))
                        || arg.contains("name=") && for_tests(arg)
                })
        })
}

/// One pod, which whatever started it starts again.
fn is_one_pod(run: &Run, words: &[&str]) -> bool {
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-n" | "--namespace" | "--context" => {
                rest.next();
            }
            "--all" | "--force" | "-l" | "--selector" | "-A" | "--all-namespaces" | "-f" => return false,
            word if word.starts_with("--selector") || word.starts_with("--field-selector") => return false,
            word if word.starts_with('-') => {}
            word => names.push(word),
        }
    }
    if run.args.iter().any(|arg| arg.to_string().contains("prod")) {
        return false;
    }
    match names.as_slice() {
        ["delete", "pod" | "pods" | "po", name] => !name.contains(['…', ',', '*']),
        ["delete", name] => name.starts_with("pod/") && !name.contains(['…', ',', '*']),
        _ => false,
    }
}
