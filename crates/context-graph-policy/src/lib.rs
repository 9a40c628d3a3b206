//! Rules to decisions.
