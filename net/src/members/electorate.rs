//! Whose votes decide, and how many of them do.

use lockstone_sim::PlayerId;
use serde::{Deserialize, Serialize};

use crate::limits::PLAYERS_MAX;
use crate::wire::List;

/// The members whose votes count. More than half of them are a quorum, and so is half of them if
/// the senior is among it. So of two members the senior alone goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Electorate {
    /// Ascending.
    pub members: List<PlayerId, PLAYERS_MAX>,
    /// One of them.
    pub senior: PlayerId,
}

impl Electorate {
    /// Those members, the lowest of whom is the senior. One at least.
    pub fn of(members: impl Iterator<Item = PlayerId>) -> Electorate {
        let members = List::try_from(members.collect::<Vec<_>>()).expect("no more are let in");
        let senior = members.iter().copied().min().expect("one at least");
        Electorate { members, senior }
    }

    /// Whether those members are a quorum.
    pub fn is_quorum(&self, present: impl Fn(PlayerId) -> bool) -> bool {
        let count = self.members.iter().filter(|player| present(**player)).count();
        2 * count + usize::from(present(self.senior)) > self.members.len()
    }
}

/// The electorate as the closed turns name it. While it changes, the old one and the new one must
/// agree: so what a quorum decides before the change, during and after it has a witness among
/// those who decide later.
///
/// A new electorate's senior is who closed the turn that names it, and so knows of it. Of the old
/// one it is therefore enough, too, if all others agree: nobody is left then who could decide
/// without the new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Electorates {
    settled: Electorate,
    next: Option<Electorate>,
}

impl Electorates {
    /// Of a session that its founder begins.
    pub fn of_founder(founder: PlayerId) -> Electorates {
        Electorates::of(Electorate::of([founder].into_iter()))
    }

    /// An electorate that does not change just now.
    pub fn of(settled: Electorate) -> Electorates {
        Electorates { settled, next: None }
    }

    /// A member promised never to vote again: the others decide without it. If it was the senior,
    /// the lowest of them is. Two members need not learn of it at once: of two quorums, each
    /// without some who never vote again, one counts at least as many votes as the other needs.
    #[cfg(feature = "rollback")]
    pub fn resign(&mut self, player: PlayerId) {
        for electorate in [&mut self.settled].into_iter().chain(&mut self.next) {
            let mut others = electorate.members.iter().copied().filter(|member| *member != player).peekable();
            if others.peek().is_some() {
                let others = Electorate::of(others);
                let senior = if electorate.senior == player { others.senior } else { electorate.senior };
                *electorate = Electorate { senior, ..others };
            }
        }
    }

    /// A closed turn names another electorate, which counts beside the old one.
    pub fn change(&mut self, next: Electorate) {
        self.next = Some(next);
    }

    /// A closed turn says that a quorum knows of the change: the old one does not count any more.
    pub fn settle(&mut self) {
        if let Some(next) = self.next.take() {
            self.settled = next;
        }
    }

    /// The electorate that a change would begin from, if none is under way.
    pub fn settled(&self) -> Option<&Electorate> {
        self.next.is_none().then_some(&self.settled)
    }

    /// The one that counts in the end.
    pub fn newest(&self) -> &Electorate {
        self.next.as_ref().unwrap_or(&self.settled)
    }

    /// Whether a quorum knows that a player's vote counts.
    pub fn names(&self, player: PlayerId) -> bool {
        self.settled.members.contains(&player)
    }

    /// Whether those members can decide.
    pub fn is_quorum(&self, present: impl Fn(PlayerId) -> bool) -> bool {
        match &self.next {
            None => self.settled.is_quorum(present),
            Some(next) => {
                let all_others = self.settled.members.iter().all(|player| present(*player) || *player == next.senior);
                next.is_quorum(&present) && (all_others || self.settled.is_quorum(&present))
            }
        }
    }

    /// Whether those members can decide, where who names a new electorate is no member of it: each
    /// of both must agree by a quorum.
    pub fn is_quorum_of_each(&self, present: impl Fn(PlayerId) -> bool) -> bool {
        self.all().all(|electorate| electorate.is_quorum(&present))
    }

    /// Everyone whose vote counts, ascending.
    pub fn iter(&self) -> impl Iterator<Item = PlayerId> {
        let mut players: Vec<_> = self.all().flat_map(|electorate| electorate.members.iter().copied()).collect();
        players.sort();
        players.dedup();
        players.into_iter()
    }

    fn all(&self) -> impl Iterator<Item = &Electorate> {
        [&self.settled].into_iter().chain(&self.next)
    }
}
