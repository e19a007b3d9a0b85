//! Nothing about a cell outside of a replica's core and halo leaves the relay towards it. Told from
//! the bytes that it sent.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_net::PeerId;
use lockstone_net::Session;
use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::Event;
use lockstone_net::wire::{self, Frame, LeaveReason, LoadedCells, Message, Parcel, RawGiven, RawInput};
use lockstone_sim::world::{Join, Request};
use lockstone_sim::{CellId, CellRect, Checksum, PlayerId, Simulation, Tick, codec};
use testkit::relay::*;
use testkit::sessions::tap::altering;
use testkit::sessions::*;
use testkit::storm::StormWorld;

/// What a replica was told.
#[derive(Default)]
struct Told {
    player: Option<PlayerId>,
    frames: BTreeMap<Tick, Frame>,
    /// Tick, bytes of all pieces, cells.
    loads: BTreeMap<u32, (Tick, usize, Vec<u8>)>,
    outline: Vec<u8>,
    /// Who came near, and the tick up to which frames had been sent before.
    nearby: Vec<(Tick, Vec<PlayerId>)>,
    sent: Tick,
}

#[test]
fn nothing_outside_of_core_and_halo_is_told() {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let line = Weather { jitter: ms(20), loss_permille: 50, ..Weather::clear(ms(40)) };
    let mut scene = Scene::new(3, STORM, settings.clone(), line);
    scene.enter_many(12);
    scene.run_until(secs(3));
    scene.play(secs(30), 30);
    let (checked, replicas) = assert_all_concerned(&scene, &settings);
    println!("{checked} things told to {replicas} replicas");
    assert!(replicas == 12 && checked > 10_000);
}

/// One false checksum made the relay send its recording of the whole world.
#[test]
fn a_liar_and_an_odd_replica_are_given_no_evidence_of_the_rest_of_the_world() {
    let settings = RelaySettings { core_actors_max: 0, ..RelaySettings::default() };
    let mut scene = Scene::new(5, STORM, settings.clone(), Weather::clear(ms(40)));
    scene.enter_many(4);
    scene.run_until(secs(3));
    // One lies, and the world of another differs as far as it says.
    scene.odd = Some(2);
    for seat in [1, 2] {
        let mut reports = 0;
        scene.meddle(
            seat,
            altering(move |_, message| match message {
                Message::Report(report) if !report.checksums.is_empty() => {
                    reports += 1;
                    if reports == 3 {
                        report.checksums =
                            list(report.checksums.iter().map(|(tick, sum)| (*tick, odd(*sum))).collect());
                    }
                }
                Message::CoreTree(tree) if seat == 2 => tree.disputed = tree.disputed.map(odd),
                _ => {}
            }),
        );
    }
    let liar = scene.seat(1).session.stats().player.expect("it plays");
    for _ in 0..60 {
        scene.play(ms(500), 30);
        // What the relay's application gives is of the whole world.
        if let Some(wanted) = scene.told.iter().position(|event| matches!(event, Event::EvidenceWanted { .. })) {
            scene.told.remove(wanted);
            scene.driver.hub_mut().session.give_evidence(vec![7; 100_000]).expect("it is wanted");
        }
    }
    let named: Vec<_> = scene
        .told
        .iter()
        .filter_map(|event| match event {
            Event::Liar { player } => Some(*player),
            _ => None,
        })
        .collect();
    assert_eq!(named, [liar]);
    let came = |event: &&Event<StormWorld>| matches!(event, Event::Evidence { .. } | Event::EvidenceComplete { .. });
    for seat in 1..=4 {
        let events = scene.seat(seat).events.iter().filter(came);
        let missing: Vec<_> = events
            .map(|event| match event {
                Event::EvidenceComplete { missing } => missing.clone(),
                other => panic!("seat {seat} was given {other:?}"),
            })
            .collect();
        assert_eq!(missing, vec![vec![PlayerId(0)]; usize::from(seat == 2)], "seat {seat}");
    }
    let (checked, _) = assert_all_concerned(&scene, &settings);
    assert!(checked > 1_000 && scene.playing() == 3, "the liar is put out");
}

