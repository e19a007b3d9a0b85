//! What links and the signaling server must say alike of rooms.

/// The longest room name, in characters.
pub const ROOM_CHARS_MAX: usize = 64;

/// The longest room key, in bytes.
pub const KEY_BYTES_MAX: usize = 128;

/// The longest token of a relay, in bytes.
pub const TOKEN_BYTES_MAX: usize = 128;

/// With this code the server closes a relay's connection that another with the same
/// token has replaced.
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
    /// A player of the room's relay: connected with that alone.
    Player,
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
}

/// What can be said of an entry without looking into any room.
pub(crate) fn check(name: &str, key: Option<&str>, role: &RoomRole) -> Result<(), Malformed> {
    match role {
        _ if !is_room_name(name) => Err(Malformed::RoomName),
        _ if key.is_some_and(|key| key.len() > KEY_BYTES_MAX) => Err(Malformed::KeyTooLong),
        RoomRole::Relay { token } if !(1..=TOKEN_BYTES_MAX).contains(&token.len()) => Err(Malformed::BadToken),
        _ => Ok(()),
    }
}
