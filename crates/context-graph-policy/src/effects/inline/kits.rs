//! Libraries that do what command-line programs do: git, clouds and containers.

use super::has;
use super::uses::Uses;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Text, is_this_machine, tools};

/// Libraries of clouds, clusters and forges.
pub(super) const CLOUDS: &[&str] = &[
    "boto3",
    "botocore",
    "google.cloud",
    "googleapiclient",
    "azure.",
    "kubernetes",
    "docker",
    "aws_sdk",
    "octokit",
    "pygithub",
    "import github",
    "digitalocean",
    "pulumi",
    "stripe",
    "elasticsearch",
    "opensearch",
];

/// The same libraries by their module names.
pub(super) const MODULES: &[&str] =
    &["aws-sdk", "@google-cloud/", "@azure/", "dockerode", "@octokit/", "'octokit'"];

/// Their calls that delete something.
const REMOVALS: &[&str] = &[
    ".delete_",
    ".terminate_",
    ".deregister_",
    ".delete()",
    ".begin_delete",
    ".prune(",
    ".remove(force",
    ".deletebucket",
    ".deletetable",
    ".deleteobjects",
    ".deletefunction",
    ".terminateinstances",
    ".repos.delete(",
    ".purge_",
    "deletebucketcommand",
    "deletetablecommand",
    "deleteobjectscommand",
    "deletedbinstancecommand",
    "terminateinstancescommand",
    "deletestackcommand",
    "indices.delete(",
    ".delete_by_query(",
];

/// Notes what a statement does through a library. `low` is the statement without its strings.
pub(super) fn scan(shell: &mut Shell<'_>, uses: &Uses, low: &str, literals: &[String]) {
    git(shell, uses, low, literals);
    request(shell, low, literals);
    let mut addresses = literals.iter().filter(|text| text.contains("://")).peekable();
    // The address of a proxy does not say where the request goes.
    let stays = addresses.peek().is_some()
        && !low.contains("prox")
        && addresses.all(|text| is_this_machine(&tools::host_of(text)));
    if has(low, REMOVALS) && (uses.clouds || low.contains("command(")) && !stays {
        shell.note_run("sdk-delete", vec![Text::lit("by a library")]);
    }
}

/// `requests.delete(url)`, `fetch(url, {method: "DELETE"})`: the same as `curl -X DELETE`.
fn request(shell: &mut Shell<'_>, low: &str, literals: &[String]) {
    let clients = ["requests.", "httpx.", "axios.", "got.", "ky.", "session.", "superagent.", "net::http"];
    let by_method = clients.iter().any(|client| low.contains(&format!("{client}delete(")));
    let by_word = has(low, &["fetch(", "request(", "urlopen(", "axios("])
        && literals.iter().any(|text| text.eq_ignore_ascii_case("delete"));
    let url = literals.iter().find(|text| text.starts_with("http://") || text.starts_with("https://"));
    if let (true, Some(url)) = (by_method || by_word, url) {
        let command = ["curl", "-X", "DELETE", url.as_str()].map(Text::lit);
        shell.run(command.into(), Vec::new(), &Flow::default());
    }
}

/// `Repo('.').git.reset('--hard')`, `simpleGit().clean('f')`: the method is the subcommand.
fn git(shell: &mut Shell<'_>, uses: &Uses, low: &str, literals: &[String]) {
    let mut command: Vec<Text> = vec![Text::lit("git")];
    let after = |lead: &str| low.split_once(lead).map(|(_, rest)| rest);
    if let Some(rest) = after(".git.") {
        let sub: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if sub.is_empty() || !rest[sub.len()..].starts_with('(') {
            return;
        }
        command.push(Text::lit(sub.replace('_', "-")));
        // One of the strings may be the repository's folder.
        let own = literals.iter().filter(|text| !matches!(text.as_str(), "." | "./" | "git"));
        command.extend(own.map(|text| Text::lit(text.as_str())));
        for option in ["force", "hard", "f", "d", "x"] {
            if rest.contains(&format!("{option}=true")) {
                command.push(Text::lit(if option.len() > 1 {
                    format!("--{option}")
                } else {
                    format!("-{option}")
                }));
            }
        }
    } else if low.contains("git_reset_hard") || low.contains(".reset(") && low.contains("working_tree=true") {
        command.extend(["reset", "--hard"].map(Text::lit));
    } else if uses.git {
        let Some(sub) = ["reset", "clean", "push", "checkout", "stash"]
            .into_iter()
            .find(|sub| low.contains(&format!(".{sub}(")))
        else {
            return;
        };
        command.push(Text::lit(sub));
        command.extend(literals.iter().filter(|text| *text != "simple-git").map(|text| {
            let option = matches!(text.as_str(), "hard" | "mixed" | "soft");
            let letters = sub == "clean" && text.len() < 4;
            Text::lit(if option {
                format!("--{text}")
            } else if letters {
                format!("-{text}")
            } else {
                text.clone()
            })
        }));
    } else {
        return;
    }
    shell.run(command, Vec::new(), &Flow::default());
}

#[cfg(test)]
mod tests {
    use crate::guards::testing::{passes, stops};

    #[test]
    fn a_library_does_what_its_program_does() {
        stops(&[
            ("python3 -c \"import git; git.Repo('.').git.reset('--hard')\"", "destructive-git/reset-hard"),
            (
                "python3 -c \"import git; git.Repo('.').git.push('origin','main',force=True)\"",
                "destructive-git/force-push",
            ),
            ("node -e \"require('simple-git')().clean('f')\"", "destructive-git/clean"),
            (
                "python3 -c \"import boto3; boto3.client('ec2').terminate_instances(InstanceIds=['i'])\"",
                "destructive-data/cloud",
            ),
            (
                "python3 -c \"import requests; requests.delete('https://api.github.com/repos/a/b')\"",
                "destructive-data/cloud",
            ),
            (
                "node -e \"fetch('https://api.github.com/repos/a/b', {method: 'DELETE'})\"",
                "destructive-data/cloud",
            ),
        ]);
        passes(&[
            "python3 -c \"import git; print(git.Repo('.').git.log('-3'))\"",
            "python3 -c \"import boto3; print(boto3.client('s3').list_buckets())\"",
        ]);
    }
}
