//! Strangers who flood signals, or come and go, and a signaling server that is hostile itself.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use std::{slice, thread};

use lockstone_net::limits::{PEERS_MAX, SHORT_VISITS_MAX};
use lockstone_net::matchbox::RoomRole;
use lockstone_net::{Channel, Link, LinkEvent, PeerId, RollbackSettings};
use matchbox_protocol::{JsonPeerEvent, JsonPeerRequest, PeerEvent, PeerRequest};
use testkit::process::own_memory_kb;
use testkit::router::Router;
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;
use testkit::strangers::{OFFER, PAUSE, Stranger, candidate, enter_from};
use tungstenite::{Message, WebSocket};
use uuid::Uuid;

use super::peers::*;
use super::process::Process;
use super::sessions::*;

/// All play on at their pace for so many ticks.
fn play_at_pace<T: Session<Sim = Mixer>>(what: &str, players: &mut [Player<T>], ticks: u32) {
    // Other tests may run in this process.
    let (begun, memory) = (Instant::now(), own_memory_kb());
    play(players, ticks);
    let due = ticks * Duration::from_millis(50);
    println!("{what}: {ticks} ticks in {:?}; memory {memory:?} kB, then {:?}", begun.elapsed(), own_memory_kb());
    assert!(begun.elapsed() < due + due / 3, "{:?}", begun.elapsed());
    assert_undisturbed(players);
}

#[test]
fn strangers_who_flood_signals_disturb_no_party_and_keep_nobody_out() {
    let server = serve();
    let addr = server.local_addr();
    let mut players = party_of_three([addr; 3]);
    let restless = Stranger::restless(2, addr, "party");
    let strangers = [(); 4].map(|()| Stranger::flooding(3, addr, "party").expect("it is let in"));
    play_at_pace("a party among strangers", &mut players, 300);
    players.push(party_at(addr, "Dirk"));
    // Strangers press in before it. Half of the offers are for who stays for a second.
    let takes = join(&mut players, Instant::now());
    assert!(takes < Duration::from_secs(5), "{takes:?}");
    play(&mut players, 20);
    assert_undisturbed(&players[..3]);
    drop((strangers, restless));
}

#[test]
fn strangers_who_flood_signals_disturb_no_rollback_session() {
    let server = serve();
    let addr = server.local_addr();
    let settings = RollbackSettings { players: 3, ..RollbackSettings::default() };
    let mut players: Vec<_> = ["Ada", "Bram", "Cleo"]
        .map(|name| Player::enter(addr, "rollback", rollback(settings.clone(), name, |seed| Mixer::new(seed, 64))))
        .into();
    all("to play", &mut players, |player| playing(&player.session));
    let strangers = [(); 4].map(|()| Stranger::flooding(1, addr, "rollback").expect("it is let in"));
    play_at_pace("a rollback session among strangers", &mut players, 200);
    drop(strangers);
}

/// One sends what nobody answers, as fast as it can; the other now and then.
#[test]
fn a_stranger_who_sends_garbage_is_connected_no_more() {
    let server = serve();
    let addr = server.local_addr();
    let mut players = party_of_three([addr; 3]);
    let mut strangers = [Peer::enter(addr, "party"), Peer::enter(addr, "party")];
    let mut members = Vec::new();
    until("strangers to be connected", || {
        players.iter_mut().for_each(Player::advance);
        let connected = |(stranger, _): &mut (Peer, PeerId)| {
            stranger.look();
            let peers = stranger.told.iter().filter_map(|event| match event {
                LinkEvent::Connected(peer) if peer.arrival() < 3 => Some(*peer),
                _ => None,
            });
            peers.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        let [first, second] = strangers.each_mut().map(connected);
        members.clone_from(&first);
        (first.len() == 3 && first == second).then_some(())
    });
    let connections = |stranger: &mut Peer| members.iter().map(|peer| stranger.connections(*peer)).collect::<Vec<_>>();
    let mut round = 0_u32;
    let mut speak = |players: &mut [Player<_>], strangers: &mut [(Peer, PeerId); 2]| {
        round += 1;
        for ((stranger, _), packets) in strangers.iter_mut().zip([20, u32::from(round.is_multiple_of(20))]) {
            stranger.look();
            for peer in &members {
                (0..packets).for_each(|_| stranger.link.send(*peer, Channel::Unreliable, vec![7; 200]));
            }
        }
        play(players, 1);
    };
    let begun = Instant::now();
    while !connections(&mut strangers[0].0).iter().all(|(_, ended)| *ended > 0) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", connections(&mut strangers[0].0));
        speak(&mut players, &mut strangers);
    }
    println!("who sends 400 packets a second is gone after {:?}", begun.elapsed());
    // It offers again, in vain.
    (0..100).for_each(|_| speak(&mut players, &mut strangers));
    assert_eq!(connections(&mut strangers[0].0), [(1, 1); 3]);
    assert_eq!(connections(&mut strangers[1].0), [(1, 0); 3], "who says little stays");
    assert_undisturbed(&players);
}

