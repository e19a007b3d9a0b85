//! A world played in ways that must all come to the same: cells in another order, on threads, a
//! part beside the whole.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lockstone_sim::journal::Journal;
use lockstone_sim::world::{Request, Thinking, Thoughts, Zone};
use lockstone_sim::{Area, CellId, Extent, Input, Rules, Simulation, Tick, Turn, World, mix64, tamper};

use super::{View, Way, step};

/// How far around a hero a part is simulated, in rings of cells.
const CORE_RINGS: u16 = 1;

/// One tick, the thinking done in a way of its own.
pub(super) fn step_in<R: Rules>(world: &mut World<R>, turn: &Turn<World<R>>, way: Way, journal: Option<&mut Journal>) {
    let tick = world.tick();
    let think = |thinking: &Thinking<'_, R>| match way {
        Way::Backwards => one_by_one(thinking, (0..thinking.len()).rev()),
        Way::Shuffled(key) => one_by_one(thinking, shuffled(thinking.len(), key, tick)),
        Way::Threads(threads) => on_threads(thinking, threads),
    };
    match journal {
        Some(journal) => world.step_noted_with(turn, journal, think),
        None => world.step_with(turn, think),
    }
}

fn one_by_one<R: Rules>(thinking: &Thinking<'_, R>, order: impl IntoIterator<Item = usize>) -> Vec<Thoughts<R>> {
    let mut thoughts = Thoughts::default();
    order.into_iter().for_each(|n| thinking.think(n, &mut thoughts));
    vec![thoughts]
}

fn shuffled(len: usize, key: u64, tick: Tick) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by_key(|&n| mix64(key ^ mix64(n as u64 ^ u64::from(tick.0) << 32)));
    order
}

fn on_threads<R: Rules>(thinking: &Thinking<'_, R>, threads: usize) -> Vec<Thoughts<R>> {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < thinking.len());
    let work = || one_by_one(thinking, std::iter::from_fn(take)).pop().expect("it makes one");
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// One tick of a part and of the whole. Returns the cells of the part that must be exact: its core,
/// without what it was widened by. Until the hero enters, the part is a whole world too.
pub(super) fn step_beside<R: Rules>(
    part: &mut World<R>,
    whole: &mut World<R>,
    turn: &Turn<World<R>>,
    view: View,
    journal: Option<&mut Journal>,
) -> Vec<CellId> {
    part.area().halo().for_each(|cell| tamper::put(part, cell, whole.cell_state(cell).as_ref()));
    let at = whole.hero(view.player).map(|hero| whole.grid().cell_of(hero.pos));
    at.into_iter().for_each(|at| enclose(part, whole, at, view));
    let surroundings = at.map(|at| whole.grid().block(at, CORE_RINGS).iter().collect());
    let area = *part.area();
    step(part, &relayed(turn, whole, &area), journal);
    whole.step(turn);
    // What is carried in from beyond the area comes as the state of the cell that it enters.
    for input in &turn.inputs {
        if let Input::Request(Request::Transfer { to, .. }) = input
            && area != Area::Whole
            && area.zone(whole.grid().cell_of(*to)) == Zone::Core
        {
            let cell = whole.grid().cell_of(*to);
            tamper::put(part, cell, whole.cell_state(cell).as_ref());
        }
    }
    match area {
        Area::Whole => whole.cells().collect(),
        Area::Part(_) => surroundings.unwrap_or_default(),
    }
}

/// Moves the part to where the hero is. What was halo and becomes core is exact already; what
/// is new is given.
fn enclose<R: Rules>(part: &mut World<R>, whole: &World<R>, at: CellId, view: View) {
    let grid = *whole.grid();
    let core = grid.block(at, CORE_RINGS + view.core_rings_more);
    let halo_rings = grid.halo_rings().saturating_sub(view.halo_rings_less);
    let extent = Extent { core, halo: core.grown(&grid, halo_rings) };
    let (area, before) = (Area::of(&grid, extent), *part.area());
    if area == before {
        return;
    }
    tamper::set_area(part, area);
    let is_new = |cell: &CellId| before.zone(*cell) == Zone::Outside;
    area.halo()
        .chain(area.core())
        .filter(is_new)
        .for_each(|cell| tamper::put(part, cell, whole.cell_state(cell).as_ref()));
}

/// What of a turn is passed on to a peer with this area.
fn relayed<R: Rules>(turn: &Turn<World<R>>, whole: &World<R>, area: &Area) -> Turn<World<R>> {
    let cell_of = |pos| whole.grid().cell_of(pos);
    let thinks = |player| whole.hero(player).is_some_and(|hero| area.zone(cell_of(hero.pos)) >= Zone::Fringe);
    let wanted = |input: &&Input<World<R>>| match input {
        Input::Command(player, _) | Input::Leave(player) | Input::Away(player) | Input::Back(player) => thinks(*player),
        Input::Join(_, join) => area.zone(cell_of(join.at)) == Zone::Core,
        Input::Request(_) => true,
        Input::Given(_) => false,
    };
    Turn { inputs: turn.inputs.iter().filter(wanted).cloned().collect() }
}
