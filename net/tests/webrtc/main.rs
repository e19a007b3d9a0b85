//! Links over real WebRTC and a real signaling server, all on loopback: in this process, but for
//! those that are killed or stand still. Raw WebSocket clients stand for peers that only sit in a
//! room, or misbehave.
#![cfg(not(target_arch = "wasm32"))]

mod addresses;
mod again;
mod apart;
mod between;
mod cuts;
mod forwarded;
mod hall;
mod line;
mod lossy;
mod network;
mod pages;
mod party;
mod peers;
mod players;
mod process;
mod proofs;
mod relay;
mod repair;
mod sessions;
mod silent;
mod strangers;
mod takeover;
mod tls;
mod turn;
mod two;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::matchbox::{Config, MatchboxLink};
use lockstone_net::signaling::{ROOM_PEERS_MAX, Server, SignalingError, probe};
use lockstone_net::{Channel, Link, LinkError, LinkEvent, PeerId};
use matchbox_protocol::PeerEvent;
use peers::*;
use tungstenite::Message;

#[test]
fn two_peers_exchange_packets_and_a_third_joins() {
    let server = serve();
    let started = Instant::now();
    let mut peers = vec![Peer::enter(server.local_addr(), "r"), Peer::enter(server.local_addr(), "r")];
    connect(&mut peers);
    println!("two peers connected in {:?}", started.elapsed());
    let [a, b] = &mut peers[..] else { unreachable!() };
    assert_eq!((a.1.arrival(), b.1.arrival()), (0, 1));
    exchange(a, b, Channel::Unreliable, b"turn");
    exchange(b, a, Channel::Unreliable, b"command");
    exchange(a, b, Channel::Reliable, b"hello");
    exchange(b, a, Channel::Reliable, &vec![7; MatchboxLink::PACKET_BYTES_MAX]);

    peers.push(Peer::enter(server.local_addr(), "r"));
    connect(&mut peers);
    let [a, _, c] = &mut peers[..] else { unreachable!() };
    assert_eq!(c.1.arrival(), 2);
    exchange(c, a, Channel::Reliable, b"here I am");
}

#[test]
fn reliable_packets_keep_their_order() {
    let server = serve();
    let mut peers = [Peer::enter(server.local_addr(), "r"), Peer::enter(server.local_addr(), "r")];
    connect(&mut peers);
    let [a, b] = &mut peers;
    for n in 0..200u8 {
        a.0.link.send(b.1, Channel::Reliable, vec![n; 1000]);
    }
    until("the last packet", || {
        b.0.find(|event| matches!(event, LinkEvent::Packet { bytes, .. } if bytes[0] == 199).then_some(()))
    });
    let order: Vec<u8> =
        b.0.told
            .iter()
            .filter_map(|event| if let LinkEvent::Packet { bytes, .. } = event { Some(bytes[0]) } else { None })
            .collect();
    assert_eq!(order, (0..200).collect::<Vec<u8>>());
}

struct Bell(mpsc::Sender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Nobody listens any more once the test is over.
        let _ = self.0.send(());
    }
}

#[test]
fn who_drives_a_link_may_sleep_until_it_is_woken() {
    let server = serve();
    let (bell, rung) = mpsc::channel();
    let driver = Waker::from(Arc::new(Bell(bell)));
    let mut peers = [(); 2].map(|()| Peer::open(server.local_addr(), "r", None));
    peers.iter_mut().for_each(|peer| assert!(peer.link.wake_with(&driver)));
    let drive_until = |peers: &mut [Peer; 2], wanted: fn(&LinkEvent) -> Option<PeerId>| {
        loop {
            if let [Some(a), Some(b)] = peers.each_mut().map(|peer| peer.find(wanted)) {
                return [a, b];
            }
            rung.recv_timeout(PATIENCE).expect("what comes wakes");
        }
    };
    let others =
        drive_until(&mut peers, |event| if let LinkEvent::Connected(peer) = event { Some(*peer) } else { None });
    for (peer, other) in peers.iter_mut().zip(others) {
        peer.link.send(other, Channel::Reliable, b"hello".to_vec());
    }
    let heard =
        drive_until(&mut peers, |event| if let LinkEvent::Packet { from, .. } = event { Some(*from) } else { None });
    assert_eq!(heard, others);
}

#[test]
fn a_dropped_link_is_seen_disconnected() {
    let server = serve();
    let mut peers = [Peer::enter(server.local_addr(), "r"), Peer::enter(server.local_addr(), "r")];
    connect(&mut peers);
    let [(mut stays, _), (leaves, gone)] = peers;
    let dropped = Instant::now();
    drop(leaves);
    until("the disconnect", || stays.has(&LinkEvent::Disconnected(gone)).then_some(()));
    println!("seen disconnected after {:?}", dropped.elapsed());
}

