//! The seam that carries bytes between peers.
//!
//! Two carriers implement it: `matchbox` (WebRTC data channels) and `memory` (a seeded network in
//! one process). A link knows nothing of what it carries and never blocks.

use core::fmt;
use core::task::Waker;

use serde::{Deserialize, Serialize};

use crate::text::escaped;

/// A peer as its carrier names it. A link keeps it, also if its peers or its server lose it for a
/// while, unless its room [begins anew](LinkEvent::Entered); a new link has a new one.
///
/// Ordered by arrival in the room: the high 64 bits count arrivals (0 is the room's first peer),
/// the low 64 bits are like random ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PeerId(pub u128);

impl PeerId {
    /// How many peers had entered the room before this one since it was last empty. 0
    /// founds the session.
    pub const fn arrival(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:08x}", self.arrival(), self.0 as u32)
    }
}

/// How a packet travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// May be lost, duplicated or overtaken; never waits for another. Turns and commands.
    Unreliable,
    /// Arrives once and in order, or the connection ends. Hello and snapshots.
    ///
    /// But what is sent before the other end knows of the connection may be lost. Once something
    /// came from there, nothing is.
    Reliable,
}

/// What both ends of an encrypted connection know alike, and computed by themselves: a digest of
/// the keys by which they know each other. If someone is between them who decrypts and encrypts
/// again, the two ends come to different ones. All zeros where the carrier has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding(pub [u8; 32]);

/// What a link has to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// This peer's own name is known: the room let it in. It comes again, with another name, if
    /// the room begins anew: its first peer never spoke to those who came. By then all are
    /// [disconnected](LinkEvent::Disconnected).
    Entered(PeerId),
    /// Of a connection that is encrypted, just before [`Connected`](LinkEvent::Connected).
    Secured {
        /// Who is at the other end, if nobody is between.
        peer: PeerId,
        /// What it knows alike.
        binding: Binding,
    },
    /// Bytes can now be sent to a peer.
    Connected(PeerId),
    /// A peer is gone; nothing more will come from it.
    Disconnected(PeerId),
    /// A packet arrived.
    Packet {
        /// Who sent it.
        from: PeerId,
        /// How it came.
        channel: Channel,
        /// What it holds: hostile until checked.
        bytes: Vec<u8>,
    },
    /// Nobody new can join: the way to the signaling server is lost, and looked for. Connections
    /// live on.
    SignalingLost(LinkError),
    /// The way to the signaling server is found again.
    SignalingBack,
    /// The link itself ended; no event follows.
    Closed(LinkError),
}

/// Why a link ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// No signaling server answered.
    #[error("no signaling server answers at {url}: {}", escaped(.cause))]
    Unreachable {
        /// Where it was looked for.
        url: String,
        /// What the attempt said.
        cause: String,
    },
    /// The signaling server did not let this peer into the room.
    #[error("the signaling server refused room {room:?}: {}", escaped(.cause))]
    Refused {
        /// The room.
        room: String,
        /// The server's reason.
        cause: String,
    },
    /// The connection to the signaling server or the carrier's own loop ended.
    #[error("the connection ended: {}", escaped(.0))]
    Ended(String),
}

/// What lies between this peer and one that it cannot reach, by what was heard while both looked
/// for a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The other one said nothing by signaling: it may be gone.
    Silence,
    /// A TURN server was named, and gave no address: it is not there, or it does not let this peer
    /// in.
    Turn {
        /// Whether it is there, as it told how this peer is seen: so it does not take the user's
        /// name and password.
        refused: bool,
    },
    /// A STUN server was named, and gave no address: it is not there, or no UDP leaves this
    /// network.
    Stun,
    /// Both told each other ways, and none of them leads through.
    Firewall {
        /// Whether one of the ways is by a TURN server.
        relayed: bool,
    },
}

/// A carrier of packets between peers.
pub trait Link {
    /// The largest packet that arrives on every carrier, in bytes.
    const PACKET_BYTES_MAX: usize = 65_536;

    /// The next thing that happened, if any.
    fn poll(&mut self) -> Option<LinkEvent>;

    /// Hands a packet over. To a peer that is not connected (any more) it goes nowhere, as a
    /// lost packet would.
    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>);

    /// What lies between this peer and others that it never reached, as far as the carrier can
    /// tell.
    fn obstacle(&self) -> Option<Obstacle> {
        None
    }

    /// Has its driver woken once [`poll`](Link::poll) has something again, after it had nothing.
    /// It may be woken for nothing, too. Returns whether the link can do so: the driver of one that
    /// cannot has to look now and then.
    fn wake_with(&mut self, driver: &Waker) -> bool {
        let _ = driver;
        false
    }
}
