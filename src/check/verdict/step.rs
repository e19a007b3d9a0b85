//! Suspicions about the steps: that they come out in several ways, were given other turns, or that
//! looking at the world changes it.

use lockstone_sim::{Tick, Turn};

use super::{Case, Found, Met, Shown, Solution, Verdict, blame_nobody, signed};
use crate::check::compare::CheckError;
use crate::check::report::Cause;
use crate::check::waver::{Effort, PLAYS, Varied, side_by_side};
use crate::inspect::Inspect;

/// So many ticks before all was last well, and after the difference, are played side by side in any
/// case.
const PLAYED_TICKS: u32 = 200;
/// So much work is spent on what lies behind these ticks, and then on what lies before them.
const PLAYED_WORK: u64 = 4_000_000;

impl<'c, S: Inspect> Case<'c, S> {
    /// The same turns from the same state, several times.
    pub(super) fn comes_out_in_several_ways(&mut self) -> Found<'c, S> {
        let Some(varied) = self.side_by_side(PLAYS, PLAYED_WORK, |_, _| ())? else { return Ok(None) };
        let tick = varied.states[0].tick();
        let reason =
            format!("from one state the same turns led to several, in one process: at tick {tick} for the first time");
        Ok(Some(Solution::new(blame_nobody(Cause::Nondeterminism, vec![reason]), Some(Shown::Varied(varied)))))
    }

    /// Plays the ticks around the difference several times, each for itself, and of the others as
    /// many as there is work for: what varies seldom shows in any of them.
    fn side_by_side(
        &mut self,
        plays: usize,
        work: u64,
        before_step: impl Fn(usize, &S),
    ) -> Result<Option<Varied<S>>, CheckError> {
        let start = self.played.start();
        let around = Tick(self.last_good().0.saturating_sub(PLAYED_TICKS)).max(start);
        let end = self.peers.iter().map(|peer| peer.end).max().unwrap_or_default();
        let mut effort = Effort { at_least: self.tick.plus(PLAYED_TICKS), until: end, work };
        for from in [around, start] {
            let plays = (0..plays).map(|_| self.reread(from)).collect::<Result<Vec<_>, _>>()?;
            let turns = self.played.turns;
            let watched = |n, play: &S| {
                self.checker.watch.iter().filter(|_| n == 0).for_each(|watch| watch(play.tick()));
                before_step(n, play);
            };
            let varied = side_by_side(plays, |tick| turns.get(&tick), &mut effort, watched);
            if varied.is_some() {
                return Ok(varied);
            }
            effort = Effort { at_least: start, until: around, ..effort };
        }
        Ok(None)
    }

    /// The odd peer's own turns.
    pub(super) fn was_given_other_turns(&mut self) -> Found<'c, S> {
        let (peer, turns) = (self.suspect(), self.played.turns);
        let mut ticks = (self.last_good().0..self.tick.0).map(Tick).filter(|tick| peer.covers(*tick));
        let Some(tick) = ticks.find(|tick| turns.get(tick) != peer.turns.get(tick)) else { return Ok(None) };
        let odd = |case: &mut Self| {
            let fork = case.fork(tick);
            Ok(case.replay(fork, &peer.turns))
        };
        let Some((odd, met)) = self.witnessed(odd, |_| ())? else { return Ok(None) };
        let verdict = self.verdict_on_other_turns(tick, met);
        Ok(Some(Solution::new(verdict, Some(Shown::Odd(odd))).followed(met)))
    }

    /// Whoever orders the turns may have told each peer others, so only what somebody signed, or
    /// what a peer gave itself, says whose doing it is.
    fn verdict_on_other_turns(&mut self, tick: Tick, met: Met) -> Verdict {
        let (peer, turns) = (self.suspect(), self.played.turns);
        let (ours, theirs) = (turns.get(&tick), peer.turns.get(&tick));
        let text = |turn: Option<&Turn<S>>| turn.map_or("nothing".to_owned(), |turn| format!("{turn:?}"));
        let entered = format!("at tick {tick} {} entered, and for {} {}", text(ours), peer.who(), text(theirs));
        let mut reasons = vec![entered, self.met(met)];
        let covering: Vec<_> = self.peers.iter().filter(|peer| peer.covers(tick)).collect();
        let alike = covering.iter().filter(|peer| peer.turns.get(&tick) == ours).count();
        let mut blamed = Vec::new();
        if let Some((player, proof)) = signed::two_stories(self.peers, tick) {
            blamed = (0..self.peers.len()).filter(|n| self.peers[*n].header.player == player).collect();
            reasons.push(proof);
        } else if alike * 2 <= covering.len() {
            reasons.push("as many recordings have the one as the other, so nobody can tell which is right".to_owned());
        } else if signed::is_as_signed(peer, self.peers, tick) {
            reasons.push("what it has of the others is what they signed, so its turns are not its fault".to_owned());
        } else if let Some(teller) = signed::teller(peer, ours, theirs) {
            reasons.push(teller.to_owned());
        } else {
            return self.blame(Cause::Input, reasons);
        }
        Verdict { cause: Cause::Input, others: Vec::new(), blamed, reasons }
    }

    /// The world as it goes on when it is drawn before each step.
    pub(super) fn was_changed_by_looking(&mut self) -> Found<'c, S> {
        let Some(look) = self.checker.look else { return Ok(None) };
        let from = self.last_good();
        // It may write to memory that a copy of the state shares with others.
        let odd = |case: &mut Self| {
            let reread = case.reread(from)?;
            Ok(case.replay(reread, case.played.turns))
        };
        if self.witnessed(odd, |_| ())?.is_some() {
            return Ok(None);
        }
        let Some((mut odd, met)) = self.witnessed(odd, look)? else { return Ok(None) };
        let reasons =
            vec![format!("drawn before each step from tick {from} on, the world goes another way"), self.met(met)];
        look(odd.at(from));
        Ok(Some(Solution::new(blame_nobody(Cause::Presentation, reasons), Some(Shown::Odd(odd))).followed(met)))
    }

    /// The world goes another way when it is drawn. How often a peer drew it nobody knows, so this
    /// may explain whatever its steps do not.
    pub(super) fn may_be_changed_by_looking(&mut self) -> Found<'c, S> {
        let Some(look) = self.checker.look else { return Ok(None) };
        let drawn = |n, play: &S| {
            if n == 1 {
                look(play)
            }
        };
        let Some(varied) = self.side_by_side(2, 0, drawn)? else { return Ok(None) };
        let tick = varied.states[0].tick();
        let reasons = vec![
            format!("drawn before each step, the world goes another way: at tick {tick} for the first time"),
            "how often it was drawn is not recorded".to_owned(),
        ];
        Ok(Some(Solution::new(blame_nobody(Cause::Presentation, reasons), Some(Shown::Varied(varied)))))
    }
}
