//! The engine shell: drives a session over a link in real time, records it, lets people or bots play, and shows it.
//!
//! ```text
//! link ─► Session::handle ─► Session::advance ─► link
//!                               └─► events ─► Recorder, news        actions, bots ─► Session::command
//!                               └─► simulation ─► scene ─► view
//! ```
//!
//! The only place that reads the clock. The loop is [`Shell::run`]. It must never change the world but by commands.

mod effort;
mod evidence;
mod executable;
mod recorder;
mod report;
mod solo;
mod watch;

pub use effort::Effort;
pub use recorder::{Labels, RecordError, Recorder};
pub use report::{PlayedCheck, PlayedParts, Report};
pub use solo::SoloLink;
pub use watch::{Screen, Watch};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lockstone_net::relay::Companion;
use lockstone_net::session::{EndReason, Event, Phase};
use lockstone_net::{Link, Session};
use lockstone_sim::{Fx, PlayerId, Simulation, Tick, Vec2};

use crate::game::{Bot, Game};
use crate::recording::{Bundle, Desync};
use crate::scene::{Mark, Rgb, Scene};
use crate::view::{Action, Draw};
use evidence::Wanted;

/// After leaving, so long is waited for the last packets to get away.
const FAREWELL: Duration = Duration::from_millis(250);
/// A founder that wants to end lets the others end first, for so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// The link is looked at this often, at least.
const LINK_PERIOD: Duration = Duration::from_millis(4);
/// Between two pictures.
const PICTURE_PERIOD: Duration = Duration::from_millis(33);
/// Ticks between two calls of [`Options::progress`].
const PROGRESS_TICKS: u32 = 10;
/// Heroes of the party that are seen from afar.
const COMPANION: Rgb = Rgb(150, 210, 240);
/// Ticks between two parts that are kept.
const PARTS_TICKS: u32 = 20;
/// How far a walking key leads, in tiles.
const WALK_TILES: f32 = 2.5;

/// How a session is played, beside the session itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether a bot plays the hero.
    pub bot: bool,
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
    /// Is told about twice a second which tick comes next.
    pub progress: Option<fn(Tick)>,
}

/// A session as it is played by one process.
pub struct Shell<G: Game, L: Link, T: Session<Sim = G::Sim>> {
    session: T,
    link: L,
    recorder: Recorder<G::Sim>,
    /// Makes another simulation, to play again in.
    build: Option<Box<dyn Fn(u64) -> G::Sim>>,
    /// Evidence that this peer is to give.
    wanted: Option<Wanted<G::Sim>>,
    /// What has arrived of the peers' evidence of a difference.
    bundle: Option<Bundle>,
    /// Whose did not arrive, once no more comes.
    complete: Option<Vec<PlayerId>>,
    watch: Watch,
    options: Options,
    bot: Option<Box<dyn Bot<G::Sim>>>,
    bot_saw: Tick,
    /// The tick that was last told to [`Options::progress`].
    told: Tick,
    effort: Effort,
    started: Instant,
    report: Report,
    ended: Option<EndReason>,
    last_picture: Option<Result<Vec<u8>, String>>,
}

impl<G: Game, L: Link, T: Session<Sim = G::Sim>> Shell<G, L, T> {
    /// A session that has not begun.
    pub fn new(session: T, link: L, recorder: Recorder<G::Sim>, watch: Watch, options: Options) -> Self {
        Shell {
            session,
            link,
            recorder,
            build: None,
            wanted: None,
            bundle: None,
            complete: None,
            watch,
            options,
            bot: None,
            bot_saw: Tick(0),
            told: Tick(0),
            effort: Effort::default(),
            started: Instant::now(),
            report: Report::default(),
            ended: None,
            last_picture: None,
        }
    }

    /// If worlds differ, also plays again what led there, and tells what came of it as evidence. `build` makes the simulation of a seed, as it
    /// does for the session.
    #[must_use]
    pub fn with_rerun(mut self, build: impl Fn(u64) -> G::Sim + Send + Sync + 'static) -> Self {
        self.build = Some(Box::new(build));
        self
    }

