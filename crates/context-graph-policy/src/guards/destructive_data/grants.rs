//! Power over a cloud or a cluster that is given away: roles, policies, stores and doors opened to everybody.

use crate::effects::Run;

/// Whether a command gives somebody, or everybody, the run of an account, a cluster or a store.
pub(super) fn gives_away(run: &Run, words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let any = |text: &str| words.iter().any(|word| word.contains(text));
    let everybody = || any("allUsers") || any("allAuthenticatedUsers") || any("AllUsers");
    match run.name.as_str() {
        "aws" => opens_aws(words.get(1).copied().unwrap_or(""), words),
        "gcloud" => {
            words.iter().any(|word| matches!(*word, "add-iam-policy-binding" | "set-iam-policy"))
                && (everybody() || any("roles/owner") || any("roles/editor") || any(".admin") || any("Admin"))
                || any("firewall-rules") && has("create") && any("0.0.0.0/0")
        }
        "gsutil" => (has("acl") || has("iam") || has("defacl")) && (everybody() || has("public-read")),
        "az" => {
            words.starts_with(&["role", "assignment", "create"])
                && ["Owner", "Contributor", "User Access Administrator"].iter().any(|role| any(role))
                || words.starts_with(&["ad", "sp", "create-for-rbac"])
                || words.starts_with(&["ad", "app", "credential", "reset"])
                || any("--public-access") && (has("blob") || has("container"))
        }
        "kubectl" | "oc" => {
            words.first() == Some(&"create") && any("rolebinding") && (any("cluster-admin") || any("admin"))
                || words.starts_with(&["adm", "policy"]) && any("add-")
        }
        "mc" => words.first() == Some(&"anonymous") && has("set") && (has("public") || has("download")),
        "heroku" | "vercel" => words.first() == Some(&"access:add"),
        _ => false,
    }
}

fn opens_aws(verb: &str, words: &[&str]) -> bool {
    let any = |text: &str| words.iter().any(|word| word.contains(text));
    match verb {
        "put-bucket-acl" | "put-object-acl" => any("public-read"),
        "put-bucket-policy" => any("file://") || any("\"Principal\":\"*\"") || any("\"Principal\": \"*\""),
        "put-public-access-block" => any("=false"),
        "add-permission" => words.windows(2).any(|pair| pair[0] == "--principal" && pair[1] == "*"),
        "modify-snapshot-attribute" | "modify-image-attribute" | "modify-db-snapshot-attribute" => any("all"),
        "authorize-security-group-ingress" => {
            any("0.0.0.0/0") && (any("all") || any("-1") || words.contains(&"22"))
        }
        "create-login-profile" | "update-assume-role-policy" | "add-user-to-group" => true,
        _ if verb.starts_with("put-") && verb.ends_with("-policy") && words.first() == Some(&"iam") => {
            any("\"Action\":\"*\"") || any("\"Action\": \"*\"") || any("file://")
        }
        _ => verb.starts_with("attach-") && verb.ends_with("-policy") && any("AdministratorAccess"),
    }
}

#[cfg(test)]
mod tests {
    use crate::guards::testing::{passes, stops};

    #[test]
    fn power_is_not_given_away_unasked() {
        stops(&[
            (
                "gcloud projects add-iam-policy-binding p --member=allUsers --role=roles/viewer",
                "destructive-data/cloud",
            ),
            ("az role assignment create --assignee x --role Owner", "destructive-data/cloud"),
            (
                "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=y",
                "destructive-data/cloud",
            ),
            ("aws s3api put-bucket-acl --bucket b --acl public-read", "destructive-data/cloud"),
        ]);
        passes(&[
            "gcloud projects get-iam-policy p",
            "az role assignment list",
            "kubectl get clusterrolebindings",
            "aws iam list-users",
        ]);
    }
}
