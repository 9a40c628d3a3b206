//! The client that a machine uses to talk to the server. Every call blocks, so hooks make none.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::keys::{SigningKey, hex};
use crate::wire::{CopyHead, Forget, Join, Joined, Push, Refusal};

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server was not reached, or the connection broke. Trying again may help.
    #[error("cannot reach {0}: {1}")]
    Away(String, String),
    /// The server refused the request.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The push does not continue the server's copy.
    #[error("the server refused the session: {} ({})", .0.message, .0.why)]
    Push(Refusal),
    /// The address or a file cannot be used.
    #[error("{0}")]
    Usage(String),
}

/// What the server says about what it has stored.
#[derive(serde::Deserialize)]
struct Taken {
    #[serde(default)]
    records: u64,
    #[serde(default)]
    pushed: i64,
}

/// A connection to a server, with the token of one machine.
pub struct Client {
    agent: Agent,
    url: String,
    token: String,
    /// The largest push number that the server has told this client.
    acknowledged: AtomicI64,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("url", &self.url).finish_non_exhaustive()
    }
}

/// What the server says about the team's policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// There is none.
    Nothing,
    /// It has not changed.
    Same,
    /// Another one.
    New {
        /// Its identifier.
        etag: String,
        /// Signature and bundle.
        content: Vec<u8>,
    },
}

/// The longest policy, in bytes.
const MAX_POLICY: u64 = 4 << 20;
/// The maximum number of sessions that are requested for one machine.
const MAX_SESSIONS: usize = 1_000_000;
const PATIENCE: Duration = Duration::from_secs(100);

/// The host of an address: `https://host[:port]` without a path.
fn host(url: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let name = if let Some(rest) = rest.strip_prefix('[') {
        rest.split_once(']')?.0
    } else {
        rest.split(':').next()?
    };
    let is_plain = !rest.contains(['/', '?', '#', '@', '\\']) && !name.is_empty();
    match scheme {
        "https" if is_plain => Some((true, name)),
        "http" if is_plain => Some((false, name)),
        _ => None,
    }
}

