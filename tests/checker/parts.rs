//! Recordings of a relay session: each is of a part of the world. What was planted is named, and no
//! healthy peer is blamed.

use lockstone::check::{Cause, Finding, Report, compare, page, verify};
use lockstone::net::relay::RelaySettings;
use lockstone::net::wire::RawGiven;
use lockstone::recording::{Bundle, Recording};
use lockstone::sim::world::{StateBit, StatePart, Zone};
use lockstone::sim::{CellId, PlayerId, Simulation, Tick, tamper};
use testkit::relayed::{Relayed, Withheld, build, tampered, without_changes, without_commands};
use testkit::storm::StormWorld;

const PLANTED: Tick = Tick(150);

fn check(recordings: Vec<Recording<StormWorld>>) -> Report {
    let report = compare(recordings, &build).expect("they are of one session");
    println!("{report}");
    report
}

fn found(report: &Report) -> &Finding {
    assert!(page(report).contains("what a recording simulates"), "the map has frames");
    report.finding.as_ref().expect("a difference was planted")
}

/// Each replica plays what it was told, so nobody is at fault, whatever they differ in.
fn without_the_relay(recordings: &[Recording<StormWorld>]) {
    let report = check(recordings[1..].to_vec());
    assert!(report.finding.is_none_or(|finding| finding.verdict.blamed.is_empty()));
}

pub fn small() -> RelaySettings {
    RelaySettings { enter_rings: 1, leave_rings: 2, ahead_rings: 1, ..RelaySettings::default() }
}

#[test]
fn healthy_recordings_are_in_step_alone_and_together() {
    let mut session = Relayed::new(small());
    session.enter(3);
    session.play(300, 40);
    session.enter(1);
    session.play(1_000, 40);
    let rings = session.rings();
    let recordings = session.recordings();
    assert_eq!(recordings.len(), 5);
    let late = recordings[4].header.start;
    assert!(late >= Tick(290), "the last joined late, at {late}");
    for recording in recordings.iter().cloned() {
        let report = verify(recording, &build).expect("it is of this game");
        assert!(report.is_in_step(), "{report}");
        assert_eq!(report.shared, None);
        let peer = &report.peers[0];
        assert!(peer.player == PlayerId(0) || peer.covers.len() > 3, "its area moved: {:?}", peer.covers);
        assert!(peer.player == PlayerId(0) || report.to_string().contains("it is of a part of the world: cells"));
    }
    let report = check(recordings.clone());
    assert!(report.is_in_step() && report.shared > Some(100_000), "{report}");
    let replicas = check(recordings[1..].to_vec());
    assert!(replicas.finding.is_none(), "{replicas}");
    let rings: Vec<_> = rings.iter().map(|ring| Recording::read(ring).expect("it was just written")).collect();
    assert!(check(rings).is_in_step());
}

#[test]
fn a_ring_that_begins_with_a_keyframe_is_in_step() {
    let mut session = Relayed::new(small());
    session.enter(2);
    session.play(2_600, 20);
    let rings: Vec<_> = session.rings().iter().map(|ring| Recording::read(ring).expect("just written")).collect();
    assert!(rings.iter().all(|ring: &Recording<StormWorld>| ring.header.start == Tick(1_200)));
    for ring in rings.iter().cloned() {
        let report = verify(ring, &build).expect("it is of this game");
        assert!(report.is_in_step(), "{report}");
    }
    assert!(check(rings).is_in_step());
}

/// The recording of a peer in whose memory a bit of a core turns over. Returns also whose bit.
fn with_a_bit_turned(healthy: &Recording<StormWorld>) -> (Recording<StormWorld>, StatePart) {
    let mut turned = None;
    let recording = tampered(healthy, None, |world| {
        if world.tick() == PLANTED {
            let is_core = |cell: &CellId| world.area().zone(*cell) == Zone::Core && !world.actors(*cell).is_empty();
            let cell = world.cells().filter(is_core).min().expect("somebody is there");
            let of = StatePart::Entity(cell, world.actors(cell)[0].id);
            let snapshot = world.snapshot();
            let bits = (17..60).map(|byte| StateBit { of, byte, bit: 1 });
            let state = bits.filter_map(|bit| tamper::with_bit_turned(&snapshot, &bit)).next().expect("it has numbers");
            world.restore(&state);
            turned = Some(of);
        }
    });
    (recording, turned.expect("it was planted"))
}

