//! The pages, one file each: it parses the query, asks the records, and builds the HTML.

pub(crate) mod calls;
pub(crate) mod entry;
pub(crate) mod files;
pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod now;
pub(crate) mod query;
mod row;
pub(crate) mod session;
pub(crate) mod sessions;
mod value;

use maud::{Markup, html};

use crate::layout::{Tab, empty, page};
use crate::records::Trouble;

/// Shown instead of a page that cannot be made.
pub(crate) fn trouble(tab: Tab, trouble: &Trouble) -> Markup {
    let (title, next) = match trouble {
        Trouble::NotThere(_) => ("Not there", "It may have been removed, or the address is incomplete."),
        Trouble::Asked(_) => ("That cannot be asked", "Change the filter and try again."),
        Trouble::Failed(_) => ("The record could not be read", "`context-graph doctor` says more."),
    };
    page(tab, title, empty(title, html! { (crate::said::Said::new(trouble.to_string())) br; (next) }))
}
