//! What one recording tells of its session, by tick.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use crate::recording::{Entry, Header, Recording};

/// A recording, by tick.
pub struct Timeline<S: Simulation> {
    /// What it is of.
    pub header: Header,
    /// Serialised states, before the turn of their tick: the start, then keyframes.
    pub states: BTreeMap<Tick, Vec<u8>>,
    /// The turns that are not empty.
    pub turns: BTreeMap<Tick, Turn<S>>,
    /// The state's checksum before the turn of a tick.
    pub roots: BTreeMap<Tick, Checksum>,
    /// The players' names.
    pub names: BTreeMap<PlayerId, String>,
    /// The tick that would have been next.
    pub end: Tick,
}

impl<S: Simulation> Timeline<S> {
    /// Lays out a recording.
    pub fn new(recording: Recording<S>) -> Timeline<S> {
        let end = recording.end();
        let Recording { header, snapshot, entries, .. } = recording;
        let mut tick = header.start;
        let states = BTreeMap::from([(tick, snapshot)]);
        let (turns, roots, names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut timeline = Timeline { header, states, turns, roots, names, end };
        for entry in entries {
            match entry {
                Entry::Empty(ticks) => tick = tick.plus(ticks),
                Entry::Turn(turn) => {
                    timeline.turns.insert(tick, turn);
                    tick = tick.next();
                }
                Entry::Checksum(root) => drop(timeline.roots.insert(tick, root)),
                Entry::Name(player, name) => drop(timeline.names.insert(player, name)),
                Entry::Desync(_) => {}
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

    /// Whether it holds the turn of a tick.
    pub fn covers(&self, tick: Tick) -> bool {
        (self.start()..self.end).contains(&tick)
    }
}

/// The newest tick at which two recordings' roots agree before the first at which they do not, and that one.
pub fn first_difference(
    ours: &BTreeMap<Tick, Checksum>,
    theirs: &BTreeMap<Tick, Checksum>,
) -> Option<(Option<Tick>, Tick)> {
    let mut agreed = None;
    for (&tick, root) in ours {
        match theirs.get(&tick) {
            Some(other) if other == root => agreed = Some(tick),
            Some(_) => return Some((agreed, tick)),
            None => {}
        }
    }
    None
}
