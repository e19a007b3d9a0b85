//! How links take up signaling again: the server is restarted, one WebSocket alone is cut, a
//! process is killed.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::{Channel, LinkEvent, PeerId};
use matchbox_protocol::{JsonPeerEvent, PeerEvent};
use testkit::router::Router;
use tungstenite::Message;

use super::peers::*;
use super::process::Process;

fn all(peers: &mut [(Peer, PeerId)], mut wanted: impl FnMut(&mut Peer) -> bool) -> Option<()> {
    peers.iter_mut().map(|(peer, _)| wanted(peer)).fold(true, |all, one| all & one).then_some(())
}

/// Everyone is connected with everyone, and was from the first on.
fn assert_whole(peers: &mut [(Peer, PeerId)]) {
    let ids: Vec<PeerId> = peers.iter().map(|(_, id)| *id).collect();
    for (peer, own) in peers {
        for other in ids.iter().filter(|other| *other != own) {
            assert_eq!(peer.connections(*other), (1, 0), "{own} and {other}");
        }
        assert_eq!(peer.told.iter().filter(|event| matches!(event, LinkEvent::Entered(_))).count(), 1);
    }
}

#[test]
fn a_room_outlives_a_restart_of_its_server() {
    let server = serve();
    let addr = server.local_addr();
    let mut peers: Vec<_> = (0..3).map(|_| Peer::enter(addr, "r")).collect();
    connect(&mut peers);
    drop(server);
    until("word of it", || all(&mut peers, Peer::has_lost_signaling));
    let server = serve_at(addr);
    let returned = Instant::now();
    until("all to be back", || all(&mut peers, |peer| peer.has(&LinkEvent::SignalingBack)));
    println!("all are back after {:?}", returned.elapsed());
    peers.push(Peer::enter(addr, "r"));
    connect(&mut peers);
    println!("a fourth is connected with all after {:?}", returned.elapsed());
    assert!(returned.elapsed() < JOINED_WITHIN);
    attend(&mut peers, Duration::from_secs(2));
    assert_whole(&mut peers);
    let [a, .., d] = &mut peers[..] else { unreachable!() };
    exchange(d, a, Channel::Reliable, b"hello");
    drop(server);
}

#[test]
fn a_peer_whose_websocket_breaks_stays_with_all() {
    let server = serve();
    let router = Router::before(server.local_addr());
    let addrs = [server.local_addr(), router.addr(), server.local_addr()];
    let mut peers: Vec<_> = addrs.iter().map(|addr| Peer::enter(*addr, "r")).collect();
    connect(&mut peers);
    let (mut witness, _) = raw(server.local_addr(), "r").unwrap();
    router.break_down();
    until("word of it", || peers[1].0.has_lost_signaling().then_some(()));
    let left = loop {
        if let PeerEvent::PeerLeft(peer) = next(&mut witness) {
            break peer.0.as_u128();
        }
    };
    assert_eq!(PeerId(left), peers[1].1, "the server told that it has left");
    // No packet of a session shows that it lives.
    attend(&mut peers, Duration::from_secs(3));
    router.mend();
    let mended = Instant::now();
    until("it to be back", || peers[1].0.has(&LinkEvent::SignalingBack).then_some(()));
    peers.push(Peer::enter(server.local_addr(), "r"));
    connect(&mut peers);
    println!("a fourth is connected with all after {:?}", mended.elapsed());
    assert!(mended.elapsed() < JOINED_WITHIN);
    attend(&mut peers, Duration::from_secs(2));
    assert_whole(&mut peers);
}

/// The control: what is asked whether it lives, and does not, is gone.
#[test]
fn a_process_that_is_killed_is_missed_soon() {
    let server = serve();
    let mut peers = [Peer::enter(server.local_addr(), "r")];
    let child = Process::start(server.local_addr(), "r");
    let connected = |event: &LinkEvent| if let LinkEvent::Connected(peer) = event { Some(*peer) } else { None };
    let gone = until("the process", || peers[0].0.find(connected));
    drop(child);
    let killed = Instant::now();
    until("it to be missed", || peers[0].0.has(&LinkEvent::Disconnected(gone)).then_some(()));
    println!("missed after {:?}", killed.elapsed());
    assert!(killed.elapsed() < Duration::from_secs(5), "ICE takes half a minute");
}

/// What stands still is lost, and connected again once it goes on: both took up signaling anew.
#[test]
fn a_process_that_stood_still_is_connected_again() {
    let server = serve();
    let router = Router::before(server.local_addr());
    let (mut stays, _) = Peer::enter(server.local_addr(), "r");
    let child = Process::start(router.addr(), "r");
    let connected = |event: &LinkEvent| if let LinkEvent::Connected(peer) = event { Some(*peer) } else { None };
    let peer = until("the process", || stays.find(connected));
    child.stop();
    router.break_down();
    until("it to be missed", || stays.has(&LinkEvent::Disconnected(peer)).then_some(()));
    router.mend();
    child.go_on();
    let woken = Instant::now();
    until("it to be back", || (stays.connections(peer) == (2, 1)).then_some(()));
    println!("connected again after {:?}", woken.elapsed());
    assert!(woken.elapsed() < Duration::from_secs(10));
}

