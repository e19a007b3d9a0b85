//! Rooms that have a relay as their hub: who hears of whom, who is refused, and how the
//! relay comes back.

use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{fs, slice, thread};

use lockstone_net::matchbox::{MatchboxLink, RoomRole};
use lockstone_net::signaling::Server;
use lockstone_net::{Channel, Link, LinkError, LinkEvent, PeerId};
use matchbox_protocol::{JsonPeerEvent, PeerEvent};
use testkit::router::Router;
use testkit::strangers::{Stranger, enter_from};
use tungstenite::stream::MaybeTlsStream;

use super::peers::*;

fn relay(token: &str) -> RoomRole {
    RoomRole::Relay { token: token.into() }
}

/// A relay with players, each connected with it.
fn crowd(server: SocketAddr, players: usize) -> ((Peer, PeerId), Vec<(Peer, PeerId)>) {
    let mut host = Peer::enter_as(relay("t"), server, "r");
    let mut inside: Vec<_> = (0..players).map(|_| Peer::enter_as(RoomRole::Player, server, "r")).collect();
    meet(&mut host, &mut inside);
    (host, inside)
}

fn connections(peer: &Peer) -> Vec<PeerId> {
    let connected = |event: &LinkEvent| if let LinkEvent::Connected(id) = event { Some(*id) } else { None };
    peer.told.iter().filter_map(connected).collect()
}

fn refusal(role: RoomRole, server: SocketAddr, room: &str) -> String {
    match Peer::open_as(role, server, room, None).closed() {
        LinkError::Refused { room: named, cause } if named == room => cause,
        error => panic!("not refused: {error}"),
    }
}

#[test]
fn players_are_connected_with_the_relay_alone() {
    let server = serve();
    let (mut host, mut players) = crowd(server.local_addr(), 3);
    assert_eq!(host.1.arrival(), 0);
    assert_eq!(players.iter().map(|(_, id)| id.arrival()).collect::<Vec<_>>(), [1, 2, 3]);
    for player in &mut players {
        exchange(player, &mut host, Channel::Unreliable, b"command");
        exchange(&mut host, player, Channel::Reliable, &vec![7; MatchboxLink::PACKET_BYTES_MAX]);
    }
    players.iter().for_each(|(player, _)| assert_eq!(connections(player), [host.1]));
    assert_eq!(connections(&host.0).len(), 3);

    let (gone, id) = players.remove(0);
    drop(gone);
    until("the relay to miss a player", || host.0.has(&LinkEvent::Disconnected(id)).then_some(()));
    let told = |player: &mut Peer| player.find(|event| matches!(event, LinkEvent::Disconnected(_)).then_some(()));
    assert!(players.iter_mut().all(|(player, _)| told(player).is_none()), "no player hears of another");
}

#[test]
fn nothing_passes_between_players() {
    let server = serve();
    let (mut host, host_id) = raw(server.local_addr(), "r?host=t").unwrap();
    let (mut a, a_id) = raw(server.local_addr(), "r?relay").unwrap();
    let (mut b, b_id) = raw(server.local_addr(), "r?relay=1").unwrap();
    for player in [&mut a, &mut b] {
        assert!(
            matches!(next(player), PeerEvent::NewPeer(id) if id.0.as_u128() == host_id.0),
            "the relay, first of all"
        );
    }
    signal(&mut a, b_id, "to a player".into());
    signal(&mut a, host_id, "to the relay".into());
    assert!(
        matches!(next(&mut host), PeerEvent::Signal { sender, data } if sender.0.as_u128() == a_id.0 && data == "to the relay")
    );
    signal(&mut host, b_id, "to b".into());
    assert!(matches!(next(&mut b), PeerEvent::Signal { data, .. } if data == "to b"), "nothing came before that");
    drop(a);
    assert!(matches!(next(&mut host), PeerEvent::PeerLeft(id) if id.0.as_u128() == a_id.0));
    signal(&mut host, b_id, "still".into());
    assert!(matches!(next(&mut b), PeerEvent::Signal { data, .. } if data == "still"), "b did not hear that a left");
}

#[test]
fn a_relay_is_told_who_share_an_address_and_not_which() {
    let server = serve();
    let addr = server.local_addr();
    let numbers = ["r", "s"].map(|room| {
        let (mut host, host_id) = raw(addr, &format!("{room}?host=t")).unwrap();
        let mut players = [2, 2, 3].map(|from| enter_from(from, addr, &format!("{room}?relay")).unwrap());
        players.each_mut().map(|player| {
            signal(player, host_id, "hello".into());
            let told: serde_json::Value = serde_json::from_str(host.read().unwrap().to_text().unwrap()).unwrap();
            told["Signal"]["address"].as_u64().expect("a number")
        })
    });
    let [[one, same, other], [elsewhere, ..]] = numbers;
    assert_eq!(one, same);
    assert!(one != other && one != elsewhere, "{numbers:?}");
}

