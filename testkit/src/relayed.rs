//! A relay session over a memory network whose peers record: the relay the whole world, each
//! replica its part. What the relay sends can be altered on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use lockstone::net::Session;
use lockstone::net::memory::{MemoryNetwork, Seat, Weather};
use lockstone::net::relay::RelaySettings;
use lockstone::net::session::{Event, Phase, Transmit};
use lockstone::net::wire::{self, Frame, Message};
use lockstone::recording::{Bundle, Header, Packed, Recording, Ring, Writer};
use lockstone::sim::{Dice, PlayerId, Simulation, Tick};

use crate::ms;
use crate::recorded::Peer;
use crate::relay::{Room, STORM, relay_lacking, replica};
use crate::sessions::tap::Tap;
use crate::storm::{self, StormWorld};

const TICK: Duration = ms(50);

pub fn build(_: u64) -> StormWorld {
    STORM.world()
}

/// What happens to a frame of a tick that is sent to a player, each time that it is.
pub type Hand = Rc<RefCell<dyn FnMut(PlayerId, Tick, &mut Frame)>>;

/// What a peer keeps of the session.
struct Tape {
    header: Header,
    writer: Writer<Vec<u8>>,
    ring: Ring,
    evidence: Vec<Vec<u8>>,
    missing: Option<Vec<PlayerId>>,
}

pub struct Relayed {
    driver: Room,
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
        let network = MemoryNetwork::hub(STORM.seed, Weather::clear(ms(30)));
        let driver = Room::with_hub(network, relay_lacking(halo_rings, STORM, settings.clone()), |link| match hand {
            Some(hand) => Tap::new(link, altering(hand)),
            None => Tap::idle(link),
        });
        let table = Box::leak(Box::new(storm::table()));
        Relayed { driver, settings, tapes: vec![None], dice: table.dice(77, Tick(0)), desyncs: 0 }
    }

    pub fn enter(&mut self, replicas: usize) {
        for _ in 0..replicas {
            self.driver.enter_by(replica(STORM, self.settings.clone(), "anyone"), Tap::idle);
            self.tapes.push(None);
        }
    }

    /// Plays so many ticks; of 1,000 players so many give a command in each.
    pub fn play(&mut self, ticks: u32, permille: u32) {
        let tiles = u32::from(STORM.cells) << STORM.cell_log2;
        for _ in 0..ticks {
            let until = self.driver.now() + TICK;
            self.driver.run_until(until);
            let Relayed { driver, tapes, dice, desyncs, .. } = self;
            let (first, others) = tapes.split_first_mut().expect("the relay's");
            *desyncs += attend(driver.hub_mut(), first);
            for (seat, tape) in others.iter_mut().enumerate() {
                let seat = &mut driver.seats[seat];
                *desyncs += attend(seat, tape);
                if seat.session.phase() == Phase::Playing && dice.below(1_000) < permille {
                    let _ = seat.session.command((dice.below(tiles) as u16, dice.below(tiles) as u16));
                }
            }
        }
    }

    /// The recordings, the relay's first.
    pub fn recordings(self) -> Vec<Recording<StormWorld>> {
        let replicas = self.driver.seats.iter().map(|seat| seat.session.simulation());
        let end = |tape: Tape, tick| tape.writer.end(tick, "the end").expect("memory").0;
        let worlds = [self.driver.hub().session.simulation()].into_iter().chain(replicas);
        let ended = worlds.zip(self.tapes).filter_map(|(world, tape)| Some(end(tape?, world?.tick())));
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
            writer.checksum(tick, checksum).expect("memory");
            ring.checksum(tick, checksum);
            ring.tree(tick, &tree);
        }
        Event::Keyframe { tick, snapshot } => {
            let packed = Packed::of(&STORM.world().encode(&snapshot));
            writer.keyframe(tick, &packed).expect("memory");
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

/// Keeps what a seat's session told, and gives evidence if that is wanted. Returns how many
/// differences were told.
fn attend<T: Session<Sim = StormWorld>>(seat: &mut Seat<T, Tap>, tape: &mut Option<Tape>) -> usize {
    let mut desyncs = 0;
    for event in seat.events.drain(..) {
        desyncs += usize::from(matches!(event, Event::Desync { .. }));
        if let Some(evidence) = hear(tape, event) {
            seat.session.give_evidence(evidence).expect("it is wanted");
        }
    }
    desyncs
}

/// Lets a hand alter the frames that a relay sends.
fn altering(hand: Hand) -> impl FnMut(Transmit) -> Option<Transmit> {
    let mut players = BTreeMap::new();
    move |mut packet| {
        let (epoch, message) = wire::decode(&packet.bytes).expect("our own bytes");
        match message {
            Message::Welcome(welcome) => _ = players.insert(packet.to, welcome.player),
            Message::Frames(mut frames) => {
                let mut turns = frames.turns.into_vec();
                for (n, frame) in &mut turns {
                    hand.borrow_mut()(players[&packet.to], frames.from.plus(*n), frame);
                }
                frames.turns = turns.try_into().expect("as many as before");
                packet.bytes = wire::encode(epoch, &Message::Frames(frames));
            }
            _ => {}
        }
        Some(packet)
    }
}
