//! Snapshots made by hand to break a world, and what a part must not be given: refused, or
//! stepped without harm.

use lockstone_sim::codec::{CodecError, compact};
use lockstone_sim::world::Given;
use lockstone_sim::{
    Area, CellId, CellRect, Checksum, Entity, EntityId, Extent, Fx, Input, PlayerId, Simulation, Tick, Turn, Vec2,
    tamper,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use testkit::storm::{Kind, Soul, StormWorld, Turns, Weather};

/// The layout of a serialised snapshot: tick, facts, no part, cells with their light and entities.
type Snapshot = (Tick, u64, Option<Part>, Vec<Cell>);
type Part = (CellRect, CellRect);
type Cell = (CellId, u8, Vec<Entity<Soul>>);

const HERE: CellId = CellId::new(3, 3);
const NEXT: CellId = CellId::new(4, 3);

fn weather() -> Weather {
    Weather { light: 5, stride: Fx::int(4), ..Weather::of(500) }
}

fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::int(x), Fx::int(y))
}

fn soul(id: u64, pos: Vec2, player: Option<u16>, kind: Kind) -> Entity<Soul> {
    let body = Soul { kind, energy: 9, heading: pos, memory: 0 };
    Entity { id: EntityId(id), pos, player: player.map(PlayerId), body }
}

fn hero(id: u64, pos: Vec2, player: u16) -> Entity<Soul> {
    soul(id, pos, Some(player), Kind::Hero)
}

fn mob(id: u64, pos: Vec2, kind: Kind) -> Entity<Soul> {
    soul(1 << 63 | id, pos, None, kind)
}

/// Restores the snapshot and steps it; the checksums of the steps, or why it is refused.
fn stepped(snapshot: &Snapshot) -> Result<Vec<Checksum>, CodecError> {
    let mut world: StormWorld = weather().world();
    let read = world.decode(&compact(snapshot))?;
    world.restore(&read);
    let step = |_| {
        world.step(&Turn::EMPTY);
        world.checksum()
    };
    Ok((0..50).map(step).collect())
}

#[test]
fn what_no_world_can_hold_is_refused() {
    let one = |cell, light, entities| (Tick(7), 0, None, vec![(cell, light, entities)]);
    let refused: [(&str, Snapshot); 9] = [
        ("no such cell", one(CellId::new(24, 0), 1, vec![])),
        ("too bright", one(HERE, 6, vec![])),
        ("cells out of order", (Tick(7), 0, None, vec![(NEXT, 1, vec![]), (HERE, 1, vec![])])),
        ("a cell twice", (Tick(7), 0, None, vec![(HERE, 1, vec![]), (HERE, 1, vec![])])),
        ("out of its cell", one(HERE, 1, vec![mob(1, at(16, 12), Kind::Nest)])),
        ("out of the world", one(CellId::new(23, 23), 1, vec![mob(1, at(96, 95), Kind::Nest)])),
        ("a hero's id without player", one(HERE, 1, vec![soul(1, at(12, 12), None, Kind::Chaser)])),
        ("a player without hero's id", one(HERE, 1, vec![soul(1 << 63, at(12, 12), Some(1), Kind::Hero)])),
        ("a player twice", one(HERE, 1, vec![hero(1, at(12, 12), 1), hero(2, at(12, 12), 1)])),
    ];
    for (what, snapshot) in refused {
        assert!(matches!(stepped(&snapshot), Err(CodecError::Malformed(_))), "{what}");
    }
}

#[test]
fn two_entities_of_one_id_are_refused_wherever_they_are() {
    let twins =
        (Tick(7), 0, None, vec![(HERE, 5, vec![hero(1, at(15, 12), 1)]), (NEXT, 5, vec![hero(1, at(16, 12), 2)])]);
    assert!(stepped(&twins).is_err(), "in two cells");
    let lists = vec![mob(1, at(12, 12), Kind::Nest), mob(1, at(12, 12), Kind::Mine { armed: false })];
    assert!(stepped(&(Tick(7), 0, None, vec![(HERE, 5, lists)])).is_err(), "in two lists");
}

#[test]
fn a_world_at_the_end_of_time_goes_on() {
    let crowd = vec![
        hero(1, at(12, 12), 1),
        mob(1, at(13, 13), Kind::Chaser),
        mob(2, at(14, 13), Kind::Nest),
        mob(3, at(15, 15), Kind::Bomb),
        mob(4, at(15, 15), Kind::Mine { armed: false }),
    ];
    let end = (Tick(u32::MAX), u64::MAX, None, vec![(HERE, 5, crowd)]);
    assert_eq!(stepped(&end), stepped(&end));
    assert!(stepped(&end).is_ok());
}

