//! Paths and flow fields against a plain Dijkstra on random grids; proptest prints the
//! seed of what fails.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use lockstone_sim::codec;
use lockstone_sim::path::{DIAGONAL_COST, Direction, FlowField, Path, Pathfinder, STRAIGHT_COST, Tile, TileGrid};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const NO_CAP: u32 = u32::MAX;

/// Rows of text, `.` for open.
fn drawn(rows: &[&str]) -> TileGrid {
    let mut grid = TileGrid::new(rows[0].len() as i32, rows.len() as i32);
    for (y, row) in (0..).zip(rows) {
        for (x, mark) in (0..).zip(row.chars()) {
            grid.set_open(Tile::new(x, y), mark == '.');
        }
    }
    grid
}

/// A cave: noise from a linear congruential generator, smoothed four times.
fn cave(seed: u64, side: i32) -> TileGrid {
    let inner = || (1..side - 1).flat_map(move |y| (1..side - 1).map(move |x| Tile::new(x, y)));
    let mut grid = TileGrid::new(side, side);
    let mut state = seed;
    for tile in inner() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        grid.set_open(tile, (state >> 33) % 100 < 57);
    }
    for _ in 0..4 {
        let before = grid.clone();
        for tile in inner() {
            let open_around = Direction::ALL.iter().filter(|direction| before.is_open(tile.step(**direction))).count();
            grid.set_open(tile, open_around + usize::from(before.is_open(tile)) >= 5);
        }
    }
    grid
}

fn any_grid(side_max: i32) -> impl Strategy<Value = TileGrid> {
    (1..=side_max, 1..=side_max, 35..95_u32).prop_flat_map(|(width, height, open_percent)| {
        let tiles = prop::collection::vec(0..100_u32, (width * height) as usize);
        tiles.prop_map(move |tiles| {
            let mut grid = TileGrid::new(width, height);
            for (n, draw) in (0..).zip(tiles) {
                grid.set_open(Tile::new(n % width, n / width), draw < open_percent);
            }
            grid
        })
    })
}

/// A tile on or a little off the grids of [`any_grid`].
fn any_tile() -> impl Strategy<Value = Tile> {
    (-2..26, -2..26).prop_map(|(x, y)| Tile::new(x, y))
}

/// Two tiles, half of the time near each other: on random grids only short lines are ever clear.
fn any_line() -> impl Strategy<Value = (Tile, Tile)> {
    let near = (any_tile(), -4..=4, -4..=4).prop_map(|(a, dx, dy)| (a, Tile::new(a.x + dx, a.y + dy)));
    prop_oneof![near, (any_tile(), any_tile())]
}

/// The rule of steps, said once more and plainly.
fn step_is_allowed(grid: &TileGrid, from: Tile, to: Tile) -> bool {
    let corners = [from, to, Tile::new(from.x, to.y), Tile::new(to.x, from.y)];
    from != to && from.x.abs_diff(to.x) <= 1 && from.y.abs_diff(to.y) <= 1 && corners.iter().all(|t| grid.is_open(*t))
}

fn step_cost(from: Tile, to: Tile) -> u32 {
    if from.x != to.x && from.y != to.y { DIAGONAL_COST } else { STRAIGHT_COST }
}

/// The cost of the cheapest ways from a tile to all others within a square around it.
fn dijkstra(grid: &TileGrid, from: Tile, radius: u32) -> BTreeMap<Tile, u32> {
    let mut costs = BTreeMap::new();
    let mut queue = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((cost, tile))) = queue.pop() {
        if !grid.is_open(tile) || costs.contains_key(&tile) {
            continue;
        }
        costs.insert(tile, cost);
        for next in Direction::ALL.map(|direction| tile.step(direction)) {
            let near = next.x.abs_diff(from.x).max(next.y.abs_diff(from.y)) <= radius;
            if near && step_is_allowed(grid, tile, next) {
                queue.push(Reverse((cost + step_cost(tile, next), next)));
            }
        }
    }
    costs
}

/// The lower bound on the way between two tiles.
fn octile(a: Tile, b: Tile) -> u32 {
    let (dx, dy) = (a.x.abs_diff(b.x), a.y.abs_diff(b.y));
    STRAIGHT_COST * dx.abs_diff(dy) + DIAGONAL_COST * dx.min(dy)
}

