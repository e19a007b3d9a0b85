//! Who decides that the relay is lost, who of them knows of which heir, and how the relay gives way
//! to one that they follow.
//!
//! It must never count a witness as one that it may have ceased to be.

use core::time::Duration;
use std::collections::BTreeSet;

use lockstone_sim::{PlayerId, Rules, World};

use super::follower::Course;
use super::{Place, Succession};
use crate::link::PeerId;
use crate::members::{EPOCHS_AHEAD_MAX, Electorate};
use crate::relay::host::Host;
use crate::relay::host::guest::Guest;
use crate::session::{DropReason, EndReason, Io, Outbox};
use crate::wire::*;

/// Replicas that are named as witnesses at most.
const WITNESSES_MAX: usize = 15;
/// Between two epochs that this relay begins, so that nobody makes it begin many.
const EPOCH_INTERVAL: Duration = Duration::from_secs(5);
/// Between two times that it gives up its standby for that, so that nobody keeps it without one.
const PARTING_INTERVAL: Duration = Duration::from_secs(60);
/// It takes no standby for so long then, unless the epoch begins before.
const ALONE: Duration = Duration::from_secs(3);

impl<R: Rules> Host<R> {
    /// What the next turn says of the witnesses.
    pub fn name_witnesses(&mut self) -> Vec<RawInput> {
        let (own, open) = (self.stepper.player, self.open());
        let electorates = &self.ledger.electorates;
        self.succession.lapsed.retain(|player| electorates.iter().any(|named| named == *player));
        let known = match &self.succession.place {
            Place::Taken(follower) if follower.course != Course::Loading => follower.feed.known(),
            Place::Dismissed { .. } => return Vec::new(),
            // Nobody else may decide.
            Place::Vacant | Place::Taken(_) => {
                self.succession.changed = None;
                let alone = Electorate::of([own].into_iter());
                return match electorates.settled() {
                    Some(settled) if *settled == alone => Vec::new(),
                    _ => vec![RawInput::Electorate(alone), RawInput::Settled],
                };
            }
        };
        if let Some(changed) = self.succession.changed {
            self.succession.changed = Some(changed).filter(|changed| known <= *changed);
            return if known > changed { vec![RawInput::Settled] } else { Vec::new() };
        }
        let Some(settled) = electorates.settled() else { return Vec::new() };
        let next = self.witnesses(settled);
        if next == *settled {
            return Vec::new();
        }
        self.succession.changed = Some(open);
        vec![RawInput::Electorate(next)]
    }

    /// Replicas whose heroes are in the world: those that are witnesses already, then others. If
    /// there are none, this relay decides alone.
    fn witnesses(&self, settled: &Electorate) -> Electorate {
        let own = self.stepper.player;
        let plays = |player| {
            let guest = self.guests.slot_of(player).and_then(|slot| self.guests.get(slot));
            player != own && guest.is_some_and(Guest::plays) && !self.succession.lapsed.contains(&player)
        };
        let present = |player: &PlayerId| self.ledger.members.get(player).is_some_and(|member| member.away.is_none());
        let kept = settled.members.iter().copied().filter(|player| present(player) && plays(*player));
        let kept: BTreeSet<_> = kept.collect();
        let others = self.ledger.present().map(|(player, _)| player);
        let others = others.filter(|player| !kept.contains(player) && plays(*player));
        let named: BTreeSet<_> = others.take(WITNESSES_MAX - kept.len().min(WITNESSES_MAX)).collect();
        let named: BTreeSet<_> = kept.into_iter().chain(named).collect();
        let next = Electorate::of(if named.is_empty() { vec![own] } else { Vec::from_iter(named) }.into_iter());
        let senior = if next.members.contains(&settled.senior) { settled.senior } else { next.senior };
        Electorate { senior, ..next }
    }

    pub fn tell_heir(&self, out: &mut Outbox<World<R>>) {
        self.guests.peers().for_each(|(peer, _)| self.tell_heir_to(peer, out));
    }

    /// Tells a replica who leads on, if there is something to tell.
    pub fn tell_heir_to(&self, peer: PeerId, out: &mut Outbox<World<R>>) {
        if let Some(heir) = self.succession.heir() {
            out.reliably(self.leader.epoch, peer, &Message::Heir(heir));
        }
    }

