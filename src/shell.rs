//! The engine shell: drives a session over a link in real time, records it, lets people or bots
//! play, and shows it.
//!
//! ```text
//! actions, bots ─► Session::command
//! link ─► Session::handle ─► Session::advance ─► link
//!                               ├─► events ─► Recorder, news
//!                               ├─► look ahead ─► simulation ─► scene ─► view
//!                               └─► settled world ─► ear ─► sounds
//! ```
//!
//! One round of it is [`Shell::step`], which never sleeps and reads no clock but those that it was
//! given: a page or another engine calls it. [`Shell::run`] is the loop of a program of its own,
//! which sleeps between rounds. It must never change the world but by commands.

mod character;
mod display;
mod effort;
pub(crate) mod executable;
mod hearing;
mod inquiry;
mod keeper;
mod lookahead;
mod play;
mod recorder;
mod report;
#[cfg(not(target_arch = "wasm32"))]
mod run;
mod solo;
pub(crate) mod storage;

pub use character::Keep;
pub use display::{Display, Screen};
pub use effort::{Clock, Clocks, Effort};
pub use recorder::{Labels, RecordError, Recorder};
pub use report::{PlayedCheck, PlayedDelay, PlayedExchange, PlayedParts, PlayedStalls, Report};
pub use solo::SoloLink;
#[cfg(not(target_arch = "wasm32"))]
pub use storage::Files;
pub use storage::{Memory, Output, Storage};

use std::time::Duration;

use lockstone_net::session::{EndReason, Event, Phase};
use lockstone_net::wire::{Branch, Fitness};
use lockstone_net::{Link, Session};
use lockstone_sim::{PlayerId, Simulation, Tick};

use crate::game::{Bot, Game};
use crate::panics::{Panicked, caught};
use crate::recording::Desync;
use crate::sound::Sound;
use crate::view::{Draw, Join, last_check};
use character::Keeping;
use effort::{MEASURED_TICKS, Meter};
use hearing::Hearing;
use keeper::Told;
use lookahead::Lookahead;

/// After leaving, so long is waited for the last packets to get away.
const FAREWELL: Duration = Duration::from_millis(250);
/// A founder that wants to end lets the others end first, for so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Ticks between two calls of [`Options::progress`].
const PROGRESS_TICKS: u32 = 10;
/// The exchanges with others are noted this often: some leave before the report is made.
const OTHERS_PERIOD: Duration = Duration::from_secs(1);
/// Ticks between two parts that are kept.
const PARTS_TICKS: u32 = 20;

/// How a session is played, beside the session itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether a bot plays the hero.
    pub bot: bool,
    /// Whether who plays sees the confirmed world. Else the session looks ahead, and the own hero
    /// answers at once.
    pub no_look_ahead: bool,
    /// Leaves after so long in the game.
    pub time: Option<Duration>,
    /// Leaves at this tick.
    pub until: Option<Tick>,
    /// Keeps every checksum for the report.
    pub keep_checksums: bool,
    /// Keeps the checksums of the world's parts for the report, once a second.
    pub keep_parts: bool,
    /// Draws a picture of the end.
    pub picture: Option<Draw>,
    /// Is told to the person once they are in a session.
    pub greeting: Option<String>,
    /// Is told how others join, once they can.
    pub invite: Option<fn(&Join)>,
    /// Is told about twice a second which tick comes next.
    pub progress: Option<fn(Tick)>,
    /// Of how many ticks at the end [`Report::work`] tells. A minute's at 20 a second, unless said
    /// otherwise.
    pub measured_ticks: Option<u32>,
    /// What the work is measured by.
    pub clocks: Clocks,
}

/// When [`Shell::step`] is to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time, or as soon as the link has something.
    At(Duration),
    /// Never: the session is over, and [`Shell::finish`] tells how it went.
    Over,
}

/// How far a shell has come.
#[derive(Clone, Copy)]
enum Course {
    Plays,
    /// It wants to leave, since a time.
    Leaves(Duration),
    /// It left at a time, and hears the end until another.
    Left(Duration, Duration),
}

