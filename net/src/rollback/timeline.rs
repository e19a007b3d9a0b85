//! The simulation of one peer, and the recent past it can go back to. The only place where a
//! rollback session's world changes.
//!
//! What is predicted may be played again and again; what is settled is told once and never changes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};

use crate::limits::*;
use crate::session::{Event, Right, RollbackStats};

/// The state before a tick, and the turn that was played on it.
struct Moment<S: Simulation> {
    snapshot: S::Snapshot,
    pending: Vec<S::Request>,
    checksum: Checksum,
    tree: Vec<(CellId, Checksum)>,
    turn: Turn<S>,
}

pub(super) struct Timeline<S: Simulation> {
    pub simulation: S,
    /// The newest world that is final, once that was asked for.
    settled: Option<Box<S>>,
    pub figures: RollbackStats,
    /// What the simulation asked for and no turn holds yet.
    pending: Vec<S::Request>,
    /// Tick by tick, from `first` on.
    moments: VecDeque<Moment<S>>,
    first: Tick,
    /// The tick whose step is under way: for ever, if the rules panic in it.
    under_way: Option<Tick>,
    /// Frame 0.
    base: Tick,
    /// Ascending.
    players: Vec<PlayerId>,
    /// What players do in ticks that are not told yet: at most one command a tick.
    commands: BTreeMap<(Tick, PlayerId), S::Command>,
    /// What enters in the turn at `base`: those who join, then those who leave, by player
    /// whoever was lost first.
    joins: Vec<Input<S>>,
    leaves: BTreeSet<PlayerId>,
    checksum_interval_ticks: u32,
    emit_trees: bool,
}

impl<S: Simulation> Timeline<S> {
    /// Begins at the simulation's tick, with `joins` in its first turn.
    pub fn new(
        simulation: S,
        players: Vec<PlayerId>,
        joins: Vec<Input<S>>,
        checksum_interval_ticks: u32,
        emit_trees: bool,
    ) -> Self {
        let base = simulation.tick();
        Timeline {
            simulation,
            settled: None,
            figures: RollbackStats::default(),
            pending: Vec::new(),
            moments: VecDeque::new(),
            first: base,
            under_way: None,
            base,
            players,
            commands: BTreeMap::new(),
            joins,
            leaves: BTreeSet::new(),
            checksum_interval_ticks,
            emit_trees,
        }
    }

    pub fn base(&self) -> Tick {
        self.base
    }

    /// The first tick that is not told yet.
    pub fn first(&self) -> Tick {
        self.first
    }

    /// Who plays: ascending, and those who are gone until [`branch`](Timeline::branch).
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// A player gives a command in a tick. Returns whether it can be read: if not, it is passed
    /// over, by every peer alike.
    pub fn give(&mut self, tick: Tick, player: PlayerId, command: &[u8]) -> bool {
        let command = codec::read(command, COMMAND_BYTES_MAX);
        command.map(|command| self.commands.insert((tick, player), command)).is_ok()
    }

    /// Keeps the state before a frame. Returns its checksum, if it is one that is compared.
    pub fn save(&mut self, frame: u32) -> Option<Checksum> {
        let index = self.index(self.base.plus(frame));
        // The base is final: it is as it was when it was agreed upon.
        if frame == 0 && index < self.moments.len() {
            return None;
        }
        let moment = self.moment();
        let due = frame > 0 && frame.is_multiple_of(self.checksum_interval_ticks);
        let checksum = due.then_some(moment.checksum);
        if index < self.moments.len() {
            let old = core::mem::replace(&mut self.moments[index], moment);
            self.simulation.retire(old.snapshot);
        } else {
            assert_eq!(index, self.moments.len(), "moments have no gap");
            self.moments.push_back(moment);
        }
        checksum
    }

    fn moment(&mut self) -> Moment<S> {
        // First what is hashed, then the copy: what is gone back to need not be hashed again.
        let checksum = self.simulation.checksum();
        let tree = if self.emit_trees { self.simulation.tree() } else { Vec::new() };
        let (snapshot, pending) = (self.simulation.snapshot(), self.pending.clone());
        Moment { snapshot, pending, checksum, tree, turn: Turn::EMPTY }
    }

    fn index(&self, tick: Tick) -> usize {
        assert!(tick >= self.first, "tick {tick} is settled, and gone");
        tick.since(self.first) as usize
    }

    /// Goes back to the state before a frame.
    pub fn load(&mut self, frame: u32) {
        let tick = self.base.plus(frame);
        let depth = self.simulation.tick().since(tick);
        self.figures.rollbacks += 1;
        self.figures.ticks_replayed += u64::from(depth);
        self.figures.deepest_ticks = self.figures.deepest_ticks.max(depth);
        self.restore(tick);
    }

    fn restore(&mut self, tick: Tick) {
        let moment = &self.moments[self.index(tick)];
        self.simulation.restore(&moment.snapshot);
        self.pending.clone_from(&moment.pending);
    }

    /// Plays the next turn. Of each player it is said whether it gives a command.
    pub fn step(&mut self, given: &[bool]) {
        let tick = self.simulation.tick();
        let mut inputs = Vec::new();
        if tick == self.base {
            inputs.extend(self.joins.iter().cloned());
            inputs.extend(self.leaves.iter().copied().map(Input::Leave));
        }
        inputs.extend(take_due(&mut self.pending).into_iter().map(Input::Request));
        for (player, _) in self.players.iter().zip(given).filter(|(_, given)| **given) {
            let command = self.commands.get(&(tick, *player)).cloned();
            inputs.extend(command.map(|command| Input::Command(*player, command)));
        }
        let index = self.index(tick);
        self.moments[index].turn = Turn { inputs };
        self.under_way = Some(tick);
        self.simulation.step(&self.moments[index].turn);
        self.under_way = None;
        let fits = |request: &&S::Request| codec::compact(*request).len() <= REQUEST_BYTES_MAX;
        self.pending.extend(self.simulation.requests().iter().filter(fits).cloned());
        self.pending.truncate(REQUESTS_QUEUED_MAX);
    }

