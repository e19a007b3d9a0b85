//! What a viewer of recordings does, wherever it is shown: it goes to any tick, looks with any
//! hero's eyes, and verifies meanwhile. It shows two recordings side by side, marks the cells that
//! differ, and tells where a cell's difference came from.
//!
//! ```text
//! recordings ─► reels ─► a tick ─► scenes, marked ─► canvases of a page, a window
//!                          └─► compared ─► cells that differ ─► marks, map, light cone of a cell
//! ```
//!
//! [`Viewer`] is driven by who shows it: `view.js` in a page, `cli/looking.rs` in a window. It must
//! never say that a world is its recorder's where the recorded checksum is not met, and nothing of
//! it finds its way back into a session.

pub mod cone;
pub mod playing;
mod reel;
mod told;

use std::collections::BTreeMap;

use lockstone_sim::{CellId, Grid, PlayerId, Table, Tick};
use serde::{Deserialize, Serialize};

use crate::check::{Finding, OddWorld};
use crate::game::Game;
use crate::recording::Recording;
use crate::scene::{Area, AreaKind, Chart, Place, Scene};
use crate::view::smooth::Smooth;
use cone::LightCone;
use reel::Reel;

pub use reel::{Recorded, Verified};
pub use told::cells as told_cells;

/// So many ticks a difference is followed back from a cell.
pub const CONE_TICKS: u32 = 40;
/// Two pictures have one middle as long as their heroes are not farther apart, in tiles.
const SAME_MIDDLE_TILES: f32 = 6.0;

/// Recordings that are looked at: one, or two side by side.
pub struct Viewer {
    reels: Vec<Box<dyn Reel>>,
    told: Vec<String>,
    /// Which is looked at, and how it moves.
    here: (usize, Smooth),
    /// Which is beside it. The same one stands for what its turns alone lead to.
    there: Option<(usize, Smooth)>,
    /// That, once it was asked for.
    by_turns: Option<(usize, Box<dyn Reel>)>,
    shown: Option<(Tick, PlayerId)>,
    compared: Option<Compared>,
    chosen: Option<Chosen>,
}

/// What of a checker's finding is looked at. A worker hands it to the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The first tick whose state differs.
    pub tick: Tick,
    /// Who differs: places among the recordings that were checked.
    pub odd: Vec<usize>,
    /// Whose states were compared, if each is what its own turns lead to.
    pub between: Option<[usize; 2]>,
    /// The odd peer's world, if it could be had.
    pub odd_world: Option<OddWorld>,
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Found {
        let Finding { tick, odd, between, odd_world, .. } = finding.clone();
        Found { tick, odd, between, odd_world }
    }
}

/// Two worlds of one tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The cells that differ, row by row.
    pub cells: Vec<CellId>,
    /// Whether what is in no cell differs too.
    pub loose: bool,
    /// Whether they were compared at all, and differ.
    pub differs: bool,
    /// The same, in a sentence; and what stands against it.
    pub sentence: String,
}

/// A cell that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Where what is in it came from.
    pub cone: LightCone,
    /// The same, in sentences.
    pub sentences: Vec<String>,
    /// What differs in it, part by part.
    pub spots: Vec<String>,
}

/// Which picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Here,
    /// The one beside it.
    There,
}

impl Viewer {
    /// Opens recordings of a game. Those that cannot be shown are [`told`](Viewer::told).
    ///
    /// # Errors
    /// Why none can be.
    pub fn open<G: Game>(recordings: Vec<Recording<G::Sim>>, table: &Table) -> Result<Viewer, String> {
        let (mut reels, mut told) = (Vec::new(), Vec::new());
        for (place, recording) in recordings.into_iter().enumerate() {
            let name = recording.header.name.clone();
            match reel::open::<G>(recording, place, table) {
                Ok(reel) => reels.push(reel),
                Err(error) => told.push(format!("The recording of {name} cannot be shown: {error}.")),
            }
        }
        if reels.is_empty() {
            return Err(told.join(" "));
        }
        let here = (0, Smooth::default());
        Ok(Viewer { reels, told, here, there: None, by_turns: None, shown: None, compared: None, chosen: None })
    }

    /// What the recordings are of, one after the other.
    pub fn recordings(&self) -> impl Iterator<Item = &Recorded> {
        self.reels.iter().map(|reel| reel.recorded())
    }

    /// What is to be told of others, a sentence each.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// The recording that is looked at.
    pub fn recorded(&self) -> &Recorded {
        self.reels[self.here.0].recorded()
    }

    /// Looks at another recording from now on.
    pub fn choose(&mut self, n: usize) {
        if n < self.reels.len() && n != self.here.0 {
            self.here = (n, Smooth::default());
            self.forget();
        }
    }

    /// Shows another recording beside it, or none. The same one stands for what its turns alone
    /// lead to from its start, whatever states were recorded since.
    pub fn put_beside(&mut self, n: Option<usize>) {
        let n = n.filter(|n| *n < self.reels.len());
        if n != self.beside() {
            self.there = n.map(|n| (n, Smooth::default()));
            self.forget();
        }
    }

