//! Turns a path as written into the paths it can mean: absolute, without `..`, links followed.

mod named;

use std::cell::OnceCell;

use super::fs::{FileKind, FileSystem};
use super::text::{Piece, Text};
use named::expand;
pub(crate) use named::fits;

/// How many links of one path are followed before it counts as a loop.
const MAX_LINKS: usize = 40;

/// A path of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was written, as far as that is known.
    pub written: Text,
    /// Absolute, without `.` and `..`, links not followed.
    pub path: Text,
    /// Where it leads if a link is on the way. For a glob, the existing paths that match.
    pub real: Vec<String>,
}

/// What relative paths and `~` are resolved against.
#[derive(Clone, Copy)]
pub(crate) struct PathBase<'a> {
    pub(crate) home: &'a str,
    pub(crate) fs: &'a dyn FileSystem,
}

impl Target {
    pub(crate) fn new(written: &Text, cwd: &Text, base: PathBase<'_>) -> Self {
        let path = absolute(written, cwd);
        let path =
            if path.literal().is_some() { path } else { led_up(written, cwd, base.fs).unwrap_or(path) };
        let real = match path.literal() {
            // Links on a drive of another system cannot be followed.
            Some(literal) if !literal.starts_with('/') => Vec::new(),
            Some(literal) => {
                let mut real = vec![literal.to_owned()];
                // After a link, `..` leads up from the link's target, which the text does not show.
                let as_written = uncleaned(written, cwd).and_then(|path| follow(&path, base.fs));
                for place in follow(literal, base.fs).into_iter().chain(as_written) {
                    if !real.contains(&place) {
                        real.push(place);
                    }
                }
                real.split_off(1)
            }
            None if path.has_hole() => Vec::new(),
            None => expand(&path, base.fs),
        };
        Self { written: written.clone(), path, real }
    }

    /// The absolute path, if all of it is known.
    pub fn literal(&self) -> Option<&str> {
        self.path.literal()
    }

    /// All paths that the target is known to lead to: `path`, if all of it is known, and those in `real`.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.path.literal().into_iter().chain(self.real.iter().map(String::as_str))
    }
}

/// The project and home folders as written, and their real paths. The real paths are only looked up if a path
/// is in neither folder as written.
pub(crate) struct Roots<'a> {
    written: [&'a str; 2],
    fs: &'a dyn FileSystem,
    real: OnceCell<[Option<String>; 2]>,
}

impl<'a> Roots<'a> {
    pub(crate) fn new(project: &'a str, home: &'a str, fs: &'a dyn FileSystem) -> Self {
        Self { written: [project, home], fs, real: OnceCell::new() }
    }

    /// For a path below the real path of a root: the same path below the root as written, because rules know
    /// that name.
    pub(crate) fn as_written(&self, place: &str) -> Option<String> {
        if !place.starts_with('/') || place.starts_with("/dev/") || self.hold(place) {
            return None;
        }
        let real = self.real.get_or_init(|| {
            self.written.map(|root| {
                let root = root.trim_end_matches('/');
                follow(root, self.fs).filter(|real| !root.is_empty() && real != root && real != "/")
            })
        });
        self.written.iter().zip(real).find_map(|(written, real)| {
            let rest =
                real.as_deref().filter(|real| is_within(place, real)).map(|real| &place[real.len()..])?;
            Some(format!("{}{rest}", written.trim_end_matches('/')))
        })
    }

    /// The working folder as a path below the root as written, even if the working folder or the root is reached
    /// through a link.
    pub(crate) fn folder(&self, cwd: &str) -> Option<String> {
        if self.hold(cwd) {
            return None;
        }
        let real = follow(cwd, self.fs)?;
        self.as_written(&real).or_else(|| Some(real).filter(|real| self.hold(real)))
    }

    fn hold(&self, place: &str) -> bool {
        self.written.iter().any(|root| !root.is_empty() && is_within(place, root))
    }

    /// Adds to a target its paths below the roots as written.
    pub(crate) fn add_written(&self, target: &mut Target) {
        let written: Vec<String> = target.places().filter_map(|place| self.as_written(place)).collect();
        for place in written {
            if !target.places().any(|known| known == place) {
                target.real.push(place);
            }
        }
    }
}

