//! What a viewer of recordings shows: two worlds of one tick, the cells that differ, and where a
//! difference came from.

use std::collections::BTreeMap;

use lockstone::check;
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::Recording;
use lockstone::scene::AreaKind;
use lockstone::sim::{CellId, PlayerId, Rules, Simulation, Tick, Turn, World};
use lockstone::viewer::cone::LightCone;
use lockstone::viewer::playing::{Act, Playing};
use lockstone::viewer::{Found, Side, Viewer};
use testkit::faulty::{self, Fault, Faulty};
use testkit::flips::dice;
use testkit::pasture::{self, Wrong};
use testkit::recorded::Peer;
use testkit::tampered::{entities, turn_any};

const SEED: u64 = 11;
const TICKS: u32 = 160;
/// When a bit is turned over.
const ODD: Tick = Tick(60);
const ADA: PlayerId = PlayerId(0);

fn peer(n: u16) -> Peer {
    let mut peer = Peer::new(n, SEED);
    (peer.header.game, peer.header.identity) = (Faulty::NAME.into(), Faulty::identity(&default_table()));
    peer
}

fn recorded(peer: &Peer, tamper: impl FnMut(&mut faulty::Sim)) -> Recording<faulty::Sim> {
    let (mut world, mut tamper) = (faulty::world(SEED, Fault::None), tamper);
    peer.record(&mut world, &faulty::turns(SEED, 3, TICKS), |world| {
        tamper(world);
        None
    })
}

fn sound() -> Recording<faulty::Sim> {
    recorded(&peer(0), |_| ())
}

/// A bit of an entity is turned over, the same whenever it is asked.
fn turn_over<R: Rules>(world: &mut World<R>, case: u64) {
    let parts = entities(world);
    let (_, turned) = turn_any(world, &parts, &mut dice(case));
    world.restore(&turned);
}

fn odd(peer: &Peer) -> Recording<faulty::Sim> {
    recorded(peer, |world| {
        if world.tick() == ODD {
            turn_over(world, 3);
        }
    })
}

fn viewer(recordings: Vec<Recording<faulty::Sim>>) -> Viewer {
    Viewer::open::<Faulty>(recordings, &default_table()).expect("they can be played")
}

/// What the checker finds of them, as a worker tells it.
fn found(recordings: &[Recording<faulty::Sim>]) -> Found {
    let report = check::compare_of::<Faulty>(recordings.to_vec(), &default_table(), &|_| ()).expect("of one session");
    let found = Found::from(report.finding.as_ref().expect("they differ"));
    serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap()
}

fn sentence(viewer: &Viewer) -> &str {
    &viewer.compared().expect("there are two").sentence
}

#[test]
fn a_light_cone_holds_every_cell_from_which_a_difference_came() {
    let mut followed = 0;
    for case in 0..6 {
        let build = || faulty::world(case, Fault::None);
        followed += follow([build(), build()], &faulty::turns(case, 3, 100), case);
        let build = || pasture::world(case, Wrong::Nothing);
        followed += follow([build(), build()], &pasture::turns(case, 100), case);
    }
    assert!(followed > 200, "{followed} cells differed");
}

/// Turns a bit over in one of two equal worlds, and plays both on: every cell that comes to differ
/// leads back there. Returns how many did.
fn follow<R: Rules>([mut ours, mut theirs]: [World<R>; 2], turns: &[Turn<World<R>>], case: u64) -> usize {
    let (before, after) = turns[..65].split_at(40);
    before.iter().for_each(|turn| ours.step(turn));
    theirs.restore(&ours.snapshot());
    turn_over(&mut theirs, case);
    let began = ours.tick();
    let (mut differing, mut followed) = (BTreeMap::new(), 0);
    for turn in after {
        let tick = ours.tick();
        differing.insert(tick, check::locate(&mut ours, &mut theirs).cells);
        let planted = &differing[&began];
        for cell in &differing[&tick] {
            let cone = LightCone::of(ours.grid(), *cell, tick, &differing);
            let step =
                cone.at(began).unwrap_or_else(|| panic!("case {case}: the way back from {cell} at {tick} breaks off"));
            assert_eq!(&step.suspects, planted, "case {case}: {cell} at {tick}");
            assert!(planted.iter().all(|cell| step.cells.contains(*cell)), "case {case}: {cell} at {tick}");
            followed += 1;
        }
        ours.step(turn);
        theirs.step(turn);
    }
    followed
}

#[test]
fn what_differs_farther_away_than_a_tick_reaches_led_to_nothing() {
    let world = faulty::world(SEED, Fault::None);
    let (rings, cell) = (world.grid().halo_rings(), CellId::new(9, 9));
    for (away, led) in [(rings, true), (rings + 1, false)] {
        let far = CellId::new(9 - away, 9);
        let differing = BTreeMap::from([(Tick(4), vec![]), (Tick(5), vec![far]), (Tick(6), vec![cell])]);
        let cone = LightCone::of(world.grid(), cell, Tick(6), &differing);
        let began = if led { (Tick(5), &[far][..]) } else { (Tick(6), &[cell][..]) };
        assert_eq!(cone.began(), Some(began), "{away} rings away");
    }
}

