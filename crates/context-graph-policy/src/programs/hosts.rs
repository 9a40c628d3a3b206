//! Addresses in an argument: whether they lead to usual sources of code.

use crate::effects::{Text, host_and_port, host_of, is_this_machine, number_of};

/// Forges, registries and sites with commonly used installers, charts and manifests.
const KNOWN: &[&str] = &[
    "alpinelinux.org",
    "amazonaws.com",
    "anaconda.com",
    "anaconda.org",
    "apache.org",
    "apple.com",
    "archlinux.org",
    "argoproj.io",
    "azure.com",
    "azurecr.io",
    "bitbucket.org",
    "bitnami.com",
    "clojars.org",
    "cloudflare.com",
    "cmake.org",
    "codeberg.org",
    "cran.r-project.org",
    "crates.io",
    "debian.org",
    "deno.land",
    "docker.com",
    "docker.io",
    "dot.net",
    "eclipse.org",
    "elastic.co",
    "esm.sh",
    "fedoraproject.org",
    "fluxcd.io",
    "freedesktop.org",
    "gcr.io",
    "ghcr.io",
    "gitea.com",
    "github.com",
    "github.io",
    "githubusercontent.com",
    "gitlab.com",
    "gitlab.io",
    "gnome.org",
    "gnu.org",
    "go.dev",
    "golang.org",
    "google.com",
    "googleapis.com",
    "googlesource.com",
    "goproxy.cn",
    "goproxy.io",
    "gradle.org",
    "grafana.com",
    "hackage.haskell.org",
    "hashicorp.com",
    "haskell.org",
    "helm.sh",
    "hex.pm",
    "huggingface.co",
    "istio.io",
    "jetbrains.com",
    "jetstack.io",
    "jitpack.io",
    "jsdelivr.net",
    "jsr.io",
    "k3s.io",
    "k8s.io",
    "kde.org",
    "kernel.org",
    "knative.dev",
    "kubernetes.io",
    "launchpad.net",
    "linkerd.io",
    "llvm.org",
    "maven.org",
    "microsoft.com",
    "mongodb.com",
    "mongodb.org",
    "mozilla.org",
    "mysql.com",
    "nginx.org",
    "nixos.org",
    "nodejs.org",
    "nodesource.com",
    "npmjs.com",
    "npmjs.org",
    "npmmirror.com",
    "nuget.org",
    "nvidia.com",
    "opensuse.org",
    "oracle.com",
    "packagist.org",
    "pkg.dev",
    "postgresql.org",
    "projectcalico.org",
    "pub.dev",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "pytorch.org",
    "quay.io",
    "rancher.io",
    "redhat.com",
    "rubygems.org",
    "ruby-lang.org",
    "rust-lang.org",
    "skypack.dev",
    "sonatype.com",
    "sonatype.org",
    "sourceforge.net",
    "spring.io",
    "sqlite.org",
    "sr.ht",
    "strimzi.io",
    "tigera.io",
    "tuna.tsinghua.edu.cn",
    "ubuntu.com",
    "unpkg.com",
    "visualstudio.com",
    "yarnpkg.com",
];

/// Usual names of companies' own forges and registries.
const OWN: &[&str] = &[
    "artifactory",
    "bitbucket",
    "charts",
    "gitea",
    "github",
    "gitlab",
    "git",
    "harbor",
    "nexus",
    "npm",
    "packages",
    "pypi",
    "registry",
];

/// Schemes for fetching, also after `git+` and similar.
const FETCHED: &[&str] = &["http", "https", "git", "ssh", "ftp", "oci", "hg", "svn"];

/// Whether there is an address that is fetched without encryption, or from an IP address. Others can tamper with the
/// answer.
pub(crate) fn has_plain(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    addresses(&text).any(|(scheme, host)| !is_near(host) && (scheme == "http" || is_number(host)))
}

/// Whether there is an address of a host that is not a known source of code.
pub(crate) fn has_unknown(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    addresses(&text).any(|(scheme, host)| {
        let below = |known: &&str| {
            host.strip_suffix(*known).is_some_and(|left| left.is_empty() || left.ends_with('.'))
        };
        let is_own = scheme != "http" && host.split('.').next().is_some_and(|first| OWN.contains(&first));
        !is_near(host) && !is_own && !KNOWN.iter().any(below)
    })
}

