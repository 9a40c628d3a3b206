//! User policies in Rego.
//!
//! - [`discover`]: policy files from a folder.
//! - [`header`]: the routing header of a file, read without the engine.
//! - [`set`]: files grouped into packages, and which of them an event is routed to.
//! - [`mod@input`] and [`view`]: what a policy sees as `input`.
//! - [`signals`]: facts that commands provide.
//! - [`evaluate`]: runs the routed packages in limited time.
//! - [`lint`]: what is wrong with policies that run.
//!
//! The header and the decision sets are those that users of Cupcake write, so their files run unchanged. Only what
//! an event is routed to is parsed and run. Whatever goes wrong is a [`RegoError`] that names file and line; what it is
//! worth is the caller's to decide. Only [`discover`] reads files, and nothing here starts a process.

mod collect;
pub mod discover;
mod engine;
mod error;
pub mod evaluate;
pub mod header;
mod imports;
pub mod input;
pub mod lint;
mod patterns;
mod recursion;
pub mod set;
pub mod signals;
mod time;
pub mod view;
mod words;
mod yaml;

pub use discover::{OTHER_AGENTS, PolicyFile, Reader, read_folder};
pub use error::{RegoError, RegoErrorKind};
pub use evaluate::{Limits, Outcome, Timing};
pub use header::{Header, Route};
pub use input::{Input, Surroundings};
pub use lint::{Provided, Remark};
pub use set::PolicySet;
pub use signals::{Signal, SignalOutcome};
pub(crate) use time::WITHHELD;
pub use view::{affected_directories, effects_view};