/// Walks a path tile by tile; checks every step and gives the sum of their costs.
fn walked(grid: &TileGrid, path: &Path) -> u32 {
    let mut tile = path.from;
    let mut cost = 0;
    for waypoint in &path.waypoints {
        let (dx, dy) = (waypoint.x - tile.x, waypoint.y - tile.y);
        assert!(dx == 0 || dy == 0 || dx.abs() == dy.abs(), "{tile} to {waypoint} is no straight run");
        while tile != *waypoint {
            let next = Tile::new(tile.x + dx.signum(), tile.y + dy.signum());
            assert!(step_is_allowed(grid, tile, next), "{tile} to {next} in {grid:?}");
            cost += step_cost(tile, next);
            tile = next;
        }
    }
    cost
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_piece_is_what_the_whole_is_there(
        whole in any_grid(150),
        (width, height) in (0..150, 0..20),
        corner in (-80..160, -8..160).prop_map(|(x, y)| Tile::new(x, y)),
    ) {
        let mut piece = TileGrid::new(width, height);
        (0..width).for_each(|x| piece.set_open(Tile::new(x, 0), true));
        piece.copy_from(&whole, corner);
        let mut plain = TileGrid::new(width, height);
        for n in 0..width * height {
            let tile = Tile::new(n % width, n / width);
            plain.set_open(tile, whole.is_open(Tile::new(corner.x + tile.x, corner.y + tile.y)));
        }
        prop_assert!(piece == plain);
    }

    #[test]
    fn a_path_costs_what_dijkstra_says(grid in any_grid(24), from in any_tile(), to in any_tile()) {
        let Some(path) = Pathfinder::new().find(&grid, from, to, NO_CAP) else {
            prop_assert!(!grid.is_open(from));
            return Ok(());
        };
        let costs = dijkstra(&grid, from, NO_CAP);
        prop_assert_eq!(path.from, from);
        prop_assert_eq!(walked(&grid, &path), path.cost);
        prop_assert_eq!(path.cost, costs[&path.end()]);
        prop_assert_eq!(path.reached, costs.contains_key(&to));
        prop_assert_eq!(path.reached, path.end() == to);
    }

    #[test]
    fn an_unreached_goal_is_approached_as_near_as_can_be(grid in any_grid(24), from in any_tile(), to in any_tile()) {
        let Some(path) = Pathfinder::new().find(&grid, from, to, NO_CAP) else { return Ok(()) };
        let goal = Tile::new(to.x.clamp(0, grid.width() - 1), to.y.clamp(0, grid.height() - 1));
        let costs = dijkstra(&grid, from, NO_CAP);
        let nearest = costs.iter().map(|(tile, cost)| (octile(*tile, goal), *cost)).min().unwrap();
        prop_assert_eq!((octile(path.end(), goal), path.cost), nearest);
    }

    #[test]
    fn a_capped_search_keeps_to_its_cap(grid in any_grid(24), from in any_tile(), to in any_tile(), cap in 0..60_u32) {
        let Some(path) = Pathfinder::new().find(&grid, from, to, cap) else { return Ok(()) };
        let uncapped = Pathfinder::new().find(&grid, from, to, NO_CAP).unwrap();
        prop_assert!(path.expansions <= cap);
        prop_assert_eq!(path.cost, walked(&grid, &path));
        prop_assert_eq!(path.cost, dijkstra(&grid, from, NO_CAP)[&path.end()]);
        if uncapped.expansions <= cap {
            prop_assert_eq!(&path, &uncapped);
        }
        // One more expansion never ends farther away.
        let next = Pathfinder::new().find(&grid, from, to, cap + 1).unwrap();
        let goal = Tile::new(to.x.clamp(0, grid.width() - 1), to.y.clamp(0, grid.height() - 1));
        prop_assert!(octile(next.end(), goal) <= octile(path.end(), goal));
    }

    #[test]
    fn used_memory_finds_what_fresh_memory_finds(
        searches in prop::collection::vec((any_grid(24), any_tile(), any_tile(), 0..400_u32, 0..20_u8), 1..6),
    ) {
        let mut used = Pathfinder::new();
        let mut used_field = FlowField::new();
        for (grid, from, to, cap, radius) in searches {
            prop_assert_eq!(used.find(&grid, from, to, cap), Pathfinder::new().find(&grid, from, to, cap));
            let mut field = FlowField::new();
            used_field.fill(&grid, from, radius);
            field.fill(&grid, from, radius);
            for tile in grid.open_tiles() {
                prop_assert_eq!(used_field.cost(tile), field.cost(tile));
                prop_assert_eq!(used_field.direction(tile), field.direction(tile));
            }
        }
    }

    #[test]
    fn a_taut_path_keeps_its_ends_and_stays_in_sight(grid in any_grid(24), from in any_tile(), to in any_tile()) {
        let Some(path) = Pathfinder::new().find(&grid, from, to, NO_CAP) else { return Ok(()) };
        let mut taut = path.clone();
        taut.pull_taut(&grid);
        prop_assert_eq!(taut.end(), path.end());
        prop_assert!(taut.waypoints.iter().all(|tile| path.waypoints.contains(tile)));
        let mut tile = from;
        for next in taut.waypoints {
            prop_assert!(grid.line_of_sight(tile, next));
            tile = next;
        }
    }

    #[test]
    fn sight_is_the_same_both_ways(grid in any_grid(24), (a, b) in any_line()) {
        prop_assert_eq!(grid.line_of_sight(a, b), grid.line_of_sight(b, a));
    }

    #[test]
    fn sight_is_blocked_by_exactly_the_tiles_that_the_line_touches(grid in any_grid(24), (a, b) in any_line()) {
        // A tile is touched if not all of its corners lie on one side of the line, within the
        // rectangle that the line spans.
        let side = |x: i32, y: i32| (2 * x - 2 * a.x) * (b.y - a.y) - (2 * y - 2 * a.y) * (b.x - a.x);
        let touched = |tile: Tile| {
            let turn = b.x.abs_diff(a.x) as i32 + b.y.abs_diff(a.y) as i32;
            side(tile.x, tile.y).abs() <= turn
        };
        let columns = a.x.min(b.x)..=a.x.max(b.x);
        let rows = a.y.min(b.y)..=a.y.max(b.y);
        let clear = columns.flat_map(|x| rows.clone().map(move |y| Tile::new(x, y))).all(|t| !touched(t) || grid.is_open(t));
        prop_assert_eq!(grid.line_of_sight(a, b), clear);
    }

    #[test]
    fn a_flow_field_costs_what_dijkstra_says(grid in any_grid(24), goal in any_tile(), radius in 0..20_u8) {
        let mut field = FlowField::new();
        field.fill(&grid, goal, radius);
        let costs = dijkstra(&grid, goal, radius.into());
        for tile in (-3..27).flat_map(|y| (-3..27).map(move |x| Tile::new(x, y))) {
            prop_assert_eq!(field.cost(tile), costs.get(&tile).copied(), "at {}", tile);
            let first_best = costs.get(&tile).and_then(|cost| {
                Direction::ALL.into_iter().find(|direction| {
                    let next = tile.step(*direction);
                    let rest = costs.get(&next);
                    step_is_allowed(&grid, tile, next) && rest.is_some_and(|rest| rest + step_cost(tile, next) == *cost)
                })
            });
            prop_assert_eq!(field.direction(tile), first_best, "at {}", tile);
            prop_assert_eq!(first_best.is_some(), tile != goal && costs.contains_key(&tile));
        }
    }

    #[test]
    fn a_grid_holds_what_it_was_told(
        (width, height) in (0..140_i32, 0..140_i32),
        changes in prop::collection::vec((-2..142_i32, -2..142_i32, any::<bool>()), 0..300),
    ) {
        let mut grid = TileGrid::new(width, height);
        let mut open = std::collections::BTreeSet::new();
        for (x, y, opens) in changes {
            grid.set_open(Tile::new(x, y), opens);
            match opens && x >= 0 && y >= 0 && x < width && y < height {
                true => open.insert((y, x)),
                false => open.remove(&(y, x)),
            };
        }
        let held: Vec<_> = grid.open_tiles().map(|tile| (tile.y, tile.x)).collect();
        prop_assert_eq!(held, open.into_iter().collect::<Vec<_>>());
        for tile in (-1..=height).flat_map(|y| (-1..=width).map(move |x| Tile::new(x, y))) {
            for direction in Direction::ALL {
                let allowed = step_is_allowed(&grid, tile, tile.step(direction));
                prop_assert_eq!(grid.can_step(tile, direction), allowed);
            }
        }
    }
}

