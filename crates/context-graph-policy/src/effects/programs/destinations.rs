//! Which addresses a program requests, and where a request goes besides the host that it names.

use std::collections::{HashMap, HashSet};

use super::addresses::host_of;
use crate::effects::Text;
use crate::programs::Invocation;

/// Programs that send requests.
const REQUESTERS: &[&str] = &["curl", "wget", "aria2c", "lynx", "w3m"];

/// Variables that say where requests go and who can read them.
pub(super) const WATCHED: &[&str] =
    &["*_proxy", "*_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"];

/// Options with a proxy.
const PROXIES: &[&str] = &[
    "--proxy",
    "--preproxy",
    "--proxy1.0",
    "--socks4",
    "--socks4a",
    "--socks5",
    "--socks5-hostname",
    "--all-proxy",
    "--http-proxy",
    "--https-proxy",
];

/// Whether the program sends requests to the addresses that it is given.
pub(super) fn is_requester(name: &str) -> bool {
    REQUESTERS.contains(&name) || is_httpie(name)
}

/// Whether the program takes `[METHOD] ADDRESS [ITEM…]`.
pub(crate) fn is_httpie(name: &str) -> bool {
    matches!(name, "http" | "https" | "xh" | "httpie")
}

/// The items of a request by `HTTPie`, which follow its address.
pub(super) fn items_of<'c>(call: &'c Invocation<'_>) -> &'c [&'c Text] {
    call.operands().get(place_of_address(call) + 1..).unwrap_or_default()
}

/// The position of `HTTPie`'s address among the operands. Before the address there can be a method: the program
/// accepts any word of letters as one.
fn place_of_address(call: &Invocation<'_>) -> usize {
    let is_method = |word: &Text| {
        word.literal().is_some_and(|word| !word.is_empty() && word.bytes().all(|c| c.is_ascii_alphabetic()))
            || word.is_blank() && call.operands().get(1).is_some_and(|next| next.prefix().contains("://"))
    };
    usize::from(call.operands().len() > 1 && call.operands().first().is_some_and(|word| is_method(word)))
}

/// The addresses that a program requests.
pub(super) fn urls(call: &Invocation<'_>) -> Vec<Text> {
    if !is_httpie(&call.run.name) {
        return call.operands().iter().copied().chain(call.values("--url")).cloned().collect();
    }
    call.operands().get(place_of_address(call)).map(|url| written_out(url)).into_iter().collect()
}

/// An address as `HTTPie` reads it: it puts `localhost` before `:3000/x`, `:/x` and also `:.example.com`.
fn written_out(url: &Text) -> Text {
    let Some(rest) = url.strip_prefix(":").filter(|rest| !rest.prefix().starts_with(':')) else {
        return url.clone();
    };
    let has_port = rest.prefix().is_empty() || rest.prefix().starts_with(|c: char| c.is_ascii_digit());
    let mut whole = Text::lit(if has_port { "localhost:" } else { "localhost" });
    whole.extend(&rest);
    whole
}

/// The hosts that a request really goes to: those of its addresses, and its detours.
pub(crate) fn reached_by(call: &Invocation<'_>) -> Vec<Text> {
    let urls: Vec<(Text, ())> = urls(call).into_iter().map(|url| (url, ())).collect();
    reached(call, &urls, |_| true).into_iter().map(|(host, ())| host).collect()
}

/// The hosts that requests for some addresses reach, each once: their own, the proxies that see them, and those of
/// [`rerouted`]. With each comes the most that is carried there. A call can have many addresses and many proxies, so they
/// are not multiplied.
pub(super) fn reached<K: Copy + Ord>(
    call: &Invocation<'_>,
    urls: &[(Text, K)],
    proxies_see: impl Fn(&Text) -> bool,
) -> Vec<(Text, K)> {
    let straight = going_straight(call);
    let is_seen =
        |url: &Text| proxies_see(url) && !straight.contains("*") && !straight.contains(host_of(url).known());
    let by_all = urls.iter().map(|(_, carried)| *carried).max();
    let by_seen = urls.iter().filter(|(url, _)| is_seen(url)).map(|(_, carried)| *carried).max();
    let rerouted = rerouted(call).into_iter().map(|host| (host, by_all));
    let proxies = proxies(call).into_iter().map(|host| (host, by_seen));
    let detours = rerouted.chain(proxies).filter(|(host, _)| !host.is_empty());
    let own = urls.iter().map(|(url, carried)| (host_of(url), Some(*carried)));
    let mut out: Vec<(Text, K)> = Vec::new();
    let mut places: HashMap<Text, usize> = HashMap::new();
    for (host, carried) in detours.chain(own) {
        let Some(carried) = carried else { continue };
        let at = *places.entry(host.clone()).or_insert(out.len());
        match out.get_mut(at) {
            Some((_, most)) => *most = carried.max(*most),
            None => out.push((host, carried)),
        }
    }
    out
}

