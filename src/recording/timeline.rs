//! What one recording tells of its session, by tick.

use std::collections::BTreeMap;

use lockstone_net::wire::Signed;
use lockstone_sim::codec::CodecError;
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use super::{Desync, Ending, Entry, Header, Packed, PackedRerun, Recording, Tree, TreeChange};

/// A tree that was recorded so many ticks later still tells where a difference began.
const TREE_TICKS: u32 = 20;

/// A recording, by tick.
pub struct Timeline<S: Simulation> {
    /// What it is of.
    pub header: Header,
    /// States before the turn of their tick: the start, then keyframes. Packed, for
    /// there may be many.
    pub states: BTreeMap<Tick, Packed>,
    /// The turns that are not empty.
    pub turns: BTreeMap<Tick, Turn<S>>,
    /// The state's checksum before the turn of a tick.
    pub roots: BTreeMap<Tick, Checksum>,
    /// How the checksum tree before the turn of a tick came out of the recorded one before it.
    pub trees: BTreeMap<Tick, TreeChange>,
    /// What came out when the recorder played it again.
    pub reruns: Vec<PackedRerun>,
    /// The players' names.
    pub names: BTreeMap<PlayerId, String>,
    /// What players signed of what they told.
    pub signed: Vec<Signed>,
    /// The tick that would have been next.
    pub end: Tick,
    /// How its file ends.
    pub ending: Ending,
    /// The first difference that the recorder found while playing.
    pub noted: Option<Desync>,
}

impl<S: Simulation> Timeline<S> {
    /// Lays out a recording.
    pub fn new(recording: Recording<S>) -> Timeline<S> {
        let end = recording.end();
        let Recording { header, snapshot, entries, ending } = recording;
        let mut tick = header.start;
        let states = BTreeMap::from([(tick, Packed::of(&snapshot))]);
        let (turns, roots, trees, names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (reruns, signed, noted) = (Vec::new(), Vec::new(), None);
        let mut timeline = Timeline { header, states, turns, roots, trees, reruns, names, signed, end, ending, noted };
        for entry in entries {
            match entry {
                Entry::Empty(ticks) => tick = tick.plus(ticks),
                Entry::Turn(turn) => {
                    timeline.turns.insert(tick, turn);
                    tick = tick.next();
                }
                Entry::Checksum(root) => drop(timeline.roots.insert(tick, root)),
                Entry::Tree(change) => drop(timeline.trees.insert(tick, change)),
                Entry::Keyframe(state) => drop(timeline.states.insert(tick, state)),
                Entry::Signed(signed) => timeline.signed.push(signed),
                Entry::Rerun(rerun) => timeline.reruns.push(rerun),
                Entry::Name(player, name) => drop(timeline.names.insert(player, name)),
                // Only who goes on with the session needs them.
                Entry::Member(..) | Entry::Gone(..) | Entry::Ledger(_) => {}
                Entry::Desync(desync) => timeline.noted = timeline.noted.or(Some(desync)),
            }
        }
        timeline
    }

    /// Who recorded, as people call them.
    pub fn who(&self) -> String {
        let Header { player, name, .. } = &self.header;
        if name.is_empty() { player.to_string() } else { format!("{name} ({player})") }
    }

    /// The first tick that it knows the state of.
    pub fn start(&self) -> Tick {
        self.header.start
    }

    /// The first recorded checksum tree from a tick on, and of which tick it is. A relay records
    /// one a second; what comes later than that tells little.
    pub fn tree_from(&self, tick: Tick) -> Option<(Tick, Tree)> {
        let (&tick, _) = self.trees.range(tick..=tick.plus(TREE_TICKS)).next()?;
        let mut tree = Tree::default();
        self.trees.range(..=tick).for_each(|(_, change)| tree.apply(change));
        Some((tick, tree))
    }

    /// The recorded state before the turn of a tick, in a simulation that `build` makes of its
    /// seed.
    ///
    /// # Errors
    /// [`CodecError`] if there is none, or it cannot be read.
    pub fn load(&self, tick: Tick, build: &dyn Fn(u64) -> S) -> Result<S, CodecError> {
        let mut simulation = build(self.header.seed);
        let state = self.states.get(&tick).ok_or(CodecError::Malformed("no state was recorded then"))?;
        simulation.restore_from(&state.unpack()?)?;
        if simulation.tick() != tick {
            return Err(CodecError::Malformed("it is of another tick"));
        }
        Ok(simulation)
    }

    /// Whether it holds the turn of a tick.
    pub fn covers(&self, tick: Tick) -> bool {
        (self.start()..self.end).contains(&tick)
    }
}
