//! Votes that are signed: whoever votes for two in one epoch has shown it itself.
//!
//! A vote counts by its voter's signature, and is told on with it: in a party by whom it elected,
//! in a rollback session by who voted the same. So those who lead in one epoch, or would, learn
//! from each other who elected both: any two quorums have a member in common. All others are told
//! what shows it, its votes count no more, and it is put out.
//!
//! It must never look at more signatures than it can: of each that speaks a few a second, and of
//! each vote once. It never decides who leads.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::PlayerId;

use super::Rate;
use crate::key::PlayerKey;
use crate::limits::PLAYERS_MAX;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::wire::{Author, Branch, Epoch, List, Proof, PublicKey, Signed, Stand, TwoVotes, Vote, Word};

/// So many signatures of what one member says are looked at in a second. It votes less often.
const CHECKS_PER_S_MAX: u32 = 20;
/// The votes of so many epochs are kept of each.
const EPOCHS_KEPT: usize = 4;

/// Who may vote.
pub trait Voters {
    /// In which history.
    fn branch(&self) -> Branch;
    /// Who decides.
    fn electorates(&self) -> &Electorates;
    /// As which peer a player votes, and its key. `None` if it has none, and so signs nothing.
    fn voter(&self, player: PlayerId) -> Option<(PeerId, PublicKey)>;
}

/// What came of a vote that was told.
pub enum Heard {
    /// It counts. Whether it is shown to be a promise of the voter's own.
    Counts { is_proven: bool },
    /// It does not.
    Bad,
    /// It shows that the voter voted for two.
    Two(TwoVotes),
}

/// What is known of signed votes.
pub struct Ballots {
    me: PlayerId,
    peer: PeerId,
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
    /// Of that player and peer, which votes in no epoch in which it may have voted before.
    pub fn of((me, peer): (PlayerId, PeerId), key: Option<PlayerKey>, promised: Epoch) -> Ballots {
        Ballots {
            me,
            peer,
            key,
            promised,
            votes: BTreeMap::new(),
            mandate: None,
            checks: BTreeMap::new(),
            two_faced: BTreeSet::new(),
        }
    }

    /// It may have voted in an epoch up to that one.
    pub fn promised(&self) -> Epoch {
        self.promised
    }

