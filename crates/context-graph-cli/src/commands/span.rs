//! `--since` and `--until`.

use clap::Args;

use super::failure::Failure;
use crate::{clock, time};

/// From when to when.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SpanArgs {
    /// Not older than this: `2h`, `3d`, `today`, `2026-11-01` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,

    /// Not newer than this
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

impl SpanArgs {
    pub(crate) fn moments(&self) -> Result<(Option<i64>, Option<i64>), Failure> {
        let moment = |text: &Option<String>| {
            text.as_deref().map(|text| time::parse(text, clock::now_ms()).map_err(Failure::usage)).transpose()
        };
        Ok((moment(&self.since)?, moment(&self.until)?))
    }
}
