//! Tokens that are recognised by their format, wherever they are.

use super::{ALNUM, BASE32, BASE64, CAPITAL, DIGITS, Dice, HEX, Positive, SMALL, URL_SAFE};

/// Prefix in two pieces, alphabet and length of the rest, kind.
#[rustfmt::skip]
const PREFIXED: &[(&str, &str, &str, usize, &str)] = &[
    ("AK", "IA", BASE32, 16, "aws-access-key-id"),
    ("AS", "IA", BASE32, 16, "aws-access-key-id"),
    ("gh", "p_", ALNUM, 36, "github-token"),
    ("gh", "o_", ALNUM, 36, "github-oauth-token"),
    ("gh", "s_", ALNUM, 36, "github-app-token"),
    ("gh", "u_", ALNUM, 36, "github-app-token"),
    ("gh", "r_", ALNUM, 76, "github-app-token"),
    ("github", "_pat_", ALNUM, 82, "github-fine-grained-token"),
    ("gl", "pat-", URL_SAFE, 20, "gitlab"),
    ("gl", "rt-", URL_SAFE, 20, "gitlab"),
    ("gl", "ptt-", HEX, 40, "gitlab"),
    ("GR13", "48941", URL_SAFE, 20, "gitlab"),
    ("sk_", "live_", ALNUM, 24, "stripe"),
    ("sk_", "test_", ALNUM, 99, "stripe"),
    ("rk_", "live_", ALNUM, 24, "stripe"),
    ("wh", "sec_", ALNUM, 32, "stripe-webhook-secret"),
    ("AI", "za", URL_SAFE, 35, "google-api-key"),
    ("GOC", "SPX-", URL_SAFE, 28, "google-oauth-client-secret"),
    ("ya", "29.", URL_SAFE, 120, "google-oauth"),
    ("1/", "/0", URL_SAFE, 60, "google-oauth"),
    ("sk-", "proj-", URL_SAFE, 120, "openai"),
    ("sk-", "svcacct-", URL_SAFE, 120, "openai"),
    ("sk", "-", ALNUM, 48, "openai"),
    ("sk-", "ant-api03-", URL_SAFE, 95, "anthropic"),
    ("sk-", "ant-oat01-", URL_SAFE, 95, "anthropic"),
    ("sk-", "or-v1-", HEX, 64, "openrouter"),
    ("hf", "_", ALNUM, 34, "hugging-face"),
    ("gs", "k_", ALNUM, 52, "groq"),
    ("xa", "i-", ALNUM, 80, "xai"),
    ("pp", "lx-", ALNUM, 48, "perplexity"),
    ("r8", "_", ALNUM, 37, "replicate"),
    ("nv", "api-", URL_SAFE, 64, "nvidia"),
    ("tv", "ly-", ALNUM, 32, "tavily"),
    ("np", "m_", ALNUM, 36, "npm"),
    ("pypi-", "AgEIcHlwaS5vcmc", URL_SAFE, 150, "pypi"),
    ("ci", "o", ALNUM, 32, "crates-io"),
    ("ruby", "gems_", HEX, 48, "rubygems"),
    ("oy", "2", SMALL, 43, "nuget"),
    ("dckr", "_pat_", URL_SAFE, 27, "docker"),
    ("dop", "_v1_", HEX, 64, "digitalocean"),
    ("doo", "_v1_", HEX, 64, "digitalocean"),
    ("S", "K", HEX, 32, "twilio"),
    ("ke", "y-", HEX, 32, "mailgun"),
    ("lin", "_api_", ALNUM, 40, "linear"),
    ("nt", "n_", ALNUM, 46, "notion"),
    ("sec", "ret_", ALNUM, 43, "notion"),
    ("hv", "s.", URL_SAFE, 92, "vault"),
    ("hv", "b.", URL_SAFE, 140, "vault"),
    ("da", "pi", HEX, 32, "databricks"),
    ("HRKU-", "AA", URL_SAFE, 58, "heroku"),
    ("sntry", "s_", BASE64, 120, "sentry"),
    ("sntry", "u_", HEX, 64, "sentry"),
    ("NR", "AK-", CAPITAL, 27, "new-relic"),
    ("gl", "sa_", ALNUM, 41, "grafana"),
    ("glc", "_", ALNUM, 60, "grafana"),
    ("pscale", "_pw_", URL_SAFE, 43, "planetscale"),
    ("sb", "p_", HEX, 40, "supabase"),
    ("dp.", "pt.", ALNUM, 43, "doppler"),
    ("pu", "l-", HEX, 40, "pulumi"),
    ("shp", "at_", HEX, 32, "shopify"),
    ("sq0", "csp-", URL_SAFE, 43, "square"),
    ("ATA", "TT3xFfGF0", URL_SAFE, 170, "atlassian"),
    ("fi", "gd_", URL_SAFE, 43, "figma"),
    ("nf", "p_", ALNUM, 40, "netlify"),
    ("CCI", "PAT_", ALNUM, 64, "circleci"),
    ("sq", "u_", HEX, 40, "sonarqube"),
    ("tskey", "-auth-", ALNUM, 40, "tailscale"),
    ("tf", "p_", URL_SAFE, 44, "typeform"),
    ("dt0", "c01.", BASE32, 88, "dynatrace"),
    ("AGE-SEC", "RET-KEY-1", BASE32, 58, "age-secret-key"),
    ("LT", "AI", ALNUM, 20, "alibaba"),
    ("re", "_", ALNUM, 33, "resend"),
    ("sha", "256~", URL_SAFE, 43, "openshift"),
    ("AP", "I-", CAPITAL, 26, "octopus-deploy"),
    ("pc", "sk_", ALNUM, 70, "pinecone"),
];