/// Whether a path is the folder or inside it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder || (path.starts_with(folder) && path.as_bytes().get(folder.len()) == Some(&b'/'))
}

/// The path made absolute, without `.` and `..`. Only text: no links are followed.
pub(crate) fn absolute(written: &Text, cwd: &Text) -> Text {
    if let (Some(path), Some(cwd)) = (written.literal(), cwd.literal()) {
        return Text::lit(absolute_str(path, cwd));
    }
    let mut joined = Text::default();
    // An unknown start may be absolute, so nothing is put before it.
    if !written.prefix().starts_with('/')
        && !is_on_drive(written.prefix())
        && !matches!(written.0.first(), Some(Piece::Hole(_)))
    {
        joined.extend(cwd);
        joined.push_str("/");
    }
    joined.extend(written);
    clean(&joined)
}

/// The absolute path with its `..` kept, if it has any.
fn uncleaned(written: &Text, cwd: &Text) -> Option<String> {
    let path = written.literal().filter(|path| path.split('/').any(|name| name == ".."))?;
    if path.starts_with('/') { Some(path.to_owned()) } else { Some(format!("{}/{path}", cwd.literal()?)) }
}

/// The folder that a process reaches: after a link, `..` leads up from the link's target. The `cd` of a shell is
/// different: it removes `..` from the text.
pub(crate) fn arrived(written: &Text, cwd: &Text, fs: &dyn FileSystem) -> Text {
    let by_name = absolute(written, cwd);
    let real = uncleaned(written, cwd).and_then(|path| follow(&path, fs));
    match (real, by_name.literal()) {
        (Some(real), Some(name)) if follow(name, fs).as_ref() != Some(&real) => Text::lit(real),
        _ => by_name,
    }
}

/// The same for a path if only its start is known.
fn led_up(written: &Text, cwd: &Text, fs: &dyn FileSystem) -> Option<Text> {
    let (folder, name) = written.prefix().rsplit_once('/')?;
    let folder = if folder.is_empty() { "/" } else { folder };
    if !folder.split('/').any(|name| name == "..") {
        return None;
    }
    let mut path = arrived(&Text::lit(folder), cwd, fs);
    path.push_str("/");
    path.push_str(name);
    written.0.iter().skip(1).for_each(|piece| path.push(piece.clone()));
    Some(absolute(&path, cwd))
}

/// Whether a path starts at the root of a drive: `C:/x`.
fn is_on_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

pub(crate) fn absolute_str(path: &str, cwd: &str) -> String {
    let mut out = String::with_capacity(cwd.len() + path.len() + 1);
    if is_on_drive(path) {
        push_components(&mut out, &path.replace('\\', "/"));
        return out.split_off(1);
    }
    if !path.starts_with('/') {
        push_components(&mut out, cwd);
    }
    push_components(&mut out, path);
    if out.is_empty() {
        out.push('/');
    }
    out
}

fn push_components(out: &mut String, path: &str) {
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
}

fn clean(path: &Text) -> Text {
    let mut names: Vec<Text> = vec![Text::default()];
    for piece in &path.0 {
        match piece {
            Piece::Lit(text) => {
                for (index, part) in text.split('/').enumerate() {
                    if index > 0 {
                        names.push(Text::default());
                    }
                    if let Some(last) = names.last_mut() {
                        last.push_str(part);
                    }
                }
            }
            other => {
                if let Some(last) = names.last_mut() {
                    last.push(other.clone());
                }
            }
        }
    }
    let rooted = names.first().is_some_and(Text::is_empty);
    let mut kept: Vec<Text> = Vec::new();
    for name in names {
        match name.literal() {
            Some("" | ".") => {}
            Some("..") if kept.last().is_some_and(|last| !last.has_hole()) => {
                kept.pop();
            }
            _ => kept.push(name),
        }
    }
    let mut out = Text::default();
    for (index, name) in kept.iter().enumerate() {
        if rooted || index > 0 {
            out.push_str("/");
        }
        out.extend(name);
    }
    if out.is_empty() {
        out.push_str("/");
    }
    out
}

