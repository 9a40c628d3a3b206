//! The model has changed.

use serde_json::Number;

use super::{CacheTtl, ModelSwitchSource, PricingSource};
use crate::reply::Shape;

payload! {
    /// The model has changed, for any reason.
    PostModelSwitchPayload of PostModelSwitch answered by PostModelSwitchReply {
        /// The model before.
        required from_model: String,
        /// The model now, by its full name.
        required to_model: String,
        /// The requested model, as typed.
        nullable requested_model: String,
        /// Who asked.
        required source: ModelSwitchSource,
        /// How full the context is.
        required context_tokens: Number,
        /// Whether the prompt cache was warm.
        required prompt_cache_warm: bool,
        /// The lifetime of the cache.
        required cache_ttl: CacheTtl,
        /// The estimated cost of filling the cache again.
        required estimated_cache_write_usd: Number,
        /// Where the estimate comes from.
        required pricing: PricingSource,
    }
}

reply! {
    /// The possible replies after the model changed.
    PostModelSwitchReply to PostModelSwitch {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
