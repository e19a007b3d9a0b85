//! Suspicions about the steps: that they come out in several ways, were given other turns, or that
//! looking at the world changes it.

use lockstone_sim::{Tick, Turn};

use super::{Case, Found, Verdict, blame_nobody};
use crate::check::replayer::Replayer;
use crate::check::report::Cause;
use crate::inspect::Inspect;

/// A step that comes out in several ways shows it within so many tries, or is taken to be sound.
const TRIES: u32 = 3;

impl<'c, S: Inspect> Case<'c, S> {
    /// The same turns from the same state, several times.
    pub(super) fn comes_out_in_several_ways(&mut self) -> Found<'c, S> {
        let (from, until) = (self.last_good(), self.tick);
        let mut again = || Replayer::new(self.fork(from), self.played.turns);
        let first = again().root(until);
        if (1..TRIES).all(|_| again().root(until) == first) {
            return Ok(None);
        }
        let reason = format!("from one state at tick {from} the same turns led to several states, in one process");
        Ok(Some((blame_nobody(Cause::Nondeterminism, vec![reason]), Some(again()))))
    }

    /// The odd peer's own turns.
    pub(super) fn was_given_other_turns(&mut self) -> Found<'c, S> {
        let (peer, turns) = (self.suspect(), self.played.turns);
        let mut ticks = (self.last_good().0..self.tick.0).map(Tick).filter(|tick| peer.covers(*tick));
        let Some(tick) = ticks.find(|tick| turns.get(tick) != peer.turns.get(tick)) else { return Ok(None) };
        let odd = |case: &mut Self| Ok(Replayer::new(case.fork(tick), &peer.turns));
        let Some((odd, met)) = self.witnessed(odd, |_| ())? else { return Ok(None) };
        let (ours, theirs) = (turns.get(&tick), peer.turns.get(&tick));
        let text = |turn: Option<&Turn<S>>| turn.map_or("nothing".to_owned(), |turn| format!("{turn:?}"));
        let entered = format!("at tick {tick} {} entered, and for {} {}", text(ours), peer.who(), text(theirs));
        let mut reasons = vec![entered, self.met(met)];
        let covering: Vec<_> = self.peers.iter().filter(|peer| peer.covers(tick)).collect();
        let alike = covering.iter().filter(|peer| peer.turns.get(&tick) == ours).count();
        let mut blamed = self.odd.clone();
        if alike * 2 <= covering.len() {
            reasons.push("as many recordings have the one as the other, so nobody can tell which is right".to_owned());
            blamed.clear();
        }
        Ok(Some((Verdict { cause: Cause::Input, blamed, reasons }, Some(odd))))
    }

    /// The world as it goes on when it is drawn before each step.
    pub(super) fn was_changed_by_looking(&mut self) -> Found<'c, S> {
        let Some(look) = self.checker.look else { return Ok(None) };
        let from = self.last_good();
        // It may write to memory that a copy of the state shares with others.
        let odd = |case: &mut Self| Ok(Replayer::new(case.reread(from)?, case.played.turns));
        let Some((mut odd, met)) = self.witnessed(odd, look)? else { return Ok(None) };
        let reasons =
            vec![format!("drawn before each step from tick {from} on, the world goes another way"), self.met(met)];
        look(odd.at(from));
        Ok(Some((blame_nobody(Cause::Presentation, reasons), Some(odd))))
    }
}
