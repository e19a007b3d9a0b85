//! A relay session over a memory network whose peers record: the relay the whole world, each replica its part. What the relay sends can be altered on the way.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use lockstone::net::link::LinkEvent;
use lockstone::net::memory::{Driver, MemoryNetwork, Weather};
use lockstone::net::relay::{Relay, RelayConfig, RelaySettings, Replica};
use lockstone::net::session::{CommandError, Event, EvidenceError, Phase, SayError, Session, Stats, Transmit};
use lockstone::net::wire::{self, Frame, Identity, Message};
use lockstone::recording::{Bundle, Header, Packed, Recording, Ring, Writer};
use lockstone::sim::{Dice, Fx, PlayerId, Simulation, Tick};

use crate::session::Peer;
use crate::storm::{self, StormWorld};

pub const STORM: storm::Weather =
    storm::Weather { seed: 5, cells: 40, cell_log2: 3, reach: Fx::int(6), stride: Fx::ONE, light: 3, players: 40 };
const IDENTITY: Identity = Identity { rules: 1, table: 2, config: 3 };
const TICK: Duration = Duration::from_millis(50);

pub fn build(_: u64) -> StormWorld {
    STORM.world()
}

/// What happens to a frame of a tick that is sent to a player, each time that it is.
pub type Hand = Rc<RefCell<dyn FnMut(PlayerId, Tick, &mut Frame)>>;

/// A session that may have its frames altered.
struct Tapped<T> {
    session: T,
    hand: Option<Hand>,
}

/// What a peer keeps of the session.
struct Tape {
    header: Header,
    writer: Writer<Vec<u8>>,
    ring: Ring<StormWorld>,
    evidence: Vec<Vec<u8>>,
    missing: Option<Vec<PlayerId>>,
}

pub struct Relayed {
    driver: Driver<Box<dyn Session<Sim = StormWorld>>>,
    settings: RelaySettings,
    tapes: Vec<Option<Tape>>,
    dice: Dice<'static>,
    /// How many differences were told.
    pub desyncs: usize,
}

impl Relayed {
    pub fn new(settings: RelaySettings, hand: Option<Hand>) -> Relayed {
        Relayed::lacking(0, settings, hand)
    }

    /// A session whose relay holds so many rings of halo back.
    pub fn lacking(halo_rings: u16, settings: RelaySettings, hand: Option<Hand>) -> Relayed {
        let settings = RelaySettings { seed: STORM.seed, core_actors_max: 0, ..settings };
        let config = RelayConfig::new(settings.clone()).expect("the settings are in range");
        let config = config.with_halo_rings_less(halo_rings);
        let mut driver: Driver<Box<dyn Session<Sim = StormWorld>>> =
            Driver::new(MemoryNetwork::hub(STORM.seed, Weather::clear(Duration::from_millis(30))));
        driver.enter(Box::new(Tapped { session: Relay::dedicated(config, IDENTITY, build), hand }));
        let table = Box::leak(Box::new(storm::table()));
        Relayed { driver, settings, tapes: vec![None], dice: table.dice(77, Tick(0)), desyncs: 0 }
    }

    pub fn enter(&mut self, replicas: usize) {
        for _ in 0..replicas {
            let config = RelayConfig::new(self.settings.clone()).expect("the settings are in range");
            let replica = Replica::new(config, IDENTITY, "anyone", (), build).expect("the name is fine");
            self.driver.enter(Box::new(Tapped { session: replica, hand: None }));
            self.tapes.push(None);
        }
    }

    /// Plays so many ticks; of 1,000 players so many give a command in each.
    pub fn play(&mut self, ticks: u32, permille: u32) {
        for _ in 0..ticks {
            let until = self.driver.now() + TICK;
            self.driver.run_until(until);
            for (seat, tape) in self.driver.seats.iter_mut().zip(&mut self.tapes) {
                for event in seat.events.drain(..) {
                    self.desyncs += usize::from(matches!(event, Event::Desync { .. }));
                    if let Some(evidence) = hear(tape, event) {
                        seat.session.give_evidence(evidence).expect("it is wanted");
                    }
                }
                if seat.session.phase() == Phase::Playing && self.dice.below(1_000) < permille {
                    let tiles = u32::from(STORM.cells) << STORM.cell_log2;
                    let _ = seat.session.command((self.dice.below(tiles) as u16, self.dice.below(tiles) as u16));
                }
            }
        }
    }

