//! `replay --view window`: recordings in a window, any tick of them, two of them side by side.
//!
//! The loop is [`Looking::run`]. Several are checked before, for what differs is shown first.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use lockstone_sim::{PlayerId, Table};

use super::failure::Failure;
use super::{check, files};
use crate::game::Game;
use crate::output::say;
use crate::recording::{Recording, bundle};
use crate::view::frame::{Shown, Spot};
use crate::view::window::{ViewingWindow, Wish};
use crate::view::{Row, Tone};
use crate::viewer::playing::{KEYS, Playing};
use crate::viewer::{Side, Verified, Viewer};

/// From one picture to the next.
const FRAME: Duration = Duration::from_millis(16);
/// So long of each it is verified.
const VERIFY: Duration = Duration::from_millis(4);
/// So many differing parts of a cell have room.
const SPOTS: usize = 2;

/// Shows recordings, or bundles of them, until the window is closed.
pub(super) fn run<G: Game>(names: &[PathBuf], table: &Table) -> Result<ExitCode, Failure> {
    let recordings = read::<G>(names)?;
    check::can_be_played::<G>("show", &recordings, table)?;
    // Without a window there is nothing to be checked for.
    let advice = "replay it without --view, or write a page with `check --page`";
    let window = ViewingWindow::open(G::NAME).map_err(|error| Failure::new(format!("{error}; {advice}")))?;
    let found = (recordings.len() > 1).then(|| check::check::<G>(recordings.clone(), table)).transpose()?;
    let mut viewer = Viewer::open::<G>(recordings, table).map_err(Failure::new)?;
    viewer.told().iter().for_each(say);
    let mut verdict = Vec::new();
    let mut first = None;
    if let Some(report) = found {
        verdict.extend(report.to_string().lines().find(|line| line.starts_with("verdict ")).map(str::to_owned));
        // Who brings several wants to see two.
        viewer.put_beside(Some(1));
        first = report.finding.as_ref().map(|finding| viewer.take(&finding.into()));
        say(report);
    }
    let mut playing = Playing::of(viewer.recorded());
    first.into_iter().for_each(|tick| playing.stop_at(tick));
    Looking { viewer, playing, window, eyes: 0, verdict, game: G::NAME }.run()
}

/// The recordings in these files, of which some may be bundles.
fn read<G: Game>(names: &[PathBuf]) -> Result<Vec<Recording<G::Sim>>, Failure> {
    let mut recordings = Vec::new();
    for name in names {
        let bytes = files::read(name)?;
        if bytes.starts_with(&bundle::MAGIC) {
            recordings.extend(check::read_bundle::<G>("show", name, &bytes)?);
        } else {
            recordings.push(check::read_file::<G>("show", name, &bytes)?);
        }
    }
    match recordings.is_empty() {
        true => Err(Failure::file("show", &names[0], "none of its recordings can be read")),
        false => Ok(recordings),
    }
}

/// Recordings in a window.
struct Looking {
    viewer: Viewer,
    playing: Playing,
    window: ViewingWindow,
    /// Whose, among the players of the recording.
    eyes: usize,
    /// What the check came to.
    verdict: Vec<String>,
    game: &'static str,
}

impl Looking {
    fn run(mut self) -> Result<ExitCode, Failure> {
        let (mut before, mut drawn) = (Instant::now(), None);
        loop {
            for wish in self.window.wishes() {
                let is_chosen = self.viewer.chosen().is_some();
                match wish {
                    Wish::Close => return Ok(ExitCode::SUCCESS),
                    Wish::Back if !is_chosen => return Ok(ExitCode::SUCCESS),
                    Wish::Back => self.viewer.pick(None),
                    Wish::Act(act) => self.playing.act(act),
                    Wish::Eyes => self.eyes += 1,
                    Wish::Recording => self.turn_to_next(),
                    Wish::Beside => self.put_next_beside(),
                    Wish::Look(spot) => self.choose(spot),
                }
                drawn = None;
            }
            let now = Instant::now();
            self.playing.go((now - before).as_secs_f32());
            before = now;
            let verified = self.viewer.verify(&mut || now.elapsed() < VERIFY);
            let what = Some((self.playing.at(), verified.sentence(self.viewer.recorded())));
            if drawn != what || self.window.is_resized() {
                let shown = self.shown(&verified);
                self.window.show(&shown);
                drawn = what;
            } else {
                self.window.listen();
            }
            thread::sleep(FRAME.saturating_sub(now.elapsed()));
        }
    }