#[test]
fn links_outlive_the_signaling_server_and_end_after_their_last_peer() {
    let server = serve();
    let mut peers = [(); 2].map(|()| Peer::enter_impatient(server.local_addr(), "r"));
    connect(&mut peers);
    drop(server);
    let [a, b] = &mut peers;
    for (peer, _) in [&mut *a, &mut *b] {
        until("word that nobody can join", || peer.has_lost_signaling().then_some(()));
    }
    exchange(a, b, Channel::Reliable, b"still there?");
    exchange(b, a, Channel::Unreliable, b"yes");
    let [(mut stays, _), (leaves, gone)] = peers;
    drop(leaves);
    assert!(matches!(stays.closed(), LinkError::Ended(_)));
    assert!(stays.told.contains(&LinkEvent::Disconnected(gone)));
    assert!(matches!(stays.told.last(), Some(LinkEvent::Closed(_))));
    assert_eq!(stays.link.poll(), None);
}

#[test]
fn a_link_alone_ends_after_its_time_without_a_signaling_server() {
    let server = serve();
    let (mut alone, _) = Peer::enter_impatient(server.local_addr(), "r");
    drop(server);
    let error = alone.closed();
    println!("{error}");
    assert!(matches!(error, LinkError::Ended(_)));
}

#[test]
fn another_key_is_refused_and_the_right_one_is_not() {
    let server = serve();
    let key = Some("open sesame & more/ü");
    let mut founder = Peer::open(server.local_addr(), "r", key);
    until("to enter", || founder.find(|event| matches!(event, LinkEvent::Entered(_)).then_some(())));
    for wrong in [None, Some("guess")] {
        let error = Peer::open(server.local_addr(), "r", wrong).closed();
        assert_eq!(error, LinkError::Refused { room: "r".into(), cause: "the room has another key".into() });
    }
    let mut friend = Peer::open(server.local_addr(), "r", key);
    until("to enter", || friend.find(|event| matches!(event, LinkEvent::Entered(_)).then_some(())));
}

#[test]
fn rooms_do_not_see_each_other() {
    let server = serve();
    let mut peers = [Peer::enter(server.local_addr(), "one"), Peer::enter(server.local_addr(), "one")];
    let (mut other, id) = Peer::enter(server.local_addr(), "two");
    assert_eq!(id.arrival(), 0);
    connect(&mut peers);
    let [(a, a_id), _] = &mut peers;
    // A signal across rooms goes nowhere: the next thing that the stranger's room hears is its own.
    let (mut stranger, _) = raw(server.local_addr(), "two").unwrap();
    signal(&mut stranger, *a_id, serde_json::json!({ "Offer": "across" }));
    let (_inside, inside_id) = raw(server.local_addr(), "one").unwrap();
    assert_eq!(inside_id.arrival(), 2);
    assert!(other.find(|event| matches!(event, LinkEvent::Connected(_)).then_some(())).is_none());
    assert_eq!(a.told.iter().filter(|event| matches!(event, LinkEvent::Connected(_))).count(), 1);
}

#[test]
fn a_full_room_is_refused() {
    let server = serve();
    let sitting: Vec<_> = (0..ROOM_PEERS_MAX).map(|_| raw(server.local_addr(), "r").unwrap()).collect();
    let error = Peer::open(server.local_addr(), "r", None).closed();
    assert_eq!(error, LinkError::Refused { room: "r".into(), cause: "the room is full: it holds 16 peers".into() });
    assert_eq!(sitting.len(), 16);
}

#[test]
fn arrivals_are_exact_when_all_come_at_once() {
    let server = serve();
    let addr = server.local_addr();
    let comers: Vec<_> = (0..ROOM_PEERS_MAX).map(|_| thread::spawn(move || raw(addr, "r").unwrap())).collect();
    let inside: Vec<_> = comers.into_iter().map(|comer| comer.join().unwrap()).collect();
    let arrivals: BTreeSet<u64> = inside.iter().map(|(_, id)| id.arrival()).collect();
    assert_eq!(arrivals, (0..ROOM_PEERS_MAX as u64).collect());
}

/// matchbox's own loop panics on this; it must cost nobody else a connection.
#[test]
fn a_peer_that_leaves_during_its_handshake_harms_nobody() {
    let server = serve();
    let mut peers = [Peer::enter(server.local_addr(), "r"), Peer::enter(server.local_addr(), "r")];
    connect(&mut peers);
    for stay in (0..=640).step_by(80).map(Duration::from_millis) {
        let (mut leaver, _) = Peer::enter(server.local_addr(), "r");
        let entered = Instant::now();
        until("the moment to leave", || {
            let all = peers.iter_mut().map(|(peer, _)| peer).chain([&mut leaver]);
            all.for_each(Peer::look);
            (entered.elapsed() >= stay).then_some(())
        });
    }
    let [a, b] = &mut peers;
    exchange(a, b, Channel::Reliable, b"still there?");
    exchange(b, a, Channel::Unreliable, b"yes");
}

