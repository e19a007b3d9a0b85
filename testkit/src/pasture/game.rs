//! The game as the shell sees it. `FAULT` in the environment names what is wrong with it; child
//! processes inherit it.

use std::sync::Arc;

use lockstone::game::{Bot, Game, Layout, LayoutError, Wide};
use lockstone::scene::{Pointer, Scene};
use lockstone::sim::{Grid, PlayerId, Simulation, Table, Vec2, mix64};

use super::{CELL_TILES, Order, Pasture, SIDE_CELLS, Sim, Wrong, draw, place, world_of};

/// The game.
pub struct Meadow;

impl Meadow {
    /// What the environment says is wrong with it.
    ///
    /// # Errors
    /// A sentence with what is known.
    pub fn wrong() -> Result<Wrong, String> {
        std::env::var("FAULT").map_or(Ok(Wrong::Nothing), |name| name.parse())
    }
}

impl Game for Meadow {
    type Sim = Sim;

    const HEROES: &'static [&'static str] = &["shepherd"];

    const NAME: &'static str = "meadow";

    fn rules_digest() -> u64 {
        2
    }

    fn build(seed: u64, table: Table) -> Sim {
        world_of(seed, table, Meadow::wrong().unwrap_or_default())
    }

    fn hero(class: &str, _: &str) -> Option<()> {
        Self::HEROES.contains(&class).then_some(())
    }

    fn bot(_: PlayerId) -> impl Bot<Sim> {
        Shepherd
    }

    fn click(_: &Sim, _: PlayerId, at: Vec2, _: Pointer) -> Option<Order> {
        Some(Order::Walk(at))
    }

    fn typed(_: &Sim, _: PlayerId, text: &str) -> Result<Order, String> {
        text.parse().map(Order::Shear).map_err(|_| "how much wool is to be shorn, is all that can be typed".to_owned())
    }

    fn scene(sim: &Sim, _: PlayerId) -> Scene {
        draw(sim, 1);
        Scene::default()
    }
}

/// Its widest world, in cells.
const SIDE_CELLS_MAX: u16 = 1_024;

impl Wide for Meadow {
    type Rules = Pasture;

    /// However wide it is, shepherds begin and walk about in a corner.
    fn lay_out(layout: &Layout, _: u64, _: &Table) -> Result<Arc<Pasture>, LayoutError> {
        let tiles = CELL_TILES.unsigned_abs();
        let (side, sides) = (layout.side_tiles.div_ceil(tiles), u32::from(SIDE_CELLS)..=u32::from(SIDE_CELLS_MAX));
        match u16::try_from(side) {
            Ok(side_cells) if sides.contains(&side) => {
                Ok(Arc::new(Pasture::of(Meadow::wrong().unwrap_or_default(), side_cells)))
            }
            _ => {
                let (least, most) = (sides.start() * tiles, sides.end() * tiles);
                Err(LayoutError::Side { side_tiles: layout.side_tiles, least, most })
            }
        }
    }

    fn grid(rules: &Pasture) -> Grid {
        rules.grid()
    }
}

/// Walks somewhere else now and then.
#[derive(Clone)]
struct Shepherd;

impl Bot<Sim> for Shepherd {
    fn decide(&mut self, sim: &Sim, player: PlayerId) -> Option<Order> {
        let tick = sim.tick().0;
        let key = mix64(u64::from(tick) << 16 | u64::from(player.0));
        tick.is_multiple_of(15).then(|| Order::Walk(place(key as u32 % 1_000)))
    }
}