/// Held on every machine and in every build. If a change of the search is meant to change paths,
/// the values are in the failure.
#[test]
fn a_path_is_the_same_on_every_machine() {
    let path = Pathfinder::new().find(&cave(3, 256), Tile::new(6, 6), Tile::new(250, 250), NO_CAP).unwrap();
    assert!(path.reached);
    assert_eq!((path.cost, path.waypoints.len(), path.expansions), (26_896, 47, 16_790));
    assert_eq!(xxh3_64(&codec::compact(&path)), 685_105_442_463_299_173);
}

#[test]
fn a_flow_field_is_the_same_on_every_machine() {
    let grid = cave(3, 256);
    let mut field = FlowField::new();
    field.fill(&grid, Tile::new(6, 6), 64);
    let held: Vec<_> = grid.open_tiles().map(|tile| (field.cost(tile), field.direction(tile))).collect();
    assert_eq!(held.iter().filter(|(cost, _)| cost.is_some()).count(), 3_336);
    assert_eq!(xxh3_64(&codec::compact(&held)), 14_392_745_956_450_260_617);
}

#[test]
fn a_path_turns_only_at_its_waypoints() {
    let grid = drawn(&[
        "......", //
        ".####.", "......",
    ]);
    let path = Pathfinder::new().find(&grid, Tile::new(0, 1), Tile::new(5, 1), NO_CAP).unwrap();
    assert_eq!(path.cost, 7 * STRAIGHT_COST);
    assert_eq!(path.waypoints.len(), 3);
    assert_eq!(path.end(), Tile::new(5, 1));
}