#[test]
fn worlds_are_compared_as_far_as_recordings_tell_them() {
    let mut bram = peer(1);
    bram.keyframe_at = Some(Tick(90));
    let mut viewer = viewer(vec![sound(), odd(&bram)]);
    viewer.put_beside(Some(1));
    viewer.look(Tick(59), ADA);
    assert_eq!(sentence(&viewer), "Both worlds are equal.");
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram: as it was recorded");
    // What it had before its own state is on record nowhere.
    viewer.look(Tick(70), ADA);
    assert_eq!(
        sentence(&viewer),
        "Both pictures show one world, though another checksum was recorded: what Bram had at this tick is not known. \
         Its state of tick 90 is."
    );
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram: as its turns lead to, its recorder had another world");
    viewer.look(Tick(95), ADA);
    let cells = viewer.compared().unwrap().cells.clone();
    assert!(!cells.is_empty() && sentence(&viewer).contains(&cells[0].to_string()), "{}", sentence(&viewer));
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram: as it was recorded");
    // That is not where it began.
    viewer.pick(Some(cells[0]));
    let told = &viewer.chosen().unwrap().sentences;
    let known = told.last().unwrap();
    assert!(known.starts_with("The difference is known from tick 90 on, in "), "{told:?}");
    assert!(known.ends_with(": what Bram had before is on record nowhere."), "{told:?}");
    // Whichever way one comes there.
    for way in [vec![0, 95], vec![TICKS, 95], vec![89, 90, 91, 92, 93, 94, 95], vec![95]] {
        way.iter().for_each(|tick| viewer.look(Tick(*tick), ADA));
        assert_eq!(viewer.compared().unwrap().cells, cells, "by {way:?}");
    }
}

#[test]
fn what_the_checker_found_is_shown_from_the_first_differing_tick_on() {
    let recordings = [sound(), odd(&peer(1))];
    let mut viewer = viewer(recordings.to_vec());
    assert_eq!(viewer.take(&found(&recordings)), ODD);
    assert_eq!((viewer.looked_at(), viewer.beside()), (0, Some(1)));
    viewer.look(ODD, ADA);
    let [cell] = viewer.compared().unwrap().cells[..] else { panic!("{}", sentence(&viewer)) };
    assert_eq!(sentence(&viewer), format!("1 cell differs: {cell}."));
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram: as it was recorded");
    viewer.look(Tick(59), ADA);
    assert_eq!(sentence(&viewer), "Both worlds are equal.");
}

#[test]
fn a_cell_leads_back_to_where_its_difference_began() {
    let recordings = [sound(), odd(&peer(1))];
    let mut viewer = viewer(recordings.to_vec());
    viewer.take(&found(&recordings));
    viewer.look(ODD, ADA);
    let [first] = viewer.compared().unwrap().cells[..] else { panic!("{}", sentence(&viewer)) };
    viewer.look(Tick(72), ADA);
    let last = *viewer.compared().unwrap().cells.last().expect("it still differs");
    viewer.pick(Some(last));
    let chosen = viewer.chosen().expect("it has cells").clone();
    assert_eq!(chosen.cone.began(), Some((ODD, &[first][..])));
    assert_eq!(chosen.sentences[0], format!("Cell {last} differs at tick 72."));
    assert_eq!(chosen.sentences.last().unwrap(), &format!("The difference began at tick 60, in cell {first}."));
    assert!(!chosen.spots.is_empty(), "its fields are told");
    // Marks and map follow where one goes.
    viewer.look(ODD, ADA);
    let chart = viewer.chart().expect("it has cells");
    assert!(chart.marks.contains(&(first, AreaKind::Suspect)), "{chart:?}");
    assert!(chart.cone.is_some_and(|cone| cone.contains(first) && cone.len() > 1));
    let areas = viewer.scene(Side::There, 0.5).unwrap().areas;
    assert_eq!(areas.iter().map(|area| area.kind).collect::<Vec<_>>(), [AreaKind::Suspect, AreaKind::Cone]);
    let side = faulty::CELL_TILES as f32;
    assert_eq!(areas[0].low, (f32::from(first.x) * side, f32::from(first.y) * side));
    assert_eq!(viewer.cell_at((areas[0].low.0 + 0.5, areas[0].high.1 - 0.5)), Some(first));
    assert_eq!(viewer.cell_at((-0.5, 3.0)), None);
    assert_eq!(viewer.cell_at((3.0, side * f32::from(faulty::SIDE_CELLS))), None);
    viewer.pick(None);
    assert!(viewer.chosen().is_none());
}