/// matchbox's own loop panics on this too.
#[test]
fn a_broken_session_description_harms_nobody() {
    let server = serve();
    let mut peers = vec![Peer::enter(server.local_addr(), "r"), Peer::enter(server.local_addr(), "r")];
    connect(&mut peers);
    let (mut hostile, _) = raw(server.local_addr(), "r").unwrap();
    for (_, victim) in &peers {
        signal(&mut hostile, *victim, serde_json::json!({ "Answer": "garbage" }));
        signal(&mut hostile, *victim, serde_json::json!({ "Offer": "garbage" }));
        signal(&mut hostile, *victim, serde_json::json!({ "IceCandidate": "garbage" }));
    }
    peers.push(Peer::enter(server.local_addr(), "r"));
    connect(&mut peers);
    let [a, b, _] = &mut peers[..] else { unreachable!() };
    exchange(a, b, Channel::Reliable, b"still there?");
}

#[test]
fn an_empty_room_forgets_its_key_and_its_count() {
    let server = serve();
    let (first, _) = raw(server.local_addr(), "r?key=a").unwrap();
    let (second, id) = raw(server.local_addr(), "r?key=a").unwrap();
    assert_eq!(id.arrival(), 1);
    drop(first);
    drop(second);
    let id = until("the room to be empty", || raw(server.local_addr(), "r?key=b").ok().map(|(_, id)| id));
    assert_eq!(id.arrival(), 0);
}

#[test]
fn room_names_are_checked_on_both_sides() {
    let server = serve();
    for name in ["", "a b", "a/b", "ä", "..", &"x".repeat(65)] {
        let error = Peer::open(server.local_addr(), name, None).closed();
        assert!(matches!(error, LinkError::Refused { .. }), "{name:?}: {error}");
    }
    for path in ["a%20b", "a/b", "a%2Fb", "%C3%A4", &"x".repeat(65)] {
        let (status, text) = refused(server.local_addr(), path);
        assert_eq!((status, text.as_str()), (400, "a room's name is 1 to 64 of A-Z a-z 0-9 _ -"), "{path:?}");
    }
    Peer::enter(server.local_addr(), &"x".repeat(64));
}

#[test]
fn a_server_that_is_not_there_is_told_quickly() {
    let free = TcpListener::bind(ANY_PORT).unwrap().local_addr().unwrap();
    let started = Instant::now();
    let error = Peer::open(free, "r", None).closed();
    println!("{error} (after {:?})", started.elapsed());
    assert!(matches!(error, LinkError::Unreachable { .. }));
    let link = MatchboxLink::open(Config { url: "localhost:1".into(), room: "r".into(), ..Config::default() });
    assert!(matches!(Peer { link, told: Vec::new() }.closed(), LinkError::Unreachable { .. }));
}

#[test]
#[ignore = "takes ten seconds"]
fn a_server_that_never_answers_is_unreachable() {
    let silent = TcpListener::bind(ANY_PORT).unwrap();
    let error = Peer::open(silent.local_addr().unwrap(), "r", None).closed();
    println!("{error}");
    assert!(matches!(error, LinkError::Unreachable { .. }));
}

#[test]
fn a_taken_port_is_told() {
    let server = serve();
    let error = Server::bind(server.local_addr()).unwrap_err();
    assert!(matches!(error, SignalingError::AddressTaken { addr } if addr == server.local_addr()));
}

#[test]
fn a_probe_tells_this_server_from_others() {
    let server = serve();
    let addr = server.local_addr();
    assert!(probe(addr, PATIENCE));
    drop(server);
    assert!(!probe(addr, PATIENCE), "a stopped server answers no more");
    let silent = TcpListener::bind(ANY_PORT).unwrap();
    assert!(!probe(silent.local_addr().unwrap(), Duration::from_millis(100)));
    let foreign = TcpListener::bind(ANY_PORT).unwrap();
    let foreign_addr = foreign.local_addr().unwrap();
    thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = foreign.accept().unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    });
    assert!(!probe(foreign_addr, PATIENCE));
}

#[test]
fn a_hostile_client_ends_only_its_own_connection() {
    let server = serve();
    let (mut hostile, _) = raw(server.local_addr(), "r").unwrap();
    let (mut other, other_id) = raw(server.local_addr(), "r").unwrap();
    let PeerEvent::NewPeer(id) = next(&mut hostile) else { panic!("the newcomer is told") };
    assert_eq!(id.0.as_u128(), other_id.0);
    for junk in ["", "{", "[]", "{\"Signal\":{}}", &"[".repeat(15_000)] {
        hostile.send(Message::text(junk)).unwrap();
    }
    hostile.send(Message::binary(vec![0; 1000])).unwrap();
    signal(&mut hostile, other_id, "ok".into());
    assert!(matches!(next(&mut other), PeerEvent::Signal { data, .. } if data == "ok"), "junk is ignored");
    // Fails here or there, as the server closes while it is still being written.
    let _ = hostile.send(Message::text("x".repeat(100_000)));
    assert!(matches!(next(&mut other), PeerEvent::PeerLeft(_)), "an oversized message ends its sender");
    drop(hostile);
    let (_third, id) = raw(server.local_addr(), "r").unwrap();
    assert_eq!(id.arrival(), 2);
}