#[test]
fn who_comes_to_the_wrong_room_is_told() {
    let server = serve();
    let addr = server.local_addr();
    let none =
        "no relay serves this room, or it has another key or another token: start the relay, or check what you named";
    assert_eq!(refusal(RoomRole::Player, addr, "nobody"), none);
    let _party = raw(addr, "party").unwrap();
    let of_party = "the room belongs to a party, not to a relay: join the party, or choose another room";
    assert_eq!(refusal(relay("t"), addr, "party"), of_party);
    let _host = raw(addr, "served?host=t").unwrap();
    let of_relay = "the room belongs to a relay: join it as a player of the relay, or choose another room";
    assert_eq!(refusal(RoomRole::Peer, addr, "served"), of_relay);
    let token = "the room has a relay with another token: present the same, or choose another room";
    assert_eq!(refusal(relay("guess"), addr, "served"), token);
    assert_eq!(refusal(relay(""), addr, "served"), "a relay's token is 1 to 128 bytes");
    assert_eq!(refused(addr, "x?host="), (400, "a relay's token is 1 to 128 bytes".into()));
    // Whether there is a room that they may not enter, players and standbys are not told.
    for path in ["nobody?relay", "party?relay", "served?relay&key=k", "nobody?standby=t", "served?standby=guess"] {
        assert_eq!(refused(addr, path), (404, none.into()), "{path}");
    }
    assert_eq!(refused(addr, "served?host=t&key=k").0, 403);
}

#[test]
fn a_host_token_keeps_other_relays_out() {
    let server = Server::bind(ANY_PORT).unwrap().with_host_token("s3cret").spawn().unwrap();
    let cause = "this server lets a relay in only with the server's host token: present that";
    assert_eq!(refusal(relay("t"), server.local_addr(), "r"), cause);
    Peer::enter_as(relay("s3cret"), server.local_addr(), "r");
    Peer::enter(server.local_addr(), "party");
}

fn standby(token: &str) -> RoomRole {
    RoomRole::Standby { token: token.into() }
}

#[test]
fn a_standby_is_connected_with_the_relay_and_every_player() {
    let server = serve();
    let addr = server.local_addr();
    assert!(refusal(standby("t"), addr, "nobody").starts_with("no relay serves this room"));
    let (mut host, mut players) = crowd(addr, 2);
    assert!(refusal(standby("guess"), addr, "r").starts_with("no relay serves this room"));
    let (mut other, id) = Peer::enter_as(standby("t"), addr, "r");
    // One comes before it, one after.
    players.push(Peer::enter_as(RoomRole::Player, addr, "r"));
    until("all to be connected", || {
        let ids: Vec<_> = players.iter().map(|(_, id)| *id).collect();
        let met = players.iter_mut().map(|(player, _)| player.has(&LinkEvent::Connected(id))).fold(true, |a, b| a & b);
        let both = host.0.has(&LinkEvent::Connected(id)) & other.has(&LinkEvent::Connected(host.1));
        (met & both & ids.iter().all(|id| other.has(&LinkEvent::Connected(*id)))).then_some(())
    });
    let mut other = (other, id);
    exchange(&mut other, &mut host, Channel::Reliable, b"I have it");
    exchange(&mut players[0], &mut other, Channel::Unreliable, b"I doubt");
    players.iter().for_each(|(player, _)| assert!(connections(player).iter().all(|to| [host.1, id].contains(to))));

    // The relay is gone, and who comes meets its standby alone.
    drop(host);
    let mut late = Peer::enter_as(RoomRole::Player, addr, "r");
    until("the late one to be connected", || {
        (late.0.has(&LinkEvent::Connected(id)) & other.0.has(&LinkEvent::Connected(late.1))).then_some(())
    });
    exchange(&mut late, &mut other, Channel::Reliable, b"is anybody here");
    // It is back, and everyone finds it.
    let mut again = Peer::enter_as(relay("t"), addr, "r");
    players.push(late);
    meet(&mut again, &mut players);
    until("the standby to find it", || {
        again.0.look();
        (other.0.connections(again.1).0 == 2).then_some(())
    });
    exchange(&mut players[1], &mut again, Channel::Reliable, b"you are back");
}

