//! A player's key: whoever has it is the player, from whatever connection, process or machine.
//!
//! A key never travels. It signs an answer to who lets joiners in, and that its player is at one
//! end of a connection, which both hold for that one; of who closes a party's turns, what those
//! are; of a party's members, whom they vote for; and of a rollback player, what it gives.

use core::fmt;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use lockstone_sim::codec;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex;
use crate::link::{Binding, PeerId};
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
    /// By which connection.
    pub binding: Binding,
}

/// What is signed: that a peer is at one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Vouched {
    /// Who says so.
    pub speaker: PeerId,
    pub binding: Binding,
}

impl PlayerKey {
    /// A key of 32 random bytes, which nobody else must know.
    pub fn from_bytes(bytes: [u8; 32]) -> PlayerKey {
        PlayerKey(SigningKey::from_bytes(&bytes))
    }

    /// The same of a key that is written as 64 hexadecimal digits; `None` if it is not.
    pub fn from_hex(digits: &str) -> Option<PlayerKey> {
        hex::decode_array(digits).map(PlayerKey::from_bytes)
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
        hex::encode(&Sha256::digest(signature.to_bytes()))
    }

    pub(crate) fn sign(&self, statement: &impl Statement) -> Proof {
        let signature = self.0.sign(&statement.text());
        Proof(*signature.r_bytes(), *signature.s_bytes())
    }
}

impl fmt::Debug for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerKey of {:?}", self.public())
    }
}

impl PublicKey {
    /// Its first 80 bits in five groups, for people to compare: enough that nobody finds another
    /// key which looks the same.
    pub fn short(&self) -> String {
        let groups = self.0.chunks(2).take(5).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1]));
        groups.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl PublicKey {
    /// Whether something was signed with this key.
    pub(crate) fn signed(&self, statement: &impl Statement, proof: &Proof) -> bool {
        let signature = Signature::from_components(proof.0, proof.1);
        VerifyingKey::from_bytes(&self.0).is_ok_and(|key| key.verify_strict(&statement.text(), &signature).is_ok())
    }
}

/// What can be signed.
pub(crate) trait Statement: Serialize {
    /// Stands before it, so that no statement of one kind is one of another.
    const SUBJECT: &'static str;

    fn text(&self) -> Vec<u8> {
        codec::compact(&(Self::SUBJECT, self))
    }
}

impl Statement for Claim {
    const SUBJECT: &'static str = "lockstone: a player's key";
}

impl Statement for Vouched {
    const SUBJECT: &'static str = "lockstone: an end of a connection";
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim =
        Claim { epoch: Epoch(3), host: PeerId(1), joiner: PeerId(2), nonce: 4, binding: Binding([5; 32]) };

    #[test]
    fn a_proof_holds_for_one_key_and_one_claim() {
        let (key, other) = (PlayerKey::from_bytes([7; 32]), PlayerKey::from_bytes([8; 32]));
        let proof = key.sign(&CLAIM);
        assert!(key.public().signed(&CLAIM, &proof));
        assert!(!other.public().signed(&CLAIM, &proof), "another's key");
        assert!(!PublicKey([0; 32]).signed(&CLAIM, &proof), "a key of small order");
        assert!(!PublicKey([2; 32]).signed(&CLAIM, &proof), "no key at all");
        assert!(!key.public().signed(&CLAIM, &Proof([255; 32], [255; 32])), "no signature at all");
        let others = [
            Claim { epoch: Epoch(4), ..CLAIM },
            Claim { host: PeerId(9), ..CLAIM },
            Claim { joiner: PeerId(9), ..CLAIM },
            Claim { nonce: 9, ..CLAIM },
            Claim { binding: Binding([9; 32]), ..CLAIM },
        ];
        assert!(others.iter().all(|claim| !key.public().signed(claim, &proof)), "said elsewhere");
    }
}
