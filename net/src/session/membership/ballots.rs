//! Votes that are signed: whoever votes for two in one epoch has shown it itself.
//!
//! A vote counts by its voter's signature, and goes with what its leader says. So two who lead in
//! one epoch learn from each other who elected both: any two quorums have a member in common. All
//! others are told what shows it, its votes count no more, and who leads puts it out.
//!
//! It must never look at more signatures than it can: of each that speaks a few a second, and of
//! each vote once. It never decides who leads.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{PlayerId, Simulation};

use super::Membership;
use crate::key::PlayerKey;
use crate::limits::PLAYERS_MAX;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::session::{DropReason, Event, Member, Outbox, Rate};
use crate::wire::*;

/// So many signatures of what one member says are looked at in a second. It votes less often.
const CHECKS_PER_S_MAX: u32 = 20;
/// The votes of so many epochs are kept of each.
const EPOCHS_KEPT: usize = 4;

/// What is known of signed votes.
#[derive(Default)]
pub struct Ballots {
    key: Option<PlayerKey>,
    /// This player may have voted in an epoch up to that one, and forgotten it.
    promised: Epoch,
    /// For whom each voted, and what shows that: this player, and others who signed it.
    votes: BTreeMap<PlayerId, BTreeMap<Epoch, (PlayerId, Proof)>>,
    /// How this player came to lead, if it does or did.
    mandate: Option<Mandate>,
    /// How much each made this one look at.
    checks: BTreeMap<PlayerId, Rate>,
    /// Those who voted for two, also if they are no members any more.
    two_faced: BTreeSet<PlayerId>,
}

/// By what a member leads, as it was when it began to: turns may change who decides, and who is in.
struct Mandate {
    vote: Vote,
    electorates: Electorates,
    /// Those who decide, and have a key.
    voters: BTreeMap<PlayerId, (PeerId, PublicKey)>,
    /// What shows that they voted so, of those who did.
    votes: BTreeMap<PlayerId, Proof>,
}

impl Ballots {
    fn of(&self, player: PlayerId, epoch: Epoch) -> Option<(PlayerId, Proof)> {
        let mandate = self.mandate.as_ref().filter(|mandate| mandate.vote.epoch == epoch);
        let by_mandate = mandate.and_then(|mandate| Some((mandate.vote.leader, *mandate.votes.get(&player)?)));
        by_mandate.or_else(|| self.votes.get(&player)?.get(&epoch).copied())
    }

    fn keep(&mut self, player: PlayerId, vote: Vote, proof: Proof) {
        let votes = self.votes.entry(player).or_default();
        votes.insert(vote.epoch, (vote.leader, proof));
        if votes.len() > EPOCHS_KEPT {
            votes.pop_first();
        }
    }

    /// A history begins that no vote of before is for.
    pub fn begin_anew(&mut self) {
        (self.votes, self.mandate) = (BTreeMap::new(), None);
    }

    /// A player is no member any more.
    pub fn forget(&mut self, player: PlayerId) {
        self.votes.remove(&player);
        self.checks.remove(&player);
    }
}

impl Membership {
    /// It signs its votes, but none in an epoch in which it may have voted before.
    pub fn signing(mut self, key: Option<PlayerKey>, promised: Epoch) -> Membership {
        (self.ballots.key, self.ballots.promised) = (key, promised);
        self.members.skip(promised);
        self
    }

    /// The newest epoch in which it may have voted.
    pub fn voted(&self) -> Epoch {
        self.ballots.promised.max(self.members.promised())
    }

    /// What it says of who leads.
    pub fn stand(&mut self) -> Stand {
        let stand = self.members.stand(self.known());
        self.signed_stand(stand)
    }

    /// A stand, with what shows that its vote was given.
    pub(super) fn signed_stand(&mut self, stand: Stand) -> Stand {
        let is_given = self.members.given() == Some(stand.vote);
        Stand { proof: is_given.then(|| self.sign(stand.vote)).flatten(), ..stand }
    }

    /// Signs a vote, once, and never two in one epoch.
    fn sign(&mut self, vote: Vote) -> Option<Proof> {
        if let Some((leader, proof)) = self.ballots.of(self.me, vote.epoch) {
            return (leader == vote.leader).then_some(proof);
        }
        let key = self.ballots.key.as_ref().filter(|_| vote.epoch > self.ballots.promised)?;
        let proof = vote.signed(self.ledger.branch, self.peer, key);
        self.ballots.keep(self.me, vote, proof);
        Some(proof)
    }

    /// Who leaves votes for another, as its last word. It knows nothing that one would wait for.
    pub fn last_word(&mut self, heir: PlayerId, now: Duration) -> Stand {
        self.members.hand_over(heir, now);
        let known = Known { branch: self.ledger.branch, ..Known::default() };
        let stand = Stand::of(self.members.vote(), known);
        self.signed_stand(stand)
    }

    /// This member leads from here on.
    pub(super) fn note_mandate(&mut self) {
        let (vote, electorates) = (self.members.vote(), self.ledger.electorates.clone());
        if self.members.given() == Some(vote) {
            self.sign(vote);
        }
        let (mut voters, mut votes) = (BTreeMap::new(), BTreeMap::new());
        for player in electorates.iter() {
            let Some(Member { peer, key: Some(key), .. }) = self.ledger.members.get(&player) else { continue };
            voters.insert(player, (*peer, *key));
            let given = self.ballots.of(player, vote.epoch).filter(|(leader, _)| *leader == vote.leader);
            votes.extend(given.map(|(_, proof)| (player, proof)));
        }
        self.ballots.mandate = Some(Mandate { vote, electorates, voters, votes });
    }