    /// Plays until the session ends, the time is up, the person quits, or `stop` is set. Returns what became of it.
    pub fn run(&mut self, stop: &AtomicBool) -> (EndReason, Report) {
        let mut picture_at = Duration::ZERO;
        let mut leaving = None;
        while self.ended.is_none() {
            let now = self.pump();
            self.let_bot_play();
            if now >= picture_at {
                picture_at = now + PICTURE_PERIOD;
                let quits = self.show(now);
                if leaving.is_none() && (quits || stop.load(Ordering::Relaxed) || self.is_due(now)) {
                    leaving = Some(now);
                }
            }
            if leaving.is_some_and(|since| self.may_leave(since, now)) {
                self.last_picture = self.picture();
                self.session.leave(now);
                break;
            }
            let due = self.session.wake_at().min(picture_at).saturating_sub(self.started.elapsed());
            std::thread::sleep(due.min(LINK_PERIOD));
        }
        let left_at = self.started.elapsed();
        self.say_goodbye(left_at);
        self.finish(left_at)
    }

    /// Lets packets and time in, and packets and events out. Returns the time.
    fn pump(&mut self) -> Duration {
        let now = self.started.elapsed();
        while let Some(event) = self.link.poll() {
            self.watch.hear_link(&event);
            self.session.handle(event, now);
        }
        self.advance(now);
        while let Some(packet) = self.session.poll_transmit() {
            self.link.send(packet.to, packet.channel, packet.bytes);
        }
        while let Some(event) = self.session.poll_event() {
            self.take(event, now);
        }
        self.prepare_evidence(now);
        if let Some(settled) = self.settled() {
            self.recorder.reached(settled);
            if let Some(progress) = self.options.progress
                && settled.since(self.told) >= PROGRESS_TICKS
            {
                self.told = settled;
                progress(settled);
            }
        }
        now
    }

    /// Lets time in, and takes what each tick costs.
    fn advance(&mut self, now: Duration) {
        let tick = |session: &T| session.simulation().map_or(Tick(0), Simulation::tick);
        let (before, began) = (tick(&self.session), Instant::now());
        self.session.advance(now);
        self.effort.took(tick(&self.session).since(before), began.elapsed());
    }

    /// The first tick that is not final, once there is a world.
    fn settled(&self) -> Option<Tick> {
        self.session.simulation().map(|_| self.session.stats().settled)
    }

    fn take(&mut self, event: Event<G::Sim>, now: Duration) {
        self.watch.hear(&event);
        match event {
            Event::Started { tick, seed, player, snapshot } => {
                self.report.start(player, tick);
                if self.session.stats().relay.is_some() {
                    // A relay's ticks wait for nobody.
                    self.report.play(now);
                }
                self.recorder.start(tick, seed, player, &snapshot);
                self.bot = self.options.bot.then(|| Box::new(G::bot(player)) as Box<dyn Bot<G::Sim>>);
            }
            Event::Turn { tick, turn } => {
                self.report.play(now);
                self.recorder.turn(tick, &turn);
            }
            Event::Checksum { tick, checksum, tree } => {
                self.recorder.checksum(tick, checksum, &tree);
                if self.options.keep_parts && tick.0.is_multiple_of(PARTS_TICKS) {
                    self.report.parts.push(PlayedParts { tick: tick.0, cells: tree });
                }
                if self.options.keep_checksums {
                    self.report.checksums.push(PlayedCheck { tick: tick.0, checksum: checksum.to_string() });
                }
            }
            Event::Keyframe { tick, snapshot } => {
                if let Some(simulation) = self.session.simulation() {
                    self.recorder.keyframe(tick, &simulation.encode(&snapshot));
                }
            }
            Event::PlayerJoined { player, name } | Event::PlayerNear { player, name } => {
                self.recorder.name(player, &name)
            }
            Event::Desync { player, tick, agreed, ours, theirs } => {
                if let Some(place) = self.recorder.desync(Desync { player, tick, agreed, ours, theirs }) {
                    self.watch.tell(format!("This peer's recording is in {place}."));
                }
            }
            Event::Ended { tick, reason } => {
                self.recorder.end(tick, &reason.to_string());
                self.ended = Some(reason);
            }
            Event::PlayerLeft { .. } | Event::Refused { .. } | Event::Said { .. } => {}
            Event::EvidenceWanted { bytes_max } => self.begin_evidence(bytes_max, now),
            Event::Evidence { bytes, .. } => {
                self.bundle.iter_mut().for_each(|bundle| bundle.recordings.push(bytes.clone()))
            }
            Event::EvidenceComplete { missing } => {
                self.complete = Some(missing);
                self.save_bundle();
            }
        }
    }

