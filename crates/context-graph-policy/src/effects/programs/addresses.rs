//! Hosts in addresses, and where a request goes besides the host that it names.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::effects::{Origin, Piece, Text};
use crate::programs::Invocation;

/// Whether a host is the machine the command runs on.
pub(crate) fn is_this_machine(host: &Text) -> bool {
    is_loopback(host) || number_of(host).is_some_and(|address| address.is_unspecified())
}

/// Whether only this machine can reach the host, so that a server listening there is not open to others.
pub(crate) fn is_loopback(host: &Text) -> bool {
    number_of(host).is_some_and(|address| address.is_loopback())
        || name_of(host).is_some_and(|name| {
            matches!(name.as_str(), "localhost" | "ip6-localhost") || name.ends_with(".localhost")
        })
}

/// Whether cloud machines get their credentials from this host.
pub(crate) fn is_metadata(host: &Text) -> bool {
    number_of(host).is_some_and(|address| {
        matches!(
            address.to_string().as_str(),
            "169.254.169.254" | "169.254.170.2" | "169.254.170.23" | "fd00:ec2::254"
        )
    }) || name_of(host).is_some_and(|name| name == "metadata.google.internal")
}

/// A host's name as resolvers take it: in lower case, without brackets and without the final dot.
fn name_of(host: &Text) -> Option<String> {
    let name = host.literal()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Some(name.strip_suffix('.').map(str::to_owned).unwrap_or(name))
}

/// The IP address that a host is, in any notation that programs accept: `::ffff:127.0.0.1`, `0x7f.1`, `2130706433`.
pub(crate) fn number_of(host: &Text) -> Option<IpAddr> {
    let name = name_of(host)?;
    if let Ok(address) = name.parse::<Ipv6Addr>() {
        return Some(address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4));
    }
    let parts: Vec<u32> = name.split('.').map(part_of).collect::<Option<_>>()?;
    let (last, bytes) = parts.split_last()?;
    let room = 32_u32.checked_sub(8 * u32::try_from(bytes.len()).ok()?).filter(|room| *room > 0)?;
    let fits = bytes.iter().all(|byte| *byte < 256) && u64::from(*last) < 1 << room;
    let high = || bytes.iter().zip([24, 16, 8]).map(|(byte, shift)| byte << shift).sum::<u32>();
    fits.then(|| IpAddr::V4(Ipv4Addr::from(high() + last)))
}

/// One part of a numeric address: decimal, hexadecimal or octal.
fn part_of(part: &str) -> Option<u32> {
    if let Some(digits) = part.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    let radix = if part.len() > 1 && part.starts_with('0') { 8 } else { 10 };
    u32::from_str_radix(part, radix).ok()
}

/// The host of an address with or without a scheme. Where it is not known for sure, the address itself.
pub(crate) fn host_of(url: &Text) -> Text {
    let scheme = scheme_of(url.prefix());
    let rest = if scheme.is_empty() { url.clone() } else { url.strip_prefix(scheme).unwrap_or_default() };
    known_host(&authority_of(&rest)).map_or_else(|| url.clone(), Text::from)
}

/// The beginning of an address up to its `://`. One that follows a path, a query or a user is part of those.
fn scheme_of(url: &str) -> &str {
    let Some(end) = url.find("://") else { return "" };
    let name = &url[..end];
    // `--proxy` of HTTPie says first what it is for.
    let prefixes = ["http:", "https:", "all:", "jdbc:"];
    let name = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    if name.contains(['/', '?', '#', '@', ':', '\\']) { "" } else { &url[..end + "://".len()] }
}

/// An address without scheme up to the first `/`, `?` or `#`.
fn authority_of(rest: &Text) -> Text {
    let mut authority = Text::default();
    for piece in &rest.0 {
        let Piece::Lit(text) = piece else {
            authority.push(piece.clone());
            continue;
        };
        let end = text.find(['/', '?', '#']);
        authority.push_str(&text[..end.unwrap_or(text.len())]);
        if end.is_some() {
            break;
        }
    }
    authority
}