/// Whether this is an address of the machine itself. `localstack` is the usual name of a container that imitates AWS.
pub(crate) fn is_local_address(text: &str) -> bool {
    let host = host_of(&Text::from(text));
    text.contains("://") && (is_this_machine(&host) || host.literal() == Some("localstack"))
}

/// Whether there is at least one address, and all addresses are encrypted and on these hosts.
pub(crate) fn are_all_of(text: &str, hosts: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    let count = text.matches("://").count();
    count > 0
        && addresses(&text).filter(|(scheme, host)| *scheme == "https" && hosts.contains(host)).count()
            == count
}

/// The scheme and host of every address in a text: `git+https://host/x`, `git@host:x`.
fn addresses(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let of_git = text.split_once('@').filter(|(user, rest)| {
        !user.is_empty() && !user.contains(['/', ':', '=']) && rest.contains(':') && !text.contains("://")
    });
    let of_git = of_git.map(|(_, rest)| ("ssh", rest.split(':').next().unwrap_or(rest)));
    text.match_indices("://")
        .filter_map(|(at, mark)| address(&text[..at], &text[at + mark.len()..]))
        .chain(of_git)
}

fn address<'t>(before: &'t str, behind: &'t str) -> Option<(&'t str, &'t str)> {
    let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let host = behind.split(['/', '?', '#', '"', '\'', ',', ' ', '|', ';']).next()?;
    let (host, _) = host_and_port(host);
    (FETCHED.contains(&scheme) && !host.is_empty()).then_some((scheme, host))
}

/// Whether a host is this machine or has a name of a local network.
fn is_near(host: &str) -> bool {
    let ends = [".local", ".localhost", ".internal", ".lan", ".home.arpa"];
    is_this_machine(&Text::from(host))
        || !host.contains(['.', ':']) && !is_number(host)
        || ends.iter().any(|end| host.ends_with(end))
}

fn is_number(host: &str) -> bool {
    number_of(&Text::from(host)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart() {
        for text in [
            "http://evil.example/x",
            "https://203.0.113.9",
            "registry=\"http://198.51.100.7:4873\"",
            "https://[2001:db8::1]/x",
            "git+http://x.example/a.git",
            "HTTP://evil.example/x",
            "http://3405803785/x",
            "https://0xcb007109/x",
        ] {
            assert!(has_plain(text) && has_unknown(text), "{text}");
        }
        for text in [
            "https://evil.example/x.whl",
            "git+https://u:p@evil.example/x.git",
            "git@evil.example:a/b.git",
            "oci://evil.example/x",
        ] {
            assert!(!has_plain(text) && has_unknown(text), "{text}");
        }
        for text in [
            "https://github.com/a/b",
            "HTTPS://GitHub.com/a/b",
            "http://0x7f.1/x",
            "git+ssh://git@github.com/a/b.git",
            "git@gitlab.com:a/b.git",
            "https://gitlab.acme.com/a/b",
            "http://localhost:4873",
            "http://127.0.0.1/x",
            "http://verdaccio:4873",
            "http://nexus.acme.internal/npm",
            "file:///tmp/x",
            "s3://bucket/key",
            "a@1.2",
            "user@host",
            "https://notes",
            "",
        ] {
            assert!(!has_plain(text) && !has_unknown(text), "{text}");
        }
        assert!(has_unknown("https://notgithub.com/x"), "an ending is no domain");
        assert!(
            is_local_address("http://localhost:4566")
                && is_local_address("http://127.1/")
                && is_local_address("http://localstack:4566")
        );
        assert!(
            !is_local_address("http://localhost:x@s3.example")
                && !is_local_address("localhost")
                && !is_local_address("http://x.example")
        );
        let of_github = |text| are_all_of(text, &["github.com"]);
        assert!(of_github("x @ git+https://github.com/a/b@v1"));
        assert!(!of_github("git+https://evil.example/x?git+https://github.com/"));
        assert!(!of_github("git+https://github.com@evil.example/x") && !of_github("x"));
    }
}
