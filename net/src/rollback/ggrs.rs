//! ggrs: predicts inputs, says when to go back, and which checksums count. The only file that names
//! it.
//!
//! Nothing of ggrs travels: its endpoints get packets that are made here from checked inputs, in
//! order, each once, and what they send is read here for the little that the other side needs. So
//! no foreign byte reaches it, no packet of it is ever lost, and its handshake is answered on the
//! spot. Its own disconnect is out of the way: it must never lose a player by itself.
//!
//! Its requests are fulfilled in [`fulfil`], on a [`Timeline`]. ggrs reads the real clock, for what
//! it would send again, and for the pace of players. Both are ignored here, so that a session plays
//! the same each time.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ggrs::{
    Config, DesyncDetection, GgrsError, GgrsRequest, Message, NonBlockingSocket, P2PSession, PlayerType,
    PredictDefault, SessionBuilder, SessionState, SyncTestSession,
};
use lockstone_sim::{Checksum, PlayerId, Simulation, codec};
use serde::{Deserialize, Serialize};

use super::config::RollbackConfig;
use super::timeline::Timeline;

/// ggrs must not give up a player by itself: that is agreed upon by all who are left.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// Its handshake takes five round trips, each a call.
const HANDSHAKE_CALLS_MAX: usize = 16;
/// The mark of all packets that are made here.
const MAGIC: u16 = 1;

/// The types that ggrs works with. It is not shown a command, but whether a player gives one in a
/// tick: none is predicted, for a command is held until the next one. Commands and the state are
/// kept in the timeline.
struct Types;

impl Config for Types {
    type Input = bool;
    type InputPredictor = PredictDefault;
    type State = ();
    type Address = PlayerId;
}

/// ggrs's packets have private fields: this is their shape after the mark, and both are read as the
/// other.
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
        let bytes = codec::compact(&(MAGIC, self));
        codec::read(&bytes, bytes.len()).expect("the shapes are the same")
    }

    fn of(message: &Message) -> Body {
        let bytes = codec::compact(message);
        codec::read::<(u16, Body)>(&bytes, bytes.len()).expect("the shapes are the same").1
    }
}

/// What stands between ggrs and the wire.
#[derive(Default)]
struct Mailbox {
    inbox: Vec<(PlayerId, Message)>,
    /// Our newest checksum that ggrs has sent.
    checksum: Option<(i32, Checksum)>,
    others: BTreeMap<PlayerId, Other>,
}

/// What passes between ggrs and a remote player.
struct Other {
    /// The first of its inputs that ggrs has not got, and the one before.
    next_frame: i32,
    last: bool,
}

impl Mailbox {
    fn put(&mut self, from: PlayerId, body: Body) {
        self.inbox.push((from, body.into_message()));
    }

    fn other(&mut self, player: PlayerId) -> &mut Other {
        self.others.get_mut(&player).expect("a remote player of this session")
    }
}

/// The mailbox as ggrs and its driver share it, on one thread at a time.
#[derive(Clone)]
struct Socket(Arc<Mutex<Mailbox>>);

impl Socket {
    fn open(&self) -> MutexGuard<'_, Mailbox> {
        // Nothing here panics while it is open.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NonBlockingSocket<PlayerId> for Socket {
    fn send_to(&mut self, message: &Message, to: &PlayerId) {
        let mut mailbox = self.open();
        match Body::of(message) {
            Body::SyncRequest(n) => mailbox.put(*to, Body::SyncReply(n)),
            Body::ChecksumReport { checksum, frame } => mailbox.checksum = Some((frame, Checksum(checksum as u64))),
            // Inputs are sent from the player's own log, acknowledgements with them.
            Body::Input { .. } | Body::InputAck(_) => {}
            Body::SyncReply(_) | Body::QualityReport { .. } | Body::QualityReply(_) | Body::KeepAlive => {}
        }
    }

    fn receive_all_messages(&mut self) -> Vec<(PlayerId, Message)> {
        core::mem::take(&mut self.open().inbox)
    }
}

