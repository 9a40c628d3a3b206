//! This user's secret on this machine: random, created once, in the user's own folder, readable only by its
//! owner. The file may also have a short note after the secret: every hook reads the secret, so the note costs no
//! further system call.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{IoContext, Result, StorageError};
use crate::file_lock;
use crate::mark::Mark;
use crate::safe_open::{Access, Folder, random};
use crate::seal::Seal;
use crate::system;

const SECRET: &str = "secret";
const LENGTH: usize = 32;
/// The longest note.
const MAX_NOTE: usize = 64;

/// What the file contains: the secret, and the note after it.
type Known = ([u8; LENGTH], Vec<u8>);

/// The user's own folder, outside of every project: nobody else may read it, and nothing in it comes from
/// anybody else.
#[derive(Debug, Clone)]
pub struct UserFolder {
    path: PathBuf,
    known: OnceLock<Known>,
    objections: Option<Objections>,
}

/// Reasons to leave state where it is although this user's secret did not seal it.
#[derive(Debug, Clone, Copy)]
pub struct Objections {
    /// The user's own folder in the account's real home. A process for which somebody set another HOME must not move
    /// the account's state away.
    pub account: fn() -> Option<PathBuf>,
    /// Whether this process may move such state away.
    pub may_move: fn() -> bool,
}

