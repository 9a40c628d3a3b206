//! Whether code prints environment variables.

use context_graph_secrets::names_credential;

/// Calls that print.
const SHOWS: &[&str] = &[
    "print(",
    "console.log",
    "puts ",
    "print ",
    "echo ",
    "puts(",
    "say ",
    "print_r(",
    "var_dump(",
    "var_export(",
    "sys.getenv()",
    "stdout.write(",
    "cat(",
];

/// Whether a statement prints something.
fn prints(low: &str) -> bool {
    // `p x` prints in ruby; `p = x` is an assignment in any language.
    let ruby = ["p ", "pp ", "p(", "pp("]
        .iter()
        .filter_map(|word| low.trim_start().strip_prefix(word))
        .any(|rest| !rest.trim_start().starts_with('='));
    ruby || SHOWS.iter().any(|word| low.contains(word))
}

/// Whether a statement loads a settings file and prints it.
pub(super) fn shows_settings_file(statement: &str, low: &str) -> bool {
    let text = statement.to_ascii_lowercase();
    text.contains("dotenv")
        && prints(low)
        && [".config(", ".load", ".parse(", ".parsed"].iter().any(|word| low.contains(word))
}

/// Whether code prints a setting that is named like a credential: `print(settings.SECRET_KEY)`.
pub(super) fn shows_setting(statement: &str, low: &str) -> bool {
    if !prints(low) {
        return false;
    }
    let calls = [
        "get_password(",
        "get_credentials(",
        ".application.credentials",
        ".application.secrets",
        "secret_key_base",
    ];
    if calls.iter().any(|call| low.contains(call)) {
        return true;
    }
    statement.match_indices('.').any(|(at, _)| {
        let name: String = statement[at + 1..]
            .chars()
            .take_while(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_')
            .collect();
        let before = statement[..at].chars().next_back();
        before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ')')
            && [
                "SECRET_KEY",
                "PASSWORD",
                "API_KEY",
                "API_TOKEN",
                "ACCESS_TOKEN",
                "AUTH_TOKEN",
                "BOT_TOKEN",
                "REFRESH_TOKEN",
                "_SECRET",
                "PRIVATE_KEY",
                "DATABASE_URL",
            ]
            .iter()
            .any(|end| name.ends_with(end))
    })
}

/// Whether a statement prints a credential from the environment, or the whole environment. `low` is the
/// statement without its strings.
pub(super) fn shows_environment(statement: &str, low: &str, operands: &[String]) -> bool {
    let any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    if !prints(low) {
        return false;
    }
    if shows_all_of_env(statement, low, operands) {
        return true;
    }
    if !any(
        low,
        &["environ", "process.env", "env[", "getenv", "$env{", "env.fetch", "deno.env", "$_env", "$_server"],
    ) {
        return false;
    }
    // Names are not secret, and neither is the fact that a variable is set.
    if any(low, &["' in os.environ", "\" in os.environ", "' in process.env", "\" in process.env"]) {
        return false;
    }
    let values = low.replace("keys(process.env)", "").replace("len(os.environ)", "");
    let values = if low.contains("environ[") { values } else { values.replace("k in os.environ)", "") };
    let whole = any(
        &values,
        &[
            "environ)",
            "process.env)",
            "environ.items",
            "environ.copy",
            "entries(process.env",
            "dict(os.environ",
            "getenv())",
            "sys.getenv()",
            "$_env)",
            "$_server)",
            "env.toobject()",
        ],
    );
    let keyed = low.split("$env{").skip(1).any(|rest| {
        names_credential(&rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
    });
    let member = low.split("process.env.").skip(1).any(|rest| {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        names_credential(&name)
    });
    whole || member || keyed || operands.iter().any(|text| names_credential(text))
}

/// Whether code loops over all variables and prints each with its value. `bare` is the code in lower case,
/// without its strings. A loop with a condition does not count: it is unknown which variables it prints.
pub(super) fn shows_each_variable(bare: &str) -> bool {
    let any = |words: &[&str]| words.iter().any(|word| bare.contains(word));
    let pairs = any(&["environ.items())", "environ.items():", "of object.entries(process.env)"]);
    let names = any(&["in os.environ:", "in environ:", "in sorted(os.environ):", " in process.env)"]);
    let looked_up = any(&["environ[", "process.env[", "environ.get(", "getenv("]);
    bare.contains("for ")
        && (pairs || names && looked_up)
        && prints(bare)
        && !any(&["if ", "if(", "continue", "startswith"])
}

/// The whole `ENV` of ruby and perl, with its values.
fn shows_all_of_env(statement: &str, low: &str, operands: &[String]) -> bool {
    const WHOLE: &[&str] =
        &["%ENV", "ENV.to_h", "ENV.to_a", "ENV.inspect", "ENV.each", "ENV.map", "ENV.values"];
    let named = |word: &&&str| statement.contains(**word) && low.contains(&word.to_ascii_lowercase());
    let looked_up = operands.iter().any(|text| text.contains("$ENV{$")) || low.contains("$env{$");
    let names_only = low.contains("keys %env") && !looked_up;
    matches!(statement.trim(), "p ENV" | "pp ENV" | "p(ENV)" | "pp(ENV)")
        || (!names_only && WHOLE.iter().any(|word| named(&word)))
}

/// `from os import environ as e; print(e)`. `bare` is the whole code without its strings, `low` the statement.
pub(super) fn shows_renamed_environment(bare: &str, low: &str) -> bool {
    bare.split("import environ as ")
        .nth(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
        .is_some_and(|name| low.contains(&format!("print({name})")))
}