    /// The recordings, the relay's first.
    pub fn recordings(self) -> Vec<Recording<StormWorld>> {
        let end = |tape: Tape, tick| tape.writer.end::<StormWorld>(tick, "the end").expect("memory").0;
        let seats = self.driver.seats.iter().zip(self.tapes);
        let ended = seats.filter_map(|(seat, tape)| Some(end(tape?, seat.session.simulation()?.tick())));
        ended.map(|bytes| Recording::read(&bytes).expect("it was just written")).collect()
    }

    /// What a peer would write as evidence now.
    pub fn rings(&self) -> Vec<Vec<u8>> {
        self.tapes.iter().flatten().map(|tape| tape.ring.write()).collect()
    }

    /// The bundles of those who asked for evidence and have it all.
    pub fn bundles(&self) -> Vec<Bundle> {
        let bundle = |tape: &Tape| {
            let missing = tape.missing.clone()?;
            Some(Bundle { player: tape.header.player, recordings: tape.evidence.clone(), missing })
        };
        self.tapes.iter().flatten().filter_map(bundle).collect()
    }
}

/// Keeps what a session told. Returns evidence if that is wanted.
fn hear(tape: &mut Option<Tape>, event: Event<StormWorld>) -> Option<Vec<u8>> {
    if let Event::Started { tick, seed, player, snapshot } = &event {
        let header = Peer::new(player.0, *seed).header;
        let header = Header { start: *tick, name: format!("Peer-{}", player.0), ..header };
        let writer = Writer::create(Vec::new(), &header, snapshot).expect("memory can be written");
        let ring = Ring::new(header.clone(), Packed::of(snapshot));
        *tape = Some(Tape { header, writer, ring, evidence: Vec::new(), missing: None });
    }
    let Tape { writer, ring, evidence, missing, .. } = tape.as_mut()?;
    match event {
        Event::Turn { tick, turn } => {
            writer.turn(tick, &turn).expect("memory");
            ring.turn(tick, &turn);
        }
        Event::Checksum { tick, checksum, tree } => {
            writer.checksum::<StormWorld>(tick, checksum).expect("memory");
            ring.checksum(tick, checksum);
            ring.tree(tick, &tree);
        }
        Event::Keyframe { tick, snapshot } => {
            let packed = Packed::of(&STORM.world().encode(&snapshot));
            writer.keyframe::<StormWorld>(tick, &packed).expect("memory");
            ring.keyframe(tick, packed);
        }
        Event::EvidenceWanted { bytes_max } => {
            let own = ring.write_within(bytes_max).expect("a short game fits");
            evidence.push(own.clone());
            return Some(own);
        }
        Event::Evidence { bytes, .. } => evidence.push(bytes),
        Event::EvidenceComplete { missing: of } => *missing = Some(of),
        _ => {}
    }
    None
}

impl<T: Session> Session for Tapped<T> {
    type Sim = T::Sim;

    fn handle(&mut self, event: LinkEvent, now: Duration) {
        self.session.handle(event, now);
    }

    fn advance(&mut self, now: Duration) {
        self.session.advance(now);
    }

    fn command(&mut self, command: <T::Sim as Simulation>::Command) -> Result<(), CommandError> {
        self.session.command(command)
    }

    fn say(&mut self, text: &str) -> Result<(), SayError> {
        self.session.say(text)
    }

    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError> {
        self.session.give_evidence(bytes)
    }

    fn leave(&mut self, now: Duration) {
        self.session.leave(now);
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        let mut packet = self.session.poll_transmit()?;
        let Some(hand) = &self.hand else { return Some(packet) };
        let (epoch, message) = wire::decode(&packet.bytes).expect("our own bytes");
        if let Message::Frames(mut frames) = message {
            let stats = self.session.stats();
            let of = |exchange: &lockstone::net::session::Exchange| exchange.peer == packet.to;
            let player = stats.players.iter().find(|row| row.exchange.as_ref().is_some_and(of)).map(|row| row.player);
            let mut turns = frames.turns.into_vec();
            for (n, frame) in &mut turns {
                player.iter().for_each(|player| hand.borrow_mut()(*player, frames.from.plus(*n), frame));
            }
            frames.turns = turns.try_into().expect("as many as before");
            packet.bytes = wire::encode(epoch, &Message::Frames(frames));
        }
        Some(packet)
    }

    fn poll_event(&mut self) -> Option<Event<T::Sim>> {
        self.session.poll_event()
    }

    fn wake_at(&self) -> Duration {
        self.session.wake_at()
    }

    fn simulation(&self) -> Option<&T::Sim> {
        self.session.simulation()
    }

    fn phase(&self) -> Phase {
        self.session.phase()
    }

    fn stats(&self) -> Stats {
        self.session.stats()
    }
}
