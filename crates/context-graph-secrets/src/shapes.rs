//! Tokens that their makers gave a prefix: what follows it, and how long it is.

use super::bytes::{
    ALNUM, ANY_HEX, BASE64, DASH, DIGIT, DOT, EQUALS, HEX, LOWER, PLUS_SLASH, Set, UNDERSCORE, UPPER,
    URL_SAFE,
};
use super::kind::Kind;

/// A prefix and what may follow it.
#[derive(Debug)]
pub(super) struct Shape {
    pub prefix: &'static str,
    pub body: Set,
    /// How long the body is, least and most.
    pub length: (usize, usize),
    pub kind: Kind,
}

const fn shape(prefix: &'static str, body: Set, least: usize, most: usize, kind: Kind) -> Shape {
    Shape { prefix, body, length: (least, most), kind }
}

const DOTTED: Set = URL_SAFE | DOT;
const WORD: Set = ALNUM | UNDERSCORE;
const CAPITAL: Set = UPPER | DIGIT;
const SMALL: Set = LOWER | DIGIT;
const MIME: Set = BASE64 | DASH | UNDERSCORE;

/// The shapes, by the first byte of the prefix; among those with one beginning the longer prefix comes first.
#[rustfmt::skip]
pub(super) static SHAPES: &[Shape] = &[
    shape("1//0", URL_SAFE, 40, 200, Kind::GoogleOauth),
    shape("A3-", CAPITAL | DASH, 34, 40, Kind::OnePassword),
    shape("ABIA", CAPITAL, 16, 16, Kind::AwsAccessKeyId),
    shape("ABSK", BASE64, 109, 280, Kind::AwsSecretKey),
    shape("ACCA", CAPITAL, 16, 16, Kind::AwsAccessKeyId),
    shape("AGE-SECRET-KEY-1", CAPITAL, 50, 64, Kind::Age),
    shape("AIza", URL_SAFE, 33, 40, Kind::GoogleApiKey),
    shape("AKCp", ALNUM, 60, 80, Kind::Artifactory),
    shape("AKIA", CAPITAL, 16, 16, Kind::AwsAccessKeyId),
    shape("API-", CAPITAL, 26, 26, Kind::Octopus),
    shape("AQVN", URL_SAFE, 35, 40, Kind::Yandex),
    shape("ASIA", CAPITAL, 16, 16, Kind::AwsAccessKeyId),
    shape("ATATT3", MIME, 100, 260, Kind::Atlassian),
    shape("ATBB", ALNUM, 28, 40, Kind::Atlassian),
    shape("ATCTT3", MIME, 100, 260, Kind::Atlassian),
    shape("CCIPAT_", WORD, 50, 80, Kind::CircleCi),
    shape("CFPAT-", URL_SAFE, 40, 50, Kind::Contentful),
    shape("CLOJARS_", ALNUM, 56, 64, Kind::Clojars),
    shape("EZAK", ALNUM, 52, 58, Kind::EasyPost),
    shape("EZTK", ALNUM, 52, 58, Kind::EasyPost),
    shape("FLWSECK_TEST-", ALNUM | DASH, 12, 48, Kind::Flutterwave),
    shape("FLWSECK-", ALNUM | DASH, 12, 48, Kind::Flutterwave),
    shape("GOCSPX-", URL_SAFE, 24, 40, Kind::GoogleOauthSecret),
    shape("GR1348941", URL_SAFE, 20, 40, Kind::GitLab),
    shape("HRKU-", URL_SAFE, 36, 80, Kind::Heroku),
    shape("LTAI", ALNUM, 12, 24, Kind::Alibaba),
    shape("NRAK-", CAPITAL, 24, 32, Kind::NewRelic),
    shape("NRII-", URL_SAFE, 28, 36, Kind::NewRelic),
    shape("NRJS-", ALNUM, 16, 24, Kind::NewRelic),
    shape("PMAK-", HEX | DASH, 55, 64, Kind::Postman),
    shape("SG.", DOTTED, 50, 80, Kind::SendGrid),
    shape("SK", HEX, 32, 32, Kind::Twilio),
    shape("access-development-", HEX | DASH, 36, 36, Kind::Plaid),
    shape("access-production-", HEX | DASH, 36, 36, Kind::Plaid),
    shape("access-sandbox-", HEX | DASH, 36, 36, Kind::Plaid),
    shape("access_token$production$", ALNUM | UNDERSCORE, 32, 64, Kind::Token),
    shape("aio_", ALNUM, 28, 28, Kind::Adafruit),
    shape("api_org_", ALNUM, 30, 40, Kind::HuggingFace),
    shape("bkua_", HEX, 40, 40, Kind::Buildkite),
    shape("cfat_", WORD, 36, 64, Kind::Cloudflare),
    shape("cfut_", WORD, 36, 64, Kind::Cloudflare),
    shape("cio", ALNUM, 32, 32, Kind::CratesIo),
    shape("dapi", HEX | DASH, 32, 34, Kind::Databricks),
    shape("dckr_oat_", URL_SAFE, 24, 48, Kind::Docker),
    shape("dckr_pat_", URL_SAFE, 24, 48, Kind::Docker),
    shape("doo_v1_", HEX, 64, 64, Kind::DigitalOcean),
    shape("dop_v1_", HEX, 64, 64, Kind::DigitalOcean),
    shape("dor_v1_", HEX, 64, 64, Kind::DigitalOcean),
    shape("dp.pt.", ALNUM, 40, 48, Kind::Doppler),
    shape("dp.st.", DOTTED, 40, 80, Kind::Doppler),
    shape("dt0c01.", CAPITAL | DOT, 80, 96, Kind::Dynatrace),
    shape("eyJrIjoi", BASE64, 70, 400, Kind::Grafana),
    shape("figd_", URL_SAFE, 36, 64, Kind::Figma),
    shape("fio-u-", URL_SAFE, 60, 70, Kind::Frameio),
    shape("fm1_", MIME, 80, 2000, Kind::FlyIo),
    shape("fm2_", MIME, 80, 2000, Kind::FlyIo),
    shape("fo1_", URL_SAFE, 40, 48, Kind::FlyIo),
    shape("gho_", ALNUM, 36, 255, Kind::GitHubOauth),
    shape("ghp_", ALNUM, 36, 255, Kind::GitHubToken),
    shape("ghr_", ALNUM, 36, 255, Kind::GitHubApp),
    shape("ghs_", DOTTED, 36, 900, Kind::GitHubApp),
    shape("ghu_", ALNUM, 36, 255, Kind::GitHubApp),
    shape("github_pat_", WORD, 50, 255, Kind::GitHubFineGrained),
    shape("glagent-", URL_SAFE, 40, 70, Kind::GitLab),
    shape("glc_", BASE64, 32, 400, Kind::Grafana),
    shape("glcbt-", DOTTED, 20, 80, Kind::GitLab),
    shape("gldt-", DOTTED, 20, 80, Kind::GitLab),
    shape("glffct-", DOTTED, 20, 80, Kind::GitLab),
    shape("glft-", DOTTED, 20, 80, Kind::GitLab),
    shape("glimt-", DOTTED, 20, 80, Kind::GitLab),
    shape("gloas-", URL_SAFE, 60, 70, Kind::GitLab),
    shape("glpat-", DOTTED, 20, 320, Kind::GitLab),
    shape("glptt-", DOTTED, 40, 80, Kind::GitLab),
    shape("glrt-", DOTTED, 20, 320, Kind::GitLab),
    shape("glrtr-", DOTTED, 20, 320, Kind::GitLab),
    shape("glsa_", WORD, 40, 44, Kind::Grafana),
    shape("glsoat-", DOTTED, 20, 80, Kind::GitLab),
    shape("gsk_", ALNUM, 48, 60, Kind::Groq),
    shape("hf_", ALNUM, 32, 40, Kind::HuggingFace),
    shape("hvb.", URL_SAFE, 90, 400, Kind::Vault),
    shape("hvr.", URL_SAFE, 24, 400, Kind::Vault),
    shape("hvs.", URL_SAFE, 24, 400, Kind::Vault),
    shape("ico-", ALNUM, 32, 32, Kind::Infracost),
    shape("key-", HEX, 32, 32, Kind::Mailgun),
    shape("lin_api_", ALNUM, 32, 64, Kind::Linear),
    shape("lin_oauth_", ALNUM, 32, 80, Kind::Linear),
    shape("lsv2_pt_", WORD, 40, 48, Kind::LangSmith),
    shape("lsv2_sk_", WORD, 40, 48, Kind::LangSmith),
    shape("napi_", SMALL, 48, 80, Kind::Token),
    shape("nfc_", ALNUM, 36, 44, Kind::Netlify),
    shape("nfp_", ALNUM, 36, 44, Kind::Netlify),
    shape("npm_", ALNUM, 36, 36, Kind::Npm),
    shape("ntn_", ALNUM, 40, 50, Kind::Notion),
    shape("nvapi-", URL_SAFE, 60, 72, Kind::Nvidia),
    shape("ops_eyJ", BASE64, 200, 2000, Kind::OnePassword),
    shape("oy2", SMALL, 43, 43, Kind::NuGet),
    shape("p8e-", ALNUM, 32, 32, Kind::Adobe),
    shape("pcsk_", WORD, 60, 80, Kind::Pinecone),
    shape("pnu_", ALNUM, 36, 36, Kind::Prefect),
    shape("pplx-", ALNUM, 40, 64, Kind::Perplexity),
    shape("pscale_oauth_", DOTTED, 32, 64, Kind::PlanetScale),
    shape("pscale_pw_", DOTTED, 32, 64, Kind::PlanetScale),
    shape("pscale_tkn_", DOTTED, 32, 64, Kind::PlanetScale),
    shape("pul-", HEX, 40, 40, Kind::Pulumi),
    shape("pypi-AgE", URL_SAFE, 50, 1000, Kind::PyPi),
    shape("r8_", ALNUM, 37, 37, Kind::Replicate),
    shape("rdme_", SMALL, 70, 70, Kind::ReadMe),
    shape("re_", WORD, 32, 36, Kind::Resend),
    shape("rk_live_", ALNUM, 20, 260, Kind::Stripe),
    shape("rk_test_", ALNUM, 20, 260, Kind::Stripe),
    shape("rnd_", ALNUM, 28, 40, Kind::Render),
    shape("rubygems_", HEX, 48, 48, Kind::RubyGems),
    shape("sb_secret_", WORD | DASH, 28, 48, Kind::Supabase),
    shape("sbp_", HEX | UNDERSCORE, 40, 60, Kind::Supabase),
    shape("secret_", ALNUM, 43, 43, Kind::Notion),
    shape("sha256~", URL_SAFE, 43, 43, Kind::OpenShift),
    shape("shippo_live_", HEX, 40, 40, Kind::Shippo),
    shape("shippo_test_", HEX, 40, 40, Kind::Shippo),
    shape("shpat_", ANY_HEX, 32, 32, Kind::Shopify),
    shape("shpca_", ANY_HEX, 32, 32, Kind::Shopify),
    shape("shppa_", ANY_HEX, 32, 32, Kind::Shopify),
    shape("shpss_", ANY_HEX, 32, 32, Kind::Shopify),
    shape("sk-ant-", URL_SAFE, 40, 200, Kind::Anthropic),
    shape("sk-or-v1-", HEX, 64, 64, Kind::OpenRouter),
    shape("sk-proj-", URL_SAFE, 40, 260, Kind::OpenAi),
    shape("sk-svcacct-", URL_SAFE, 40, 260, Kind::OpenAi),
    shape("sk-admin-", URL_SAFE, 40, 260, Kind::OpenAi),
    shape("sk-", URL_SAFE, 32, 260, Kind::OpenAi),
    shape("sk.eyJ", DOTTED, 60, 200, Kind::Mapbox),
    shape("sk_live_", ALNUM, 20, 260, Kind::Stripe),
    shape("sk_test_", ALNUM, 20, 260, Kind::Stripe),
    shape("sk_", HEX, 48, 48, Kind::Key),
    shape("sntrys_", MIME, 60, 400, Kind::Sentry),
    shape("sntryu_", HEX, 64, 64, Kind::Sentry),
    shape("sq0atp-", URL_SAFE, 22, 60, Kind::Square),
    shape("sq0csp-", URL_SAFE, 43, 60, Kind::Square),
    shape("sqa_", HEX, 40, 40, Kind::SonarQube),
    shape("sqp_", HEX, 40, 40, Kind::SonarQube),
    shape("squ_", HEX, 40, 40, Kind::SonarQube),
    shape("tfp_", DOTTED, 40, 64, Kind::Typeform),
    shape("tskey-", ALNUM | DASH, 24, 80, Kind::Tailscale),
    shape("tvly-", URL_SAFE, 24, 64, Kind::Tavily),
    shape("v1.0-", HEX | DASH, 160, 180, Kind::Cloudflare),
    shape("whsec_", ALNUM | PLUS_SLASH | EQUALS, 24, 80, Kind::StripeWebhook),
    shape("xai-", ALNUM, 70, 90, Kind::Xai),
    shape("xapp-", ALNUM | DASH, 40, 200, Kind::Slack),
    shape("xkeysib-", HEX | ALNUM | DASH, 70, 90, Kind::Brevo),
    shape("xoxa-", ALNUM | DASH, 24, 200, Kind::Slack),
    shape("xoxb-", ALNUM | DASH, 24, 200, Kind::SlackBot),
    shape("xoxc-", ALNUM | DASH, 24, 200, Kind::Slack),
    shape("xoxd-", MIME, 24, 300, Kind::Slack),
    shape("xoxe.xoxb-", ALNUM | DASH, 40, 300, Kind::SlackBot),
    shape("xoxe.xoxp-", ALNUM | DASH, 40, 300, Kind::SlackUser),
    shape("xoxe-", ALNUM | DASH, 40, 300, Kind::Slack),
    shape("xoxo-", ALNUM | DASH, 24, 200, Kind::Slack),
    shape("xoxp-", ALNUM | DASH, 24, 200, Kind::SlackUser),
    shape("xoxr-", ALNUM | DASH, 24, 200, Kind::Slack),
    shape("xoxs-", ALNUM | DASH, 24, 200, Kind::Slack),
    shape("xsmtpsib-", ALNUM | DASH, 70, 90, Kind::Brevo),
    shape("y0_", URL_SAFE, 36, 80, Kind::Yandex),
    shape("ya29.", DOTTED, 30, 1000, Kind::GoogleOauth),
];

