//! The words that names of secrets consist of.

/// Suffixes that say where or how the value is kept: `API_KEY_PROD`, `secret_base64`. Sorted.
#[rustfmt::skip]
pub(super) const SUFFIXES: &[&str] = &[
    "b64", "backup", "base", "base64", "data", "default", "dev", "development", "hex", "live", "local",
    "main", "new", "old", "override", "plain", "plaintext", "primary", "prod", "production", "raw",
    "secondary", "staging", "string", "test", "v1", "v2", "value",
];

/// Words for a password. Sorted.
#[rustfmt::skip]
pub(super) const PASSWORDS: &[&str] = &[
    "adminpassword", "dbpass", "dbpassword", "keypass", "mnemonic", "motdepasse", "passcode", "passphrase",
    "passwd", "password", "passwords", "passwort", "pgpassword", "pwd", "requirepass", "rootpassword", "sshpass",
    "storepass", "userpass", "userpassword",
];

/// Words for a secret. Sorted.
#[rustfmt::skip]
pub(super) const SECRETS: &[&str] = &[
    "apisecret", "appsecret", "clientsecret", "jwtsecret", "secret", "secretbase", "secrets",
];

/// Words for a token. Sorted.
#[rustfmt::skip]
pub(super) const TOKENS: &[&str] = &[
    "accesstoken", "apitoken", "authtoken", "bottoken", "idtoken", "jwt", "pat", "refreshtoken",
    "sessiontoken", "token", "tokens",
];

/// Words for a key that gives access. Sorted.
#[rustfmt::skip]
pub(super) const KEYS: &[&str] = &[
    "accesskey", "accountkey", "apikey", "apikeys", "appkey", "authkey", "encryptionkey", "licensekey",
    "masterkey", "privatekey", "secretkey", "servicekey", "sharedaccesskey", "signingkey",
    "subscriptionkey",
];

/// Words before `token` that make it a position in a text, a list or a page. Sorted.
#[rustfmt::skip]
pub(super) const MARKING: &[&str] = &[
    "bos", "cancel", "cancellation", "color", "completion", "continuation", "count", "css", "design", "end",
    "eos", "first", "input", "keyword", "lex", "lexer", "mask", "max", "min", "next", "num", "output",
    "pad", "page", "parse", "parser", "peek", "prev", "previous", "prompt", "resume", "second", "sep",
    "special", "start", "stop", "sub", "sync", "theme", "total", "unk",
];

/// Words before `key` that make it a lookup key: most keys give no access. Sorted.
#[rustfmt::skip]
pub(super) const FINDING: &[&str] = &[
    "a", "answer", "any", "arrow", "bucket", "by", "cache", "column", "composite", "config", "data",
    "dedup", "dedupe", "dict", "each", "enter", "entry", "escape", "event", "feature", "field", "file",
    "filter", "foreign", "get", "gpg", "group", "has", "hash", "host", "hot", "i18n", "idempotency",
    "index", "issue", "item", "json", "known", "label", "left", "lock", "lookup", "map", "memo", "merge",
    "message", "metric", "name", "natural", "new", "node", "object", "of", "old", "partition", "path",
    "per", "primary", "project", "prop", "pub", "public", "publishable", "query", "range", "react",
    "receive", "recv", "registry", "right", "routing", "row", "same", "schema", "search", "session", "set",
    "setting", "settings", "shard", "shortcut", "sort", "sorting", "state", "storage", "store", "surrogate",
    "tab", "tenant", "the", "trace", "translation", "trusted", "unique", "xml", "yaml",
];

/// Whether the word is one of these.
pub(super) fn one_of(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        for words in [SUFFIXES, PASSWORDS, SECRETS, TOKENS, KEYS, MARKING, FINDING] {
            assert!(words.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
