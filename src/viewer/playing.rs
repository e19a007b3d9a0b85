//! How recordings are played: on or not, how fast, at which moment, and what keys do to that.
//!
//! It knows no clock: time is an argument of [`Playing::go`].

use lockstone_sim::Tick;

use super::Recorded;

/// How fast it plays, against the session's own time; the second is that.
pub const SPEEDS: [f32; 4] = [0.25, 1.0, 4.0, 16.0];
/// So far a leap goes, in seconds.
const LEAP_S: u32 = 10;
/// Longer than this between two pictures no time passes, in seconds: something else was going on.
const PAUSE_S: f32 = 0.1;

/// What keys do, in a line.
pub const KEYS: &str = "Space plays, arrows go a tick, PageUp and PageDown 10 s, Home and End, + and - speed, Tab \
                        another hero's eyes, R another recording, B one beside it, a click on a cell where it came from, Esc \
                        lets go of it or closes";

/// What someone wants of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// To play, or to stop.
    Play,
    /// So many ticks on, or back.
    Step(i32),
    /// 10 s on, or back: 1 or -1.
    Leap(i32),
    /// To the first tick.
    Start,
    /// To the last.
    End,
    /// To a place between both, 0 to 1.
    To(f32),
    /// Faster, or slower: 1 or -1.
    Speed(i32),
}

/// A moment of a recording, and how it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Playing {
    /// The first tick and the one behind the last.
    span: (Tick, Tick),
    ticks_per_s: u32,
    /// In ticks since the first.
    moment: f64,
    plays: bool,
    speed: usize,
}

impl Playing {
    /// From a recording's start on, and playing.
    pub fn of(recorded: &Recorded) -> Playing {
        let span = (recorded.start, recorded.end);
        Playing { span, ticks_per_s: recorded.ticks_per_s, moment: 0.0, plays: true, speed: 1 }
    }

    /// The tick that is shown, and which part of the way to the next has passed, 0 to 1.
    pub fn at(&self) -> (Tick, f32) {
        (self.span.0.plus(self.moment as u32), self.moment.fract() as f32)
    }

    /// How far that is, 0 to 1.
    pub fn share(&self) -> f32 {
        (self.moment / f64::from(self.ticks().max(1))) as f32
    }

    /// Whether it goes on by itself.
    pub fn plays(&self) -> bool {
        self.plays
    }

    /// How fast it plays.
    pub fn speed(&self) -> f32 {
        SPEEDS[self.speed]
    }

    /// The moment as people read it: minutes, seconds, tick.
    pub fn told(&self) -> String {
        let s = self.moment.floor() / f64::from(self.ticks_per_s);
        let state = if self.plays { format!("{} x", self.speed()) } else { "paused".to_owned() };
        format!("{}:{:04.1}, tick {}, {state}", (s / 60.0) as u32, s % 60.0, self.at().0)
    }

    fn ticks(&self) -> u32 {
        self.span.1.since(self.span.0)
    }

    /// Goes to a tick, or the nearest, and stops there.
    pub fn stop_at(&mut self, tick: Tick) {
        self.plays = false;
        self.moment = f64::from(tick.since(self.span.0).min(self.ticks()));
    }

    /// So many seconds pass.
    pub fn go(&mut self, s: f32) {
        if self.plays {
            let ticks = s.clamp(0.0, PAUSE_S) * self.speed() * self.ticks_per_s as f32;
            self.moment = (self.moment + f64::from(ticks)).min(f64::from(self.ticks()));
            self.plays = self.moment < f64::from(self.ticks());
        }
    }

    /// Does what is wanted.
    pub fn act(&mut self, act: Act) {
        let tick = self.at().0;
        let leap = (LEAP_S * self.ticks_per_s) as i32;
        let by = |ticks: i32| Tick(tick.0.saturating_add_signed(ticks));
        match act {
            Act::Play => {
                self.plays = !self.plays;
                if self.moment >= f64::from(self.ticks()) {
                    self.moment = 0.0;
                }
            }
            Act::Step(ticks) => self.stop_at(by(ticks)),
            Act::Leap(leaps) => self.stop_at(by(leap * leaps)),
            Act::Start => self.stop_at(self.span.0),
            Act::End => self.stop_at(self.span.1),
            Act::To(share) => {
                let ticks = share.clamp(0.0, 1.0) * self.ticks() as f32;
                self.stop_at(self.span.0.plus(ticks.round() as u32));
            }
            Act::Speed(by) => self.speed = self.speed.saturating_add_signed(by as isize).min(SPEEDS.len() - 1),
        }
    }
}
