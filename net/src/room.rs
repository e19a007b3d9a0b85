//! What links and the signaling server must say alike of rooms: their names and roles, how a peer
//! shows that it knows a room's key or its relay's token without telling it, and by which TURN
//! server it may go.

use serde::{Deserialize, Serialize};

use crate::key::{PlayerKey, Proof, PublicKey, Statement};

/// The longest room name, in characters.
pub const ROOM_CHARS_MAX: usize = 64;

/// The longest room key, in bytes.
pub const KEY_BYTES_MAX: usize = 128;

/// The longest token of a relay, in bytes.
pub const TOKEN_BYTES_MAX: usize = 128;

/// A peer's secret, by which it is known again: the shortest and the longest, in bytes.
const SECRET_BYTES_MIN: usize = 16;
const SECRET_BYTES_MAX: usize = 64;

/// With this code the server closes a connection that another of the same peer, or of a relay with
/// the same token, has replaced.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const REPLACED: u16 = 4_001;

/// Whether a room may be called this: 1 to 64 of `A-Z a-z 0-9 _ -`.
pub fn is_room_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=ROOM_CHARS_MAX).contains(&name.len()) && name.bytes().all(allowed)
}

/// As what a peer enters its room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RoomRole {
    /// One of a party: connected with every other.
    #[default]
    Peer,
    /// The relay: the room is its own, and it is connected with every player.
    Relay {
        /// 1 to 128 bytes that nobody else knows: a relay that presents the same takes the room
        /// over.
        token: String,
    },
    /// The relay's standby: connected with the relay and with every player.
    Standby {
        /// The relay's.
        token: String,
    },
    /// A player of the room's relay: connected with that, and with its standby, alone.
    Player,
}

impl RoomRole {
    /// What a relay and its standby alone know.
    pub(crate) fn token(&self) -> Option<&str> {
        match self {
            Self::Relay { token } | Self::Standby { token } => Some(token),
            Self::Peer | Self::Player => None,
        }
    }
}

/// By what the server knows a peer again whose connection to it was lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass<'a> {
    /// What nobody else knows. The peer's id is made of it.
    pub secret: Option<&'a str>,
    /// The number of its arrival, if it comes back.
    pub arrival: Option<u64>,
}

/// What no room, key or token can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("a room's name is 1 to {ROOM_CHARS_MAX} of A-Z a-z 0-9 _ -")]
    RoomName,
    #[error("a room's key is at most {KEY_BYTES_MAX} bytes")]
    KeyTooLong,
    #[error("a relay's token is 1 to {TOKEN_BYTES_MAX} bytes")]
    BadToken,
    #[error("a peer's secret is {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes, and who comes back presents it")]
    BadPass,
}

/// What can be said of an entry without looking into any room.
pub(crate) fn check(name: &str, key: Option<&str>, role: &RoomRole, pass: Pass<'_>) -> Result<(), Malformed> {
    let is_bad_pass = match pass {
        Pass { secret: Some(secret), arrival } => {
            !(SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&secret.len())
                || arrival.is_some_and(|arrival| arrival > u64::from(u32::MAX))
        }
        Pass { secret: None, arrival } => arrival.is_some(),
    };
    match role {
        _ if is_bad_pass => Err(Malformed::BadPass),
        _ if !is_room_name(name) => Err(Malformed::RoomName),
        _ if key.is_some_and(|key| key.len() > KEY_BYTES_MAX) => Err(Malformed::KeyTooLong),
        RoomRole::Relay { token } | RoomRole::Standby { token } if !(1..=TOKEN_BYTES_MAX).contains(&token.len()) => {
            Err(Malformed::BadToken)
        }
        _ => Ok(()),
    }
}

/// What a peer shows to know. Its lock is all that a server needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Secret {
    /// The room's key.
    Key,
    /// The token of its relay.
    Token,
}

impl Secret {
    fn key(self, room: &str, secret: &str) -> PlayerKey {
        let what = match self {
            Self::Key => "key",
            Self::Token => "token",
        };
        PlayerKey::of_secret(&format!("{what} of the room {room}: {secret}"))
    }

    /// The same for all who know the secret, and another in every room.
    #[cfg(all(feature = "signaling", not(target_arch = "wasm32")))]
    pub fn lock(self, room: &str, secret: &str) -> String {
        self.key(room, secret).public().to_string()
    }

    #[cfg(feature = "matchbox")]
    pub fn prove(self, room: &str, secret: &str, nonce: &str) -> Proven {
        let key = self.key(room, secret);
        Proven { key: key.public(), proof: key.sign(&Entry { room, nonce }) }
    }
}

/// A TURN server, and as whom it lets a peer in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// `turn:host:port`.
    pub url: String,
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: String,
}

/// The longest address, name or password of a TURN server, in bytes.
#[cfg(feature = "matchbox")]
const TURN_BYTES_MAX: usize = 256;

/// Whether an address can be one of a server of this scheme, `stun` or `turn`. A browser throws at
/// what cannot.
#[cfg(feature = "matchbox")]
pub fn is_ice_server(url: &str, scheme: &str) -> bool {
    let host = url.strip_prefix(scheme).and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
    let ways: &[&str] = if scheme == "turn" { &["?transport=udp", "?transport=tcp"] } else { &[] };
    let host = ways.iter().find_map(|way| host.strip_suffix(way)).unwrap_or(host);
    let is_host = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b));
    is_host && url.len() <= TURN_BYTES_MAX
}

#[cfg(feature = "matchbox")]
impl Turn {
    /// Whether it can be one.
    pub fn is_well_formed(&self) -> bool {
        let Turn { url, user, password } = self;
        is_ice_server(url, "turn") && [user, password].iter().all(|text| (1..=TURN_BYTES_MAX).contains(&text.len()))
    }

    /// A TURN server tells by STUN, too, how a peer is seen: so whoever needs no TURN is spared it.
    pub fn stun(&self) -> String {
        let host = self.url.strip_prefix("turn:").unwrap_or_default();
        format!("stun:{}", host.split('?').next().unwrap_or_default())
    }
}

/// What goes beside matchbox's messages: before them if a peer has something to prove, and the TURN
/// server at any time.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Door {
    /// The server wants this signed.
    Challenge(String),
    /// The peer has signed it.
    Proofs {
        /// By the room's key, if it has one.
        key: Option<Proven>,
        /// By the token of its relay, if the peer is that or its standby.
        token: Option<Proven>,
    },
    /// The server says why the peer may not enter.
    Refused(String),
    /// By this TURN server the peer may go from now on.
    Turn(Turn),
}

/// That a peer knows a secret.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Proven {
    key: PublicKey,
    proof: Proof,
}

impl Proven {
    /// The secret's lock, if it is proven.
    #[cfg(all(feature = "signaling", not(target_arch = "wasm32")))]
    pub fn lock(&self, room: &str, nonce: &str) -> Option<String> {
        self.key.signed(&Entry { room, nonce }, &self.proof).then(|| self.key.to_string())
    }
}

/// What is signed.
#[derive(Serialize)]
struct Entry<'a> {
    room: &'a str,
    nonce: &'a str,
}

impl Statement for Entry<'_> {
    const SUBJECT: &'static str = "lockstone: a room's secret";
}
