//! The words that show what a statement does: lists from `programs/lists/code.toml`.

pub(super) use crate::programs::lists::{
    CODE_CALLS as CALLS, CODE_DELETES as DELETES, CODE_FETCHES as FETCHES, CODE_HIDES as HIDES,
    CODE_OPERATORS as OPERATORS, CODE_READS as READS, CODE_RECURSIVE as RECURSIVE, CODE_RUNS as RUNS,
    CODE_SENDS as SENDS, CODE_SPELLS as SPELLS, CODE_WALKS as WALKS, CODE_WRITES as WRITES,
};
