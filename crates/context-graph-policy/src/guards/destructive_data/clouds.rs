//! Clouds, platforms, backups and virtual machines: what is deleted there, and what is opened to everybody.

use super::forges::forces_forge;
use crate::effects::Run;

pub(super) fn removes_cloud(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let any_delete = || {
        words
            .iter()
            .take(5)
            .any(|word| matches!(*word, "delete" | "destroy" | "remove" | "purge" | "terminate" | "rm"))
    };
    if has("--dry-run") || has("--dryrun") || has("--help") {
        return false;
    }
    match run.name.as_str() {
        "aws" => removes_from_aws(words),
        "gcloud" | "az" | "doctl" | "linode-cli" | "oci" | "ibmcloud" | "scw" | "hcloud" | "eksctl"
        | "firebase" | "vultr" | "vultr-cli" | "supabase" | "neonctl" | "pscale" | "turso" | "cf" | "sam"
        | "amplify" | "eb" => {
            any_delete()
                || words.iter().any(|word| {
                    word.ends_with("-delete")
                        || *word == "delete-batch"
                        || word.ends_with(":delete")
                        || word.ends_with(":remove")
                        || word.ends_with(":disable")
                        || word.ends_with(":destroy")
                })
        }
        "mcp-delete" | "sdk-delete" => true,
        "gsutil" if has("rsync") && has("-d") => true,
        "gsutil" => matches!(first, "rm" | "rb") || has("rm") && (has("-r") || has("-R")),
        "terraform" | "tofu" | "terragrunt" => {
            first == "destroy"
                || ((has("-destroy") || has("--destroy")) && first != "plan")
                || first == "taint"
                || words.iter().any(|word| word.starts_with("-replace"))
                || (first == "state" && matches!(second, "rm" | "push"))
                || (first == "workspace" && second == "delete")
                || (second == "destroy" && first.starts_with("-chdir"))
                || has("run-all") && has("destroy")
                || first == "destroy-all"
                || run.assigns.iter().any(|(name, value)| {
                    name.starts_with("TF_CLI_ARGS") && value.known().contains("-destroy")
                })
        }
        "pulumi" | "cdk" | "cdktf" | "sst" | "copilot" => {
            matches!(first, "destroy" | "down" | "remove")
                || (first == "stack" && second == "rm")
                || (first == "app" && second == "delete")
        }
        "serverless" | "sls" => first == "remove",
        "heroku" => words.iter().any(|word| {
            word.ends_with(":destroy")
                || word.ends_with(":delete")
                || matches!(*word, "pg:reset" | "config:unset" | "maintenance:on" | "ps:kill")
                || first == "ps:scale" && word.ends_with("=0")
        }),
        "fly" | "flyctl" => {
            any_delete() || first == "scale" && has("0") || first == "secrets" && second == "unset"
        }
        "vercel" | "netlify" | "wrangler" | "railway" | "render" => {
            matches!(first, "rm" | "remove" | "delete" | "down")
                || words.iter().any(|word| word.ends_with(":delete"))
                || first == "api" && second.starts_with("delete")
                || matches!(second, "delete" | "rm")
                || words.get(2).is_some_and(|word| matches!(*word, "delete" | "rm"))
        }
        "gh" if forces_forge(words) => true,
        "glab" if first == "api" => words.iter().any(|word| word.eq_ignore_ascii_case("delete")),
        "gh" => {
            (matches!(first, "repo" | "release" | "secret" | "variable" | "cache")
                && second == "delete"
                && first != "cache")
                || (first == "api"
                    && words.windows(2).any(|pair| {
                        matches!(pair[0], "-X" | "--method") && pair[1].eq_ignore_ascii_case("delete")
                    }))
                || (first == "api"
                    && words.iter().any(|word| {
                        word.eq_ignore_ascii_case("-xdelete") || word.eq_ignore_ascii_case("--method=delete")
                    }))
                || (first == "repo" && matches!(second, "archive") && has("--yes"))
        }
        "glab" => second == "delete" && first == "repo",
        "vagrant" => first == "destroy",
        "http" | "https" | "xh" => {
            first.eq_ignore_ascii_case("delete")
                && !words.iter().any(|word| word.contains("localhost") || word.starts_with(':'))
        }
        "rclone" => matches!(first, "purge" | "delete" | "deletefile" | "rmdirs" | "cleanup"),
        "curl" | "wget" if words.iter().any(|word| word.contains("/_delete_by_query")) => true,
        "curl"
            if {
                words.windows(2).any(|pair| {
                    matches!(pair[0], "-X" | "--request") && pair[1].eq_ignore_ascii_case("delete")
                }) || words.iter().any(|word| word.eq_ignore_ascii_case("-xdelete"))
            } =>
        {
            // Everything in a store is more than an item of one's own server.
            let all = words.iter().any(|word| word.ends_with("/_all") || word.ends_with("/*"));
            all || !words.iter().any(|word| word.contains("localhost") || word.contains("127.0.0.1"))
        }
        _ => false,
    }
}