#[test]
fn a_cell_that_is_equal_tells_that_nothing_led_to_it() {
    let mut viewer = viewer(vec![sound(), sound()]);
    viewer.put_beside(Some(1));
    viewer.look(Tick(30), ADA);
    viewer.pick(Some(CellId::new(4, 4)));
    let chosen = viewer.chosen().unwrap();
    assert_eq!(
        chosen.sentences,
        ["Cell (4, 4) is equal at tick 30.", "It could depend on 25 cells at tick 29; none of them differs."]
    );
    assert_eq!((chosen.cone.began(), chosen.spots.len()), (None, 0));
}

#[test]
fn a_recording_stands_beside_what_its_turns_alone_lead_to() {
    let recordings = [odd(&peer(1))];
    let mut viewer = viewer(recordings.to_vec());
    assert_eq!(viewer.take(&found(&recordings)), ODD);
    assert_eq!((viewer.looked_at(), viewer.beside()), (0, Some(0)));
    viewer.look(Tick(65), PlayerId(1));
    assert!(viewer.compared().unwrap().differs, "{}", sentence(&viewer));
    assert_eq!(viewer.title(Side::Here).unwrap(), "Bram: as it was recorded");
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram: what the turns alone lead to");
}

#[test]
fn a_world_of_another_seed_is_shown_as_its_recorder_had_it() {
    let bram = peer(1).record(&mut faulty::world(!SEED, Fault::None), &faulty::turns(SEED, 3, TICKS), |_| None);
    let recordings = [sound(), bram];
    let found = found(&recordings);
    assert_eq!(found.odd_world.as_ref().map(|world| world.seed), Some(!SEED));
    let mut viewer = viewer(recordings.to_vec());
    let first = viewer.take(&found);
    for tick in [first, first.plus(20), Tick(TICKS), first] {
        viewer.look(tick, ADA);
        assert!(viewer.compared().unwrap().differs, "tick {tick}: {}", sentence(&viewer));
        assert_eq!(viewer.title(Side::There).unwrap(), "Bram: as it was recorded", "tick {tick}");
    }
}

#[test]
fn worlds_of_two_ticks_are_not_compared() {
    let mut late = faulty::world(SEED, Fault::None);
    let turns = faulty::turns(SEED, 3, TICKS);
    turns[..50].iter().for_each(|turn| late.step(turn));
    let mut viewer = viewer(vec![sound(), peer(1).record(&mut late, &turns, |_| None)]);
    viewer.put_beside(Some(1));
    viewer.look(Tick(20), ADA);
    assert_eq!(sentence(&viewer), "They are not compared: the recording of Bram has ticks 50 to 160 alone.");
    assert_eq!(viewer.title(Side::There).unwrap(), "Bram, at tick 50, its first: as it was recorded");
    assert!(!viewer.compared().unwrap().differs);
    viewer.look(Tick(50), ADA);
    assert_eq!(sentence(&viewer), "Both worlds are equal.");
}

#[test]
fn playing_goes_where_keys_lead_and_stays_within_the_recording() {
    let viewer = viewer(vec![sound()]);
    let mut playing = Playing::of(viewer.recorded());
    let tick = |playing: &Playing| playing.at().0.0;
    (0..10).for_each(|_| playing.go(0.1));
    assert_eq!((tick(&playing), playing.plays()), (20, true));
    playing.go(60.0);
    assert_eq!(tick(&playing), 22, "who was away for a minute has missed nothing");
    playing.act(Act::Speed(1));
    playing.go(0.1);
    assert_eq!((tick(&playing), playing.speed()), (30, 4.0));
    for (act, at) in [
        (Act::Step(-1), 29),
        (Act::Step(2), 31),
        (Act::Leap(1), TICKS),
        (Act::Step(1), TICKS),
        (Act::Start, 0),
        (Act::Step(-1), 0),
        (Act::End, TICKS),
        (Act::To(0.5), TICKS / 2),
    ] {
        playing.act(act);
        assert_eq!((tick(&playing), playing.plays()), (at, false), "{act:?}");
    }
    assert_eq!(playing.told(), "0:04.0, tick 80, paused");
    playing.act(Act::End);
    playing.act(Act::Play);
    assert_eq!((tick(&playing), playing.plays()), (0, true), "from the start again");
    (0..30).for_each(|_| playing.go(0.1));
    assert_eq!((tick(&playing), playing.plays()), (TICKS, false), "it stops at the end");
}

#[test]
fn a_recording_of_another_tick_rate_is_played_at_its_own() {
    let mut recording = sound();
    recording.header.ticks_per_s = 50;
    let recording = Recording::read(&recording.write()).unwrap_or_else(|error| panic!("{error}"));
    let viewer = viewer(vec![recording]);
    let mut playing = Playing::of(viewer.recorded());
    (0..10).for_each(|_| playing.go(0.1));
    assert_eq!(playing.at().0, Tick(50));
    assert_eq!(playing.told(), "0:01.0, tick 50, 1 x");
    assert!((viewer.recorded().seconds(75.5) - 1.51).abs() < 1e-9);
    playing.act(Act::End);
    assert_eq!(playing.told(), "0:03.2, tick 160, paused");
    playing.act(Act::Leap(-1));
    assert_eq!(playing.at().0, Tick(0), "10 s are more than all of it");
}
