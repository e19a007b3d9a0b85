//! A part that is driven by turns alone: what it is given comes as bytes, as it would from a relay,
//! and its core comes out equal to the whole world's, to the bit.

use std::collections::BTreeMap;

use lockstone_sim::world::{CellState, Given, Request, Zone};
use lockstone_sim::{Area, CellId, CellRect, Dice, Extent, Input, Simulation, Tick, Turn};
use testkit::storm::{Storm, StormWorld, Turns, Weather, table};

/// What a relay does wrong.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The halo is one ring too narrow.
    Narrow,
    /// Of many changes one is not passed on.
    Skips,
    /// A leave in the halo is not passed on, though the same player joins in the core.
    Stays,
}

type Before = BTreeMap<CellId, Option<CellState<Storm>>>;

/// One replica as the relay sees it: its area, which wanders.
struct View {
    area: Area,
    dice: Dice<'static>,
    fault: Fault,
}

impl View {
    fn of(weather: &Weather, fault: Fault) -> View {
        let dice = table().dice(weather.seed ^ 0x91_7e4, Tick(0));
        View { area: Area::NOTHING, dice, fault }
    }

    fn rings(&self, whole: &StormWorld) -> u16 {
        whole.grid().halo_rings() - u16::from(self.fault == Fault::Narrow)
    }

    /// The inputs that this replica needs.
    fn inputs(&self, turn: &Turn<StormWorld>, start: &BTreeMap<u16, CellId>, after: &StormWorld) -> Turn<StormWorld> {
        let thinks = |player: u16| start.get(&player).is_some_and(|&cell| self.area.zone(cell) >= Zone::Fringe);
        let is_core = |cell| self.area.zone(cell) == Zone::Core;
        let enters = |input: &Input<StormWorld>, leaver| match input {
            Input::Join(player, join) => *player == leaver && is_core(after.grid().cell_of(join.at)),
            _ => false,
        };
        let returns = |player| self.fault != Fault::Stays && turn.inputs.iter().any(|input| enters(input, player));
        let mut transfers = after.transferred().iter();
        let wanted = |input: &&Input<StormWorld>| match input {
            Input::Leave(player) => thinks(player.0) || returns(*player),
            Input::Command(player, _) | Input::Away(player) | Input::Back(player) => thinks(player.0),
            Input::Join(_, join) => is_core(after.grid().cell_of(join.at)),
            Input::Request(Request::Announce(_)) => true,
            Input::Request(Request::Transfer { .. }) => {
                transfers.next().expect("one for each").is_some_and(|(from, to)| is_core(from) && is_core(to))
            }
            Input::Given(_) => false,
        };
        Turn { inputs: turn.inputs.iter().filter(wanted).cloned().collect() }
    }

    /// What it is given after the step.
    fn given(&mut self, before: &Before, after: &StormWorld) -> Vec<Given> {
        let mut given = Vec::new();
        for &cell in after.touched() {
            if matches!(self.area.zone(cell), Zone::Halo | Zone::Fringe) {
                self.give_change(cell, before, after, &mut given);
            }
        }
        for &(from, to) in after.transferred().iter().flatten() {
            let core = [from, to].into_iter().filter(|&cell| self.area.zone(cell) == Zone::Core);
            if core.clone().count() == 1 {
                given.extend(core.map(|cell| Given::Cell(cell, encoded(after, cell))));
            }
        }
        if self.area == Area::NOTHING || self.dice.chance(1, 5) {
            self.move_area(after, &mut given);
        }
        given
    }

    fn give_change(&mut self, cell: CellId, before: &Before, after: &StormWorld, given: &mut Vec<Given>) {
        let old = before[&cell].clone().or_else(|| after.pristine(cell)).expect("a cell of the world");
        let new = after.cell_state(cell).expect("what is touched is stored");
        let Some(change) = new.change_since(&old) else {
            assert!(new == old, "a change that is not told");
            return;
        };
        assert!(old.changed(&change, cell, after.grid()).expect("own bytes fit") == new);
        if self.fault != Fault::Skips || !self.dice.chance(1, 300) {
            given.push(Given::Change(cell, change));
        }
    }