/// The host between the user and the port. These two may be unknown, as in `https://x:$TOKEN@host:$PORT`.
fn known_host(authority: &Text) -> Option<&str> {
    let is_user = |piece: &Piece| match piece {
        Piece::Lit(_) => true,
        Piece::Hole(origin) => {
            matches!(origin, Origin::Variable | Origin::Credential | Origin::Token(_))
        }
        Piece::Star | Piece::One => false,
    };
    // To browsers a backslash is a slash, to others part of a name.
    if authority.0.iter().any(|piece| matches!(piece, Piece::Lit(text) if text.contains('\\'))) {
        return None;
    }
    let at = authority.0.iter().rposition(|piece| matches!(piece, Piece::Lit(text) if text.contains('@')));
    let (before, rest) = authority.0.split_at(at.unwrap_or(0));
    let (Piece::Lit(text), more) = rest.split_first()? else { return None };
    let (host, port) = host_and_port(text);
    // Without the colon of the port, the unknown rest belongs to the name.
    let is_whole = more.is_empty() || port.is_some();
    (is_whole && before.iter().all(is_user) && (!host.is_empty() || port.is_some())).then_some(host)
}

/// The host and the port in `user@host:port`. An IPv6 address keeps its brackets, if it has any.
pub(crate) fn host_and_port(authority: &str) -> (&str, Option<&str>) {
    let text = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if text.parse::<Ipv6Addr>().is_ok() {
        return (text, None);
    }
    let end = if text.starts_with('[') { text.find(']').map_or(text.len(), |at| at + 1) } else { 0 };
    match text[end..].find(':') {
        Some(at) => (&text[..end + at], Some(&text[end + at + 1..])),
        None => (text, None),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_in_every_spelling() {
        for host in [
            "localhost",
            "LOCALHOST.",
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "2130706433",
            "0177.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(&Text::lit(host)) && is_this_machine(&Text::lit(host)), "{host}");
        }
        for host in ["0.0.0.0", "::", "0"] {
            assert!(!is_loopback(&Text::lit(host)) && is_this_machine(&Text::lit(host)), "{host}");
        }
        for host in [
            "",
            "a.127.0.0.1",
            "255.65535.1.1",
            "255.255.255.4294967295",
            "1.2.3.4.5",
            "127.0.0.256",
            "256.1",
            "localhost.x",
            "4294967296",
            "128.0.0.1",
        ] {
            assert!(!is_this_machine(&Text::lit(host)), "{host}");
        }
        for host in [
            "169.254.169.254",
            "2852039166",
            "[::ffff:169.254.169.254]",
            "0xa9fea9fe",
            "metadata.google.internal.",
        ] {
            assert!(is_metadata(&Text::lit(host)), "{host}");
        }
    }

    #[test]
    fn a_host_is_known_only_where_nothing_can_follow_its_name() {
        let text = |parts: &[&str]| {
            let mut text = Text::default();
            for part in parts {
                text.push(if part.is_empty() {
                    Piece::Hole(Origin::Variable)
                } else {
                    Piece::Lit((*part).into())
                });
            }
            text
        };
        for (parts, host) in [
            (&["http://localhost:", ""][..], "localhost"),
            (&["localhost:3000/items/", ""], "localhost"),
            (&["localhost/", ""], "localhost"),
            (&["https://x:", "", "@github.com/a"], "github.com"),
            (&["http://[::1]:", "", "/"], "[::1]"),
            (&["http://a@b:1/x@y"], "b"),
            (&["::1"], "::1"),
            (&["http:http://localhost:1"], "localhost"),
            (&["b.example/?u=http://localhost/"], "b.example"),
        ] {
            assert_eq!(host_of(&text(parts)).literal(), Some(host), "{parts:?}");
        }
        for parts in [
            &["http://localhost", "", "/"][..],
            &["http://localhost:", "", "@evil.example/"],
            &["localhost", ""],
            &["http://", "", ":1/"],
            &["", "/x"],
            &["", ".localhost/x"],
            &["http://localhost\\@evil.example/"],
        ] {
            let host = host_of(&text(parts));
            assert!(host.literal() != Some("localhost") && !is_this_machine(&host), "{parts:?}");
        }
        assert_eq!(
            host_of(&text(&["http://localhost:", "", "@evil.example/"])).literal(),
            Some("evil.example")
        );
    }
}
