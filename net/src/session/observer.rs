//! What can be seen of a session of any kind from outside its role: how long commands take, when
//! the world stands still, who leads. The rest of [`Stats`] is counted where it happens. What it
//! sees it also tells as `tracing` events.
//!
//! It must never have a say in what is played, sent or told.

use core::time::Duration;
use std::collections::VecDeque;

use lockstone_sim::{Input, Simulation, Tick, Turn};

use super::Event;
use super::stats::{DelayStats, StallStats, Stats};
use super::trace::{self, At};
use crate::limits::STANDSTILL;
use crate::link::LinkEvent;
use crate::wire::Vote;

/// Commands of which it is remembered when they were given: all that may wait, and some turns of
/// others that are on their way. Of more the oldest is forgotten.
const GIVEN_MAX: usize = 256;
/// Between two times that all figures are told as `tracing` events.
const FIGURES_PERIOD: Duration = Duration::from_secs(10);

pub struct Observer<S: Simulation> {
    /// Between two ticks: what lasts no longer is no stall.
    period: Duration,
    /// Commands whose turn was not told, with the tick of the world when they were given.
    given: VecDeque<(Tick, S::Command)>,
    delay: DelayStats,
    stalls: StallStats,
    /// How long the world has stood still, if it does.
    stall: Option<Duration>,
    /// When it was last looked whether it does.
    looked_at: Duration,
    led_by: Option<Vote>,
    takeovers: u32,
    /// Who sees it, and where.
    at: At,
    figures_at: Duration,
}

impl<S: Simulation> Observer<S> {
    /// Of a session with so much time between two ticks.
    pub fn new(period: Duration) -> Self {
        Observer {
            period,
            given: VecDeque::new(),
            delay: DelayStats::default(),
            stalls: StallStats::default(),
            stall: None,
            looked_at: Duration::ZERO,
            led_by: None,
            takeovers: 0,
            at: At::default(),
            figures_at: Duration::ZERO,
        }
    }

    /// This peer's player gives a command at a tick of the world.
    pub fn given(&mut self, tick: Tick, command: S::Command) {
        if self.given.len() == GIVEN_MAX {
            self.given.pop_front();
        }
        self.given.push_back((tick, command));
    }

    /// Something is told when the world is at a tick.
    pub fn told(&mut self, event: &Event<S>, tick: Tick) {
        self.at.tick = tick;
        match event {
            Event::Started { player, .. } => self.at.me = Some(*player),
            Event::Turn { turn, .. } if !self.given.is_empty() => self.confirm(turn),
            _ => {}
        }
        trace::event(self.at, event);
    }

    /// Commands are played in the order in which they were given; those that were passed over never
    /// are.
    fn confirm(&mut self, turn: &Turn<S>) {
        for input in &turn.inputs {
            let Input::Command(player, command) = input else { continue };
            if Some(*player) == self.at.me
                && let Some(n) = self.given.iter().position(|(_, given)| given == command)
                && let Some((given_at, _)) = self.given.drain(..=n).next_back()
            {
                self.delay.add(self.at.tick.since(given_at));
            }
        }
    }

    /// The link tells something.
    pub fn hear(&self, event: &LinkEvent) {
        trace::link(self.at, event);
    }

    /// Looks whether the world stands still although a tick is due, and since when: before
    /// something comes that may end it, and after all was done that could be.
    pub fn look(&mut self, stalled_since: Option<Duration>, now: Duration) {
        let looked_at = core::mem::replace(&mut self.looked_at, now);
        let driven = |from: Duration| Some(now.saturating_sub(from)).filter(|_| now < looked_at + STANDSTILL);
        match (&mut self.stall, stalled_since) {
            (None, None) => {}
            (None, Some(since)) => self.stall = Some(driven(since.max(looked_at)).unwrap_or_default()),
            (Some(time), _) => {
                let before = *time;
                *time += driven(looked_at).unwrap_or_default();
                if before <= self.period && *time > self.period {
                    trace::stalls(self.at);
                }
            }
        }
        if stalled_since.is_none()
            && let Some(time) = self.stall.take()
            && self.counts(time)
        {
            self.stalls = self.stalls.with(time);
            trace::stalled(self.at, time);
        }
    }

    /// Looks who leads, as far as that is known.
    pub fn follow(&mut self, led_by: Option<Vote>) {
        let Some(vote) = led_by else { return };
        self.at.epoch = vote.epoch;
        if let Some(before) = self.led_by.replace(vote)
            && before.epoch != vote.epoch
        {
            self.takeovers += 1;
            trace::taken_over(self.at, vote.leader);
        }
    }

    /// Whether all figures are to be told now.
    pub fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.figures_at + FIGURES_PERIOD;
        if is_due {
            self.figures_at = now;
        }
        is_due
    }

    /// Tells all figures.
    pub fn tell(&self, stats: &Stats) {
        trace::figures(self.at, stats);
    }

    /// Fills in the figures that are seen here.
    pub fn figures(&self, stats: &mut Stats) {
        stats.delay = self.delay;
        let ongoing = self.stall.filter(|time| self.counts(*time));
        stats.stalls = ongoing.map_or(self.stalls, |time| self.stalls.with(time));
        stats.epoch = self.at.epoch;
        stats.takeovers = self.takeovers;
    }

    fn counts(&self, stall: Duration) -> bool {
        stall > self.period
    }
}

impl StallStats {
    fn with(self, stall: Duration) -> StallStats {
        StallStats { count: self.count + 1, time: self.time + stall, longest: self.longest.max(stall) }
    }
}
