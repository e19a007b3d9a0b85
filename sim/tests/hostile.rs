//! Snapshots made by hand to break a world: refused, or stepped without harm.

mod storm;

use lockstone_sim::codec::{CodecError, compact};
use lockstone_sim::{CellId, Checksum, Entity, EntityId, Fx, PlayerId, Simulation, Tick, Turn, Vec2};
use storm::{Kind, Soul, StormWorld, Weather};

/// The layout of a serialised snapshot: tick, facts, cells with their light and entities.
type Snapshot = (Tick, u64, Vec<(CellId, u8, Vec<Entity<Soul>>)>);

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
    let one = |cell, light, entities| (Tick(7), 0, vec![(cell, light, entities)]);
    let refused: [(&str, Snapshot); 9] = [
        ("no such cell", one(CellId::new(24, 0), 1, vec![])),
        ("too bright", one(HERE, 6, vec![])),
        ("cells out of order", (Tick(7), 0, vec![(NEXT, 1, vec![]), (HERE, 1, vec![])])),
        ("a cell twice", (Tick(7), 0, vec![(HERE, 1, vec![]), (HERE, 1, vec![])])),
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
    let twins = (Tick(7), 0, vec![(HERE, 5, vec![hero(1, at(15, 12), 1)]), (NEXT, 5, vec![hero(1, at(16, 12), 2)])]);
    assert!(stepped(&twins).is_err(), "in two cells");
    let lists = vec![mob(1, at(12, 12), Kind::Nest), mob(1, at(12, 12), Kind::Mine { armed: false })];
    assert!(stepped(&(Tick(7), 0, vec![(HERE, 5, lists)])).is_err(), "in two lists");
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
    let end = (Tick(u32::MAX), u64::MAX, vec![(HERE, 5, crowd)]);
    assert_eq!(stepped(&end), stepped(&end));
    assert!(stepped(&end).is_ok());
}

#[test]
fn heroes_in_the_dark_and_light_without_heroes_do_no_harm() {
    let dark = vec![(HERE, 0, vec![hero(1, at(12, 12), 1)]), (NEXT, 5, vec![])];
    assert!(stepped(&(Tick(7), 0, dark)).is_ok());
    let corner = CellId::new(23, 23);
    let edge = Vec2::new(Fx::int(96) - Fx::EPSILON, Fx::int(96) - Fx::EPSILON);
    assert!(stepped(&(Tick(7), 0, vec![(corner, 5, vec![hero(1, edge, u16::MAX)])])).is_ok());
}
