//! ggrs as it is: its session, messages encoded by bincode 2, over queues that hold packets back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ggrs::{
    Config, GgrsRequest, Message, NonBlockingSocket, P2PSession, PlayerType, PredictDefault, SessionBuilder,
    SessionState,
};

use crate::{Command, DELAY_MS, SECONDS, Sent, TICKS_PER_S, command};

struct Play;

impl Config for Play {
    type Input = Command;
    type InputPredictor = PredictDefault;
    type State = ();
    type Address = usize;
}

/// Packets under way, and what was sent so far.
#[derive(Default)]
struct Network {
    under_way: Vec<VecDeque<(Instant, usize, Vec<u8>)>>,
    sent: Sent,
}

struct Socket {
    me: usize,
    network: Arc<Mutex<Network>>,
}

impl NonBlockingSocket<usize> for Socket {
    fn send_to(&mut self, message: &Message, to: &usize) {
        let bytes = bincode::serde::encode_to_vec(message, bincode::config::standard()).expect("messages encode");
        let mut network = self.network.lock().expect("nothing panics");
        network.sent.packets += 1;
        network.sent.bytes += bytes.len() as u64;
        let arrives = Instant::now() + Duration::from_millis(DELAY_MS);
        network.under_way[*to].push_back((arrives, self.me, bytes));
    }

    fn receive_all_messages(&mut self) -> Vec<(usize, Message)> {
        let mut network = self.network.lock().expect("nothing panics");
        let queue = &mut network.under_way[self.me];
        let due = queue.iter().take_while(|(arrives, ..)| *arrives <= Instant::now()).count();
        let arrived = queue.drain(..due);
        let read =
            |bytes: &[u8]| bincode::serde::decode_from_slice(bytes, bincode::config::standard()).expect("own bytes").0;
        arrived.map(|(_, from, bytes)| (from, read(&bytes))).collect()
    }
}

/// So many peers, with an input delay in ticks.
pub fn run(peers: usize, input_delay: usize) -> Sent {
    let network = Arc::new(Mutex::new(Network { under_way: vec![VecDeque::new(); peers], ..Network::default() }));
    let mut sessions: Vec<_> = (0..peers).map(|me| session(me, peers, input_delay, network.clone())).collect();
    while sessions.iter().any(|session| session.current_state() != SessionState::Running) {
        sessions.iter_mut().for_each(P2PSession::poll_remote_clients);
        std::thread::sleep(Duration::from_millis(2));
    }
    let before = network.lock().expect("nothing panics").sent;
    let (start, period) = (Instant::now(), Duration::from_secs(1) / TICKS_PER_S as u32);
    let mut ticks = 0;
    while start.elapsed() < Duration::from_secs(SECONDS) {
        sessions.iter_mut().for_each(P2PSession::poll_remote_clients);
        if start.elapsed() >= period * ticks as u32 {
            sessions.iter_mut().enumerate().for_each(|(me, session)| advance(me, session, ticks));
            ticks += 1;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let after = network.lock().expect("nothing panics").sent;
    let confirmed = sessions.iter().map(P2PSession::confirmed_frame).min().expect("there are peers").max(0) as usize;
    let played =
        (0..confirmed.min(ticks)).map(|tick| (0..peers).filter(|&peer| command(peer, tick).is_some()).count()).sum();
    Sent { bytes: after.bytes - before.bytes, packets: after.packets - before.packets, played }
}

fn session(me: usize, peers: usize, input_delay: usize, network: Arc<Mutex<Network>>) -> P2PSession<Play> {
    let mut builder = SessionBuilder::<Play>::new()
        .with_num_players(peers)
        .expect("a number of players")
        .with_fps(TICKS_PER_S)
        .expect("a rate")
        .with_input_delay(input_delay);
    for peer in 0..peers {
        let player = if peer == me { PlayerType::Local } else { PlayerType::Remote(peer) };
        builder = builder.add_player(player, peer).expect("handles are fresh");
    }
    builder.start_p2p_session(Socket { me, network }).expect("the players are complete")
}

fn advance(me: usize, session: &mut P2PSession<Play>, tick: usize) {
    session.add_local_input(me, command(me, tick).unwrap_or_default()).expect("it is a local player");
    // At the edge of its prediction window ggrs waits for the others; the input comes again
    // with the next tick.
    for request in session.advance_frame().into_iter().flatten() {
        if let GgrsRequest::SaveGameState { cell, frame } = request {
            cell.save(frame, Some(()), None);
        }
    }
    session.events().for_each(drop);
}
