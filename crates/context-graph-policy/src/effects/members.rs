//! The names of an archive's members: `tar`, gzipped or not, `cpio` and `zip`. Only names are read.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// How many bytes of an archive are read.
pub(crate) const MAX_ARCHIVE: usize = 4 * 1024 * 1024;
/// How large a compressed archive may become.
const MAX_UNPACKED: usize = 32 * 1024 * 1024;
/// How many names are read.
const MAX_MEMBERS: usize = 50_000;
/// The block size of `tar`.
const BLOCK: usize = 512;

/// What an archive says it contains.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    /// Names of files and folders, and the targets of links among them.
    pub(crate) names: Vec<String>,
    /// Whether the list is complete.
    pub(crate) whole: bool,
}

/// The names in an archive; `None` if its format is unknown.
pub(crate) fn members(bytes: &[u8]) -> Option<Members> {
    let cut = bytes.len() > MAX_ARCHIVE;
    let mut found = match bytes {
        [0x1f, 0x8b, 8, ..] => of_tar(&unpacked(bytes)?)?,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => of_zip(bytes),
        [b'0', b'7', b'0', b'7', b'0', b'1' | b'2', ..] => of_cpio(bytes),
        _ => of_tar(bytes)?,
    };
    found.whole &= !cut;
    Some(found)
}

/// The content of `gzip` data; `None` if it is something else.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let packed =
        Some(bytes).filter(|bytes| bytes.starts_with(&[0x1f, 0x8b, 8])).and_then(behind_gzip_header)?;
    // Keeps what was decompressed before an error.
    Some(decompress_to_vec_with_limit(packed, MAX_UNPACKED).unwrap_or_else(|broken| broken.output))
}

fn behind_gzip_header(bytes: &[u8]) -> Option<&[u8]> {
    let flags = *bytes.get(3)?;
    let mut rest = bytes.get(10..)?;
    if flags & 4 != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    // A name, then a comment, each ending with a zero byte.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

fn of_tar(bytes: &[u8]) -> Option<Members> {
    let text = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        String::from_utf8_lossy(&field[..end]).into_owned()
    };
    let mut found = Members::default();
    let mut links: Vec<(String, String)> = Vec::new();
    let mut long_name: Option<String> = None;
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        // With `-i`, tar continues after the end mark.
        if header.iter().all(|byte| *byte == 0) {
            found.whole = true;
            at += BLOCK;
            continue;
        }
        if &header[257..262] != b"ustar" && (found.names.is_empty() || found.whole) && !is_old_header(header)
        {
            break;
        }
        let size = octal(&header[124..136])?;
        let data = bytes.get(at + BLOCK..).unwrap_or_default();
        let data = &data[..size.min(data.len())];
        match header[156] {
            b'L' => long_name = Some(text(data)),
            b'K' => found.names.push(text(data)),
            b'x' | b'g' => {
                for line in String::from_utf8_lossy(data).lines() {
                    let value = |key: &str| line.split_once(key).map(|(_, value)| value.to_owned());
                    long_name = value(" path=").or(long_name);
                    found.names.extend(value(" linkpath="));
                }
            }
            kind => {
                let (name, folder) = (text(&header[..100]), text(&header[345..500]));
                let short = if folder.is_empty() || &header[257..263] != b"ustar\0" {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                let name = long_name.take().unwrap_or(short);
                found.names.extend(links.iter().find_map(|(link, to)| led_by(&name, link, to)));
                if matches!(kind, b'1' | b'2') {
                    let to = text(&header[157..257]);
                    found.names.push(to.clone());
                    links.push((name.trim_end_matches('/').to_owned(), to));
                }
                found.names.push(name);
            }
        }
        if found.names.len() > MAX_MEMBERS {
            break;
        }
        at = at.checked_add(BLOCK)?.checked_add(size.checked_next_multiple_of(BLOCK)?)?;
    }
    (!found.names.is_empty()).then_some(found)
}

/// The real path of a member that is unpacked through an earlier link.
fn led_by(name: &str, link: &str, to: &str) -> Option<String> {
    let rest = name.strip_prefix(link)?.strip_prefix('/')?;
    let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_absolute = folder.is_empty() || to.starts_with('/');
    Some(if is_absolute { format!("{to}/{rest}") } else { format!("{folder}/{to}/{rest}") })
}

/// The newer formats of `cpio`: numbers of eight hexadecimal digits, then the name, then the file.
fn of_cpio(bytes: &[u8]) -> Members {
    let mut found = Members::default();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + 110).filter(|header| header.starts_with(b"0707")) {
        let number = |from: usize| {
            let digits = std::str::from_utf8(&header[from..from + 8]).unwrap_or("");
            usize::from_str_radix(digits, 16).unwrap_or(usize::MAX / 4)
        };
        let (size, length) = (number(54), number(94));
        let Some(name) = bytes.get(at + 110..(at + 110).saturating_add(length)) else { break };
        let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
        if name == "TRAILER!!!" || found.names.len() > MAX_MEMBERS {
            found.whole = name == "TRAILER!!!";
            break;
        }
        found.names.push(name);
        at = (at + 110 + length)
            .next_multiple_of(4)
            .saturating_add(size)
            .checked_next_multiple_of(4)
            .unwrap_or(usize::MAX / 2);
    }
    found
}

