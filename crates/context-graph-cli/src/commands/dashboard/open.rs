//! Opens the browser. The arguments of a process can be read by everybody on the machine, so the address with the token in it
//! is not one of them: the browser is given a file that only its owner can read, and that leads there.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Environment;
use crate::commands::new_file::NewFile;
use crate::terminal;

/// Opens the browser at an address. The file that leads there is to be removed when nobody needs it any more.
pub(super) fn in_browser(address: &str, environment: &Environment) -> Option<PathBuf> {
    let folder = environment.config_home.join("context-graph").join("private");
    let path = folder.join(format!("dashboard-{}.html", std::process::id()));
    let written = std::fs::create_dir_all(&folder).map_err(|error| error.to_string()).and_then(|()| {
        let (new_file, mut file) = NewFile::create(&path, true).map_err(|failure| failure.to_string())?;
        let page = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">\
             <title>context-graph</title><a href=\"{address}\">To the dashboard</a>\n"
        );
        file.write_all(page.as_bytes()).map_err(|error| error.to_string())?;
        new_file.place().map_err(|failure| failure.to_string())
    });
    if let Err(error) = written {
        terminal::complain(&format!("cannot open a browser ({error}); open the address above"));
        return None;
    }
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(args)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        terminal::complain(&format!("cannot open a browser ({program}: {error}); open the address above"));
    }
    Some(path)
}
