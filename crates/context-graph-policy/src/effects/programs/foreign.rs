//! Code from unknown hosts that this command fetches and then builds, installs or runs.

use crate::effects::path::{absolute, absolute_str, home_of, is_within};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Text, Unknown};
use crate::programs::Invocation;
use crate::programs::hosts;

/// Programs that run code from the folder they are started in.
const BUILDERS: &[&str] = &[
    "ansible-playbook",
    "bazel",
    "bun",
    "bundle",
    "cabal",
    "cargo",
    "cmake",
    "composer",
    "docker-compose",
    "dotnet",
    "go",
    "gradle",
    "gradlew",
    "just",
    "make",
    "gmake",
    "meson",
    "mix",
    "mvn",
    "mvnw",
    "ninja",
    "npm",
    "pip",
    "pip3",
    "pipenv",
    "pipx",
    "pnpm",
    "poetry",
    "pytest",
    "rake",
    "sbt",
    "stack",
    "swift",
    "task",
    "terraform",
    "tofu",
    "tox",
    "uv",
    "yarn",
];

/// Programs that run the file they are given.
const RUNNERS: &[&str] = &[
    "bash", "dash", "deno", "fish", "java", "ksh", "lua", "node", "perl", "php", "pwsh", "python", "python3",
    "ruby", "sh", "tsx", "ts-node", "zsh",
];

/// Programs that install packages from files, and their verbs for it.
const INSTALLERS: &[(&str, &[&str])] = &[
    ("apk", &["add"]),
    ("apt", &["install"]),
    ("apt-get", &["install"]),
    ("brew", &["install"]),
    ("cargo", &["install"]),
    ("code", &["--install-extension"]),
    ("cursor", &["--install-extension"]),
    ("dnf", &["install", "localinstall"]),
    ("dpkg", &["-i", "--install", "-iR"]),
    ("flatpak", &["install"]),
    ("gem", &["install", "i"]),
    ("installer", &["-pkg"]),
    ("msiexec", &["/i", "/I", "-i", "/package"]),
    ("npm", &["install", "i", "add"]),
    ("pacman", &["-U", "--upgrade"]),
    ("pip", &["install"]),
    ("pip3", &["install"]),
    ("pipx", &["install"]),
    ("pnpm", &["add", "install", "i"]),
    ("rpm", &["-i", "-U", "-ivh", "-Uvh", "--install", "--upgrade"]),
    ("snap", &["install"]),
    ("uv", &["install", "add"]),
    ("yarn", &["add"]),
    ("yum", &["install", "localinstall"]),
    ("zypper", &["install", "in"]),
];

/// Programs that unpack archives.
const UNPACKERS: &[&str] = &["tar", "bsdtar", "gtar", "unzip", "cpio", "7z", "bsdcpio"];

