//! Presence, compared with a plain model after every call: who came, who went, in which
//! order, who is where.

use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{CellId, CellRect, Fx, Grid, GridConfig, Presence, PresenceEvent, Vec2};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Call {
    Insert(u32, Vec2),
    Move(u32, Vec2),
    Remove(u32),
    Watch(u32, CellRect),
    /// Watches what is watched already, shifted by so many columns and rows.
    Shift(u32, i8, i8),
    Unwatch(u32),
}

/// The same with sets: whatever is asked is computed anew from where all are.
struct Model {
    grid: Grid,
    things: BTreeMap<u32, CellId>,
    watchers: BTreeMap<u32, CellRect>,
}

impl Model {
    fn new(grid: Grid) -> Model {
        Model { grid, things: BTreeMap::new(), watchers: BTreeMap::new() }
    }

    /// Everyone who is seen, by whom. Ordered as one watcher's events are.
    fn seen(&self) -> BTreeSet<(u32, CellId, u32)> {
        let sees = |(&watcher, &rect): (&u32, &CellRect)| {
            let seen = self.things.iter().filter(move |&(_, &cell)| has(rect, cell));
            seen.map(move |(&thing, &cell)| (watcher, cell, thing)).collect::<Vec<_>>()
        };
        self.watchers.iter().flat_map(sees).collect()
    }

    /// Whether the call is possible, and what it tells.
    fn call(&mut self, call: &Call) -> (bool, Vec<PresenceEvent>) {
        let before = self.seen();
        let done = match *call {
            Call::Insert(thing, at) if thing < Presence::IDS && !self.things.contains_key(&thing) => {
                self.things.insert(thing, self.grid.cell_of(at));
                true
            }
            Call::Move(thing, at) if self.things.contains_key(&thing) => {
                self.things.insert(thing, self.grid.cell_of(at));
                true
            }
            Call::Insert(..) | Call::Move(..) => false,
            Call::Remove(thing) => self.things.remove(&thing).is_some(),
            Call::Watch(watcher, _) if watcher >= Presence::IDS => false,
            Call::Watch(watcher, rect) => {
                self.watchers.remove(&watcher);
                let corners = || rect.iter().filter(|&cell| self.grid.contains(cell));
                if let (Some(low), Some(high)) = (corners().min(), corners().max()) {
                    self.watchers.insert(watcher, CellRect { low, high });
                }
                true
            }
            Call::Unwatch(watcher) => self.watchers.remove(&watcher).is_some(),
            Call::Shift(..) => unreachable!("it was turned into a watch"),
        };
        let pair = |&(watcher, _, thing): &(u32, CellId, u32)| (watcher, thing);
        let after = self.seen();
        let without = |these: &BTreeSet<_>, those: &BTreeSet<_>, entered| {
            let those: BTreeSet<_> = those.iter().map(pair).collect();
            let only = these.iter().map(pair).filter(move |pair| !those.contains(pair));
            only.map(|(watcher, thing)| PresenceEvent { watcher, thing, entered }).collect::<Vec<_>>()
        };
        (done, [without(&before, &after, false), without(&after, &before, true)].concat())
    }
}

fn has(rect: CellRect, cell: CellId) -> bool {
    (rect.low.x..=rect.high.x).contains(&cell.x) && (rect.low.y..=rect.high.y).contains(&cell.y)
}

fn rect(low: (u16, u16), high: (u16, u16)) -> CellRect {
    CellRect { low: CellId::new(low.0, low.1), high: CellId::new(high.0, high.1) }
}

fn grid(width_cells: u16, height_cells: u16) -> Grid {
    Grid::new(GridConfig { width_cells, height_cells, cell_log2: 1, ..GridConfig::default() }).expect("it can be")
}

/// The middle of a cell of [`grid`]. It may lie outside the world.
fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::int(2 * x + 1), Fx::int(2 * y + 1))
}

fn shifted(rect: CellRect, (x, y): (i8, i8)) -> CellRect {
    let shifted =
        |cell: CellId| CellId::new(cell.x.saturating_add_signed(x.into()), cell.y.saturating_add_signed(y.into()));
    CellRect { low: shifted(rect.low), high: shifted(rect.high) }
}

/// Few ids, so that the same are met again; and now and then one that cannot be.
fn id() -> impl Strategy<Value = u32> {
    prop_oneof![40 => 0_u32..12, 1 => Just(Presence::IDS), 1 => Just(u32::MAX)]
}

