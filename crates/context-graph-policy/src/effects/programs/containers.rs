//! Containers: what they can use of this machine, and what runs in them.

use crate::effects::shell::{Flow, Shell, VOLUMES};
use crate::effects::{Access, Origin, Privilege, Text};
use crate::programs::Invocation;

impl Shell<'_> {
    pub(super) fn container(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        if let ("container", Some(at)) =
            (call.word(0), run.args.iter().position(|arg| arg.known() == "container"))
        {
            // `docker container run` is `docker run`.
            let words = std::iter::once(Text::lit(run.name.as_str()))
                .chain(run.args[..at].iter().cloned())
                .chain(run.args[at + 1..].iter().cloned());
            if matches!(call.word(1), "run" | "create" | "exec" | "cp") {
                return self.run(words.collect(), run.assigns.clone(), stdin);
            }
        }
        // `podman unshare`: a user namespace with the files of this machine.
        if call.word(0) == "unshare" && call.rest.is_some() {
            return self.run(call.command().to_vec(), run.assigns.clone(), stdin);
        }
        self.container_copy(call);
        let mut inside = Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        inside.archive = matches!(call.word(0), "save" | "export");
        let composed = call.word(0) == "compose" && matches!(call.word(1), "run" | "exec");
        if composed || matches!(call.word(0), "run" | "create" | "exec") {
            self.given_to_container(call);
        }
        if call.word(0) == "debug" && call.word(1).starts_with("node/") {
            self.out.privileges.push(Privilege::Container(format!("{} debug of a node", run.name)));
        }
        if call.rest.is_some() {
            let inner = call.command().to_vec();
            let workdir = call.value("--workdir").cloned();
            let before = self.mounts.len();
            for (source, at) in mounts(call) {
                let ours = crate::effects::path::absolute(&source, self.cwd());
                self.mounts.push((at, ours));
            }
            for (name, at) in volumes(call) {
                self.mounts.push((at, Text::lit(format!("{VOLUMES}{name}"))));
            }
            let flow = &mut inside;
            self.elsewhere(|shell| {
                // Without `--workdir`, only the image knows the working folder.
                shell.set_cwd(workdir.unwrap_or_else(|| Text::hole(Origin::Output)));
                *flow = shell.run(inner, Vec::new(), stdin);
            });
            self.mounts.truncate(before);
        }
        inside
    }

    /// The folders and privileges of this machine that a container gets.
    fn given_to_container(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        for (source, _) in mounts(call) {
            let source = source.to_string();
            if matches!(source.as_str(), "/" | "/etc" | "/root" | "/proc" | "/sys" | "/dev" | "/boot")
                || source.contains("docker.sock")
            {
                self.out.privileges.push(Privilege::Container(format!("{} mounts {source}", run.name)));
            } else if source.starts_with(['/', '~']) {
                self.touch_all(Access::Read, &Text::from(source.as_str()), &run.name, true);
            }
        }
        let any =
            |name: &str, fits: fn(&str) -> bool| call.values(name).any(|value| fits(&value.to_string()));
        if call.has("--privileged")
            || any("--pid", |value| value == "host")
            || any("--cap-add", |power| {
                matches!(power.trim_start_matches("CAP_"), "ALL" | "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE")
            })
            || any("--security-opt", |option| option.contains("unconfined"))
            || any("--device", |device| device.starts_with("/dev/sd"))
        {
            self.out.privileges.push(Privilege::Container(format!("{} --privileged", run.name)));
        }
    }

    /// `cp` between this machine and a container: the side without a colon is local.
    fn container_copy(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        let words = &call.words;
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

/// The named volumes of a container, and where it mounts them.
fn volumes(call: &Invocation<'_>) -> Vec<(String, String)> {
    let named = |mount: &Text| {
        let (name, at) = mount.known().split_once(':')?;
        let at = at.split(':').next().unwrap_or(at);
        (!name.is_empty() && !name.contains(['/', '.', '~']) && at.starts_with('/'))
            .then(|| (name.to_owned(), at.to_owned()))
    };
    call.values("--volume").filter_map(named).collect()
}

/// The folders of this machine that a container mounts, and where.
fn mounts(call: &Invocation<'_>) -> Vec<(Text, String)> {
    let mut found = Vec::new();
    for mount in call.values("--volume") {
        if let Some((source, at)) = mount.split_once(':') {
            let at = at.split_once(':').map_or(at.clone(), |(at, _)| at);
            // A plain name is a volume, not a folder.
            if source.has_hole() || source.prefix().starts_with(['/', '.', '~']) {
                found.push((source, at.known().to_owned()));
            }
        }
    }
    for mount in call.values("--mount").cloned() {
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
