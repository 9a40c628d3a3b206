//! The model has changed.

use serde_json::Number;

use super::{CacheTtl, ModelSwitchSource, PricingSource};
use crate::reply::Shape;

payload! {
    /// The model has changed, for whatever cause.
    PostModelSwitchPayload of PostModelSwitch answered by PostModelSwitchReply {
        /// The model before.
        required from_model: String,
        /// The model now, in full.
        required to_model: String,
        /// What was asked for, as typed.
        nullable requested_model: String,
        /// Who asked.
        required source: ModelSwitchSource,
        /// How full the context is.
        required context_tokens: Number,
        /// Whether the prompt cache was warm.
        required prompt_cache_warm: bool,
        /// How long the cache lives.
        required cache_ttl: CacheTtl,
        /// What filling the cache again may cost.
        required estimated_cache_write_usd: Number,
        /// Where the estimate comes from.
        required pricing: PricingSource,
    }
}

reply! {
    /// What may be said after the model changed.
    PostModelSwitchReply to PostModelSwitch {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