/// Options that let another machine pose as the server, or that name certificate authorities to trust instead of the
/// usual ones.
const TRUSTING: &[&str] = &[
    "--insecure",
    "--cacert",
    "--capath",
    "--no-check-certificate",
    "--check-certificate",
    "--ca-certificate",
    "--ca-directory",
    "--verify",
];

/// The hosts that can read the headers of a request. A proxy cannot if they are encrypted. Empty for a program that
/// sends none.
pub(crate) fn readers_of(call: &Invocation<'_>) -> Vec<Text> {
    if !is_requester(&call.run.name) {
        return Vec::new();
    }
    let by_setting = settings_of_wget(call)
        .any(|(name, _)| matches!(name.as_str(), "checkcertificate" | "cacertificate" | "cadirectory"));
    let trusts = by_setting
        || call.has_any(TRUSTING)
        || call.run.assigns.iter().any(|(name, _)| WATCHED.contains(&name.as_str()));
    let is_sealed = |url: &Text| url.prefix().starts_with("https://") && !trusts;
    let urls: Vec<(Text, ())> = urls(call).into_iter().map(|url| (url, ())).collect();
    reached(call, &urls, |url| !is_sealed(url)).into_iter().map(|(host, ())| host).collect()
}

/// The hosts that `--connect-to` and `--resolve` of `curl` name: `host:port:host:port`, `host:port:address,address`.
fn rerouted(call: &Invocation<'_>) -> Vec<Text> {
    // `xh` leaves the port out.
    let parts = if is_httpie(&call.run.name) { 2 } else { 3 };
    let last = |value: &Text| match value.literal() {
        Some(text) => {
            // The colons in brackets belong to an address.
            let end = text.starts_with('[').then(|| text.find(']')).flatten().unwrap_or(0);
            Text::from(text[end..].splitn(parts, ':').nth(parts - 1).unwrap_or(""))
        }
        None => value.clone(),
    };
    let mut hosts: Vec<Text> = call
        .values("--connect-to")
        .map(|value| host_of(&last(value)))
        .filter(|host| !host.is_empty())
        .collect();
    for value in call.values("--resolve").map(last) {
        match value.literal() {
            Some(listed) => hosts.extend(listed.split(',').filter(|one| !one.is_empty()).map(Text::from)),
            None => hosts.push(value),
        }
    }
    hosts
}

/// The hosts to which requests bypass the proxies. `*` stands for all.
fn going_straight<'c>(call: &'c Invocation<'_>) -> HashSet<&'c str> {
    // Each part between `--next` has its own options.
    if call.has("--next") {
        return HashSet::new();
    }
    // The last list counts, and an option takes precedence over the variables.
    let set = |wanted: &str| call.run.assigns.iter().rev().find(|(name, _)| name == wanted);
    let variable = || set("no_proxy").or_else(|| set("NO_PROXY")).map(|(_, value)| value);
    let list = call.value("--noproxy").or_else(variable).map_or("", Text::known);
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The hosts of the proxies that options, variables and settings name.
fn proxies(call: &Invocation<'_>) -> Vec<Text> {
    let by_option = PROXIES.iter().flat_map(|option| call.values(option)).map(host_of);
    let is_proxy = |name: &str| name.to_ascii_lowercase().ends_with("_proxy");
    let variables = call.run.assigns.iter().filter(|(name, _)| is_proxy(name));
    let variables = variables.filter(|(name, _)| !name.eq_ignore_ascii_case("no_proxy"));
    let settings = settings_of_wget(call)
        .filter(|(name, _)| name.ends_with("proxy") && !matches!(name.as_str(), "noproxy" | "useproxy"));
    by_option
        .chain(variables.map(|(_, value)| host_of(value)))
        .chain(settings.map(|(_, value)| host_of(&value)))
        .collect()
}

/// The settings that `wget -e name=value` makes. `wget` leaves out their hyphens and underscores, and takes any case.
fn settings_of_wget(call: &Invocation<'_>) -> impl Iterator<Item = (String, Text)> {
    call.values("--execute").filter_map(|line| line.split_once('=')).map(|(name, value)| {
        let name = name.known().replace(['-', '_', ' '], "").to_ascii_lowercase();
        (name, value.literal().map_or_else(|| value.clone(), |value| Text::from(value.trim())))
    })
}