/// The path with links followed; `None` if they loop. Parts that do not exist stay as written.
pub(crate) fn follow(path: &str, fs: &dyn FileSystem) -> Option<String> {
    let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut done = String::with_capacity(path.len());
    let mut links = 0;
    let mut missing = false;
    while let Some(name) = todo.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                done.truncate(done.rfind('/').unwrap_or(0));
                continue;
            }
            _ => {}
        }
        let before = done.len();
        done.push('/');
        done.push_str(&name);
        if missing {
            continue;
        }
        match fs.kind(&done) {
            Some(FileKind::Link(to)) => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                done.truncate(if to.starts_with('/') { 0 } else { before });
                todo.extend(to.split('/').rev().map(str::to_owned));
            }
            Some(_) => {}
            None => missing = true,
        }
    }
    if done.is_empty() {
        done.push('/');
    }
    Some(done)
}

/// Another user's home folder, assumed to be beside this one: `~name/x`. Only a shell on the machine knows if
/// it exists.
pub(crate) fn other_home_of<'t>(text: &'t str, home: &str) -> Option<(String, &'t str)> {
    let rest = text.strip_prefix('~')?;
    let end = rest.find('/').unwrap_or(rest.len());
    let user = &rest[..end];
    let is_name = user.starts_with(|c: char| c.is_ascii_alphabetic())
        && user.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c));
    let homes = home.rsplit_once('/').map_or("", |(homes, _)| homes);
    let homes = if homes.is_empty() { "/home" } else { homes };
    is_name.then(|| (format!("{homes}/{user}"), &rest[end..]))
}

/// `~`, `~/…`, `~root` and the user's own `~name` at the start of a word. For other users see [`other_home_of`].
pub(crate) fn home_of<'t>(text: &'t str, home: &str) -> Option<(String, &'t str)> {
    let rest = text.strip_prefix('~')?;
    if rest.is_empty() || rest.starts_with('/') {
        return Some((home.to_owned(), rest));
    }
    let end = rest.find('/').unwrap_or(rest.len());
    let user = &rest[..end];
    match user {
        "+" | "-" => None,
        "root" => Some(("/root".to_owned(), &rest[end..])),
        _ if home.ends_with(&format!("/{user}")) => Some((home.to_owned(), &rest[end..])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::fs::ListedFileSystem;

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(absolute_str("../x/./y", "/a/b"), "/a/x/y");
        assert_eq!(absolute_str("/../..", "/a"), "/");
        assert_eq!(absolute_str(".", "/a/"), "/a");
    }

    #[test]
    fn links_are_followed_and_loops_end() {
        let fs = ListedFileSystem::default()
            .with("/p", FileKind::Folder)
            .with("/p/notes", FileKind::Link("secret/../.env".into()))
            .with("/p/secret", FileKind::Folder)
            .with("/p/loop", FileKind::Link("loop".into()));
        assert_eq!(follow("/p/notes", &fs).as_deref(), Some("/p/.env"));
        assert_eq!(follow("/p/loop", &fs), None);
        assert_eq!(follow("/q/new", &fs).as_deref(), Some("/q/new"));
    }

    #[test]
    fn dots_behind_a_link_lead_up_from_where_it_points() {
        let fs = ListedFileSystem::default()
            .with("/dev", FileKind::Folder)
            .with("/dev/fd", FileKind::Link("/proc/7/fd".into()))
            .with("/proc", FileKind::Folder)
            .with("/proc/7", FileKind::Folder)
            .with("/proc/7/fd", FileKind::Folder)
            .with("/proc/7/root", FileKind::Link("/".into()));
        let base = PathBase { home: "/home/dev", fs: &fs };
        let target = |path: &str| Target::new(&Text::from(path), &Text::lit("/dev"), base);
        for path in ["/dev/fd/../root/etc/shadow", "fd/../root/etc/shadow"] {
            assert_eq!(target(path).real, ["/etc/shadow"], "{path}");
            assert_eq!(target(path).literal(), Some("/dev/root/etc/shadow"), "{path}");
        }
        assert!(target("../etc/hosts").real.is_empty());
    }

    #[test]
    fn globs_name_what_is_there() {
        let fs = ListedFileSystem::default()
            .with("/p", FileKind::Folder)
            .with("/p/prod.env", FileKind::File)
            .with("/p/.env", FileKind::File);
        let mut glob = Text::default();
        glob.push_globbed("/p/*");
        assert_eq!(expand(&glob, &fs), ["/p/prod.env"]);
    }
}
