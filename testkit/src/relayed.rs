//! A relay session over a memory network whose peers record: the relay the whole world, each
//! replica its part. What the relay sends can be altered on the way.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lockstone::net::Session;
use lockstone::net::memory::{Seat, Weather};
use lockstone::net::relay::RelaySettings;
use lockstone::net::session::Event;
use lockstone::net::wire::{Frame, Message, RawGiven, RawInput};
use lockstone::recording::{Bundle, Entry, Header, Packed, Recording, Ring, Writer};
use lockstone::sim::{CellId, PlayerId, Simulation, Tick, Turn};

use crate::ms;
use crate::recorded::Peer;
use crate::relay::{STORM, Scene};
use crate::sessions::tap::{Tap, altering, each_frame};
use crate::storm::StormWorld;

pub fn build(_: u64) -> StormWorld {
    STORM.world()
}

/// What a peer keeps of the session.
struct Tape {
    writer: Writer<Vec<u8>>,
    ring: Ring,
    bundle: Bundle,
    /// Whether no more evidence comes.
    is_complete: bool,
}

pub struct Relayed {
    scene: Scene,
    /// By seats.
    tapes: Vec<Option<Tape>>,
    /// How many differences were told.
    pub desyncs: usize,
}

impl Relayed {
    pub fn new(settings: RelaySettings) -> Relayed {
        Relayed::lacking(0, settings)
    }

    /// A session whose relay holds so many rings of halo back.
    pub fn lacking(halo_rings: u16, settings: RelaySettings) -> Relayed {
        let settings = RelaySettings { core_actors_max: 0, ..settings };
        let scene = Scene::lacking(halo_rings, STORM.seed, STORM, settings, Weather::clear(ms(30)));
        Relayed { scene, tapes: vec![None], desyncs: 0 }
    }

    /// What happens to a frame of a tick that the relay sends to a player, each time that it does.
    pub fn meddle(&mut self, mut hand: impl FnMut(PlayerId, Tick, &mut Frame) + 'static) {
        let mut players = BTreeMap::new();
        let alter = move |to, message: &mut Message| {
            if let Message::Welcome(welcome) = message {
                players.insert(to, welcome.player);
            }
            each_frame(message, |tick, frame| hand(players[&to], tick, frame));
        };
        self.scene.meddle(0, altering(alter));
    }

    pub fn enter(&mut self, replicas: usize) {
        self.scene.enter_many(replicas);
        self.tapes.resize_with(self.tapes.len() + replicas, || None);
    }

    /// Plays so many ticks; of 1,000 players so many give a command in each.
    pub fn play(&mut self, ticks: u32, permille: u64) {
        for _ in 0..ticks {
            let until = self.scene.driver.now() + ms(50);
            self.scene.driver.run_until(until);
            self.desyncs += attend(self.scene.driver.hub_mut(), &mut self.tapes[0]);
            for seat in self.scene.numbers() {
                self.desyncs += attend(self.scene.seat_mut(seat), &mut self.tapes[seat]);
                if self.scene.dice.roll(1_000) < permille {
                    self.scene.wander(seat);
                }
            }
        }
    }

    /// The recordings, the relay's first.
    pub fn recordings(self) -> Vec<Recording<StormWorld>> {
        let end = |tape: Tape, tick| tape.writer.end(tick, "the end").expect("memory").0;
        let replicas = self.scene.seats().map(|(_, seat)| seat.session.simulation());
        let worlds = [self.scene.relay().simulation()].into_iter().chain(replicas);
        let ended = worlds.zip(self.tapes).filter_map(|(world, tape)| Some(end(tape?, world?.tick())));
        ended.map(|bytes| Recording::read(&bytes).expect("it was just written")).collect()
    }

    /// What a peer would write as evidence now.
    pub fn rings(&self) -> Vec<Vec<u8>> {
        self.tapes.iter().flatten().map(|tape| tape.ring.write()).collect()
    }

