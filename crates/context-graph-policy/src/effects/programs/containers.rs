//! Containers: what they are given of this machine, and what runs inside.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell, VOLUMES};
use crate::effects::{Access, Origin, Privilege, Run, Text};

impl Shell<'_> {
    pub(super) fn container(&mut self, run: &Run, stdin: &Flow) -> Flow {
        self.container_copy(run);
        let mut inside = Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        inside.archive = matches!(run.arg(0), "save" | "export");
        let args: Vec<String> = run.args.iter().map(Text::to_string).collect();
        let has =
            |wanted: &str| args.iter().any(|arg| arg == wanted || arg.starts_with(&format!("{wanted}=")));
        if matches!(run.arg(0), "run" | "create" | "exec") {
            for (source, _) in mounts(run) {
                let source = source.to_string();
                if matches!(source.as_str(), "/" | "/etc" | "/root" | "/proc" | "/sys" | "/dev" | "/boot")
                    || source.contains("docker.sock")
                {
                    self.out.privileges.push(Privilege::Container(format!("{} mounts {source}", run.name)));
                } else if source.starts_with(['/', '~']) {
                    self.touch_all(Access::Read, &Text::from(source.as_str()), &run.name, true);
                }
            }
            let powers = option_values(&run.args, "", "--cap-add");
            let unconfined = option_values(&run.args, "", "--security-opt");
            if has("--privileged")
                || has("--pid=host")
                || powers.iter().any(|power| {
                    matches!(
                        power.known().trim_start_matches("CAP_"),
                        "ALL" | "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE"
                    )
                })
                || unconfined.iter().any(|option| option.known().contains("unconfined"))
                || option_values(&run.args, "", "--device")
                    .iter()
                    .any(|device| device.prefix().starts_with("/dev/sd"))
            {
                self.out.privileges.push(Privilege::Container(format!("{} --privileged", run.name)));
            }
        }
        if run.arg(0) == "debug" && run.arg(1).starts_with("node/") {
            self.out.privileges.push(Privilege::Container(format!("{} debug of a node", run.name)));
        }
        if matches!(run.arg(0), "exec" | "run")
            || (run.arg(0) == "compose" && matches!(run.arg(1), "exec" | "run"))
        {
            let skip = if run.arg(0) == "compose" { 2 } else { 1 };
            let valued = [
                "-u",
                "--user",
                "-w",
                "--workdir",
                "-e",
                "--env",
                "-v",
                "--volume",
                "-p",
                "--publish",
                "--name",
                "-n",
                "-c",
                "--network",
                "--env-file",
                "--mount",
                "--entrypoint",
                "--namespace",
                "--memory",
                "-m",
                "--platform",
                "-f",
            ];
            let words = operands(&run.args[skip..], &valued);
            let command: Vec<Text> = words.into_iter().skip(1).cloned().collect();
            let after =
                run.args.iter().position(|arg| arg.known() == "--").map(|at| run.args[at + 1..].to_vec());
            let command =
                if run.name == "kubectl" || run.name == "oc" { after.unwrap_or(command) } else { command };
            // Options of the inner command were dropped with the outer ones: take everything from its first word on.
            let first = command.first().cloned();
            let start = first.and_then(|first| {
                run.args.iter().skip(skip).position(|arg| *arg == first).map(|at| at + skip)
            });
            if let Some(start) = start {
                let inner = run.args[start..].to_vec();
                let workdir = option_values(&run.args[..start], "-w", "--workdir").into_iter().next_back();
                let before = self.mounts.len();
                for (source, at) in mounts(run) {
                    let ours = crate::effects::path::absolute(&source, self.cwd());
                    self.mounts.push((at, ours));
                }
                for (name, at) in volumes(run) {
                    self.mounts.push((at, Text::lit(format!("{VOLUMES}{name}"))));
                }
                let flow = &mut inside;
                self.elsewhere(|shell| {
                    // Where nothing else is said, only the image knows the working folder.
                    shell.set_cwd(workdir.unwrap_or_else(|| Text::hole(Origin::Output)));
                    *flow = shell.run(inner, Vec::new(), stdin);
                });
                self.mounts.truncate(before);
            }
        }
        inside
    }

    /// `cp` between this machine and a container: the side without a colon is ours.
    fn container_copy(&mut self, run: &Run) {
        let valued = ["-n", "--namespace", "-c", "--container", "--context", "--kubeconfig", "-H", "--host"];
        let words = operands(&run.args, &valued);
        let skip = usize::from(words.first().is_some_and(|word| word.known() == "compose"));
        let Some([verb, source, destination]) = words.get(skip..) else { return };
        if verb.known() != "cp" {
            return;
        }
        let is_ours =
            |path: &Text| path.prefix().starts_with(['/', '.', '~']) || path.split_once(':').is_none();
        if is_ours(source) {
            self.touch_all(Access::Read, source, &run.name, true);
        }
        if is_ours(destination) {
            self.touch(Access::Write, destination, &run.name);
            self.write_into(destination, source, &run.name);
        }
    }
}

/// The volumes that a container is given by name, and where it sees them.
fn volumes(run: &Run) -> Vec<(String, String)> {
    let named = |mount: &Text| {
        let (name, at) = mount.known().split_once(':')?;
        let at = at.split(':').next().unwrap_or(at);
        (!name.is_empty() && !name.contains(['/', '.', '~']) && at.starts_with('/'))
            .then(|| (name.to_owned(), at.to_owned()))
    };
    option_values(&run.args, "-v", "--volume").iter().filter_map(named).collect()
}

/// The folders of this machine that a container is given, and where it sees them.
fn mounts(run: &Run) -> Vec<(Text, String)> {
    let mut found = Vec::new();
    for mount in option_values(&run.args, "-v", "--volume") {
        if let Some((source, at)) = mount.split_once(':') {
            let at = at.split_once(':').map_or(at.clone(), |(at, _)| at);
            // A plain name is a volume, not a folder.
            if source.has_hole() || source.prefix().starts_with(['/', '.', '~']) {
                found.push((source, at.known().to_owned()));
            }
        }
    }
    for mount in option_values(&run.args, "", "--mount") {
        let (mut source, mut at) = (Text::default(), String::new());
        let mut rest = Some(mount);
        while let Some(part) = rest.take() {
            let (field, more) =
                part.split_once(',').map_or((part.clone(), None), |(field, more)| (field, Some(more)));
            rest = more;
            match field.split_once('=') {
                Some((name, value)) if matches!(name.known(), "source" | "src") => source = value,
                Some((name, value)) if matches!(name.known(), "target" | "dst" | "destination") => {
                    value.known().clone_into(&mut at);
                }
                _ => {}
            }
        }
        if !source.is_empty() {
            found.push((source, at));
        }
    }
    found.retain(|(_, at)| at.starts_with('/'));
    found
}
