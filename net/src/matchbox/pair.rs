//! The connection to one other peer: a matchbox socket that knows nobody else.
//!
//! Its signaling is not a connection of its own but a pipe to the link's. It must never outlive the
//! peer's presence in the room: a handshake that the peer abandons would wait for ever.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fmt, sync::Arc};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt};
use futures_timer::Delay;
use matchbox_socket::async_trait::async_trait;
use matchbox_socket::{
    PeerEvent, PeerRequest, PeerState, RtcIceServerConfig, SignalingError, Signaller, SignallerBuilder, WebRtcSocket,
    WebRtcSocketBuilder,
};

use super::tasks::Tasks;
use crate::link::{Channel, LinkEvent, PeerId};

/// In the order in which the socket opens them.
const CHANNELS: [Channel; 2] = [Channel::Unreliable, Channel::Reliable];

/// How long a handshake with a relay may take. A loaded machine needs seconds.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(25);

/// One peer, from the first signal to the end.
#[derive(Debug)]
pub(super) struct Pair {
    peer: PeerId,
    socket: WebRtcSocket,
    signals: UnboundedSender<PeerEvent>,
    stage: Stage,
    /// Rings when the socket has something, or the handshake is late.
    bell: Waker,
    /// When the handshake is given up, if ever.
    patience: Option<Delay>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Handshake,
    /// With the name by which matchbox knows the peer.
    Connected(matchbox_socket::PeerId),
    Over,
}

impl Pair {
    /// Begins with the first event that [`Pair::hear`] is given. `hurried`: the handshake is given
    /// up after a time.
    pub(super) fn open(
        peer: PeerId,
        ice_urls: &[String],
        tasks: &Tasks,
        requests: UnboundedSender<PeerRequest>,
        bell: Waker,
        hurried: bool,
    ) -> Self {
        let (signals, signals_rx) = mpsc::unbounded();
        // The address is never used: signaling goes through the pipe.
        let (socket, looping) = WebRtcSocketBuilder::new("")
            .ice_server(RtcIceServerConfig { urls: ice_urls.to_vec(), username: None, credential: None })
            .signaling_keep_alive_interval(None)
            .signaller_builder(Arc::new(PipeOnce(Mutex::new(Some(Pipe { requests, signals: signals_rx })))))
            .add_unreliable_channel()
            .add_reliable_channel()
            .build();
        // How the loop ends shows in its socket.
        tasks.spawn(Box::pin(looping.map(drop)));
        let patience = hurried.then(|| Delay::new(HANDSHAKE_WITHIN));
        Self { peer, socket, signals, stage: Stage::Handshake, bell, patience }
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected(_))
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Whether the handshake has taken too long.
    pub(super) fn is_late(&mut self) -> bool {
        let cx = &mut Context::from_waker(&self.bell);
        self.stage == Stage::Handshake && self.patience.as_mut().is_some_and(|delay| delay.poll_unpin(cx).is_ready())
    }

    /// Passes on what the signaling server said about this peer.
    pub(super) fn hear(&mut self, event: PeerEvent) {
        // An error means that the loop has ended: gather finds out.
        let _ = self.signals.unbounded_send(event);
    }

    /// Takes what the socket has queued. Packets come after `Connected` and before `Disconnected`:
    /// a packet can overtake the news that all channels are open, and then stays in the socket's
    /// queue until that is known.
    pub(super) fn gather(&mut self, events: &mut VecDeque<LinkEvent>) {
        let (changes, open) = self.changes();
        for (peer, state) in &changes {
            if *state == PeerState::Connected && self.stage == Stage::Handshake {
                self.stage = Stage::Connected(*peer);
                events.push_back(LinkEvent::Connected(self.peer));
            }
        }
        if self.is_connected() {
            CHANNELS.into_iter().for_each(|channel| self.receive(channel, events));
        }
        if !open || changes.iter().any(|(_, state)| *state == PeerState::Disconnected) {
            self.leave(events);
        }
    }

    /// Who came and went, and whether the socket's loop still runs.
    fn changes(&mut self) -> (Vec<(matchbox_socket::PeerId, PeerState)>, bool) {
        let (cx, mut changes) = (&mut Context::from_waker(&self.bell), Vec::new());
        let open = loop {
            match self.socket.poll_next_unpin(cx) {
                Poll::Ready(Some(change)) => changes.push(change),
                Poll::Ready(None) => break false,
                Poll::Pending => break true,
            }
        };
        // matchbox keeps which ways packets go in a queue that nothing else empties.
        changes.extend(self.socket.try_update_peers().unwrap_or_default());
        (changes, open)
    }

    /// Ends the pair. Dropping it closes the connection.
    pub(super) fn leave(&mut self, events: &mut VecDeque<LinkEvent>) {
        if self.is_connected() {
            events.push_back(LinkEvent::Disconnected(self.peer));
        }
        self.stage = Stage::Over;
    }

    fn receive(&mut self, channel: Channel, events: &mut VecDeque<LinkEvent>) {
        let Ok(queue) = self.socket.get_channel_mut(channel as usize) else { return };
        let cx = &mut Context::from_waker(&self.bell);
        while let Poll::Ready(Some((_, bytes))) = queue.poll_next_unpin(cx) {
            if bytes.len() <= <super::MatchboxLink as crate::Link>::PACKET_BYTES_MAX {
                events.push_back(LinkEvent::Packet { from: self.peer, channel, bytes: bytes.into() });
            }
        }
    }

    /// Hands a packet over, if the peer is connected.
    pub(super) fn send(&mut self, channel: Channel, bytes: Vec<u8>) {
        if let Stage::Connected(peer) = self.stage
            && let Ok(queue) = self.socket.get_channel_mut(channel as usize)
        {
            // An error means that the loop has ended: gather finds out.
            let _ = queue.try_send(bytes.into(), peer);
        }
    }
}

/// One pair's end of the link's signaling.
struct Pipe {
    requests: UnboundedSender<PeerRequest>,
    signals: UnboundedReceiver<PeerEvent>,
}

/// Gives the pipe to matchbox, which asks once.
struct PipeOnce(Mutex<Option<Pipe>>);

impl fmt::Debug for PipeOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PipeOnce")
    }
}

#[cfg_attr(not(target_arch = "wasm32"), async_trait)]
#[cfg_attr(target_arch = "wasm32", async_trait(?Send))]
impl SignallerBuilder for PipeOnce {
    async fn new_signaller(&self, _: Option<u16>, _: String) -> Result<Box<dyn Signaller>, SignalingError> {
        let pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pipe = pipe.ok_or_else(|| SignalingError::UserImplementationError("the pipe is taken".into()))?;
        Ok(Box::new(pipe))
    }
}

#[cfg_attr(not(target_arch = "wasm32"), async_trait)]
#[cfg_attr(target_arch = "wasm32", async_trait(?Send))]
impl Signaller for Pipe {
    async fn send(&mut self, request: PeerRequest) -> Result<(), SignalingError> {
        // When signaling is lost, so is the request; the connection lives on.
        let _ = self.requests.unbounded_send(request);
        Ok(())
    }

    async fn next_message(&mut self) -> Result<PeerEvent, SignalingError> {
        self.signals.next().await.ok_or(SignalingError::StreamExhausted)
    }
}