impl Client {
    /// The server at this address. Without TLS, only the loopback is allowed, because anybody on the way
    /// could read tokens and records. `authorities` is a PEM file with certificates to trust instead of the
    /// public ones.
    pub fn new(url: &str, authorities: Option<&Path>, token: &str) -> Result<Self, ClientError> {
        let url = url.trim_end_matches('/');
        let (is_secure, name) = host(url).ok_or_else(|| {
            ClientError::Usage(format!("`{url}` is not an address: https://HOST or https://HOST:PORT"))
        })?;
        let is_loopback = name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        if !is_secure && !is_loopback {
            return Err(ClientError::Usage(format!(
                "{url} has no TLS, and everybody on the way could read along; use https"
            )));
        }
        let mut tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
        if let Some(path) = authorities {
            tls = tls.root_certs(read_authorities(path)?);
        }
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(PATIENCE))
            .build();
        // Resolves `localhost` without asking a name server.
        let url = if is_secure {
            url.to_owned()
        } else {
            url.replacen("//localhost", &format!("//{}", Ipv4Addr::LOCALHOST), 1)
        };
        Ok(Self { agent: config.into(), url, token: token.to_owned(), acknowledged: AtomicI64::new(0) })
    }

    /// Another machine's client that uses the same connections.
    #[cfg(unix)]
    pub(crate) fn with_token(&self, token: &str) -> Self {
        let (agent, url) = (self.agent.clone(), self.url.clone());
        Self { agent, url, token: token.to_owned(), acknowledged: AtomicI64::new(0) }
    }

    /// Joins with an invitation.
    pub fn join(&self, invitation: &str, machine: &str, key: &SigningKey) -> Result<Joined, ClientError> {
        let asked = Join {
            invitation: invitation.to_owned(),
            machine: machine.to_owned(),
            public_key: hex(key.public()),
            signature: hex(&key.sign(&Join::signed(invitation))),
        };
        let body = serde_json::to_vec(&asked).map_err(|error| ClientError::Usage(error.to_string()))?;
        self.read(self.agent.post(self.at("/v1/join")).send(&body[..]))
    }

    /// Sends records. Returns how many the server has now.
    pub fn push(&self, push: &Push) -> Result<u64, ClientError> {
        self.send("/v1/push", push)
    }

    /// Asks the server to forget a session. Returns how many records there were.
    pub fn forget(&self, forget: &Forget) -> Result<u64, ClientError> {
        self.send("/v1/forget", forget)
    }

    /// How far the server's copy of a session goes.
    pub fn standing(&self, session_id: &str) -> Result<Option<CopyHead>, ClientError> {
        let asked = self.agent.get(self.at("/v1/standing")).query("session", session_id);
        self.read(asked.header("authorization", self.bearer()).call())
    }

    /// How far the server's copies of all sessions of this machine go.
    pub fn standings(&self) -> Result<Vec<CopyHead>, ClientError> {
        let mut all: Vec<CopyHead> = Vec::new();
        loop {
            let after = all.last().map_or("", |last| last.session_id.as_str()).to_owned();
            let asked = self.agent.get(self.at("/v1/standings")).query("after", &after);
            let more: Vec<CopyHead> = self.read(asked.header("authorization", self.bearer()).call())?;
            // Also ends if the server repeats the last session, or never stops sending.
            let goes_on = more.last().is_some_and(|last| last.session_id != after);
            if !goes_on || all.len() > MAX_SESSIONS {
                return Ok(all);
            }
            all.extend(more);
        }
    }

    /// The team's newest policy, unless it is the one with this tag.
    pub fn policy(&self, etag: Option<&str>) -> Result<Fetched, ClientError> {
        let mut asked = self.agent.get(self.at("/v1/policy")).header("authorization", self.bearer());
        if let Some(etag) = etag {
            asked = asked.header("if-none-match", format!("\"{etag}\""));
        }
        let answer = asked.call().map_err(|error| self.away(&error))?;
        let etag = answer.headers().get("etag").and_then(|etag| etag.to_str().ok());
        let etag = etag.unwrap_or_default().trim_matches('"').to_owned();
        match answer.status() {
            StatusCode::NOT_MODIFIED => Ok(Fetched::Same),
            StatusCode::NO_CONTENT => Ok(Fetched::Nothing),
            StatusCode::OK => {
                let content = answer.into_body().with_config().limit(MAX_POLICY).read_to_vec();
                Ok(Fetched::New { etag, content: content.map_err(|error| self.away(&error))? })
            }
            _ => self.read::<()>(Ok(answer)).and(Ok(Fetched::Nothing)),
        }
    }

    fn away(&self, error: &ureq::Error) -> ClientError {
        ClientError::Away(self.url.clone(), error.to_string())
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn send(&self, path: &str, what: &impl Serialize) -> Result<u64, ClientError> {
        let body = postcard::to_stdvec(what).map_err(|error| ClientError::Usage(error.to_string()))?;
        self.send_bytes(path, &body)
    }

    /// Sends a push that is packed already.
    #[cfg(unix)]
    pub(crate) fn push_bytes(&self, body: &[u8]) -> Result<u64, ClientError> {
        self.send_bytes("/v1/push", body)
    }

    fn send_bytes(&self, path: &str, body: &[u8]) -> Result<u64, ClientError> {
        let sent = self.agent.post(self.at(path)).header("authorization", self.bearer()).send(body);
        let taken: Taken = self.read(sent)?;
        self.acknowledged.fetch_max(taken.pushed, Ordering::Relaxed);
        Ok(taken.records)
    }

    /// The number of the last push that the server stored from this machine; `None` if the server refuses to say. It
    /// grows with every push. A smaller number than before means that an older copy of the server's database was
    /// restored.
    pub fn pushed(&self) -> Result<Option<i64>, ClientError> {
        let asked = self.agent.get(self.at("/v1/machine")).header("authorization", self.bearer());
        match self.read::<Taken>(asked.call()) {
            Ok(told) => {
                self.acknowledged.fetch_max(told.pushed, Ordering::Relaxed);
                Ok(Some(told.pushed))
            }
            Err(ClientError::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The largest push number that the server has told this client.
    pub fn acknowledged(&self) -> i64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    fn read<T: DeserializeOwned>(
        &self,
        answer: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<T, ClientError> {
        let away = |what: String| ClientError::Away(self.url.clone(), what);
        let mut answer = answer.map_err(|error| away(error.to_string()))?;
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(8 << 20).read_to_vec();
        let text = text.map_err(|error| away(error.to_string()))?;
        if status.is_success() {
            return serde_json::from_slice(&text)
                .map_err(|_| away("its answer is not that of a team server".to_owned()));
        }
        if let (StatusCode::CONFLICT, Ok(refusal)) = (status, serde_json::from_slice(&text)) {
            return Err(ClientError::Push(refusal));
        }
        let message = serde_json::from_slice::<serde_json::Value>(&text).ok();
        let message = message.and_then(|said| Some(said.get("message")?.as_str()?.to_owned()));
        let message = message.unwrap_or_else(|| status.to_string());
        if status.is_server_error()
            || status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
        {
            return Err(away(message));
        }
        Err(ClientError::Refused(message))
    }
}

fn read_authorities(path: &Path) -> Result<RootCerts, ClientError> {
    let unusable = |error: &dyn std::fmt::Display| ClientError::Usage(format!("{}: {error}", path.display()));
    let text = std::fs::read(path).map_err(|error: io::Error| unusable(&error))?;
    let mut found: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| unusable(&error))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(unusable(&"there is no certificate in it"));
    }
    Ok(RootCerts::new_with_certs(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_talked_to_without_tls() {
        for url in [
            "http://127.0.0.1:8080",
            "http://localhost:1",
            "http://[::1]:80",
            "https://graph.example",
            "https://h:1/",
        ] {
            assert!(Client::new(url, None, "").is_ok(), "{url}");
        }
        for url in [
            "http://graph.example",
            "http://127.0.0.1.example",
            "http://localhost@evil",
            "ftp://x",
            "graph.example",
            "https://",
            "https://a/b",
        ] {
            assert!(Client::new(url, None, "").is_err(), "{url}");
        }
    }
}