    /// Begins to collect what all know.
    fn begin_evidence(&mut self, bytes_max: usize, now: Duration) {
        let Some(player) = self.session.stats().player else { return };
        self.wanted = Some(Wanted::new(bytes_max, now));
        (self.bundle, self.complete) = (Some(Bundle { player, recordings: Vec::new(), missing: Vec::new() }), None);
    }

    /// Plays again what led to the difference, and gives the others this peer's evidence once that is done.
    fn prepare_evidence(&mut self, now: Duration) {
        let Some(wanted) = &mut self.wanted else { return };
        let goes_on = self.session.phase() != Phase::OutOfStep;
        if let (Some(build), true) = (&self.build, wanted.is_new()) {
            let others = self.bundle.as_ref().map_or(&[][..], |bundle| &bundle.recordings);
            let parted = self.recorder.parts_from(wanted.news(others));
            if parted.is_none() && !goes_on && wanted.waits(now) && self.complete.is_none() {
                return;
            }
            wanted.begin(self.recorder.rerunner(parted, build), now);
        }
        if wanted.advance(now, goes_on) {
            return;
        }
        if let Some(wanted) = self.wanted.take() {
            let bytes_max = wanted.bytes_max;
            wanted.rerun().into_iter().for_each(|rerun| self.recorder.rerun(rerun));
            let evidence = self.recorder.recent(bytes_max);
            self.bundle.iter_mut().for_each(|bundle| bundle.recordings.insert(0, evidence.clone()));
            self.give_evidence(evidence);
            self.save_bundle();
        }
    }

    fn give_evidence(&mut self, evidence: Vec<u8>) {
        if let Err(error) = self.session.give_evidence(evidence) {
            log::warn!("this peer's evidence was not taken: {error}");
        }
    }

    /// Saves what all know, once no more comes and this peer's own is there.
    fn save_bundle(&mut self) {
        if self.wanted.is_some() || self.complete.is_none() {
            return;
        }
        let (Some(bundle), Some(missing)) = (self.bundle.take(), self.complete.take()) else { return };
        if let Some(path) = self.recorder.save_bundle(&Bundle { missing, ..bundle }) {
            let place = path.display().to_string();
            self.watch
                .tell(format!("What all peers know of it is in {place}. Read it with: {} explain {place}", G::NAME));
            self.report.bundle = Some(place);
        }
    }

    fn let_bot_play(&mut self) {
        let (Some(bot), Some(sim), Some(player)) =
            (&mut self.bot, self.session.simulation(), self.session.stats().player)
        else {
            return;
        };
        if sim.tick() == self.bot_saw || self.session.phase() != Phase::Playing {
            return;
        }
        self.bot_saw = sim.tick();
        if let Some(command) = bot.decide(sim, player)
            && let Err(error) = self.session.command(command)
        {
            log::debug!("the bot's command was not taken: {error}");
        }
    }

    /// Shows the world, and does what the person wants. Returns whether they want to leave.
    fn show(&mut self, now: Duration) -> bool {
        let stats = self.session.stats();
        let (session, names) = (&self.session, self.watch.names());
        let scene = |player| scene_of::<G>(session, player, &names);
        self.watch.show(&stats, &self.session.phase(), self.effort, now, scene);
        let actions = self.watch.actions();
        actions.into_iter().any(|action| match stats.player {
            _ if action == Action::Quit => true,
            Some(player) => {
                self.act(player, action);
                false
            }
            None => false,
        })
    }