/// The relay's connection breaks, and a stranger must not get its room meanwhile.
#[test]
fn a_relay_that_lost_its_connection_comes_back_to_its_room() {
    let server = serve();
    let addr = server.local_addr();
    let (host, host_id) = raw(addr, "r?host=t").unwrap();
    let (mut player, _) = raw(addr, "r?relay").unwrap();
    assert!(matches!(next(&mut player), PeerEvent::NewPeer(_)));
    drop(host);
    until("the server to notice", || {
        let (status, text) = refused(addr, "r?relay");
        assert_eq!(status, 503);
        text.starts_with("the room's relay has lost its connection").then_some(())
    });
    assert_eq!(refused(addr, "r?host=guess").0, 403);
    assert_eq!(refused(addr, "r").0, 409);
    let (mut host, id) = raw(addr, "r?host=t").unwrap();
    assert_eq!(id, host_id, "the same name");
    signal(&mut player, host_id, "there you are".into());
    assert!(matches!(next(&mut host), PeerEvent::Signal { data, .. } if data == "there you are"));
    let (_second, id) = raw(addr, "r?relay").unwrap();
    assert_eq!(id.arrival(), 2);
}

#[test]
fn a_second_relay_with_the_token_replaces_the_first() {
    let server = serve();
    let (mut host, mut players) = crowd(server.local_addr(), 1);
    let (mut second, second_id) = raw(server.local_addr(), "r?host=t").unwrap();
    assert_eq!(second_id, host.1, "the same name");
    let lost = until("word of it", || {
        host.0.find(|event| if let LinkEvent::SignalingLost(error) = event { Some(error.to_string()) } else { None })
    });
    assert!(lost.contains("another connection has taken its place"), "{lost}");
    exchange(&mut host, &mut players[0], Channel::Reliable, b"who plays goes on");
    let (mut newcomer, id) = raw(server.local_addr(), "r?relay").unwrap();
    assert!(matches!(next(&mut newcomer), PeerEvent::NewPeer(_)));
    signal(&mut newcomer, host.1, "hello".into());
    let from_newcomer = |event| matches!(event, PeerEvent::Signal { sender, .. } if sender.0.as_u128() == id.0);
    assert!(from_newcomer(next(&mut second)));
    // The end of the first connection takes nothing away from the second.
    signal(&mut second, id, "welcome".into());
    assert!(matches!(next(&mut newcomer), PeerEvent::Signal { data, .. } if data == "welcome"));
    drop(second);
    until("the server to notice", || raw(server.local_addr(), "r?relay").is_err().then_some(()));
    assert!(refused(server.local_addr(), "r?relay").1.starts_with("the room's relay has lost its connection"));
    drop(players);
    assert!(matches!(host.0.closed(), LinkError::Ended(_)));
}

#[test]
fn a_relay_outlives_its_signaling_server_and_serves_at_the_next() {
    let server = serve();
    let addr = server.local_addr();
    let (mut host, mut players) = crowd(addr, 2);
    drop(server);
    until("word of it", || host.0.find(|event| matches!(event, LinkEvent::SignalingLost(_)).then_some(())));
    exchange(&mut host, &mut players[0], Channel::Reliable, b"go on");
    let _server = serve_at(addr);
    until("all to be back", || {
        let mut all = players.iter_mut().chain([&mut host]);
        all.all(|(peer, _)| peer.has(&LinkEvent::SignalingBack)).then_some(())
    });
    let (mut late, id) = Peer::enter_as(RoomRole::Player, addr, "r");
    until("the late player to be connected", || {
        (host.0.has(&LinkEvent::Connected(id))
            & !{
                late.look();
                connections(&late).is_empty()
            })
        .then_some(())
    });
    exchange(&mut players[1], &mut host, Channel::Unreliable, b"still here");
    for (player, id) in &mut players {
        assert_eq!((player.connections(host.1), host.0.connections(*id)), ((1, 0), (1, 0)));
    }
}

