//! The connection to one other peer: a matchbox socket that knows nobody else.
//!
//! Its signaling is not a connection of its own but a pipe to the link's. What the server says of a
//! peer ends a handshake with it, but never a connection: that is doubted, and ends unless the
//! other end shows that it lives (`probe`). A handshake must never wait for ever. A peer that says
//! nothing is sent next to nothing (`silence`). One that is sent nothing, and says more than a
//! stranger has to say, is [unwanted](Pair::is_unwanted).

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::{fmt, sync::Arc};

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::channel::oneshot;
use futures::{FutureExt, StreamExt};
use matchbox_socket::async_trait::async_trait;
use matchbox_socket::{
    PeerEvent, PeerRequest, PeerSignal, PeerState, SignalingError, Signaller, SignallerBuilder, WebRtcSocketBuilder,
};

use super::delay::Delay;
use super::fingerprints::Fingerprints;
use super::handshake::Handshake;
use super::lasting::Lasting;
use super::probe::{self, Finding};
use super::quota::Quota;
use super::silence::Silence;
use super::tasks::Tasks;
use super::ways::Ways;
use crate::limits::{HANDSHAKE_SIGNALS_MAX, IDLE_TIME, UNANSWERED_PACKETS_MAX, UNANSWERED_TIME};
use crate::link::{Channel, LinkEvent, PeerId};

/// In the order in which the socket opens them. The probe's comes after them.
const CHANNELS: [Channel; 2] = [Channel::Unreliable, Channel::Reliable];
/// So many packets are answered by one.
const UNANSWERED_EACH: u32 = 16;
/// Of packets that came together so many count as unanswered: who stood still itself finds many.
const UNANSWERED_AT_ONCE_MAX: usize = 16;

/// One peer, from the first signal to the end.
#[derive(Debug)]
pub(super) struct Pair {
    peer: PeerId,
    socket: Lasting,
    fingerprints: Fingerprints,
    signals: UnboundedSender<PeerEvent>,
    stage: Stage,
    /// Rings when the socket has something, or the handshake is late.
    bell: Waker,
    pub(super) handshake: Handshake,
    /// Whether it is for this end to offer a connection, should there be none.
    pub(super) offers: bool,
    /// Whether the peer left the room, as far as the server told.
    pub(super) has_left: bool,
    /// What the probe is told, and tells.
    doubts: UnboundedSender<matchbox_socket::PeerId>,
    findings: UnboundedReceiver<Finding>,
    /// Whether the probe is asking.
    is_asked: bool,
    doubted: Option<Doubted>,
    /// Whether this end stood still, and the probe has not found out yet what that led to.
    stood_still: bool,
    /// Whether it is doubted while it is presumed gone: then it ends.
    is_given_up: bool,
    silence: Silence,
    /// What the peer may send beside what it is sent.
    unanswered: Quota,
    /// Whether it sent more.
    pub(super) is_unwanted: bool,
    /// How many more signals the handshake takes.
    signals_left: usize,
    /// Runs out when no packet has come for long.
    idle: Delay,
    /// Signals of a new handshake, for when this connection is over: as it is for the other end.
    knocks: Vec<PeerEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Handshake,
    /// With the name by which matchbox knows the peer.
    Connected(matchbox_socket::PeerId),
    Over,
}

/// The connection ends if the probe hears nothing.
#[derive(Debug)]
struct Doubted {
    /// Unless it is to ask anew: a packet came meanwhile, or it was asking before the doubt.
    again: bool,
}