    /// Which recording is looked at.
    pub fn looked_at(&self) -> usize {
        self.here.0
    }

    /// Which recording is beside the one that is looked at.
    pub fn beside(&self) -> Option<usize> {
        self.there.as_ref().map(|(n, _)| *n)
    }

    fn forget(&mut self) {
        (self.shown, self.compared, self.chosen) = (None, None, None);
    }

    /// Takes what the checker found of the recordings that the viewer was opened with: the odd
    /// peer's world from the first tick on that it is had, beside another's. Returns the first tick
    /// at which both can be seen to differ.
    pub fn take(&mut self, found: &Found) -> Tick {
        let Found { tick, odd, between, odd_world } = found;
        let reel_of = |reels: &[Box<dyn Reel>], place: usize| reels.iter().position(|reel| reel.place() == place);
        let world = odd_world.as_ref().and_then(|world| Some((world, reel_of(&self.reels, world.peer)?)));
        world.iter().for_each(|(world, n)| self.reels[*n].take(world));
        let [ours, theirs] = match between {
            Some(both) => both.map(|place| reel_of(&self.reels, place)),
            None => [
                self.reels.iter().position(|reel| !odd.contains(&reel.place())),
                odd.first().and_then(|place| reel_of(&self.reels, *place)),
            ],
        };
        self.forget();
        if let Some(theirs) = theirs {
            // A single one differs from what its own turns lead to.
            self.here = (ours.unwrap_or(theirs), Smooth::default());
            self.there = Some((theirs, Smooth::default()));
            self.by_turns = None;
        }
        world.map_or(*tick, |(world, _)| world.tick.max(*tick))
    }

    /// Goes to a tick and looks with a hero's eyes.
    pub fn look(&mut self, tick: Tick, eyes: PlayerId) {
        if self.shown == Some((tick, eyes)) {
            return;
        }
        let goes_on = self.shown.is_some_and(|(before, by)| before.next() == tick && by == eyes);
        let is_same = self.shown.is_some_and(|(before, _)| before == tick);
        for side in [Side::Here, Side::There] {
            let Some((reel, moving)) = self.side(side) else { continue };
            reel.seek(tick);
            if !goes_on {
                *moving = Smooth::default();
            }
            moving.push(reel.scene(eyes), false);
        }
        self.shown = Some((tick, eyes));
        if !is_same {
            self.compared = self.pair().map(|[here, there]| reel::compare(here, there, tick));
        }
    }

    /// The reel of a side, and how it moves.
    fn side(&mut self, side: Side) -> Option<(&mut dyn Reel, &mut Smooth)> {
        match side {
            Side::Here => Some((&mut *self.reels[self.here.0], &mut self.here.1)),
            Side::There => {
                let (n, moving) = self.there.as_mut()?;
                if *n != self.here.0 {
                    return Some((&mut *self.reels[*n], moving));
                }
                if self.by_turns.as_ref().is_none_or(|(of, _)| of != n) {
                    self.by_turns = Some((*n, self.reels[*n].by_turns()));
                }
                let (_, reel) = self.by_turns.as_mut()?;
                Some((&mut **reel, moving))
            }
        }
    }

    /// Both reels, if there are two.
    fn pair(&mut self) -> Option<[&mut dyn Reel; 2]> {
        let (here, there) = (self.here.0, self.there.as_ref()?.0);
        if here != there {
            let [here, there] = self.reels.get_disjoint_mut([here, there]).ok()?;
            return Some([&mut **here, &mut **there]);
        }
        self.side(Side::There)?;
        Some([&mut *self.reels[here], &mut *self.by_turns.as_mut()?.1])
    }

    /// How both worlds of the tick compare, if there are two.
    pub fn compared(&self) -> Option<&Compared> {
        self.compared.as_ref()
    }

    /// Whose world a side shows, and how it is known, in a line.
    pub fn title(&mut self, side: Side) -> Option<String> {
        let is_by_turns = side == Side::There && self.beside() == Some(self.here.0);
        let (tick, _) = self.shown?;
        let (reel, _) = self.side(side)?;
        Some(told::title(reel, is_by_turns, tick))
    }

    /// What a side shows at a moment of the tick, 0 to 1, with marks on it. Both have the same
    /// middle where it can be.
    pub fn scene(&self, side: Side, moment: f32) -> Option<Scene> {
        let here = self.here.1.at(moment)?;
        let mut scene = match side {
            Side::Here => here,
            Side::There => {
                let mut there = self.there.as_ref()?.1.at(moment)?;
                let (x, y) = (there.center.0 - here.center.0, there.center.1 - here.center.1);
                if x.abs().max(y.abs()) <= SAME_MIDDLE_TILES {
                    there.center = here.center;
                }
                there
            }
        };
        // Nothing can be done any more.
        scene.skills.clear();
        if let Some(grid) = self.grid() {
            scene.areas = self.areas(&grid);
        }
        Some(scene)
    }

    /// What a side shows, as it is.
    pub fn newest(&self, side: Side) -> Option<&Scene> {
        match side {
            Side::Here => self.here.1.newest(),
            Side::There => self.there.as_ref()?.1.newest(),
        }
    }

