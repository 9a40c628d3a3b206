//! Another model was requested.

use serde_json::Number;

use super::{CacheTtl, PricingSource};
use crate::reply::Shape;

open_enum! {
    /// Who switches the model.
    ModelSwitchSource {
        /// `/model NAME`.
        Command = "command",
        /// The model picker.
        Picker = "picker",
        /// A program that drives the client.
        Sdk = "sdk",
        /// The client itself.
        Auto = "auto",
        /// A resumed session.
        Resume = "resume",
    }
}

payload! {
    /// Another model was requested.
    PreModelSwitchPayload of PreModelSwitch answered by PreModelSwitchReply {
        /// The model now.
        required from_model: String,
        /// The requested model, by its full name.
        required to_model: String,
        /// The requested model, as typed.
        nullable requested_model: String,
        /// Who asked.
        required source: ModelSwitchSource,
        /// How full the context is.
        required context_tokens: Number,
        /// Whether the prompt cache would be lost.
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
    /// The possible replies before the model changes.
    PreModelSwitchReply to PreModelSwitch {
        verbs: [Deny, Ask, Allow],
        top: [SystemMessage],
        specific: [
            ("permissionDecision", Shape::OneOf(&["allow", "deny", "ask"])),
            ("permissionDecisionReason", Shape::Text)
        ],
        shared: [permission, message],
    }
}