impl Pair {
    /// Begins with the first event that [`Pair::hear`] is given. `offers`: this end offers the
    /// connection.
    pub(super) fn open(
        peer: PeerId,
        ways: &Ways,
        tasks: &Tasks,
        requests: UnboundedSender<PeerRequest>,
        bell: Waker,
        (offers, handshake): (bool, Handshake),
    ) -> Self {
        let (signals, signals_rx) = mpsc::unbounded();
        let (made_tx, made) = oneshot::channel();
        let (owner, fingerprints) = (Arc::new(()), Fingerprints::default());
        // The address is never used: signaling goes through the pipe.
        let (mut socket, looping) = WebRtcSocketBuilder::new("")
            .ice_server(ways.servers())
            .signaling_keep_alive_interval(None)
            .signaller_builder(Arc::new(PipeOnce(Mutex::new(Some(Pipe {
                requests,
                signals: signals_rx,
                made: Some(made_tx),
                owner: Arc::downgrade(&owner),
                ways: ways.clone(),
                fingerprints: fingerprints.clone(),
            })))))
            .add_unreliable_channel()
            .add_reliable_channel()
            .add_unreliable_channel()
            .build();
        // How the loop ends shows in its socket.
        let spawner = tasks.spawner();
        spawner.spawn(Box::pin(looping.map(drop)));
        let (doubts, doubts_rx) = mpsc::unbounded();
        let (findings_tx, findings) = mpsc::unbounded();
        if let Ok(channel) = socket.take_channel(CHANNELS.len()) {
            spawner.spawn(Box::pin(probe::run(channel, doubts_rx, findings_tx)));
        }
        Self {
            peer,
            fingerprints,
            socket: Lasting::new(socket, (signals.clone(), doubts.clone()), (made, owner), spawner.clone()),
            signals,
            stage: Stage::Handshake,
            bell,
            handshake,
            offers,
            has_left: false,
            doubts,
            findings,
            is_asked: false,
            doubted: None,
            stood_still: false,
            is_given_up: false,
            silence: Silence::default(),
            unanswered: Quota::new(UNANSWERED_PACKETS_MAX, UNANSWERED_TIME),
            is_unwanted: false,
            signals_left: HANDSHAKE_SIGNALS_MAX,
            idle: Delay::new(IDLE_TIME),
            knocks: Vec::new(),
        }
    }

