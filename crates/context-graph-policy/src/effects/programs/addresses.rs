//! Hosts in addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::effects::{Origin, Piece, Text};

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