    /// A replica knows who leads on.
    pub fn heir_known(&mut self, from: PeerId, heir: Heir, out: &mut Outbox<World<R>>) {
        let Some(guest) = self.guests.of(from) else { return };
        let (player, counts) = (guest.player, guest.plays());
        let Succession { place, lapsed, number, .. } = &mut self.succession;
        if let Place::Dismissed { knowing, .. } = place
            && heir.number == *number
            && counts
            && !lapsed.contains(&player)
        {
            knowing.insert(player);
            self.settle_dismissal(out);
        }
    }

    /// Goes on alone once a quorum of the witnesses follows no other. The heir that was is to load
    /// the world anew.
    pub fn settle_dismissal(&mut self, out: &mut Outbox<World<R>>) {
        let own = self.stepper.player;
        if let Place::Dismissed { slow, knowing } = &self.succession.place
            && self.ledger.electorates.is_quorum_of_each(|player| player == own || knowing.contains(&player))
        {
            let removed = Message::Removed(LeaveReason::TooSlow);
            slow.iter().for_each(|slow| out.reliably(self.leader.epoch, slow.peer, &removed));
            self.succession.place = Place::Vacant;
        }
    }

    /// A replica has promised to follow another.
    pub fn strays(&mut self, from: PeerId, stand: Stand, io: &mut Io<World<R>>) {
        let Some(player) = self.guests.of(from).map(|guest| guest.player) else { return };
        if stand.vote.epoch <= self.leader.epoch || !self.succession.holds() {
            return io.out.dropped(DropReason::Unexpected);
        }
        self.succession.strays.insert(player);
        let strays = &self.succession.strays;
        if self.ledger.electorates.is_quorum_of_each(|player| strays.contains(&player)) {
            self.give_up(io);
        }
    }

    /// Another leads in this relay's place: who is still here is to look for it.
    pub fn give_up(&self, io: &mut Io<World<R>>) {
        for (peer, _) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Lost));
        }
        io.out.end(EndReason::Superseded);
    }

    /// Begins an epoch after the one that somebody has promised, if nobody can lead in that: a
    /// standby is given up first. Returns whether it did.
    fn outruns(&mut self, promised: Epoch, io: &mut Io<World<R>>) -> bool {
        let ahead = promised.0.saturating_sub(self.leader.epoch.0);
        let may = io.now >= self.succession.wary_until && ahead < EPOCHS_AHEAD_MAX;
        if !may || self.succession.began_at.is_some_and(|at| io.now < at + EPOCH_INTERVAL) {
            return false;
        }
        self.part_from_standby(io);
        let succession = &mut self.succession;
        if succession.holds() {
            return false;
        }
        succession.alone_until = io.now;
        succession.began_at = Some(io.now);
        succession.strays.clear();
        let from = Known { epoch: self.leader.epoch, end: self.stepper.tick(), ..Known::default() };
        self.leader.epoch = Epoch(promised.0.saturating_add(1));
        let lead = Message::Lead(Lead { from, ..Lead::default() });
        let standby = self.succession.follower().map(|follower| follower.peer);
        let peers = self.guests.peers().map(|(peer, _)| peer).chain(standby);
        peers.for_each(|peer| io.out.reliably(self.leader.epoch, peer, &lead));
        true
    }

    /// Goes on without a standby for a while, if nothing else keeps an epoch from beginning.
    fn part_from_standby(&mut self, io: &mut Io<World<R>>) {
        let Some(standby) = self.succession.standby().filter(|_| self.succession.holds()) else { return };
        let succession = &mut self.succession;
        if succession.parted_at.is_none_or(|at| io.now >= at + PARTING_INTERVAL) {
            succession.parted_at = Some(io.now);
            succession.alone_until = io.now + ALONE;
            self.remove_standby(standby, &mut io.out);
        }
    }

    /// Whether a joiner may be let in now. It asks again.
    pub fn admits(&mut self, hello: &Hello, io: &mut Io<World<R>>) -> bool {
        let is_open = io.now >= self.succession.wary_until && !self.succession.stands_still(io.now);
        is_open && (hello.promised <= self.leader.epoch || self.outruns(hello.promised, io))
    }
}
