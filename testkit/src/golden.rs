//! What must come out the same on every machine and in every build.

use lockstone::sim::path::{FlowField, Pathfinder, Tile, TileGrid};
use lockstone::sim::{Angle, Checksum, Fx, Simulation, Table, Tick, Vec2, mix64};

use crate::delve::Play;
use crate::storm;

/// One line a run: its name and its digest.
pub fn golden() -> String {
    let digests =
        [("table", table()), ("numbers", numbers()), ("paths", paths()), ("storms", storms()), ("dungeon", dungeon())];
    digests.map(|(name, digest)| format!("{name} {digest:016x}\n")).concat()
}

/// Folds values into one, in order.
fn fold(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, |sum, value| mix64(sum ^ value))
}

fn table() -> u64 {
    let table = Table::generate([11; 32]);
    let digest = table.digest() as u64 ^ (table.digest() >> 64) as u64;
    let draws = (0..10_000_u32).map(|n| u64::from(table.draw(u64::from(n) * 77, Tick(n / 3), n % 9)));
    fold([digest].into_iter().chain(draws))
}

fn numbers() -> u64 {
    let angles = (0..=u16::MAX).step_by(7).map(Angle);
    fold(angles.flat_map(|angle| {
        let length = Fx::from_bits(i32::from(angle.0) * 3001);
        let vector = Vec2::from_angle(angle, length);
        let parts = [
            angle.sin(),
            angle.cos(),
            length.sqrt(),
            length / Fx::ratio(7, 3),
            length * length,
            vector.x,
            vector.y,
            vector.length(),
            vector.normalized().x,
            vector.clamp_length(Fx::int(3)).y,
        ];
        parts.map(|fx| fx.to_bits() as u64).into_iter().chain([u64::from(vector.angle().0)])
    }))
}

fn paths() -> u64 {
    let mut dice = Table::generate([12; 32]).dice(0, Tick(0));
    let mut grid = TileGrid::new(96, 96);
    for y in 0..96 {
        (0..96).for_each(|x| grid.set_open(Tile::new(x, y), dice.chance(7, 10)));
    }
    let (mut finder, mut field) = (Pathfinder::new(), FlowField::new());
    fold((0..200).flat_map(|_| {
        let mut tile = || Tile::new(dice.below(96) as i32, dice.below(96) as i32);
        let (from, to) = (tile(), tile());
        field.fill(&grid, to, 12);
        let ways = [field.cost(from).map_or(0, u64::from), field.direction(from).map_or(9, |way| way as u64)];
        let path = finder.find(&grid, from, to, 3000);
        let corners = path.iter().flat_map(|path| &path.waypoints).map(|tile| (tile.x * 96 + tile.y) as u64);
        corners.chain(path.iter().map(|path| u64::from(path.cost))).chain(ways).collect::<Vec<_>>()
    }))
}

fn storms() -> u64 {
    fold((0..4).flat_map(|seed| {
        let weather = storm::Weather::of(9000 + seed);
        let (mut world, mut turns) = (weather.world(), storm::Turns::of(&weather));
        let tick = move |_| {
            let turn = turns.next(&world);
            world.step(&turn);
            let Checksum(sum) = world.checksum();
            sum
        };
        (0..300).map(tick)
    }))
}

/// Two minutes of three bots.
fn dungeon() -> u64 {
    let mut play = Play::bots(20, 3);
    let tick = |_| {
        play.tick();
        let Checksum(sum) = play.world.checksum();
        sum
    };
    fold((0..2400).map(tick))
}
