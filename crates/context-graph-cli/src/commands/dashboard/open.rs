//! Opens the browser. Everybody on the machine can read the arguments of a process, so the address with its
//! token must not be one. Instead the browser gets a file that only its owner can read, and that redirects to
//! the address.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::Environment;
use crate::commands::new_file::NewFile;
use crate::terminal;

/// Opens the browser at an address. Returns the file that redirects there; remove it when it is no longer
/// needed.
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
        no_browser("its page", &error);
        return None;
    }
    let (program, args): (&'static str, &[&str]) = if cfg!(target_os = "macos") {
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
    match started {
        Ok(child) => watch(program, child),
        Err(error) => no_browser(program, &error.to_string()),
    }
    Some(path)
}

/// Reports if the program that opens browsers fails. In a thread, because it may run as long as the browser does.
fn watch(program: &'static str, mut child: Child) {
    std::thread::spawn(move || match child.wait() {
        Ok(status) if status.success() => {}
        Ok(status) => no_browser(program, &status.to_string()),
        Err(error) => no_browser(program, &error.to_string()),
    });
}

fn no_browser(program: &str, why: &str) {
    terminal::complain(&format!(
        "no browser could be opened ({program}: {why}); open the address above yourself (--no-open does not try)"
    ));
}
