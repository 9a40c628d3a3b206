//! Hosts in addresses, and where a request goes besides the host that it names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::effects::Text;
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

/// A host's name as resolvers take it: in lower case, without brackets and without the dot of the root.
fn name_of(host: &Text) -> Option<String> {
    let name = host.literal()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Some(name.strip_suffix('.').map(str::to_owned).unwrap_or(name))
}

/// The address that a host is, in any spelling that programs take: `::ffff:127.0.0.1`, `0x7f.1`, `2130706433`.
fn number_of(host: &Text) -> Option<IpAddr> {
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

/// The host of an address with or without a scheme.
pub(crate) fn host_of(url: &Text) -> Text {
    let Some(text) = url.literal().or_else(|| Some(url.prefix()).filter(|prefix| prefix.contains("://")))
    else {
        return url.clone();
    };
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or("");
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if rest.is_empty() {
        return url.clone();
    }
    let end = if rest.starts_with('[') { rest.find(']').map_or(rest.len(), |at| at + 1) } else { 0 };
    let port = rest[end..].find(':').map_or(rest.len(), |at| end + at);
    Text::from(&rest[..port])
}

/// Programs that send requests.
const REQUESTERS: &[&str] = &["curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "httpie"];

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
    REQUESTERS.contains(&name)
}

fn urls<'c>(call: &'c Invocation<'_>) -> impl Iterator<Item = &'c Text> {
    call.operands().iter().copied().chain(call.values("--url"))
}

/// The hosts that a request really goes to: those of its addresses, and [`detours`].
pub(crate) fn reached_by(call: &Invocation<'_>) -> Vec<Text> {
    urls(call).flat_map(|url| detours(call, url).into_iter().chain([host_of(url)])).collect()
}

/// The hosts that can read the headers of a request. A proxy cannot if they are encrypted. Empty for a program that
/// sends none.
pub(crate) fn readers_of(call: &Invocation<'_>) -> Vec<Text> {
    if !is_requester(&call.run.name) {
        return Vec::new();
    }
    let is_sealed = |url: &Text| url.prefix().starts_with("https://") && !call.has("--insecure");
    let besides = |url: &Text| if is_sealed(url) { rerouted(call) } else { detours(call, url) };
    urls(call).flat_map(|url| besides(url).into_iter().chain([host_of(url)])).collect()
}

/// The hosts that a request for this address also goes to, or goes to instead: proxies, and those of [`rerouted`].
pub(super) fn detours(call: &Invocation<'_>, url: &Text) -> Vec<Text> {
    let mut hosts = rerouted(call);
    if !goes_straight(call, &host_of(url)) {
        hosts.extend(PROXIES.iter().flat_map(|option| call.values(option)).map(host_of));
        hosts.extend(proxy_variables(call).map(|(_, value)| host_of(&value)));
    }
    hosts.retain(|host| !host.is_empty());
    hosts
}

/// The hosts that `--connect-to` and `--resolve` of `curl` name: `host:port:host:port`, `host:port:address,address`.
fn rerouted(call: &Invocation<'_>) -> Vec<Text> {
    let third = |value: &Text| match value.literal() {
        Some(text) => Text::from(text.splitn(3, ':').nth(2).unwrap_or("")),
        None => value.clone(),
    };
    let mut hosts: Vec<Text> = call
        .values("--connect-to")
        .map(|value| host_of(&third(value)))
        .filter(|host| !host.is_empty())
        .collect();
    for value in call.values("--resolve").map(third) {
        match value.literal() {
            Some(listed) => hosts.extend(listed.split(',').filter(|one| !one.is_empty()).map(Text::from)),
            None => hosts.push(value),
        }
    }
    hosts
}

/// Whether the proxies are not for this host.
fn goes_straight(call: &Invocation<'_>, host: &Text) -> bool {
    let set = call.run.assigns.iter().filter(|(name, _)| name.eq_ignore_ascii_case("no_proxy"));
    let mut listed = call.values("--noproxy").chain(set.map(|(_, value)| value));
    let fits = |name: &str| name == "*" || !name.is_empty() && host.literal() == Some(name);
    listed.any(|value| value.known().split(',').any(|name| fits(name.trim())))
}

/// The variables with a proxy that are set for a program, also those that `wget -e` sets.
fn proxy_variables(call: &Invocation<'_>) -> impl Iterator<Item = (String, Text)> {
    let given = call.values("--execute").filter_map(|line| line.split_once('='));
    let given = given.map(|(name, value)| (name.known().trim().to_owned(), Text::from(value.known().trim())));
    let all = call.run.assigns.iter().cloned().chain(given);
    all.filter(|(name, value)| {
        let name = name.to_ascii_lowercase();
        !value.is_empty() && name.ends_with("_proxy") && !matches!(name.as_str(), "no_proxy" | "use_proxy")
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
        for host in
            ["", "a.127.0.0.1", "1.2.3.4.5", "127.0.0.256", "256.1", "localhost.x", "4294967296", "128.0.0.1"]
        {
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
}
