//! Disks, processes and the machine itself.

use context_graph_events::quoted;

use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::path::{PathBase, absolute, is_within};
use crate::effects::{Access, PARENT, Run, Target, Text};
use crate::programs::{Invocation, Role};

pub(super) static DISK: Rule = Rule::deny("destructive-system/disk", Severity::Critical);
static PROCESSES: Rule = Rule::deny("destructive-system/processes", Severity::Critical);
static FORK_BOMB: Rule = Rule::deny("destructive-system/fork-bomb", Severity::Critical);
static MACHINE: Rule = Rule::ask("destructive-system/machine", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-system",
    purpose: "disks, all processes and the machine are left alone",
    rules: &[&DISK, &PROCESSES, &FORK_BOMB, &MACHINE],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    if case.effects.fork_bomb {
        found.add(&FORK_BOMB, "This starts copies of itself without end.");
    }
    for effect in &case.effects.paths {
        if !matches!(effect.access, Access::Write | Access::Delete) {
            continue;
        }
        for place in effect.target.places() {
            if is_device(place) {
                found.add_at(&DISK, place, quoted!("`{}` would write to the device `{}`.", effect.by, place));
            }
        }
        if effect.target.literal().is_none()
            && ["/dev/sd", "/dev/nvme", "/dev/disk", "/dev/hd", "/dev/vd"]
                .iter()
                .any(|d| effect.target.path.prefix().starts_with(d))
        {
            found.add(&DISK, quoted!("`{}` would write to a device.", effect.by));
        }
    }
    for run in case.runs() {
        let name = run.name.as_str();
        if kills_everything(run) || kills_all_listed(case, run) || stops_all_listed(case, run) {
            found.add(&PROCESSES, quoted!("`{}` would end every process.", name));
        } else if kills_parent(case, run) {
            found.add(&PROCESSES, quoted!("`{}` would end the program that runs this.", name));
        } else if ends_service(case, run) {
            found.add(&MACHINE, quoted!("`{}` would end a service that others rely on.", name));
        } else if fills_disk(case, run) {
            found.add(&MACHINE, quoted!("`{}` would write without end.", name));
        } else if super::sizes::is_huge(case, run) {
            found.add(&MACHINE, quoted!("`{}` would fill the disk.", name));
        }
    }
}

/// `kill $PPID`, `kill $CLAUDE_PID`: the client.
fn kills_parent(case: &Case<'_>, run: &Run) -> bool {
    run.name == "kill"
        && (super::switched_off::names_client(case)
            || run.args.iter().any(|arg| arg.literal() == Some(PARENT)))
}

/// Programs that the machine or other programs need.
const SERVICES: &[&str] = &[
    "NetworkManager",
    "WindowServer",
    "Xorg",
    "Xwayland",
    "apache2",
    "containerd",
    "cron",
    "crond",
    "dbus-daemon",
    "dockerd",
    "etcd",
    "gnome-shell",
    "httpd",
    "init",
    "k3s",
    "kubelet",
    "kwin_x11",
    "launchd",
    "loginwindow",
    "mariadbd",
    "mongod",
    "mysqld",
    "nginx",
    "plasmashell",
    "postgres",
    "postgresql",
    "redis-server",
    "rsyslogd",
    "sshd",
    "systemd",
];

/// Whether a service is ended by its name, or by the process id that a look-up by name returns.
fn ends_service(case: &Case<'_>, run: &Run) -> bool {
    let names = |run: &Run| {
        run.args.iter().any(|arg| {
            let name =
                arg.known().trim_matches(['^', '$', ':']).rsplit('/').next().unwrap_or_default().to_owned();
            SERVICES.contains(&name.as_str()) || name.starts_with("systemd-")
        })
    };
    match run.name.as_str() {
        "pkill" | "killall" => {
            names(run) && !["-0", "-HUP", "-l", "--list"].iter().any(|option| run.has(option))
        }
        "kill" => {
            run.args.iter().any(Text::has_hole)
                && !run.has("-0")
                && !run.has("-HUP")
                && case.runs().any(|other| matches!(other.name.as_str(), "pgrep" | "pidof") && names(other))
        }
        _ => false,
    }
}

/// Whether endless input is written to a file without a limit.
fn fills_disk(case: &Case<'_>, run: &Run) -> bool {
    let endless = |word: &str| matches!(word, "/dev/zero" | "/dev/urandom" | "/dev/random");
    match run.name.as_str() {
        "dd" => {
            let named = |lead: &str| run.args.iter().find_map(|arg| arg.known().strip_prefix(lead));
            named("if=").is_some_and(endless)
                && named("count=").is_none()
                && named("of=").is_some_and(|file| !file.starts_with("/dev/"))
        }
        "yes" => writes_straight(case, &["yes >", "yes>"]),
        "cat" => {
            run.args.iter().any(|arg| endless(arg.known()))
                && writes_straight(case, &["zero >", "zero>", "random >", "random>"])
        }
        _ => false,
    }
}