impl UserFolder {
    /// The folder at `path`, which is created when it is first needed.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), known: OnceLock::new(), objections: None }
    }

    /// The same, with reasons not to move state away.
    #[must_use]
    pub fn with_objections(self, objections: Objections) -> Self {
        Self { objections: Some(objections), ..self }
    }

    /// Refuses to move the state in `folder` away, if there is a reason to leave it.
    pub(crate) fn object_to_moving(&self, folder: &Folder) -> Result<()> {
        let Some(Objections { account, may_move }) = self.objections else { return Ok(()) };
        let refuse = |problem: &str, next_step| {
            Err(StorageError::Path {
                path: folder.path().to_path_buf(),
                problem: problem.to_owned(),
                next_step,
            })
        };
        let accounts = account().filter(|path| *path != self.path).map(Self::new);
        if let Some(accounts) = accounts.filter(|accounts| accounts.known().is_ok())
            && Mark::of(folder, &accounts.seal()?).is_some()
        {
            return refuse(
                "it is the state of your account, and HOME or XDG_CONFIG_HOME names another home",
                "set them as in your own terminal",
            );
        }
        if may_move() {
            return Ok(());
        }
        refuse(
            "it is not the state of this home, and an agent cannot move it away",
            "use a terminal of your own",
        )
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The seal of this user, from which the seals of state folders are derived. Costs three system calls if
    /// the secret exists.
    pub fn seal(&self) -> Result<Seal> {
        let secret = match self.known() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.create()?,
            read => read.map_err(|error| self.unusable(&error))?.0,
        };
        let user = system::user_id().map_err(|error| self.unusable(&error))?;
        Ok(Seal::new(secret).derive("user", &[&user[..]]))
    }

    /// Opens the folder and creates it if it is missing.
    pub fn open(&self) -> Result<Folder> {
        let above = self.path.parent().unwrap_or(&self.path);
        let opened = system::create_folders(above).and_then(|()| {
            let name = self.path.file_name().unwrap_or_default();
            let (folder, is_new) = Folder::open_any(above)?.folder_or_create(name)?;
            folder.close_to_others()?;
            if is_new {
                // The parent folder may be in a repository with the user's settings.
                folder.replace(".gitignore", b"*\n")?;
            }
            Ok(folder)
        });
        opened.map_err(|error| self.unusable(&error))
    }

    /// The note after the secret, empty if there is none; an error if there is no secret either.
    pub fn note(&self) -> io::Result<&[u8]> {
        self.known().map(|(_, note)| note.as_slice())
    }

    /// Replaces the note; the secret stays as it is.
    pub fn set_note(&self, note: &[u8]) -> Result<()> {
        if note.len() > MAX_NOTE {
            return Err(self.unusable(&io::Error::other("the note behind it is too long")));
        }
        self.seal()?;
        let (folder, _lock) = self.locked()?;
        let path = self.path.join(SECRET);
        let (secret, _) = self.read().map_err(|error| self.unusable(&error))?;
        folder.replace(SECRET, &[&secret[..], note].concat()).context("write", &path)
    }

    /// The content of the file, read once.
    fn known(&self) -> io::Result<&Known> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let read = self.read()?;
        Ok(self.known.get_or_init(|| read))
    }

    fn read(&self) -> io::Result<Known> {
        let mut file = system::open_own_file(&self.path.join(SECRET))?;
        let mut bytes = [0; LENGTH + MAX_NOTE];
        let mut length = 0;
        // Usually one call reads the whole file.
        while length < LENGTH {
            match file.read(&mut bytes[length..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => length += more,
            }
        }
        let (secret, rest) = bytes.split_first_chunk::<LENGTH>().ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((*secret, rest[..length - LENGTH].to_vec()))
    }

    /// The folder, with a lock that keeps other processes from changing the secret or the note.
    fn locked(&self) -> Result<(Folder, File)> {
        let folder = self.open()?;
        let path = self.path.join("lock");
        let lock = folder.file("lock", Access::WriteOrCreate).context("open", &path)?;
        file_lock::alone(&lock).context("lock", &path)?;
        Ok((folder, lock))
    }

    /// Creates the secret, unless another process was faster.
    fn create(&self) -> Result<[u8; LENGTH]> {
        let (folder, _lock) = self.locked()?;
        match self.read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read.map(|(secret, _)| secret).map_err(|error| self.unusable(&error)),
        }
        let path = self.path.join(SECRET);
        let secret = random::<LENGTH>().context("draw", &path)?;
        folder.replace(SECRET, &secret).context("write", &path)?;
        Ok(secret)
    }

    fn unusable(&self, error: &io::Error) -> StorageError {
        if error.kind() == io::ErrorKind::StorageFull {
            return StorageError::DiskFull { action: "write", path: self.path.join(SECRET) };
        }
        StorageError::Path {
            path: self.path.join(SECRET),
            problem: format!("the secret that your state is sealed with cannot be used: {error}"),
            next_step: "make it a file of 32 bytes that is yours alone (mode 600) in a folder that you can write; \
                        without the file a new one is made, and the state of before is put aside",
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn tag(folder: &UserFolder) -> Option<[u8; 16]> {
        folder.seal().ok().map(|seal| seal.tag("test", &[]))
    }

    #[test]
    fn it_is_made_once_by_many_at_once_and_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let user = UserFolder::new(place.path().join("config/context-graph/private"));
        let tags: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..16).map(|_| scope.spawn(|| tag(&user))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(tags[0].is_some() && tags.iter().all(|other| *other == tags[0]));
        for path in [user.path(), &user.path().join(SECRET)] {
            assert!(!system::about_path(path).unwrap().is_open_to_others, "{path:?}");
        }
        let other = UserFolder::new(place.path().join("other/private"));
        assert_ne!(tag(&other), tags[0]);
    }

    #[test]
    fn a_note_stands_behind_the_secret_and_leaves_it_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let user = UserFolder::new(place.path().join("private"));
        assert_eq!(user.note().unwrap_err().kind(), io::ErrorKind::NotFound);
        let before = tag(&user);
        let again = || UserFolder::new(user.path());
        assert_eq!(again().note().unwrap(), b"");
        again().set_note(b"a note").unwrap();
        assert_eq!((again().note().unwrap(), tag(&again())), (&b"a note"[..], before));
        assert!(again().set_note(&[1; 65]).is_err());
        again().set_note(b"").unwrap();
        assert_eq!((again().note().unwrap(), tag(&again())), (&b""[..], before));
    }

    #[test]
    #[cfg(unix)]
    fn one_that_others_can_read_is_short_or_is_a_link_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let user = UserFolder::new(place.path().join("private"));
        user.seal().unwrap();
        let path = user.path().join(SECRET);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(user.seal().unwrap_err().to_string().contains("open to others"));
        std::fs::write(&path, "short").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(user.seal().is_err());
        std::fs::rename(&path, place.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(place.path().join("elsewhere"), &path).unwrap();
        assert!(user.seal().is_err());
    }
}
