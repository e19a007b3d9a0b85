//! The link's signaling connection: a WebSocket that carries matchbox's JSON messages.
//!
//! Its loop is [`signal`]. It must always end by telling why, in words for a person.

use std::time::Duration;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::future::Either;
use futures::{FutureExt, StreamExt, pin_mut, select};
use matchbox_socket::{PeerEvent, PeerId as Name, PeerRequest, PeerSignal};
use serde::{Deserialize, Serialize};
use web_time::Instant;

use super::delay::Delay;
use super::name::Own;
use super::quota::Quota;
use super::{Config, RoomRole, ours, room};
use crate::limits::{SERVER_MESSAGE_BYTES_MAX, SERVER_MESSAGES_PER_S_MAX};
use crate::link::{LinkError, PeerId};
use crate::room::{Pass, Turn};
use crate::text::is_code;

/// How long the server may take to let a peer in, for the first time and again. While the network
/// swallows all, TCP knocks after 0, 1, 3 and 7 s, and so on: an attempt that goes on for longer
/// would find the server seconds after it can be reached again.
const ENTER_WITHIN: Duration = Duration::from_secs(10);
const RETURN_WITHIN: Duration = Duration::from_secs(5);

/// What a server says at its door at most: a challenge, a TURN server, and whether it lets in.
const DOOR_TEXTS_MAX: usize = 3;

/// How often the server hears something, so that it and what lies between keep the connection.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(10);

/// From one attempt to come back to the next, at first; twice as long each time, up to the
/// greatest. That is short: who comes to the room meanwhile finds nobody there. The first is made
/// at once if the connection lasted for a keep-alive: a page that was frozen finds it lost, and the
/// server there. One that did not might be lost again at once.
const RETURN_AFTER: Duration = Duration::from_millis(500);
const RETURN_AFTER_MAX: Duration = Duration::from_secs(2);
/// The same after a refusal.
const RETURN_REFUSED_MAX: Duration = Duration::from_secs(16);

/// Equal for peers of a room who have the same. Servers of others do not tell.
pub(super) type Address = Option<u64>;

/// What comes from signaling.
#[derive(Debug)]
pub(super) enum Heard {
    /// By this TURN server the peer may go, if it has none of its own.
    Turn(Turn),
    /// The server let this peer in, under this name, or the room begins anew, and this is its name
    /// there.
    Entered(PeerId),
    /// The server's word, and if it is a peer's signal, a number of the address that the peer has.
    Event(PeerEvent, Address),
    /// The connection is lost, and looked for.
    Away(LinkError),
    /// It is found.
    Back,
    /// The end: nothing follows.
    Lost(LinkError),
}

/// What a server says: matchbox's messages, with the address that a signal comes from, and what
/// [`Door`](crate::room::Door) has beside them.
#[derive(Deserialize)]
enum Told {
    Challenge(String),
    Refused(String),
    Turn(Turn),
    IdAssigned(Name),
    NewPeer(Name),
    PeerLeft(Name),
    Signal { sender: Name, data: PeerSignal, address: Address },
}

/// Enters the room and carries messages both ways until the link is gone. If the connection ends,
/// it enters again. `secret`: by which the server knows this peer again.
pub(super) async fn signal(
    config: Config,
    secret: String,
    requests: UnboundedReceiver<PeerRequest>,
    heard: UnboundedSender<Heard>,
) {
    let lost = match enter(&config, Pass { secret: Some(&secret), arrival: None }, ENTER_WITHIN, &heard).await {
        Ok((own, wire)) => {
            let _ = heard.unbounded_send(Heard::Entered(own));
            stay(&config, (Own::new(own, &config.role), &secret), wire, requests, &heard).await
        }
        Err(error) => error,
    };
    // Nobody listens if the link is gone; so above and below.
    let _ = heard.unbounded_send(Heard::Lost(lost));
}

