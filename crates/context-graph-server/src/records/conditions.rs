//! Conditions of a query, put together with their values.

use std::fmt::Write as _;

use super::TeamRecords;
use crate::db::Value;

/// SQL conditions and their parameters.
pub(super) struct Conditions {
    pub(super) sql: String,
    pub(super) given: Vec<Value>,
}

impl Conditions {
    /// What the member may see of this table.
    pub(super) fn visible(records: &TeamRecords, table: &str) -> Self {
        Self { sql: records.visible(table), given: records.whose() }
    }

    /// Adds a value, and returns its name in SQL.
    pub(super) fn name(&mut self, value: Value) -> String {
        self.given.push(value);
        format!("${}", self.given.len())
    }

    /// Adds a condition; every `$?` is the value.
    pub(super) fn and(&mut self, condition: &str, value: Value) {
        let name = self.name(value);
        // Writing to a String cannot fail.
        let _ = write!(self.sql, " AND {}", condition.replace("$?", &name));
    }

    /// Adds a condition with several values, in their order.
    pub(super) fn and_each(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let mut condition = condition.to_owned();
        for value in values {
            condition = condition.replacen("$?", &self.name(value), 1);
        }
        let _ = write!(self.sql, " AND {condition}");
    }

    /// Adds a condition that is true for any of these values; nothing if there are none.
    pub(super) fn any(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let names: Vec<String> = values.into_iter().map(|value| self.name(value)).collect();
        let parts: Vec<String> = names.iter().map(|name| condition.replace("$?", name)).collect();
        if !parts.is_empty() {
            let _ = write!(self.sql, " AND ({})", parts.join(" OR "));
        }
    }
}

/// Escapes the special characters of LIKE with `!`.
pub(super) fn literal(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
