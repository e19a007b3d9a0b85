//! A dishonest signaling server that puts itself between two players: each meets it in the place of
//! the other, and it passes on what they say.

use std::net::{SocketAddr, TcpListener};
use std::thread;

use lockstone_net::matchbox::{Config, MatchboxLink};
use lockstone_net::session::{Event, Phase};
use lockstone_net::{Link, LinkEvent, PartySettings, PeerId, PlayerKey, Rollback, RollbackSettings};
use matchbox_protocol::{JsonPeerEvent, JsonPeerRequest, PeerEvent, PeerRequest};
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};
use uuid::Uuid;

use super::peers::*;
use super::process::keyed;
use super::sessions::{Player, all};

/// By what each honest player is known to the other.
const NAMES: [u128; 2] = [7, 1 << 64 | 8];

/// A room that lets in two, and names them as it likes.
fn room() -> SocketAddr {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        let enter = |own: u128| {
            let (stream, _) = listener.accept().unwrap();
            let other = stream.try_clone().unwrap();
            let mut socket = tungstenite::accept(stream).unwrap();
            tell(&mut socket, PeerEvent::IdAssigned(id(own)));
            (socket, WebSocket::from_raw_socket(other, Role::Server, None))
        };
        let (mut first, mut to_first) = enter(NAMES[0]);
        let (mut second, to_second) = enter(NAMES[1]);
        tell(&mut to_first, PeerEvent::NewPeer(id(NAMES[1])));
        thread::spawn(move || pass_on(&mut first, to_second, NAMES[0]));
        pass_on(&mut second, to_first, NAMES[1]);
    });
    addr
}

fn id(name: u128) -> matchbox_protocol::PeerId {
    matchbox_protocol::PeerId(Uuid::from_u128(name))
}

fn tell<S: std::io::Read + std::io::Write>(to: &mut WebSocket<S>, event: PeerEvent<serde_json::Value>) {
    let event: JsonPeerEvent = event;
    // Who is told may be gone.
    let _ = to.send(Message::text(serde_json::to_string(&event).unwrap()));
}

fn pass_on<S: std::io::Read + std::io::Write>(from: &mut WebSocket<S>, mut to: WebSocket<S>, sender: u128) {
    while let Ok(message) = from.read() {
        let Ok(text) = message.into_text() else { continue };
        if let Ok(PeerRequest::Signal { data, .. }) = serde_json::from_str::<JsonPeerRequest>(&text) {
            tell(&mut to, PeerEvent::Signal { sender: id(sender), data });
        }
    }
}

/// Someone who is in two such rooms, in each by the name of the other's player, and says there what
/// is said in the other.
struct Middle([MatchboxLink; 2]);

impl Middle {
    fn carry(&mut self) {
        for n in 0..2 {
            while let Some(event) = self.0[n].poll() {
                if let LinkEvent::Packet { channel, bytes, .. } = event {
                    self.0[1 - n].send(PeerId(NAMES[1 - n]), channel, bytes);
                }
            }
        }
    }

    fn has_entered(&mut self, n: usize) -> Option<()> {
        matches!(self.0[n].poll()?, LinkEvent::Entered(_)).then_some(())
    }
}

/// Two players who meet by that, once that has led to something.
fn meet<T: Session<Sim = Mixer>>(enter: impl Fn(u8) -> T, done: impl Fn(&[Player<T>; 2]) -> bool) -> [Player<T>; 2] {
    let rooms = [room(), room()];
    let mut first = Player::enter(rooms[0], "r", enter(1));
    until("the first to enter", || {
        first.advance();
        (first.session.phase() != Phase::Connecting).then_some(())
    });
    let open = |room| MatchboxLink::open(Config { url: format!("ws://{room}"), room: "r".into(), ..Config::default() });
    let mut middle = Middle(rooms.map(open));
    until("the second room's first", || middle.has_entered(1));
    let mut players = [first, Player::enter(rooms[1], "r", enter(2))];
    until("what comes of it", || {
        players.iter_mut().for_each(Player::advance);
        middle.carry();
        done(&players).then_some(())
    });
    players
}

fn is_told<T: Session<Sim = Mixer>>(player: &Player<T>) -> bool {
    player.events.iter().any(|event| matches!(event, Event::Intercepted { .. }))
}

fn are_two<T: Session<Sim = Mixer>>(players: &[Player<T>; 2]) -> bool {
    players.iter().all(|player| playing(&player.session) && player.session.stats().players.len() == 2)
}

fn predicting() -> Rollback<Mixer> {
    rollback(RollbackSettings::default(), "predicting", |seed| Mixer::new(seed, 64))
}

#[test]
fn who_is_between_two_players_is_found_out_by_both_and_reads_nothing_more() {
    let players = meet(keyed, |players| players.iter().all(is_told));
    assert!(!playing(&players[1].session), "it is not let in");
    assert_eq!(players[0].session.stats().players.len(), 1);
}

#[test]
fn who_is_between_two_players_of_a_rollback_session_is_found_out_by_both() {
    let key = |n| PlayerKey::from_bytes([n; 32]);
    let players = meet(|n| predicting().with_key(key(n)), |players| players.iter().all(is_told));
    assert!(!are_two(&players));
}

/// That is what the attack is.
#[test]
fn without_keys_nobody_finds_out_who_is_between() {
    let players = meet(|_| party(PartySettings::default(), "keyless"), are_two);
    assert!(players.iter().all(|player| !is_told(player)));
    assert!(players.iter().all(|player| player.session.stats().players.iter().all(|player| player.key.is_none())));
}

#[test]
fn players_who_meet_by_an_honest_server_have_each_others_keys_proven() {
    let server = serve();
    let mut players: Vec<_> = (1..=2).map(|n| Player::enter(server.local_addr(), "r", keyed(n))).collect();
    let wanted = [1, 2].map(|n| Some(PlayerKey::from_bytes([n; 32]).public()));
    all("keys", &mut players, |player| {
        let keys: Vec<_> = player.session.stats().players.into_iter().map(|player| player.key).collect();
        keys.len() == 2 && wanted.iter().all(|key| keys.contains(key))
    });
    assert!(players.iter().all(|player| !is_told(player)));
}