/// Whether endless output goes directly to a file, with no program in between that could stop it.
fn writes_straight(case: &Case<'_>, straight: &[&str]) -> bool {
    straight.iter().any(|text| case.command.contains(text))
        && case.effects.paths.iter().any(|effect| {
            effect.access == Access::Write
                && effect.by.ends_with('>')
                && !effect.target.path.prefix().starts_with("/dev/")
        })
}

fn is_device(place: &str) -> bool {
    let Some(name) = place.strip_prefix("/dev/") else { return false };
    let channel = ["shm/", "fd/", "pts/", "tcp/", "udp/"].iter().any(|folder| name.starts_with(folder));
    let harmless = [
        "null", "stdout", "stderr", "stdin", "tty", "zero", "full", "random", "urandom", "console", "ptmx",
        "log",
    ];
    !channel && !harmless.contains(&name)
}

/// Whether the program works on disk images only, which are ordinary files.
pub(super) fn is_on_file(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let is_special = |place: &str| ["/dev", "/proc", "/sys"].iter().any(|folder| is_within(place, folder));
    let names_device = |name: &Text| {
        let places = PathBase { home: case.ctx.home, fs: case.ctx.fs };
        let target = Target::new(name, &call.run.cwd, places);
        is_special(target.path.prefix()) || target.real.iter().any(|place| is_special(place))
    };
    // Anything may follow options that the tables do not know, and some name a second device after a `=`.
    let hides_device = |arg: &Text| {
        let mut parts = arg.known().split(['=', ',']).chain(arg.known().get(2..));
        arg.has_hole() || names_device(arg) || parts.any(|part| names_device(&Text::lit(part)))
    };
    let is_linked = case.effects.paths.iter().any(|effect| {
        let leads_there = |place: &str| is_device(place) || is_special(place) && !is_within(place, "/dev");
        effect.by == "ln" && effect.access == Access::Read && effect.target.places().any(leads_there)
    });
    let is_image = |operand: &Text| operand.file_name().known().trim_start_matches('.').contains('.');
    let exists = |operand: &Text| {
        let place = absolute(operand, &call.run.cwd);
        place.literal().is_some_and(|place| case.ctx.fs.kind(place).is_some())
    };
    let kinds = call.kinds();
    let operands = call.operands();
    // A key file is not written.
    let is_only_used = |at: usize| kinds.get(at).is_some_and(|kind| kind.role == Role::Mention);
    !is_linked
        && !call.run.args.iter().any(hides_device)
        && operands.iter().any(|operand| is_image(operand))
        && operands.iter().enumerate().all(|(at, operand)| {
            is_image(operand) || !operand.to_string().contains('/') || is_only_used(at) || exists(operand)
        })
}

/// Whether the complete list from an earlier run reaches this run: no run in between narrows it.
fn gets_whole_list(
    case: &Case<'_>,
    run: &Run,
    lists: impl Fn(&Run) -> bool,
    narrows: impl Fn(&Run) -> bool,
) -> bool {
    let before = case.runs().take_while(|other| !std::ptr::eq(*other, run));
    before.fold(false, |whole, other| (whole || lists(other)) && !narrows(other))
}

/// Whether `kill` gets every process: an unfiltered list from `ps`.
fn kills_all_listed(case: &Case<'_>, run: &Run) -> bool {
    if run.name != "kill" || !run.args.iter().any(Text::has_hole) {
        return false;
    }
    let narrows = |other: &Run| match other.name.as_str() {
        // A search for numbers does not narrow a list of process ids.
        "grep" | "rg" | "egrep" => !other.args.iter().any(|arg| arg.known().contains("[0-9]")),
        "head" | "tail" | "lsof" | "fuser" | "jobs" | "ss" | "netstat" | "pidof" => true,
        "cat" => !other.args.is_empty(),
        "pgrep" => {
            let looks_for = |arg: &Text| {
                !arg.known().starts_with('-') && !matches!(arg.known(), "." | ".*") && !arg.has_hole()
            };
            other.args.iter().any(looks_for) && !other.has("-u")
        }
        "awk" | "gawk" => other.arg(0).contains(['/', '~', '=']) || other.args.len() > 1,
        "ps" => ["-p", "-C", "-t", "--ppid", "-g"].iter().any(|option| other.has(option)),
        _ => false,
    };
    // Without these, the list is only shown.
    let is_id = |arg: &Text| arg.known().trim_end_matches('=').ends_with("pid") && !arg.known().contains(',');
    let prints_ids = |other: &Run| other.args.iter().any(is_id);
    let feeds = |name: &str| case.runs().any(|other| other.fed_by == name);
    // `ps $PID` lists one process, `ps -u $USER` many.
    let selects = |args: &[Text], at: usize| {
        let is_value = at > 0 && args[at - 1].prefix().starts_with('-');
        !is_value && (args[at].is_blank() || args[at].known().parse::<u32>().is_ok())
    };
    let is_one = |other: &Run| (0..other.args.len()).any(|at| selects(&other.args, at));
    let lists = |other: &Run| match other.name.as_str() {
        "ps" => (prints_ids(other) || feeds("ps")) && !is_one(other),
        "pgrep" => other.has("-u") || other.has("-U") || other.has(".") || other.has(".*"),
        "ls" => other.has("/proc"),
        _ => false,
    };
    gets_whole_list(case, run, lists, narrows)
}