/// Predicts the inputs of a session's players. Frames count from 0 where it begins.
pub(super) struct Predictor {
    session: P2PSession<Types>,
    socket: Socket,
    /// The own player's place among all.
    own: usize,
}

impl Predictor {
    /// `players`: all of them, `own` included.
    pub fn new(config: &RollbackConfig, players: &[PlayerId], own: PlayerId) -> Predictor {
        let settings = config.settings();
        let next_frame = settings.input_delay_ticks as i32;
        let other = |player: &PlayerId| (*player, Other { next_frame, last: false });
        let others = players.iter().filter(|player| **player != own).map(other).collect();
        let socket = Socket(Arc::new(Mutex::new(Mailbox { others, ..Mailbox::default() })));
        let mut builder = SessionBuilder::<Types>::new()
            .with_num_players(players.len())
            .and_then(|builder| builder.with_fps(settings.ticks_per_s as usize))
            .expect("the config is checked")
            .with_input_delay(settings.input_delay_ticks as usize)
            .with_max_prediction_window(settings.max_prediction_ticks as usize)
            .with_desync_detection_mode(DesyncDetection::On { interval: settings.checksum_interval_ticks })
            .with_disconnect_timeout(NEVER)
            .with_disconnect_notify_delay(NEVER);
        for (handle, player) in players.iter().enumerate() {
            let player = if *player == own { PlayerType::Local } else { PlayerType::Remote(*player) };
            builder = builder.add_player(player, handle).expect("each handle once");
        }
        let mut session = builder.start_p2p_session(socket.clone()).expect("all players are there");
        for _ in 0..HANDSHAKE_CALLS_MAX {
            session.poll_remote_clients();
        }
        assert_eq!(session.current_state(), SessionState::Running, "every request was answered");
        let own = players.iter().take_while(|player| **player != own).count();
        Predictor { session, socket, own }
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
    pub fn inputs(&mut self, from: PlayerId, inputs: &[bool], ack_frame: i32) {
        let mut mailbox = self.socket.open();
        let statuses = vec![(false, -1); mailbox.others.len() + 1];
        let other = mailbox.other(from);
        let body = if inputs.is_empty() {
            Body::InputAck(ack_frame)
        } else {
            let start_frame = other.next_frame;
            other.next_frame += inputs.len() as i32;
            let bytes = encode(&mut other.last, inputs);
            Body::Input { statuses, disconnect_requested: false, start_frame, ack_frame, bytes }
        };
        mailbox.put(from, body);
    }

    /// Our newest checksum that counts: of a confirmed frame.
    pub fn newest_checksum(&self) -> Option<(u32, Checksum)> {
        self.socket.open().checksum.map(|(frame, checksum)| (frame as u32, checksum))
    }

    /// Plays a frame, and all that must be played again. At the end of the prediction it plays
    /// nothing; then `own` counts already, and must be given again. Returns whether it played one.
    pub fn advance<S: Simulation>(&mut self, own: bool, timeline: &mut Timeline<S>) -> bool {
        let frame = self.session.current_frame();
        self.session.add_local_input(self.own, own).expect("it is the local player");
        let requests = self.session.advance_frame().expect("it runs, and has the local input");
        fulfil(requests, timeline);
        self.session.events().for_each(drop);
        self.session.current_frame() > frame
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
                let given: Vec<bool> = inputs.into_iter().map(|(given, _)| given).collect();
                timeline.step(&given);
            }
        }
    }
}

/// Inputs as ggrs packs them: each in a run of three bytes as they are, which are its length and
/// its difference from the one before.
fn encode(last: &mut bool, inputs: &[bool]) -> Vec<u8> {
    let differs = |input: &bool| core::mem::replace(last, *input) != *input;
    inputs.iter().map(differs).flat_map(|differs| [3 << 1, 1, 0, differs.into()]).collect()
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
    pub fn advance<S: Simulation>(&mut self, given: &[bool], timeline: &mut Timeline<S>) -> Result<(), u32> {
        for (handle, given) in given.iter().enumerate() {
            self.0.add_local_input(handle, *given).expect("it is a player");
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