/// Sentences, settings and calls around a token.
const AROUND: [(&str, &str); 8] = [
    ("", ""),
    ("use this one: ", ", please"),
    ("curl -s https://api.service.test/v1?q=", "&page=2"),
    ("{\"value\":\"", "\"}"),
    ("const client = new Client('", "');"),
    ("first line\\n", "\\nlast line"),
    ("| deploy | ", " | active |"),
    ("the answer was (", ")."),
];

fn with(around: usize, kind: &'static str, secret: String) -> Positive {
    let (before, after) = AROUND[around % AROUND.len()];
    Positive { kind, text: format!("{before}{secret}{after}"), secret }
}

/// Tokens with a prefix, each in two contexts.
pub(crate) fn prefixed(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 11);
    let mut positives = Vec::new();
    for (at, (first, second, alphabet, length, kind)) in PREFIXED.iter().enumerate() {
        for turn in [at, at + 3] {
            let body = dice.draw(alphabet, *length);
            positives.push(with(turn, kind, format!("{first}{second}{body}")));
        }
    }
    positives
}

/// Tokens with several parts.
pub(crate) fn composed(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 12);
    let mut positives = Vec::new();
    let header = Dice::base64(b"{\"alg\":\"HS256\",\"typ\":\"JWT\"}").replace('=', "");
    for turn in 0..3 {
        let claims =
            Dice::base64(format!("{{\"sub\":\"{}\",\"iat\":17000{turn}}}", dice.draw(DIGITS, 10)).as_bytes());
        let jwt = format!("{header}.{}.{}", claims.replace('=', ""), dice.draw(URL_SAFE, 43));
        positives.push(with(turn, "jwt", jwt));
        let slack = [dice.draw(DIGITS, 12), dice.draw(DIGITS, 13), dice.draw(ALNUM, 24)].join("-");
        positives.push(with(turn, "slack-bot-token", format!("{}{}{slack}", "xox", "b-")));
        let user = [dice.draw(DIGITS, 12), dice.draw(DIGITS, 12), dice.draw(DIGITS, 12), dice.draw(HEX, 32)]
            .join("-");
        positives.push(with(turn, "slack-user-token", format!("{}{}{user}", "xox", "p-")));
        let sendgrid = [dice.draw(URL_SAFE, 22), dice.draw(ALNUM, 43)].join(".");
        positives.push(with(turn, "sendgrid", format!("S{}{sendgrid}", "G.")));
        let telegram = format!("{}:A{}{}", 7, "A", dice.draw(ALNUM, 33));
        positives.push(with(
            turn,
            "telegram",
            telegram.replacen('7', &format!("7{}", dice.draw(DIGITS, 9)), 1),
        ));
        let discord = [dice.draw(ALNUM, 25), dice.draw(ALNUM, 6), dice.draw(ALNUM, 38)].join(".");
        positives.push(with(turn, "discord", format!("M{discord}")));
        let azure = format!("{}8Q~{}", dice.draw(ALNUM, 3), dice.draw(ALNUM, 34));
        positives.push(with(turn, "azure-client-secret", azure));
        let airtable = format!("pa{}{}.{}", "t", dice.draw(ALNUM, 14), dice.draw(HEX, 64));
        positives.push(with(turn, "airtable", airtable));
        let mailchimp = format!("{}-us{}", dice.draw(HEX, 32), 7 + turn);
        positives.push(with(turn, "mailchimp", mailchimp));
        let terraform = format!("{}.atlas{}.{}", dice.draw(ALNUM, 14), "v1", dice.draw(ALNUM, 67));
        positives.push(with(turn, "terraform-cloud", terraform));
        positives.push(with(0, "high-entropy", format!("aB3{}", dice.draw(ALNUM, 45))));
    }
    positives.extend(webhooks(&mut dice));
    positives
}