/// A session as it is played by one process.
pub struct Shell<G: Game, L: Link, T: Session<Sim = G::Sim>> {
    session: T,
    link: L,
    recorder: Recorder<G::Sim>,
    display: Display,
    options: Options,
    player: Option<PlayerId>,
    /// Which history is played, and whether others were cut off that play another perhaps.
    branch: Option<Branch>,
    is_cut_off: bool,
    /// The last tick whose checksum was another peer's too, if the report is to have checksums.
    agreed: Tick,
    bot: Option<Box<dyn Bot<G::Sim>>>,
    keeping: Option<Keeping>,
    hearing: Option<Hearing<G>>,
    bot_saw: Tick,
    /// The tick that was last told to the recorder.
    reached: Tick,
    /// The tick that was last told to [`Options::progress`].
    told: Tick,
    /// Until when another's evidence is waited for.
    waits_until: Option<Duration>,
    /// Whether a command or a word waits to travel.
    spoke: bool,
    course: Course,
    picture_at: Duration,
    meter: Meter,
    lookahead: Lookahead,
    report: Report,
    /// When the others are noted for the report next.
    others_at: Duration,
    ended: Option<EndReason>,
    last_picture: Option<Result<Vec<u8>, String>>,
}

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Shell<G, L, T> {
    /// A session that has not begun.
    pub fn new(session: T, link: L, mut recorder: Recorder<G::Sim>, mut display: Display, options: Options) -> Self {
        recorder.read(options.clocks);
        display.know_keys(G::KEYS);
        Shell {
            session,
            link,
            recorder,
            player: None,
            branch: None,
            is_cut_off: false,
            agreed: Tick(0),
            bot: None,
            keeping: None,
            hearing: None,
            bot_saw: Tick(0),
            reached: Tick(0),
            told: Tick(0),
            waits_until: None,
            spoke: false,
            course: Course::Plays,
            picture_at: Duration::ZERO,
            lookahead: Lookahead::new(options.clocks.thread, display.period()),
            meter: Meter::new(options.clocks, options.measured_ticks.unwrap_or(MEASURED_TICKS)),
            options,
            display,
            report: Report::default(),
            others_at: Duration::ZERO,
            ended: None,
            last_picture: None,
        }
    }

    /// If worlds differ, also plays again what led there, and tells what came of it as evidence.
    /// `build` makes the simulation of a seed, as it does for the session.
    #[must_use]
    pub fn with_rerun(mut self, build: impl Fn(u64) -> G::Sim + Send + 'static) -> Self {
        self.recorder.ask(move |keeper| keeper.build = Some(Box::new(build)));
        self
    }

    /// Keeps the own hero for another session, now and then and at the end: `keep` gets the text
    /// that takes the place of the one before, or tells why it cannot. The hero that is kept there
    /// already is of this class, and has come so far: see
    /// [`Character::progress`](crate::character::Character::progress).
    #[must_use]
    pub fn with_character(
        mut self,
        (class, progress): (&str, u64),
        keep: impl FnMut(&str) -> Result<(), String> + 'static,
    ) -> Self {
        self.keeping = Some(Keeping::new(Box::new(keep), class, progress));
        self
    }

    /// Lets the person hear the world, if sound `is_on`: `/sound` switches it. `speak` plays what
    /// is heard, or tells in a few words why it cannot. It is given no sound at first, to get
    /// ready.
    #[must_use]
    pub fn with_sound(mut self, is_on: bool, speak: impl FnMut(&[Sound]) -> Result<(), String> + 'static) -> Self {
        self.display.show_sound(is_on);
        self.hearing = Some(Hearing::new(Box::new(speak), is_on));
        self
    }

    /// One round, at a time of the caller's that never goes back: hears the link, lets time in,
    /// plays, records, and shows the world if a picture is due.
    ///
    /// A panic of the game ends it: what led there is on record, and [`Report::panic`] tells it.
    pub fn step(&mut self, now: Duration) -> Next {
        caught(|| self.round(now)).unwrap_or_else(|panicked| self.break_off(panicked, now))
    }

    fn round(&mut self, now: Duration) -> Next {
        self.pump(now);
        if let Course::Left(_, until) = self.course {
            return if now < until { Next::At(self.session.wake_at().clamp(now, until)) } else { Next::Over };
        }
        if self.ended.is_none() {
            if now >= self.others_at {
                self.others_at = now + OTHERS_PERIOD;
                self.report.note_others(&self.session.stats());
            }
            self.let_bot_play();
            self.look(now);
            if !self.may_leave(now) {
                let more = std::mem::take(&mut self.spoke) && self.pump(now);
                return Next::At(if more { now } else { self.wake_at(now) });
            }
            self.last_picture = self.picture();
            self.keep_hero(true);
            self.session.leave(now);
            self.pump(now);
        }
        self.keep_hero(true);
        // Hears the end, and lets the last packets get away, if anyone was ever spoken to.
        let spoke = self.session.stats().traffic.packets_out > 0;
        let until = if spoke { now + FAREWELL } else { now };
        self.course = Course::Left(now, until);
        if spoke { Next::At(until) } else { Next::Over }
    }

    /// The game panicked: its session is of no use any more, but for what it had told, and for what
    /// it had predicted if it panicked in that. A prediction may be wrong, so that no other peer
    /// ever comes to that turn; but what is half done cannot be gone on with.
    fn break_off(&mut self, panicked: Panicked, now: Duration) -> Next {
        let told = caught(|| {
            while let Some(event) = self.session.poll_event() {
                self.take(event, now);
            }
            let (settled, predicted) = (self.session.settled(), self.session.broken_turns());
            let tick = predicted.last().map_or(settled, |(tick, _)| *tick);
            for (tick, turn) in predicted.into_iter().filter(|(_, turn)| !turn.inputs.is_empty()) {
                self.recorder.ask(move |keeper| keeper.turn(tick, &turn));
            }
            (settled, tick)
        });
        let (settled, tick) = told.unwrap_or((self.reached, self.reached));
        let since =
            if tick > settled { format!("; turns are predicted from tick {settled} on") } else { String::new() };
        let reason = format!("{panicked}{since}");
        self.recorder.ask(move |keeper| keeper.break_off(tick, &reason));
        self.report.panic = Some((tick.0, panicked));
        self.course = Course::Left(now, now);
        Next::Over
    }

    /// Wants to leave. A founder that plays [`until`](Options::until) a tick lets the others play
    /// theirs first.
    pub fn leave(&mut self, now: Duration) {
        if let Course::Plays = self.course {
            self.course = Course::Leaves(now);
        }
    }

    /// Keeps the own hero, and what is recorded, as they are by now: for whoever may be ended at
    /// any moment, without a word.
    pub fn keep(&mut self) {
        if self.ended.is_none() {
            self.keep_hero(true);
        }
        let reached = self.reached;
        self.recorder.ask(move |keeper| keeper.hand_over(reached));
    }

    /// Says how well this peer can lead a party: a page of a browser less than a process of its
    /// own.
    pub fn set_fitness(&mut self, fitness: Fitness) {
        self.session.set_fitness(fitness);
    }

    /// Tells how it went, once it is over. What is still to be written is waited for.
    pub fn finish(&mut self) -> (EndReason, Report) {
        self.recorder.close();
        self.hear_recorder();
        let reason = self.ended.clone().unwrap_or(EndReason::Left);
        let stats = caught(|| self.session.stats()).unwrap_or_default();
        let name = self.display.name.clone();
        let Course::Left(left_at, _) = self.course else { return (reason, std::mem::take(&mut self.report)) };
        self.report.finish(name, &stats, left_at, &reason);
        if let Some((_, panicked)) = &self.report.panic {
            self.report.ended = panicked.to_string();
        }
        self.report.work = self.meter.effort();
        (reason, std::mem::take(&mut self.report))
    }

    /// What ticks have cost so far.
    pub fn effort(&self) -> Effort {
        self.meter.effort()
    }

    /// The link, to do something with.
    pub fn link_mut(&mut self) -> &mut L {
        &mut self.link
    }

    /// When there is something to do, unless the link has something before.
    fn wake_at(&self, now: Duration) -> Duration {
        let begun = self.report.began;
        let end = self.options.time.zip(begun).map(|(time, began)| began + time);
        let due = end.into_iter().chain(self.waits_until).fold(self.session.wake_at(), Duration::min);
        let due = if self.display.is_ready() { due.min(self.picture_at) } else { due };
        due.max(now)
    }

    /// Lets packets and time in, and packets and events out. Returns whether there is more to do at
    /// once.
    fn pump(&mut self, now: Duration) -> bool {
        while let Some(event) = self.link.poll() {
            self.display.hear_link(&event);
            self.session.handle(event, now);
        }
        self.advance(now);
        while let Some(packet) = self.session.poll_transmit() {
            self.link.send(packet.to, packet.channel, packet.bytes);
        }
        while let Some(event) = self.session.poll_event() {
            self.take(event, now);
        }
        if self.waits_until.take_if(|until| now >= *until).is_some() {
            self.recorder.ask(|keeper| keeper.wait_no_longer());
        }
        if let Some(join) = self.display.invite(|| self.session.phase())
            && let Some(invite) = self.options.invite
        {
            invite(join);
        }
        let more = self.recorder.work();
        self.hear_recorder();
        self.reach(self.session.settled());
        more
    }

    /// Keeps the own hero if it is time, or for the `last` time.
    fn keep_hero(&mut self, last: bool) {
        let Some((keeping, player)) = self.keeping.as_mut().zip(self.player) else { return };
        if let Some(told) = keeping.work::<G>(&mut self.session, player, last) {
            self.display.tell(told);
        }
    }

    /// Lets the person hear what is final now.
    fn hear(&mut self) {
        let Some((hearing, player)) = self.hearing.as_mut().zip(self.player) else { return };
        if let Some(told) = hearing.work(&mut self.session, player) {
            self.display.show_sound(false);
            self.display.tell(told);
        }
    }

    /// The person wants to hear nothing more, or to hear it again.
    fn switch_sound(&mut self) {
        let told = match &mut self.hearing {
            Some(hearing) => {
                hearing.switch();
                self.display.show_sound(hearing.is_on());
                if hearing.is_on() { "Sound is on." } else { "Sound is off. /sound switches it on again." }
            }
            None => "There is no sound: this program was built without, or nobody sees its world.",
        };
        self.display.tell(told.to_owned());
    }

    /// Lets time in, and measures what each tick costs.
    fn advance(&mut self, now: Duration) {
        // A rollback session has no confirmed world.
        let world = |session: &T| session.confirmed().or(session.simulation()).map_or(Tick(0), Simulation::tick);
        let before = world(&self.session);
        self.session.advance(now);
        let played = world(&self.session).0.saturating_sub(before.0);
        self.meter.played(played, self.recorder.worked(), self.lookahead.spent(), now);
        if !self.options.no_look_ahead && (self.bot.is_some() || self.display.shows()) {
            // Perhaps it never comes to what was only assumed. If it does, it panics once more.
            if let Err(panicked) = caught(|| self.lookahead.look(&mut self.session)) {
                self.options.no_look_ahead = true;
                tracing::warn!("looking ahead, {panicked}");
            }
        }
    }

    /// The ticks before this one are final.
    fn reach(&mut self, settled: Tick) {
        if self.player.is_none() || settled <= self.reached {
            return;
        }
        self.reached = settled;
        self.recorder.ask(move |keeper| keeper.reached(settled));
        self.keep_hero(false);
        self.hear();
        if let Some(progress) = self.options.progress
            && settled.0.saturating_sub(self.told.0) >= PROGRESS_TICKS
        {
            self.told = settled;
            progress(settled);
        }
    }

    fn take(&mut self, event: Event<G::Sim>, now: Duration) {
        // Of this peer's own refusal its end tells.
        if !(matches!(event, Event::Refused { .. }) && matches!(self.session.phase(), Phase::Ended(_))) {
            self.display.hear(&event);
        }
        match event {
            Event::Started { tick, seed, player, snapshot } => {
                self.player = Some(player);
                self.options.greeting.take().into_iter().for_each(|told| self.display.tell(told));
                (self.report.player, self.report.first_tick) = (Some(player.0), tick.0);
                if self.session.stats().relay.is_some() {
                    // A relay's ticks wait for nobody.
                    self.report.began.get_or_insert(now);
                }
                self.recorder.ask(move |keeper| keeper.start(tick, seed, player, &snapshot));
                self.hearing.iter_mut().for_each(Hearing::begin);
                self.bot = self.options.bot.then(|| Box::new(G::bot(player)) as Box<dyn Bot<G::Sim>>);
            }
            Event::Turn { tick, turn } => {
                self.report.began.get_or_insert(now);
                self.recorder.ask(move |keeper| keeper.turn(tick, &turn));
            }
            Event::Checksum { tick, checksum, tree } => {
                if self.options.keep_parts && tick.0.is_multiple_of(PARTS_TICKS) {
                    self.report.parts.push(PlayedParts { tick: tick.0, cells: tree.clone() });
                }
                if self.options.keep_checksums {
                    let players = self.session.stats().players;
                    let equal = players.iter().filter_map(last_check).filter(|check| check.equal);
                    self.agreed = equal.map(|check| check.tick).max().unwrap_or_default().max(self.agreed);
                    self.report.checksums.push(PlayedCheck { tick: tick.0, checksum: checksum.to_string() });
                }
                self.recorder.ask(move |keeper| keeper.checksum(tick, checksum, &tree));
            }
            Event::Keyframe { tick, snapshot } => {
                if let Some(simulation) = self.session.simulation() {
                    self.recorder.keyframe(tick, snapshot, simulation);
                }
            }
            Event::Ledger { ledger, .. } => self.recorder.ask(move |keeper| keeper.ledger(ledger)),
            Event::Signed(signed) => self.recorder.ask(move |keeper| keeper.signed(signed)),
            Event::Member { player, key } => self.recorder.ask(move |keeper| keeper.member(player, key)),
            Event::PlayerAway { player, reason } | Event::PlayerLeft { player, reason } => {
                self.recorder.ask(move |keeper| keeper.gone(player, reason));
            }
            Event::PlayerJoined { player, name }
            | Event::PlayerNear { player, name }
            | Event::PlayerBack { player, name } => {
                self.recorder.ask(move |keeper| keeper.name(player, &name));
            }
            Event::Desync { player, tick, agreed, ours, theirs } => {
                self.recorder.ask(move |keeper| keeper.desync(Desync { player, tick, agreed, ours, theirs }));
            }
            Event::ReferenceWanted { tick, agreed } => {
                self.recorder.ask(move |keeper| keeper.refer(tick, agreed));
            }
            Event::Ended { tick, reason } => {
                let told = reason.to_string();
                self.recorder.ask(move |keeper| keeper.end(tick, &told));
                self.ended = Some(reason);
            }
            Event::Minority { may_branch, .. } => self.is_cut_off |= may_branch,
            Event::Branch { branch, .. } => {
                if self.branch.replace(branch).is_some_and(|before| before != branch) && self.is_cut_off {
                    self.recorder.ask(|keeper| keeper.keep_apart());
                }
            }
            Event::Yielded => {
                (self.branch, self.is_cut_off) = (None, false);
                let agreed = self.agreed.0;
                self.report.checksums.retain(|check| check.tick <= agreed);
                self.recorder.ask(|keeper| keeper.keep_apart());
            }
            Event::HoldsUp { .. } | Event::Intercepted { .. } => {}
            Event::Refused { .. } | Event::Said { .. } => {}
            Event::Repaired { .. } | Event::Liar { .. } | Event::Distrusted { .. } | Event::VoteOut { .. } => {}
            Event::EvidenceWanted { bytes_max } => {
                let Some(player) = self.player else { return };
                let waits = self.session.phase() == Phase::OutOfStep;
                self.waits_until = waits.then_some(now + inquiry::WAIT_TIME);
                self.recorder.ask(move |keeper| keeper.inquire(player, bytes_max, waits));
            }
            Event::Evidence { bytes, .. } => self.recorder.ask(move |keeper| keeper.hear(bytes)),
            Event::EvidenceComplete { missing } => self.recorder.ask(move |keeper| keeper.complete(missing)),
        }
    }

    /// Hears what became of the recording.
    fn hear_recorder(&mut self) {
        while let Ok(told) = self.recorder.told.try_recv() {
            match told {
                Told::Recorded(path) => {
                    if self.report.recording.replace(path.display().to_string()).is_some() {
                        self.display.tell(format!("The recording goes on in {}.", path.display()));
                    }
                }
                Told::Apart(path) => {
                    let place = path.display();
                    self.display.tell(format!("What you play apart from the others is kept in {place}."));
                }
                Told::Desync(path) => self.display.tell(format!("This peer's recording is in {}.", path.display())),
                Told::Failed(error) => {
                    self.display.tell(format!("The recording stops here: {error}."));
                    self.report.recording_error = Some(error.to_string());
                }
                Told::Unsaved(error) => self.display.tell(format!("What led to this could not be recorded: {error}.")),
                Told::Evidence(evidence) => {
                    self.spoke = true;
                    if let Err(error) = self.session.give_evidence(evidence) {
                        tracing::warn!("this peer's evidence was not taken: {error}");
                    }
                }
                Told::Reference(tick, checksum) => self.session.give_reference(tick, checksum),
                Told::Bundle(path) => {
                    let (place, game) = (path.display().to_string(), G::NAME);
                    self.display
                        .tell(format!("What all peers know of it is in {place}. Read it with: {game} explain {place}"));
                    self.report.bundle = Some(place);
                }
                Told::PassedOver => {
                    self.report.passed_over += 1;
                    if self.report.passed_over == 1 {
                        self.display
                            .tell("Enough differences are saved: those that follow are only counted.".to_owned());
                    }
                }
            }
        }
    }

    /// Whether it leaves now. A founder that has played its ticks lets the others play theirs: its
    /// leaving ends the session for all.
    fn may_leave(&mut self, now: Duration) -> bool {
        let Options { time, until, .. } = self.options;
        if time.zip(self.report.began).is_some_and(|(time, began)| now >= began + time)
            || until.is_some_and(|until| self.player.is_some() && self.session.settled() >= until)
        {
            self.leave(now);
        }
        let Course::Leaves(since) = self.course else { return false };
        let leads_others = || {
            let players = self.session.stats().players;
            players.len() > 1 && players.iter().any(|player| player.own && player.sequencer)
        };
        until.is_none() || now >= since + PATIENCE || !leads_others()
    }
}
