use super::*;

/// Whether others may use the file, whether others may change it, and whether every user may change it.
fn open_to_others(path: &Path) -> (bool, bool, bool) {
    let about = about_path(path).unwrap();
    assert!(about.is_ours);
    (about.is_open_to_others, about.is_writable_by_others, about.is_writable_by_all)
}

#[test]
fn what_is_made_is_for_its_owner_alone_until_it_is_shared() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    create_own_file(&path).unwrap();
    assert_eq!(open_to_others(&path), (false, false, false));
    let file = open_file_unlinked(&path, Access::Write).unwrap();
    share(&file, Share::Readers).unwrap();
    assert_eq!((open_to_others(&path).1, open_to_others(&path).2), (false, false));
    close_file(&file).unwrap();
    assert_eq!(open_to_others(&path), (false, false, false));
    let folder = place.path().join("above/folder");
    create_folders(&folder).unwrap();
    assert_eq!(open_to_others(&folder), (false, false, false));
}

#[test]
fn a_file_that_is_removed_while_it_is_open_is_known_to_be_and_its_name_is_free() {
    let place = tempfile::tempdir().unwrap();
    let folder = open_folder(place.path()).unwrap();
    let name = OsStr::new("file");
    let file = open_file_in(&folder, name, Access::AppendOrCreate).unwrap();
    let path = place.path().join(name);
    let is_removed = |file: &File| is_removed(&about(file).unwrap(), &path);
    assert!(!is_removed(&file));
    remove_file_in(&folder, name).unwrap();
    assert!(is_removed(&file) && !is_there(&folder, name));
    let next = open_file_in(&folder, name, Access::AppendOrCreate).unwrap();
    assert!(is_removed(&file) && !is_removed(&next));
}

#[test]
fn a_lock_keeps_out_other_handles_and_nobody_from_the_content() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let open = || open_file_unlinked(&path, Access::AppendOrCreate).unwrap();
    let (one, other) = (open(), open());
    lock(&one).unwrap();
    lock(&one).unwrap();
    assert!(!try_lock(&other).unwrap());
    assert_eq!(write_once(&other, &[b"a", b"b", b"c"]).unwrap(), 3);
    assert_eq!(fs::read(&path).unwrap(), b"abc");
    unlock(&one).unwrap();
    assert!(try_lock(&other).unwrap());
    drop(other);
    assert!(try_lock(&one).unwrap());
}

#[test]
fn what_is_open_for_appending_is_written_at_its_end_and_can_be_shortened() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let open = || open_file_unlinked(&path, Access::AppendOrCreate).unwrap();
    let (one, other) = (open(), open());
    write_once(&one, &[b"one", b"", b""]).unwrap();
    write_once(&other, &[b"other", b"", b""]).unwrap();
    write_once(&one, &[b"one", b"", b""]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"oneotherone");
    set_length(&other, 3).unwrap();
    write_once(&one, &[b"last", b"", b""]).unwrap();
    let mut bytes = [0; 7];
    one.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"onelast");
    assert!(one.read_exact_at(&mut bytes, 1).is_err());
}

#[test]
fn a_file_that_is_being_read_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    let folder = open_folder(place.path()).unwrap();
    for name in ["old", "new"] {
        fs::write(place.path().join(name), name).unwrap();
    }
    let reader = open_file_in(&folder, "old".as_ref(), Access::Read).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(10));
            drop(reader);
        });
        rename(&folder, "new".as_ref(), &folder, "old".as_ref()).unwrap();
    });
    assert_eq!(fs::read(place.path().join("old")).unwrap(), b"new");
    assert_eq!(names(&folder).unwrap(), ["old"]);
}

#[test]
fn an_open_folder_cannot_be_moved_and_has_no_streams() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("folder")).unwrap();
    let folder = open_folder(&place.path().join("folder")).unwrap();
    assert!(fs::rename(place.path().join("folder"), place.path().join("moved")).is_err());
    assert!(open_file_in(&folder, "a:b".as_ref(), Access::WriteOrCreate).is_err());
    open_file_in(&folder, "a".as_ref(), Access::WriteOrCreate).unwrap();
    assert!(open_folder_in(&folder, "a".as_ref()).is_err());
    assert_eq!(names(&folder).unwrap(), ["a"]);
    drop(folder);
    fs::rename(place.path().join("folder"), place.path().join("moved")).unwrap();
}