    fn turn_to_next(&mut self) {
        let ((tick, _), before) = (self.playing.at(), self.viewer.looked_at());
        let next = (before + 1) % self.viewer.recordings().count();
        self.viewer.choose(next);
        // Who turns to the one beside it turns both about.
        if self.viewer.beside() == Some(next) {
            self.viewer.put_beside(Some(before));
        }
        self.playing = Playing::of(self.viewer.recorded());
        self.playing.stop_at(tick);
        self.eyes = 0;
    }

    fn put_next_beside(&mut self) {
        let next = self.viewer.beside().map_or(0, |n| n + 1);
        self.viewer.put_beside((next < self.viewer.recordings().count()).then_some(next));
    }

    fn player(&self) -> PlayerId {
        let players = &self.viewer.recorded().players;
        let own = players.iter().position(|(player, _)| *player == self.viewer.recorded().player).unwrap_or(0);
        players[(own + self.eyes) % players.len()].0
    }

    fn choose(&mut self, spot: Spot) {
        if self.viewer.beside().is_none() {
            return;
        }
        self.playing.stop_at(self.playing.at().0);
        self.viewer.look(self.playing.at().0, self.player());
        let cell = match spot {
            Spot::World(_, place) => self.viewer.cell_at(place),
            Spot::Cell(cell) => Some(cell),
            Spot::Bar(_) => return,
        };
        self.viewer.pick(cell);
    }

    fn shown(&mut self, verified: &Verified) -> Shown {
        let ((tick, moment), player) = (self.playing.at(), self.player());
        self.viewer.look(tick, player);
        let mut worlds = Vec::new();
        for side in [Side::Here, Side::There] {
            let title = self.viewer.title(side).unwrap_or_default();
            worlds.extend(self.viewer.scene(side, moment).map(|scene| (scene, title)));
        }
        let chart = self.viewer.compared().is_some().then(|| self.viewer.chart()).flatten();
        let time_s = self.viewer.recorded().seconds(f64::from(tick.0) + f64::from(moment)) as f32;
        let place = (self.playing.share(), self.playing.told());
        // What is told of a cell takes the room.
        let tells_hero = self.viewer.chosen().is_none();
        Shown {
            game: self.game.to_owned(),
            worlds,
            tells_hero,
            rows: self.rows(verified, player),
            chart,
            place,
            time_s,
        }
    }

    fn rows(&self, verified: &Verified, player: PlayerId) -> Vec<Row> {
        let recorded = self.viewer.recorded();
        let tone = verified.is_good().map_or(Tone::Faint, |good| if good { Tone::Good } else { Tone::Bad });
        let eyes = recorded.players.iter().find(|(other, _)| *other == player).map_or("", |(_, name)| name);
        let mut rows = Vec::new();
        if let Some(found) = self.viewer.compared() {
            rows.push(Row::long(&found.sentence, if found.differs { Tone::Bad } else { Tone::Plain }));
        }
        if let Some(chosen) = self.viewer.chosen() {
            rows.extend(chosen.sentences.iter().map(|text| Row::long(text, Tone::Plain)));
            rows.extend(chosen.spots.iter().take(SPOTS).map(|text| Row::long(text, Tone::Faint)));
        }
        rows.extend(self.verdict.iter().map(|text| Row::long(text, Tone::Plain)));
        rows.push(Row::long(format!("recorded by {}, seen by {eyes}", recorded.name), Tone::Plain));
        rows.push(Row::long(verified.sentence(recorded), tone));
        rows.push(Row::long(KEYS, Tone::Faint));
        rows
    }
}
