//! What a member of a session that outlives its leader keeps, whatever its role: who is in, whose
//! votes count, the newest closed turns, and its own vote.
//!
//! It follows the turns as they become known, and talks to the other members of who leads. It never
//! plays, and never decides what is in a turn.

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::{Ledger, Outbox};
use crate::limits::BULK_PACKET_BYTES_MAX;
use crate::link::{Channel, PeerId};
use crate::members::Members;
use crate::sequencer::History;
use crate::wire::*;

pub struct Membership {
    pub me: PlayerId,
    pub members: Members,
    pub ledger: Ledger,
    pub history: History<RawTurn>,
    /// The epoch of the leader that closed the newest of these turns.
    epoch: Epoch,
}

impl Membership {
    /// Of a member that was let in by a leader, and knows nothing before tick `first`.
    pub fn new(me: PlayerId, leader: Vote, ledger: Ledger, first: Tick, now: Duration) -> Membership {
        let members = Members::following(me, leader, now);
        Membership { me, members, ledger, history: History::starting_at(first), epoch: leader.epoch }
    }

    pub fn known(&self) -> Known {
        Known { epoch: self.epoch, end: self.history.open() }
    }

    /// From here on turns are those of the leader of an epoch.
    pub fn go_on_in(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// The turn of the next tick is closed.
    pub fn close(&mut self, inputs: &[RawInput]) {
        self.ledger.closed(self.history.open(), inputs);
        inputs.iter().filter_map(RawInput::leaver).for_each(|player| self.members.forget(player));
        self.history.close_with(inputs);
    }

    /// The player of another member, whose word counts.
    pub fn player(&self, peer: PeerId) -> Option<PlayerId> {
        self.ledger.player(peer).filter(|player| *player != self.me)
    }

    /// Whether those members can decide.
    pub fn is_quorum(&self, present: impl Fn(PlayerId) -> bool) -> bool {
        self.ledger.electorates.is_quorum(present)
    }

    /// Does what is due, and tells the others, if there is something to tell.
    pub fn advance<S: Simulation>(&mut self, now: Duration, out: &mut Outbox<S>) {
        let Some(stand) = self.members.advance(self.known(), &self.ledger.electorates, now) else { return };
        for (_, member) in self.ledger.present().filter(|(player, _)| *player != self.me) {
            out.send(Epoch::default(), member.peer, Channel::Unreliable, &Message::Stand(stand));
        }
    }

    /// Takes what another member says of who leads.
    pub fn take<S: Simulation>(&mut self, from: PeerId, stand: Stand, now: Duration, out: &mut Outbox<S>) {
        if self.player(from).is_some_and(|player| self.members.take(player, stand, now)) {
            self.answer(from, out);
        }
    }

    /// Tells one who does not know what is decided.
    pub fn answer<S: Simulation>(&self, to: PeerId, out: &mut Outbox<S>) {
        let stand = self.members.stand(self.known());
        out.send(Epoch::default(), to, Channel::Unreliable, &Message::Stand(stand));
    }

    /// What those know who elected this member, if it is elected.
    pub fn elected(&self, now: Duration) -> Option<Vec<(PlayerId, Known)>> {
        Some(self.members.elected(&self.ledger.electorates, now)?.into_iter().collect())
    }

    /// Sends who is elected the turns from a tick on. Returns whether they are known here.
    pub fn fetched<S: Simulation>(&self, by: PeerId, first: Tick, out: &mut Outbox<S>) -> bool {
        let known = (self.history.oldest()..=self.history.open()).contains(&first);
        if known {
            let turns = self.history.cut(first, BULK_PACKET_BYTES_MAX);
            out.send_turns(self.members.promised(), by, Channel::Reliable, TurnsKind::Fetched, &turns);
        }
        known
    }
}
