//! What a tool call would do: the paths, hosts, programs and privileges that every guard looks at.
//!
//! `Write`, `Edit`, a shell command, an MCP tool and `python -c` all become the same effects, so one rule
//! covers them all. What cannot be seen becomes an [`Unknown`], and the guards decide what it means. The work is
//! bounded: input that is too long, deep or endless becomes an unknown, never a hang.

pub(crate) mod agent_settings;
pub mod fs;
pub mod glob;
mod inline;
mod mcp;
mod members;
pub mod path;
mod powershell;
mod programs;
mod script_files;
mod shell;
pub mod text;
mod tools;

pub use fs::{FileKind, FileSystem, ListedFileSystem, NamedPlaces, RealFileSystem};
pub(crate) use inline::{INLINE, PARENT, TERMINAL_INPUT};
pub use path::Target;
pub(crate) use programs::{
    NARROWED, git_settings, host_and_port, host_of, is_httpie, is_loopback, is_metadata, is_this_machine,
    number_of, reached_by, readers_of,
};
pub use script_files::Script;
pub(crate) use script_files::of_script;
pub use text::{Origin, Piece, Text};
pub use tools::InputError;
pub(crate) use tools::of_tool_call;
pub(crate) use tools::runs_commands;

/// How a path is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Its content is read and goes somewhere.
    Read,
    /// A folder is searched: anything in it may be read.
    Search,
    /// It is created or changed.
    Write,
    /// It is removed or moved away.
    Delete,
    /// It is run.
    Execute,
    /// Its mode or owner changes.
    Permissions,
    /// It is passed to an unknown program.
    Mention,
}

/// One path, touched in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathEffect {
    /// How.
    pub access: Access,
    /// Which.
    pub target: Target,
    /// With everything in it.
    pub recursive: bool,
    /// Which program or tool does it.
    pub by: String,
    /// The new content comes from a template file, as in `cp .env.example .env`.
    pub from_template: bool,
}

/// What is sent over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SentKind {
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
pub struct Sending {
    /// The host or address, as far as it is known.
    pub host: Text,
    /// What is sent.
    pub kind: SentKind,
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
    /// Variables set only for it.
    pub assigns: Vec<(String, Text)>,
    /// Its standard input, if known.
    pub stdin: Option<String>,
    /// The program whose output is its standard input, or an empty string.
    pub fed_by: String,
    /// Its working folder, as far as it is known.
    pub cwd: Text,
}

impl Run {
    /// Whether an argument is exactly this.
    pub fn has(&self, arg: &str) -> bool {
        self.args.iter().any(|known| known.literal() == Some(arg))
    }

    /// The known argument at this position.
    pub fn arg(&self, index: usize) -> &str {
        self.args.get(index).map_or("", Text::known)
    }
}

/// A privilege escalation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Privilege {
    /// Another user, usually root, through this program.
    OtherUser(String),
    /// A setuid bit or a capability is granted.
    Grant(String),
    /// A container with full access to the machine.
    Container(String),
}

/// Something that cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The command cannot be parsed as shell.
    Unreadable,
    /// The command is too long or nested too deeply.
    TooLarge,
    /// The program's name is not known.
    Program(Text),
    /// Code from the network is run.
    Downloaded(String),
    /// Text that was encoded or computed is run.
    Decoded,
    /// The output of another program is run.
    Piped(String),
    /// A path that was computed from hidden constants is touched.
    ComputedPath(Text),
    /// Something unknown is removed.
    DeleteTarget(Text),
    /// Something that we cannot read does what may be dangerous: code in another language, an unknown tool.
    Opaque(String),
}

/// A credential is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disclosure {
    /// All environment variables.
    Environment,
    /// One variable.
    Variable,
    /// A credential store, by this command.
    Store(String),
}

/// Everything a tool call would do, as far as it can be seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects {
    /// Paths and what happens to them.
    pub paths: Vec<PathEffect>,
    /// What is sent to which hosts.
    pub sends: Vec<Sending>,
    /// Programs that run.
    pub runs: Vec<Run>,
    /// Privileges that are taken.
    pub privileges: Vec<Privilege>,
    /// Credentials that are shown.
    pub disclosures: Vec<Disclosure>,
    /// What cannot be seen.
    pub unknowns: Vec<Unknown>,
    /// Files that existed before and are run.
    pub scripts: Vec<Script>,
    /// Files that a command writes, and what it writes into them, where that is known.
    pub made: Vec<(String, String)>,
    /// Whether a function starts copies of itself.
    pub fork_bomb: bool,
}