fn place() -> impl Strategy<Value = Vec2> {
    let far = (any::<i32>(), any::<i32>()).prop_map(|(x, y)| Vec2::new(Fx::from_bits(x), Fx::from_bits(y)));
    prop_oneof![12 => (-3..40, -3..40).prop_map(|(x, y)| at(x, y)), 1 => far]
}

fn area() -> impl Strategy<Value = CellRect> {
    let near = (0_u16..40, 0_u16..40, 0_u16..12, 0_u16..30).prop_map(|(x, y, w, h)| rect((x, y), (x + w, y + h)));
    let any = (0_u16..40, 0_u16..40, 0_u16..40, 0_u16..40).prop_map(|(a, b, c, d)| rect((a, b), (c, d)));
    prop_oneof![6 => near, 3 => any, 1 => Just(rect((0, 0), (300, 300)))]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (id(), place()).prop_map(|(thing, at)| Call::Insert(thing, at)),
        8 => (id(), place()).prop_map(|(thing, at)| Call::Move(thing, at)),
        1 => id().prop_map(Call::Remove),
        4 => (id(), area()).prop_map(|(watcher, area)| Call::Watch(watcher, area)),
        8 => (id(), -9_i8..10, -9_i8..10).prop_map(|(watcher, x, y)| Call::Shift(watcher, x, y)),
        4 => (id(), -1_i8..2, -1_i8..2).prop_map(|(watcher, x, y)| Call::Shift(watcher, x, y)),
        1 => id().prop_map(Call::Unwatch),
    ]
}

fn make(presence: &mut Presence, call: &Call) -> bool {
    match *call {
        Call::Insert(thing, at) => presence.insert(thing, at),
        Call::Move(thing, at) => presence.move_to(thing, at),
        Call::Remove(thing) => presence.remove(thing),
        Call::Watch(watcher, area) => presence.watch(watcher, area),
        Call::Unwatch(watcher) => presence.unwatch(watcher),
        Call::Shift(..) => unreachable!("it was turned into a watch"),
    }
}

