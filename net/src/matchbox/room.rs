//! Where a link finds its peers: the server, the room, its key and a peer's role, and how these
//! travel in the URL (a browser cannot send headers), with the pass by which the server knows a
//! peer again. The key and a relay's token must never travel: they are proven.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::link::LinkError;
pub use crate::room::Turn;
use crate::room::{Door, Pass, RoomRole, Secret};
#[cfg(not(target_arch = "wasm32"))]
use crate::tls::Trust;

/// Where a link finds its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The signaling server: `ws://host:port` or `wss://host`.
    pub url: String,
    /// The room: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub room: String,
    /// The room's key, at most 128 bytes. The first peer in a room sets it, the others must
    /// present the same.
    pub key: Option<String>,
    /// STUN servers (`stun:host:port`). None are needed on one machine or in one local network.
    pub stun: Vec<String>,
    /// The server by which packets go where no other way leads, in place of the one that the
    /// signaling server may have for its peers.
    pub turn: Option<Turn>,
    /// Whom this end takes for the signaling server behind `wss`. A browser knows by itself.
    #[cfg(not(target_arch = "wasm32"))]
    pub trust: Trust,
    /// As what the room is entered.
    pub role: RoomRole,
    /// How long a link that has lost its server, and has no peer, looks for the server before it
    /// ends. Default 10 min. The link of a relay or of its standby never ends.
    pub return_within: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            url: String::new(),
            room: String::new(),
            key: None,
            stun: Vec::new(),
            turn: None,
            #[cfg(not(target_arch = "wasm32"))]
            trust: Trust::Web,
            role: RoomRole::default(),
            return_within: Duration::from_secs(600),
        }
    }
}

/// A browser does not tell a page why no WebSocket was opened. Whoever proves something, if only
/// that there is nothing, is told in the WebSocket.
const HEARS_NO_STATUS: bool = cfg!(target_arch = "wasm32");

/// `ws://host:port/ROOM?secret=SECRET`, for a relay with `&host`, for its standby with `&standby`,
/// for its player with `&relay`, for who comes back with `&arrival=NUMBER`; with `&turn` unless a
/// TURN server is named; with `&proves`, if there are [`proofs`], or if it
/// [hears no status](HEARS_NO_STATUS).
pub(super) fn url(config: &Config, pass: Pass<'_>) -> String {
    let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
    let has_secret = config.key.is_some() || config.role.token().is_some();
    let proves = (has_secret || HEARS_NO_STATUS).then(|| "proves".to_owned());
    let role = match &config.role {
        RoomRole::Peer => None,
        RoomRole::Relay { .. } => Some("host".to_owned()),
        RoomRole::Standby { .. } => Some("standby".to_owned()),
        RoomRole::Player => Some("relay".to_owned()),
    };
    let secret = pass.secret.map(|secret| format!("secret={}", encoded(secret)));
    let arrival = pass.arrival.map(|arrival| format!("arrival={arrival}"));
    let turn = config.turn.is_none().then(|| "turn".to_owned());
    let query = [proves, role, turn, secret, arrival].into_iter().flatten().collect::<Vec<_>>().join("&");
    let room = format!("{}/{}", config.url.trim_end_matches('/'), encoded(&config.room));
    if query.is_empty() { room } else { format!("{room}?{query}") }
}

/// Answers a server's challenge.
pub(super) fn proofs(config: &Config, nonce: &str) -> Door {
    let prove = |what: Secret, secret: &str| what.prove(&config.room, secret, nonce);
    let key = config.key.as_ref().map(|key| prove(Secret::Key, key));
    Door::Proofs { key, token: config.role.token().map(|token| prove(Secret::Token, token)) }
}

/// Finds before any connection what can only fail.
pub(super) fn check(config: &Config) -> Result<(), LinkError> {
    crate::room::check(&config.room, config.key.as_deref(), &config.role, Pass::default())
        .map_err(|malformed| LinkError::Refused { room: config.room.clone(), cause: malformed.to_string() })?;
    if !config.url.starts_with("ws://") && !config.url.starts_with("wss://") {
        let cause = "a signaling server's address begins with ws:// or wss://".into();
        return Err(LinkError::Unreachable { url: config.url.clone(), cause });
    }
    Ok(())
}
