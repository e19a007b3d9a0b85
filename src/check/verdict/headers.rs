//! What is told without playing: another seed, table, configuration, program or state at the start.

use lockstone_sim::Tick;

use super::rerun::Again;
use super::{Case, Solution, WITNESS_TICKS, blame_nobody, minority};
use crate::check::compare::{CheckError, Checker};
use crate::check::locate::locate;
use crate::check::report::{Cause, Finding, Verdict};
use crate::inspect::Inspect;
use crate::recording::{Build, Header, Timeline};

/// Recordings of another seed, table, program or configuration.
pub fn unlike_headers<S: Inspect>(peers: &[Timeline<S>]) -> Option<Finding> {
    let start = peers.iter().map(Timeline::start).max().unwrap_or_default();
    // A peer is told the seed by whoever lets it in; all else is what its own program says.
    let unlike = |cause, what: &str, is_own: bool, value: fn(&Header) -> String| {
        let values: Vec<_> = peers.iter().map(|peer| value(&peer.header)).collect();
        let alike = values.windows(2).all(|pair| pair[0] == pair[1]);
        let reasons = peers.iter().zip(&values).map(|(peer, value)| format!("{} has {what} {value}", peer.who()));
        let odd = minority(&values);
        let blamed = if is_own { odd.clone() } else { Vec::new() };
        let verdict = Verdict { cause, others: Vec::new(), blamed, reasons: reasons.collect() };
        (!alike).then(|| Finding { odd, ..Finding::new(start, verdict) })
    };
    unlike(Cause::StartData, "the seed", false, |header| header.seed.to_string())
        .or_else(|| unlike(Cause::Table, "the random table", true, |header| format!("{:032x}", header.identity.table)))
        .or_else(|| unlike(Cause::Build, "the rules", true, |header| format!("{:016x}", header.identity.rules)))
        .or_else(|| {
            unlike(Cause::StartData, "the configuration", true, |header| format!("{:016x}", header.identity.config))
        })
}

/// Recordings that begin at one tick, in several states.
pub fn unlike_starts<S: Inspect>(
    checker: &Checker<'_, S>,
    peers: &[Timeline<S>],
) -> Result<Option<Finding>, CheckError> {
    for (n, peer) in peers.iter().enumerate() {
        let start = peer.start();
        let state = |m: usize| peers[m].states.get(&start).filter(|_| peers[m].start() == start);
        let together: Vec<usize> = (0..peers.len()).filter(|&m| state(m).is_some()).collect();
        let unlike = |m: &&usize| **m > n && state(**m) != state(n);
        let Some(&other) = together.iter().find(unlike).filter(|_| state(n).is_some()) else { continue };
        let states: Vec<_> = together.iter().map(|&m| state(m)).collect();
        let odd: Vec<_> = minority(&states).into_iter().map(|place| together[place]).collect();
        // Only the state of tick 0 a peer makes itself; a later one may have been given to it.
        let blamed = if start == Tick(0) { odd.clone() } else { Vec::new() };
        let (mut ours, mut theirs) = (checker.load(peer, start)?, checker.load(&peers[other], start)?);
        let location = Some(locate(&mut ours, &mut theirs));
        let reason = format!("{} and {} began at tick {start} with unlike states", peer.who(), peers[other].who());
        let verdict = Verdict { cause: Cause::StartData, others: Vec::new(), blamed, reasons: vec![reason] };
        return Ok(Some(Finding { location, odd, ..Finding::new(start, verdict) }));
    }
    Ok(None)
}