/// What can be asked, against the model.
fn check_queries(presence: &Presence, model: &Model, asked: CellRect) {
    let mut inside: Vec<_> = model.things.iter().filter(|&(_, &cell)| has(asked, cell)).collect();
    inside.sort_by_key(|&(&thing, &cell)| (cell, thing));
    assert!(presence.things(asked).eq(inside.iter().map(|&(&thing, _)| thing)), "the things of {asked:?}");
    for cell in [asked.low, asked.high] {
        let watching = model.watchers.iter().filter(|&(_, &rect)| has(rect, cell));
        assert!(presence.watchers(cell).eq(watching.map(|(&watcher, _)| watcher)), "the watchers of {cell}");
    }
    for id in (0..12).chain([Presence::IDS, u32::MAX]) {
        assert_eq!(presence.cell(id), model.things.get(&id).copied());
        assert_eq!(presence.watched(id), model.watchers.get(&id).copied());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_call_tells_what_a_plain_model_tells(
        width in 1_u16..38,
        height in 1_u16..38,
        crowd in prop::collection::vec((area(), area()), 0..40),
        calls in prop::collection::vec((call(), area()), 1..120),
    ) {
        let grid = grid(width, height);
        let (mut presence, mut model) = (Presence::new(&grid), Model::new(grid));
        let crowd = (100..).zip(crowd).map(|(watcher, (area, asked))| (Call::Watch(watcher, area), asked));
        for (call, asked) in crowd.chain(calls) {
            let call = match call {
                Call::Shift(watcher, x, y) => {
                    let Some(&rect) = model.watchers.get(&watcher) else { continue };
                    Call::Watch(watcher, shifted(rect, (x, y)))
                }
                call => call,
            };
            let (done, told) = model.call(&call);
            prop_assert_eq!(make(&mut presence, &call), done, "{:?}", call);
            prop_assert_eq!(presence.events().collect::<Vec<_>>(), told, "{:?}", call);
            check_queries(&presence, &model, asked);
        }
    }
}

#[test]
fn the_order_does_not_depend_on_who_came_first() {
    let grid = grid(30, 30);
    let told = |things: [u32; 3], watchers: [u32; 3]| {
        let mut presence = Presence::new(&grid);
        things.iter().for_each(|&thing| assert!(presence.insert(thing, at(5, 5))));
        watchers.iter().for_each(|&watcher| assert!(presence.watch(watcher, grid.block(CellId::new(5, 5), 3))));
        presence.events().for_each(drop);
        presence.move_to(7, at(20, 20));
        presence.watch(2, grid.block(CellId::new(20, 20), 3));
        presence.events().map(|event| (event.watcher, event.thing, event.entered)).collect::<Vec<_>>()
    };
    let expected = [(1, 7, false), (2, 7, false), (3, 7, false), (2, 6, false), (2, 8, false), (2, 7, true)];
    assert_eq!(told([6, 7, 8], [1, 2, 3]), expected);
    assert_eq!(told([8, 6, 7], [3, 1, 2]), expected);
}

#[test]
fn events_are_kept_until_they_are_drained() {
    let mut presence = Presence::new(&grid(8, 8));
    presence.watch(0, rect((0, 0), (3, 3)));
    presence.insert(0, at(3, 3));
    presence.move_to(0, at(4, 3));
    presence.move_to(0, at(3, 3));
    let entered: Vec<bool> = presence.events().map(|event| event.entered).collect();
    assert_eq!(entered, [true, false, true], "nothing is merged");
    assert_eq!(presence.events().count(), 0);
}

#[test]
fn hostile_numbers_change_nothing() {
    let mut presence = Presence::new(&grid(8, 8));
    for id in [Presence::IDS, u32::MAX] {
        assert!(!presence.insert(id, at(1, 1)), "out of range");
        assert!(!presence.watch(id, rect((0, 0), (7, 7))), "out of range");
        assert!(!presence.move_to(id, at(1, 1)) && !presence.remove(id) && !presence.unwatch(id), "unknown");
    }
    assert!(presence.insert(Presence::IDS - 1, at(1, 1)) && presence.remove(Presence::IDS - 1), "the last in range");
    assert!(presence.insert(1, at(1, 1)) && !presence.insert(1, at(2, 2)), "twice");
    assert_eq!(presence.cell(1), Some(CellId::new(1, 1)), "who is there stays");
    assert!(presence.remove(1) && !presence.remove(1), "twice");
    assert!(!presence.move_to(1, at(1, 1)), "gone");
    assert!(presence.watch(1, rect((0, 0), (7, 7))) && presence.unwatch(1) && !presence.unwatch(1), "twice");
    assert_eq!(presence.events().count(), 0);
    assert_eq!(presence.watchers(CellId::new(u16::MAX, u16::MAX)).count(), 0);
    assert_eq!(presence.things(rect((9, 9), (u16::MAX, u16::MAX))).count(), 0);
}

#[test]
fn a_rectangle_is_cut_off_at_the_edge_and_none_is_no_watch() {
    let mut presence = Presence::new(&grid(8, 8));
    presence.insert(0, Vec2::new(Fx::MAX, Fx::MAX));
    presence.watch(0, rect((6, 6), (u16::MAX, u16::MAX)));
    assert_eq!(presence.watched(0), Some(rect((6, 6), (7, 7))));
    assert_eq!(presence.events().map(|event| event.entered).collect::<Vec<_>>(), [true], "outside counts as the edge");
    for nothing in [rect((7, 7), (6, 6)), rect((0, 5), (7, 4)), rect((8, 0), (9, 7))] {
        presence.watch(0, rect((7, 7), (7, 7)));
        assert!(presence.watch(0, nothing));
        assert_eq!(presence.watched(0), None);
    }
}

#[test]
fn the_widest_world_is_as_good_as_a_small_one() {
    let widest = grid(65_535, 65_535);
    let mut presence = Presence::new(&widest);
    let (near, far) = (CellId::new(0, 0), CellId::new(65_534, 65_534));
    presence.insert(0, widest.corner(far));
    presence.watch(0, widest.block(far, 3));
    presence.watch(1, widest.block(near, 3));
    presence.move_to(0, widest.corner(near));
    let told: Vec<_> = presence.events().map(|event| (event.watcher, event.entered)).collect();
    assert_eq!(told, [(0, true), (0, false), (1, true)]);
    assert_eq!(presence.things(widest.block(near, u16::MAX - 60_000)).collect::<Vec<_>>(), [0]);
}
