//! An honest peer in a process of its own: it plays, gives commands, and says each second how far
//! it is and what it costs.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use lockstone_net::matchbox::{Config, MatchboxLink, RoomRole};
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::Phase;
use lockstone_net::{PartySettings, Rollback, RollbackSettings};
use lockstone_sim::Simulation;
use testkit::process::own_memory_kb;
use testkit::relay::{self, STORM};
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;

use crate::{PEERS, TOKEN};

const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// A player gives a command so often.
const COMMAND_INTERVAL: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// How far a peer is. CPU time and memory are its process's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Since it began.
    pub at_ms: u64,
    pub tick: u64,
    pub cpu_ms: u64,
    pub memory_kb: u64,
    pub plays: bool,
}

impl Report {
    pub fn parse(line: &str) -> Option<Report> {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [at_ms, tick, cpu_ms, memory_kb, plays] = numbers.try_into().ok()?;
        Some(Report { at_ms, tick, cpu_ms, memory_kb, plays: plays > 0 })
    }

    fn tell(&self) {
        let Report { at_ms, tick, cpu_ms, memory_kb, plays } = self;
        println!("{at_ms} {tick} {cpu_ms} {memory_kb} {}", u8::from(*plays));
    }
}

/// What a peer is, and so which room it enters.
pub fn play(what: &str, server: SocketAddr) -> ! {
    match what {
        "party" | "silenced" => {
            live(RoomRole::Peer, what, server, || party(PartySettings::default(), "honest"), Dice::number)
        }
        "rollback" | "betrayed" | "delayed" | "slandered" | "deceived" => {
            live(RoomRole::Peer, what, server, || predicting("honest"), Dice::number)
        }
        "relay" => {
            let enter = || relay::relay(STORM, relay::config(RelaySettings::default()));
            live(RoomRole::Relay { token: TOKEN.into() }, "relay", server, enter, |_| None)
        }
        "replica" => {
            let enter = || relay::replica(STORM, relay::config(RelaySettings::default()), "honest");
            live(RoomRole::Player, "relay", server, enter, Dice::place)
        }
        other => panic!("no peer is a {other}"),
    }
}

/// A player of a rollback session.
pub fn predicting(name: &str) -> Rollback<Mixer> {
    let settings = RollbackSettings { players: PEERS, ..RollbackSettings::default() };
    rollback(settings, name, |seed| Mixer::new(seed, 64))
}

/// Draws commands.
trait Draw {
    fn number(&mut self) -> Option<u64>;
    fn place(&mut self) -> Option<(u16, u16)>;
}

impl Draw for Dice {
    fn number(&mut self) -> Option<u64> {
        Some(self.roll(1 << 40))
    }

    fn place(&mut self) -> Option<(u16, u16)> {
        let mut along = || self.roll(STORM.tiles().into()) as u16;
        Some((along(), along()))
    }
}

fn live<T: Session>(
    role: RoomRole,
    room: &str,
    server: SocketAddr,
    enter: impl Fn() -> T,
    draw: fn(&mut Dice) -> Option<<T::Sim as Simulation>::Command>,
) -> ! {
    let config = Config { url: format!("ws://{server}"), room: room.into(), role, ..Config::default() };
    let (mut link, mut session) = (MatchboxLink::open(config.clone()), enter());
    let (began, mut dice) = (Instant::now(), Dice(std::process::id().into()));
    let (mut report_at, mut command_at, mut played) = (Duration::ZERO, Duration::ZERO, false);
    loop {
        let now = began.elapsed();
        if let Some(reason) = ended(&session).filter(|_| !played) {
            // As a person does. A room without a key may be full of attackers just then.
            eprintln!("{room}: a newcomer tries again: {reason}");
            (link, session) = (MatchboxLink::open(config.clone()), enter());
        }
        while let Some(event) = link.poll() {
            session.handle(event, now);
        }
        session.advance(now);
        while let Some(packet) = session.poll_transmit() {
            link.send(packet.to, packet.channel, packet.bytes);
        }
        while session.poll_event().is_some() {}
        if now >= command_at {
            command_at = now + COMMAND_INTERVAL;
            // Refused until it plays.
            let _ = draw(&mut dice).map(|command| session.command(command));
        }
        let plays = session.phase() == Phase::Playing;
        if now >= report_at || plays && !played {
            (report_at, played) = (now + REPORT_INTERVAL, played || plays);
            let tick = session.stats().tick.0.into();
            let (at_ms, cpu_ms) = (now.as_millis() as u64, ProcessTime::now().as_duration().as_millis() as u64);
            Report { at_ms, tick, cpu_ms, memory_kb: own_memory_kb().unwrap_or(0), plays }.tell();
        }
        thread::park_timeout(PAUSE);
    }
}
