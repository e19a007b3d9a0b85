//! The simulation of one peer, stepped by turns as bytes. Both roles have one; it is the only place where a party's world changes.

use std::collections::BTreeMap;

use lockstone_sim::{Checksum, Input, PlayerId, Simulation, Tick, Turn, codec};

use crate::limits::*;
use crate::session::{DropReason, Event, Out};
use crate::wire::{Name, RawInput};

pub(super) struct Stage<S> {
    pub simulation: S,
    pub player: PlayerId,
    pub roster: BTreeMap<PlayerId, Name>,
    /// This world's newest checksums.
    pub checksums: BTreeMap<Tick, Checksum>,
    checksum_interval_ticks: u32,
}

impl<S: Simulation> Stage<S> {
    pub fn new(simulation: S, player: PlayerId, checksum_interval_ticks: u32) -> Self {
        let (roster, checksums) = (BTreeMap::new(), BTreeMap::new());
        Stage { simulation, player, roster, checksums, checksum_interval_ticks }
    }

    pub fn tick(&self) -> Tick {
        self.simulation.tick()
    }

    /// Whether this peer's own hero is in the world.
    pub fn plays(&self) -> bool {
        self.roster.contains_key(&self.player)
    }

    /// Plays the next turn. Returns the checksum after it, if one is due.
    pub fn play(&mut self, raw: &[RawInput], out: &mut Out<S>) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        let turn = Turn { inputs: raw.iter().filter_map(|input| read(input, out)).collect() };
        self.simulation.step(&turn);
        if !turn.inputs.is_empty() {
            out.events.push_back(Event::Turn { tick, turn });
        }
        raw.iter().for_each(|input| self.enrol(input, out));
        self.checksum(out)
    }

    fn enrol(&mut self, input: &RawInput, out: &mut Out<S>) {
        match input {
            RawInput::Join(player, name, _) => {
                self.roster.insert(*player, name.clone());
                out.events.push_back(Event::PlayerJoined { player: *player, name: name.as_str().to_owned() });
            }
            RawInput::Leave(player, reason) => {
                self.roster.remove(player);
                out.events.push_back(Event::PlayerLeft { player: *player, reason: *reason });
            }
            RawInput::Command(..) | RawInput::Request(_) => {}
        }
    }

    fn checksum(&mut self, out: &mut Out<S>) -> Option<(Tick, Checksum)> {
        let tick = self.simulation.tick();
        if !tick.0.is_multiple_of(self.checksum_interval_ticks) {
            return None;
        }
        let checksum = self.simulation.checksum();
        out.events.push_back(Event::Checksum { tick, checksum });
        self.checksums.insert(tick, checksum);
        if self.checksums.len() > CHECKSUMS_KEPT_MAX {
            self.checksums.pop_first();
        }
        Some((tick, checksum))
    }
}

/// An input that cannot be read is passed over. Every peer passes over the same ones, because all read the same bytes by the same rules.
fn read<S: Simulation>(raw: &RawInput, out: &mut Out<S>) -> Option<Input<S>> {
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