#[test]
fn heroes_in_the_dark_and_light_without_heroes_do_no_harm() {
    let dark = vec![(HERE, 0, vec![hero(1, at(12, 12), 1)]), (NEXT, 5, vec![])];
    assert!(stepped(&(Tick(7), 0, None, dark)).is_ok());
    let corner = CellId::new(23, 23);
    let edge = Vec2::new(Fx::int(96) - Fx::EPSILON, Fx::int(96) - Fx::EPSILON);
    assert!(stepped(&(Tick(7), 0, None, vec![(corner, 5, vec![hero(1, edge, u16::MAX)])])).is_ok());
}

/// A part in the midst of a storm, and the cells that are stored in it.
fn part() -> (StormWorld, Vec<CellId>) {
    let (mut world, mut turns) = (weather().world(), Turns::of(&weather()));
    for _ in 0..30 {
        let turn = turns.next(&world);
        world.step(&turn);
    }
    let area = Area::around(world.grid(), CellRect { low: CellId::new(6, 6), high: CellId::new(16, 16) });
    tamper::set_area(&mut world, area);
    let mut cells: Vec<CellId> = world.cells().collect();
    cells.sort();
    (world, cells)
}

fn give(world: &mut StormWorld, given: Vec<Given>) {
    world.step(&Turn { inputs: given.into_iter().map(Input::Given).collect() });
}

/// What is stored is sound, and a snapshot of it can be read.
fn check_sound(world: &mut StormWorld) {
    let taken = world.snapshot();
    let read = world.decode(&world.encode(&taken)).expect("own bytes decode");
    let checksum = world.checksum();
    let players: Vec<PlayerId> = world.players().collect();
    assert!(players.iter().all(|&player| world.hero(player).is_some_and(|hero| hero.player == Some(player))));
    world.restore(&read);
    assert_eq!((world.checksum(), world.players().collect()), (checksum, players));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_part_is_given_it_goes_on(
        given in vec((any::<[u16; 6]>(), any::<Index>(), vec(any::<u8>(), 0..60)), 1..8),
    ) {
        let (mut world, cells) = part();
        for (n, cell, bytes) in given {
            let cell = if n[1] % 8 == 0 { CellId::new(n[2] % 40, n[3] % 40) } else { *cell.get(&cells) };
            let rect = |a: u16, b: u16| CellRect { low: CellId::new(a % 64, a >> 10), high: CellId::new(b % 64, b >> 10) };
            let given = match n[0] % 8 {
                0 => Given::Area(Extent { core: rect(n[2], n[3]), halo: rect(n[4], n[5]) }),
                1 => Given::Pristine(cell),
                2 | 3 => Given::Cell(cell, bytes),
                _ => Given::Change(cell, bytes),
            };
            give(&mut world, std::vec![given]);
            check_sound(&mut world);
        }
    }

    #[test]
    fn damaged_cells_and_changes_do_no_harm(
        damage in vec((any::<Index>(), any::<Index>(), 1..=255_u8, any::<bool>(), any::<bool>()), 1..20),
    ) {
        let (mut world, cells) = part();
        for (cell, at, by, is_change, elsewhere) in damage {
            let cell = *cell.get(&cells);
            let Some(state) = world.cell_state(cell) else { continue };
            let change = state.change_since(&world.pristine(cell).expect("a cell of the world"));
            let mut bytes = change.filter(|_| is_change).unwrap_or_else(|| state.encode());
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            let cell = if elsewhere { cells[0] } else { cell };
            let given = if is_change { Given::Change(cell, bytes) } else { Given::Cell(cell, bytes) };
            give(&mut world, std::vec![given]);
            check_sound(&mut world);
        }
    }
}

#[test]
fn a_whole_world_is_given_nothing() {
    let (mut world, mut other) = (weather().world(), weather().world());
    let all = CellRect { low: CellId::new(0, 0), high: CellId::new(9, 9) };
    give(&mut world, std::vec![Given::Area(Extent { core: all, halo: all }), Given::Cell(HERE, std::vec![5, 0])]);
    other.step(&Turn::EMPTY);
    assert_eq!((world.checksum(), *world.area()), (other.checksum(), Area::Whole));
}
