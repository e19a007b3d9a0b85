//! What is told without playing: another seed, table, configuration, program or state at the start.

use lockstone_sim::Tick;

use super::rerun::Again;
use super::{Case, Solution, blame_nobody, minority};
use crate::check::compare::{CheckError, Checker};
use crate::check::locate::locate;
use crate::check::replayer::Replayer;
use crate::check::report::{Cause, Finding, Verdict};
use crate::inspect::Inspect;
use crate::recording::Timeline;
use crate::recording::{Build, Header};

/// The first thing in which the recordings are unlike before anything was played.
pub fn before_the_first_tick<S: Inspect>(
    checker: &Checker<'_, S>,
    peers: &[Timeline<S>],
) -> Result<Option<Finding>, CheckError> {
    match unlike_headers(peers) {
        Some(found) => Ok(Some(found)),
        None => unlike_starts(checker, peers),
    }
}

/// Recordings of another seed, table, program or configuration.
pub fn unlike_headers<S: Inspect>(peers: &[Timeline<S>]) -> Option<Finding> {
    let unlike = |cause, what: &str, value: fn(&Header) -> String| {
        let values: Vec<_> = peers.iter().map(|peer| value(&peer.header)).collect();
        let alike = values.windows(2).all(|pair| pair[0] == pair[1]);
        let reasons = peers.iter().zip(&values).map(|(peer, value)| format!("{} has {what} {value}", peer.who()));
        (!alike).then(|| finding(peers, Verdict { cause, blamed: minority(&values), reasons: reasons.collect() }))
    };
    unlike(Cause::StartData, "the seed", |header| header.seed.to_string())
        .or_else(|| unlike(Cause::Table, "the random table", |header| format!("{:032x}", header.identity.table)))
        .or_else(|| unlike(Cause::Build, "the rules", |header| format!("{:016x}", header.identity.rules)))
        .or_else(|| unlike(Cause::StartData, "the configuration", |header| format!("{:016x}", header.identity.config)))
}

/// Recordings that begin at one tick, in several states.
fn unlike_starts<S: Inspect>(checker: &Checker<'_, S>, peers: &[Timeline<S>]) -> Result<Option<Finding>, CheckError> {
    for (n, peer) in peers.iter().enumerate() {
        let start = peer.start();
        let together: Vec<usize> = (0..peers.len()).filter(|&m| peers[m].start() == start).collect();
        let state = |m: usize| &peers[m].states[&start];
        let Some(&other) = together.iter().find(|&&m| m > n && state(m) != state(n)) else { continue };
        let states: Vec<_> = together.iter().map(|&m| state(m)).collect();
        let odd: Vec<usize> = minority(&states).into_iter().map(|place| together[place]).collect();
        let (mut ours, mut theirs) = (checker.load(peer, start)?, checker.load(&peers[other], start)?);
        let location = Some(locate(&mut ours, &mut theirs));
        let reason = format!("{} and {} began at tick {start} with unlike states", peer.who(), peers[other].who());
        let verdict = Verdict { cause: Cause::StartData, blamed: odd, reasons: vec![reason] };
        return Ok(Some(Finding { location, ..at(start, verdict) }));
    }
    Ok(None)
}

fn finding<S: Inspect>(peers: &[Timeline<S>], verdict: Verdict) -> Finding {
    at(peers.iter().map(Timeline::start).max().unwrap_or_default(), verdict)
}

fn at(tick: Tick, verdict: Verdict) -> Finding {
    let odd = verdict.blamed.clone();
    let (bad_writes, spread, inputs) = (Vec::new(), Vec::new(), Vec::new());
    Finding { tick, agreed: None, odd, between: None, verdict, location: None, bad_writes, spread, inputs }
}

impl<S: Inspect> Case<'_, '_, S> {
    /// No suspicion that can be played explains it: what else is unlike, and where the odd peer's
    /// recorded state differs, if it has one.
    pub(super) fn left_over(&self, replayer: &mut Replayer<'_, S>) -> Result<Solution<S>, CheckError> {
        let rerun = self.rerun(replayer);
        let mut verdict = self.left_over_verdict(matches!(rerun, Some((_, Again::AsRecorded(_)))));
        verdict.reasons.extend(rerun.map(|(rerun, again)| self.tell_again(&rerun, &again)));
        Ok((verdict, self.recorded_state()?))
    }

    /// `repeats` says whether the suspect's own program comes to its checksums again.
    fn left_over_verdict(&self, repeats: bool) -> Verdict {
        let tried = "no suspicion that can be played here leads to its checksums".to_owned();
        let suspect = self.suspect();
        let healthy = self.healthy;
        let (theirs, ours) = match healthy {
            Some(healthy) => (Program::of(&suspect.header), Program::of(&healthy.header)),
            // This program does not know its own digest here.
            None => (
                Program::new(&suspect.header.engine, &Build { executable: 0, ..suspect.header.build.clone() }),
                Program::here(),
            ),
        };
        let whose = healthy.map_or("this program".to_owned(), Timeline::who);
        let unlike = |cause, theirs: &str, ours: &str| {
            let reason = format!("{} is {theirs}, and {whose} is {ours}", suspect.who());
            (theirs != ours).then(|| (cause, vec![reason, tried.clone()]))
        };
        let found = unlike(Cause::Platform, &theirs.platform, &ours.platform)
            .or_else(|| unlike(Cause::Build, &theirs.build, &ours.build));
        match found {
            Some((cause, reasons)) if healthy.is_some() => self.blame(cause, reasons),
            Some((cause, reasons)) => blame_nobody(cause, reasons),
            None if healthy.is_some() && theirs.is_known => {
                let same = format!("{} and {whose} ran the same executable on the same kind of machine", suspect.who());
                if repeats {
                    let so = "so its step takes something that is the same all through a process and another in the next: a hash map's order, an address, the environment";
                    return blame_nobody(Cause::Nondeterminism, vec![same, tried, so.to_owned()]);
                }
                let so =
                    "so it is not the step: the state was changed outside of it, or is not the one that it began with";
                self.blame(Cause::StateCorruption, vec![same, tried, so.to_owned()])
            }
            None => blame_nobody(Cause::Unknown, vec![tried]),
        }
    }
}

/// What a peer played with, for people.
struct Program {
    platform: String,
    build: String,
    /// Whether the build is known to the last byte.
    is_known: bool,
}

impl Program {
    fn of(header: &Header) -> Program {
        Program::new(&header.engine, &header.build)
    }

    fn here() -> Program {
        Program::new(env!("CARGO_PKG_VERSION"), &Build::here())
    }

    fn new(engine: &str, build: &Build) -> Program {
        let Build { profile, os, arch, pointer_bits, executable } = build;
        Program {
            platform: format!("on {os} and {arch} with {pointer_bits} bits"),
            build: format!("engine {engine}, built for {profile}{}", digest(*executable)),
            is_known: *executable != 0,
        }
    }
}

/// What is known of an executable's bytes, for people.
fn digest(executable: u64) -> String {
    if executable == 0 { String::new() } else { format!(", executable {executable:016x}") }
}
