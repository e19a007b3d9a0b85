//! Things that stand, things that walk, and what keeps track of them.

use lockstone_sim::{Angle, CellRect, Fx, Grid, GridConfig, Vec2, mix64};

/// What is measured.
pub struct Scene {
    pub name: &'static str,
    pub things: u32,
    /// How many of the things move and watch: the first ones.
    pub movers: u32,
    /// The world is so many cells wide and high.
    pub cells: u16,
    pub rounds: usize,
    pub peer_rounds: usize,
}

/// Told of a watcher, a thing, and whether it came.
pub type Tell<'t> = dyn FnMut(u32, u32, bool) + 't;

/// Who keeps track.
pub trait Contender {
    /// Everything is there, nobody watches yet.
    fn new(crowd: &Crowd) -> Self;
    /// Takes over where the movers are.
    fn move_all(&mut self, crowd: &Crowd);
    /// How many things are in the movers' areas, in all.
    fn ask_all(&self, crowd: &Crowd) -> usize;
    /// Every mover begins to watch.
    fn watch_all(&mut self, crowd: &Crowd, tell: &mut Tell<'_>);
    /// Takes over where the movers are, and tells what came and went.
    fn tick(&mut self, crowd: &Crowd, tell: &mut Tell<'_>);
}

/// Where all are. A cell is 8 tiles of 1.25 m; who walks does 5 m a second at 20 ticks a second,
/// straight on until the world's edge.
pub struct Crowd {
    pub grid: Grid,
    /// Movers first.
    pub places: Vec<Vec2>,
    pub movers: usize,
    ways: Vec<Vec2>,
}

impl Crowd {
    pub fn new(scene: &Scene) -> Crowd {
        let config = GridConfig {
            width_cells: scene.cells,
            height_cells: scene.cells,
            cell_log2: 3,
            reach: Fx::int(4),
            ..GridConfig::default()
        };
        let grid = Grid::new(config).expect("it can be");
        let steps = u64::from(scene.cells) * 8 * 4096;
        let along = |n: u32| Fx::from_bits((mix64(n.into()) % steps) as i32);
        let places = (0..scene.things).map(|n| Vec2::new(along(2 * n), along(2 * n + 1))).collect();
        let stride = Fx::from_bits(4096 / 5);
        let way = |n: u32| Vec2::from_angle(Angle::degrees((mix64(!u64::from(n)) % 360) as i32), stride);
        Crowd { grid, places, movers: scene.movers as usize, ways: (0..scene.movers).map(way).collect() }
    }

    pub fn step(&mut self) {
        for (place, way) in self.places.iter_mut().zip(&mut self.ways) {
            let next = self.grid.clamp(*place + *way);
            if next != *place + *way {
                *way = -*way;
            }
            *place = next;
        }
    }

    /// What a mover watches.
    pub fn area(&self, mover: usize) -> CellRect {
        self.grid.block(self.grid.cell_of(self.places[mover]), 3)
    }

    pub fn moving(&self) -> &[Vec2] {
        &self.places[..self.movers]
    }
}