    pub(super) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected(_))
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Whether the connection is of no use: the peer has left the room, and says nothing.
    pub(super) fn is_idle(&mut self) -> bool {
        self.is_connected() && self.has_left && (&mut self.idle).now_or_never().is_some()
    }

    /// Whether the handshake has taken too long, or others wait that it is in the way of.
    pub(super) fn is_late(&mut self, is_in_the_way: bool) -> bool {
        self.stage == Stage::Handshake && self.handshake.is_late(is_in_the_way, &self.bell)
    }

    /// Passes on a signal of this peer, or that it is to be offered a connection.
    pub(super) fn hear(&mut self, event: PeerEvent) {
        let is_offer = matches!(event, PeerEvent::Signal { data: PeerSignal::Offer(_), .. });
        if self.is_connected() && (is_offer || !self.knocks.is_empty()) {
            // It has no connection to this end any more, as far as it knows.
            self.doubt();
            if self.knocks.len() < HANDSHAKE_SIGNALS_MAX {
                self.knocks.push(event);
            }
            return;
        }
        let Some(left) = self.signals_left.checked_sub(1) else { return };
        self.signals_left = left;
        self.handshake.hear(&event);
        // An error means that the loop has ended: gather finds out.
        let _ = self.signals.unbounded_send(event);
    }

    /// Whether another offer is to be answered in the place of this one, which the peer gave up.
    pub(super) fn may_answer_anew(&self) -> bool {
        self.stage == Stage::Handshake && self.handshake.may_answer_anew()
    }

    /// Signals of a handshake that is to follow on this connection.
    pub(super) fn take_knocks(&mut self) -> Vec<PeerEvent> {
        std::mem::take(&mut self.knocks)
    }

    /// Something says that the peer is gone, or that it has begun anew. The connection ends unless
    /// the other end answers: at once if it is [presumed gone](Pair::is_presumed_gone).
    pub(super) fn doubt(&mut self) {
        if self.is_connected() && self.is_presumed_gone() {
            self.is_given_up = true;
            self.bell.wake_by_ref();
        } else if self.is_connected() && self.doubted.is_none() {
            self.doubted = Some(Doubted { again: self.is_asked });
            self.ask();
        }
    }

    /// This end was silent for so long that the other may have given it up.
    pub(super) fn stood_still(&mut self) {
        self.stood_still = self.is_connected();
        self.ask();
    }

    /// Whether the peer was asked already, and left that unanswered, or this end stood still, and
    /// has had no answer yet: packets may have waited here.
    pub(super) fn is_presumed_gone(&self) -> bool {
        self.silence.is_silent() || self.stood_still
    }

    /// Has the probe ask whether the peer lives.
    fn ask(&mut self) {
        if let Stage::Connected(peer) = self.stage
            && !core::mem::replace(&mut self.is_asked, true)
        {
            // An error means that the probe has ended, as the pair has: gather finds out.
            let _ = self.doubts.unbounded_send(peer);
        }
    }

    /// Takes what the probe found out.
    fn judge(&mut self, events: &mut VecDeque<LinkEvent>) {
        while let Poll::Ready(Some(finding)) = self.findings.poll_next_unpin(&mut Context::from_waker(&self.bell)) {
            if finding == Finding::Deaf {
                self.silence.unheard();
                continue;
            }
            (self.is_asked, self.stood_still) = (false, false);
            match self.doubted.take() {
                _ if finding == Finding::Lives => {
                    self.knocks.clear();
                    self.heard();
                }
                // What came may have been long under way.
                Some(Doubted { again: true }) => self.doubt(),
                Some(_) => self.leave(events),
                None if self.silence.unanswered() => self.ask(),
                None => {}
            }
        }
    }

    /// Takes what the socket has queued. Packets come after `Connected` and before `Disconnected`:
    /// a packet can overtake the news that all channels are open, and then stays in the socket's
    /// queue until that is known.
    pub(super) fn gather(&mut self, events: &mut VecDeque<LinkEvent>) {
        let (changes, open) = self.changes();
        for (peer, state) in &changes {
            if *state == PeerState::Connected && self.stage == Stage::Handshake {
                self.stage = Stage::Connected(*peer);
                self.heard();
                let binding = self.fingerprints.binding();
                events.extend(binding.map(|binding| LinkEvent::Secured { peer: self.peer, binding }));
                events.push_back(LinkEvent::Connected(self.peer));
            }
        }
        if self.is_connected() {
            CHANNELS.into_iter().for_each(|channel| self.receive(channel, events));
        }
        self.judge(events);
        let is_given_up = core::mem::take(&mut self.is_given_up);
        if !open
            || self.is_unwanted
            || is_given_up && self.is_presumed_gone()
            || changes.iter().any(|(_, state)| *state == PeerState::Disconnected)
        {
            self.leave(events);
        } else if is_given_up {
            // It was heard since.
            self.doubt();
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
        let (cx, mut heard) = (&mut Context::from_waker(&self.bell), 0);
        while let Poll::Ready(Some((_, bytes))) = queue.poll_next_unpin(cx) {
            heard += 1;
            self.doubted.iter_mut().for_each(|doubted| doubted.again = true);
            if bytes.len() <= <super::MatchboxLink as crate::Link>::PACKET_BYTES_MAX {
                events.push_back(LinkEvent::Packet { from: self.peer, channel, bytes: bytes.into() });
            }
        }
        self.is_unwanted |= (0..heard.min(UNANSWERED_AT_ONCE_MAX)).any(|_| !self.unanswered.take());
        if heard > 0 {
            self.idle.reset(IDLE_TIME);
            self.heard();
        }
    }

    /// The peer said something.
    fn heard(&mut self) {
        self.silence.heard().into_iter().for_each(|bytes| self.hand_over(Channel::Reliable, bytes));
    }

    /// Sends a packet, if the peer is connected. While it is silent or deaf, only what is
    /// reliable is kept.
    pub(super) fn send(&mut self, channel: Channel, bytes: Vec<u8>) {
        self.unanswered.give(UNANSWERED_EACH);
        if self.silence.asks() {
            self.ask();
        }
        match self.silence.waiting() {
            None => self.hand_over(channel, bytes),
            Some(waiting) if channel == Channel::Reliable => {
                waiting.push(bytes);
                self.ask();
            }
            Some(_) => {}
        }
    }

    fn hand_over(&mut self, channel: Channel, bytes: Vec<u8>) {
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
    /// Rings with the first signal: the connection is made by then.
    made: Option<oneshot::Sender<()>>,
    /// Gone once the socket merely [lasts](Lasting): its peer is told nothing any more.
    owner: Weak<()>,
    ways: Ways,
    fingerprints: Fingerprints,
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
        if let Some(made) = self.made.take() {
            let _ = made.send(());
        }
        if self.owner.strong_count() == 0 {
            return Ok(());
        }
        self.ways.tells(&request);
        self.fingerprints.tells(&request);
        // When signaling is lost, so is the request; the connection lives on.
        let _ = self.requests.unbounded_send(request);
        Ok(())
    }

    async fn next_message(&mut self) -> Result<PeerEvent, SignalingError> {
        let event = self.signals.next().await.ok_or(SignalingError::StreamExhausted)?;
        self.ways.hears(&event);
        self.fingerprints.hears(&event);
        Ok(event)
    }
}
