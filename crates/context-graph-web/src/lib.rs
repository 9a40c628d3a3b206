//! The dashboard: pages about sessions, over one query interface ([`Records`]) that any store can answer.
//!
//! This crate has the HTML, its drawings, and the loopback server with its access control. It has no store of
//! its own, and no rules on who may see what in a team. Every page has an address that can be reloaded, works
//! without JavaScript, and shows text of others (an agent, a repository, a person) only as [`Said`], which is always escaped.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers become places on a screen, which is coarser than what is lost"
)]

mod door;
mod layout;
mod link;
mod live;
mod loopback;
mod pages;
mod plot;
mod records;
mod report;
mod said;
mod site;
mod time;

pub use door::set_security_headers;
pub use loopback::Loopback;
pub use records::{
    Activity, Asked, Axis, AxisCall, AxisEvent, AxisTurn, Bin, ChainState, Choices, EntryDetail, EntryLine,
    Explanation, FileLine, Grade, HealthCheck, HookCost, Injection, Page, QueryResult, Records, RuleLine,
    Running, SessionLine, SessionsAsked, StoreSize, Trouble, Verification,
};
pub use report::report;
pub use said::Said;
pub use site::Site;