    /// The votes by which it leads.
    pub(super) fn electors(&self) -> List<(PlayerId, Proof), PLAYERS_MAX> {
        let votes = self.ballots.mandate.iter().flat_map(|mandate| &mandate.votes);
        let votes: Vec<_> = votes.map(|(player, proof)| (*player, *proof)).collect();
        List::try_from(votes).unwrap_or_default()
    }

    /// Takes the vote of another. Returns whether it is shown to be a promise of its own; `None` if
    /// nothing that it says counts.
    pub(super) fn hear_vote<S: Simulation>(
        &mut self,
        player: PlayerId,
        stand: &Stand,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> Option<bool> {
        if self.ballots.two_faced.contains(&player) {
            return None;
        }
        let Member { key, .. } = self.ledger.members.get(&player)?;
        let (Stand { vote, proof: Some(proof), .. }, Some(_)) = (stand, key) else { return Some(key.is_none()) };
        let before = self.ballots.of(player, vote.epoch);
        if before == Some((vote.leader, *proof)) {
            return Some(true);
        }
        if !self.is_signed(player, (player, *vote), proof, now) {
            return None;
        }
        match before.filter(|(leader, _)| *leader != vote.leader) {
            None => self.ballots.keep(player, *vote, *proof),
            Some(before) => {
                let votes = [before, (vote.leader, *proof)];
                self.convict(TwoVotes { voter: player, epoch: vote.epoch, votes }, out);
                return None;
            }
        }
        Some(true)
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
        let mut is_contested = false;
        for (voter, proof) in lead.votes.iter() {
            let ours = self.ballots.of(*voter, epoch).filter(|(leader, _)| *leader != by);
            let Some(ours) = ours.filter(|_| *voter != self.me) else { continue };
            let is_known = self.ballots.two_faced.contains(voter);
            if !is_known && self.is_signed(by, (*voter, vote), proof, now) {
                self.convict(TwoVotes { voter: *voter, epoch, votes: [ours, (by, *proof)] }, out);
            }
            is_contested |= self.ballots.two_faced.contains(voter);
        }
        let leads = self.members.leader() == Some(Vote { epoch, leader: self.me });
        let may_yield = is_contested && leads && by < self.me && !self.ballots.two_faced.contains(&by);
        may_yield && self.is_elected(vote, lead, now)
    }

    /// Whether a quorum of those who decided when this member was elected voted for another.
    fn is_elected(&mut self, vote: Vote, lead: &Lead, now: Duration) -> bool {
        let mut votes: BTreeMap<PlayerId, Proof> = lead.votes.iter().copied().collect();
        let of_now = self.ballots.mandate.as_ref().filter(|mandate| mandate.vote.epoch == vote.epoch);
        let Some(electorates) = of_now.map(|mandate| mandate.electorates.clone()) else { return false };
        if electorates.is_quorum(|player| votes.contains_key(&player)) {
            votes.retain(|voter, proof| self.is_signed(vote.leader, (*voter, vote), proof, now));
        }
        electorates.is_quorum(|player| votes.contains_key(&player))
    }

    /// Another member says that one voted for two.
    pub fn hear_two_votes<S: Simulation>(&mut self, by: PlayerId, two: TwoVotes, now: Duration, out: &mut Outbox<S>) {
        let TwoVotes { voter, epoch, votes } = two;
        if [by, self.me].contains(&voter) || self.ballots.two_faced.contains(&voter) {
            return;
        }
        let signed = votes
            .iter()
            .filter(|(leader, proof)| self.is_signed(by, (voter, Vote { epoch, leader: *leader }), proof, now));
        match signed.count() {
            2 => self.convict(two, out),
            _ => out.dropped(DropReason::BadVote),
        }
    }

    /// Whether what a member says of another's vote is so.
    fn is_signed(&mut self, by: PlayerId, (voter, vote): (PlayerId, Vote), proof: &Proof, now: Duration) -> bool {
        let known = self.ledger.members.get(&voter).and_then(|member| Some((member.peer, member.key?)));
        let known = known.or_else(|| self.ballots.mandate.as_ref()?.voters.get(&voter).copied());
        let Some((peer, key)) = known else { return false };
        let may_look = self.ballots.checks.entry(by).or_default().admits(1, CHECKS_PER_S_MAX, now);
        may_look && vote.is_signed(self.ledger.branch, peer, &key, proof)
    }

    /// A member voted for two. All others are told.
    fn convict<S: Simulation>(&mut self, two: TwoVotes, out: &mut Outbox<S>) {
        self.ballots.two_faced.insert(two.voter);
        self.members.distrust(two.voter, LeaveReason::Distrusted);
        self.members.unhear(|player, _| player == two.voter);
        out.events.push_back(Event::Distrusted { player: two.voter, is_proven: true });
        let others = self.ledger.present().filter(|(player, _)| ![self.me, two.voter].contains(player));
        for (_, other) in others {
            out.reliably(Epoch::default(), other.peer, &Message::TwoVotes(two.clone()));
        }
    }
}
