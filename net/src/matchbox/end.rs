//! Runs matchbox's loop beside the game and tells how it ended, in words for a person.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{Either, abortable, select};
use matchbox_socket::{Error, MessageLoopFuture, SignalingError};

use super::{Config, Running};
use crate::link::LinkError;

/// How long the signaling server may take to let a peer in.
const ENTER_WITHIN: Duration = Duration::from_secs(10);

/// How matchbox's loop ended.
#[derive(Debug)]
pub(super) enum LoopEnd {
    /// It said so itself.
    Returned(Result<(), Error>),
    /// It panicked: matchbox does on some failures of the system and on some signals of a broken peer.
    Panicked(String),
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) type Watched = futures::future::BoxFuture<'static, ()>;
#[cfg(target_arch = "wasm32")]
pub(super) type Watched = futures::future::LocalBoxFuture<'static, ()>;

/// Wraps the loop so that its end, of whatever kind, arrives at the link.
pub(super) fn watch(looping: MessageLoopFuture) -> (Watched, Running) {
    let (late_tx, late) = oneshot::channel();
    let (end_tx, end) = oneshot::channel();
    let watched = async move {
        let caught = AssertUnwindSafe(looping).catch_unwind();
        let caught = match select(caught, futures_timer::Delay::new(ENTER_WITHIN)).await {
            Either::Left((result, _)) => result,
            Either::Right(((), caught)) => {
                let _ = late_tx.send(());
                caught.await
            }
        };
        let end = caught.map_or_else(|panic| LoopEnd::Panicked(message(panic)), LoopEnd::Returned);
        // The link may be gone: then nobody asks.
        let _ = end_tx.send(end);
    };
    let (watched, abort) = abortable(watched);
    (Box::pin(watched.map(|_| ())), Running { abort, late, end })
}

/// Runs the loop on its own thread: it waits on sockets and must not wait for the game.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn run(watched: Watched) -> Result<(), LinkError> {
    check_multicast()?;
    std::thread::Builder::new()
        .name("lockstone-webrtc".into())
        .spawn(move || futures::executor::block_on(watched))
        .map(|_| ())
        .map_err(|error| LinkError::Ended(format!("no thread for the connection: {error}")))
}

/// Runs the loop as a task of the page or worker.
#[cfg(target_arch = "wasm32")]
pub(super) fn run(watched: Watched) -> Result<(), LinkError> {
    wasm_bindgen_futures::spawn_local(watched);
    Ok(())
}

/// webrtc joins the mDNS group for every connection and matchbox panics where that is impossible: this tells before.
#[cfg(not(target_arch = "wasm32"))]
fn check_multicast() -> Result<(), LinkError> {
    use std::net::{Ipv4Addr, UdpSocket};
    const MDNS_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.join_multicast_v4(&MDNS_GROUP, &Ipv4Addr::UNSPECIFIED))
        .map_err(|error| {
            LinkError::Ended(format!(
                "WebRTC needs a network with multicast, and this machine has none now ({error}); \
                 on Linux `ip route add 224.0.0.0/4 dev lo` is enough for play on one machine"
            ))
        })
}

/// The server has not answered in time.
pub(super) fn silent(config: &Config) -> LinkError {
    unreachable(config, format!("no answer within {} seconds", ENTER_WITHIN.as_secs()))
}

impl LoopEnd {
    /// The cause for a person.
    pub(super) fn into_error(self, config: &Config) -> LinkError {
        match self {
            Self::Returned(Err(Error::ConnectionFailed(error))) => refusal(error, config),
            Self::Returned(Err(Error::Disconnected(error))) => LinkError::Ended(error.to_string()),
            Self::Returned(Ok(())) => LinkError::Ended("the signaling server is gone and no peer is connected".into()),
            Self::Panicked(message) => LinkError::Ended(format!("the WebRTC library failed: {message}")),
        }
    }
}

/// Tells a server that said no from one that did not answer.
#[cfg(not(target_arch = "wasm32"))]
fn refusal(error: SignalingError, config: &Config) -> LinkError {
    match error {
        SignalingError::WebSocket(tungstenite::Error::Http(response)) => {
            let said = response.body().as_deref().and_then(sentence);
            let cause = said.unwrap_or_else(|| format!("it answered HTTP {}", response.status()));
            LinkError::Refused { room: config.room.clone(), cause }
        }
        error => unreachable(config, error.to_string()),
    }
}

/// A browser hides why a WebSocket did not open.
#[cfg(target_arch = "wasm32")]
fn refusal(_: SignalingError, config: &Config) -> LinkError {
    unreachable(config, "it is not there, or it refused (a wrong key, a full room): a browser does not tell".into())
}

/// One line of plain text, if the server sent that and not a page.
#[cfg(not(target_arch = "wasm32"))]
fn sentence(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let plain = (1..=200).contains(&text.len()) && !text.starts_with('<') && !text.contains(char::is_control);
    plain.then(|| text.to_owned())
}

fn unreachable(config: &Config, cause: String) -> LinkError {
    LinkError::Unreachable { url: config.url.clone(), cause }
}

fn message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it gave no reason".into())
}