    /// The bundles of those who asked for evidence and have it all.
    pub fn bundles(&self) -> Vec<Bundle> {
        let complete = self.tapes.iter().flatten().filter(|tape| tape.is_complete);
        complete.map(|tape| tape.bundle.clone()).collect()
    }
}

/// Keeps what a session told. Returns evidence if that is wanted.
fn hear(tape: &mut Option<Tape>, event: Event<StormWorld>) -> Option<Vec<u8>> {
    if let Event::Started { tick, seed, player, snapshot } = &event {
        let header = Peer::new(player.0, *seed).header;
        let header = Header { start: *tick, name: format!("Peer-{}", player.0), ..header };
        let writer = Writer::create(Vec::new(), &header, snapshot).expect("memory can be written");
        let ring = Ring::new(header, Packed::of(snapshot));
        let bundle = Bundle { player: *player, recordings: Vec::new(), missing: Vec::new() };
        *tape = Some(Tape { writer, ring, bundle, is_complete: false });
    }
    let Tape { writer, ring, bundle, is_complete } = tape.as_mut()?;
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
            bundle.recordings.push(own.clone());
            return Some(own);
        }
        Event::Evidence { bytes, .. } => bundle.recordings.push(bytes),
        Event::EvidenceComplete { missing } => (bundle.missing, *is_complete) = (missing, true),
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

/// When something was kept from a player, or also of what, once it was.
pub type Withheld<T> = Rc<Cell<Option<T>>>;

/// Keeps the commands of a tick from a player: of the first from a tick on that has some.
pub fn without_commands(of: PlayerId, from: Tick, at: Withheld<Tick>) -> impl FnMut(PlayerId, Tick, &mut Frame) {
    move |player, tick, frame| {
        let is_command = |input: &RawInput| matches!(input, RawInput::Command(..));
        if player == of && tick >= from && frame.inputs.iter().any(is_command) {
            at.set(at.get().or(Some(tick)));
            if at.get() == Some(tick) {
                let kept: Vec<_> = frame.inputs.iter().filter(|input| !is_command(input)).cloned().collect();
                frame.inputs = kept.try_into().expect("fewer");
            }
        }
    }
}

/// Keeps what changes in a halo cell from a player, for so many ticks: of the first cell from a
/// tick on in which something does.
pub fn without_changes(
    of: PlayerId,
    from: Tick,
    ticks: u32,
    at: Withheld<(Tick, CellId)>,
) -> impl FnMut(PlayerId, Tick, &mut Frame) {
    move |player, tick, frame| {
        let change = |given: &RawGiven| if let RawGiven::Change(cell, _) = given { Some(*cell) } else { None };
        if player == of
            && tick >= from
            && let Some(first) = frame.given.iter().find_map(change)
        {
            let (since, cell) = at.get().unwrap_or((tick, first));
            at.set(Some((since, cell)));
            if tick.since(since) < ticks {
                let kept: Vec<_> = frame.given.iter().filter(|given| change(given) != Some(cell)).cloned().collect();
                frame.given = kept.try_into().expect("fewer");
            }
        }
    }
}

/// The recording of a peer that has the same turns, and whose world may be tampered with before a
/// checksum. It records its state at one tick, if that is given.
pub fn tampered(
    healthy: &Recording<StormWorld>,
    keyframe_at: Option<Tick>,
    mut tamper: impl FnMut(&mut StormWorld),
) -> Recording<StormWorld> {
    let mut world = build(0);
    let start = world.decode(&healthy.snapshot).expect("our own bytes");
    world.restore(&start);
    let mut turns: Vec<Turn<StormWorld>> = (0..healthy.header.start.0).map(|_| Turn::EMPTY).collect();
    for entry in &healthy.entries {
        match entry {
            Entry::Turn(turn) => turns.push(turn.clone()),
            other => turns.extend((0..other.ticks()).map(|_| Turn::EMPTY)),
        }
    }
    let peer = Peer { header: healthy.header.clone(), trees: false, keyframe_at };
    peer.record(&mut world, &turns, |world| {
        tamper(world);
        None
    })
}
