//! How a room's name, its key and a peer's role travel in the URL (a browser cannot send headers).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Config, RoomRole};
use crate::link::LinkError;

/// `ws://host:port/ROOM?key=KEY`, for a relay with `&host=TOKEN`, for its player with `&relay`.
pub(super) fn url(config: &Config) -> String {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let key = config.key.as_ref().map(|key| format!("key={}", encoded(key)));
    let role = match &config.role {
        RoomRole::Peer => None,
        RoomRole::Relay { token } => Some(format!("host={}", encoded(token))),
        RoomRole::Player => Some("relay".to_owned()),
    };
    let query = key.into_iter().chain(role).collect::<Vec<_>>().join("&");
    let room = format!("{}/{}", config.url.trim_end_matches('/'), encoded(&config.room));
    if query.is_empty() { room } else { format!("{room}?{query}") }
}

/// Finds before any connection what can only fail.
pub(super) fn check(config: &Config) -> Result<(), LinkError> {
    crate::room::check(&config.room, config.key.as_deref(), &config.role)
        .map_err(|malformed| LinkError::Refused { room: config.room.clone(), cause: malformed.to_string() })?;
    if !config.url.starts_with("ws://") && !config.url.starts_with("wss://") {
        let cause = "a signaling server's address begins with ws:// or wss://".into();
        return Err(LinkError::Unreachable { url: config.url.clone(), cause });
    }
    Ok(())
}
