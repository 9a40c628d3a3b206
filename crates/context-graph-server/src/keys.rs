//! Keys, signatures and tokens.

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

pub use context_graph_storage::hex::{hex, unhex};

/// A signing key: of a machine, or of the team's policy.
pub struct SigningKey {
    pair: Ed25519KeyPair,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The key made from these 32 random bytes.
    pub fn from_seed(seed: &[u8]) -> Option<Self> {
        Ed25519KeyPair::from_seed_unchecked(seed).ok().map(|pair| Self { pair })
    }

    /// The public half.
    pub fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// Signs.
    pub fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.pair.sign(text).as_ref().to_vec()
    }
}

/// Whether a signature was made with the private half of this key.
pub fn is_signed(public: &[u8], text: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ED25519, public).verify(text, signature).is_ok()
}

/// 32 random bytes.
pub fn random() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// A token: 256 random bits, after a prefix that says what it is for.
pub fn token(kind: &str) -> std::io::Result<String> {
    Ok(format!("{kind}_{}", hex(&random()?)))
}

/// The form in which a token is stored. Tokens are random, so a single hash is enough.
pub fn hashed(token: &str) -> Vec<u8> {
    blake3::derive_key("context-graph 1 team token", token.as_bytes()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_key_and_one_text() {
        let (one, other) =
            (SigningKey::from_seed(&[1; 32]).unwrap(), SigningKey::from_seed(&[2; 32]).unwrap());
        let signature = one.sign(b"text");
        assert!(is_signed(one.public(), b"text", &signature));
        assert!(!is_signed(other.public(), b"text", &signature));
        assert!(!is_signed(one.public(), b"texT", &signature));
        assert!(!is_signed(&[], b"text", &[]));
    }
}