/// Returns why nothing more will come.
async fn stay(
    config: &Config,
    (mut own, secret): (Own, &str),
    mut wire: Wire,
    mut requests: UnboundedReceiver<PeerRequest>,
    heard: &UnboundedSender<Heard>,
) -> LinkError {
    let mut pace = Quota::new(SERVER_MESSAGES_PER_S_MAX, Duration::from_secs(1));
    loop {
        let since = Instant::now();
        let end = carry(wire, (&mut own, &mut pace), &mut requests, heard).await;
        let error = LinkError::Ended(format!("the signaling server is gone ({})", end.cause));
        if end.is_final {
            return error;
        }
        let _ = heard.unbounded_send(Heard::Away(error));
        let pass = Pass { secret: Some(secret), arrival: Some(own.name().arrival()) };
        let (again, back) = come_back(config, pass, first_pause(since.elapsed()), heard).await;
        // A relay's players go by its room. Others know a peer by its name alone.
        if again != own.name() && !matches!(config.role, RoomRole::Relay { .. }) {
            return LinkError::Ended("the signaling server gave this peer another name".into());
        }
        wire = back;
        // What was meant for handshakes that were given up.
        while requests.try_recv().is_ok() {}
        let _ = heard.unbounded_send(Heard::Back);
    }
}

/// Before the first attempt to come back, after a connection that lasted for so long.
fn first_pause(lasted: Duration) -> Duration {
    if lasted < KEEP_ALIVE_EVERY { RETURN_AFTER } else { Duration::ZERO }
}

/// Tries until the server lets this peer in.
async fn come_back(
    config: &Config,
    pass: Pass<'_>,
    first_pause: Duration,
    heard: &UnboundedSender<Heard>,
) -> (PeerId, Wire) {
    let mut wait = first_pause + RETURN_AFTER;
    let mut pause = Delay::new(first_pause);
    loop {
        pause.await;
        pause = Delay::new(wait);
        let longest = match enter(config, pass, RETURN_WITHIN, heard).await {
            Ok(back) => return back,
            Err(error) => {
                tracing::info!("not back yet: {error}");
                if let LinkError::Refused { .. } = error { RETURN_REFUSED_MAX } else { RETURN_AFTER_MAX }
            }
        };
        wait = (wait * 2).min(longest);
    }
}

/// Connects and waits for this peer's name, which is the first thing that a server tells, but for
/// what is said at the door.
async fn enter(
    config: &Config,
    pass: Pass<'_>,
    within: Duration,
    heard: &UnboundedSender<Heard>,
) -> Result<(PeerId, Wire), LinkError> {
    let enter = async {
        let mut wire = Wire::connect(config, pass).await?;
        for _ in 0..DOOR_TEXTS_MAX {
            let text = wire.next().await.map_err(|end| unreachable(config, end.cause))?;
            match serde_json::from_str(&text) {
                Ok(Told::Challenge(nonce)) => {
                    wire.send(&room::proofs(config, &nonce)).await.map_err(|cause| unreachable(config, cause))?;
                }
                Ok(Told::Turn(turn)) => hear_turn(turn, heard),
                Ok(Told::IdAssigned(own)) => return Ok((ours(own), wire)),
                Ok(Told::Refused(said)) => return Err(refused(config, said)),
                _ => break,
            }
        }
        Err(unreachable(config, "what answers there is no signaling server".into()))
    };
    pin_mut!(enter);
    match futures::future::select(enter, Delay::new(within)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(unreachable(config, format!("no answer within {} seconds", within.as_secs()))),
    }
}

/// Why a connection ended.
struct End {
    cause: String,
    /// Whether there is no coming back: the link is closed, or another has its place.
    is_final: bool,
}

impl From<String> for End {
    fn from(cause: String) -> Self {
        Self { cause, is_final: false }
    }
}

async fn carry(
    mut wire: Wire,
    (own, pace): (&mut Own, &mut Quota),
    requests: &mut UnboundedReceiver<PeerRequest>,
    heard: &UnboundedSender<Heard>,
) -> End {
    let mut keep_alive = Delay::new(KEEP_ALIVE_EVERY).fuse();
    loop {
        let sent = select! {
            request = requests.next() => match request {
                Some(request) => wire.send(&request).await,
                None => return End { cause: "the link was closed".into(), is_final: true },
            },
            text = read(&mut wire, pace).fuse() => match text {
                Ok(text) => {
                    pace.take();
                    hear(&text, own, heard);
                    continue;
                }
                Err(end) => return end,
            },
            () = keep_alive => {
                keep_alive = Delay::new(KEEP_ALIVE_EVERY).fuse();
                wire.keep_alive().await
            }
        };
        if let Err(cause) = sent {
            return cause.into();
        }
    }
}

