//! A turn ended because the model's service failed.

open_enum! {
    /// What went wrong.
    ApiErrorKind {
        /// The key or login was refused.
        AuthenticationFailed = "authentication_failed",
        /// The organisation may not use this login.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// The account is on hold.
        AccountOnHold = "account_on_hold",
        /// The account must be verified.
        VerificationRequired = "verification_required",
        /// Payment failed.
        BillingError = "billing_error",
        /// Too many requests.
        RateLimit = "rate_limit",
        /// The service is overloaded.
        Overloaded = "overloaded",
        /// The request was refused.
        InvalidRequest = "invalid_request",
        /// There is no such model.
        ModelNotFound = "model_not_found",
        /// The service failed.
        ServerError = "server_error",
        /// The client does not know the cause.
        Unknown = "unknown",
        /// The answer was cut off.
        MaxOutputTokens = "max_output_tokens",
        /// Cloud credentials failed.
        CloudCredentialError = "cloud_credential_error",
    }
}

payload! {
    /// A turn ended because of an API error. The client does not wait for this hook.
    StopFailurePayload of StopFailure answered by StopFailureReply {
        /// What went wrong.
        required error: ApiErrorKind,
        /// Details.
        optional error_details: String,
        /// The text that the user was shown.
        optional last_assistant_message: String,
    }
}

reply! {
    /// No reply is possible to a failed turn.
    StopFailureReply to StopFailure { verbs: [], top: [], specific: [], shared: [], }
}
