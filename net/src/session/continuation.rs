//! A session at the last tick that is known of it, so that a peer can found it again: the world,
//! and what the turns said beside it.
//!
//! It comes out of a recording, which is hostile until checked: here what it says beside the world
//! is; the world is by whoever plays it. It knows no file.

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Input, PlayerId, Simulation, Turn};

use super::{EndReason, Entrant, Ledger, Member, Outbox};
use crate::key::PlayerKey;
use crate::link::PeerId;
use crate::sequencer::{Arrival, Waiting};
use crate::wire::{Bytes, CommandBytes, LeaveReason, PublicKey, RawInput, Refusal};

/// A session to go on from where it ended. Its loop is [`play`](Continuation::play), for each turn
/// that is known beyond the state that it was begun with.
pub struct Continuation<S: Simulation> {
    seed: u64,
    simulation: S,
    ledger: Ledger,
    /// By which keys those were known who left with the last turn.
    left: Vec<(PlayerId, PublicKey)>,
}

impl<S: Simulation> Continuation<S> {
    /// From a world of a session of that seed, and what was told of the session with it: the
    /// [`Event::Ledger`](super::Event::Ledger) of the same tick.
    ///
    /// # Errors
    /// [`CodecError`] if that is something else.
    pub fn new(seed: u64, simulation: S, ledger: &[u8]) -> Result<Self, CodecError> {
        Ok(Continuation { seed, simulation, ledger: Ledger::decode(ledger)?, left: Vec::new() })
    }

    /// Plays the next turn.
    pub fn play(&mut self, turn: &Turn<S>) {
        let tick = self.simulation.tick();
        let inputs: Vec<_> = turn.inputs.iter().filter_map(raw).collect();
        self.simulation.step(turn);
        let leavers = inputs.iter().filter_map(RawInput::leaver);
        self.left = leavers.filter_map(|player| Some((player, self.ledger.members.get(&player)?.key?))).collect();
        self.ledger.played(tick, &inputs, &self.simulation);
    }

    /// Who came with the turn that was played last has that key: an
    /// [`Event::Member`](super::Event::Member).
    pub fn member(&mut self, player: PlayerId, key: Option<PublicKey>) {
        self.ledger.members.entry(player).and_modify(|member| member.key = key);
    }

    /// Why a player left with the turn that was played last: an
    /// [`Event::PlayerLeft`](super::Event::PlayerLeft). Who was put out for good stays out.
    pub fn left(&mut self, player: PlayerId, reason: LeaveReason) {
        let key = self.left.iter().find(|(left, _)| *left == player && reason.outlaws());
        key.into_iter().for_each(|(_, key)| self.ledger.outlaw(*key));
    }

    /// The world as it is by now.
    pub fn simulation(&mut self) -> &mut S {
        &mut self.simulation
    }

    /// Ends it: this is where a peer goes on.
    pub(super) fn end(mut self) -> Past {
        Past { seed: self.seed, snapshot: self.simulation.encoded(), ledger: self.ledger }
    }
}

/// An input as the ledger takes it, if it does.
fn raw<S: Simulation>(input: &Input<S>) -> Option<RawInput> {
    Some(match input {
        Input::Command(player, _) => RawInput::Command(*player, CommandBytes::default()),
        Input::Join(player, _) | Input::Back(player) => RawInput::Member(*player, PeerId(0), None),
        Input::Leave(player) => RawInput::Leave(*player, LeaveReason::Left),
        Input::Away(player) => RawInput::Away(*player, LeaveReason::Lost),
        Input::Request(request) => RawInput::Request(Bytes::try_from(codec::compact(request)).ok()?),
        Input::Given(_) => return None,
    })
}

/// Where a peer goes on that founds a session again.
pub struct Past {
    seed: u64,
    snapshot: Vec<u8>,
    ledger: Ledger,
}

/// A session as its founder begins it.
pub struct Founded<S> {
    pub seed: u64,
    pub simulation: S,
    pub ledger: Ledger,
    /// The founder's own.
    pub player: PlayerId,
}