    /// Goes to another area. What is new to it is given, in one of the ways there are.
    fn move_area(&mut self, after: &StormWorld, given: &mut Vec<Given>) {
        let (grid, before) = (after.grid(), self.area);
        let core = self.next_core();
        let loaded_ahead = self.dice.range(0..=2) * i32::from(self.fault != Fault::Narrow);
        let halo = core.grown(grid, self.rings(after) + loaded_ahead as u16);
        let extent = Extent { core, halo };
        self.area = Area::of(grid, extent);
        given.push(Given::Area(extent));
        for cell in halo.iter().filter(|&cell| before.zone(cell) == Zone::Outside) {
            match after.cell_state(cell) {
                None if self.dice.chance(1, 2) => given.push(Given::Pristine(cell)),
                None => {}
                Some(state) if self.dice.chance(1, 2) => {
                    let change = state.change_since(&after.pristine(cell).expect("a cell of the world"));
                    let unchanged = || Given::Cell(cell, state.encode());
                    given.push(change.map_or_else(unchanged, |change| Given::Change(cell, change)));
                }
                Some(_) => given.push(Given::Cell(cell, encoded(after, cell))),
            }
        }
    }

    /// Mostly one cell on; now and then elsewhere, of another size.
    fn next_core(&mut self) -> CellRect {
        let last = i32::from(Weather::CELLS) - 1;
        let rect = |x: i32, y: i32, width: i32, height: i32| CellRect {
            low: CellId::new(x as u16, y as u16),
            high: CellId::new((x + width).min(last) as u16, (y + height).min(last) as u16),
        };
        match self.area.core_rect().filter(|core| !core.is_empty()) {
            Some(CellRect { low, high }) if !self.dice.chance(1, 12) => {
                let step = |n: u16, dice: &mut Dice| (i32::from(n) + dice.range(-1..=1)).clamp(0, last);
                let (x, y) = (step(low.x, &mut self.dice), step(low.y, &mut self.dice));
                rect(x, y, i32::from(high.x - low.x), i32::from(high.y - low.y))
            }
            _ => {
                let (x, y) = (self.dice.range(0..=20), self.dice.range(0..=20));
                rect(x, y, self.dice.range(0..=13), self.dice.range(0..=13))
            }
        }
    }
}

fn encoded(world: &StormWorld, cell: CellId) -> Vec<u8> {
    let state = world.cell_state(cell).expect("it is stored");
    let bytes = state.encode();
    assert!(CellState::decode(&bytes, cell, world.grid()).expect("own bytes decode") == state);
    bytes
}

/// Plays a storm in the whole and in a part. Returns how many core cells differed, how many were
/// compared, and at which tick the checksums of the part first differed.
fn play(weather: &Weather, ticks: u32, fault: Fault) -> (u64, u64, Option<u32>) {
    let (mut whole, mut part, turns) = (weather.world(), weather.world(), Turns::of(weather));
    // How often a fault shows was measured without.
    let mut turns = match fault {
        Fault::None => turns.with_absences().with_returns(),
        Fault::Stays => turns.with_returns(),
        Fault::Narrow | Fault::Skips => turns,
    };
    let mut view = View::of(weather, fault);
    // A replica comes late, and begins with an outline.
    for _ in 0..10 {
        let turn = turns.next(&whole);
        whole.step(&turn);
    }
    let outline = part.decode(&whole.encode(&whole.outline())).expect("own bytes decode");
    part.restore(&outline);
    let (mut wrong, mut compared, mut found) = (0, 0, None);
    for tick in 0..ticks {
        let before: Before = whole.grid().all().iter().map(|cell| (cell, whole.cell_state(cell))).collect();
        let at = |player| whole.hero(player).map(|hero| (player.0, whole.grid().cell_of(hero.pos)));
        let start: BTreeMap<u16, CellId> = whole.players().filter_map(at).collect();
        let turn = turns.next(&whole);
        whole.step(&turn);
        let simulated = view.area.core_rect().expect("a part");
        let mut relayed = view.inputs(&turn, &start, &whole);
        relayed.inputs.extend(view.given(&before, &whole).into_iter().map(Input::Given));
        part.step(&relayed);
        assert_eq!(*part.area(), view.area, "tick {tick}");
        let was_given = |cell| relayed.inputs.iter().any(|input| cell_given(input) == Some(cell));
        let is_told = |cell: CellId| simulated.contains(cell) || was_given(cell);
        assert!(part.touched().iter().all(|&cell| is_told(cell)), "tick {tick}: a cell that is none of its concern");
        for cell in simulated.iter().filter(|&cell| view.area.zone(cell) != Zone::Outside) {
            compared += 1;
            wrong += u64::from(part.cell_state(cell) != whole.cell_state(cell));
        }
        let core = view.area.core_rect().expect("a part");
        if found.is_none() && part.part_checksum(core) != whole.part_checksum(core) {
            found = Some(tick);
            assert_ne!(part.part_tree(core), whole.part_tree(core), "tick {tick}");
        }
        if fault != Fault::None && found.is_some() {
            break;
        }
        if tick % 50 == 49 {
            part = resumed(weather, &mut part);
        }
    }
    (wrong, compared, found)
}

