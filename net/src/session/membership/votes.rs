//! A member's votes, signed, and what it learns of others': who voted for two is not trusted.

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation};

use super::Membership;
use crate::key::PlayerKey;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::session::{Ballots, DropReason, Event, Ledger, Member, Outbox, Voters};
use crate::wire::*;

impl Membership {
    /// It signs its votes, but none in an epoch in which it may have voted before.
    pub fn signing(mut self, key: Option<PlayerKey>, promised: Epoch) -> Membership {
        self.ballots = Ballots::of((self.me, self.peer), key, promised);
        self.members.skip(promised);
        self
    }

    /// The newest epoch in which it may have voted.
    pub fn voted(&self) -> Epoch {
        self.ballots.promised().max(self.members.promised())
    }

    /// What it says of who leads.
    pub fn stand(&mut self) -> Stand {
        self.ballots.signed(self.members.stand(self.known()), self.members.given())
    }

    /// Who leaves votes for another, as its last word. It knows nothing that one would wait for.
    pub fn last_word(&mut self, heir: PlayerId, now: Duration) -> Stand {
        self.members.hand_over(heir, now);
        let known = Known { branch: self.ledger.branch, ..Known::default() };
        self.ballots.signed(Stand::of(self.members.vote(), known), self.members.given())
    }

    /// Another member says that it leads, and by whose votes. Returns whether this one is to lead
    /// no more: both were elected in one epoch, as somebody voted for both, and the other has the
    /// lower number.
    pub fn hear_lead<S: Simulation>(
        &mut self,
        by: PlayerId,
        epoch: Epoch,
        lead: &Lead,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> bool {
        let vote = Vote { epoch, leader: by };
        for two in self.ballots.compare(by, vote, &lead.votes, now, &self.ledger) {
            self.convict(&two, out);
        }
        let leads = self.members.leader() == Some(Vote { epoch, leader: self.me });
        leads && by < self.me && self.ballots.is_rivalled(vote, &lead.votes, now, &self.ledger)
    }

    /// Another member says that one voted for two.
    pub fn hear_two_votes<S: Simulation>(&mut self, by: PlayerId, two: &TwoVotes, now: Duration, out: &mut Outbox<S>) {
        match self.ballots.is_shown(by, two, now, &self.ledger) {
            Some(true) => self.convict(two, out),
            Some(false) => out.dropped(DropReason::BadVote),
            None => {}
        }
    }

    /// A member voted for two. All others are told.
    pub(super) fn convict<S: Simulation>(&mut self, two: &TwoVotes, out: &mut Outbox<S>) {
        let signed = self.ballots.convict(two, &self.ledger);
        self.members.distrust(two.voter, LeaveReason::Distrusted);
        self.members.unhear(|player, _| player == two.voter);
        out.events.extend(signed.into_iter().map(Event::Signed));
        out.events.push_back(Event::Distrusted { player: two.voter, is_proven: true });
        let others = self.ledger.present().filter(|(player, _)| ![self.me, two.voter].contains(player));
        for (_, other) in others {
            out.reliably(Epoch::default(), other.peer, &Message::TwoVotes(two.clone()));
        }
    }
}

impl Voters for Ledger {
    fn branch(&self) -> Branch {
        self.branch
    }

    fn electorates(&self) -> &Electorates {
        &self.electorates
    }

    fn voter(&self, player: PlayerId) -> Option<(PeerId, PublicKey)> {
        self.members.get(&player).and_then(|Member { peer, key, .. }| Some((*peer, (*key)?)))
    }
}
