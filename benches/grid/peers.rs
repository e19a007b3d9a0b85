//! [`rstar`], an R*-tree, and [`flat_spatial`], a sparse grid with cells of the same size.
//!
//! Neither has watchers: what each sees is asked for anew, and compared with the last answer.

use flat_spatial::grid::GridHandle;
use lockstone_sim::{CellId, CellRect, Grid, Vec2};
use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree};

use crate::crowd::{Contender, Crowd, Tell};

/// What each watcher saw last, and which things were met of late.
struct Last {
    seen: Vec<Vec<u32>>,
    met: Vec<u32>,
    meeting: u32,
}

impl Last {
    fn new(crowd: &Crowd) -> Last {
        Last { seen: vec![Vec::new(); crowd.movers], met: vec![0; crowd.places.len()], meeting: 0 }
    }

    /// Tells what has changed in what each watcher sees.
    fn compare<I: Iterator<Item = u32>>(&mut self, see: impl Fn(usize) -> I, tell: &mut Tell<'_>) {
        let mut now = Vec::new();
        for (watcher, last) in self.seen.iter_mut().enumerate() {
            self.meeting += 2;
            last.iter().for_each(|&thing| self.met[thing as usize] = self.meeting);
            now.clear();
            now.extend(see(watcher));
            for &thing in &now {
                if std::mem::replace(&mut self.met[thing as usize], self.meeting + 1) != self.meeting {
                    tell(watcher as u32, thing, true);
                }
            }
            let gone = last.iter().filter(|&&thing| self.met[thing as usize] == self.meeting);
            gone.for_each(|&thing| tell(watcher as u32, thing, false));
            std::mem::swap(last, &mut now);
        }
    }
}

/// A position in tiles: exact, for these worlds are small. An R-tree of whole numbers would have to
/// be of 64 bits: areas in steps of [`lockstone_sim::Fx`] overflow 32, and the tree decays.
fn tiles(at: Vec2) -> [f32; 2] {
    [at.x, at.y].map(|along| along.to_bits() as f32 / 4096.0)
}

/// The first and the last position of a rectangle.
fn corners(grid: &Grid, cells: CellRect) -> ([f32; 2], [f32; 2]) {
    let beyond = grid.corner(CellId::new(cells.high.x + 1, cells.high.y + 1));
    (tiles(grid.corner(cells.low)), tiles(beyond).map(|along| along - 1.0 / 4096.0))
}

type Spot = GeomWithData<[f32; 2], u32>;

pub struct Rstar {
    tree: RTree<Spot>,
    /// Where the tree has the movers.
    places: Vec<Vec2>,
    last: Last,
}

fn spot(at: Vec2, thing: usize) -> Spot {
    GeomWithData::new(tiles(at), thing as u32)
}

fn see(tree: &RTree<Spot>, crowd: &Crowd, watcher: usize) -> impl Iterator<Item = u32> {
    let (low, high) = corners(&crowd.grid, crowd.area(watcher));
    tree.locate_in_envelope(AABB::from_corners(low, high)).map(|spot| spot.data)
}

impl Contender for Rstar {
    fn new(crowd: &Crowd) -> Rstar {
        let spots = crowd.places.iter().enumerate().map(|(thing, &at)| spot(at, thing)).collect();
        Rstar { tree: RTree::bulk_load(spots), places: crowd.moving().to_vec(), last: Last::new(crowd) }
    }

    fn move_all(&mut self, crowd: &Crowd) {
        for (thing, (before, &at)) in self.places.iter_mut().zip(crowd.moving()).enumerate() {
            self.tree.remove(&spot(*before, thing)).expect("it is in the tree");
            self.tree.insert(spot(at, thing));
            *before = at;
        }
    }

    fn ask_all(&self, crowd: &Crowd) -> usize {
        (0..crowd.movers).map(|watcher| see(&self.tree, crowd, watcher).count()).sum()
    }

    fn watch_all(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        let Rstar { tree, last, .. } = self;
        last.compare(|watcher| see(tree, crowd, watcher), tell);
    }

    fn tick(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        self.move_all(crowd);
        self.watch_all(crowd, tell);
    }
}

pub struct FlatSpatial {
    grid: flat_spatial::Grid<u32, [f32; 2]>,
    movers: Vec<GridHandle>,
    last: Last,
}

fn find(grid: &flat_spatial::Grid<u32, [f32; 2]>, crowd: &Crowd, watcher: usize) -> impl Iterator<Item = GridHandle> {
    let (low, high) = corners(&crowd.grid, crowd.area(watcher));
    grid.query(low, high).map(|(handle, _)| handle)
}

impl Contender for FlatSpatial {
    fn new(crowd: &Crowd) -> FlatSpatial {
        let mut grid = flat_spatial::Grid::new(crowd.grid.cell_tiles());
        let handles = (0..).zip(&crowd.places).map(|(thing, &at)| grid.insert(tiles(at), thing));
        let mut movers: Vec<GridHandle> = handles.collect();
        movers.truncate(crowd.movers);
        FlatSpatial { grid, movers, last: Last::new(crowd) }
    }

    fn move_all(&mut self, crowd: &Crowd) {
        for (&handle, &at) in self.movers.iter().zip(crowd.moving()) {
            self.grid.set_position(handle, tiles(at));
        }
        self.grid.maintain();
    }

    fn ask_all(&self, crowd: &Crowd) -> usize {
        (0..crowd.movers).map(|watcher| find(&self.grid, crowd, watcher).count()).sum()
    }

    fn watch_all(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        let FlatSpatial { grid, last, .. } = self;
        let thing = |handle| *grid.get(handle).expect("it is in the grid").1;
        last.compare(|watcher| find(grid, crowd, watcher).map(thing), tell);
    }

    fn tick(&mut self, crowd: &Crowd, tell: &mut Tell<'_>) {
        self.move_all(crowd);
        self.watch_all(crowd, tell);
    }
}