    /// For whom a player voted in an epoch, and what shows that.
    fn vote(&self, player: PlayerId, epoch: Epoch) -> Option<(PlayerId, Proof)> {
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

    /// A stand, with what shows that its vote was given, if it was the one given last.
    pub fn signed(&mut self, stand: Stand, given: Option<Vote>) -> Stand {
        let is_given = given == Some(stand.vote);
        Stand { proof: is_given.then(|| self.sign(stand.vote, stand.known.branch)).flatten(), ..stand }
    }

    /// Signs a vote, once, and never two in one epoch.
    fn sign(&mut self, vote: Vote, branch: Branch) -> Option<Proof> {
        if let Some((leader, proof)) = self.vote(self.me, vote.epoch) {
            return (leader == vote.leader).then_some(proof);
        }
        let key = self.key.as_ref().filter(|_| vote.epoch > self.promised)?;
        let proof = vote.signed(branch, self.peer, key);
        self.keep(self.me, vote, proof);
        Some(proof)
    }

    /// This member leads from here on, by that vote.
    pub fn note_mandate(&mut self, vote: Vote, given: Option<Vote>, all: &impl Voters) {
        if given == Some(vote) {
            self.sign(vote, all.branch());
        }
        let (electorates, votes) = (all.electorates().clone(), self.votes(vote, all).into_iter().collect());
        let voters = electorates.iter().filter_map(|player| Some((player, all.voter(player)?))).collect();
        self.mandate = Some(Mandate { vote, electorates, voters, votes });
    }

    /// Those who gave a vote, as they showed, ascending.
    pub fn votes(&self, vote: Vote, all: &impl Voters) -> Vec<(PlayerId, Proof)> {
        let voters: BTreeSet<_> = all.electorates().iter().collect();
        let given = |player: PlayerId| self.vote(player, vote.epoch).filter(|(leader, _)| *leader == vote.leader);
        voters.into_iter().filter_map(|player| Some((player, given(player)?.1))).collect()
    }

    /// The votes by which it leads.
    pub fn electors(&self) -> List<(PlayerId, Proof), PLAYERS_MAX> {
        let votes = self.mandate.iter().flat_map(|mandate| &mandate.votes);
        let votes: Vec<_> = votes.map(|(player, proof)| (*player, *proof)).collect();
        List::try_from(votes).unwrap_or_default()
    }

    /// Takes the vote of another.
    pub fn hear(&mut self, player: PlayerId, stand: &Stand, now: Duration, all: &impl Voters) -> Heard {
        if self.two_faced.contains(&player) {
            return Heard::Bad;
        }
        let key = all.voter(player);
        let (Stand { vote, proof: Some(proof), .. }, Some(_)) = (stand, key) else {
            return Heard::Counts { is_proven: key.is_none() };
        };
        let before = self.vote(player, vote.epoch);
        if before == Some((vote.leader, *proof)) {
            return Heard::Counts { is_proven: true };
        }
        if !self.is_signed(player, (player, *vote), proof, now, all) {
            return Heard::Bad;
        }
        match before.filter(|(leader, _)| *leader != vote.leader) {
            None => self.keep(player, *vote, *proof),
            Some(before) => {
                let votes = [before, (vote.leader, *proof)];
                return Heard::Two(TwoVotes { voter: player, epoch: vote.epoch, votes });
            }
        }
        Heard::Counts { is_proven: true }
    }

    /// Another shows who else gave a vote. Returns those of whom another vote in that epoch is
    /// known here, and what shows both, if that is news.
    pub fn compare(
        &mut self,
        by: PlayerId,
        vote: Vote,
        votes: &[(PlayerId, Proof)],
        now: Duration,
        all: &impl Voters,
    ) -> Vec<TwoVotes> {
        let mut found = Vec::new();
        for (voter, proof) in votes {
            let ours = self.vote(*voter, vote.epoch).filter(|(leader, _)| *leader != vote.leader);
            let Some(ours) = ours.filter(|_| *voter != self.me && !self.is_two_faced(*voter)) else { continue };
            if self.is_signed(by, (*voter, vote), proof, now, all) {
                let votes = [ours, (vote.leader, *proof)];
                found.push(TwoVotes { voter: *voter, epoch: vote.epoch, votes });
            }
        }
        found
    }

    /// Whether another leads, by those votes, in the epoch in which this member does, as somebody
    /// voted for both.
    pub fn is_rivalled(&mut self, vote: Vote, votes: &[(PlayerId, Proof)], now: Duration, all: &impl Voters) -> bool {
        let is_contested = votes.iter().any(|(voter, _)| {
            let ours = self.vote(*voter, vote.epoch).filter(|(leader, _)| *leader != vote.leader);
            ours.is_some() && self.is_two_faced(*voter)
        });
        is_contested && !self.is_two_faced(vote.leader) && self.is_elected(vote, votes, now, all)
    }

    /// Whether a quorum of those who decided when this member was elected voted for another.
    fn is_elected(&mut self, vote: Vote, votes: &[(PlayerId, Proof)], now: Duration, all: &impl Voters) -> bool {
        let mut votes: BTreeMap<PlayerId, Proof> = votes.iter().copied().collect();
        let of_now = self.mandate.as_ref().filter(|mandate| mandate.vote.epoch == vote.epoch);
        let Some(electorates) = of_now.map(|mandate| mandate.electorates.clone()) else { return false };
        if electorates.is_quorum(|player| votes.contains_key(&player)) {
            votes.retain(|voter, proof| self.is_signed(vote.leader, (*voter, vote), proof, now, all));
        }
        electorates.is_quorum(|player| votes.contains_key(&player))
    }

    /// Another member says that one voted for two. Returns whether it shows that, or `None` if it
    /// is no news.
    pub fn is_shown(&mut self, by: PlayerId, two: &TwoVotes, now: Duration, all: &impl Voters) -> Option<bool> {
        let TwoVotes { voter, epoch, votes } = two;
        if [by, self.me].contains(voter) || self.is_two_faced(*voter) {
            return None;
        }
        let is_signed = |(leader, proof): &(PlayerId, Proof)| {
            self.is_signed(by, (*voter, Vote { epoch: *epoch, leader: *leader }), proof, now, all)
        };
        Some(votes.iter().all(is_signed))
    }

    /// Whether what a member says of another's vote is so.
    fn is_signed(
        &mut self,
        by: PlayerId,
        (voter, vote): (PlayerId, Vote),
        proof: &Proof,
        now: Duration,
        all: &impl Voters,
    ) -> bool {
        let Some((peer, key)) = self.keyed(voter, all) else { return false };
        let may_look = self.checks.entry(by).or_default().admits(1, CHECKS_PER_S_MAX, now);
        may_look && vote.is_signed(all.branch(), peer, &key, proof)
    }

    fn keyed(&self, voter: PlayerId, all: &impl Voters) -> Option<(PeerId, PublicKey)> {
        all.voter(voter).or_else(|| self.mandate.as_ref()?.voters.get(&voter).copied())
    }

    /// One voted for two: it has no vote any more. Returns what shows that to anyone.
    pub fn convict(&mut self, two: &TwoVotes, all: &impl Voters) -> Vec<Signed> {
        let TwoVotes { voter, epoch, votes } = two;
        self.two_faced.insert(*voter);
        let Some((peer, key)) = self.keyed(*voter, all) else { return Vec::new() };
        let author = Author::of(all.branch(), peer);
        let word = |(leader, proof): &(PlayerId, Proof)| Word::Vote(Vote { epoch: *epoch, leader: *leader }, *proof);
        votes.iter().map(|vote| Signed { player: *voter, key, author, word: word(vote) }).collect()
    }

    /// Whether a player voted for two.
    pub fn is_two_faced(&self, player: PlayerId) -> bool {
        self.two_faced.contains(&player)
    }
}