#[test]
fn no_path_and_no_sight_squeezes_past_a_corner() {
    let (a, b) = (Tile::new(0, 0), Tile::new(1, 1));
    for (rows, reached) in [([".#", "#."], false), ([".#", ".."], true), (["..", "#."], true)] {
        let grid = drawn(&rows);
        assert!(!grid.line_of_sight(a, b));
        let path = Pathfinder::new().find(&grid, a, b, NO_CAP).unwrap();
        assert_eq!((path.reached, path.cost), (reached, if reached { 2 * STRAIGHT_COST } else { 0 }));
    }
}

#[test]
fn where_one_stands_is_reached_at_no_cost() {
    let grid = drawn(&["..."]);
    for cap in [0, 1, NO_CAP] {
        let path = Pathfinder::new().find(&grid, Tile::new(1, 0), Tile::new(1, 0), cap).unwrap();
        assert_eq!((path.reached, path.cost, path.waypoints), (true, 0, vec![]));
    }
}

#[test]
fn nothing_starts_on_a_blocked_tile_or_off_the_grid() {
    let grid = drawn(&[".#."]);
    for (x, y) in [(1, 0), (-1, 0), (3, 0), (0, 1), (i32::MIN, i32::MAX)] {
        assert_eq!(Pathfinder::new().find(&grid, Tile::new(x, y), Tile::new(0, 0), NO_CAP), None);
    }
    assert_eq!(Pathfinder::new().find(&TileGrid::new(0, 0), Tile::new(0, 0), Tile::new(0, 0), NO_CAP), None);
}

#[test]
fn a_click_into_a_wall_leads_to_the_wall() {
    let grid = drawn(&[
        ".....###", //
        ".....###", ".....###",
    ]);
    let path = Pathfinder::new().find(&grid, Tile::new(0, 1), Tile::new(6, 1), NO_CAP).unwrap();
    assert_eq!((path.reached, path.end()), (false, Tile::new(4, 1)));
    assert_eq!(path.expansions, 5, "it looks no farther once it is there");
}

#[test]
fn a_goal_deep_in_rock_is_approached_past_the_corner_of_what_is_looked_at_first() {
    let mut grid = TileGrid::new(60, 60);
    let goal = Tile::new(30, 30);
    let corner = Tile::new(goal.x + 16, goal.y + 16);
    let nearest = Tile::new(goal.x + 17, goal.y);
    grid.set_open(corner, true);
    for y in nearest.y..=corner.y {
        grid.set_open(Tile::new(nearest.x, y), true);
    }
    let path = Pathfinder::new().find(&grid, corner, goal, NO_CAP).unwrap();
    assert_eq!((path.reached, path.end()), (false, nearest));
}

#[test]
fn a_goal_anywhere_off_the_grid_stands_for_the_nearest_tile() {
    let grid = drawn(&["....", "....", "...."]);
    for (goal, end) in [
        (Tile::new(9, 1), Tile::new(3, 1)),
        (Tile::new(i32::MIN, i32::MIN), Tile::new(0, 0)),
        (Tile::new(i32::MAX, i32::MAX), Tile::new(3, 2)),
    ] {
        let path = Pathfinder::new().find(&grid, Tile::new(1, 1), goal, NO_CAP).unwrap();
        assert_eq!((path.reached, path.end()), (false, end));
    }
}

#[test]
fn a_flow_field_without_an_open_goal_leads_nowhere() {
    let grid = drawn(&["..#.."]);
    let mut field = FlowField::new();
    assert_eq!(field.cost(Tile::new(0, 0)), None);
    for goal in [Tile::new(2, 0), Tile::new(9, 9), Tile::new(i32::MIN, i32::MAX), Tile::new(i32::MAX, i32::MIN)] {
        field.fill(&grid, Tile::new(0, 0), 4);
        field.fill(&grid, goal, 255);
        for tile in [goal, Tile::new(0, 0), Tile::new(i32::MIN, i32::MIN), Tile::new(i32::MAX, i32::MAX)] {
            assert_eq!((field.cost(tile), field.direction(tile)), (None, None));
        }
    }
}