fn webhooks(dice: &mut Dice) -> Vec<Positive> {
    let slack = format!("T{}/B{}/{}", dice.draw(CAPITAL, 10), dice.draw(CAPITAL, 10), dice.draw(ALNUM, 24));
    let discord = format!("{}/{}", dice.draw(DIGITS, 18), dice.draw(URL_SAFE, 68));
    let teams =
        format!("{}@{}/IncomingWebhook/{}/{}", dice.uuid(), dice.uuid(), dice.draw(HEX, 32), dice.uuid());
    let of = |kind, host: &str, secret: String| Positive {
        kind,
        text: format!("curl -X POST -d @body.json https://{host}{secret}"),
        secret,
    };
    vec![
        of("slack-webhook", "hooks.slack.com/services/", slack),
        of("discord-webhook", "discord.com/api/webhooks/", discord),
        of("microsoft-webhook", "contoso.webhook.office.com/webhookb2/", teams),
    ]
}

/// Keys in blocks, wrapped in all common ways.
pub(crate) fn blocks(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 13);
    let mut positives = Vec::new();
    let labels = [
        ("RSA PRIV", "ATE KEY", "private-key"),
        ("PRIV", "ATE KEY", "private-key"),
        ("EC PRIV", "ATE KEY", "private-key"),
        ("ENCRYPTED PRIV", "ATE KEY", "private-key"),
        ("OPENSSH PRIV", "ATE KEY", "ssh-private-key"),
        ("DSA PRIV", "ATE KEY", "private-key"),
        ("PGP PRIV", "ATE KEY BLOCK", "pgp-private-key"),
    ];
    for (first, second, kind) in labels {
        let lines: Vec<String> = (0..6).map(|_| dice.draw(BASE64, 64)).collect();
        let block = |parting: &str| {
            let label = format!("{first}{second}");
            let body = lines.join(parting);
            format!("-----BEGIN {label}-----{parting}{body}{parting}-----END {label}-----{parting}")
        };
        let secret = || lines[2].clone();
        positives.push(Positive { kind, text: block("\n"), secret: secret() });
        positives.push(Positive {
            kind,
            text: format!("{{\"key\": \"{}\"}}", block("\\n")),
            secret: secret(),
        });
        positives.push(Positive {
            kind,
            text: format!("tls:\n  key: |\n    {}", block("\n    ")),
            secret: secret(),
        });
    }
    let lines: Vec<String> = (0..4).map(|_| dice.draw(BASE64, 64)).collect();
    let cut = format!("-----BEGIN {}-----\n{}\n", ["RSA PRIV", "ATE KEY"].concat(), lines.join("\n"));
    positives.push(Positive { kind: "private-key", text: cut, secret: lines[3].clone() });
    let putty = format!("Encryption: none\nPrivate-Lines: 4\n{}\nPrivate-MAC: 00", lines.join("\n"));
    positives.push(Positive { kind: "putty-private-key", text: putty, secret: lines[1].clone() });
    let pem = format!("-----BEGIN {}-----\n{}\n", ["EC PRIV", "ATE KEY"].concat(), lines.join("\n"));
    let wrapped = Dice::base64(pem.as_bytes());
    positives.push(Positive {
        kind: "client-key",
        text: format!("    client-key-data: {wrapped}\n"),
        secret: wrapped,
    });
    positives
}