fn cell_given(input: &Input<StormWorld>) -> Option<CellId> {
    match input {
        Input::Given(Given::Pristine(cell) | Given::Cell(cell, _) | Given::Change(cell, _)) => Some(*cell),
        _ => None,
    }
}

/// Another world, which goes on from the bytes of a snapshot.
fn resumed(weather: &Weather, part: &mut StormWorld) -> StormWorld {
    let taken = part.snapshot();
    let bytes = part.encode(&taken);
    let mut other = weather.world();
    let read = other.decode(&bytes).expect("own bytes decode");
    assert_eq!(other.encode(&read), bytes);
    other.restore(&read);
    assert_eq!((other.checksum(), *other.area()), (part.checksum(), *part.area()));
    other
}

fn check(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds {
        let weather = Weather::of(seed);
        let (wrong, cells, found) = play(&weather, 500, Fault::None);
        assert_eq!((wrong, found), (0, None), "seed {seed}: of {cells} cell-ticks in {weather:?}");
        compared += cells;
    }
    println!("{compared} cell-ticks compared");
    assert!(compared > 400_000, "only {compared} cell-ticks compared");
}

#[test]
fn a_part_that_is_given_its_halo_by_turns_is_exact() {
    check(0..25);
}

#[test]
fn a_part_that_is_given_its_halo_by_turns_is_exact_in_other_storms() {
    check(2000..2025);
}

#[test]
fn a_relay_that_gives_too_little_is_found() {
    for (fault, least) in [(Fault::Narrow, 6), (Fault::Skips, 12), (Fault::Stays, 6)] {
        let found = (0..24).filter(|&seed| play(&Weather::of(seed), 300, fault).2.is_some()).count();
        assert!(found >= least, "found only in {found} of 24 storms");
    }
}

#[test]
fn what_is_not_told_as_touched_is_as_it_was() {
    for seed in 30..42 {
        let weather = Weather::of(seed);
        let (mut world, mut turns) = (weather.world(), Turns::of(&weather).with_absences());
        for tick in 0..200 {
            let before: Before = world.grid().all().iter().map(|cell| (cell, world.cell_state(cell))).collect();
            let turn = turns.next(&world);
            world.step(&turn);
            let mut touched = world.touched().to_vec();
            touched.sort();
            assert!(touched.is_sorted_by(|a, b| a < b), "seed {seed}, tick {tick}: a cell is told twice");
            for (cell, state) in before.iter().filter(|(cell, _)| touched.binary_search(cell).is_err()) {
                assert!(*state == world.cell_state(*cell), "seed {seed}, tick {tick}: {cell}");
            }
            // Nor does a look at the checksum hide anything.
            if tick % 3 == 0 {
                world.checksum();
            }
        }
    }
}
