//! A player's key: whoever has it is the player, from whatever connection, process or machine.
//!
//! A key never travels. It signs an answer to who lets joiners in, which holds for one connection.

use core::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use lockstone_sim::codec;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::link::PeerId;
use crate::wire::Epoch;

/// What is digested with a secret to make its key.
const DIGESTED: &str = "lockstone: a key of a secret";

/// What is signed before a room's name, to make the token that claims it.
const CLAIMED: &str = "lockstone: the token of a relay's room ";

/// What a player keeps secret: an ed25519 key (RFC 8032).
#[derive(Clone)]
pub struct PlayerKey(SigningKey);

/// What others know of a player's key. It need not be a key at all, as it may come from a peer:
/// then nobody can prove to have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PublicKey(pub [u8; 32]);

/// A signature, in its two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof(pub [u8; 32], pub [u8; 32]);

/// What is signed: that a peer, as another knows it, has the key. So it is of no use to anyone
/// else, elsewhere, or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// In which epoch of the session.
    pub epoch: Epoch,
    /// Who asks.
    pub host: PeerId,
    /// Who has the key.
    pub joiner: PeerId,
    /// What the host said.
    pub nonce: u64,
}

impl PlayerKey {
    /// A key of 32 random bytes, which nobody else must know.
    pub fn from_bytes(bytes: [u8; 32]) -> PlayerKey {
        PlayerKey(SigningKey::from_bytes(&bytes))
    }

    /// The key of whoever knows a secret text: a relay and its standby have the same.
    pub fn of_secret(secret: &str) -> PlayerKey {
        let digest = Sha256::new().chain_update(DIGESTED).chain_update(secret).finalize();
        PlayerKey::from_bytes(digest.into())
    }

    /// What others may know of it.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// The token by which a relay with this key claims a room, whenever it does. It tells nothing
    /// of the key, and is of no use for another room.
    pub fn room_token(&self, room: &str) -> String {
        let signature = self.0.sign(format!("{CLAIMED}{room}").as_bytes());
        let digest = Sha256::digest(signature.to_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn prove(&self, claim: &Claim) -> Proof {
        let signature = self.0.sign(&claim.text());
        Proof(*signature.r_bytes(), *signature.s_bytes())
    }
}

impl fmt::Debug for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerKey of {:?}", self.public())
    }
}

impl PublicKey {
    /// Whether a claim was signed with this key.
    pub(crate) fn proves(&self, claim: &Claim, proof: &Proof) -> bool {
        let signature = Signature::from_components(proof.0, proof.1);
        VerifyingKey::from_bytes(&self.0).is_ok_and(|key| key.verify_strict(&claim.text(), &signature).is_ok())
    }
}

impl Claim {
    fn text(&self) -> Vec<u8> {
        codec::compact(&("lockstone: a player's key", self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim = Claim { epoch: Epoch(3), host: PeerId(1), joiner: PeerId(2), nonce: 4 };

    #[test]
    fn a_proof_holds_for_one_key_and_one_claim() {
        let (key, other) = (PlayerKey::from_bytes([7; 32]), PlayerKey::from_bytes([8; 32]));
        let proof = key.prove(&CLAIM);
        assert!(key.public().proves(&CLAIM, &proof));
        assert!(!other.public().proves(&CLAIM, &proof), "another's key");
        assert!(!PublicKey([0; 32]).proves(&CLAIM, &proof), "a key of small order");
        assert!(!PublicKey([2; 32]).proves(&CLAIM, &proof), "no key at all");
        assert!(!key.public().proves(&CLAIM, &Proof([255; 32], [255; 32])), "no signature at all");
        let others = [
            Claim { epoch: Epoch(4), ..CLAIM },
            Claim { host: PeerId(9), ..CLAIM },
            Claim { joiner: PeerId(9), ..CLAIM },
            Claim { nonce: 9, ..CLAIM },
        ];
        assert!(others.iter().all(|claim| !key.public().proves(claim, &proof)), "said elsewhere");
    }
}
