//! The repository is being set up.

use crate::reply::Shape;

open_enum! {
    /// Why set-up runs.
    SetupTrigger {
        /// `--init`.
        Init = "init",
        /// `--maintenance`.
        Maintenance = "maintenance",
    }
}

payload! {
    /// The repository is being set up or maintained.
    SetupPayload of Setup answered by SetupReply {
        /// Why.
        required trigger: SetupTrigger,
    }
}

impl SetupPayload {
    /// Whether this is the first set-up.
    pub fn is_init(&self) -> bool {
        self.trigger == SetupTrigger::Init
    }
}

reply! {
    /// The possible replies at set-up.
    SetupReply to Setup {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
