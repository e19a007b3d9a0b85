//! A false relay: whatever it says, a replica does not panic, holds no more than its limits, and
//! ends with a reason if it cannot go on.

use core::time::Duration;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::relay::{RelayConfig, RelaySettings, Replica};
use lockstone_net::session::TransferError;
use lockstone_net::session::{EndReason, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_sim::{CellId, CellRect, Checksum, Extent, PlayerId, Simulation, Tick, codec};
use testkit::relay::{STORM, Scene};
use testkit::sessions::digest;
use testkit::sessions::*;
use testkit::storm::{Storm, StormWorld};

const RELAY: PeerId = PeerId(1 << 64);
const EPOCH: Epoch = Epoch(0);

/// A replica that a false relay talks to.
struct Victim {
    replica: Replica<Storm>,
    now: Duration,
    stamp: u32,
}

impl Victim {
    /// It has entered the room, and nothing was said.
    fn new() -> Victim {
        let config = RelayConfig::new(RelaySettings::default()).expect("in range");
        let replica = Replica::new(config, IDENTITY, "victim", (), |_| STORM.world()).expect("the name is fine");
        let mut victim = Victim { replica, now: ms(0), stamp: 0 };
        victim.replica.handle(LinkEvent::Entered(PeerId(2 << 64)), ms(0));
        victim.replica.handle(LinkEvent::Connected(RELAY), ms(0));
        victim
    }

    /// It was let in, and has an outline.
    fn welcomed(tick: Tick) -> Victim {
        let mut victim = Victim::new();
        let outline = outline(tick);
        let welcome = Welcome {
            attempt: 0,
            player: PlayerId(1),
            sequencer: PlayerId(0),
            plays: None,
            seed: 1,
            tick,
            snapshot_bytes: outline.len() as u32,
            snapshot_digest: digest(&outline),
            roster: List::default(),
        };
        victim.hear(&Message::Welcome(welcome));
        outline.chunks(10_000).for_each(|chunk| victim.hear(&Message::Chunk(chunk.to_vec().try_into().expect("fits"))));
        assert!(matches!(victim.replica.phase(), Phase::CatchingUp), "{:?}", victim.replica.phase());
        victim
    }

    fn hear(&mut self, message: &Message) {
        self.hear_bytes(wire::encode(EPOCH, message));
    }

    fn hear_bytes(&mut self, bytes: Vec<u8>) {
        let event = LinkEvent::Packet { from: RELAY, channel: Channel::Reliable, bytes };
        self.replica.handle(event, self.now);
        self.pass(10);
    }

    fn pass(&mut self, for_ms: u64) {
        self.now += ms(for_ms);
        self.replica.advance(self.now);
        while self.replica.poll_transmit().is_some() {}
        while self.replica.poll_event().is_some() {}
    }

    /// Hears a frame for each tick from one on, and plays them.
    fn frames(&mut self, from: Tick, frames: Vec<Frame>) {
        for (tick, frame) in (from.0..).zip(frames) {
            self.stamp += 1;
            let stamp = Stamp { number: self.stamp, echo: None };
            let turns = list(vec![(0, frame)]);
            let frames = Frames { stamp, from: Tick(tick), ticks: 1, turns, ..Frames::default() };
            self.hear(&Message::Frames(frames));
        }
        (0..100).for_each(|_| self.pass(50));
    }

    fn load(&mut self, number: u32, cells: LoadedCells) {
        let bytes = codec::compact(&cells);
        let first = bytes[..bytes.len().min(10_000)].to_vec().try_into().expect("fits");
        let (len, digest) = (bytes.len() as u32, digest(&bytes));
        self.hear(&Message::Load(Load { number, tick: Tick(0), bytes: len, digest, first }));
        for chunk in bytes.get(10_000..).unwrap_or_default().chunks(10_000) {
            self.hear(&Message::Chunk(chunk.to_vec().try_into().expect("fits")));
        }
    }
}

fn outline(tick: Tick) -> Vec<u8> {
    let mut world = STORM.world();
    (0..tick.0).for_each(|_| world.step(&lockstone_sim::Turn::default()));
    let outline = world.outline();
    world.encode(&outline)
}

fn given(given: Vec<RawGiven>) -> Frame {
    Frame { given: list(given), ..Frame::default() }
}

fn area(core: CellRect, halo: CellRect, load: Option<u32>) -> RawGiven {
    RawGiven::Area(Extent { core, halo }, load)
}

fn rect(low: u16, high: u16) -> CellRect {
    CellRect { low: CellId::new(low, low), high: CellId::new(high, high) }
}

#[test]
fn garbage_and_packets_of_others_are_dropped() {
    let mut victim = Victim::welcomed(Tick(0));
    let mut dice = Dice(91);
    for _ in 0..900 {
        let bytes = (0..dice.roll(300)).map(|_| dice.roll(256) as u8).collect();
        victim.hear_bytes(bytes);
    }
    let stats = victim.replica.stats();
    assert!(stats.drops.total() > 850, "{:?}", stats.drops);
}

/// Real packets of a relay, damaged, cut, repeated and in another order.
#[test]
fn damaged_packets_of_a_real_relay_do_no_harm() {
    let mut scene = Scene::new(92, STORM, RelaySettings::default(), lockstone_net::memory::Weather::clear(ms(20)));
    scene.enter_many(4);
    scene.run_until(secs(3));
    scene.play(secs(8), 60);
    let peer = scene.peer(2);
    let sent = scene.sent.borrow();
    let packets: Vec<_> = sent.iter().filter(|packet| packet.to == peer).map(|packet| packet.bytes.clone()).collect();
    let (mut played, mut ends) = (0, std::collections::BTreeMap::<String, u32>::new());
    for seed in 0..60 {
        let (mut dice, mut victim) = (Dice(seed), Victim::new());
        for packet in &packets {
            let mut bytes = packet.clone();
            match dice.roll(40) {
                // Not the first: without a welcome nothing happens.
                0 if bytes.len() > 100 => {
                    let at = dice.roll(bytes.len() as u64) as usize;
                    bytes[at] ^= 1 << dice.roll(8);
                }
                1 if bytes.len() > 100 => bytes.truncate(dice.roll(bytes.len() as u64) as usize),
                2 => victim.hear_bytes(bytes.clone()),
                _ => {}
            }
            victim.hear_bytes(bytes);
            victim.pass(20);
        }
        played += victim.replica.stats().tick.0;
        let end = format!("{:?}", victim.replica.phase());
        *ends.entry(end).or_default() += 1;
    }
    println!("{} packets, 60 times; {played} ticks played; {ends:?}", packets.len());
    assert!(played > 1_000);
}

#[test]
fn areas_beyond_the_world_are_cut_to_it() {
    let everywhere = rect(0, u16::MAX);
    let reversed = CellRect { low: CellId::new(30, 30), high: CellId::new(2, 2) };
    for (core, halo) in [
        (everywhere, everywhere),
        (rect(60_000, 65_000), everywhere),
        (reversed, everywhere),
        (everywhere, reversed),
        (everywhere, CellRect::EMPTY),
        (rect(3, 20), rect(10, 12)),
    ] {
        let mut victim = Victim::welcomed(Tick(0));
        victim.frames(
            Tick(0),
            (0..30).map(|n| given(if n == 3 { vec![area(core, halo, None)] } else { vec![] })).collect(),
        );
        let world: &StormWorld = victim.replica.simulation().expect("it plays");
        assert!(world.tick().0 >= 29, "{core:?} {halo:?}: {}", world.tick());
        let all = world.grid().all();
        assert!(world.area().core().chain(world.area().halo()).all(|cell| all.contains(cell)));
    }
}

#[test]
fn what_cannot_be_read_is_passed_over() {
    let mut victim = Victim::welcomed(Tick(0));
    let mut dice = Dice(93);
    let mut frames = vec![given(vec![area(rect(2, 9), rect(0, 12), None)])];
    for _ in 0..200 {
        let mut all = Vec::new();
        for _ in 0..dice.roll(20) {
            let cell = CellId::new(dice.roll(14) as u16, if dice.roll(9) == 0 { 60_000 } else { dice.roll(14) as u16 });
            let bytes = CellBytes::new((0..dice.roll(60)).map(|_| dice.roll(256) as u8).collect());
            all.push(match dice.roll(3) {
                0 => RawGiven::Change(cell, bytes),
                1 => RawGiven::Cell(cell, bytes),
                _ => RawGiven::Pristine(cell),
            });
        }
        let inputs = (0..dice.roll(4)).map(|_| {
            let bytes: Vec<u8> = (0..dice.roll(40)).map(|_| dice.roll(256) as u8).collect();
            let player = PlayerId(dice.roll(9) as u16);
            match dice.roll(4) {
                0 => RawInput::Command(player, bytes.try_into().expect("fits")),
                1 => RawInput::Leave(player, LeaveReason::Left),
                2 => RawInput::Join(player, Name::new("x").expect("a name"), bytes.try_into().expect("fits")),
                _ => RawInput::Request(bytes.try_into().expect("fits")),
            }
        });
        frames.push(Frame { inputs: list(inputs.collect()), given: list(all) });
    }
    victim.frames(Tick(0), frames);
    assert!(victim.replica.simulation().expect("it plays").tick().0 > 190, "{:?}", victim.replica.phase());
}

#[test]
fn loads_that_do_not_hold_together_end_the_session() {
    let ended_with = |victim: &Victim| match victim.replica.phase() {
        Phase::Ended(reason) => Some(reason),
        _ => None,
    };
    let digest_error = Some(EndReason::Transfer(TransferError::Digest));
    // Of another digest.
    let mut victim = Victim::welcomed(Tick(0));
    let first: Bytes<_> = vec![1; 100].try_into().expect("fits");
    victim.hear(&Message::Load(Load { number: 0, tick: Tick(0), bytes: 100, digest: 1, first: first.clone() }));
    assert_eq!(ended_with(&victim), digest_error);
    // Of bytes that are no cells.
    let mut victim = Victim::welcomed(Tick(0));
    victim.hear(&Message::Load(Load { number: 0, tick: Tick(0), bytes: 100, digest: digest(&[1; 100]), first }));
    assert_eq!(ended_with(&victim), digest_error);
    // Of cells that are not of their load, twice the same cell, and more cells than are allowed.
    let cell = |x| (CellId::new(x, 1), CellBytes::new(vec![0]));
    let all = CellRect { low: CellId::new(0, 0), high: CellId::new(9, 9) };
    let but = CellRect::of(CellId::new(3, 1));
    let whole = CellRect { low: CellId::new(0, 0), high: CellId::new(u16::MAX, u16::MAX) };
    for (all, lit) in [(all, vec![cell(10)]), (all, vec![cell(3)]), (all, vec![cell(4), cell(4)]), (whole, vec![])] {
        let mut victim = Victim::welcomed(Tick(0));
        victim.load(0, LoadedCells { all, but, lit: list(lit) });
        assert_eq!(ended_with(&victim), digest_error);
    }
    // A load that never came is put in.
    let mut victim = Victim::welcomed(Tick(0));
    victim.frames(Tick(0), (0..30).map(|_| given(vec![area(rect(1, 3), rect(0, 5), Some(7))])).collect());
    assert_eq!(ended_with(&victim), digest_error);
    // Cells outside of the world, and such as cannot be read.
    let mut victim = Victim::welcomed(Tick(0));
    let (low, high) = (CellId::new(0, 60_000), CellId::new(299, 60_000));
    let all = CellRect { low, high };
    let lit = list(all.iter().map(|cell| (cell, CellBytes::new(vec![7; 30]))).collect());
    victim.load(0, LoadedCells { all, but: CellRect::EMPTY, lit });
    victim.frames(Tick(0), vec![given(vec![area(rect(1, 3), rect(0, 5), Some(0))]); 1]);
    victim.frames(Tick(1), vec![Frame::default(); 20]);
    assert!(ended_with(&victim).is_none());
    assert!(victim.replica.simulation().expect("it plays").tick().0 > 15);
}

/// Loads that nobody puts in are not kept without end.
#[test]
fn loads_beyond_the_limit_end_the_session() {
    let mut victim = Victim::welcomed(Tick(0));
    let mut loads = 0;
    while !matches!(victim.replica.phase(), Phase::Ended(_)) {
        // Small on the wire, large in memory.
        let all = CellRect { low: CellId::new(0, 0), high: CellId::new(299, 199) };
        victim.load(loads, LoadedCells { all, but: CellRect::EMPTY, lit: list(vec![]) });
        loads += 1;
        assert!(loads < 100, "so many loads of 60,000 cells are kept");
    }
    assert_eq!(victim.replica.phase(), Phase::Ended(EndReason::Transfer(TransferError::Length)));
    println!("{loads} loads of 60,000 cells were kept");
}

/// Changes of cells that are not there and never will be.
#[test]
fn changes_of_unknown_cells_are_not_kept_without_end() {
    let mut victim = Victim::welcomed(Tick(0));
    let mut tick = 0;
    while !matches!(victim.replica.phase(), Phase::Ended(_)) {
        let changes = |n: u16| RawGiven::Change(CellId::new(n, tick as u16), CellBytes::new(Vec::new()));
        victim.frames(Tick(tick), vec![given((0..8_000).map(changes).collect())]);
        tick += 1;
        assert!(tick < 200, "changes of {} cells are kept", tick * 8_000);
    }
    println!("changes of {} cells were kept", tick * 8_000);
}

#[test]
fn messages_out_of_place_are_dropped() {
    let mut victim = Victim::welcomed(Tick(5));
    let notice = DesyncNotice { tick: Tick(7), agreed: Some(Tick(9)), ours: Checksum(1), theirs: Checksum(2) };
    let witnesses = list(vec![(PlayerId(0), RELAY), (PlayerId(9), PeerId(9 << 64))]);
    for _ in 0..50 {
        victim.hear(&Message::ChunkAck(7));
        victim.hear(&Message::Ready);
        victim.hear(&Message::Chunk(vec![1; 9].try_into().expect("fits")));
        victim.hear(&Message::CoreTree(CoreTree { tick: Tick(5), disputed: None, cells: List::default() }));
        victim.hear(&Message::Desync(notice));
        victim.hear(&Message::Inquiry(Inquiry { witnesses: witnesses.clone() }));
        victim.hear(&Message::Parcel(Parcel::Received(70_000)));
        let far = Frames { from: Tick(u32::MAX - 1), ticks: 1, ..Frames::default() };
        victim.hear(&Message::Frames(far));
    }
    assert!(victim.replica.stats().drops.total() >= 200, "{:?}", victim.replica.stats().drops);
    victim.frames(Tick(5), vec![Frame::default(); 40]);
    assert!(victim.replica.simulation().expect("it plays").tick().0 >= 40);
}

#[test]
fn the_last_ticks_of_time_are_no_panic() {
    let mut victim = Victim::new();
    let welcome = Welcome {
        attempt: 0,
        player: PlayerId(1),
        sequencer: PlayerId(1),
        plays: None,
        seed: 1,
        tick: Tick(u32::MAX),
        snapshot_bytes: u32::MAX,
        snapshot_digest: 0,
        roster: List::default(),
    };
    let bytes = wire::encode(EPOCH, &Message::Welcome(welcome));
    victim.hear_bytes(bytes);
    victim.hear(&Message::Frames(Frames { from: Tick(u32::MAX), ticks: 1, ..Frames::default() }));
    (0..100).for_each(|_| victim.pass(1_000));
    assert!(matches!(victim.replica.phase(), Phase::Ended(_)), "{:?}", victim.replica.phase());
}
