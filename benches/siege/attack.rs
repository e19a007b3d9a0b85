//! All attacks at once, each from as many attackers: members that come and go, lie or hold the
//! others up, peers that send garbage, strangers that flood signals or claim the rooms, and who
//! fills or tries the signaling server. Each has an address of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::matchbox::{Config, MatchboxLink, RoomRole};
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::{Phase, Transmit};
use lockstone_net::wire::{self, Epoch, Inputs, Known, LeaveReason, Message, Regroup, Report, Stand, Vote};
use lockstone_net::{Channel, LinkEvent, PartySettings, PeerId, PlayerKey, Rollback};
use lockstone_sim::{Checksum, PlayerId, Tick};
use testkit::relay::{self, STORM};
use testkit::router::Router;
use testkit::sessions::story::OtherStory;
use testkit::sessions::tap::altering;
use testkit::sessions::*;
use testkit::strangers::{PAUSE, Stranger, connect_from, enter_from, sit, visit};

use crate::PEERS;
use crate::honest::predicting;

/// Attackers of each kind.
pub const ATTACKERS: u8 = 4;
/// Packets of garbage in a [`PAUSE`], of one attacker to each peer that it is connected with.
const GARBAGE: usize = 10;
/// Who holds the others up gives inputs for so long, once in so long.
const GOES: Duration = Duration::from_millis(50);
const HOLD_INTERVAL: Duration = Duration::from_millis(2_500);
/// Of so many packets of a gossip one is a word about another.
const PACKETS_A_WORD: u32 = 120;
/// Idle connections that one attacker opens, if it may.
const IDLE: usize = 200;

/// Rooms by their paths, and what their players are.
const ROOMS: [(&str, &str, RoomRole); 3] = [
    ("party", "party", RoomRole::Peer),
    ("rollback", "rollback", RoomRole::Peer),
    ("relay", "relay?relay", RoomRole::Player),
];

/// The ways of attacking.
const WAYS: [&str; 15] = [
    "visits", "signals", "garbage", "members", "claims", "guesses", "holds", "dribbles", "cuts", "lies", "delays",
    "gossip", "stories", "silence", "restarts",
];

/// Whether there is to be an attack in a way.
pub fn is_wanted(way: &str) -> bool {
    std::env::var("ATTACKS").map_or(true, |ways| ways.split(',').any(|one| one == way))
}

/// Whether `ATTACKS` names ways that there are.
///
/// # Errors
/// A sentence with these.
pub fn are_known() -> Result<(), String> {
    let Ok(ways) = std::env::var("ATTACKS") else { return Ok(()) };
    let Some(way) = ways.split(',').find(|way| !WAYS.contains(way)) else { return Ok(()) };
    Err(format!("ATTACKS is some of {}, with commas between them; it names {way:?}", WAYS.join(", ")))
}

/// Attacks until this process is killed: in all ways, or in those that `ATTACKS` names.
pub fn attack(server: SocketAddr) -> ! {
    let mut attackers = Vec::new();
    let mut start = |way: &str, does: Box<dyn FnOnce(&AtomicBool) + Send>| {
        if is_wanted(way) {
            attackers.push(Stranger::of(does));
        }
    };
    for n in 0..ATTACKERS {
        for (room, path, role) in ROOMS {
            start("visits", Box::new(move |ends| visit(10 + n, server, path, ends)));
            start("signals", Box::new(move |ends| flood(10 + n, server, path, ends)));
            start("garbage", Box::new(move |ends| litter(&Router::of(50 + n, server), room, &role, ends)));
        }
        start(
            "members",
            Box::new(move |ends| {
                let member = || party(PartySettings::default(), "member");
                harm(&Router::of(60 + n, server), "party", &RoomRole::Peer, member, ends);
            }),
        );
        start(
            "members",
            Box::new(move |ends| {
                let member = || relay::replica(STORM, relay::config(RelaySettings::default()), "member");
                harm(&Router::of(60 + n, server), "relay", &RoomRole::Player, member, ends);
            }),
        );
        for (room, ..) in ROOMS {
            start("claims", Box::new(move |ends| claim(&Router::of(80 + n, server), room, ends)));
        }
        start("guesses", Box::new(move |ends| guess(20 + n, server, ends)));
        start("holds", Box::new(move |ends| hold(30 + n, server, ends)));
        start("dribbles", Box::new(move |ends| dribble(40 + n, server, ends)));
        start("silence", Box::new(move |ends| sit(70 + n, server, "silenced", ends)));
    }
    loop {
        thread::park();
    }
}

/// Floods signals, and comes again when it is put out.
fn flood(from: u8, server: SocketAddr, path: &str, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        let stranger = Stranger::flooding(from, server, path);
        if stranger.is_some() {
            thread::sleep(Duration::from_secs(5));
        }
        thread::sleep(PAUSE);
    }
}

fn open(server: SocketAddr, room: &str, role: &RoomRole) -> MatchboxLink {
    MatchboxLink::open(Config {
        url: format!("ws://{server}"),
        room: room.into(),
        role: role.clone(),
        ..Config::default()
    })
}

