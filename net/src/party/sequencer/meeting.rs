//! How a session becomes one again that fell into branches: each leader tells its rank to peers
//! that it lost and that can be reached again, and the one of the lower rank yields.
//!
//! A room may also get a second founder: its members live on while the signaling server is
//! restarted, and a newcomer finds the room empty. So a leader tells its rank to strangers too, who
//! say no hello.
//!
//! It must never believe a stranger, unless nobody else would lose anything: only who was a member,
//! and was lost by silence, and whom such a one follows; or anyone, if this peer founded the
//! session and was always alone in it. Who yields gives up what its branch played, and its peers
//! look for the session again, as any that was lost.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::Simulation;

use super::Sequencing;
use crate::link::PeerId;
use crate::party::whole::Whole;
use crate::session::{DropReason, Event, Io, Role};
use crate::wire::*;

/// Between two tellings to a peer, if it does not tell another rank.
const INTERVAL: Duration = Duration::from_secs(1);
/// Who has not said hello within that is no joiner.
const HELLO_WITHIN: Duration = Duration::from_millis(500);

/// Branches of the session that this peer does not lead.
#[derive(Default)]
pub(super) struct Meeting {
    /// Peers that were lost by silence, and may go on elsewhere.
    pub parted: BTreeSet<PeerId>,
    /// Peers that asked to be let in since they were connected.
    pub greeted: BTreeSet<PeerId>,
    /// What leaders of other branches said last.
    heard: BTreeMap<PeerId, Rank>,
    /// What each was told last.
    told: BTreeMap<PeerId, Rank>,
    /// When each is to be told next.
    due: BTreeMap<PeerId, Duration>,
    /// Who leads the branch that is the session.
    pub yields: Option<PeerId>,
    /// A member that leads others, while this peer leads nobody.
    pub leader: Option<PeerId>,
}

impl Meeting {
    pub fn forget(&mut self, peer: PeerId) {
        self.parted.remove(&peer);
        self.heard.remove(&peer);
        self.told.remove(&peer);
    }

    /// The carrier lost a peer.
    pub fn lost(&mut self, peer: PeerId) {
        self.forget(peer);
        self.greeted.remove(&peer);
    }
}

impl<S: Simulation> Sequencing<S> {
    fn rank(&self) -> Rank {
        let members = self.membership.ledger.present().filter(|(player, _)| !self.is_absent(*player)).count();
        let ledger = &self.membership.ledger;
        let doublings = self.stepper.tick().since(ledger.since).checked_ilog2().map_or(0, |log| log as u8 + 1);
        let age = if self.was_always_alone() { doublings } else { Rank::SHARED + doublings };
        Rank { members: members as u16, age, branch: ledger.branch }
    }

    /// Whether nobody but its founder ever was a member.
    fn was_always_alone(&self) -> bool {
        self.membership.ledger.fresh() == 1
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

    /// Whether a peer was never heard of here.
    fn is_stranger(&self, peer: PeerId) -> bool {
        self.guests.of(peer).is_none() && !self.meeting.greeted.contains(&peer)
    }

    /// Tells those who may be led by another.
    pub(super) fn meet(&mut self, io: &mut Io<S>) {
        // Until a branch has begun, its rank is that of the session which it leaves.
        let may_tell = self.leads() && self.is_backed(io.now) && !self.reign.begins_branch();
        let ours = self.rank();
        let others = io.ingress.peers().filter_map(|peer| match self.is_parted(peer, io) {
            true => Some((peer, io.now)),
            false => self.is_stranger(peer).then_some((peer, io.now + HELLO_WITHIN)),
        });
        let others: BTreeMap<_, _> = others.collect();
        self.meeting.due.retain(|peer, _| others.contains_key(peer));
        for (peer, first) in others {
            let due = self.meeting.due.entry(peer).or_insert(first);
            if may_tell && io.now >= *due {
                *due = io.now + INTERVAL;
                let meet = Meet { ours, yours: self.meeting.heard.get(&peer).copied() };
                self.meeting.told.insert(peer, ours);
                io.out.reliably(Epoch::default(), peer, &Message::Meet(meet));
            }
        }
    }

    /// Another leader tells its rank. The lower yields, once it is sure that the other does not
    /// yield at the same time: that knows what it was told last, and leads on all the same, or
    /// would not believe it. A leader that hears no quorum closes nothing, and steps down at once
    /// for a member that leads one.
    pub(super) fn met(&mut self, from: PeerId, meet: Meet, io: &mut Io<S>) {
        let leads_this = self.membership.player(from).is_some() && meet.ours.branch == self.membership.ledger.branch;
        if leads_this && !self.is_backed(io.now) {
            self.meeting.leader = Some(from);
            return;
        }
        let is_parted = self.is_parted(from, io);
        let is_believed = is_parted || self.was_always_alone() && self.is_stranger(from);
        // Also who is not believed is told what was heard of it: it need not wait for this peer.
        let before = self.meeting.heard.insert(from, meet.ours);
        if before != Some(meet.ours)
            && let Some(due) = self.meeting.due.get_mut(&from)
        {
            // It waits to hear that this peer knows.
            *due = io.now;
        }
        if !is_believed {
            return io.out.dropped(DropReason::Unexpected);
        }
        let ours = self.rank();
        let is_lower = (ours, Reverse(self.leader.peer)) < (meet.ours, Reverse(from));
        let knows = meet.yours.is_some() && meet.yours.as_ref() == self.meeting.told.get(&from);
        let is_sure = knows || !is_parted && meet.ours.is_shared();
        if self.leads() && is_lower && is_sure {
            self.meeting.yields = Some(from);
        }
    }

    /// A member that was lost says who leads its branch. That may be one that came back to its
    /// player after this peer lost the others, and is no member here.
    pub(super) fn sent_on(&mut self, from: PeerId, leader: PeerId, io: &mut Io<S>) {
        if self.is_parted(from, io) && io.ingress.is_connected(leader) {
            self.meeting.parted.insert(leader);
        } else {
            io.out.dropped(DropReason::Unexpected);
        }
    }

    pub(super) fn yields(&self) -> bool {
        self.meeting.yields.is_some()
    }

    /// Gives the session up for another branch of it. All who followed look for that.
    pub(super) fn give_up(self, io: &mut Io<S>) -> impl Role<S> + use<S> {
        for (peer, _) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Yielded));
        }
        let was_always_alone = self.was_always_alone();
        let mut replica = Whole::follow(self.config, &self.entrant, self.leader.peer, io.now);
        match was_always_alone {
            // It is a newcomer to the others.
            true => replica.greet_anew(io),
            false => {
                io.out.events.push_back(Event::Yielded);
                replica.return_to(&self.stepper.simulation, &self.membership, self.meeting.yields, io);
            }
        }
        replica
    }
}