impl<S: Simulation> Entrant<S> {
    /// Founds a session: a new one of a seed, or another time the one that this peer goes on with.
    /// All who were in that are away, and wait for their players, as the simulation says; nobody
    /// waits whose player cannot be known again. This peer's own player, if it has one, is on its
    /// way in, or back. It ends if there is no place for it.
    pub(crate) fn found(
        &self,
        (seed, players_max): (u64, usize),
        me: PeerId,
        waiting: &mut Waiting,
        out: &mut Outbox<S>,
    ) -> Founded<S> {
        let (seed, simulation, mut ledger) = self.begin(seed, out);
        let stays = |member: &Member| member.key.is_some();
        let player = self.take_up((&simulation, &mut ledger), (players_max, me), stays, waiting, out);
        Founded { seed, simulation, ledger, player }
    }

    /// Takes up a session that another led, in that world. Those members are away whose player can
    /// be known again, `stays`, if the simulation lets heroes wait; the others leave. This peer's
    /// own player, if it has one, is on its way in, or back. Returns which one that is.
    pub(crate) fn take_up(
        &self,
        (simulation, ledger): (&S, &mut Ledger),
        (players_max, me): (usize, PeerId),
        stays: impl Fn(&Member) -> bool,
        waiting: &mut Waiting,
        out: &mut Outbox<S>,
    ) -> PlayerId {
        let stays = |member: &Member| simulation.away_ticks() > 0 && stays(member);
        let key = self.key.as_ref().map(PlayerKey::public).filter(|_| self.newcomer.is_some());
        let mut members = ledger.members.iter();
        let own = members.find(|(_, member)| stays(member) && key.is_some() && member.key == key);
        let own = own.map(|(player, _)| *player);
        for (player, member) in ledger.members.iter().filter(|(_, member)| member.away.is_none()) {
            let gone = match stays(member) {
                true => RawInput::Away(*player, LeaveReason::Lost),
                false => RawInput::Leave(*player, LeaveReason::Lost),
            };
            waiting.resume(*player, member.commands);
            waiting.leave(*player, gone);
        }
        let places = ledger.members.values().filter(|member| stays(member)).count();
        let comes = usize::from(self.newcomer.is_some() && own.is_none());
        // Who closes ticks without a hero is player 0, unless somebody is.
        let first = Some(PlayerId(0)).filter(|first| comes == 0 && !ledger.members.contains_key(first));
        let number = own.or(first).or_else(|| ledger.number()).filter(|_| places + comes <= players_max);
        let player = number.unwrap_or_else(|| {
            out.end(EndReason::Refused(Refusal::Full { players_max: players_max as u16 }));
            PlayerId(0)
        });
        if let Some(newcomer) = &self.newcomer {
            let join = own.is_none().then(|| simulation.admit(player, newcomer.hero.clone()));
            match join.map(|join| Bytes::try_from(codec::compact(&join))).transpose() {
                Ok(join) => {
                    let (name, commands) = (newcomer.name.clone(), ledger.commands(player));
                    waiting.arrive(Arrival { player, peer: me, key, name, join, commands });
                }
                Err(_) => out.end(EndReason::Refused(Refusal::Hero)),
            }
        }
        ledger.found(player, me, simulation.tick());
        player
    }

    /// The session as it is before anything is done with it.
    fn begin(&self, seed: u64, out: &mut Outbox<S>) -> (u64, S, Ledger) {
        let Some(past) = &self.past else { return (seed, (self.build)(seed), Ledger::new()) };
        let (mut simulation, mut ledger) = ((self.build)(past.seed), past.ledger.clone());
        if let Err(error) = simulation.restore_from(&past.snapshot) {
            out.end(EndReason::Snapshot(error));
        }
        // A recording may say anything.
        let tick = simulation.tick();
        ledger.members.values_mut().for_each(|member| member.away = member.away.map(|since| since.min(tick)));
        (past.seed, simulation, ledger)
    }
}