impl Shell<'_> {
    /// Notes a download from this address.
    pub(super) fn fetched_from(&mut self, url: &Text) {
        let text = url.to_string();
        let text = if text.contains("://") { text } else { format!("http://{text}") };
        self.strange |= hosts::has_unknown(&text);
        self.exposed |= hosts::has_plain(&text);
    }

    /// Notes that a repository is cloned into a folder.
    pub(super) fn cloned_from(&mut self, address: &Text, folder: &Text) {
        if hosts::has_unknown(&address.to_string())
            && let Some(place) = absolute(&self.home_expanded(folder), self.cwd()).literal()
        {
            self.foreign.push(place.to_owned());
        }
    }

    /// Whether this unpacks an archive that was fetched without encryption.
    pub(super) fn unpacked_foreign(&self, call: &Invocation<'_>) -> bool {
        self.exposed && UNPACKERS.contains(&call.run.name.as_str()) && self.has_fetched(&call.run.args)
    }

    /// Notes that code from an unknown host would be run.
    pub(super) fn run_foreign(&mut self, word: &Text, call: &Invocation<'_>, stdin: &Flow) {
        if !self.strange && self.foreign.is_empty() {
            return;
        }
        let name = call.run.name.as_str();
        let is_path = word.known().contains('/');
        let here = || self.is_foreign(&Text::lit("."));
        let given = || call.operands().iter().any(|file| self.is_foreign(file));
        let composes = matches!(name, "docker" | "podman") && matches!(call.word(0), "compose" | "build");
        let builds = (BUILDERS.contains(&name) || composes) && (here() || given());
        let runs = is_path && self.is_foreign(word) || RUNNERS.contains(&name) && given();
        let loads = self.strange
            && stdin.network
            && matches!(name, "kubectl" | "oc" | "k" | "docker" | "podman")
            && matches!(call.word(0), "apply" | "create" | "replace" | "load" | "import");
        if builds || runs || loads || self.installs_fetched(call) {
            self.unknown(Unknown::Downloaded(name.to_owned()));
        }
    }

    /// Whether this installs a package that was fetched from an unknown host.
    fn installs_fetched(&self, call: &Invocation<'_>) -> bool {
        let args = &call.run.args;
        let verbs = INSTALLERS.iter().find(|(name, _)| *name == call.run.name).map(|(_, verbs)| *verbs);
        self.strange
            && verbs.is_some_and(|verbs| args.iter().any(|arg| verbs.contains(&arg.known())))
            && self.has_fetched(args)
    }

    fn has_fetched(&self, args: &[Text]) -> bool {
        args.iter().any(|arg| {
            let value = arg.strip_prefix("--install-extension=");
            self.taint_of(value.as_ref().unwrap_or(arg)) == Some(Taint::Network)
        })
    }

    /// Whether a path is in a repository from an unknown host, or in an archive that was fetched without encryption.
    /// Other archives do not count, because sources of libraries are on many unknown sites. It is not known into which
    /// folder an archive was unpacked, so a folder that does not exist yet counts.
    fn is_foreign(&self, path: &Text) -> bool {
        let place = absolute(&self.home_expanded(path), self.cwd());
        let Some(place) = place.literal() else { return false };
        let is_new = || {
            let folder =
                if path.known() == "." { place } else { place.rsplit_once('/').map_or("", |(up, _)| up) };
            !folder.is_empty() && self.base.fs.kind(folder).is_none()
        };
        self.foreign.iter().any(|folder| is_within(place, folder))
            || self.exposed && self.unpacked && is_within(place, self.project) && is_new()
    }
}

/// Whether a credential helper is in a temporary folder, or is a shell line with an unknown program.
pub(super) fn is_own_helper(value: &Text, home: &str, project: &str) -> bool {
    let first = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let Some(line) = value.strip_prefix("!") else {
        let place = absolute_str(&first(value.prefix()), "/");
        return ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|open| is_within(&place, open));
    };
    let program = first(line.known());
    let name = program.rsplit('/').next().unwrap_or(&program);
    let known = ["gh", "glab", "aws", "gcloud", "git", "az", "pass", "op", "gcloud.sh"];
    let installed = || super::git::is_system_path(&program) || is_in_bin(&program, home, project);
    !(known.contains(&name) && (!program.contains('/') || installed()))
}

/// Whether a program is in a folder `bin` for installed programs: of the user or of a package manager. What is below
/// the home folder is the user's, except the project and a temporary folder.
fn is_in_bin(program: &str, home: &str, project: &str) -> bool {
    let place =
        absolute_str(&home_of(program, home).map_or(program.to_owned(), |(home, rest)| home + rest), "/");
    let managers = [
        "/snap/bin",
        "/home/linuxbrew/.linuxbrew/bin",
        "/nix",
        "/run/current-system/sw/bin",
        "/etc/profiles",
    ];
    let of_user = !is_within(&place, project)
        && place
            .strip_prefix(home.trim_end_matches('/'))
            .is_some_and(|below| below.starts_with('/') && !is_within(below, "/tmp"));
    let folder = place.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.ends_with("/bin") && (of_user || managers.iter().any(|folder| is_within(&place, folder)))
}
