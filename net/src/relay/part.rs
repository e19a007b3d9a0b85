//! What a relay's replica simulates: a part of the world, by frames. What it is given may wait
//! until it is loaded.

mod distant_tracks;
mod pending;

use core::ops::ControlFlow;
use std::collections::BTreeMap;

use lockstone_sim::codec::CodecError;
use lockstone_sim::world::{Given, Zone};
use lockstone_sim::{CellRect, Checksum, Rules, Simulation, Tick, Turn, World};

use super::horizon::Horizon;
use super::{checks_at, keep};
use crate::limits::CHECKSUMS_KEPT_MAX;
use crate::link::PeerId;
use crate::replica::{Fed, Share};
use crate::session::{DistantView, DropReason, Leader, Outbox, Stepper, turn};
use crate::transfer::TransferError;
use crate::wire::*;
use distant_tracks::DistantTracks;
use pending::{Change, Pending};

pub struct Part<R: Rules> {
    checksum_interval_ticks: u32,
    pending: Pending,
    /// What the player sees from afar, if the game says so.
    distant_tracks: Option<DistantTracks<R>>,
    /// The core's newest checksums.
    sums: BTreeMap<Tick, Checksum>,
    /// The relay found the core to differ at this tick, and wants to know where.
    disputed: Option<Tick>,
}

impl<R: Rules> Part<R> {
    pub fn new(checksum_interval_ticks: u32, horizon: Option<Box<dyn Horizon<R>>>) -> Self {
        let (pending, distant_tracks) = (Pending::default(), horizon.map(DistantTracks::new));
        Part { checksum_interval_ticks, pending, distant_tracks, sums: BTreeMap::new(), disputed: None }
    }

    /// The core's checksum, if it is this replica's tick for it.
    fn check_core(
        &mut self,
        stepper: &mut Stepper<World<R>>,
        leader: Leader,
        out: &mut Outbox<World<R>>,
    ) -> Option<(Tick, Checksum)> {
        let tick = stepper.tick();
        let core = stepper.simulation.area().core_rect().filter(|core| !core.is_empty())?;
        if !checks_at(tick, stepper.player, self.checksum_interval_ticks) {
            return None;
        }
        let sum = stepper.simulation.part_checksum(core);
        keep(&mut self.sums, tick, sum, CHECKSUMS_KEPT_MAX);
        if let Some(disputed) = self.disputed.take() {
            let disputed = self.sums.get(&disputed).copied();
            let cells = List::try_from(stepper.simulation.part_tree(core)).unwrap_or_default();
            leader.tell(&Message::CoreTree(CoreTree { tick, disputed, cells }), out);
        }
        Some((tick, sum))
    }
}

impl<R: Rules> Share for Part<R> {
    type Sim = World<R>;
    type Turn = Frame;
    const LEADER_COMPARES: bool = true;

    fn may_lead(_: PeerId) -> bool {
        // A relay session's carrier connects a replica with nobody else.
        true
    }

    fn turns(message: Message) -> ControlFlow<Frames, Message> {
        match message {
            Message::Frames(frames) => ControlFlow::Break(frames),
            other => ControlFlow::Continue(other),
        }
    }

    /// What is given of a cell that is not known is passed over by the world, and so is here what
    /// makes it known: what was loaded for it can be put in only once.
    fn ahead(frame: &Frame) -> Turn<World<R>> {
        let given = frame.given.iter().filter_map(|given| match given {
            RawGiven::Pristine(cell) => Some(Given::Pristine(*cell)),
            RawGiven::Cell(cell, bytes) => Some(Given::Cell(*cell, bytes.to_vec())),
            RawGiven::Change(cell, bytes) => Some(Given::Change(*cell, bytes.to_vec())),
            RawGiven::Area(..) => None,
        });
        turn(&frame.inputs, given.collect(), || {})
    }