    fn grid(&self) -> Option<Grid> {
        self.reels[self.here.0].grid()
    }

    /// The cells that are marked at the tick that is shown: each once, as what it is most of all.
    fn marks(&self) -> BTreeMap<CellId, AreaKind> {
        let mut marks = BTreeMap::new();
        marks.extend(self.compared.iter().flat_map(|found| &found.cells).map(|cell| (*cell, AreaKind::Differs)));
        let (Some(chosen), Some((tick, _))) = (&self.chosen, self.shown) else { return marks };
        let step = chosen.cone.at(tick);
        marks.extend(step.iter().flat_map(|step| &step.suspects).map(|cell| (*cell, AreaKind::Suspect)));
        marks.extend((chosen.cone.tick == tick).then_some((chosen.cone.cell, AreaKind::Chosen)));
        marks
    }

    fn areas(&self, grid: &Grid) -> Vec<Area> {
        let side = grid.cell_tiles() as f32;
        let corner = |x: u32, y: u32| (x as f32 * side, y as f32 * side);
        let area = |low: CellId, high: CellId, kind, label| Area {
            low: corner(low.x.into(), low.y.into()),
            high: corner(u32::from(high.x) + 1, u32::from(high.y) + 1),
            kind,
            label,
        };
        let marks = self.marks().into_iter().map(|(cell, kind)| area(cell, cell, kind, cell.to_string()));
        let cone = self.shown.and_then(|(tick, _)| self.chosen.as_ref()?.cone.at(tick));
        let cone = cone.map(|step| area(step.cells.low, step.cells.high, AreaKind::Cone, String::new()));
        marks.chain(cone).collect()
    }

    /// The map of the tick that is shown; `None` if the simulation has no cells.
    pub fn chart(&mut self) -> Option<Chart> {
        let marks = self.marks().into_iter().collect();
        let cone = self.shown.and_then(|(tick, _)| Some(self.chosen.as_ref()?.cone.at(tick)?.cells));
        let reel = &self.reels[self.here.0];
        let sketch = reel.sketch()?;
        Some(Chart {
            size: (sketch.width_cells, sketch.height_cells),
            lit: sketch.lit,
            heroes: sketch.heroes.into_iter().map(|(_, cell)| cell).collect(),
            marks,
            cone,
        })
    }

    /// The cell at a place in the world, in tiles, if there is one.
    pub fn cell_at(&self, (x, y): Place) -> Option<CellId> {
        let (grid, side) = (self.grid()?, self.grid()?.cell_tiles() as f32);
        let along = |place: f32| (place >= 0.0).then_some((place / side) as u32);
        let cell = CellId::new(along(x)?.try_into().ok()?, along(y)?.try_into().ok()?);
        grid.contains(cell).then_some(cell)
    }

    /// Chooses a cell at the tick that is shown: what it could depend on, and what of that
    /// differed, tick by tick before. `None` chooses none.
    pub fn pick(&mut self, cell: Option<CellId>) {
        self.chosen = None;
        let (Some(cell), Some((tick, _)), Some(grid)) = (cell, self.shown, self.grid()) else { return };
        let Some([here, there]) = self.pair() else { return };
        let start = here.recorded().start.max(there.recorded().start);
        let first = Tick(tick.0.saturating_sub(CONE_TICKS)).max(start);
        let (mut differing, mut loose) = (BTreeMap::new(), None);
        for tick in (first.0..=tick.0).map(Tick) {
            here.seek(tick);
            there.seek(tick);
            let common = reel::common(here, there);
            loose = loose.or(common.loose.then_some(tick));
            differing.insert(tick, common.cells());
        }
        let spots = reel::spots(here, there, cell);
        let cone = LightCone::of(&grid, cell, tick, &differing);
        let (mut unknown, mut entered) = (None, None);
        if let Some((began, _)) = cone.began() {
            let before = Tick(began.0.saturating_sub(1));
            let mut sides = [here, there];
            sides.iter_mut().for_each(|reel| reel.seek(before));
            unknown = sides.iter_mut().find_map(|reel| match reel.known() {
                Some((_, false)) => Some(told::name(&**reel)),
                _ => None,
            });
            // Parts of a world are told different commands by design.
            let are_whole = sides.iter().all(|reel| reel.is_whole());
            entered = are_whole.then(|| sides.each_ref().map(|reel| reel.inputs(before)));
            sides.iter_mut().for_each(|reel| reel.seek(tick));
        }
        let before = told::Before { first, is_start: first == start, loose, unknown, entered };
        let sentences = told::cone(&cone, &before);
        self.chosen = Some(Chosen { cone, sentences, spots });
    }

    /// The cell that was chosen.
    pub fn chosen(&self) -> Option<&Chosen> {
        self.chosen.as_ref()
    }

    /// Verifies the recording that is looked at, as long as it is told to go on.
    pub fn verify(&mut self, go_on: &mut dyn FnMut() -> bool) -> Verified {
        self.reels[self.here.0].verify(go_on)
    }
}