fn odd(sum: Checksum) -> Checksum {
    Checksum(sum.0 ^ 1)
}

/// Nobody was told what is outside of core and halo. Returns how many things were told,
/// and to how many.
pub fn assert_all_concerned(scene: &Scene, settings: &RelaySettings) -> (usize, usize) {
    let told = told(scene);
    let outlined = told.iter().filter(|(_, told)| told.player.is_some() && !told.loads.is_empty());
    (outlined.map(|(peer, told)| assert_concerned(scene, settings, *peer, told)).sum(), told.len())
}

fn told(scene: &Scene) -> BTreeMap<PeerId, Told> {
    let mut all: BTreeMap<PeerId, Told> = BTreeMap::new();
    let standby = scene.driver.beside_hub().map(|other| other.peer);
    let is_relay = |peer: PeerId| peer.arrival() == 0 || Some(peer) == standby;
    for packet in scene.sent.borrow().iter().filter(|packet| !is_relay(packet.to)) {
        let told = all.entry(packet.to).or_default();
        match wire::decode(&packet.bytes).expect("the relay speaks the protocol").1 {
            Message::Welcome(welcome) => {
                assert!(welcome.roster.is_empty());
                told.player = Some(welcome.player);
            }
            Message::Chunk(chunk) => match told.loads.last_entry() {
                Some(mut load) => load.get_mut().2.extend_from_slice(&chunk),
                None => told.outline.extend_from_slice(&chunk),
            },
            Message::Load(load) => {
                told.loads.insert(load.number, (load.tick, load.bytes as usize, load.first.to_vec()));
            }
            Message::Frames(frames) => {
                let from = frames.from;
                told.sent = told.sent.max(frames.end());
                told.frames.extend(frames.turns.into_vec().into_iter().map(|(after, frame)| (from.plus(after), frame)));
            }
            Message::Nearby(nearby) => {
                told.nearby.push((told.sent, nearby.came.iter().map(|(player, _)| *player).collect()));
            }
            Message::Removed(LeaveReason::Silent | LeaveReason::TooSlow | LeaveReason::Lied)
            | Message::Challenge(_) => {}
            // Who leads, and in which epoch. Of the world they tell a tick at most.
            Message::Heir(_) | Message::Stand(_) | Message::Lead(_) | Message::Elsewhere(_) => {}
            // Who is odd is told its own checksum, and gives evidence. It gets none.
            Message::Desync(_) | Message::Inquiry(_) | Message::Parcel(Parcel::Received(_)) => {}
            Message::Parcel(Parcel::Announced { bytes: 0, .. }) => {}
            other => panic!("not a message to a replica in step: {other:?}"),
        }
    }
    all
}

/// The cells of a load, from its first bytes: all of a rectangle but those of another.
fn loaded(pieces: &[u8]) -> BTreeSet<CellId> {
    let rectangles = |len: usize| codec::read::<(CellRect, CellRect)>(pieces.get(..len)?, len).ok();
    let (all, but) = (1..64).find_map(rectangles).expect("two rectangles");
    all.iter().filter(|cell| !but.contains(*cell)).collect()
}

