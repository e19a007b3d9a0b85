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