    fn act(&mut self, player: PlayerId, action: Action) {
        let Some(sim) = self.session.simulation() else { return };
        let command = match action {
            Action::Quit => return,
            Action::Click(at, pointer) => G::click(sim, player, place(at), pointer),
            Action::Walk((x, y)) => {
                let (cx, cy) = self.watch.center();
                let at = (cx + f32::from(x) * WALK_TILES, cy + f32::from(y) * WALK_TILES);
                G::click(sim, player, place(at), crate::scene::Pointer::Primary)
            }
            Action::Say(text) => {
                if let Err(error) = self.session.say(&text) {
                    self.watch.tell(format!("Not said: {error}."));
                }
                return;
            }
            Action::Type(text) => match G::typed(sim, player, &text) {
                Ok(command) => Some(command),
                Err(sentence) => {
                    self.watch.tell(sentence);
                    None
                }
            },
        };
        if let Some(command) = command
            && let Err(error) = self.session.command(command)
        {
            self.watch.tell(format!("Not done: {error}."));
        }
    }

    fn is_due(&self, now: Duration) -> bool {
        let time = self.options.time.zip(self.report.began()).is_some_and(|(time, began)| now >= began + time);
        let until = self.options.until.zip(self.settled()).is_some_and(|(until, settled)| settled >= until);
        time || until
    }

    /// A founder that has played its ticks lets the others play theirs: its leaving ends the session for all.
    fn may_leave(&self, since: Duration, now: Duration) -> bool {
        let stats = self.session.stats();
        let founder = stats.players.iter().any(|player| player.own && player.sequencer);
        let alone = stats.players.len() <= 1;
        self.options.until.is_none() || !founder || alone || now >= since + PATIENCE
    }

    /// Hears the end, and lets the last packets get away, if anyone was ever spoken to.
    fn say_goodbye(&mut self, left_at: Duration) {
        let spoke = self.session.stats().traffic.packets_out > 0;
        let end = if spoke { left_at + FAREWELL } else { left_at };
        while self.pump() < end {
            std::thread::sleep(LINK_PERIOD);
        }
    }

    fn finish(&mut self, left_at: Duration) -> (EndReason, Report) {
        let reason = self.ended.clone().unwrap_or(EndReason::Left);
        let stats = self.session.stats();
        let name = self.watch.name().to_owned();
        self.report.finish(name, &stats, left_at, &reason);
        self.report.work = self.effort;
        self.report.recording = self.recorder.saved().map(|path| path.display().to_string());
        (reason, std::mem::take(&mut self.report))
    }

    /// The picture of the end, just before this peer left, as a file. There is none if it was not asked for.
    ///
    /// # Errors
    /// What its drawing says.
    pub fn take_picture(&mut self) -> Option<Result<Vec<u8>, String>> {
        self.last_picture.take().or_else(|| self.picture())
    }

    fn picture(&self) -> Option<Result<Vec<u8>, String>> {
        let draw = self.options.picture?;
        let player = self.session.stats().player;
        let scene = player.and_then(|player| scene_of::<G>(&self.session, player, &self.watch.names()));
        Some(self.watch.picture(draw, scene.as_ref()))
    }
}

/// What a player sees: what is simulated here, and marks for what is told from afar.
fn scene_of<G: Game>(
    session: &impl Session<Sim = G::Sim>,
    player: PlayerId,
    names: &BTreeMap<PlayerId, String>,
) -> Option<Scene> {
    let sim = session.simulation()?;
    let view = session.distant();
    let companion = |one: &Companion| Mark {
        pos: tiles(one.at),
        symbol: '\u{25c7}',
        color: COMPANION,
        label: names.get(&one.player).cloned().unwrap_or_else(|| one.player.to_string()),
    };
    let marks = view.companions.iter().map(companion);
    let landmarks = view.landmarks.iter().filter_map(|landmark| G::landmark(sim, landmark));
    Some(Scene { marks: marks.chain(landmarks).collect(), ..G::scene(sim, player) })
}

/// A place of the world as one of a view.
fn tiles(at: Vec2) -> (f32, f32) {
    let float = |value: Fx| value.to_bits() as f32 / (1 << Fx::FRACTION_BITS) as f32;
    (float(at.x), float(at.y))
}

/// A place of a view as one of the world. Views are free to be inexact: what comes of it travels as a command.
fn place((x, y): (f32, f32)) -> Vec2 {
    let fx = |value: f32| Fx::from_bits((value * (1 << Fx::FRACTION_BITS) as f32) as i32);
    Vec2::new(fx(x), fx(y))
}
