//! What a peer says of itself as it enters a room: in the query of its URL, and by proofs.
//!
//! Of a key or a token that it tells or proves, nothing but the lock must go on from here.

use serde::Deserialize;

use super::rooms::Refusal;
use crate::room::{Malformed, Pass, Proven, RoomRole, Secret, check};

#[derive(Deserialize)]
pub(super) struct Ingress {
    pub key: Option<String>,
    /// A relay's token.
    host: Option<String>,
    /// The same, of its standby.
    standby: Option<String>,
    /// Its presence asks for a relay.
    relay: Option<String>,
    /// Its presence asks for a TURN server.
    pub turn: Option<String>,
    /// Its presence says that the key and the token are proven, and not told.
    pub proves: Option<String>,
    /// By what a peer is known again, and the number that it had.
    secret: Option<String>,
    arrival: Option<u64>,
}

impl Ingress {
    pub fn role(&self) -> RoomRole {
        match (&self.host, &self.standby, &self.relay) {
            (Some(token), ..) => RoomRole::Relay { token: token.clone() },
            (None, Some(token), _) => RoomRole::Standby { token: token.clone() },
            (None, None, Some(_)) => RoomRole::Player,
            (None, None, None) => RoomRole::Peer,
        }
    }

    pub fn pass(&self) -> Pass<'_> {
        Pass { secret: self.secret.as_deref(), arrival: self.arrival }
    }

    /// Of what is told the lock alone is of use.
    pub fn locked(self, room: &str) -> Result<Self, Malformed> {
        check(room, self.key.as_deref(), &self.role(), self.pass())?;
        let lock = |what: Secret, secret: Option<String>| secret.map(|secret| what.lock(room, &secret));
        let (host, standby) = (lock(Secret::Token, self.host), lock(Secret::Token, self.standby));
        Ok(Self { key: lock(Secret::Key, self.key), host, standby, ..self })
    }

    /// The same, of what is proven.
    pub fn proven(self, room: &str, nonce: &str, key: Option<Proven>, token: Option<Proven>) -> Result<Self, Refusal> {
        let lock = |proven: Proven| proven.lock(room, nonce).ok_or(Refusal::NotProven);
        let lock = |proven: Option<Proven>| proven.map(lock).transpose();
        let (key, token) = (lock(key)?, lock(token)?.unwrap_or_default());
        let (host, standby) = (self.host.map(|_| token.clone()), self.standby.map(|_| token.clone()));
        Ok(Self { key, host, standby, ..self })
    }
}
