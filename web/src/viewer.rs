//! A recording in a page: looked at, at any tick and by any hero's eyes, while it is verified.
//!
//! The loop is in `page/view.js`. Nothing leaves the page.

use std::cell::RefCell;
use std::rc::Rc;

use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::{Ending, Film, Header, Mismatch, Playback, Recording, RecordingError};
use lockstone::scene::Scene;
use lockstone::sim::{PlayerId, Tick};
use lockstone::view::Status;
use lockstone::view::smooth::Smooth;
use serde_json::json;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::eye::Eye;
use crate::hands::Hands;
use crate::panel::Panel;

/// Ticks that are verified between two looks at the clock.
const VERIFIED_TICKS: u32 = 8;

/// A recording that is looked at.
#[wasm_bindgen]
pub struct Viewer {
    reel: Box<dyn Reel>,
    eye: Eye,
    hands: Rc<RefCell<Hands>>,
    smooth: Smooth,
    /// What was shown last, and by whose eyes.
    shown: Option<(Tick, PlayerId)>,
}

impl Viewer {
    pub(crate) fn new(reel: Box<dyn Reel>, canvas: HtmlCanvasElement) -> Result<Viewer, String> {
        let hands = Rc::<RefCell<Hands>>::default();
        let eye = Eye::new(canvas, Rc::clone(&hands))?;
        Ok(Viewer { reel, eye, hands, smooth: Smooth::default(), shown: None })
    }
}

#[wasm_bindgen]
impl Viewer {
    /// What was recorded, as JSON.
    pub fn about(&self) -> String {
        self.reel.about()
    }

    /// How large the picture is from now on, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.hands.borrow_mut().size = (width, height);
    }

    /// Shows a tick, or a moment after it, by a hero's eyes. Returns what stands beside the
    /// picture, as JSON.
    pub fn show(&mut self, tick: f64, player: u16) -> String {
        let (at, player) = (Tick(tick as u32), PlayerId(player));
        let scene = self.reel.scene(at, player);
        if self.shown != Some((at, player)) {
            let is_next = self.shown.is_some_and(|(before, eyes)| before.next() == at && eyes == player);
            if !is_next {
                self.smooth = Smooth::default();
            }
            self.smooth.push(scene, false);
            self.shown = Some((at, player));
        }
        let status = Status::default();
        let moment = if self.smooth.newest().is_some() { tick.fract() as f32 } else { 1.0 };
        self.eye.draw(&self.smooth, moment, &status, tick as f32 / 20.0);
        Panel::of(self.smooth.newest(), &status).json()
    }

    /// Verifies for so many milliseconds. Returns what is known by then, as JSON.
    pub fn verify(&mut self, ms: f64) -> String {
        self.reel.verify(ms)
    }
}

/// A recording of a game, whichever it is.
pub(crate) trait Reel {
    fn about(&self) -> String;

    fn scene(&mut self, tick: Tick, player: PlayerId) -> Scene;

    fn verify(&mut self, ms: f64) -> String;
}

struct Recorded<G: Game> {
    film: Film<G::Sim>,
    ending: Ending,
    /// The same, as it is verified.
    playback: Playback<G::Sim>,
    is_verified: bool,
}

/// A recording of a game, read and checked.
pub(crate) fn open<G: Game>(bytes: &[u8]) -> Result<Box<dyn Reel>, String> {
    let told = |error: RecordingError| format!("This file cannot be shown: {error}; {}.", advice(&error));
    let header = Header::peek(bytes).map_err(told)?;
    header.check(G::NAME, &G::identity(&default_table())).map_err(told)?;
    let recording = Recording::<G::Sim>::read(bytes).map_err(told)?;
    let ending = recording.ending.clone();
    let build = || G::build(header.seed, default_table());
    let unplayed = |error| format!("This recording cannot be played: {error}; copy it again from where it was made.");
    let playback = Playback::new(recording.clone(), build()).map_err(unplayed)?;
    let film = Film::new(recording, build()).map_err(unplayed)?;
    Ok(Box::new(Recorded::<G> { film, ending, playback, is_verified: false }))
}

fn advice(error: &RecordingError) -> &'static str {
    match error {
        RecordingError::WrongMagic => "drop one that ends in .lksrec",
        RecordingError::TooShort { .. } | RecordingError::Damaged { .. } => "copy it again from where it was recorded",
        RecordingError::Unreadable { .. } => "see which build recorded it",
        RecordingError::UnsupportedVersion { .. } | RecordingError::Different { .. } => {
            "open it in the page of the build that recorded it"
        }
    }
}

impl<G: Game> Reel for Recorded<G> {
    fn about(&self) -> String {
        let Header { name, room, player, start, ticks_per_s, seed, .. } = self.film.header();
        let mut names = self.film.names().clone();
        names.entry(*player).or_insert_with(|| name.clone());
        let players: Vec<_> = names.iter().map(|(player, name)| json!({ "player": player.0, "name": name })).collect();
        let ending = match &self.ending {
            Ending::Closed(reason) => format!("closed: {reason}"),
            Ending::Open => "never closed".to_owned(),
            Ending::Torn { bytes } => format!("broke off: the last {bytes} bytes are left out"),
        };
        let about = json!({
            "name": name, "room": room, "player": player.0, "players": players, "seed": seed.to_string(),
            "start": start.0, "end": self.film.end().0, "ticks_per_s": ticks_per_s, "ending": ending,
        });
        about.to_string()
    }

    fn scene(&mut self, tick: Tick, player: PlayerId) -> Scene {
        self.film.seek(tick);
        G::scene(self.film.simulation(), player)
    }

    fn verify(&mut self, ms: f64) -> String {
        let began = crate::clock::now();
        while !self.is_verified && (crate::clock::now() - began).as_secs_f64() * 1e3 < ms {
            self.is_verified = !(0..VERIFIED_TICKS).all(|_| self.playback.step());
        }
        let replay = self.playback.so_far();
        let differs = replay.mismatch.map(|Mismatch { tick, agreed, .. }| {
            let since = agreed.map_or("from the start".to_owned(), |tick| format!("after tick {tick}"));
            json!({ "tick": tick.0, "sentence": format!("The worlds differ at tick {tick}; they parted {since}.") })
        });
        json!({ "done": self.is_verified, "ticks": replay.ticks, "checksums": replay.checksums, "differs": differs })
            .to_string()
    }
}
