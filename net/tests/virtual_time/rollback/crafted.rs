//! Packets that are known to harm ggrs 0.13, and matchbox's socket for it: here they are dropped,
//! there they are not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use ggrs::{Config, Message as GgrsMessage, NonBlockingSocket, P2PSession, PlayerType, PredictDefault, SessionBuilder};
use lockstone_net::session::DropReason;
use lockstone_net::wire::{self, *};
use lockstone_sim::{Tick, codec};
use testkit::sessions::crafted::{self, Body, Packet};
use testkit::sessions::hostile::*;
use testkit::sessions::list;

/// What is known to harm ggrs, as ggrs's own packets and as what is nearest to them here.
#[test]
fn packets_that_are_crafted_against_ggrs_are_dropped() {
    let (mut room, kept) = room_of_three();
    let peer = room.peer(LIAR);
    let packets = crafted::packets();
    for packet in &packets {
        assert!(wire::decode(packet).is_err(), "{packet:?}");
        hear(&mut room, FIRST, peer, packet.clone());
    }
    assert_eq!(drops(&room, FIRST, DropReason::Malformed), packets.len() as u64);
    let honest = inputs(&room, &kept, LIAR, FIRST, 9_000);
    let far = Inputs { from: Tick(200), inputs: list(vec![None]), ..honest };
    say(&mut room, LIAR, FIRST, Message::Inputs(far.sealed(EPOCH)));
    assert_eq!(drops(&room, FIRST, DropReason::TooFarAhead), 1);
    undisturbed(&mut room, "crafted packets");
}

/// The negative control: ggrs itself, with nothing before it.
#[test]
fn ggrs_itself_panics_at_inputs_that_begin_200_frames_ahead() {
    for (start_frame, panics) in [(0, false), (100, false), (200, true)] {
        let (mut session, inbox) = bare_session();
        inbox.push(crafted::inputs(start_frame, &crafted::ONE_INPUT));
        let result = catch_unwind(AssertUnwindSafe(|| session.poll_remote_clients()));
        assert_eq!(result.is_err(), panics, "from frame {start_frame}");
    }
}

/// A player of ggrs's own session: its inputs are bytes.
struct Bare;

impl Config for Bare {
    type Input = u8;
    type InputPredictor = PredictDefault;
    type State = ();
    type Address = usize;
}

/// What the other player has sent. Its part of the handshake is played here.
#[derive(Clone, Default)]
struct Inbox(Arc<Mutex<Vec<GgrsMessage>>>);

impl Inbox {
    fn push(&self, packet: Packet) {
        let bytes = codec::compact(&packet);
        self.0.lock().expect("nothing panics").push(codec::read(&bytes, bytes.len()).expect("it is a packet of ggrs"));
    }
}

impl NonBlockingSocket<usize> for Inbox {
    fn send_to(&mut self, message: &GgrsMessage, _: &usize) {
        let bytes = codec::compact(message);
        if let Ok(Packet { body: Body::SyncRequest(n), .. }) = codec::read(&bytes, bytes.len()) {
            self.push(Packet { magic: 1, body: Body::SyncReply(n) });
        }
    }

    fn receive_all_messages(&mut self) -> Vec<(usize, GgrsMessage)> {
        self.0.lock().expect("nothing panics").drain(..).map(|message| (1, message)).collect()
    }
}

/// Two players of ggrs, one of them here, past their handshake.
fn bare_session() -> (P2PSession<Bare>, Inbox) {
    let inbox = Inbox::default();
    let mut session = SessionBuilder::<Bare>::new()
        .add_player(PlayerType::Local, 0)
        .and_then(|builder| builder.add_player(PlayerType::Remote(1), 1))
        .and_then(|builder| builder.start_p2p_session(inbox.clone()))
        .expect("two players");
    while session.current_state() != ggrs::SessionState::Running {
        session.poll_remote_clients();
    }
    (session, inbox)
}