#[test]
fn a_turned_bit_in_a_core_is_named_and_only_its_peer_blamed() {
    let mut session = Relayed::new(small());
    session.enter(3);
    session.play(250, 40);
    let healthy = session.recordings();
    // One that is a part, and the relay.
    for (odd, from) in [(2, 0), (2, 1), (0, 0)] {
        let mut recordings = healthy.clone();
        let (again, of) = with_a_bit_turned(&healthy[odd]);
        recordings[odd] = again;
        let report = check(recordings.split_off(from));
        let (finding, place) = (found(&report), odd - from);
        assert_eq!((finding.tick, finding.agreed), (PLANTED, Some(Tick(PLANTED.0 - 1))));
        assert_eq!((finding.verdict.cause, &finding.odd), (Cause::StateCorruption, &vec![place]));
        assert_eq!(finding.verdict.blamed, [place]);
        assert_eq!(finding.location.as_ref().expect("the bit was named").spots[0].part, of);
    }
}

#[test]
fn a_command_that_was_withheld_is_named() {
    let dropped = Withheld::default();
    let mut session = Relayed::new(small());
    session.meddle(without_commands(PlayerId(1), PLANTED, dropped.clone()));
    session.enter(3);
    session.play(300, 60);
    assert!(session.desyncs > 0, "the session itself finds it");
    let recordings = session.recordings();
    without_the_relay(&recordings);
    let report = check(recordings);
    let (finding, dropped) = (found(&report), dropped.get().expect("there was a command"));
    assert_eq!((finding.verdict.cause, &finding.odd), (Cause::Input, &vec![1]));
    assert!(finding.verdict.blamed.is_empty(), "{report}");
    assert_eq!((finding.tick, finding.between), (dropped.next(), Some([0, 1])));
    let told = format!("at tick {dropped} Peer-1 (P1) lacks what entered for Peer-0 (P0): P1");
    assert!(finding.verdict.reasons[0].starts_with(&told), "{report}");
    let spots = &finding.location.as_ref().expect("both are known").spots;
    // The command turns its hero, which may be in another cell already after its first step.
    let mut heroes = spots.iter().filter(|spot| spot.kind == "Hero");
    let is_turned = |path: &str| path == "body.heading.x";
    assert!(
        heroes.any(|hero| hero.missing.is_some() || hero.fields.iter().any(|field| is_turned(&field.path))),
        "{report}"
    );
}

#[test]
fn a_halo_change_that_was_dropped_is_named() {
    let dropped = Withheld::default();
    let mut session = Relayed::new(small());
    session.meddle(without_changes(PlayerId(1), PLANTED, 1, dropped.clone()));
    session.enter(3);
    session.play(300, 20);
    let recordings = session.recordings();
    without_the_relay(&recordings);
    let report = check(recordings);
    let (finding, (tick, cell)) = (found(&report), dropped.get().expect("there was a change"));
    assert_eq!((finding.verdict.cause, &finding.odd), (Cause::HaloMissing, &vec![1]));
    assert!(finding.verdict.blamed.is_empty(), "{report}");
    assert_eq!((finding.tick, finding.agreed), (tick.next(), Some(tick)));
    let told = format!("at tick {tick} Peer-1 (P1) was not given cell {cell}, which had changed for Peer-0 (P0)");
    assert_eq!(finding.verdict.reasons[0], told);
    assert_eq!(finding.location.as_ref().expect("both are known").cells, [cell]);
}

