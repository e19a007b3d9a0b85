//! Suspicions about the steps: that they come out in several ways, were given other turns, or that
//! looking at the world changes it.

use lockstone_sim::{Tick, Turn};

use super::{Case, OddState, Solution, Verdict, blame_nobody};
use crate::check::compare::CheckError;
use crate::check::replayer::Replayer;
use crate::check::report::Cause;
use crate::inspect::Inspect;

/// A step that comes out in several ways shows it within so many tries, or is taken to be sound.
const TRIES: u32 = 3;

impl<S: Inspect> Case<'_, '_, S> {
    /// The same turns from the same state, several times.
    pub(super) fn comes_out_in_several_ways(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let from = self.last_good(replayer);
        let outcome = |case: &Self, replayer: &mut Replayer<'_, S>| {
            let mut again = case.fork(replayer, from);
            case.play(&mut again, case.tick);
            again.checksum()
        };
        let first = outcome(self, replayer);
        if (1..TRIES).all(|_| outcome(self, replayer) == first) {
            return Ok(None);
        }
        let reason = format!("from one state at tick {from} the same turns led to several states, in one process");
        let odd = OddState { simulation: self.fork(replayer, from), turns: self.turns.clone() };
        Ok(Some((blame_nobody(Cause::Nondeterminism, vec![reason]), Some(odd))))
    }

    /// The odd peer's own turns.
    pub(super) fn was_given_other_turns(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let peer = self.suspect();
        let ticks = (self.last_good(replayer).0..self.tick.0).map(Tick).filter(|tick| peer.covers(*tick));
        let turns = |tick: &Tick| (self.turns.get(tick), peer.turns.get(tick));
        let Some(tick) = ticks.into_iter().find(|tick| turns(tick).0 != turns(tick).1) else { return Ok(None) };
        let odd = |replayer: &mut Replayer<'_, S>| OddState {
            simulation: self.fork(replayer, tick),
            turns: peer.turns.clone(),
        };
        let Some(met) = self.meets(odd(replayer), |_| ()) else { return Ok(None) };
        let text = |turn: Option<&Turn<S>>| turn.map_or("nothing".to_owned(), |turn| format!("{turn:?}"));
        let entered =
            format!("at tick {tick} {} entered, and for {} {}", text(turns(&tick).0), peer.who(), text(turns(&tick).1));
        let mut reasons = vec![entered, self.met(met)];
        let covering: Vec<_> = self.peers.iter().filter(|peer| peer.covers(tick)).collect();
        let alike = covering.iter().filter(|peer| peer.turns.get(&tick) == turns(&tick).0).count();
        let mut blamed = self.odd.clone();
        if alike * 2 <= covering.len() {
            reasons.push("as many recordings have the one as the other, so nobody can tell which is right".to_owned());
            blamed.clear();
        }
        Ok(Some((Verdict { cause: Cause::Input, blamed, reasons }, Some(odd(replayer)))))
    }

    /// The world as it goes on when it is drawn before each step.
    pub(super) fn was_changed_by_looking(
        &self,
        replayer: &mut Replayer<'_, S>,
    ) -> Result<Option<Solution<S>>, CheckError> {
        let Some(look) = self.checker.look else { return Ok(None) };
        let from = self.last_good(replayer);
        // It may write to memory that a copy of the state shares with others.
        let odd = |replayer: &mut Replayer<'_, S>| {
            Ok(OddState { simulation: self.reread(replayer, from)?, turns: self.turns.clone() })
        };
        let Some(met) = self.meets(odd(replayer)?, look) else { return Ok(None) };
        let reasons =
            vec![format!("drawn before each step from tick {from} on, the world goes another way"), self.met(met)];
        let state = odd(replayer)?;
        look(&state.simulation);
        Ok(Some((blame_nobody(Cause::Presentation, reasons), Some(state))))
    }
}