#[test]
fn players_who_come_and_go_have_their_own_address_wait_and_nobody_elses() {
    come_and_go(RoomRole::Relay { token: "t".into() }, RoomRole::Player);
}

#[test]
fn newcomers_of_a_party_who_come_and_go_have_their_own_address_wait_and_nobody_elses() {
    come_and_go(RoomRole::Peer, RoomRole::Peer);
}

/// Each visit costs a handshake, and the session a world. After the fifth short one their address
/// waits for a second, then for two, then for four.
fn come_and_go(host: RoomRole, visitors: RoomRole) {
    let server = serve();
    let addr = server.local_addr();
    let restless = Router::of(7, addr);
    let enter = |router: SocketAddr| Peer::enter_as(visitors.clone(), router, "r");
    let mut host = Peer::enter_as(host, addr, "r");
    for visit in 1..=SHORT_VISITS_MAX + 3 {
        let begun = Instant::now();
        let mut player = [enter(restless.addr())];
        meet(&mut host, &mut player);
        let (takes, waits) = (begun.elapsed(), visit.checked_sub(SHORT_VISITS_MAX + 2).map_or(0, |more| 1 << more));
        println!("visit {visit} begins after {takes:?}");
        assert!(takes > Duration::from_millis(900) * waits, "it waits for {waits} s");
        let [(player, id)] = player;
        drop(player);
        until("it to be missed", || host.0.has(&LinkEvent::Disconnected(id)).then_some(()));
    }
    let mut waits = enter(restless.addr());
    let mut other = [enter(addr)];
    meet(&mut host, &mut other);
    assert!(!host.0.has(&LinkEvent::Connected(waits.1)), "it comes as fast as others");
    meet(&mut host, slice::from_mut(&mut waits));
}

/// A stranger offers a connection that nobody is behind, is answered, and leaves.
#[test]
fn strangers_whose_handshakes_with_a_relay_are_in_vain_have_their_own_address_wait() {
    let server = serve();
    let addr = server.local_addr();
    let mut relay = Peer::enter_as(RoomRole::Relay { token: "t".into() }, addr, "r");
    for visit in 1..=SHORT_VISITS_MAX + 3 {
        let begun = Instant::now();
        let mut stranger = enter_from(7, addr, "r?relay").expect("it is let in");
        stranger.get_mut().set_read_timeout(Some(PAUSE)).unwrap();
        until("it to be answered", || {
            relay.0.look();
            let heard = stranger.read().ok()?.into_text().ok()?.parse::<JsonPeerEvent>().ok()?;
            if let PeerEvent::NewPeer(receiver) = heard {
                let data = serde_json::json!({ "Offer": OFFER });
                let request: JsonPeerRequest = PeerRequest::Signal { receiver, data };
                stranger.send(Message::text(request.to_string())).unwrap();
            }
            matches!(heard, PeerEvent::Signal { data, .. } if data["Answer"].is_string()).then_some(())
        });
        let (takes, waits) = (begun.elapsed(), visit.checked_sub(SHORT_VISITS_MAX + 2).map_or(0, |more| 1 << more));
        println!("visit {visit} is answered after {takes:?}");
        assert!(takes > Duration::from_millis(900) * waits, "it waits for {waits} s");
    }
    let mut waits = Peer::enter_as(RoomRole::Player, Router::of(7, addr).addr(), "r");
    let mut other = [Peer::enter_as(RoomRole::Player, addr, "r")];
    meet(&mut relay, &mut other);
    assert!(!relay.0.has(&LinkEvent::Connected(waits.1)), "it comes as fast as others");
    meet(&mut relay, slice::from_mut(&mut waits));
}

/// A signaling server that says whatever it likes.
struct Hostile(WebSocket<TcpStream>);