/// The part has the whole halo that it needs, and is not given what it needs of it.
#[test]
fn a_change_of_a_cell_that_the_core_takes_in_with_that_turn_is_no_reach_that_is_exceeded() {
    let dropped = Withheld::<(Tick, CellId)>::default();
    let at = dropped.clone();
    let mut session = Relayed::new(small());
    session.meddle(move |player, tick, frame| {
        let area = |given: &RawGiven| if let RawGiven::Area(extent, _) = given { Some(*extent) } else { None };
        let Some(area) = frame.given.iter().find_map(area) else { return };
        let is_taken_in = |given: &RawGiven| matches!(given, RawGiven::Change(cell, _) if area.core.contains(*cell));
        if player == PlayerId(1)
            && tick >= PLANTED
            && at.get().is_none()
            && let Some(n) = frame.given.iter().position(is_taken_in)
        {
            at.set(frame.given[n].cell().map(|cell| (tick, cell)));
            let kept = frame.given.iter().enumerate().filter(|(other, _)| *other != n);
            frame.given = kept.map(|(_, given)| given.clone()).collect::<Vec<_>>().try_into().expect("fewer");
        }
    });
    session.enter(3);
    session.play(400, 60);
    let report = check(session.recordings());
    let (finding, (tick, cell)) = (found(&report), dropped.get().expect("the core moved"));
    assert_eq!((finding.verdict.cause, finding.tick), (Cause::HaloMissing, tick.next()));
    let told = format!("at tick {tick} Peer-1 (P1) was not given cell {cell}, which had changed for Peer-0 (P0)");
    assert_eq!(finding.verdict.reasons[0], told);
}

#[test]
fn the_relays_bundle_tells_the_same_and_the_replicas_holds_its_own_recording() {
    let dropped = Withheld::default();
    // For so long that it reaches the core.
    let mut session = Relayed::new(small());
    session.meddle(without_changes(PlayerId(1), PLANTED, 100, dropped.clone()));
    session.enter(3);
    // Until the core is compared, and the relay has the replica's evidence.
    session.play(900, 20);
    let bundles = session.bundles();
    let [relay, replica] = &bundles[..] else { panic!("the relay and the odd replica have one each") };
    assert_eq!((&replica.missing[..], replica.recordings.len()), (&[PlayerId(0)][..], 1));
    assert!(relay.missing.is_empty() && relay.recordings.len() == 2);
    let bundle = Bundle::read(&relay.write()).expect("it was just written");
    let read = |bytes: &Vec<u8>| Recording::read(bytes).expect("evidence is a recording");
    let report = check(bundle.recordings.iter().map(read).collect());
    let (finding, (tick, _)) = (found(&report), dropped.get().expect("there was a change"));
    assert_eq!((finding.verdict.cause, finding.tick), (Cause::HaloMissing, tick.next()));
    assert!(finding.verdict.blamed.is_empty(), "{report}");
    assert_eq!(report.peers[finding.odd[0]].player, PlayerId(1));
}

#[test]
fn a_halo_that_is_too_narrow_is_named() {
    let settings = RelaySettings { repairs_max: 100, ..small() };
    let mut session = Relayed::lacking(1, settings);
    session.enter(4);
    session.play(400, 40);
    let report = check(session.recordings());
    let finding = found(&report);
    assert_eq!(finding.verdict.cause, Cause::HaloMissing);
    assert!(finding.verdict.blamed.is_empty() && !finding.odd.contains(&0), "{report}");
    assert!(finding.verdict.reasons[0].contains("cells that it needs"), "{report}");
}

#[test]
fn parts_that_never_meet_show_nothing() {
    let mut session = Relayed::new(small());
    session.enter(8);
    session.play(60, 0);
    let recordings = session.recordings();
    let covers = recordings.iter().map(|recording| {
        let report = verify(recording.clone(), &build).expect("it is of this game");
        assert!(report.is_in_step(), "{report}");
        report.peers[0].covers.clone()
    });
    let covers: Vec<_> = covers.collect();
    let apart = |a: usize, b: usize| {
        let meet = |a: usize, b: usize| {
            let halos = covers[a].iter().map(|covered| covered.extent.halo);
            halos.clone().any(|halo| covers[b].iter().any(|covered| !halo.intersection(covered.extent.core).is_empty()))
        };
        !meet(a, b) && !meet(b, a)
    };
    let pairs = (1..9).flat_map(|a| (a + 1..9).map(move |b| (a, b)));
    let (a, b) = pairs.into_iter().find(|&(a, b)| apart(a, b)).expect("some never met");
    let report = check(vec![recordings[a].clone(), recordings[b].clone()]);
    assert!(report.shows_nothing() && !report.is_in_step());
    assert_eq!(report.shared, Some(0));
    assert!(report.to_string().contains("NOT SHOWN: no two recordings have a cell in common"), "{report}");
    assert!(page(&report).contains("no two of them have a cell in common"));
}
