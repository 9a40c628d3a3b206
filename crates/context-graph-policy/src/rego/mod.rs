//! User policies in Rego.
//!
//! - [`discover`]: policy files from a folder.
//! - [`header`]: the routing header of a file, parsed without the engine.
//! - [`set`]: files grouped into packages, and the packages for an event.
//! - [`mod@input`] and [`view`]: what a policy sees as `input`.
//! - [`signals`]: facts that commands provide.
//! - [`evaluate`]: runs the packages for an event in limited time.
//! - [`lint`]: checks policies that run but cannot work as intended.
//!
//! Headers and decision sets have the form that users of Cupcake write, so their files run unchanged. Only the
//! packages for an event are parsed and run. Every failure is a [`RegoError`] with file and line; the caller
//! decides what it means. Only [`discover`] reads policies from the disk: it lists the folder, and opens files with a
//! function of the caller. Nothing here starts a process.

mod collect;
pub mod discover;
mod engine;
mod error;
pub mod evaluate;
pub mod header;
mod imports;
pub mod input;
pub mod lint;
mod outline;
mod patterns;
mod recursion;
pub mod set;
pub mod signals;
mod time;
mod tokens;
pub mod view;
mod yaml;

pub use discover::{FOREIGN_FOLDERS, PolicyFile, Reader, read_folder};
pub use error::{RegoError, RegoErrorKind};
pub use evaluate::{Evaluation, Limits, Timing};
pub use header::{Header, Route};
pub use input::{Additions, Input};
pub use lint::{Provided, Remark};
pub use set::PolicySet;
pub use signals::{Signal, SignalOutcome};
pub(crate) use time::WITHHELD;
pub use view::{affected_directories, effects_view};
