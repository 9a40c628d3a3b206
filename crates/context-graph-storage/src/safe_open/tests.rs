#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn kind(result: io::Result<impl Sized>) -> io::ErrorKind {
    result.err().map_or(io::ErrorKind::Other, |error| error.kind())
}

#[test]
#[cfg(unix)]
fn links_are_followed_neither_on_the_way_nor_at_the_end() {
    let place = tempfile::tempdir().unwrap();
    let (root, outside) = (place.path().join("root"), place.path().join("outside"));
    std::fs::create_dir_all(root.join("real")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "theirs").unwrap();
    std::fs::write(root.join("real/file"), "ours").unwrap();
    symlink(&outside, root.join("way")).unwrap();
    symlink(outside.join("file"), root.join("end")).unwrap();
    symlink(outside.join("new"), root.join("dangling")).unwrap();

    assert_eq!(read_below(&root, Path::new("real/file"), 10).unwrap(), b"ours");
    for path in ["way/file", "end", "real/../end", "../outside/file"] {
        assert!(read_below(&root, Path::new(path), 10).is_err(), "{path}");
    }
    let folder = Folder::open(&root).unwrap();
    for access in [Access::Write, Access::WriteOrCreate, Access::AppendOrCreate, Access::CreateNew] {
        assert!(folder.file("dangling", access).is_err());
        assert!(folder.file("end", access).is_err());
    }
    assert!(folder.folder_or_create("way").is_err());
    assert!(Folder::open(&root.join("way")).is_err());
    assert!(!outside.join("new").exists());
    // Replacing or removing a link affects the link itself.
    folder.replace("end", b"ours").unwrap();
    folder.remove("way").unwrap();
    assert_eq!(std::fs::read(outside.join("file")).unwrap(), b"theirs");
    assert_eq!(folder.read("end", 10).unwrap(), b"ours");
    assert_eq!(folder.names().unwrap(), ["dangling", "end", "real"]);
}

#[test]
#[cfg(unix)]
fn only_regular_files_are_opened_and_none_is_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.path().join("pipe")).status().unwrap();
    assert!(made.success());
    assert!(folder.read("pipe", 10).is_err());
    assert!(folder.file("pipe", Access::AppendOrCreate).is_err());
    assert!(read_regular(&place.path().join("pipe"), 10).is_err());
    symlink("/dev/zero", place.path().join("endless")).unwrap();
    assert!(folder.read("endless", 10).is_err());
    assert!(read_regular(&place.path().join("endless"), 10).is_err());
    std::fs::create_dir(place.path().join("folder")).unwrap();
    assert!(folder.read("folder", 10).is_err());
}

#[test]
fn what_is_too_large_or_has_no_plain_name_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    folder.replace("file", b"12345").unwrap();
    assert_eq!(folder.read("file", 5).unwrap(), b"12345");
    assert_eq!(kind(folder.read("file", 4)), io::ErrorKind::InvalidInput);
    for name in ["", ".", "..", "/etc/passwd", "a/b", "a/", "./file"] {
        assert_eq!(kind(folder.file(name, Access::WriteOrCreate)), io::ErrorKind::InvalidInput, "{name}");
    }
}

#[test]
#[cfg(unix)]
fn what_is_made_or_written_is_for_its_owner_alone() {
    let place = tempfile::tempdir().unwrap();
    let mode = |name: &str| std::fs::metadata(place.path().join(name)).unwrap().permissions().mode() & 0o777;
    let folder = Folder::open(place.path()).unwrap();
    folder.replace("new", b"").unwrap();
    let (inner, is_new) = folder.folder_or_create("inner").unwrap();
    assert!(is_new && !folder.folder_or_create("inner").unwrap().1);
    assert_eq!((mode("new"), mode("inner")), (0o600, 0o700));
    for name in ["new", "inner"] {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(place.path().join(name), open).unwrap();
    }
    folder.file("new", Access::AppendOrCreate).unwrap();
    inner.close_to_others().unwrap();
    assert_eq!((mode("new"), mode("inner")), (0o600, 0o700));
}
