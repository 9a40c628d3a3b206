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

reply! {
    /// The possible replies at set-up.
    SetupReply to Setup {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
