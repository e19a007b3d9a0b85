//! What waits to enter a turn: who leaves, who arrives, and each player's commands.
//!
//! It knows limits of what may wait and of what one turn takes, and nothing of packets.

use std::collections::{BTreeMap, VecDeque};

use lockstone_sim::{PlayerId, Simulation, codec};

use super::Taken;
use crate::limits::*;
use crate::link::PeerId;
use crate::session::{CommandError, DropReason, Outbox};
use crate::wire::{Bytes, CommandBytes, Name, PublicKey, RawInput, Report};

/// How much of each kind one turn takes; more waits for the next. Commands of each player, requests
/// and their bytes have limits of their own, the same in every session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    pub leaves: usize,
    pub joins: usize,
}

impl Capacity {
    pub const PARTY: Capacity = Capacity { leaves: PLAYERS_MAX, joins: JOINS_PER_TURN_MAX };
    pub const RELAY: Capacity = Capacity { leaves: RELAY_PLAYERS_MAX, joins: RELAY_JOINS_PER_TURN_MAX };
}

/// A player that enters, or comes back to its hero.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub player: PlayerId,
    pub peer: PeerId,
    pub key: Option<PublicKey>,
    pub name: Name,
    /// How it enters; nothing, if its hero is there.
    pub join: Option<Bytes<JOIN_BYTES_MAX>>,
    /// How many of its commands are in closed turns.
    pub commands: u32,
}

/// Inputs that wait for a turn.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// How many commands of each player have come.
    came: BTreeMap<PlayerId, u32>,
    /// The players that have commands waiting: of many players mostly a few.
    busy: BTreeMap<PlayerId, VecDeque<CommandBytes>>,
    /// Those who leave, and those who are away.
    leaves: VecDeque<RawInput>,
    arrivals: VecDeque<Arrival>,
}

impl Waiting {
    /// A player comes; from now on its commands are taken.
    pub fn arrive(&mut self, arrival: Arrival) {
        self.came.insert(arrival.player, arrival.commands);
        self.arrivals.push_back(arrival);
    }

    /// A player is in the world, and so many of its commands are in closed turns: none counts that
    /// came and is in none.
    pub fn resume(&mut self, player: PlayerId, commands: u32) {
        self.busy.remove(&player);
        self.came.insert(player, commands);
    }

    /// A player is gone: what says so is a leave, or that it is away. If the arrival has not
    /// entered a turn yet, neither does.
    pub fn leave(&mut self, player: PlayerId, input: RawInput) {
        if self.came.remove(&player).is_none() {
            return;
        }
        self.busy.remove(&player);
        let arrivals = self.arrivals.len();
        self.arrivals.retain(|arrival| arrival.player != player);
        if self.arrivals.len() == arrivals {
            self.leaves.push_back(input);
        }
    }

    /// Whether a turn will say that a player leaves, and is no player any more.
    pub fn removes(&self, player: PlayerId) -> bool {
        self.leaves.iter().any(|input| matches!(input, RawInput::Leave(leaver, _) if *leaver == player))
    }

    /// A player's commands, the first of which has number `first`. Those that are not
    /// `sound` are dropped.
    pub fn commands(
        &mut self,
        player: PlayerId,
        first: u32,
        commands: &[CommandBytes],
        sound: impl Fn(&CommandBytes) -> bool,
    ) -> Taken {
        let mut result = Taken::default();
        let Some(came) = self.came.get_mut(&player).filter(|_| !commands.is_empty()) else {
            result.refused = commands.len() as u64;
            return result;
        };
        let waiting = self.busy.entry(player).or_default();
        for (command, number) in commands.iter().zip(first..=u32::MAX) {
            if number < *came {
                result.repeated += 1;
            } else if number > *came || waiting.len() == COMMANDS_QUEUED_MAX {
                result.refused += 1;
            } else {
                *came += 1;
                if sound(command) {
                    waiting.push_back(command.clone());
                    result.new += 1;
                } else {
                    result.malformed += 1;
                }
            }
        }
        if waiting.is_empty() {
            self.busy.remove(&player);
        }
        result
    }

    /// A command of this peer's own player.
    pub fn own_command(&mut self, player: PlayerId, command: CommandBytes) -> Result<(), CommandError> {
        let number = self.commands_came(player);
        let taken = self.commands(player, number, &[command], |_| true);
        if taken.new == 1 { Ok(()) } else { Err(CommandError::Full) }
    }

    /// What a player's peer reports, or the first `allowed` commands of it.
    pub fn report<S: Simulation>(&mut self, player: PlayerId, report: &Report, allowed: usize, out: &mut Outbox<S>) {
        let sound = |command: &CommandBytes| codec::read::<S::Command>(command, COMMAND_BYTES_MAX).is_ok();
        let taken = self.commands(player, report.first_command, &report.commands[..allowed], sound);
        out.stats.drops.add(DropReason::BadCommand, taken.malformed);
        out.stats.drops.add(DropReason::CommandFlood, taken.refused + (report.commands.len() - allowed) as u64);
    }

    /// A player's commands that the next turn takes.
    pub fn of(&self, player: PlayerId) -> impl Iterator<Item = &CommandBytes> {
        self.busy.get(&player).into_iter().flatten().take(COMMANDS_PER_TURN_MAX)
    }

    /// Takes back a player's commands that are in no closed turn.
    pub fn withdraw(&mut self, player: PlayerId) -> Vec<CommandBytes> {
        self.busy.remove(&player).unwrap_or_default().into()
    }

    /// How many of a player's commands are in closed turns, or were no commands.
    pub fn commands_taken(&self, player: PlayerId) -> u32 {
        let waiting = self.busy.get(&player).map_or(0, VecDeque::len) as u32;
        self.commands_came(player) - waiting
    }

    /// How many of a player's commands have come.
    pub fn commands_came(&self, player: PlayerId) -> u32 {
        self.came.get(&player).copied().unwrap_or(0)
    }

    /// What enters the next turn: leaves, arrivals, those requests, then commands by player and
    /// number.
    pub fn take(&mut self, capacity: Capacity, requests: Vec<RawInput>) -> Vec<RawInput> {
        let mut inputs = Vec::new();
        inputs.extend(self.leaves.drain(..self.leaves.len().min(capacity.leaves)));
        let arrivals = self.arrivals.drain(..self.arrivals.len().min(capacity.joins));
        for Arrival { player, peer, key, name, join, .. } in arrivals {
            inputs.push(RawInput::Member(player, peer, key));
            inputs.push(match join {
                Some(join) => RawInput::Join(player, name, join),
                None => RawInput::Back(player, name),
            });
        }
        inputs.extend(requests);
        for (player, waiting) in &mut self.busy {
            let commands = waiting.drain(..waiting.len().min(COMMANDS_PER_TURN_MAX));
            inputs.extend(commands.map(|command| RawInput::Command(*player, command)));
        }
        self.busy.retain(|_, waiting| !waiting.is_empty());
        inputs
    }
}
