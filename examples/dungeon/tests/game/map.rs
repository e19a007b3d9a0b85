//! The map: whole for every seed.

use dungeon::map::Map;
use dungeon::measures::BLOCK_TILES;
use lockstone::sim::path::{Pathfinder, Tile};
use lockstone::sim::{PlayerId, Table};

const SEEDS: u64 = 200;

fn maps() -> impl Iterator<Item = (u64, Map)> {
    let table = Table::generate([5; 32]);
    (0..SEEDS).map(move |seed| (seed, Map::new(seed, &table)))
}

#[test]
fn everything_open_can_be_reached() {
    for (seed, map) in maps() {
        let open: Vec<Tile> = map.tiles().open_tiles().collect();
        assert!(open.len() > 6_000, "seed {seed}: only {} open tiles", open.len());
        assert!(open.iter().all(|&tile| map.depth(tile).is_some_and(|depth| depth < u16::MAX)), "seed {seed}");
        let edge = |tile: &Tile| [tile.x, tile.y].into_iter().any(|n| n == 0 || n == BLOCK_TILES - 1);
        assert!(!open.iter().any(edge), "seed {seed}: the map is not closed");
        // The engine's own path finder, which cuts no corners, agrees.
        let mut finder = Pathfinder::new();
        for room in map.rooms() {
            let path = finder
                .find(map.tiles(), map.entrance(PlayerId(0)), room.center, u32::MAX)
                .expect("the entrance is open");
            assert!(path.reached, "seed {seed}: no way to {}", room.center);
        }
    }
}

#[test]
fn nests_and_portal_lie_apart_from_the_entrance() {
    for (seed, map) in maps() {
        let mut nests = map.nests().to_vec();
        nests.sort();
        nests.dedup();
        assert_eq!(nests.len(), map.nests().len(), "seed {seed}: two nests in one place");
        let near = map.nests().iter().chain([&map.portal()]).filter_map(|&tile| map.depth(tile)).min();
        assert!(near > Some(30), "seed {seed}: a nest or the portal is {near:?} steps from the entrance");
        assert!(!map.nests().contains(&map.portal()), "seed {seed}");
    }
}

#[test]
fn halls_and_caves_are_mixed() {
    let caves = |map: &Map| map.rooms().iter().filter(|room| room.kind == dungeon::map::RoomKind::Cave).count();
    assert!(maps().all(|(_, map)| (5..60).contains(&caves(&map))));
}

#[test]
fn a_seed_gives_one_map_and_another_seed_another() {
    let all: Vec<Map> = maps().map(|(_, map)| map).collect();
    assert_eq!(all[..3], maps().take(3).map(|(_, map)| map).collect::<Vec<_>>());
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
}