    fn begin(&mut self) {
        (self.pending, self.sums, self.disputed) = (Pending::default(), BTreeMap::new(), None);
        self.distant_tracks.iter_mut().for_each(DistantTracks::begin);
    }

    fn check(&self, simulation: &World<R>) -> Result<(), CodecError> {
        match simulation.area().core_rect() {
            Some(CellRect::EMPTY) => Ok(()),
            _ => Err(CodecError::Malformed("more than the outline of a world")),
        }
    }

    fn play(
        &mut self,
        stepper: &mut Stepper<World<R>>,
        frame: Frame,
        leader: Leader,
        out: &mut Outbox<World<R>>,
    ) -> Result<Option<(Tick, Checksum)>, TransferError> {
        let given = given(&mut self.pending, &stepper.simulation, &frame.given);
        let given = given.ok_or(TransferError::Digest)?;
        stepper.play(&frame.inputs, given, out);
        Ok(self.check_core(stepper, leader, out))
    }

    fn played(&mut self, stepper: &Stepper<World<R>>) {
        self.distant_tracks.iter_mut().for_each(|distant_tracks| distant_tracks.advance(&stepper.simulation));
    }

    fn is_placed(&self, stepper: &Stepper<World<R>>) -> bool {
        stepper.simulation.area().core_rect().is_some_and(|core| !core.is_empty())
    }

    fn handle(
        &mut self,
        message: Message,
        fed: Fed<'_, Self>,
        out: &mut Outbox<World<R>>,
    ) -> Result<Option<u32>, TransferError> {
        match message {
            Message::Load(load) => return self.pending.begin(load).map(Some),
            Message::Chunk(chunk) => match self.pending.chunk(&chunk)? {
                Some(received) => return Ok(Some(received)),
                None => out.dropped(DropReason::Unexpected),
            },
            Message::Distant(distant) => match self.distant_tracks.as_mut().map(|tracks| tracks.take(distant)) {
                Some(Some(tick)) => fed.intake.distant(tick),
                Some(None) => out.dropped(DropReason::Replayed),
                None => out.dropped(DropReason::Unexpected),
            },
            Message::Nearby(nearby) => fed.stepper.meet(nearby, out),
            _ => out.dropped(DropReason::Unexpected),
        }
        Ok(None)
    }

    fn differs(&mut self, tick: Tick) {
        self.disputed = Some(tick);
    }

    fn distant(&self, world: &World<R>) -> DistantView {
        self.distant_tracks.as_ref().map(|tracks| tracks.view(world)).unwrap_or_default()
    }
}

/// What the world is given by a frame: of cells that it knows at once, of others once an area puts
/// them in. `None` if it does not hold together.
fn given<R: Rules>(pending: &mut Pending, world: &World<R>, raw: &[RawGiven]) -> Option<Vec<Given>> {
    let tick = world.tick();
    let known = |cell| world.area().zone(cell) != Zone::Outside;
    let mut result = Vec::with_capacity(raw.len());
    let mut area = None;
    for given in raw {
        match given {
            RawGiven::Area(extent, load) => area = Some((*extent, *load)),
            RawGiven::Pristine(cell) => result.push(Given::Pristine(*cell)),
            RawGiven::Cell(cell, bytes) if known(*cell) => result.push(Given::Cell(*cell, bytes.to_vec())),
            RawGiven::Change(cell, bytes) if known(*cell) => result.push(Given::Change(*cell, bytes.to_vec())),
            RawGiven::Cell(cell, bytes) => pending.keep(tick, *cell, Change::Whole(bytes.clone())).then_some(())?,
            RawGiven::Change(cell, bytes) => pending.keep(tick, *cell, Change::Since(bytes.clone())).then_some(())?,
        }
    }
    let Some((extent, load)) = area else { return Some(result) };
    let loaded = load.map_or(Some(Vec::new()), |number| pending.put_in(number, world))?;
    Some([vec![Given::Area(extent)], loaded, result].concat())
}