/// The next text. What a server says too fast stays where it is, and holds that up.
async fn read(wire: &mut Wire, pace: &mut Quota) -> Result<String, End> {
    pace.wait().await;
    wire.next().await
}

fn hear(text: &str, own: &mut Own, heard: &UnboundedSender<Heard>) {
    if text.len() > SERVER_MESSAGE_BYTES_MAX {
        return tracing::warn!("ignored a message of {} bytes of the signaling server", text.len());
    }
    let (event, address) = match serde_json::from_str(text) {
        Ok(Told::Turn(turn)) => return hear_turn(turn, heard),
        Ok(Told::NewPeer(peer)) => (PeerEvent::NewPeer(peer), None),
        Ok(Told::PeerLeft(peer)) => (PeerEvent::PeerLeft(peer), None),
        Ok(Told::Signal { sender, data, address }) => (PeerEvent::Signal { sender, data }, address),
        Ok(Told::IdAssigned(name)) if own.change(ours(name)) => {
            let _ = heard.unbounded_send(Heard::Entered(own.name()));
            return;
        }
        Ok(Told::IdAssigned(_) | Told::Challenge(_) | Told::Refused(_)) => {
            return tracing::warn!("ignored what a signaling server says at its door alone");
        }
        Err(error) => return tracing::warn!("ignored a message of the signaling server: {error}"),
    };
    let _ = heard.unbounded_send(Heard::Event(event, address));
}

fn hear_turn(turn: Turn, heard: &UnboundedSender<Heard>) {
    if turn.is_well_formed() {
        let _ = heard.unbounded_send(Heard::Turn(turn));
    } else {
        tracing::warn!("ignored a TURN server that the signaling server named: it is none");
    }
}

/// Tells what the server said, if that is a sentence.
fn refused(config: &Config, said: impl AsRef<[u8]>) -> LinkError {
    let cause = sentence(said.as_ref()).unwrap_or_else(|| "it does not say why".to_owned());
    LinkError::Refused { room: config.room.clone(), cause }
}

/// One line of plain text, if the server sent that and not a page.
fn sentence(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let plain = (1..=200).contains(&text.len()) && !text.starts_with('<') && !text.contains(is_code);
    plain.then(|| text.to_owned())
}

fn unreachable(config: &Config, cause: String) -> LinkError {
    LinkError::Unreachable { url: config.url.clone(), cause }
}

#[cfg(not(target_arch = "wasm32"))]
use native::Wire;
#[cfg(not(target_arch = "wasm32"))]
mod native {
    use async_tungstenite::smol::{ConnectStream, connect_async_with_tls_connector_and_config};
    use async_tungstenite::{WebSocketStream, tungstenite};
    use futures_rustls::TlsConnector;
    use tungstenite::error::ProtocolError;
    use tungstenite::protocol::WebSocketConfig;
    use tungstenite::{Error, Message};

    use super::*;
    use crate::room::REPLACED;

    /// A server that has answered no ping for so many keep-alives is gone: a network that swallows
    /// packets tells nothing.
    const UNANSWERED_MAX: u32 = 3;

    /// A larger message ends the connection. A server may write what it passes on more lengthily.
    const MESSAGE_BYTES_MAX: usize = 16 * SERVER_MESSAGE_BYTES_MAX;

    /// Why there is no connection.
    fn told(error: &Error) -> String {
        match error {
            Error::Protocol(ProtocolError::HttparseError(_)) => "it speaks no plain ws: try wss://".into(),
            Error::Io(error) => match error.get_ref().and_then(|cause| cause.downcast_ref()) {
                Some(rustls::Error::InvalidCertificate(cause)) => format!("its certificate is not trusted ({cause})"),
                Some(rustls::Error::InvalidMessage(_)) => "it speaks no TLS: try ws://".into(),
                _ => error.to_string(),
            },
            error => error.to_string(),
        }
    }

