//! The votes of players who have stopped, as they are told and signed: who votes for two of them,
//! so that each could go on with it alone, is lost for all who learn of it.
//!
//! It never decides who leads. Its loop is [`Play::hear_votes`].

use lockstone_sim::{PlayerId, Simulation};

use super::play::Play;
use super::regroup::listed;
use super::stories::Stories;
use crate::link::PeerId;
use crate::members::Electorates;
use crate::session::{DropReason, Event, Heard, Io, Voters};
use crate::wire::{Branch, LeaveReason, Message, PublicKey, Regroup, TwoVotes};

/// Those who may vote: all have one key each from the beginning on, or none.
struct Voting<'p>(&'p Electorates, &'p Stories);

impl Voters for Voting<'_> {
    fn branch(&self) -> Branch {
        Branch::default()
    }

    fn electorates(&self) -> &Electorates {
        self.0
    }

    fn voter(&self, player: PlayerId) -> Option<(PeerId, PublicKey)> {
        self.1.signer(player)
    }
}

impl<S: Simulation> Play<S> {
    /// What this player says of who is lost, and of who leads.
    pub(super) fn word(&mut self) -> Message {
        let lost = self.regrouping.as_ref().map(|regrouping| listed(&regrouping.losses.ours)).unwrap_or_default();
        let stand = self.ballots.signed(self.members.stand(self.known()), self.members.given());
        let votes = self.ballots.votes(stand.vote, &Voting(&self.electorates, &self.stories));
        let votes = votes.try_into().expect("no more players than that");
        Message::Regroup(Regroup { lost, stand, votes })
    }

    /// Takes how another voted, and others, as it shows. Returns whether its vote is shown to be a
    /// promise of its own; `None` if nothing that it says counts.
    pub(super) fn hear_votes(&mut self, from: PlayerId, theirs: &Regroup, io: &mut Io<S>) -> Option<bool> {
        let all = Voting(&self.electorates, &self.stories);
        let heard = self.ballots.hear(from, &theirs.stand, io.now, &all);
        let mut found = self.ballots.compare(from, theirs.stand.vote, &theirs.votes, io.now, &all);
        let is_proven = match heard {
            Heard::Counts { is_proven } => Some(is_proven),
            Heard::Bad => None,
            Heard::Two(two) => {
                found.push(two);
                None
            }
        };
        if is_proven.is_none() {
            io.out.dropped(DropReason::BadVote);
        }
        found.iter().for_each(|two| self.convict(two, io));
        is_proven
    }

    /// Another player says that one voted for two.
    pub(super) fn hear_two_votes(&mut self, by: PlayerId, two: &TwoVotes, io: &mut Io<S>) {
        match self.ballots.is_shown(by, two, io.now, &Voting(&self.electorates, &self.stories)) {
            Some(true) => self.convict(two, io),
            Some(false) => io.out.dropped(DropReason::BadVote),
            None => {}
        }
    }

    /// A player voted for two. All others are told.
    fn convict(&mut self, two: &TwoVotes, io: &mut Io<S>) {
        let signed = self.ballots.convict(two, &Voting(&self.electorates, &self.stories));
        self.members.distrust(two.voter, LeaveReason::Distrusted);
        self.members.unhear(|player, _| player == two.voter);
        io.out.events.extend(signed.into_iter().map(Event::Signed));
        io.out.events.push_back(Event::Distrusted { player: two.voter, is_proven: true });
        for remote in self.remotes.iter().filter(|remote| remote.player != two.voter) {
            io.out.reliably(self.epoch, remote.peer, &Message::TwoVotes(two.clone()));
        }
        self.lose(two.voter, LeaveReason::Distrusted, io);
    }
}
