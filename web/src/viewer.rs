//! Recordings in a page: looked at, at any tick and by any hero's eyes, while they are verified.
//!
//! The loop is in `page/view.js`. Nothing leaves the page.

use js_sys::{Function, Uint8Array};
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::{Ending, Film, Header, Mismatch, Playback, Recording};
use lockstone::scene::Scene;
use lockstone::sim::{PlayerId, Tick};
use lockstone::view::Status;
use lockstone::view::smooth::Smooth;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::checker::check;
use crate::panel::Panel;
use crate::picture::Picture;
use crate::reading::read;

/// Ticks that are verified between two looks at the clock.
const VERIFIED_TICKS: u32 = 8;

/// What can be done with recordings of a game.
#[wasm_bindgen]
pub struct Recordings {
    about: String,
    open: fn(&[Vec<u8>]) -> Result<Reels, String>,
    check: fn(&[Vec<u8>], &Function) -> Result<String, String>,
}

impl Recordings {
    /// Those of a game.
    pub fn of<G: Game>() -> Recordings {
        crate::note_panics();
        Recordings { about: crate::about::<G>().to_string(), open: open::<G>, check: check::<G> }
    }
}

#[wasm_bindgen]
impl Recordings {
    /// What there is to tell of the game, as JSON.
    pub fn about(&self) -> String {
        self.about.clone()
    }

    /// Opens recordings, or bundles of them, to be looked at.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn view(&self, files: Vec<Uint8Array>, canvas: HtmlCanvasElement) -> Result<Viewer, String> {
        Viewer::new((self.open)(&bytes(&files))?, canvas)
    }

    /// Checks recordings, or bundles of them, and returns the report, as JSON. `watch` is told of
    /// ticks that are played, of how many. It takes as long as it takes: call it in a worker.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn check(&self, files: Vec<Uint8Array>, watch: &Function) -> Result<String, String> {
        (self.check)(&bytes(&files), watch)
    }
}

fn bytes(files: &[Uint8Array]) -> Vec<Vec<u8>> {
    files.iter().map(Uint8Array::to_vec).collect()
}

/// Recordings that are looked at, one at a time.
#[wasm_bindgen]
pub struct Viewer {
    reels: Vec<Box<dyn Reel>>,
    /// Which one of them.
    at: usize,
    /// What is to be told of those that cannot be shown.
    told: Vec<String>,
    picture: Picture,
    size: (u32, u32),
    smooth: Smooth,
    /// What was shown last, and by whose eyes.
    shown: Option<(Tick, PlayerId)>,
}

impl Viewer {
    fn new(reels: Reels, canvas: HtmlCanvasElement) -> Result<Viewer, String> {
        let (Reels { reels, told }, picture) = (reels, Picture::new(canvas)?);
        Ok(Viewer { reels, at: 0, told, picture, size: (0, 0), smooth: Smooth::default(), shown: None })
    }

    fn reel(&mut self) -> &mut dyn Reel {
        &mut *self.reels[self.at]
    }
}

#[wasm_bindgen]
impl Viewer {
    /// What was recorded, as JSON: each recording, and what is to be told of others.
    pub fn about(&self) -> String {
        let recordings: Vec<_> = self.reels.iter().map(|reel| reel.about()).collect();
        json!({ "recordings": recordings, "told": self.told }).to_string()
    }

    /// Looks at another recording from now on.
    pub fn choose(&mut self, n: usize) {
        if n < self.reels.len() && n != self.at {
            (self.at, self.shown, self.smooth) = (n, None, Smooth::default());
        }
    }

    /// How large the picture is from now on, in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.size = (width, height);
    }

    /// Shows a tick, or a moment after it, by a hero's eyes. Returns what stands beside the
    /// picture, as JSON.
    pub fn show(&mut self, tick: f64, player: u16) -> String {
        let (at, player) = (Tick(tick as u32), PlayerId(player));
        let scene = self.reel().scene(at, player);
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
        self.picture.draw(self.size, &self.smooth, moment, &status, tick as f32 / 20.0);
        Panel::of(self.smooth.newest(), &status).json()
    }

    /// Verifies for so many milliseconds. Returns what is known by then, as JSON.
    pub fn verify(&mut self, ms: f64) -> String {
        self.reel().verify(ms)
    }
}

/// A recording of a game, whichever it is.
trait Reel {
    fn about(&self) -> Value;

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

/// What is in some files.
struct Reels {
    /// One at least.
    reels: Vec<Box<dyn Reel>>,
    told: Vec<String>,
}

/// The recordings of a game in these files, read and checked.
fn open<G: Game>(files: &[Vec<u8>]) -> Result<Reels, String> {
    let (mut reels, mut told) = (Vec::new(), Vec::new());
    for recording in read::<G>(files, &mut told)? {
        let name = recording.header.name.clone();
        match reel::<G>(recording) {
            Ok(reel) => reels.push(reel),
            Err(error) => told.push(format!("The recording of {name} cannot be shown: {error}.")),
        }
    }
    if reels.is_empty() {
        return Err(told.join(" "));
    }
    Ok(Reels { reels, told })
}

fn reel<G: Game>(recording: Recording<G::Sim>) -> Result<Box<dyn Reel>, String> {
    let header = &recording.header;
    let (ending, build) = (recording.ending.clone(), || G::build(header.seed, default_table()));
    header.check(G::NAME, &G::identity(&default_table())).map_err(|error| error.to_string())?;
    let playback = Playback::new(recording.clone(), build()).map_err(|error| error.to_string())?;
    let world = build();
    let film = Film::new(recording, world).map_err(|error| error.to_string())?;
    Ok(Box::new(Recorded::<G> { film, ending, playback, is_verified: false }))
}

impl<G: Game> Reel for Recorded<G> {
    fn about(&self) -> Value {
        let Header { name, room, player, start, ticks_per_s, seed, .. } = self.film.header();
        let mut names = self.film.names().clone();
        names.entry(*player).or_insert_with(|| name.clone());
        let players: Vec<_> = names.iter().map(|(player, name)| json!({ "player": player.0, "name": name })).collect();
        let ending = match &self.ending {
            Ending::Closed(reason) => format!("closed: {reason}"),
            Ending::Open => "never closed".to_owned(),
            Ending::Torn { bytes } => format!("broke off: the last {bytes} bytes are left out"),
        };
        json!({
            "name": name, "room": room, "player": player.0, "players": players, "seed": seed.to_string(),
            "start": start.0, "end": self.film.end().0, "ticks_per_s": ticks_per_s, "ending": ending,
        })
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
