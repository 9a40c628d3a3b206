//! The names of what an archive holds: `tar`, gzipped or not, and `zip`. Nothing but names is looked at.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Bytes of an archive that are read.
pub(crate) const MAX_ARCHIVE: usize = 4 * 1024 * 1024;
/// Bytes that a packed one may grow to.
const MAX_UNPACKED: usize = 32 * 1024 * 1024;
/// Names that are looked at.
const MAX_MEMBERS: usize = 50_000;
/// What `tar` counts in.
const BLOCK: usize = 512;

/// What an archive says it holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    /// Names of files and folders, and what links among them point to.
    pub(crate) names: Vec<String>,
    /// Whether that is all of them.
    pub(crate) whole: bool,
}

/// The names in an archive; none where it is of no kind that is known here.
pub(crate) fn members(bytes: &[u8]) -> Option<Members> {
    let cut = bytes.len() > MAX_ARCHIVE;
    let mut found = match bytes {
        [0x1f, 0x8b, 8, ..] => {
            let packed = behind_gzip_header(bytes)?;
            let unpacked = match decompress_to_vec_with_limit(packed, MAX_UNPACKED) {
                Ok(unpacked) => unpacked,
                // What was unpacked before it broke off counts.
                Err(broken) => broken.output,
            };
            of_tar(&unpacked)?
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => of_zip(bytes),
        _ => of_tar(bytes)?,
    };
    found.whole &= !cut;
    Some(found)
}

fn behind_gzip_header(bytes: &[u8]) -> Option<&[u8]> {
    let flags = *bytes.get(3)?;
    let mut rest = bytes.get(10..)?;
    if flags & 4 != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    // A name, then a comment, each with a zero at its end.
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
    let mut long_name: Option<String> = None;
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            found.whole = true;
            break;
        }
        if &header[257..262] != b"ustar" && at == 0 && !is_old_header(header) {
            return None;
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
                found.names.push(long_name.take().unwrap_or(short));
                if matches!(kind, b'1' | b'2') {
                    found.names.push(text(&header[157..257]));
                }
            }
        }
        if found.names.len() > MAX_MEMBERS {
            break;
        }
        at = at.checked_add(BLOCK)?.checked_add(size.checked_next_multiple_of(BLOCK)?)?;
    }
    (!found.names.is_empty()).then_some(found)
}

/// The oldest archives have no mark: their sum of a header says whether it is one.
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

/// Every header of a `zip`, before the files and in the list at its end: readers differ in which they believe.
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
        assert_eq!(found.names, ["a.txt", "link", ".claude", "very/long"]);
        assert!(found.whole);
        let cut = members(&tar[..BLOCK]).unwrap();
        assert_eq!((cut.names.len(), cut.whole), (1, false));
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