impl Hostile {
    /// Lets in the next that comes, as the first of its room.
    fn accept(listener: &TcpListener) -> Hostile {
        let stream = listener.accept().unwrap().0;
        let mut server = Hostile(tungstenite::accept(stream).unwrap());
        server.tell(PeerEvent::IdAssigned(stranger(0)));
        server
    }

    fn tell(&mut self, event: JsonPeerEvent) {
        self.0.send(Message::text(event.to_string())).unwrap();
    }

    fn signal(&mut self, sender: u64, data: serde_json::Value) {
        self.tell(PeerEvent::Signal { sender: stranger(sender), data });
    }

    /// What it is to pass on to a peer, if that is what it hears next.
    fn hears_signal(&mut self) -> Option<(matchbox_protocol::PeerId, serde_json::Value)> {
        let heard = self.0.read().ok()?.into_text().ok()?;
        match heard.parse::<JsonPeerRequest>() {
            Ok(PeerRequest::Signal { receiver, data }) => Some((receiver, data)),
            _ => None,
        }
    }
}

fn stranger(n: u64) -> matchbox_protocol::PeerId {
    matchbox_protocol::PeerId(Uuid::from_u64_pair(n, 7))
}

/// They offer again before they are answered, and leave before they are offered one.
#[test]
fn strangers_who_begin_anew_at_once_leave_no_sockets_behind() {
    const STRANGERS: u64 = 16;
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let mut link = Process::start(listener.local_addr().unwrap(), "party");
    let mut server = Hostile::accept(&listener);
    link.await_entered();
    let idle = link.sockets();
    server.tell(PeerEvent::NewPeer(stranger(1)));
    let offer = loop {
        if let Some((_, data)) = server.hears_signal()
            && let Some(offer) = data["Offer"].as_str()
        {
            break offer.to_owned();
        }
    };
    let connected = link.sockets();
    assert!(connected > idle, "a connection has sockets: {connected} then, {idle} before");
    server.tell(PeerEvent::PeerLeft(stranger(1)));
    for n in 2..2 + STRANGERS {
        for pause_ms in 0..3 {
            server.signal(n, serde_json::json!({ "Offer": offer }));
            thread::sleep(Duration::from_millis((pause_ms + n) % 4));
        }
        server.tell(PeerEvent::PeerLeft(stranger(n)));
        server.tell(PeerEvent::NewPeer(stranger(n + STRANGERS)));
        thread::sleep(Duration::from_millis(n % 4));
        server.tell(PeerEvent::PeerLeft(stranger(n + STRANGERS)));
    }
    until("their sockets to be closed", || (link.sockets() <= idle).then_some(()));
}

/// It tells of thousands of peers, who all offer connections too, and more and more.
#[test]
fn a_hostile_server_makes_no_link_connect_to_more_peers_than_a_session_has() {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let mut link = Process::start(listener.local_addr().unwrap(), "r");
    let mut server = Hostile::accept(&listener);
    link.await_entered();
    let idle = link.sockets();
    server.tell(PeerEvent::NewPeer(stranger(1)));
    until("a connection to be offered", || server.hears_signal());
    let each = link.sockets() - idle;
    server.tell(PeerEvent::PeerLeft(stranger(1)));
    until("its sockets to be closed", || (link.sockets() <= idle).then_some(()));
    let hostile = thread::spawn(move || {
        (1..=2_000).for_each(|n| server.tell(PeerEvent::NewPeer(stranger(n))));
        // It may not be read any more.
        server.0.get_mut().set_write_timeout(Some(PAUSE)).unwrap();
        for n in 0..20_000 {
            let data = serde_json::json!({ "IceCandidate": candidate(n) });
            let event: JsonPeerEvent = PeerEvent::Signal { sender: stranger(u64::from(n) % 2_000), data };
            let _ = server.0.send(Message::text(event.to_string()));
        }
        server.0.get_mut().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let until = Instant::now() + Duration::from_secs(8);
        let mut offered = BTreeSet::new();
        while Instant::now() < until {
            offered.extend(server.hears_signal().map(|(peer, _)| peer));
        }
        offered.len()
    });
    let mut most = 0;
    while !hostile.is_finished() {
        most = most.max(link.sockets() - idle);
        thread::park_timeout(Duration::from_millis(5));
    }
    let offered = hostile.join().unwrap();
    println!("a connection was offered to {offered} peers, with {most} sockets; one takes {each}");
    assert!((1..=PEERS_MAX).contains(&offered));
    assert!((each..=PEERS_MAX * each).contains(&most), "{most} sockets, where one connection takes {each}");
}