/// Whether a cloud's client is sent to an emulator on this machine.
pub(super) fn is_emulated(run: &Run) -> bool {
    if run.name == "awslocal" {
        return true;
    }
    let words: Vec<&str> = run.args.iter().map(|arg| arg.literal().unwrap_or("")).collect();
    let given = words.iter().enumerate().find_map(|(at, word)| {
        let rest = word.strip_prefix("--endpoint-url")?;
        rest.strip_prefix('=').or_else(|| words.get(at + 1).copied().filter(|_| rest.is_empty()))
    });
    let host = given.and_then(|url| url.split_once("://")).map_or("", |(_, rest)| rest);
    let host = host.split(['/', ':', '?']).next().unwrap_or("");
    run.name == "aws"
        && matches!(host, "localhost" | "127.0.0.1" | "localstack")
        && !given.is_some_and(|url| url.contains('@'))
}

/// Whether a call to AWS takes something away, or gives too much.
fn removes_from_aws(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    (first == "s3"
        && (second == "rb"
            || (second == "rm" && has("--recursive"))
            || (second == "sync" && has("--delete"))))
        || (first == "s3" && second == "mv" && has("--recursive"))
        || second == "stop-instances" && words.iter().any(|word| word.contains('…'))
        || second == "modify-db-instance" && words.contains(&"--master-user-password")
        || [
            "delete-",
            "batch-delete-",
            "terminate-",
            "remove-",
            "deregister-",
            "purge-",
            "schedule-key-deletion",
            "stop-logging",
            "close-account",
        ]
        .iter()
        .any(|verb| second.starts_with(verb))
}

/// Backups, machines, images and whole clusters under tools of their own.
pub(super) fn removes_kept(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let first = words.first().copied().unwrap_or("");
    match run.name.as_str() {
        "s3cmd" | "mc" | "s5cmd" => {
            matches!(first, "rb" | "del" | "rm")
                && (has("--recursive")
                    || has("--force")
                    || has("-r")
                    || words.iter().any(|word| word.ends_with("/*")))
        }
        "restic" => has("forget") && has("--prune"),
        "borg" | "crane" | "skopeo" => first == "delete",
        "duplicity" => first.starts_with("remove-") && has("--force"),
        "velero" => has("delete"),
        "vault" => {
            first == "delete"
                || first == "secrets" && has("disable")
                || first == "kv" && (has("delete") || has("destroy") || has("metadata"))
        }
        "helmfile" | "virsh" => matches!(first, "destroy" | "undefine"),
        "aws-nuke" | "cloud-nuke" => true,
        "VBoxManage" => first == "unregistervm" && has("--delete"),
        "multipass" => first == "delete" && has("--all"),
        "istioctl" => first == "uninstall",
        _ => false,
    }
}
