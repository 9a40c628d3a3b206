//! What a found secret is called in its place.

macro_rules! kinds {
    ($($name:ident => $label:literal,)+) => {
        /// What kind of secret was found.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Kind { $($name,)+ }

        impl Kind {
            /// Every kind.
            pub(super) const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The kind as written into the text: lower-case letters, digits and hyphens.
            pub(super) const fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)+ }
            }
        }
    };
}

kinds! {
    // By what it is, whoever gave it out.
    Password => "password",
    PasswordHash => "password-hash",
    Secret => "secret",
    Token => "token",
    Key => "key",
    Credential => "credential",
    Cookie => "cookie",
    Bearer => "bearer",
    BasicAuth => "basic-auth",
    Authorization => "authorization",
    UrlPassword => "url-password",
    DatabaseUrl => "database-url",
    SignedUrl => "signed-url",
    Jwt => "jwt",
    PrivateKey => "private-key",
    SshPrivateKey => "ssh-private-key",
    PgpPrivateKey => "pgp-private-key",
    PuttyPrivateKey => "putty-private-key",
    ClientKey => "client-key",
    Netrc => "netrc",
    HighEntropy => "high-entropy",
    // By who gave it out.
    Adafruit => "adafruit",
    Adobe => "adobe",
    Age => "age-secret-key",
    Airtable => "airtable",
    Alibaba => "alibaba",
    Anthropic => "anthropic",
    Artifactory => "artifactory",
    Atlassian => "atlassian",
    AwsAccessKeyId => "aws-access-key-id",
    AwsSecretKey => "aws-secret-access-key",
    AwsSessionToken => "aws-session-token",
    AzureAd => "azure-client-secret",
    AzureStorage => "azure-storage-key",
    Brevo => "brevo",
    Buildkite => "buildkite",
    CircleCi => "circleci",
    Clojars => "clojars",
    Cloudflare => "cloudflare",
    Contentful => "contentful",
    CratesIo => "crates-io",
    Databricks => "databricks",
    Datadog => "datadog",
    DigitalOcean => "digitalocean",
    Discord => "discord",
    DiscordWebhook => "discord-webhook",
    Docker => "docker",
    Doppler => "doppler",
    Dynatrace => "dynatrace",
    EasyPost => "easypost",
    Figma => "figma",
    Flutterwave => "flutterwave",
    FlyIo => "fly-io",
    Frameio => "frameio",
    GitHubApp => "github-app-token",
    GitHubFineGrained => "github-fine-grained-token",
    GitHubOauth => "github-oauth-token",
    GitHubToken => "github-token",
    GitLab => "gitlab",
    GoogleApiKey => "google-api-key",
    GoogleOauth => "google-oauth",
    GoogleOauthSecret => "google-oauth-client-secret",
    Grafana => "grafana",
    Groq => "groq",
    Harness => "harness",
    Heroku => "heroku",
    HuggingFace => "hugging-face",
    Infracost => "infracost",
    LangSmith => "langsmith",
    Linear => "linear",
    Mailchimp => "mailchimp",
    Mailgun => "mailgun",
    Mapbox => "mapbox",
    MicrosoftWebhook => "microsoft-webhook",
    Netlify => "netlify",
    NewRelic => "new-relic",
    Notion => "notion",
    Npm => "npm",
    NuGet => "nuget",
    Nvidia => "nvidia",
    Octopus => "octopus-deploy",
    OnePassword => "1password",
    OpenAi => "openai",
    OpenRouter => "openrouter",
    OpenShift => "openshift",
    Perplexity => "perplexity",
    Pinecone => "pinecone",
    Plaid => "plaid",
    PlanetScale => "planetscale",
    Postman => "postman",
    Prefect => "prefect",
    Pulumi => "pulumi",
    PyPi => "pypi",
    ReadMe => "readme",
    Render => "render",
    Replicate => "replicate",
    Resend => "resend",
    RubyGems => "rubygems",
    SendGrid => "sendgrid",
    Sentry => "sentry",
    SentryDsn => "sentry-dsn",
    Shippo => "shippo",
    Shopify => "shopify",
    Slack => "slack",
    SlackBot => "slack-bot-token",
    SlackUser => "slack-user-token",
    SlackWebhook => "slack-webhook",
    SonarQube => "sonarqube",
    Square => "square",
    Stripe => "stripe",
    StripeWebhook => "stripe-webhook-secret",
    Supabase => "supabase",
    Tailscale => "tailscale",
    Tavily => "tavily",
    Telegram => "telegram",
    Terraform => "terraform-cloud",
    Twilio => "twilio",
    Typeform => "typeform",
    Vault => "vault",
    Xai => "xai",
    Yandex => "yandex",
}

impl Kind {
    /// The kind with this label.
    pub(super) fn of_label(label: &[u8]) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.label().as_bytes() == label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_different_and_of_plain_characters() {
        for (at, kind) in Kind::ALL.iter().enumerate() {
            let label = kind.label().as_bytes();
            assert!(label.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
            assert_eq!(Kind::of_label(label), Some(*kind));
            assert!(Kind::ALL.iter().skip(at + 1).all(|other| other.label() != kind.label()));
        }
    }
}
