//! TLS with a self-signed certificate, over real connections.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use context_graph_server::client::Client;
use context_graph_server::db::Pool;
use context_graph_server::keys::{SigningKey, random};
use context_graph_server::members::{self, Role};
use context_graph_server::{Patience, Serving};

use crate::machine::Machine;
use crate::{Team, now_ms};

/// Makes a self-signed certificate and its key. `holds_for` says which host it is valid for.
fn certificate(folder: &Path, name: &str, holds_for: &str) -> (PathBuf, PathBuf) {
    let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=team", "-addext", holds_for, "-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success(), "openssl");
    (certificate, key)
}

pub(crate) fn is_possible() -> bool {
    Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

pub(crate) fn only_the_right_certificate(team: &Team) {
    let good = certificate(team.folder.path(), "good", "subjectAltName=IP:127.0.0.1");
    let elsewhere = certificate(team.folder.path(), "elsewhere", "subjectAltName=DNS:graph.example");
    let start = |certificate: &(PathBuf, PathBuf)| {
        let serving = Serving {
            listen: "127.0.0.1:0".parse().unwrap(),
            certificate: Some(certificate.clone()),
            is_behind_proxy: false,
            pool: Pool::new(team.place.clone()),
            patience: Patience::default(),
            now_ms,
        };
        let listening = serving.bind().unwrap();
        let address = listening.address().unwrap();
        std::thread::spawn(move || listening.run());
        address
    };
    let address = start(&good);
    let url = format!("https://{address}");
    let invitation =
        members::invite(&team.pool, "team", "ada", Some(Role::Member), 60_000, now_ms()).unwrap();
    let seed = random().unwrap();
    let key = SigningKey::from_seed(&seed).unwrap();
    let client =
        |url: &str, authority: Option<&Path>, token: &str| Client::new(url, authority, token).unwrap();

    // The client sends the invitation only to a server whose certificate it trusts.
    for (url, authority, why) in [
        (url.clone(), None, "a certificate that nobody vouches for"),
        (url.clone(), Some(elsewhere.0.as_path()), "vouched for by somebody else"),
        (format!("http://{address}"), None, "no TLS at all"),
        (
            format!("https://{}", start(&elsewhere)),
            Some(elsewhere.0.as_path()),
            "a certificate of another host",
        ),
    ] {
        assert!(client(&url, authority, "").join(&invitation, "laptop", &key).is_err(), "{why}");
    }
    let joined = client(&url, Some(&good.0), "").join(&invitation, "laptop", &key).unwrap();
    let machine = Machine { url: url.clone(), token: joined.token, number: joined.machine, seed, key };
    let trusting = client(&url, Some(&good.0), &machine.token);
    assert_eq!(trusting.push(&machine.made("s", 1, (1, 40), "")).unwrap(), 40);
    assert_eq!(trusting.standing("s").unwrap().unwrap().records, 40);
    assert!(client(&url, None, &machine.token).standing("s").is_err());
    assert_eq!(team.count("SELECT count(*) FROM events"), 40);
}