impl<'c, S: Inspect> Case<'c, S> {
    /// No suspicion that can be played explains it: what else is unlike, and where the odd peer's
    /// recorded state differs, if it has one.
    pub(super) fn left_over(&mut self) -> Result<Solution<'c, S>, CheckError> {
        let rerun = self.rerun();
        let mut verdict = self.left_over_verdict(matches!(rerun, Some((_, Again::AsRecorded(_)))))?;
        verdict.reasons.extend(rerun.map(|(rerun, again)| self.tell_again(&rerun, &again)));
        Ok(Solution::new(verdict, self.recorded_state()?))
    }

    /// In what the suspect's program is another than a healthy peer's, or than this one, and how.
    pub(super) fn other_program(&self) -> Option<(Cause, String)> {
        let (suspect, here) = (self.suspect(), Build::here());
        let (whose, engine, ours) = match self.healthy {
            Some(healthy) => (healthy.who(), healthy.header.engine.as_str(), &healthy.header.build),
            None => ("this program".to_owned(), env!("CARGO_PKG_VERSION"), &here),
        };
        let mut theirs = suspect.header.build.clone();
        if self.healthy.is_none() {
            // This program does not know its own digest here.
            theirs.executable = 0;
        }
        let unlike = |cause, theirs: String, ours: String| {
            (theirs != ours).then(|| (cause, format!("{} is {theirs}, and {whose} is {ours}", suspect.who())))
        };
        unlike(Cause::Platform, platform(&theirs), platform(ours))
            .or_else(|| unlike(Cause::Build, program(&suspect.header.engine, &theirs), program(engine, ours)))
    }

    /// `repeats` says whether the suspect's own program comes to its checksums again.
    fn left_over_verdict(&mut self, repeats: bool) -> Result<Verdict, CheckError> {
        let tried = "no suspicion that can be played here leads to its checksums".to_owned();
        let (suspect, found) = (self.suspect(), self.other_program());
        let shown = if found.is_some() && !repeats { self.other_steps()? } else { None };
        let is_known = self.healthy.is_some();
        Ok(match found {
            Some((cause, unlike)) if repeats || shown.is_some() => {
                let reasons = [unlike, tried].into_iter().chain(shown).collect();
                if is_known { self.blame(cause, reasons) } else { blame_nobody(cause, reasons) }
            }
            // That it runs on another platform does not make the platform the cause.
            Some((_, unlike)) => {
                let so = "nothing recorded tells its program's steps from a state that was changed between them, or from steps that are others in each process";
                let others = vec![Cause::StateCorruption, Cause::Nondeterminism];
                Verdict { others, ..blame_nobody(Cause::Build, vec![unlike, tried, so.to_owned()]) }
            }
            None if let Some(healthy) = self.healthy.filter(|_| suspect.header.build.executable != 0) => {
                let whose = healthy.who();
                let same = format!("{} and {whose} ran the same executable on the same kind of machine", suspect.who());
                if repeats {
                    let so = "so its step takes something that is the same all through a process and another in the next: a hash map's order, an address, the environment";
                    return Ok(blame_nobody(Cause::Nondeterminism, vec![same, tried, so.to_owned()]));
                }
                let so = "so its state was changed outside of the step, or the step takes something that is another in each process";
                blame_nobody(Cause::Unknown, vec![same, tried, so.to_owned()])
            }
            None => blame_nobody(Cause::Unknown, vec![tried]),
        })
    }

    /// That the suspect's steps are others than here, if a state shows it that it recorded since:
    /// after a write between two steps the turns would lead on to its checksums.
    fn other_steps(&self) -> Result<Option<String>, CheckError> {
        let peer = self.suspect();
        let Some(&tick) = peer.states.range(self.tick..).map(|(tick, _)| tick).next() else { return Ok(None) };
        let mut odd = self.replay(self.checker.load(peer, tick)?, &peer.turns);
        let mut roots = peer.roots.range(tick..=tick.plus(WITNESS_TICKS).min(peer.end));
        let unmet = roots.find(|(tick, root)| odd.root(**tick) != **root);
        Ok(unmet.map(|(unmet, _)| {
            let from = format!("from the state that {} recorded at tick {tick} the turns do not lead", peer.who());
            format!("{from} to its checksum of tick {unmet}, so its steps are others")
        }))
    }
}

/// What a peer played on, for people.
fn platform(Build { os, arch, pointer_bits, .. }: &Build) -> String {
    format!("on {os} and {arch} with {pointer_bits} bits")
}

/// What a peer played with, for people, as far as it is known.
fn program(engine: &str, Build { profile, executable, .. }: &Build) -> String {
    let digest = if *executable == 0 { String::new() } else { format!(", executable {executable:016x}") };
    format!("engine {engine}, built for {profile}{digest}")
}
