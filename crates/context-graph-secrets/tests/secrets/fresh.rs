//! A second corpus, written after the rules and without looking at them. The documentation's figures include
//! it. Each line is a separate kind.

use super::{ALNUM, BASE64, CAPITAL, Dice, HEX, Positive, SMALL, URL_SAFE};

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SIGNS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!@#%^*-_+";

/// How a secret is generated.
#[derive(Clone, Copy)]
enum Draw {
    /// A prefix in two halves, an alphabet, a length.
    Of(&'static str, &'static str, &'static str, usize),
    Uuid,
    /// Words from a list, with spaces.
    Phrase(usize),
    /// Fixed text, in two halves.
    Fixed(&'static str, &'static str),
}

use Draw::{Fixed, Of, Phrase, Uuid};

/// A text with `§` in place of the secret, and how the secret is generated.
#[rustfmt::skip]
const FRESH: &[(&str, Draw)] = &[
    // Vendors' tokens by format, each in a typical context.
    ("src.accessToken=§", Of("sg", "p_", HEX, 40)),
    ("SRC_ACCESS_TOKEN: sgp_local placeholder\nreal one: §", Of("sgp_", "fd4edb60bf82218d_", HEX, 40)),
    ("npx apify login -t §", Of("apify_", "api_", ALNUM, 36)),
    ("curl -H 'Authorization: Bearer §' https://bitbucket.corp/rest", Of("BB", "DC-", BASE64, 44)),
    ("const stripe = require('stripe')('§')", Of("sk_", "prod_", ALNUM, 24)),
    ("+  hubspot = Hubspot(\"§\")", Of("pat-", "na1-", "0123456789abcdef", 0)),
    ("DATABRICKS_HOST=x dbx run § now", Of("da", "pi", HEX, 32)),
    ("LaunchDarkly client for §", Of("sd", "k-", HEX, 0)),
    ("wakatime --key §", Of("wa", "ka_", HEX, 0)),
    ("doppler run --token §", Of("dp.", "ct.", ALNUM, 43)),
    ("posthog capture with § key", Of("ph", "x_", ALNUM, 43)),
    ("ddog { apikey §", Of("", "", HEX, 32)),
    ("the bot says §", Of("xo", "xb-283316862324-298911817009-", ALNUM, 24)),
    ("Authorization: SSWS §", Of("00", "", URL_SAFE, 40)),
    ("{\"dropbox\": \"§\"}", Of("sl", ".", URL_SAFE, 138)),
    ("EASYPOST=§", Of("EZ", "AK", ALNUM, 54)),
    ("planetscale password §", Of("pscale_", "pw_", URL_SAFE, 43)),
    ("shippo.config.api_key = \"§\"", Of("shippo_", "live_", HEX, 40)),
    ("typeform: §", Of("tf", "p_", ALNUM, 44)),
    ("readme.com/§", Of("rd", "me_", SMALL, 70)),
    ("square §", Of("sq0", "atp-", URL_SAFE, 22)),
    ("| Sentry | § |", Of("sntry", "u_", HEX, 64)),
    ("infisical login --token=§", Of("", "st.", ALNUM, 90)),
    ("fly deploy -t '§'", Of("fm", "2_", BASE64, 200)),
    ("OPENAI=\"§\"", Of("sk-", "proj-", URL_SAFE, 150)),
    ("model = ChatGroq(api_key='§')", Of("gs", "k_", ALNUM, 52)),
    ("terraform { token = \"§\" }", Of("abcDEF12345678", ".atlasv1.", ALNUM, 67)),
    ("k8s token §", Of("ey", "JhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.", URL_SAFE, 86)),
    ("flutterwave §", Of("FLWSECK_TEST-", "", HEX, 32)),
    ("shop=x&hmac=y&token=§", Of("shp", "at_", HEX, 32)),
    ("AWS says §", Of("AS", "IA", CAPITAL, 16)),
    ("pip config set global.index-url https://__token__:§@pypi.corp/simple", Of("pypi-", "AgEIcHlwaS5vcmc", URL_SAFE, 120)),
    ("alias gl='glab auth --token §'", Of("gl", "pat-", URL_SAFE, 20)),
    ("onesignal: §", Of("os_v2_", "app_", SMALL, 103)),
    ("langfuse secret §", Of("sk-", "lf-", HEX, 0)),
    ("composer config http-basic.repo token §", Of("", "", HEX, 40)),
    ("buildkite §", Of("bk", "ua_", HEX, 40)),
    ("notion §", Of("nt", "n_", ALNUM, 46)),
    // Webhooks, with and without a scheme.
    ("post to hooks.slack.com/services/§", Fixed("T0A1B2C3D/B4E5F6G7H/", "k9Qw2ErT5yUi8oPa1sDf4gHj")),
    ("discord.com/api/webhooks/§", Fixed("104938475610293847/", "x7Kq2mWv9TzR4bYc6NpLs1DfGh3JkQw8ErTy5UiOp0AsZxCvBnM_qWeRt-yU12345abc")),
    ("url: https://hooks.zapier.com/hooks/catch/§", Fixed("8273645/", "b7x2k9q")),
    ("https://open.feishu.cn/open-apis/bot/v2/hook/§", Uuid),
    // Names in several programming languages.
    ("string mailjetToken = \"§\";", Of("", "", HEX, 32)),
    ("var finnhubToken string = \"§\"", Of("", "", SMALL, 20)),
    ("clearbitToken := `§`", Of("", "", URL_SAFE, 35)),
    ("String squarespaceToken = \"§\";", Uuid),
    ("$travisciToken .= \"§\"", Of("", "", ALNUM, 22)),
    ("YANDEX_TOKEN ::= \"§\"", Of("", "", ALNUM, 40)),
    ("GITTER_TOKEN ?= \"§\"", Of("", "", HEX, 40)),
    ("COINBASE_TOKEN += §", Of("", "", ALNUM, 64)),
    ("bittrexToken = '''§'''", Of("", "", HEX, 32)),
    ("krakenToken = \"\"\"§\"\"\"", Of("", "", BASE64, 86)),
    ("  \"flickrToken\" => \"§\"", Of("", "", HEX, 32)),
    ("<nytimesToken>\n    §\n</nytimesToken>", Of("", "", ALNUM, 32)),
    ("nytimes_token: |\n  §", Of("", "", ALNUM, 32)),
    ("zendesk_token: >-\n  §\nother: x", Of("", "", ALNUM, 40)),
    ("freshbooks_token:\n  \"§\"", Of("", "", HEX, 64)),
    ("token <- \"§\"", Of("", "", HEX, 40)),
    ("client.setApiKey(\"§\");", Of("", "", ALNUM, 30)),
    ("headers.put(\"X-Auth-Token\", \"§\");", Of("", "", ALNUM, 32)),
    ("os.environ.setdefault(\"SERVICE_TOKEN\", \"§\")", Of("", "", LETTERS, 32)),
    ("req.Header.Set(\"Authorization\", \"Bearer §\")", Of("", "", ALNUM, 40)),
    ("System.setProperty('db.password', '§')", Of("", "", SIGNS, 14)),
    ("new Map([[\"API_SECRET\", \"§\"]])", Of("", "", HEX, 48)),
    ("conf.set(\"spark.hadoop.fs.s3a.secret.key\", \"§\")", Of("", "", BASE64, 40)),
    ("{'name': 'slack_token', 'value': '§'}", Of("", "", ALNUM, 30)),
    ("SNYK_TOKEN=§", Uuid),
    ("heroku_api_key: §", Uuid),
    ("client-secret: §", Uuid),
    ("export INFLUX_TOKEN=\"§\"", Of("", "", URL_SAFE, 86)),
    ("api_secret = '§'", Of("", "", LOWER, 32)),
    ("consumerSecret: \"§\"", Of("", "", LETTERS, 40)),
    ("ALGOLIA_ADMIN_KEY=§", Of("", "", HEX, 32)),
    ("https://maps.googleapis.com/maps/api/js?key=§&callback=init", Of("", "", ALNUM, 32)),
    ("https://api.nasa.test/planetary?api_key=§", Of("", "", ALNUM, 40)),
    ("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=§", Of("", "", BASE64, 43)),
    ("AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=§;", Of("", "", BASE64, 86)),
    ("Key=§", Of("", "", ALNUM, 40)),
    // Passwords and phrases.
    ("passphrase: §\nport: 22", Phrase(5)),
    ("wifi password: §", Phrase(4)),
    ("{\"mnemonic\": \"§\"}", Phrase(12)),
    ("password = \"§\"", Of("", "", SIGNS, 16)),
    ("spring.mail.password=§", Of("", "", SIGNS, 12)),
    ("ANSIBLE_BECOME_PASS=§", Of("", "", ALNUM, 12)),
    ("ansible_ssh_pass: §", Of("", "", ALNUM, 14)),
    ("<password>§</password>", Of("", "", ALNUM, 12)),
    ("  storePassword \"§\"", Of("", "", ALNUM, 14)),
    ("psql \"host=db user=app password=§ dbname=shop\"", Of("", "", ALNUM, 16)),
    ("mysql://root:§@127.0.0.1:3306/app", Of("", "", ALNUM, 10)),
    ("net use z: \\\\srv\\share /user:me /password:§", Of("", "", ALNUM, 12)),
    ("smtp:\n  user: me\n  pass: \"§\"", Of("", "", ALNUM, 14)),
    ("ALTER ROLE app WITH LOGIN PASSWORD '§';", Of("", "", ALNUM, 14)),
    ("requirepass §", Of("", "", ALNUM, 32)),
    ("GRAFANA_ADMIN_PWD='§'", Of("", "", ALNUM, 10)),
    // Keys.
    ("-----BEGIN PRIV\u{41}TE KEY-----\n§\n-----END PRIV\u{41}TE KEY-----", Of("", "", BASE64, 40)),
    ("-----BEGIN EC PRIV\u{41}TE KEY-----\n§\n-----END EC PRIV\u{41}TE KEY-----", Of("", "", ALNUM, 20)),
    ("\"private_key\": \"-----BEGIN PRIV\u{41}TE KEY-----\\n§\\n-----END PRIV\u{41}TE KEY-----\\n\"", Of("MII", "EvQ", BASE64, 200)),
    ("[Interface]\nPrivateKey = §\nAddress = 10.0.0.2/24", Of("", "", BASE64, 43)),
    ("age1 secret: §", Of("AGE-SECRET-", "KEY-1", "023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58)),
    ("ENCRYPTION_KEY=base64:§", Of("", "", BASE64, 43)),
    ("RAILS_MASTER_KEY=§", Of("", "", HEX, 32)),
    ("SECRET_KEY_BASE: §", Of("", "", HEX, 128)),
    ("APP_KEY=base64:§=", Of("", "", BASE64, 43)),
    ("totp_secret = \"§\"", Of("", "", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32)),
    ("Cookie: sessionid=§; csrftoken=x", Of("", "", SMALL, 32)),
    ("x-api-key:§", Of("", "", ALNUM, 40)),
    ("--header 'apikey: §'", Of("", "", ALNUM, 36)),
    ("curl -u 'me@corp.test:§' https://jira.corp", Of("", "", ALNUM, 24)),
    ("aws configure set aws_session_token §", Of("FwoGZX", "IvYXdz", BASE64, 300)),
    ("azure devops pat §", Of("", "", "abcdefghijklmnopqrstuvwxyz234567", 52)),
    ("telegram_bot: '§'", Fixed("5829304716:AAF", "k3Lm9QxZ7vB2nW5tY8rE1uI4oP6aS0dG9hJ")),
];

const WORDS: &[&str] = &[
    "crystal", "magnet", "river", "candle", "ladder", "orbit", "pepper", "violin", "canyon", "harbor",
    "meadow", "tunnel", "walnut", "zebra", "copper", "falcon", "ginger", "jungle", "kettle", "lantern",
];

/// The texts, with secrets generated from this seed.
pub(crate) fn texts(seed: u64) -> Vec<Positive> {
    let mut dice = Dice::new(seed + 41);
    let positive = |(text, draw): &(&str, Draw)| {
        let secret = match *draw {
            // Only the UUID is random.
            Of(first, second, _, 0) => format!("{first}{second}{}", dice.uuid()),
            Of(first, second, alphabet, length) => format!("{first}{second}{}", dice.draw(alphabet, length)),
            Uuid => dice.uuid(),
            Phrase(words) => {
                let word = |_| WORDS[dice.next() as usize % WORDS.len()];
                (0..words).map(word).collect::<Vec<_>>().join(" ")
            }
            Fixed(first, second) => format!("{first}{second}"),
        };
        Positive { kind: "", text: text.replace('§', &secret), secret }
    };
    FRESH.iter().map(positive).collect()
}

/// How many kinds there are.
pub(crate) fn kinds() -> usize {
    FRESH.len()
}
