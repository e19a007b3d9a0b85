//! ggrs: predicts inputs, says when to go back, compares checksums and keeps players abreast. The
//! only file that names it.
//!
//! Nothing of ggrs travels: its endpoints get packets that are made here from checked inputs, in
//! order, each once, and what they send is read here for the little that the other side needs. So
//! no foreign byte reaches it, no packet of it is ever lost, and its handshake is answered on the
//! spot. Its own disconnect is out of the way: it must never lose a player by itself.
//!
//! Its requests are fulfilled in [`fulfil`], on a [`Timeline`]. ggrs reads the real clock, for the
//! pace of players alone.

use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ggrs::{
    Config, DesyncDetection, GgrsError, GgrsEvent, GgrsRequest, Message, NonBlockingSocket, P2PSession, PlayerType,
    PredictDefault, SessionBuilder, SessionState, SyncTestSession,
};
use lockstone_sim::{Checksum, Simulation, codec};
use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::config::RollbackConfig;
use super::timeline::Timeline;
use crate::limits::COMMAND_BYTES_MAX;
use crate::wire::CommandBytes;

/// ggrs must not give up a player by itself: that is agreed upon by all who are left.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// Its handshake takes five round trips, each a call.
const HANDSHAKE_CALLS_MAX: usize = 16;
/// The mark of all packets that are made here.
const MAGIC: u16 = 1;
/// A slot with a command at its largest.
const SLOT_BYTES_MAX: usize = 2 + COMMAND_BYTES_MAX;

/// A player's place in a session: by peer, ascending.
pub(super) type Handle = usize;

/// What a player does in one tick: at most one command. Predicted as "nothing new", for a command
/// is held until the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    len: Option<u8>,
    /// Zero beyond `len`.
    bytes: [u8; COMMAND_BYTES_MAX],
}

impl Default for Slot {
    fn default() -> Self {
        Slot { len: None, bytes: [0; COMMAND_BYTES_MAX] }
    }
}

impl Slot {
    pub fn new(command: Option<&CommandBytes>) -> Slot {
        let mut slot = Slot::default();
        if let Some(command) = command {
            slot.len = u8::try_from(command.len()).ok();
            slot.bytes[..command.len()].copy_from_slice(command);
        }
        slot
    }

    pub fn command(&self) -> Option<&[u8]> {
        self.len.map(|len| &self.bytes[..usize::from(len)])
    }

    /// The bytes that ggrs makes of it: 0; or 1, the length, and the command.
    fn to_bytes(self) -> Vec<u8> {
        match self.command() {
            None => vec![0],
            Some(command) => [&[1, command.len() as u8], command].concat(),
        }
    }
}

impl Serialize for Slot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.to_bytes();
        let mut tuple = serializer.serialize_tuple(bytes.len())?;
        bytes.iter().try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Slot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Slot;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a slot")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Slot, A::Error> {
                let mut next = || elements.next_element::<u8>()?.ok_or(A::Error::custom("a slot that breaks off"));
                let mut slot = Slot::default();
                if next()? == 1 {
                    let len = next()?;
                    slot.len = Some(len);
                    slot.bytes[..usize::from(len)].iter_mut().try_for_each(|byte| next().map(|value| *byte = value))?;
                }
                Ok(slot)
            }
        }
        deserializer.deserialize_tuple(SLOT_BYTES_MAX, Bytes)
    }
}

/// The types that ggrs works with. The state is kept in the timeline.
struct Types;

impl Config for Types {
    type Input = Slot;
    type InputPredictor = PredictDefault;
    type State = ();
    type Address = Handle;
}

/// ggrs's packets have private fields: this is their shape, and both are read as the other.
#[derive(Serialize, Deserialize)]
struct Packet {
    magic: u16,
    body: Body,
}

#[derive(Serialize, Deserialize)]
enum Body {
    SyncRequest(u32),
    SyncReply(u32),
    Input { statuses: Vec<(bool, i32)>, disconnect_requested: bool, start_frame: i32, ack_frame: i32, bytes: Vec<u8> },
    InputAck(i32),
    QualityReport { behind: i16, ping: u128 },
    QualityReply(u128),
    ChecksumReport { checksum: u128, frame: i32 },
    KeepAlive,
}

impl Body {
    fn into_message(self) -> Message {
        let bytes = codec::compact(&Packet { magic: MAGIC, body: self });
        codec::read(&bytes, bytes.len()).expect("the shapes are the same")
    }

    fn of(message: &Message) -> Body {
        let bytes = codec::compact(message);
        codec::read::<Packet>(&bytes, bytes.len()).expect("the shapes are the same").body
    }
}

/// What stands between ggrs and the wire.
#[derive(Default)]
struct Mailbox {
    inbox: Vec<(Handle, Message)>,
    /// Our newest checksum that ggrs has sent.
    checksum: Option<(i32, Checksum)>,
    /// By handle: by how many frames we take ourselves to be behind.
    behind: Vec<i16>,
    /// By handle: the round-trip time, in milliseconds.
    rtt_ms: Vec<u64>,
}