    /// If the rules panicked in a step: the turns from the first that is not told yet up to that.
    pub fn broken_turns(&self) -> Vec<(Tick, Turn<S>)> {
        let Some(last) = self.under_way else { return Vec::new() };
        let turns = self.moments.iter().map(|moment| moment.turn.clone());
        (self.first.0..=last.0).map(Tick).zip(turns).collect()
    }

    /// Tells all turns before a tick: they are final. Each, an empty one too, is shown before.
    pub fn settle(&mut self, until: Tick, mut show: impl FnMut(Tick, &Turn<S>), mut tell: impl FnMut(Event<S>)) {
        while self.first < until {
            let tick = self.first;
            let Moment { snapshot, checksum, tree, turn, .. } =
                self.moments.pop_front().expect("what is settled was played");
            self.first = tick.next();
            if tick > Tick(0) && tick.0.is_multiple_of(KEYFRAME_TICKS) {
                tell(Event::Keyframe { tick, snapshot });
            } else {
                self.simulation.retire(snapshot);
            }
            tell(Event::Checksum { tick, checksum, tree });
            show(tick, &turn);
            if !turn.inputs.is_empty() {
                tell(Event::Turn { tick, turn });
            }
        }
        self.commands = self.commands.split_off(&(self.first, PlayerId(0)));
    }

    /// A copy of the state before the first tick that is not told yet: the newest that is final.
    pub fn keyframe(&mut self) -> Event<S> {
        let moment = self.moments.front().map(|moment| moment.snapshot.clone());
        Event::Keyframe { tick: self.first, snapshot: moment.unwrap_or_else(|| self.simulation.snapshot()) }
    }

    /// The world before the first tick that is not told yet: the newest that is final. `build`
    /// makes one before its first tick.
    pub fn settled_world(&mut self, build: impl FnOnce() -> S) -> &S {
        let Some(moment) = self.moments.front() else { return &self.simulation };
        let world = self.settled.get_or_insert_with(|| Box::new(build()));
        if world.tick() != self.first {
            world.restore(&moment.snapshot);
        }
        world
    }

    /// Keeps the state of now, so that every tick from the first on can be gone back to.
    pub fn hold(&mut self) {
        if self.index(self.simulation.tick()) == self.moments.len() {
            let moment = self.moment();
            self.moments.push_back(moment);
        }
    }

    /// The checksum of the world that all go on from.
    pub fn checksum_at_base(&self) -> Checksum {
        self.moments[self.index(self.base)].checksum
    }

    /// That world, as it travels to another who has another one.
    pub fn right(&self) -> Right {
        let Moment { snapshot, pending, .. } = &self.moments[self.index(self.base)];
        let requests = pending.iter().map(|request| codec::compact(request).try_into().expect("it fits"));
        let requests = requests.collect::<Vec<_>>().try_into().expect("no more are kept");
        Right { requests, cells: 0, is_whole: true, bytes: self.simulation.encode(snapshot) }
    }

    /// Goes on from the world of another, of a promised checksum. Nothing was played upon the base.
    ///
    /// # Errors
    /// [`CodecError`] if it is none of this simulation, or not what was promised; then nothing has
    /// changed.
    pub fn replace(&mut self, right: &Right, promised: Checksum) -> Result<(), CodecError> {
        let pending = right.requests.iter().map(|request| codec::read(request, REQUEST_BYTES_MAX));
        let pending = pending.collect::<Result<Vec<S::Request>, _>>()?;
        let put = self.simulation.restore_from(&right.bytes);
        let is_right = self.simulation.tick() == self.base && self.simulation.checksum() == promised;
        if put.is_err() || !is_right {
            self.restore(self.base);
        }
        put?;
        if !is_right {
            return Err(CodecError::Malformed("another state than was promised"));
        }
        self.pending = pending;
        let (moment, index) = (self.moment(), self.index(self.base));
        let old = core::mem::replace(&mut self.moments[index], moment);
        self.simulation.retire(old.snapshot);
        self.settled = None;
        Ok(())
    }

    /// Goes on from a tick with fewer players: what came after it, and what was given, never was.
    /// Those who are gone leave in its turn.
    pub fn branch(&mut self, tick: Tick, gone: impl Iterator<Item = PlayerId>) {
        self.restore(tick);
        self.commands.clear();
        let kept = self.index(tick) + 1;
        for moment in self.moments.drain(kept..) {
            self.simulation.retire(moment.snapshot);
        }
        // A player that entered or left in the turn of this tick still does.
        if tick != self.base {
            self.joins.clear();
            self.leaves.clear();
        }
        self.leaves.extend(gone);
        self.players.retain(|player| !self.leaves.contains(player));
        self.base = tick;
    }
}

/// The requests that fit into a turn: a recording's frame holds it, as it holds a party's.
fn take_due<R: serde::Serialize>(pending: &mut Vec<R>) -> Vec<R> {
    let mut bytes = 0;
    let fits = |request: &&R| {
        bytes += codec::compact(*request).len();
        bytes <= REQUEST_BYTES_PER_TURN_MAX
    };
    let due = pending.iter().take(REQUESTS_PER_TURN_MAX).take_while(fits).count();
    pending.drain(..due).collect()
}