/// The connection alone is lost: nobody has left the room. The process stands still for as long as
/// ICE takes to find out.
#[test]
#[ignore = "takes a minute"]
fn a_connection_that_breaks_is_made_again() {
    for first in [true, false] {
        let server = serve();
        let stays = first.then(|| Peer::enter(server.local_addr(), "r"));
        let mut child = Process::start(server.local_addr(), "r");
        let (mut stays, _) = stays.unwrap_or_else(|| {
            child.await_entered();
            Peer::enter(server.local_addr(), "r")
        });
        let connected = |event: &LinkEvent| if let LinkEvent::Connected(peer) = event { Some(*peer) } else { None };
        let peer = until("the process", || stays.find(connected));
        child.stop();
        let stopped = Instant::now();
        let lost = LinkEvent::Disconnected(peer);
        while !stays.has(&lost) {
            assert!(stopped.elapsed() < Duration::from_secs(50), "the server would miss it");
            thread::park_timeout(Duration::from_millis(10));
        }
        println!("lost after {:?}", stopped.elapsed());
        child.go_on();
        let woken = Instant::now();
        until("it to be connected again", || (stays.connections(peer) == (2, 1)).then_some(()));
        println!("again after {:?}", woken.elapsed());
    }
}

#[test]
fn a_handshake_that_the_server_did_not_live_to_see_is_done_again() {
    let server = serve();
    let addr = server.local_addr();
    let mut peers = vec![Peer::enter(addr, "r"), Peer::enter(addr, "r")];
    drop(server);
    until("word of it", || all(&mut peers, Peer::has_lost_signaling));
    let _server = serve_at(addr);
    connect(&mut peers);
    attend(&mut peers, Duration::from_secs(2));
    assert_whole(&mut peers);
}

#[test]
fn a_founder_alone_waits_for_its_server_and_is_joined() {
    let server = serve();
    let addr = server.local_addr();
    let mut peers = vec![Peer::enter(addr, "r")];
    drop(server);
    until("word of it", || peers[0].0.has_lost_signaling().then_some(()));
    let _server = serve_at(addr);
    until("it to be back", || peers[0].0.has(&LinkEvent::SignalingBack).then_some(()));
    peers.push(Peer::enter(addr, "r"));
    assert_eq!(peers[1].1.arrival(), 1);
    connect(&mut peers);
}

/// Another kind of server, that knows no secrets.
#[test]
fn a_server_that_gives_another_name_is_of_no_use() {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let addr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let name = || {
            let mut socket = tungstenite::accept(listener.accept().unwrap().0).unwrap();
            let named: JsonPeerEvent = PeerEvent::IdAssigned(matchbox_protocol::PeerId(uuid::Uuid::new_v4()));
            socket.send(Message::text(named.to_string())).unwrap();
            socket
        };
        drop(name());
        // Until the link has heard enough.
        assert!(name().read().is_err());
    });
    let (mut peer, _) = Peer::enter(addr, "r");
    let error = peer.closed();
    assert!(error.to_string().contains("another name"), "{error}");
    server.join().unwrap();
}

#[test]
fn an_id_belongs_to_who_knows_its_secret() {
    let server = serve();
    let addr = server.local_addr();
    let (secret, strange) = ("0123456789abcdef", "fedcba9876543210");
    let (_witness, first) = raw(addr, "r").unwrap();
    let (held, id) = raw(addr, &format!("r?secret={secret}")).unwrap();
    assert_eq!((first.arrival(), id.arrival()), (0, 1));
    // The server has not noticed yet that the first connection is dead.
    let (held_again, again) = raw(addr, &format!("r?secret={secret}&arrival=1")).unwrap();
    assert_eq!(again, id);
    drop((held, held_again));
    let (_stranger, stranger) = raw(addr, &format!("r?secret={strange}&arrival=1")).unwrap();
    assert_eq!(stranger.arrival(), 1);
    assert_ne!(stranger, id);
    let sentence = "a peer's secret is 16 to 64 bytes, and who comes back presents it";
    for path in ["r?secret=short", "r?arrival=1", &format!("r?secret={secret}&arrival=4294967296")] {
        assert_eq!(refused(addr, path), (400, sentence.into()), "{path}");
    }
    let elsewhere = serve();
    let (_first, again) = raw(elsewhere.local_addr(), &format!("r?secret={secret}&arrival=1")).unwrap();
    assert_eq!(again, id, "a server that never saw it");
    let (_next, next) = raw(elsewhere.local_addr(), "r").unwrap();
    assert_eq!(next.arrival(), 2, "and the next is not the room's first");
}
