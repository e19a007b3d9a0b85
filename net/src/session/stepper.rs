//! The simulation of one peer, stepped by turns as bytes. Every peer that plays turns has one: both
//! roles of a party, both ends of a relay session. It is the only place where their worlds change.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, codec};

use super::{DropReason, Event, Exchange, Outbox, PlayerStats};
use crate::limits::*;
use crate::wire::{Name, Nearby, RawInput};

/// What a stage begins with.
pub struct Beginning<S> {
    pub simulation: S,
    pub player: PlayerId,
    pub seed: u64,
    /// The simulation's state, serialised.
    pub snapshot: Vec<u8>,
}

/// How much a stage tells.
#[derive(Clone, Copy)]
pub struct Verbosity {
    /// Between two checksums that are compared.
    pub checksum_interval_ticks: u32,
    /// Between two checksums that are told with their parts, if any are.
    pub tree_interval_ticks: Option<u32>,
}

pub struct Stepper<S> {
    pub simulation: S,
    pub player: PlayerId,
    pub roster: BTreeMap<PlayerId, Name>,
    /// This world's newest checksums.
    pub checksums: BTreeMap<Tick, Checksum>,
    verbosity: Verbosity,
    /// The tick of the keyframe that was told last.
    keyframe: Option<Tick>,
}

impl<S: Simulation> Beginning<S> {
    /// A world that begins here.
    pub fn founded(mut simulation: S, player: PlayerId, seed: u64) -> Self {
        let snapshot = simulation.snapshot();
        let bytes = simulation.encode(&snapshot);
        simulation.retire(snapshot);
        Beginning { simulation, player, seed, snapshot: bytes }
    }
}

impl<S: Simulation> Stepper<S> {
    /// Sets up a world as it begins here, and tells so.
    pub fn begin(begin: Beginning<S>, verbosity: Verbosity, out: &mut Outbox<S>) -> Self {
        let Beginning { simulation, player, seed, snapshot } = begin;
        let (roster, checksums) = (BTreeMap::new(), BTreeMap::new());
        out.events.push_back(Event::Started { tick: simulation.tick(), seed, player, snapshot });
        let mut stepper = Stepper { simulation, player, roster, checksums, verbosity, keyframe: None };
        // A world that was read from bytes has its say before anything changes it.
        stepper.emit_checksum(out);
        stepper
    }

    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// Whether this peer's own hero is in the world.
    pub fn plays(&self) -> bool {
        self.roster.contains_key(&self.player)
    }

    /// A line of figures for each player. `exchange` has those of the exchange with a player's
    /// peer, if there is one.
    pub fn players(&self, sequencer: PlayerId, exchange: impl Fn(PlayerId) -> Option<Exchange>) -> Vec<PlayerStats> {
        let line = |(player, name): (&PlayerId, &Name)| PlayerStats {
            player: *player,
            name: name.as_str().to_owned(),
            own: *player == self.player,
            sequencer: *player == sequencer,
            exchange: exchange(*player),
        };
        self.roster.iter().map(line).collect()
    }

    /// A player is in the world, and is called so.
    pub fn enrol(&mut self, player: PlayerId, name: &Name, out: &mut Outbox<S>) {
        self.roster.insert(player, name.clone());
        out.events.push_back(Event::PlayerJoined { player, name: name.as_str().to_owned() });
    }

    /// Other players' heroes came into the part of the world that is known here, or went out of it.
    pub fn meet(&mut self, nearby: Nearby, out: &mut Outbox<S>) {
        for player in nearby.went.iter().filter(|player| **player != self.player) {
            self.roster.remove(player);
        }
        for (player, name) in nearby.came.into_vec().into_iter().filter(|(player, _)| *player != self.player) {
            if self.roster.insert(player, name.clone()).is_none() {
                out.events.push_back(Event::PlayerNear { player, name: name.as_str().to_owned() });
            }
        }
    }

    /// Plays the next turn. Returns the checksum after it, if one is due.
    pub fn play(&mut self, raw: &[RawInput], out: &mut Outbox<S>) -> Option<(Tick, Checksum)> {
        self.play_given(raw, Vec::new(), out)
    }

    /// The same, and at the turn's end what the simulation is given from outside.
    pub fn play_given(
        &mut self,
        raw: &[RawInput],
        given: Vec<S::Given>,
        out: &mut Outbox<S>,
    ) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        let inputs = raw.iter().filter_map(|input| read(input, out));
        let turn = Turn { inputs: inputs.chain(given.into_iter().map(Input::Given)).collect() };
        self.simulation.step(&turn);
        if !turn.inputs.is_empty() {
            out.events.push_back(Event::Turn { tick, turn });
        }
        raw.iter().for_each(|input| self.follow_roster(input, out));
        self.check(out)
    }

    /// Tells a copy of the state as it is now, if it was not told yet.
    pub fn emit_keyframe(&mut self, out: &mut Outbox<S>) {
        let tick = self.simulation.tick();
        if self.keyframe.replace(tick) != Some(tick) {
            out.events.push_back(Event::Keyframe { tick, snapshot: self.simulation.snapshot() });
        }
    }

    fn follow_roster(&mut self, input: &RawInput, out: &mut Outbox<S>) {
        match input {
            RawInput::Join(player, name, _) => self.enrol(*player, name, out),
            RawInput::Leave(player, reason) => {
                self.roster.remove(player);
                out.events.push_back(Event::PlayerLeft { player: *player, reason: *reason });
            }
            RawInput::Command(..) | RawInput::Request(_) => {}
        }
    }

    /// Tells what came out of a tick. Returns the checksum, if it is one that is compared.
    fn check(&mut self, out: &mut Outbox<S>) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        // First the keyframe: what begins with it has its checksum too.
        if tick.0.is_multiple_of(KEYFRAME_TICKS) {
            self.emit_keyframe(out);
        }
        let checksum = self.emit_checksum(out);
        if !tick.0.is_multiple_of(self.verbosity.checksum_interval_ticks) {
            return None;
        }
        self.checksums.insert(tick, checksum);
        if self.checksums.len() > CHECKSUMS_KEPT_MAX {
            self.checksums.pop_first();
        }
        Some((tick, checksum))
    }

    fn emit_checksum(&mut self, out: &mut Outbox<S>) -> Checksum {
        let (tick, checksum) = (self.simulation.tick(), self.simulation.checksum());
        let tells_tree = self.verbosity.tree_interval_ticks.is_some_and(|interval| tick.0.is_multiple_of(interval));
        let tree = if tells_tree { self.simulation.tree() } else { Vec::new() };
        out.events.push_back(Event::Checksum { tick, checksum, tree });
        checksum
    }
}

/// An input that cannot be read is passed over. Every peer passes over the same ones, because all
/// read the same bytes by the same rules.
fn read<S: Simulation>(raw: &RawInput, out: &mut Outbox<S>) -> Option<Input<S>> {
    let input = match raw {
        RawInput::Command(player, bytes) => {
            codec::read(bytes, COMMAND_BYTES_MAX).map(|command| Input::Command(*player, command))
        }
        RawInput::Join(player, _, bytes) => codec::read(bytes, JOIN_BYTES_MAX).map(|join| Input::Join(*player, join)),
        RawInput::Leave(player, _) => Ok(Input::Leave(*player)),
        RawInput::Request(bytes) => codec::read(bytes, REQUEST_BYTES_MAX).map(Input::Request),
    };
    input.map_err(|_| out.dropped(DropReason::BadInput)).ok()
}
