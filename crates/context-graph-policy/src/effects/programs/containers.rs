//! Containers: what they are given of this machine, and what runs inside.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Privilege, Run, Text};

impl Shell<'_> {
    pub(super) fn container(&mut self, run: &Run, stdin: &Flow) {
        self.container_copy(run);
        let args: Vec<String> = run.args.iter().map(Text::to_string).collect();
        let has =
            |wanted: &str| args.iter().any(|arg| arg == wanted || arg.starts_with(&format!("{wanted}=")));
        if matches!(run.arg(0), "run" | "create" | "exec") {
            let mounts = option_values(&run.args, "-v", "--volume")
                .into_iter()
                .chain(option_values(&run.args, "", "--mount"));
            for mount in mounts {
                let mount = mount.to_string();
                let source = mount.split(':').next().unwrap_or("");
                if source == "/"
                    || mount.contains("docker.sock")
                    || mount.contains("source=/,")
                    || mount.contains("src=/,")
                    || source == "/etc"
                    || source == "/root"
                {
                    self.out.privileges.push(Privilege::Container(format!("{} mounts {source}", run.name)));
                } else if source.starts_with(['/', '~']) {
                    self.touch_all(Access::Read, &Text::from(source), &run.name, true);
                }
            }
            if has("--privileged")
                || has("--pid=host")
                || args.iter().any(|arg| arg == "--cap-add=ALL" || arg == "--cap-add=SYS_ADMIN")
            {
                self.out.privileges.push(Privilege::Container(format!("{} --privileged", run.name)));
            }
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
                let stdin = stdin.clone();
                self.elsewhere(|shell| {
                    shell.run(inner, Vec::new(), &stdin);
                });
            }
        }
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
