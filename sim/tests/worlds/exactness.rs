//! Core and halo: a part of the world, given its halo, comes out equal to the whole
//! world, to the bit.

use lockstone_sim::world::Zone;
use lockstone_sim::{Area, CellId, CellRect, Extent, Simulation, Tick, tamper};
use testkit::storm::{Turns, Weather, relayed, table, transfer};

/// A rectangle of core cells that wanders over the world.
struct Core {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    dice: lockstone_sim::Dice<'static>,
}

impl Core {
    fn of(weather: &Weather) -> Core {
        let mut dice = table().dice(weather.seed ^ 0xc03e, Tick(0));
        Core {
            x: dice.range(0..=20),
            y: dice.range(0..=20),
            width: dice.range(1..=14),
            height: dice.range(1..=14),
            dice,
        }
    }

    fn wander(&mut self) {
        if self.dice.chance(1, 60) {
            (self.x, self.y) = (self.dice.range(0..=20), self.dice.range(0..=20));
        }
        if self.dice.chance(1, 4) {
            self.x = (self.x + self.dice.range(-1..=1)).clamp(0, 22);
            self.y = (self.y + self.dice.range(-1..=1)).clamp(0, 22);
        }
    }

    fn rect(&self) -> CellRect {
        let high = |from: i32, len: i32| (from + len).min(i32::from(Weather::CELLS)) as u16 - 1;
        CellRect {
            low: CellId::new(self.x as u16, self.y as u16),
            high: CellId::new(high(self.x, self.width), high(self.y, self.height)),
        }
    }
}

/// Counts the core cells that differ from the whole world's, over all ticks. `missing_rings` halo
/// rings are left out.
fn wrong_cell_ticks(weather: &Weather, ticks: u32, missing_rings: u16) -> (u64, u64) {
    let (mut whole, mut part) = (weather.world(), weather.world());
    let (mut turns, mut core) = (Turns::of(weather).with_absences(), Core::of(weather));
    let rings = whole.grid().halo_rings() - missing_rings;
    let (mut wrong, mut compared) = (0, 0);
    for tick in 0..ticks {
        let before = *part.area();
        let area = Area::of(whole.grid(), Extent { core: core.rect(), halo: core.rect().grown(whole.grid(), rings) });
        // An area that stays is not set again: the step alone must keep everything in order.
        if area != before {
            tamper::set_area(&mut part, area);
        }
        // Only what was neither core nor halo comes as a snapshot: the halo that becomes core
        // is exact already.
        let is_new = |cell: &CellId| tick == 0 || before.zone(*cell) == Zone::Outside;
        for cell in area.halo().chain(area.core()).filter(is_new) {
            tamper::put(&mut part, cell, whole.cell_state(cell).as_ref());
        }
        let turn = turns.next(&whole);
        part.step(&relayed(&turn, &whole, &area));
        whole.step(&turn);
        // What is transferred from beyond the area comes as the state of the cell it enters.
        for (_, to) in turn.inputs.iter().filter_map(transfer) {
            let cell = whole.grid().cell_of(to);
            if area.zone(cell) == Zone::Core {
                tamper::put(&mut part, cell, whole.cell_state(cell).as_ref());
            }
        }
        for cell in area.core() {
            compared += 1;
            wrong += u64::from(part.cell_state(cell) != whole.cell_state(cell));
        }
        if wrong == 0 {
            area.core().for_each(|cell| assert_eq!(part.cell_checksum(cell), whole.cell_checksum(cell)));
        }
        if missing_rings > 0 && wrong > 0 {
            break;
        }
        for cell in area.halo() {
            tamper::put(&mut part, cell, whole.cell_state(cell).as_ref());
        }
        core.wander();
    }
    (wrong, compared)
}

/// Runs storms over a part and the whole, and counts the cell-ticks that were compared.
fn check(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds {
        let weather = Weather::of(seed);
        let (wrong, cells) = wrong_cell_ticks(&weather, 500, 0);
        assert_eq!(wrong, 0, "seed {seed}: {wrong} of {cells} cell-ticks differ in {weather:?}");
        compared += cells;
    }
    println!("{compared} cell-ticks compared");
    assert!(compared > 1_000_000, "only {compared} cell-ticks compared");
}

#[test]
fn every_core_cell_equals_the_whole_worlds() {
    check(0..50);
}

#[test]
fn every_core_cell_equals_the_whole_worlds_in_other_storms() {
    check(1000..1050);
}

#[test]
fn with_one_ring_fewer_differences_are_found() {
    let found = (0..24).filter(|&seed| wrong_cell_ticks(&Weather::of(seed), 300, 1).0 > 0).count();
    println!("found in {found} of 24 storms");
    assert!(found >= 6, "only in {found} of 24");
}
