//! Peers that sit in a party's room and say nothing: they hold it for nobody, and the room begins
//! anew for those who wait in it. Members whose connections live on have nothing to say, too.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::RollbackSettings;
use lockstone_net::limits::signaling::OFFERS_WITHIN;
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;
use testkit::strangers::{PAUSE, Stranger, connect_from, enter_from};
use tungstenite::{Message, WebSocket, client};

use super::peers::{PATIENCE, refused, serve};
use super::sessions::*;

/// A peer of a room as the server sees it, which says what it is told to.
struct Sitter(tungstenite::WebSocket<TcpStream>);

impl Sitter {
    fn enter(server: SocketAddr) -> Sitter {
        Sitter::enter_by(server, "squatted")
    }

    fn enter_by(server: SocketAddr, path: &str) -> Sitter {
        let stream = connect_from(2, server).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Sitter(client(format!("ws://{server}/{path}"), stream).unwrap().0)
    }

    /// What the server says next, if it has not closed the connection.
    fn hears(&mut self) -> Option<String> {
        match self.0.read() {
            Ok(Message::Text(text)) => Some(text.to_string()),
            Ok(Message::Close(_)) | Err(_) => None,
            Ok(other) => panic!("{other:?}"),
        }
    }

    /// Its number in the room, which it is told first.
    fn named(&mut self) -> String {
        let told = self.hears().expect("it is let in");
        let id = told.split('"').nth(3).expect("an id");
        id.to_owned()
    }
}