/// The mailbox as ggrs and its driver share it, on one thread at a time.
#[derive(Clone)]
struct Shared(Arc<Mutex<Mailbox>>);

impl Shared {
    fn new(mailbox: Mailbox) -> Shared {
        Shared(Arc::new(Mutex::new(mailbox)))
    }

    fn open(&self) -> MutexGuard<'_, Mailbox> {
        // Nothing here panics while it is open.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Socket(Shared);

impl NonBlockingSocket<Handle> for Socket {
    fn send_to(&mut self, message: &Message, to: &Handle) {
        let mut mailbox = self.0.open();
        match Body::of(message) {
            Body::SyncRequest(n) => mailbox.inbox.push((*to, Body::SyncReply(n).into_message())),
            Body::QualityReport { behind, ping } => {
                mailbox.behind[*to] = behind;
                // Answered here, as if it had just come back from a round trip of the time
                // that was measured.
                let pong = ping.saturating_sub(mailbox.rtt_ms[*to].into());
                mailbox.inbox.push((*to, Body::QualityReply(pong).into_message()));
            }
            Body::ChecksumReport { checksum, frame } => mailbox.checksum = Some((frame, Checksum(checksum as u64))),
            // Inputs are sent from the player's own log, acknowledgements with them.
            Body::Input { .. } | Body::InputAck(_) => {}
            Body::SyncReply(_) | Body::QualityReply(_) | Body::KeepAlive => {}
        }
    }

    fn receive_all_messages(&mut self) -> Vec<(Handle, Message)> {
        core::mem::take(&mut self.0.open().inbox)
    }
}

/// A remote player's inputs as ggrs has got them.
struct Stream {
    next_frame: i32,
    /// The newest one: the next is told by its difference.
    last: Vec<u8>,
}

/// What ggrs had to say.
#[derive(Default)]
pub(super) struct Advanced {
    /// Ticks to let pass so that others catch up.
    pub wait_ticks: u32,
    /// Whose checksum of which frame differs from ours: ours, then theirs.
    pub differing: Vec<(Handle, u32, Checksum, Checksum)>,
}

/// Predicts the inputs of a session's players. Frames count from 0 where it begins.
pub(super) struct Predictor {
    session: P2PSession<Types>,
    mailbox: Shared,
    local: Handle,
    streams: Vec<Stream>,
}

impl Predictor {
    pub fn new(config: &RollbackConfig, players: usize, local: Handle) -> Predictor {
        let settings = config.settings();
        let mailbox = Shared::new(Mailbox { behind: vec![0; players], rtt_ms: vec![0; players], ..Mailbox::default() });
        let mut builder = SessionBuilder::<Types>::new()
            .with_num_players(players)
            .and_then(|builder| builder.with_fps(settings.ticks_per_s as usize))
            .expect("the config is checked")
            .with_input_delay(settings.input_delay_ticks as usize)
            .with_max_prediction_window(settings.max_prediction_ticks as usize)
            .with_desync_detection_mode(DesyncDetection::On { interval: settings.checksum_interval_ticks })
            .with_disconnect_timeout(NEVER)
            .with_disconnect_notify_delay(NEVER);
        for handle in 0..players {
            let player = if handle == local { PlayerType::Local } else { PlayerType::Remote(handle) };
            builder = builder.add_player(player, handle).expect("each handle once");
        }
        let mut session = builder.start_p2p_session(Socket(mailbox.clone())).expect("all players are there");
        for _ in 0..HANDSHAKE_CALLS_MAX {
            session.poll_remote_clients();
        }
        assert_eq!(session.current_state(), SessionState::Running, "every request was answered");
        let stream = || Stream { next_frame: settings.input_delay_ticks as i32, last: Slot::default().to_bytes() };
        Predictor { session, mailbox, local, streams: (0..players).map(|_| stream()).collect() }
    }

    /// The frame that is played next.
    pub fn frame(&self) -> u32 {
        self.session.current_frame() as u32
    }

    /// The first frame that may still change. Holds directly after [`advance`](Predictor::advance).
    pub fn confirmed(&self) -> u32 {
        self.session.current_frame().min(self.session.confirmed_frame() + 1).max(0) as u32
    }

    /// A remote player's next inputs, without a gap, and the newest frame of ours that it
    /// has; -1 for none.
    pub fn inputs(&mut self, from: Handle, slots: &[Slot], ack_frame: i32) {
        let stream = &mut self.streams[from];
        let body = if slots.is_empty() {
            Body::InputAck(ack_frame)
        } else {
            let start_frame = stream.next_frame;
            stream.next_frame += slots.len() as i32;
            let bytes = encode(&mut stream.last, slots);
            let statuses = vec![(false, -1); self.streams.len()];
            Body::Input { statuses, disconnect_requested: false, start_frame, ack_frame, bytes }
        };
        self.mailbox.open().inbox.push((from, body.into_message()));
    }

    /// A remote player's checksum of a frame.
    pub fn checksum(&mut self, from: Handle, frame: u32, checksum: Checksum) {
        let body = Body::ChecksumReport { checksum: checksum.0.into(), frame: frame as i32 };
        self.mailbox.open().inbox.push((from, body.into_message()));
    }