/// A stranger claims the room before the relay is back. A server that has lost its file lets the
/// stranger wait until then.
#[test]
fn no_stranger_gets_the_room_of_a_relay_whose_server_is_restarted() {
    for loses_all in [false, true] {
        let file = RoomsFile::new("relay-restarted");
        let server = file.serve_at(ANY_PORT);
        let addr = server.local_addr();
        let router = Router::before(addr);
        let host = Peer::enter_as(relay("t"), router.addr(), "r");
        let mut all = vec![host, Peer::enter_as(RoomRole::Player, router.addr(), "r")];
        connect(&mut all);
        router.break_down();
        drop(server);
        until("word of it", || all.iter_mut().all(|(peer, _)| peer.has_lost_signaling()).then_some(()));
        if loses_all {
            file.lose();
        }
        let _server = file.serve_at(addr);
        let strangers = ["r?host=guess", "r"].map(|path| thread::spawn(move || refused(addr, path)));
        attend(&mut all, Duration::from_secs(1));
        assert_eq!(strangers.each_ref().map(|stranger| stranger.is_finished()), [!loses_all; 2]);
        router.mend();
        let mended = Instant::now();
        until("the relay to be back", || all[0].0.has(&LinkEvent::SignalingBack).then_some(()));
        println!("back after {:?}", mended.elapsed());
        assert_eq!(strangers.map(|stranger| stranger.join().unwrap().0), [403, 409]);
        all.push(Peer::enter_as(RoomRole::Player, addr, "r"));
        let (host, players) = all.split_at_mut(1);
        meet(&mut host[0], players);
    }
}

/// A server that forgets lets the first come in. The relay tries again.
#[test]
fn a_relay_gets_its_room_back_from_a_stranger_that_leaves() {
    let server = serve();
    let addr = server.local_addr();
    let router = Router::before(addr);
    let (mut host, _) = Peer::enter_as(relay("t"), router.addr(), "r");
    router.break_down();
    drop(server);
    until("word of it", || host.has_lost_signaling().then_some(()));
    let _server = serve_at(addr);
    let stranger = raw(addr, "r?host=guess").unwrap();
    router.mend();
    let refused = Instant::now();
    until("a few refusals", || {
        host.look();
        (refused.elapsed() > Duration::from_secs(5)).then_some(())
    });
    drop(stranger);
    until("the relay to be back", || host.has(&LinkEvent::SignalingBack).then_some(()));
}

#[test]
fn a_relays_room_is_its_own_for_a_day() {
    let file = RoomsFile::new("relays-own");
    let server = file.serve_at(ANY_PORT);
    let addr = server.local_addr();
    drop(raw(addr, "r?host=t&key=k").unwrap());
    let kept = |addr| until("it to be left", || (refused(addr, "r?relay&key=k").0 == 503).then_some(()));
    kept(addr);
    drop(server);
    let server = file.serve_at(addr);
    kept(addr);
    for path in ["r?host=guess&key=k", "r?host=t", "r?host=t&key=guess", "r?key=k"] {
        assert!(matches!(refused(addr, path).0, 403 | 409), "{path}");
    }
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.contains("\"r\"") && !text.contains("\"t\"") && !text.contains("\"k\""), "{text}");
    raw(addr, "r?host=t&key=k").unwrap();
    drop(server);
}

/// The server tells the relay that the player has left, and the relay asks the player.
#[test]
fn a_player_whose_websocket_breaks_stays_with_its_relay() {
    let server = serve();
    let router = Router::before(server.local_addr());
    let host = Peer::enter_as(relay("t"), server.local_addr(), "r");
    let mut all = vec![host, Peer::enter_as(RoomRole::Player, router.addr(), "r")];
    connect(&mut all);
    router.break_down();
    until("word of it", || all[1].0.has_lost_signaling().then_some(()));
    attend(&mut all, Duration::from_secs(3));
    router.mend();
    until("the player to be back", || all[1].0.has(&LinkEvent::SignalingBack).then_some(()));
    attend(&mut all, Duration::from_secs(2));
    let [(host, host_id), (player, id)] = &mut all[..] else { unreachable!() };
    assert_eq!((player.connections(*host_id), host.connections(*id)), ((1, 0), (1, 0)));
    let [host, player] = &mut all[..] else { unreachable!() };
    exchange(player, host, Channel::Unreliable, b"command");
}

/// More than a relay takes on at once: the last of them wait, and get in.
#[test]
fn all_players_get_in_who_come_at_once() {
    let server = serve();
    let mut host = Peer::enter_as(relay("t"), server.local_addr(), "r");
    let mut players: Vec<_> = (0..24).map(|_| Peer::enter_as(RoomRole::Player, server.local_addr(), "r")).collect();
    meet(&mut host, &mut players);
}