/// The first in a room would found its session.
#[test]
fn who_offers_nobody_a_connection_loses_the_room_and_who_does_stays() {
    let server = serve();
    let [mut silent, mut second, mut newcomer] = [(); 3].map(|()| Sitter::enter(server.local_addr()));
    let [first, second_id, third] = [silent.named(), second.named(), newcomer.named()];
    let offer = format!(r#"{{"Signal":{{"receiver":"{third}","data":{{"Offer":"..."}}}}}}"#);
    second.0.send(Message::text(offer)).unwrap();
    assert!(newcomer.hears().is_some_and(|said| said.contains(&second_id)), "the second offers a connection");
    let began = Instant::now();
    assert_eq!(newcomer.hears(), Some(format!(r#"{{"PeerLeft":"{first}"}}"#)));
    println!("the silent first has gone after {:?}", began.elapsed());
    assert!(silent.hears().is_some_and(|said| said.contains(&second_id)));
    assert!(silent.hears().is_some_and(|said| said.contains(&third)));
    assert_eq!(silent.hears(), None);
    // The newcomer was there when nobody else came, and owes nobody anything.
    assert!(second.hears().is_some_and(|said| said.contains("NewPeer")));
    assert_eq!(second.hears(), Some(format!(r#"{{"PeerLeft":"{first}"}}"#)));
    // Nobody is left who can have let them in: they are the first and the second of the room.
    let [second_id, third] = [second.named(), newcomer.named()];
    assert!(second_id.starts_with("00000000-0000-0000-") && third.starts_with("00000000-0000-0001-"));
    assert_eq!(second.hears(), Some(format!(r#"{{"NewPeer":"{third}"}}"#)));
    let signal = |receiver: &str| format!(r#"{{"Signal":{{"receiver":"{receiver}","data":"hello"}}}}"#);
    second.0.send(Message::text(signal(&third))).unwrap();
    assert!(newcomer.hears().is_some_and(|said| said.contains(&second_id)));
    newcomer.0.send(Message::text(signal(&second_id))).unwrap();
    assert!(second.hears().is_some_and(|said| said.contains("hello") && said.contains(&third)));
    drop(newcomer);
    assert_eq!(second.hears(), Some(format!(r#"{{"PeerLeft":"{third}"}}"#)));
}

/// Else it would be the first again at once, and hold the room for ever.
#[test]
fn a_silent_first_that_has_gone_is_not_the_first_again_and_a_newcomer_is() {
    let server = serve();
    let addr = server.local_addr();
    let (secret, own) = ("secret=0123456789abcdef", "secret=fedcba9876543210");
    let mut silent = Sitter::enter_by(addr, &format!("squatted?{secret}"));
    let first = silent.named();
    let mut newcomer = Sitter::enter_by(addr, &format!("squatted?{own}"));
    let second = newcomer.named();
    assert_eq!(newcomer.hears(), Some(format!(r#"{{"PeerLeft":"{first}"}}"#)));
    let begun = newcomer.named();
    assert_eq!(begun, second.replacen("00000000-0000-0001-", "00000000-0000-0000-", 1));
    assert_eq!(refused(addr, &format!("squatted?{secret}&arrival=0")).0, 403);
    drop(newcomer);
    // The first that there is now may come back, if its connection breaks.
    let mut another = Sitter::enter(addr);
    another.named();
    let mut newcomer = Sitter::enter_by(addr, &format!("squatted?{own}&arrival=0"));
    assert_eq!(newcomer.named(), begun);
}

/// The server has heard nothing of their connections, which are as they were.
#[test]
fn who_comes_back_owes_and_is_owed_no_offer() {
    let server = serve();
    let addr = server.local_addr();
    let path = |n: u8| format!("squatted?secret=0123456789abcde{n}&arrival={n}");
    let mut members = [2, 0, 1].map(|n| Sitter::enter_by(addr, &path(n)));
    members.iter_mut().for_each(|member| drop(member.named()));
    thread::park_timeout(OFFERS_WITHIN + Duration::from_secs(1));
    let peers = server.figures().peers;
    assert_eq!(peers, 3, "one has put out another");
}

/// The first in a room, where it says nothing to anybody. It comes back as often as it is put out,
/// as the first or as another.
fn silent_founder(server: SocketAddr, room: &'static str) -> Stranger {
    let mut paths = ["", "&arrival=0"].map(|again| format!("{room}?secret=0123456789abcdef{again}"));
    let mut first = enter_from(9, server, &paths[0]).expect("it is let in");
    Stranger::of(move |ends| {
        first.get_mut().set_read_timeout(Some(PAUSE)).expect("a socket takes a timeout");
        let mut inside = Some(first);
        while !ends.load(Relaxed) {
            let is_out = |socket: &mut WebSocket<TcpStream>| match socket.read() {
                Err(tungstenite::Error::Io(error)) => error.kind() != ErrorKind::WouldBlock,
                heard => !heard.is_ok_and(|message| message.is_text()),
            };
            if inside.as_mut().is_none_or(is_out) {
                paths.reverse();
                inside = enter_from(9, server, &paths[0]);
                inside.iter_mut().for_each(|socket| {
                    socket.get_mut().set_read_timeout(Some(PAUSE)).expect("a socket takes a timeout");
                });
                thread::park_timeout(PAUSE);
            }
        }
    })
}

/// Two who came to its room play together in it.
fn play_in_the_room_of_a_silent_founder<T: Session<Sim = Mixer>>(
    room: &'static str,
    player: impl Fn(SocketAddr, &str) -> Player<T>,
) {
    let server = serve();
    let addr = server.local_addr();
    let silent = silent_founder(addr, room);
    let begun = Instant::now();
    let mut players = vec![player(addr, "Ada"), player(addr, "Bram")];
    all("to play together", &mut players, |player| {
        playing(&player.session) && player.session.stats().players.len() == 2
    });
    println!("two play after {:?}", begun.elapsed());
    play(&mut players, 60);
    assert_undisturbed(&players);
    drop(silent);
}

#[test]
fn a_party_begins_in_a_room_whose_first_peer_is_silent() {
    play_in_the_room_of_a_silent_founder("party", party_at);
}

#[test]
fn a_rollback_session_begins_in_a_room_whose_first_peer_is_silent() {
    play_in_the_room_of_a_silent_founder("rollback", |server, name| {
        let settings = RollbackSettings { players: 2, ..RollbackSettings::default() };
        Player::enter(server, "rollback", rollback(settings, name, |seed| Mixer::new(seed, 64)))
    });
}