/// Sends garbage to everyone that it is connected with, as much as it can.
fn litter(router: &Router, room: &str, role: &RoomRole, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        let (mut link, mut peers, mut dice) = (open(router.addr(), room, role), BTreeSet::new(), Dice(7));
        let mut is_open = true;
        while is_open && !ends.load(Relaxed) {
            while let Some(event) = link.poll() {
                match event {
                    LinkEvent::Connected(peer) => drop(peers.insert(peer)),
                    LinkEvent::Disconnected(peer) => drop(peers.remove(&peer)),
                    LinkEvent::Closed(_) => is_open = false,
                    _ => {}
                }
            }
            for peer in &peers {
                for _ in 0..GARBAGE {
                    let bytes = (0..dice.roll(400)).map(|_| dice.roll(256) as u8).collect();
                    link.send(*peer, Channel::Unreliable, bytes);
                }
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Comes in, and leaves as soon as it plays; comes again, as another, and reports false checksums
/// until it is put out; and so on.
fn harm<T: Session>(router: &Router, room: &str, role: &RoomRole, enter: impl Fn() -> T, ends: &AtomicBool) {
    let is_in = |session: &T| ended(session).is_some() || session.phase() == Phase::Playing;
    while !ends.load(Relaxed) {
        play(open(router.addr(), room, role), enter(), |_, packet| Some(packet), is_in, ends);
        play(open(router.addr(), room, role), enter(), lying(|| true), |session| ended(session).is_some(), ends);
    }
}

/// Claims a room as if it were a relay's, over and over.
fn claim(router: &Router, room: &str, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        let mut link = open(router.addr(), room, &RoomRole::Relay { token: "another".into() });
        while !ends.load(Relaxed) && !matches!(link.poll(), Some(LinkEvent::Closed(_))) {
            thread::sleep(PAUSE);
        }
    }
}

/// Turns checksums false, once it `lies`.
fn lying(lies: impl Fn() -> bool + 'static) -> impl FnMut(PeerId, Transmit) -> Option<Transmit> {
    let forged =
        |told: &[(Tick, Checksum)]| list(told.iter().map(|(tick, sum)| (*tick, Checksum(sum.0 ^ 1))).collect());
    let mut hand = altering(move |_: PeerId, message: &mut Message| match message {
        Message::Report(Report { checksums, .. }) if lies() => *checksums = forged(checksums),
        Message::Inputs(inputs) if lies() => {
            inputs.checksums = forged(&inputs.checksums);
            // Who lies is out in the first epoch.
            *inputs = inputs.clone().sealed(Epoch::default());
        }
        _ => {}
    });
    move |_, packet| hand(packet)
}

/// Plays until that is done. What it sends goes through a hand, which is told as whom it is sent.
fn play<T: Session>(
    mut link: MatchboxLink,
    mut session: T,
    mut hand: impl FnMut(PeerId, Transmit) -> Option<Transmit>,
    is_done: impl Fn(&T) -> bool,
    ends: &AtomicBool,
) {
    let (began, mut me) = (Instant::now(), PeerId(0));
    while !is_done(&session) && !ends.load(Relaxed) {
        let now = began.elapsed();
        while let Some(event) = link.poll() {
            if let LinkEvent::Entered(own) = &event {
                me = *own;
            }
            session.handle(event, now);
        }
        session.advance(now);
        while let Some(packet) = session.poll_transmit() {
            if let Some(packet) = hand(me, packet) {
                link.send(packet.to, packet.channel, packet.bytes);
            }
        }
        while session.poll_event().is_some() {}
        thread::sleep(PAUSE);
    }
}

/// What a gossip says of others.
fn word(n: u32, epoch: Epoch, end: Tick) -> Message {
    let other = PlayerId((n / 3 % PEERS as u32) as u16);
    match n % 3 {
        0 => Message::Odd(other),
        1 => Message::Removed(LeaveReason::Desync),
        _ => {
            let vote = Vote { epoch, leader: other };
            let stand =
                Stand { doubts: Some(Epoch(epoch.0 + 1)), ..Stand::of(vote, Known { epoch, end, ..Known::default() }) };
            Message::Regroup(Regroup::of(list(vec![(other, LeaveReason::Silent)]), stand))
        }
    }
}

/// A player of a rollback session, honest at first.
pub struct Traitor {
    is_honest: Arc<AtomicBool>,
    _player: Stranger,
}

impl Traitor {
    /// One whose checksums will be false.
    pub fn liar(server: SocketAddr, room: &'static str) -> Traitor {
        Traitor::enter(server, room, |is_honest| lying(move || !is_honest.load(Relaxed)))
    }

    /// One for whose inputs the others will wait, though it talks on.
    pub fn idler(server: SocketAddr, room: &'static str) -> Traitor {
        Traitor::enter(server, room, |is_honest| {
            let (began, mut passed) = (Instant::now(), BTreeMap::<PeerId, Inputs>::new());
            move |_, packet: Transmit| {
                let Ok((epoch, Message::Inputs(inputs))) = wire::decode(&packet.bytes) else { return Some(packet) };
                let goes = began.elapsed().as_millis() % HOLD_INTERVAL.as_millis() < GOES.as_millis();
                if goes || is_honest.load(Relaxed) {
                    passed.insert(packet.to, inputs);
                    return Some(packet);
                }
                let known = passed.get(&packet.to)?.end().since(inputs.from);
                let kept = inputs.inputs.iter().take(known as usize).cloned().collect();
                let held = Inputs { inputs: list(kept), ..inputs }.sealed(epoch);
                Some(Transmit { bytes: wire::encode(epoch, &Message::Inputs(held)), ..packet })
            }
        })
    }

    /// One who says of the others that they are gone, or fell out of step.
    pub fn gossip(server: SocketAddr, room: &'static str) -> Traitor {
        Traitor::enter(server, room, |is_honest| {
            let mut packets = 0_u32;
            move |_, packet: Transmit| {
                let Ok((epoch, Message::Inputs(inputs))) = wire::decode(&packet.bytes) else { return Some(packet) };
                packets += u32::from(!is_honest.load(Relaxed));
                if packets == 0 || !packets.is_multiple_of(PACKETS_A_WORD) {
                    return Some(packet);
                }
                let word = word(packets / PACKETS_A_WORD, epoch, inputs.confirmed);
                Some(Transmit { bytes: wire::encode(epoch, &word), ..packet })
            }
        })
    }

    /// One who tells one of the others another story than the rest, and signs both.
    pub fn storyteller(server: SocketAddr, room: &'static str) -> Traitor {
        let key = PlayerKey::from_bytes([7; 32]);
        let session = predicting("traitor").with_key(key.clone());
        Traitor::enter_as(server, room, session, |is_honest| {
            let mut deceived: Option<(PeerId, OtherStory)> = None;
            let mut has_begun = false;
            move |me, packet: Transmit| {
                let is_told = matches!(wire::decode(&packet.bytes), Ok((_, Message::Inputs(_) | Message::Attested(_))));
                if !is_told {
                    return Some(packet);
                }
                let nothing = Tick(0)..Tick(0);
                let story = || (packet.to, OtherStory::new(me, Some(key.clone()), nothing));
                let (peer, story) = deceived.get_or_insert_with(story);
                if !has_begun && !is_honest.load(Relaxed) {
                    has_begun = true;
                    story.begin();
                }
                Some(if packet.to == *peer { story.tell(packet) } else { packet })
            }
        })
    }

    fn enter<H: FnMut(PeerId, Transmit) -> Option<Transmit>>(
        server: SocketAddr,
        room: &'static str,
        hand: impl FnOnce(Arc<AtomicBool>) -> H + Send + 'static,
    ) -> Traitor {
        Traitor::enter_as(server, room, predicting("traitor"), hand)
    }

    fn enter_as<H: FnMut(PeerId, Transmit) -> Option<Transmit>>(
        server: SocketAddr,
        room: &'static str,
        session: Rollback<Mixer>,
        hand: impl FnOnce(Arc<AtomicBool>) -> H + Send + 'static,
    ) -> Traitor {
        let is_honest = Arc::new(AtomicBool::new(true));
        let hand = {
            let is_honest = Arc::clone(&is_honest);
            move || hand(is_honest)
        };
        let _player = Stranger::of(move |ends: &AtomicBool| {
            let link = open(server, room, &RoomRole::Peer);
            play(link, session, hand(), |session| ended(session).is_some(), ends);
        });
        Traitor { is_honest, _player }
    }

    pub fn betray(&self) {
        self.is_honest.store(false, Relaxed);
    }
}

/// Guesses keys and rooms.
fn guess(from: u8, server: SocketAddr, ends: &AtomicBool) {
    let mut n = 0_u64;
    while !ends.load(Relaxed) {
        n += 1;
        let path = if n.is_multiple_of(2) { format!("relay?relay&key={n}") } else { format!("room-{n}?relay") };
        let _ = enter_from(from, server, &path);
    }
}

/// Holds as many connections as it may, and never reads.
fn hold(from: u8, server: SocketAddr, ends: &AtomicBool) {
    let mut held = Vec::new();
    while !ends.load(Relaxed) {
        if held.len() < IDLE
            && let Ok(mut stream) = connect_from(from, server)
        {
            let _ = stream.write_all(b"GET /?figures HTTP/1.1\r\nhost: h\r\n\r\n".repeat(100).as_slice());
            held.push(stream);
        } else {
            held.clear();
        }
        thread::sleep(PAUSE);
    }
}

/// Says a header, byte by byte.
fn dribble(from: u8, server: SocketAddr, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        let Ok(mut stream) = connect_from(from, server) else { continue };
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nx: ");
        while !ends.load(Relaxed) && stream.write_all(b"y").is_ok() {
            thread::sleep(10 * PAUSE);
        }
        let _ = stream.read(&mut [0; 64]);
    }
}
