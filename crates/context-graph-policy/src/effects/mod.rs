//! What a tool call would do: a view of paths, hosts, programs and privileges that every guard shares.
//!
//! `Write`, `Edit`, a shell command, an MCP tool and `python -c` all end up here as the same effects, so one rule
//! meets them all. What cannot be seen is an [`Unknown`], a value of its own: guards decide what it is worth.
//! The work is bounded: long, deep or endless input becomes an unknown, never a hang.

pub mod fs;
pub mod glob;
mod inline;
mod mcp;
mod members;
pub mod path;
mod powershell;
mod programs;
mod scripts;
mod shell;
pub mod text;
mod tools;

pub use fs::{FileKind, FileSystem, ListedFileSystem, RealFileSystem};
pub use path::Target;
pub(crate) use programs::{NARROWED, git_settings};
pub use scripts::Script;
pub(crate) use scripts::of_script;
pub use text::{Origin, Piece, Text};
pub use tools::InputError;
pub(crate) use tools::of_tool_call;

/// How a path is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its content is read and goes somewhere.
    Read,
    /// A folder is searched: whatever it holds may be read.
    Search,
    /// It is created or changed.
    Write,
    /// It is removed or moved away.
    Delete,
    /// It is run.
    Execute,
    /// Its mode or owner changes.
    Permissions,
    /// It is handed to a program we do not know.
    Mention,
}

/// One path, touched in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathEffect {
    /// How.
    pub access: Access,
    /// Which.
    pub target: Target,
    /// With all it holds.
    pub recursive: bool,
    /// Which program or tool does it.
    pub by: String,
    /// The new content comes from a template file beside it, as in `cp .env.example .env`.
    pub from_template: bool,
}

/// What goes over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cargo {
    /// Nothing but the request.
    Nothing,
    /// Data made here, not taken from a file.
    Data,
    /// The content of a file.
    File,
    /// An archive.
    Archive,
    /// A credential.
    Credential,
    /// An interactive shell.
    Shell,
}

/// Something is sent to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// The host or address, as far as it is known.
    pub host: Text,
    /// What goes there.
    pub cargo: Cargo,
    /// Which program or tool does it.
    pub by: String,
}

/// A program is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The program's name without its folder.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Text>,
    /// Variables set for it alone.
    pub assigns: Vec<(String, Text)>,
    /// What it is fed, where that is known.
    pub stdin: Option<String>,
    /// Where it runs, as far as that is known.
    pub cwd: Text,
}

impl Run {
    /// Whether an argument is exactly this.
    pub fn has(&self, arg: &str) -> bool {
        self.args.iter().any(|known| known.literal() == Some(arg))
    }

    /// The known argument at this place.
    pub fn arg(&self, index: usize) -> &str {
        self.args.get(index).map_or("", Text::known)
    }
}

/// More power than the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privilege {
    /// Another user, most often root, by this program.
    OtherUser(String),
    /// A set-user-id bit or a capability is given away.
    Grant(String),
    /// A container with the run of the machine.
    Container(String),
}

/// Something that cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The command does not read as shell.
    Unreadable,
    /// The command is longer or deeper than we look.
    TooLarge,
    /// The program's name is not known.
    Program(Text),
    /// What comes from the network is run.
    Downloaded(String),
    /// Text that was encoded or computed is run.
    Decoded,
    /// What another program prints is run.
    Piped(String),
    /// A path that was computed from hidden constants is touched.
    ComputedPath(Text),
    /// Something is removed, and it cannot be seen what.
    DeleteTarget(Text),
    /// A tool whose language we do not read does something we cannot rule out.
    Foreign(String),
}

/// A credential is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disclosure {
    /// All environment variables.
    Environment,
    /// This variable.
    Variable,
    /// A credential store, by this command.
    Store(String),
}

/// Everything a tool call would do, as far as it can be seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// Paths and what happens to them.
    pub paths: Vec<PathEffect>,
    /// Hosts that are sent something.
    pub sends: Vec<Send>,
    /// Programs that run.
    pub runs: Vec<Run>,
    /// Privileges that are taken.
    pub privileges: Vec<Privilege>,
    /// Credentials that are shown.
    pub disclosures: Vec<Disclosure>,
    /// What cannot be seen.
    pub unknowns: Vec<Unknown>,
    /// Files that are run and were there before.
    pub scripts: Vec<Script>,
    /// A function that starts copies of itself.
    pub fork_bomb: bool,
}