/// The same in PowerShell: `Get-Process | Stop-Process`.
fn stops_all_listed(case: &Case<'_>, run: &Run) -> bool {
    let narrows = |other: &Run| matches!(other.name.as_str(), "where-object" | "select-object");
    let lists = |other: &Run| other.name == "get-process" && other.args.is_empty();
    run.name == "stop-process"
        && run.args.iter().all(|arg| arg.known().eq_ignore_ascii_case("-force"))
        && gets_whole_list(case, run, lists, narrows)
}

fn kills_everything(run: &Run) -> bool {
    let words: Vec<String> = run.args.iter().map(ToString::to_string).collect();
    match run.name.as_str() {
        "kill" => {
            let targets = words.iter().enumerate().filter(|(at, word)| {
                // The first `-N` is a signal; a later one, or one after `--`, is a process group.
                !(word.starts_with('-')
                    && (*at == 0 || words.get(at - 1).is_some_and(|before| before == "-s" || before == "-n")))
            });
            let only_minus_one = words.len() == 1 && words[0] == "-1";
            let hard = words.iter().any(|word| matches!(word.as_str(), "-9" | "-KILL" | "-SIGKILL"));
            // SIGTERM to the own process group only ends this shell. SIGKILL also ends the program that started
            // it.
            let own_group = hard && words.iter().any(|word| word == "0");
            only_minus_one || own_group || targets.into_iter().any(|(_, word)| word == "-1" || word == "1")
        }
        "pkill" | "killall" => {
            words.iter().any(|word| matches!(word.as_str(), "." | ".*" | "-u" | "-U" | "" | "[a-z]*" | "-v"))
                && !words.iter().any(|w| w == "-l")
        }
        "killall5" => true,
        // Every process that uses a shared folder.
        "fuser" => {
            run.args.iter().any(|arg| arg.prefix().starts_with('-') && arg.prefix().contains('k'))
                && words.iter().any(|word| {
                    matches!(word.as_str(), "/" | "/home" | "/usr" | "/etc" | "/tmp" | "/dev/null")
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn disks_and_processes_are_left_alone() {
        stops(&[
            ("dd if=/dev/zero of=/dev/sda bs=1M", "destructive-system/disk"),
            ("cat x > /dev/nvme0n1", "destructive-system/disk"),
            ("mkfs.ext4 /dev/sdb1", "destructive-system/disk"),
            (":(){ :|:& };:", "destructive-system/fork-bomb"),
            ("f() { f & f & }; f", "destructive-system/fork-bomb"),
            ("kill -9 -1", "destructive-system/processes"),
            ("kill -KILL -- -1", "destructive-system/processes"),
            ("pkill -9 -u dev", "destructive-system/processes"),
            ("shutdown -h now", "destructive-system/machine"),
            ("crontab -r", "destructive-system/machine"),
            ("ps aux | awk '{print $2}' | xargs kill -9", "destructive-system/processes"),
            ("apt-get purge -y python3", "destructive-system/machine"),
            ("pacman -Rns base", "destructive-system/machine"),
            ("date -s 2001-01-01", "destructive-system/machine"),
            ("git config --global http.sslVerify false", "destructive-system/machine"),
            ("rustup self uninstall -y", "destructive-system/machine"),
        ]);
    }

    #[test]
    fn one_process_and_one_device_are_fine() {
        passes(&[
            "kill -9 4242",
            "kill %1",
            "pkill -f vite",
            "killall node",
            "ls 2>/dev/null",
            "dd if=/dev/urandom of=/tmp/x count=1",
            "crontab -l",
            "mkfs.ext4 disk.img",
            "ps aux | grep vite | awk '{print $2}' | xargs kill",
            "shutdown --help",
            "apt-get install -y jq",
            "apt-get remove --dry-run git",
            "date -u +%F",
            "timedatectl status",
            "rustup toolchain uninstall nightly",
            "npm uninstall left-pad",
        ]);
    }
}