/// The oldest tar archives have no magic number. The checksum shows whether this is a header.
fn is_old_header(header: &[u8]) -> bool {
    let sum: usize = header
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { usize::from(*byte) })
        .sum();
    octal(&header[148..156]) == Some(sum)
}

fn octal(field: &[u8]) -> Option<usize> {
    let digits = field.iter().skip_while(|byte| **byte == b' ').take_while(|byte| byte.is_ascii_digit());
    digits
        .copied()
        .try_fold(0_usize, |number, digit| number.checked_mul(8)?.checked_add(usize::from(digit - b'0')))
}

/// Every header of a `zip`, those before the files and those in the directory at the end. Readers differ in
/// which they use.
fn of_zip(bytes: &[u8]) -> Members {
    let mut found = Members { names: Vec::new(), whole: false };
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 4) {
        let (length_at, name_at) = match head {
            b"PK\x03\x04" => (26, 30),
            b"PK\x01\x02" => (28, 46),
            b"PK\x05\x06" => {
                found.whole = true;
                break;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let (Some(low), Some(high)) = (bytes.get(at + length_at), bytes.get(at + length_at + 1)) else {
            break;
        };
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let Some(name) = bytes.get(at + name_at..at + name_at + length) else { break };
        found.names.push(String::from_utf8_lossy(name).replace('\\', "/"));
        if found.names.len() > MAX_MEMBERS {
            break;
        }
        at += name_at + length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, kind: u8, link: &str, size: usize) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        block[156] = kind;
        block[157..157 + link.len()].copy_from_slice(link.as_bytes());
        block[257..263].copy_from_slice(b"ustar\0");
        block
    }

    fn packed(parts: &[Vec<u8>]) -> Vec<u8> {
        parts.iter().flatten().copied().chain(vec![0; 2 * BLOCK]).collect()
    }

    #[test]
    fn names_links_and_long_names_are_read() {
        let mut long = b"very/long".to_vec();
        long.resize(BLOCK, 0);
        let tar = packed(&[
            header("a.txt", b'0', "", 3),
            vec![b'x'; BLOCK],
            header("link", b'2', ".claude", 0),
            header("", b'L', "", 10),
            long,
            header("cut", b'0', "", 0),
        ]);
        let found = members(&tar).unwrap();
        assert_eq!(found.names, ["a.txt", ".claude", "link", "very/long"]);
        assert!(found.whole);
        let cut = members(&tar[..BLOCK]).unwrap();
        assert_eq!((cut.names.len(), cut.whole), (1, false));
    }

    #[test]
    fn what_a_link_leads_to_and_what_follows_the_end_count() {
        let tar = packed(&[
            vec![0; 2 * BLOCK],
            header("d", b'2', ".claude", 0),
            header("d/settings.json", b'0', "", 0),
            vec![0; 2 * BLOCK],
            header("late", b'0', "", 0),
        ]);
        let names = members(&tar).unwrap().names;
        assert_eq!(names, [".claude", "d", ".claude/settings.json", "d/settings.json", "late"]);
    }

    #[test]
    fn names_of_cpio_are_read() {
        let entry = |name: &str, size: usize| {
            let mut entry =
                format!("070701{:048}{size:08X}{:032}{:08X}{:08}", 0, 0, name.len() + 1, 0).into_bytes();
            entry.extend(name.bytes().chain([0]));
            entry.resize(entry.len().next_multiple_of(4) + size.next_multiple_of(4), 0);
            entry
        };
        let cpio = [entry("a", 3), entry(".claude/settings.json", 0), entry("TRAILER!!!", 0)].concat();
        let found = members(&cpio).unwrap();
        assert_eq!(
            (found.names, found.whole),
            (vec!["a".to_owned(), ".claude/settings.json".to_owned()], true)
        );
    }

    #[test]
    fn gzip_is_unpacked_and_noise_is_nothing() {
        let tar = packed(&[header("x/settings.json", b'0', "", 0)]);
        let mut gz = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3, b'n', 0];
        gz.extend(miniz_oxide::deflate::compress_to_vec(&tar, 6));
        assert_eq!(members(&gz).unwrap().names, ["x/settings.json"]);
        for noise in [&b""[..], b"PK", &[0x1f, 0x8b, 8, 255], &[b'a'; 700], &[0xff; 2000]] {
            assert_eq!(members(noise).map(|found| found.names.len()), None, "{noise:?}");
        }
    }

    #[test]
    fn both_lists_of_a_zip_count() {
        let mut zip = b"PK\x03\x04".to_vec();
        zip.extend([0; 22]);
        zip.extend([1, 0, 0, 0, b'a']);
        zip.extend(b"PK\x01\x02");
        zip.extend([0; 24]);
        zip.extend([1, 0]);
        zip.extend([0; 16]);
        zip.extend(b"bPK\x05\x06");
        assert_eq!(members(&zip), Some(Members { names: vec!["a".into(), "b".into()], whole: true }));
    }
}
