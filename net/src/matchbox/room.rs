//! Rooms by name: what a name may be, and how name and key travel in the URL (a browser cannot send headers).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Config;
use crate::link::LinkError;

/// The longest room name, in characters.
pub const ROOM_CHARS_MAX: usize = 64;

/// Whether a room may be called this: 1 to 64 of `A-Z a-z 0-9 _ -`.
pub fn is_room_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=ROOM_CHARS_MAX).contains(&name.len()) && name.bytes().all(allowed)
}

/// `ws://host:port/ROOM?key=KEY`.
pub(super) fn url(config: &Config) -> String {
    let base = config.url.trim_end_matches('/');
    let room = utf8_percent_encode(&config.room, NON_ALPHANUMERIC);
    match &config.key {
        Some(key) => format!("{base}/{room}?key={}", utf8_percent_encode(key, NON_ALPHANUMERIC)),
        None => format!("{base}/{room}"),
    }
}

/// Finds before any connection what can only fail.
pub(super) fn check(config: &Config) -> Result<(), LinkError> {
    if !is_room_name(&config.room) {
        let cause = format!("a room's name is 1 to {ROOM_CHARS_MAX} of A-Z a-z 0-9 _ -");
        return Err(LinkError::Refused { room: config.room.clone(), cause });
    }
    if !config.url.starts_with("ws://") && !config.url.starts_with("wss://") {
        let cause = "a signaling server's address begins with ws:// or wss://".into();
        return Err(LinkError::Unreachable { url: config.url.clone(), cause });
    }
    Ok(())
}