/// Which of the shapes begin with a byte: from, and up to.
static BY_FIRST: [(u8, u8); 128] = by_first();

const fn by_first() -> [(u8, u8); 128] {
    let mut ranges = [(0, 0); 128];
    let mut at = 0_u8;
    while (at as usize) < SHAPES.len() {
        let first = SHAPES[at as usize].prefix.as_bytes()[0] as usize;
        if ranges[first].1 == 0 {
            ranges[first].0 = at;
        }
        at += 1;
        ranges[first].1 = at;
    }
    ranges
}

/// Which bytes come second after a first one, a bit each: most words are out after one look.
static SECONDS: [u128; 128] = seconds();

const fn seconds() -> [u128; 128] {
    let mut seconds = [0; 128];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        seconds[prefix[0] as usize] |= 1 << prefix[1];
        at += 1;
    }
    seconds
}

/// The shapes whose prefix may begin with these two bytes.
#[inline]
pub(super) fn beginning_with(first: u8, second: u8) -> &'static [Shape] {
    let known = SECONDS.get(first as usize).copied().unwrap_or_default();
    if second >= 128 || known >> second & 1 == 0 {
        return &[];
    }
    let (from, to) = BY_FIRST.get(first as usize).copied().unwrap_or_default();
    SHAPES.get(from as usize..to as usize).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_grouped_and_none_hides_behind_a_shorter_one() {
        assert!(SHAPES.len() < 256);
        for (at, shape) in SHAPES.iter().enumerate() {
            let (first, second) = (shape.prefix.as_bytes()[0], shape.prefix.as_bytes()[1]);
            let alike = beginning_with(first, second);
            assert!(alike.iter().all(|other| other.prefix.as_bytes()[0] == first));
            assert!(alike.iter().any(|other| other.prefix == shape.prefix));
            let hides = |later: &Shape| later.prefix.starts_with(shape.prefix);
            assert!(!SHAPES[at + 1..].iter().any(hides), "{}", shape.prefix);
        }
    }
}
