//! To whom this peer's connections lead: each end proves its key for the very connection.
//!
//! ```text
//! Secured ─► something is heard ─► Vouch ─► the other end's own binding fits ──► its key is known
//!                                               └─► it does not: someone is between
//! ```
//!
//! The server that brings two peers together can put someone between them, who decrypts all that
//! they say, and encrypts it again. Then the two ends come to different [`Binding`]s. Each computes
//! its own: it must never be taken from a peer.

use std::collections::BTreeMap;

use crate::key::{PlayerKey, Vouched};
use crate::link::{Binding, PeerId};
use crate::wire::{Message, PublicKey, Vouch};

#[derive(Default)]
pub struct Bindings {
    me: Option<PeerId>,
    connections: BTreeMap<PeerId, Connection>,
}

struct Connection {
    binding: Binding,
    /// Whether this end has vouched for it.
    has_vouched: bool,
    /// By which the other end did.
    key: Option<PublicKey>,
}

/// What comes of a vouch.
#[derive(Debug, PartialEq)]
pub enum Vouching {
    /// Its sender has this key, and is at the other end.
    Proven,
    /// Someone else is at the other end, or its sender does not have the key.
    False,
    /// It has no place here.
    Unexpected,
}

impl Bindings {
    /// How this peer is called.
    pub fn enter(&mut self, me: PeerId) {
        self.me = Some(me);
    }

    /// A connection is about to be there.
    pub fn secured(&mut self, peer: PeerId, binding: Binding) {
        self.connections.insert(peer, Connection { binding, has_vouched: false, key: None });
    }

    pub fn disconnected(&mut self, peer: PeerId) {
        self.connections.remove(&peer);
    }

    /// That of the connection with a peer: the same at both ends.
    pub fn of(&self, peer: PeerId) -> Binding {
        self.connections.get(&peer).map_or(Binding::default(), |connection| connection.binding)
    }

    /// The key that the other end of the connection has.
    pub fn key(&self, peer: PeerId) -> Option<PublicKey> {
        self.connections.get(&peer)?.key
    }

    /// What a peer is to be told that was heard, once.
    pub fn vouch(&mut self, peer: PeerId, key: Option<&PlayerKey>) -> Option<Message> {
        let (speaker, key) = (self.me?, key?);
        let connection = self.connections.get_mut(&peer).filter(|connection| !connection.has_vouched)?;
        connection.has_vouched = true;
        let proof = key.sign(&Vouched { speaker, binding: connection.binding });
        Some(Message::Vouch(Vouch { key: key.public(), proof }))
    }

    /// A peer vouches for the connection.
    pub fn vouched(&mut self, by: PeerId, vouch: &Vouch) -> Vouching {
        let connection = self.connections.get_mut(&by).filter(|connection| connection.key.is_none());
        let Some(connection) = connection else { return Vouching::Unexpected };
        if !vouch.key.signed(&Vouched { speaker: by, binding: connection.binding }, &vouch.proof) {
            return Vouching::False;
        }
        connection.key = Some(vouch.key);
        Vouching::Proven
    }
}