    pub(super) struct Wire {
        stream: WebSocketStream<ConnectStream>,
        unanswered: u32,
    }

    impl Wire {
        pub(super) async fn connect(config: &Config, pass: Pass<'_>) -> Result<Self, LinkError> {
            let limits = WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX));
            let tls = config.url.starts_with("wss:").then(|| TlsConnector::from(config.trust.client()));
            match connect_async_with_tls_connector_and_config(room::url(config, pass), tls, Some(limits)).await {
                Ok((stream, _)) => Ok(Self { stream, unanswered: 0 }),
                Err(Error::Http(response)) => {
                    let said = response.body().as_deref().and_then(sentence);
                    let cause = said.unwrap_or_else(|| format!("it answered HTTP {}", response.status()));
                    Err(LinkError::Refused { room: config.room.clone(), cause })
                }
                Err(error) => Err(unreachable(config, told(&error))),
            }
        }

        pub(super) async fn send(&mut self, request: &impl Serialize) -> Result<(), String> {
            let text = serde_json::json!(request).to_string();
            self.stream.send(Message::text(text)).await.map_err(|error| error.to_string())
        }

        pub(super) async fn keep_alive(&mut self) -> Result<(), String> {
            if self.unanswered >= UNANSWERED_MAX {
                return Err("it has fallen silent".into());
            }
            self.unanswered += 1;
            self.send(&PeerRequest::KeepAlive).await?;
            self.stream.send(Message::Ping(Default::default())).await.map_err(|error| error.to_string())
        }

        /// The next text; what is not text is skipped.
        pub(super) async fn next(&mut self) -> Result<String, End> {
            loop {
                let message = self.stream.next().await;
                self.unanswered = 0;
                match message {
                    Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                    Some(Ok(Message::Close(Some(frame)))) if u16::from(frame.code) == REPLACED => {
                        return Err(End { cause: frame.reason.to_string(), is_final: true });
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(error.to_string().into()),
                    None => return Err("it closed the connection".to_owned().into()),
                }
            }
        }
    }
}

#[cfg(target_arch = "wasm32")]
use browser::Wire;
#[cfg(target_arch = "wasm32")]
mod browser {
    use futures::SinkExt;
    use ws_stream_wasm::{WsMessage, WsMeta, WsStream};

    use super::*;

    pub(super) struct Wire(WsStream);

    impl Wire {
        /// A browser hides why a WebSocket did not open.
        pub(super) async fn connect(config: &Config, pass: Pass<'_>) -> Result<Self, LinkError> {
            match WsMeta::connect(room::url(config, pass), None).await {
                Ok((_, stream)) => Ok(Self(stream)),
                Err(_) => Err(unreachable(
                    config,
                    "it is not there, or it refused (another key, a full room, no relay): a browser does not tell which".into(),
                )),
            }
        }

        pub(super) async fn send(&mut self, request: &impl Serialize) -> Result<(), String> {
            let text = serde_json::json!(request).to_string();
            self.0.send(WsMessage::Text(text)).await.map_err(|error| error.to_string())
        }

        pub(super) async fn keep_alive(&mut self) -> Result<(), String> {
            self.send(&PeerRequest::KeepAlive).await
        }

        /// The next text; what is not text is skipped.
        pub(super) async fn next(&mut self) -> Result<String, End> {
            loop {
                match self.0.next().await {
                    Some(WsMessage::Text(text)) => return Ok(text),
                    Some(WsMessage::Binary(_)) => {}
                    None => return Err("it closed the connection".to_owned().into()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_there_for_a_while_is_looked_for_at_once_and_no_other() {
        assert_eq!(first_pause(KEEP_ALIVE_EVERY), Duration::ZERO);
        assert_eq!(first_pause(KEEP_ALIVE_EVERY / 2), RETURN_AFTER);
    }
}
