//! What this machine knows about its team, in the user's own folder: the server, the member, the keys and the
//! policy in force. `marks.rs` has how far it has pushed.

use std::path::{Path, PathBuf};

use context_graph_server::client::{Client, ClientError};
use context_graph_server::keys::{SigningKey, hex, unhex};
use context_graph_storage::safe_open::read_own;
use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::commands::failure::Failure;
use crate::error_code::ErrorCode;
use crate::team_policy::MEMBERSHIP as FILE;

pub(super) const MAX_FILE: u64 = 64 << 20;

/// A machine's membership in a team.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) url: String,
    pub(super) authorities: Option<PathBuf>,
    pub(super) machine: i64,
    pub(super) token: String,
    pub(super) team: String,
    pub(super) member: String,
    pub(super) seed: [u8; 32],
    /// The public key of the team's policies, received when joining.
    pub(super) policy_key: Option<Vec<u8>>,
    /// The team's policy that was put in force last.
    pub(super) policy: Option<KnownPolicy>,
    /// Why the team's newest policy is not in force.
    pub(super) policy_problem: Option<String>,
}

/// A policy of the team's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownPolicy {
    pub(super) number: u64,
    pub(super) etag: String,
}

/// Its form on disk.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    format: u32,
    url: String,
    authorities: Option<PathBuf>,
    machine: i64,
    token: String,
    team: String,
    member: String,
    key: String,
    #[serde(default)]
    policy_key: Option<String>,
    #[serde(default)]
    policy: Option<KnownPolicy>,
    #[serde(default)]
    policy_problem: Option<String>,
}

pub(super) fn unusable(path: &Path, problem: &dyn std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::Storage, format!("{} cannot be used: {problem}", path.display()))
        .with_next_step("remove it and join again")
}

impl Membership {
    /// The membership, if there is one.
    pub(super) fn read(environment: &Environment) -> Result<Option<Self>, Failure> {
        let path = environment.user_folder()?.path().join(FILE);
        let bytes = match read_own(&path, MAX_FILE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| unusable(&path, &error))?,
        };
        let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| unusable(&path, &error))?;
        let seed = unhex(&kept.key).and_then(|seed| seed.try_into().ok());
        let seed = seed
            .filter(|_| kept.format == 1)
            .ok_or_else(|| unusable(&path, &"its format or key is not known"))?;
        let policy_key = kept.policy_key.as_deref().and_then(unhex);
        let Kept { url, authorities, machine, token, team, member, policy, policy_problem, .. } = kept;
        Ok(Some(Self {
            url,
            authorities,
            machine,
            token,
            team,
            member,
            seed,
            policy_key,
            policy,
            policy_problem,
        }))
    }

    pub(super) fn write(&self, environment: &Environment) -> Result<(), Failure> {
        let folder = environment.user_folder()?.open()?;
        let kept = Kept {
            format: 1,
            url: self.url.clone(),
            authorities: self.authorities.clone(),
            machine: self.machine,
            token: self.token.clone(),
            team: self.team.clone(),
            member: self.member.clone(),
            key: hex(&self.seed),
            policy_key: self.policy_key.as_deref().map(hex),
            policy: self.policy.clone(),
            policy_problem: self.policy_problem.clone(),
        };
        let bytes = serde_json::to_vec(&kept).map_err(|error| unusable(folder.path(), &error))?;
        folder.replace(FILE, &bytes).map_err(|error| unusable(folder.path(), &error))
    }

    /// Removes everything about the team.
    pub(super) fn remove(environment: &Environment) -> Result<(), Failure> {
        let folder = environment.user_folder()?.open()?;
        super::marks::remove(&folder)?;
        folder.remove(FILE).map_err(|error| unusable(folder.path(), &error))?;
        super::policy::remove(environment)
    }

    pub(super) fn client(&self) -> Result<Client, ClientError> {
        Client::new(&self.url, self.authorities.as_deref(), &self.token)
    }

    pub(super) fn key(&self) -> Result<SigningKey, Failure> {
        SigningKey::from_seed(&self.seed)
            .ok_or_else(|| Failure::new(ErrorCode::Internal, "the key cannot be used"))
    }

    /// A keyed fingerprint of a text. Only this machine can compute it, so nobody can find the text by
    /// guessing.
    pub(super) fn fingerprint(&self, text: &str) -> String {
        let key = blake3::derive_key("context-graph 1 shared path", &self.seed);
        format!("#{}", &blake3::keyed_hash(&key, text.as_bytes()).to_hex()[..16])
    }
}