/// What a peer of a party says to a newcomer.
fn an_offer(server: SocketAddr) -> serde_json::Value {
    let (mut peer, _) = Peer::enter(server, "offers");
    let (mut newcomer, _) = raw(server, "offers").unwrap();
    let MaybeTlsStream::Plain(stream) = newcomer.get_mut() else { unreachable!("no TLS here") };
    stream.set_nonblocking(true).unwrap();
    until("an offer", || {
        peer.look();
        match newcomer.read().ok()?.into_text().ok()?.parse::<JsonPeerEvent>().ok()? {
            PeerEvent::Signal { data, .. } => Some(data),
            _ => None,
        }
    })
}

/// They offer connections over and over, and never complete one: from one address, which gets not
/// all handshakes, and from so many that they do.
#[test]
fn players_get_in_while_strangers_complete_no_handshake() {
    let server = serve();
    let addr = server.local_addr();
    let offer = an_offer(addr);
    for addresses in [1, 4] {
        let room = format!("r{addresses}");
        let mut host = Peer::enter_as(relay("t"), addr, &room);
        let (host_id, path, offer) = (host.1, format!("{room}?relay"), offer.clone());
        let enter = |n| enter_from(2 + n % addresses, addr, &path).expect("it is let in");
        let mut strangers: Vec<_> = (0..96_u8).map(enter).collect();
        let stranger = Stranger::of(move |ends| {
            while !ends.load(Relaxed) {
                strangers.iter_mut().for_each(|stranger| signal(stranger, host_id, offer.clone()));
                thread::park_timeout(Duration::from_secs(2));
            }
        });
        attend(slice::from_mut(&mut host), Duration::from_secs(1));
        let began = Instant::now();
        let mut player = [Peer::enter_as(RoomRole::Player, addr, &room)];
        meet(&mut host, &mut player);
        println!("96 strangers of {addresses} addresses: a player is in after {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        drop(stranger);
    }
}

/// Strangers of every kind at once; an honest player gets in, and who plays goes on.
#[test]
fn a_flood_of_strangers_costs_nobody_else_anything() {
    let server = serve();
    let addr = server.local_addr();
    let (mut host, mut players) = crowd(addr, 1);
    let sitting: Vec<_> = (0..100).map(|_| raw(addr, "r?relay").unwrap()).collect();
    for _ in 0..20 {
        for path in ["r", "r?host=guess", "r?relay&key=guess", "other?relay"] {
            refused(addr, path);
        }
    }
    let mut hostile: Vec<_> = (0..10).map(|_| raw(addr, "r?relay").unwrap().0).collect();
    for n in 0..300 {
        for stranger in &mut hostile {
            let kind = ["Offer", "Answer", "IceCandidate"][n % 3];
            signal(stranger, host.1, serde_json::json!({ kind: "garbage" }));
            signal(stranger, players[0].1, serde_json::json!({ "Offer": "garbage" }));
        }
    }
    players.push(Peer::enter_as(RoomRole::Player, addr, "r"));
    meet(&mut host, &mut players);
    exchange(&mut host, &mut players[0], Channel::Reliable, b"go on");
    assert_eq!(connections(&host.0).len(), 2);
    assert_eq!(connections(&players[0].0), [host.1]);
    drop(sitting);
}

/// `cargo test --release -p lockstone-net --test webrtc -- --ignored --nocapture sixty`
#[test]
#[ignore = "measures; the links of sixty players in one process"]
fn sixty_players_at_twenty_packets_a_second() {
    let server = serve();
    let started = Instant::now();
    let (mut host, mut players) = crowd(server.local_addr(), 60);
    println!("60 players connected in {:?}", started.elapsed());
    let (start, mut sent, mut heard) = (Instant::now(), 0, [0; 2]);
    while start.elapsed() < Duration::from_secs(10) {
        if start.elapsed() >= Duration::from_millis(50) * sent {
            sent += 1;
            for (player, id) in &mut players {
                host.0.link.send(*id, Channel::Unreliable, vec![0; 150]);
                player.link.send(host.1, Channel::Unreliable, vec![0; 30]);
            }
        }
        let packets = |link: &mut MatchboxLink| {
            core::iter::from_fn(|| link.poll()).filter(|event| matches!(event, LinkEvent::Packet { .. })).count()
        };
        heard[0] += packets(&mut host.0.link);
        heard[1] += players.iter_mut().map(|(player, _)| packets(&mut player.link)).sum::<usize>();
        std::thread::park_timeout(Duration::from_millis(2));
    }
    println!("each way {} packets sent, {heard:?} heard", sent * 60);
    assert!(heard.iter().all(|heard| *heard as f64 > 0.9 * f64::from(sent) * 60.0));
}
