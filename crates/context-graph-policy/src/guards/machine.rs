//! Changes to the machine besides its disks and processes: packages, clock, users, names and trust.

use crate::effects::{Run, git_subcommand};

/// Whether a program changes the machine for everything that runs on it.
pub(super) fn changes(run: &Run) -> bool {
    let first = run.arg(0);
    let has = |word: &str| run.has(word);
    match run.name.as_str() {
        "gpasswd" | "chsh" | "chfn" | "vipw" | "authselect" | "pam-auth-update" => !run.args.is_empty(),
        "loginctl" => first.starts_with("terminate") || first.starts_with("kill"),
        "date" => has("-s") || run.args.iter().any(|arg| arg.prefix().starts_with("--set")),
        "hwclock" => run.args.iter().any(|arg| arg.prefix().starts_with("--set") || arg.known() == "-w"),
        "timedatectl" | "hostnamectl" | "localectl" => first.starts_with("set-"),
        "journalctl" => run.args.iter().any(|arg| arg.prefix().starts_with("--vacuum")),
        "rustup" => first == "self" && run.arg(1) == "uninstall",
        "update-alternatives" => has("--set") || has("--remove-all"),
        "security" => first == "add-trusted-cert" || first == "delete-keychain",
        "tccutil" => first == "reset",
        "git" => git_subcommand(&run.args).is_some_and(|(sub, rest)| {
            sub == "config"
                && rest.iter().any(|arg| matches!(arg.known(), "--global" | "--system"))
                && rest.windows(2).any(|pair| {
                    pair[0].known().eq_ignore_ascii_case("http.sslverify") && pair[1].known() == "false"
                })
        }),
        "npm" | "yarn" | "pnpm" if first == "config" && has("script-shell") => {
            let shells = ["sh", "bash", "zsh", "dash", "cmd", "pwsh", "powershell"];
            !run.args.iter().any(|arg| shells.contains(&arg.file_name().known().trim_end_matches(".exe")))
        }
        "npm" | "yarn" | "pnpm" => {
            first == "config"
                && run.args.iter().any(|arg| arg.known().starts_with("strict-ssl"))
                && run.args.iter().any(|arg| arg.known().ends_with("false"))
        }
        _ => removes_packages(run),
    }
}

/// Whether programs of the machine are taken away. What a project installs for itself is another thing.
fn removes_packages(run: &Run) -> bool {
    let simulated = ["--dry-run", "--simulate", "--assumeno"].iter().any(|word| run.has(word));
    // A letter means that to one program, and something else to the next.
    let in_short = match run.name.as_str() {
        "apt" | "apt-get" | "aptitude" | "apk" => run.has("-s"),
        "brew" => run.has("-n"),
        _ => false,
    };
    if simulated || in_short {
        return false;
    }
    let verb =
        run.args.iter().map(crate::effects::Text::known).find(|word| !word.starts_with('-')).unwrap_or("");
    match run.name.as_str() {
        "apt" | "apt-get" | "aptitude" => {
            matches!(verb, "remove" | "purge" | "autopurge") || run.has("--purge")
        }
        "dpkg" => ["-r", "-P", "--remove", "--purge", "--force-all"].iter().any(|word| run.has(word)),
        "dnf" | "yum" | "zypper" | "microdnf" => matches!(verb, "remove" | "erase" | "rm"),
        "rpm" => ["-e", "--erase"].iter().any(|word| run.has(word)),
        "pacman" | "yay" | "paru" => run.arg(0).starts_with("-R") || run.has("--remove"),
        "apk" => verb == "del",
        "snap" | "flatpak" => matches!(verb, "remove" | "uninstall"),
        "brew" => {
            matches!(verb, "uninstall" | "remove" | "rm")
                && (run.has("--force") || run.has("--ignore-dependencies") || run.has("--zap"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn the_machine_stays_as_it_is() {
        stops(&[
            ("apt-get purge -y python3", "destructive-system/machine"),
            ("pacman -Rns base", "destructive-system/machine"),
            ("date -s 2001-01-01", "destructive-system/machine"),
            ("git config --global http.sslVerify false", "destructive-system/machine"),
            ("rustup self uninstall -y", "destructive-system/machine"),
        ]);
    }

    #[test]
    fn installing_and_asking_are_fine() {
        passes(&[
            "apt-get install -y jq",
            "apt-get remove --dry-run git",
            "date -u +%F",
            "timedatectl status",
            "rustup toolchain uninstall nightly",
            "npm uninstall left-pad",
        ]);
    }
}
