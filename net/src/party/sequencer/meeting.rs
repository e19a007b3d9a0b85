//! How a session becomes one again whose parts went on by themselves: each leader tells its rank to
//! peers that it lost and that can be reached again, and the one of the lower rank yields.
//!
//! It must never believe a stranger: only who was a member, and was lost by silence. Who yields
//! discards what its part played, and its peers look for the session again, as any that was lost.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::Simulation;

use super::Sequencing;
use crate::link::PeerId;
use crate::party::whole::Whole;
use crate::session::{DropReason, Io, Role};
use crate::wire::*;

/// Between two tellings.
const INTERVAL: Duration = Duration::from_secs(1);

/// Parts of the session that this peer does not lead.
#[derive(Default)]
pub(super) struct Meeting {
    /// Peers that were lost by silence, and may go on elsewhere.
    pub parted: BTreeSet<PeerId>,
    /// What leaders among them said last.
    heard: BTreeMap<PeerId, Rank>,
    told_at: Option<Duration>,
    /// Whether another part is the session.
    yields: bool,
}

impl Meeting {
    pub fn forget(&mut self, peer: PeerId) {
        self.parted.remove(&peer);
        self.heard.remove(&peer);
    }
}

impl<S: Simulation> Sequencing<S> {
    fn rank(&self) -> Rank {
        let members = self.membership.ledger.present().count();
        Rank { members: members as u16, epoch: self.leader.epoch }
    }

    /// Whether a peer was a member, was lost, and can be reached again.
    fn is_parted(&self, peer: PeerId, io: &Io<S>) -> bool {
        let is_away = || {
            let mut members = self.membership.ledger.members.values();
            members.any(|member| member.peer == peer && member.away.is_some())
        };
        io.ingress.is_connected(peer)
            && self.guests.of(peer).is_none()
            && (self.meeting.parted.contains(&peer) || is_away())
    }

    /// Tells those who may be led by another.
    pub(super) fn meet(&mut self, io: &mut Io<S>) {
        let is_due = self.meeting.told_at.is_none_or(|told_at| io.now >= told_at + INTERVAL);
        if !is_due || !self.leads() || !self.is_backed(io.now) {
            return;
        }
        self.meeting.told_at = Some(io.now);
        let peers: Vec<_> = io.ingress.peers().filter(|peer| self.is_parted(*peer, io)).collect();
        for peer in peers {
            let meet = Meet { ours: self.rank(), yours: self.meeting.heard.get(&peer).copied() };
            io.out.reliably(Epoch::default(), peer, &Message::Meet(meet));
        }
    }

    /// Another leader tells its rank. The lower yields, once it is sure that the other knows its
    /// own: then the other does not yield to it at the same time. A leader that hears no quorum
    /// closes nothing, and yields at once to a member that leads one.
    pub(super) fn met(&mut self, from: PeerId, meet: Meet, io: &mut Io<S>) {
        let leads_alone = self.membership.player(from).is_some() && !self.is_backed(io.now);
        if !leads_alone && !self.is_parted(from, io) {
            return io.out.dropped(DropReason::Unexpected);
        }
        self.meeting.heard.insert(from, meet.ours);
        let ours = self.rank();
        let is_lower = (ours, Reverse(self.leader.peer)) < (meet.ours, Reverse(from));
        self.meeting.yields = self.leads() && (leads_alone || is_lower && meet.yours == Some(ours));
    }

    pub(super) fn yields(&self) -> bool {
        self.meeting.yields
    }

    /// Gives the session up for another part of it. All who followed look for that.
    pub(super) fn give_up(self, io: &mut Io<S>) -> impl Role<S> + use<S> {
        for (peer, _) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Yielded));
        }
        let promised = self.membership.members.promised();
        let mut replica = Whole::follow(self.config, &self.entrant, self.leader.peer, io.now);
        replica.return_to(&self.stepper.simulation, promised, io);
        replica
    }
}
