//! The only crate that knows how sessions are stored on disk.
//!
//! Between two sync points a session has two files of its own: a journal, which is the source of truth, and a
//! state file, which is a cache ([`live`]). At a sync point the journal is folded into the [`store`] in one
//! durable transaction. So a power cut can never corrupt the store, and an event between two sync points usually does
//! not open it.
//!
//! Not in this crate: the meaning of events, printing, the environment. Paths, payloads and the time of day are arguments;
//! the clock is only read to limit the time of waiting and of queries, and by `SessionIdentityManager::open`, for
//! callers without their own clock.
//!
//! Words: the *state file* holds the session at some position of its journal. The *log* is all records of a session, in
//! order; a *block* is consecutive records, compressed, and a part of the session's hash chain; a *head* says how far that
//! chain has come. An *entry* is a call or another event made from records; in [`live`] it is one payload in a journal. A
//! *seal* is a tag that only this user can make, a *mark* the tag of a state folder.

pub mod codec;
pub mod error;
mod file_lock;
mod heads;
pub mod hex;
pub mod live;
mod mark;
pub mod paths;
mod quarantine;
pub mod safe_open;
pub mod seal;
mod secret;
pub mod session_identity;
mod session_key;
pub mod sessions;
pub mod store;
mod system;

pub use error::{Result, StorageError};
pub use live::{LiveSession, Position, SessionLock};
pub use paths::StateFolder;
pub use quarantine::Quarantine;
pub use seal::Seal;
pub use secret::{Objections, UserFolder};
pub use session_identity::SessionIdentityManager;
pub use session_key::{MAX_SESSION_ID_BYTES, SessionKey};
pub use store::{FoldBatch, LogRecord, Patience, Store, StoreOptions};
