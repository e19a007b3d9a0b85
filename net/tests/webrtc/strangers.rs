//! Strangers with nothing but a WebSocket: they answer whom they are offered connections by, flood
//! signals, and never connect. And a signaling server that is hostile itself.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lockstone_net::limits::PEERS_MAX;
use lockstone_net::{LinkEvent, PeerId, RollbackSettings};
use matchbox_protocol::{JsonPeerEvent, JsonPeerRequest, PeerEvent, PeerRequest};
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;
use tungstenite::Message;
use tungstenite::stream::MaybeTlsStream;
use uuid::Uuid;

use super::peers::*;
use super::sessions::*;

/// Between two floods of a stranger.
const PAUSE: Duration = Duration::from_millis(10);
/// Candidates of a flood, to everyone: some 6,000 a second of one stranger to three peers.
const FLOOD: u32 = 20;

/// It floods everyone in its room until it is dropped.
struct Stranger {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stranger {
    fn enter(server: SocketAddr, room: &str) -> Stranger {
        let (mut socket, _) = raw(server, room).unwrap();
        let MaybeTlsStream::Plain(stream) = socket.get_mut() else { unreachable!("no TLS here") };
        stream.set_read_timeout(Some(PAUSE)).unwrap();
        Stranger::of(move |ends| flood(socket, ends))
    }

    /// It comes and goes, some 100 times a second.
    fn restless(server: SocketAddr, room: &'static str) -> Stranger {
        Stranger::of(move |ends| {
            while !ends.load(Relaxed) {
                // The room may be full.
                let _socket = raw(server, room);
                thread::park_timeout(PAUSE);
            }
        })
    }

    fn of(does: impl FnOnce(&AtomicBool) + Send + 'static) -> Stranger {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        Stranger { is_over, thread: Some(thread::spawn(move || does(&ends))) }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn flood(mut socket: Raw, ends: &AtomicBool) {
    let (mut offers, mut sent) = (BTreeMap::new(), 0_u32);
    while !ends.load(Relaxed) {
        let heard = socket.read().ok().and_then(|message| message.into_text().ok()?.parse::<JsonPeerEvent>().ok());
        if let Some(PeerEvent::Signal { sender, data }) = heard
            && let Some(offer) = data["Offer"].as_str()
        {
            offers.insert(sender, offer.to_owned());
            let answer = offer.replace("a=setup:actpass", "a=setup:active");
            say(&mut socket, sender, serde_json::json!({ "Answer": answer }));
        }
        for (victim, offer) in &offers {
            say(&mut socket, *victim, serde_json::json!({ "Offer": offer }));
            for _ in 0..FLOOD {
                sent += 1;
                say(&mut socket, *victim, serde_json::json!({ "IceCandidate": candidate(sent) }));
            }
        }
    }
}

/// The server may have had enough of it.
fn say(socket: &mut Raw, receiver: matchbox_protocol::PeerId, data: serde_json::Value) {
    let request: JsonPeerRequest = PeerRequest::Signal { receiver, data };
    let _ = socket.send(Message::text(request.to_string()));
}

/// A way by which nobody is reached: each another.
fn candidate(n: u32) -> String {
    let [_, a, b, c] = n.to_be_bytes();
    let candidate = format!("candidate:{n} 1 udp 2130706431 127.{a}.{b}.{c} 9 typ host");
    serde_json::json!({ "candidate": candidate, "sdpMid": "0", "sdpMLineIndex": 0, "usernameFragment": null })
        .to_string()
}

/// Kilobytes of this process, in which other tests may run, on Linux.
fn memory_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// All play on at their pace for so many ticks.
fn play_at_pace<T: Session<Sim = Mixer>>(what: &str, players: &mut [Player<T>], ticks: u32) {
    let (begun, memory) = (Instant::now(), memory_kb());
    play(players, ticks);
    let due = ticks * Duration::from_millis(50);
    println!("{what}: {ticks} ticks in {:?}; memory {memory:?} kB, then {:?}", begun.elapsed(), memory_kb());
    assert!(begun.elapsed() < due + due / 3, "{:?}", begun.elapsed());
    assert_undisturbed(players);
}

#[test]
fn strangers_who_flood_signals_disturb_no_party_and_keep_nobody_out() {
    let server = serve();
    let addr = server.local_addr();
    let mut players = party_of_three([addr; 3]);
    let restless = Stranger::restless(addr, "party");
    let strangers = [(); 4].map(|()| Stranger::enter(addr, "party"));
    play_at_pace("a party among strangers", &mut players, 300);
    players.push(party_at(addr, "Dirk"));
    // As others come before: they are let in slowly.
    let takes = join(&mut players, Instant::now());
    assert!(takes < Duration::from_secs(10), "{takes:?}");
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
    let strangers = [(); 4].map(|()| Stranger::enter(addr, "rollback"));
    play_at_pace("a rollback session among strangers", &mut players, 200);
    drop(strangers);
}

/// It tells of thousands of peers, who all offer connections too, and more and more.
#[test]
fn a_hostile_server_makes_no_link_connect_to_more_peers_than_a_session_has() {
    let listener = TcpListener::bind(any_port()).unwrap();
    let addr = listener.local_addr().unwrap();
    let files = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let hostile = thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        let mut socket = tungstenite::accept(stream).unwrap();
        let peer = |n: u64| matchbox_protocol::PeerId(Uuid::from_u64_pair(n, 7));
        let mut tell = |event: JsonPeerEvent| socket.send(Message::text(event.to_string()));
        tell(PeerEvent::IdAssigned(peer(0))).unwrap();
        (1..=2_000).for_each(|n| tell(PeerEvent::NewPeer(peer(n))).unwrap());
        // It may not be read any more.
        socket.get_mut().set_write_timeout(Some(PAUSE)).unwrap();
        for n in 0..20_000 {
            let data = serde_json::json!({ "IceCandidate": candidate(n) });
            let event: JsonPeerEvent = PeerEvent::Signal { sender: peer(u64::from(n) % 2_000), data };
            let _ = socket.send(Message::text(event.to_string()));
        }
        socket.get_mut().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let mut offered = BTreeSet::new();
        let until = Instant::now() + Duration::from_secs(8);
        while Instant::now() < until {
            let heard =
                socket.read().ok().and_then(|message| message.into_text().ok()?.parse::<JsonPeerRequest>().ok());
            if let Some(PeerRequest::Signal { receiver, .. }) = heard {
                offered.insert(receiver);
            }
        }
        offered.len()
    });
    let before = files();
    let (mut peer, id) = Peer::enter(addr, "r");
    assert_eq!(id.arrival(), 0);
    let mut opened = 0;
    while !hostile.is_finished() {
        peer.look();
        opened = opened.max(files().saturating_sub(before));
        thread::park_timeout(Duration::from_millis(5));
    }
    let offered = hostile.join().unwrap();
    println!("a connection was offered to {offered} peers, with {opened} files");
    assert!((1..=PEERS_MAX).contains(&offered));
    assert!(!peer.told.iter().any(|event| matches!(event, LinkEvent::Connected(PeerId(_)))));
}