/// Returns how many things were told.
fn assert_concerned(scene: &Scene, settings: &RelaySettings, peer: PeerId, told: &Told) -> usize {
    let mut world = scene.weather.world();
    let outline = world.decode(&told.outline).expect("an outline");
    world.restore(&outline);
    assert_eq!(world.cells().count(), 0, "the outline holds cells");
    let grid = *world.grid();
    let player = told.player.expect("it was let in");
    let hero = |of: PlayerId, tick: Tick| scene.moments.get(&tick)?.heroes.get(&of).map(|pos| grid.cell_of(*pos));
    let mut loads: BTreeMap<u32, (Tick, BTreeSet<CellId>)> = BTreeMap::new();
    for (number, (tick, bytes, pieces)) in &told.loads {
        let cells = loaded(pieces);
        // The last one may still be on its way.
        assert!(pieces.len() < *bytes || LoadedCells::read(pieces).is_ok(), "{peer}: load {number}");
        if let Some(at) = hero(player, *tick) {
            // A hero's core is looked at every few ticks, as long as it holds what it must.
            let late = 1 + ((scene.weather.stride.to_bits() * 10) >> 12 >> scene.weather.cell_log2) as u16;
            let near = grid.block(at, settings.leave_rings + grid.halo_rings() + settings.ahead_rings + late);
            let grows = settings.core_actors_max > 0;
            assert!(
                grows || cells.iter().all(|cell| near.contains(*cell)),
                "{peer} was loaded cells far from its hero at {at}"
            );
        }
        loads.insert(*number, (*tick, cells));
    }
    let (mut core, mut halo, mut count) = (CellRect::EMPTY, CellRect::EMPTY, loads.len());
    let mut halos = BTreeMap::new();
    for (tick, frame) in &told.frames {
        for input in frame.inputs.iter() {
            count += 1;
            let thinks = |cell: CellId| core.grown(&grid, grid.fringe_rings()).contains(cell);
            let concerned = match input {
                RawInput::Back(of, _) if *of == player => true,
                RawInput::Command(of, _) | RawInput::Leave(of, _) | RawInput::Away(of, _) | RawInput::Back(of, _) => {
                    hero(*of, *tick).is_some_and(thinks)
                }
                RawInput::Join(_, _, join) => {
                    let Join { at, .. } = codec::read::<Join<()>>(join, 1 << 12).expect("a join");
                    core.contains(grid.cell_of(at))
                }
                // Who plays whom, and who votes, no replica of a relay is told.
                RawInput::Member(..) | RawInput::Electorate(_) | RawInput::Settled | RawInput::Branch(_) => false,
                RawInput::Request(request) => match codec::read::<Request<u64>>(request, 1 << 12).expect("a request") {
                    Request::Announce(_) => true,
                    Request::Transfer { from, to, .. } => core.contains(from) && core.contains(grid.cell_of(to)),
                },
            };
            assert!(concerned, "{peer} at {tick} was sent {input:?}");
        }
        let coming = |cell: &CellId| loads.values().any(|(since, cells)| since <= tick && cells.contains(cell));
        for given in frame.given.iter() {
            count += 1;
            match given {
                RawGiven::Change(cell, _) | RawGiven::Cell(cell, _) | RawGiven::Pristine(cell) => {
                    assert!(halo.contains(*cell) || coming(cell), "{peer} at {tick} was given {cell}");
                }
                RawGiven::Area(after, _) => {
                    let known = |cell: CellId| halo.contains(cell) || coming(&cell);
                    assert!(after.halo.iter().all(known), "{peer} at {tick} has not loaded its area");
                    (core, halo) = (after.core, after.halo);
                    halos.insert(*tick, halo);
                }
            }
        }
        if let Some(number) = frame.given.iter().find_map(|given| match given {
            RawGiven::Area(_, load) => *load,
            _ => None,
        }) {
            loads.retain(|later, _| *later > number);
        }
    }
    for (sent, came) in &told.nearby {
        // Of a relay that stood still, frames come later than names: they do not fit at once.
        let ticks = || (sent.0.saturating_sub(2)..sent.0 + 40).map(Tick);
        for of in came {
            count += 1;
            // In the step to a tick it may have been known where the area was before, and been left
            // behind by one that changed then, and again.
            let knows = |tick: Tick| {
                let before = Tick(tick.0.saturating_sub(1));
                let mut halos = halos.range(..before).next_back().into_iter().chain(halos.range(before..=tick));
                hero(*of, tick).is_some_and(|at| halos.any(|(_, halo)| halo.contains(at)))
            };
            assert!(ticks().any(knows), "{peer} was told the name of {of} after {sent}, who was not near");
        }
    }
    count
}