    /// By how many frames a remote player takes itself to be behind us, and how long a round
    /// trip to it takes.
    pub fn quality(&mut self, from: Handle, behind: i16, rtt: Duration) {
        let mut mailbox = self.mailbox.open();
        mailbox.rtt_ms[from] = rtt.as_millis().min(10_000) as u64;
        // It is not asked how long this took: the answer goes nowhere.
        mailbox.inbox.push((from, Body::QualityReport { behind, ping: 0 }.into_message()));
    }

    /// By how many frames we take ourselves to be behind a remote player.
    pub fn behind(&self, of: Handle) -> i16 {
        self.mailbox.open().behind[of]
    }

    /// Our newest checksum that counts: of a confirmed frame.
    pub fn newest_checksum(&self) -> Option<(u32, Checksum)> {
        self.mailbox.open().checksum.map(|(frame, checksum)| (frame as u32, checksum))
    }

    /// Plays a frame, and all that must be played again. At the end of the prediction it plays
    /// nothing; then `own` counts already, and must be given again.
    pub fn advance<S: Simulation>(&mut self, own: Slot, timeline: &mut Timeline<S>) -> Advanced {
        self.session.add_local_input(self.local, own).expect("it is the local player");
        let requests = self.session.advance_frame().expect("it runs, and has the local input");
        fulfil(requests, timeline);
        let mut advanced = Advanced::default();
        for event in self.session.events() {
            match event {
                GgrsEvent::WaitRecommendation { skip_frames } => advanced.wait_ticks = skip_frames,
                GgrsEvent::DesyncDetected { frame, local_checksum, remote_checksum, addr } => {
                    let (ours, theirs) = (Checksum(local_checksum as u64), Checksum(remote_checksum as u64));
                    advanced.differing.push((addr, frame as u32, ours, theirs));
                }
                _ => {}
            }
        }
        // ggrs tells them in any order.
        advanced.differing.sort_by_key(|(handle, frame, ..)| (*frame, *handle));
        advanced
    }
}

/// Does what ggrs asks for, in its order.
fn fulfil<S: Simulation>(requests: Vec<GgrsRequest<Types>>, timeline: &mut Timeline<S>) {
    for request in requests {
        match request {
            GgrsRequest::SaveGameState { cell, frame } => {
                let checksum = timeline.save(frame as u32);
                cell.save(frame, Some(()), checksum.map(|checksum| checksum.0.into()));
            }
            GgrsRequest::LoadGameState { frame, .. } => timeline.load(frame as u32),
            GgrsRequest::AdvanceFrame { inputs } => {
                let slots: Vec<Slot> = inputs.into_iter().map(|(slot, _)| slot).collect();
                timeline.step(&slots);
            }
        }
    }
}

/// Inputs as ggrs packs them: each as its length and its difference from the one before, all in a
/// run of bytes as they are.
fn encode(last: &mut Vec<u8>, slots: &[Slot]) -> Vec<u8> {
    let mut packed = Vec::new();
    for slot in slots {
        let bytes = slot.to_bytes();
        packed.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
        packed.extend(bytes.iter().enumerate().map(|(n, byte)| byte ^ last.get(n).copied().unwrap_or(0)));
        *last = bytes;
    }
    let mut run = Vec::with_capacity(packed.len() + 5);
    let mut head = packed.len() << 1;
    while head > 127 {
        run.push(head as u8 | 128);
        head >>= 7;
    }
    run.push(head as u8);
    run.extend_from_slice(&packed);
    run
}

/// Plays every tick, goes back a few ticks, plays them again, and compares: ggrs's
/// `SyncTestSession`.
pub(super) struct Rehearsal(SyncTestSession<Types>);

impl Rehearsal {
    /// `distance`: how many frames it goes back, 2 or more.
    pub fn new(players: usize, distance: usize) -> Rehearsal {
        let session = SessionBuilder::<Types>::new()
            .with_num_players(players)
            .expect("there are players")
            .with_max_prediction_window(distance + 1)
            .with_check_distance(distance)
            .start_synctest_session()
            .expect("the distance is within the prediction");
        Rehearsal(session)
    }

    /// Plays a frame and the last few again.
    ///
    /// # Errors
    /// The first frame whose checksum was another the second time.
    pub fn advance<S: Simulation>(&mut self, slots: &[Slot], timeline: &mut Timeline<S>) -> Result<(), u32> {
        for (handle, slot) in slots.iter().enumerate() {
            self.0.add_local_input(handle, *slot).expect("it is a player");
        }
        match self.0.advance_frame() {
            Ok(requests) => {
                fulfil(requests, timeline);
                Ok(())
            }
            Err(GgrsError::MismatchedChecksum { mismatched_frames, .. }) => {
                Err(mismatched_frames.into_iter().min().unwrap_or(0) as u32)
            }
            Err(error) => panic!("ggrs takes inputs of all players: {error}"),
        }
    }
}
