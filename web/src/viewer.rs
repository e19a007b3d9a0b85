//! Recordings in a page: what `lockstone::viewer` does, in canvases, and told as JSON.
//!
//! The loop is in `page/view.js`. Nothing leaves the page.

use js_sys::{Function, Uint8Array};
use lockstone::default_table;
use lockstone::game::Game;
use lockstone::recording::Mismatch;
use lockstone::scene::Chart;
use lockstone::sim::{CellId, PlayerId, Tick};
use lockstone::view::Status;
use lockstone::viewer::{self, Found, Recorded, Side, Verified};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::checker::check;
use crate::panel::Panel;
use crate::picture::Picture;
use crate::reading::read;

/// What can be done with recordings of a game.
#[wasm_bindgen]
pub struct Recordings {
    about: String,
    open: fn(&[Vec<u8>]) -> Result<Opened, String>,
    check: fn(&[Vec<u8>], &Function) -> Result<String, String>,
}

/// What is in some files, and what is to be told of the rest.
type Opened = (viewer::Viewer, Vec<String>);

impl Recordings {
    /// Those of a game.
    pub fn of<G: Game>() -> Recordings {
        crate::note_panics();
        Recordings { about: crate::about::<G>().to_string(), open: open::<G>, check: check::<G> }
    }
}

fn open<G: Game>(files: &[Vec<u8>]) -> Result<Opened, String> {
    let mut told = Vec::new();
    let viewer = viewer::Viewer::open::<G>(read::<G>(files, &mut told)?, &default_table())?;
    told.extend_from_slice(viewer.told());
    Ok((viewer, told))
}

#[wasm_bindgen]
impl Recordings {
    /// What there is to tell of the game, as JSON.
    pub fn about(&self) -> String {
        self.about.clone()
    }

    /// Opens recordings, or bundles of them, to be looked at: in two canvases, with a map of cells
    /// in a third.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn view(
        &self,
        files: Vec<Uint8Array>,
        here: HtmlCanvasElement,
        there: HtmlCanvasElement,
        map: HtmlCanvasElement,
    ) -> Result<Viewer, String> {
        let (viewer, told) = (self.open)(&bytes(&files))?;
        let pictures = [Picture::new(here)?, Picture::new(there)?];
        Ok(Viewer { viewer, told, pictures, map: Picture::new(map)?, size: (0, 0), chart: None })
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

/// Recordings that are looked at: one, or two side by side.
#[wasm_bindgen]
pub struct Viewer {
    viewer: viewer::Viewer,
    /// What is to be told of those that cannot be shown.
    told: Vec<String>,
    /// One for each side.
    pictures: [Picture; 2],
    map: Picture,
    /// Of each of the pictures.
    size: (u32, u32),
    /// What the map shows.
    chart: Option<Chart>,
}

/// So many cells are named on a button.
const FEW: usize = 2;
const SIDES: [Side; 2] = [Side::Here, Side::There];

#[wasm_bindgen]
impl Viewer {
    /// What was recorded, as JSON: each recording, and what is to be told of others.
    pub fn about(&self) -> String {
        let recordings: Vec<_> = self.viewer.recordings().map(about).collect();
        json!({ "recordings": recordings, "told": self.told }).to_string()
    }

    /// Looks at another recording from now on.
    pub fn choose(&mut self, n: usize) {
        self.viewer.choose(n);
    }

    /// Shows another recording beside it, or none. The same one stands for what its turns alone
    /// lead to.
    pub fn put_beside(&mut self, n: Option<usize>) {
        self.viewer.put_beside(n);
    }

    /// Takes what the check found, as JSON, and shows the odd peer's world beside another. Returns
    /// as JSON which recordings are shown then, and the tick to go to.
    pub fn take(&mut self, found: &str) -> String {
        let tick = serde_json::from_str::<Found>(found).ok().map(|found| self.viewer.take(&found).0);
        json!({ "tick": tick, "whose": self.viewer.looked_at(), "beside": self.viewer.beside() }).to_string()
    }

    /// How large each picture is from now on, in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.size = (width, height);
    }

    /// Shows a tick, or a moment after it, by a hero's eyes; torches do not flicker for who wants
    /// it calm. Returns what stands beside the pictures, as JSON.
    pub fn show(&mut self, tick: f64, player: u16, is_calm: bool) -> String {
        self.viewer.look(Tick(tick as u32), PlayerId(player));
        let moment = tick.fract() as f32;
        let time_s = if is_calm { 0.0 } else { self.viewer.recorded().seconds(tick) as f32 };
        let status = Status::default();
        for (side, picture) in SIDES.into_iter().zip(&mut self.pictures) {
            if let Some(scene) = self.viewer.scene(side, moment) {
                picture.draw(self.size, Some(scene), &status, time_s);
            }
        }
        Panel::of(self.viewer.newest(Side::Here), &status).json()
    }

    /// Draws the map so many pixels wide and high, and returns what is to be told of both worlds
    /// and of the chosen cell, as JSON.
    pub fn compared(&mut self, size: u32) -> String {
        let titles = SIDES.map(|side| self.viewer.title(side));
        self.chart = self.viewer.compared().is_some().then(|| self.viewer.chart()).flatten();
        self.chart.iter().for_each(|chart| self.map.draw_chart((size, size), chart));
        let found = self
            .viewer
            .compared()
            .map(|found| json!({ "sentence": found.sentence, "differs": found.differs, "cells": cells(&found.cells) }));
        let chosen = self.viewer.chosen().map(|chosen| {
            let step = |step: &viewer::cone::Step| json!({
                "tick": step.tick.0, "cells": step.cells.len(), "differing": step.differing,
                "suspects": few(&step.suspects),
            });
            let steps: Vec<_> = chosen.cone.steps.iter().map(step).collect();
            json!({ "cell": chosen.cone.cell.to_string(), "tick": chosen.cone.tick.0, "sentences": chosen.sentences, "spots": chosen.spots, "steps": steps })
        });
        json!({ "titles": titles, "found": found, "chosen": chosen, "has_map": self.chart.is_some() }).to_string()
    }

    /// Chooses the cell at a place of a side's picture (0, 1) or of the map (2), in pixels of it.
    pub fn pick_at(&mut self, picture: usize, x: f32, y: f32) {
        let cell = match self.pictures.get(picture) {
            Some(picture) => picture.tile_at((x, y)).and_then(|place| self.viewer.cell_at(place)),
            None => self.chart.as_ref().and_then(|chart| self.map.chart_cell(chart, (x, y))),
        };
        self.viewer.pick(cell);
    }

    /// Chooses a cell, or none.
    pub fn pick(&mut self, cell: Option<Vec<u16>>) {
        self.viewer.pick(cell.and_then(|cell| Some(CellId::new(*cell.first()?, *cell.get(1)?))));
    }

    /// Verifies for so many milliseconds. Returns what is known by then, as JSON.
    pub fn verify(&mut self, ms: f64) -> String {
        let began = crate::clock::now();
        let verified = self.viewer.verify(&mut || (crate::clock::now() - began).as_secs_f64() * 1e3 < ms);
        let tone = verified.is_good().map_or("faint", |good| if good { "good" } else { "bad" });
        let (sentence, Verified { is_done, replay }) = (verified.sentence(self.viewer.recorded()), verified);
        let differs = replay.mismatch.map(|Mismatch { tick, .. }| tick.0);
        json!({ "done": is_done, "sentence": sentence, "tone": tone, "differs": differs }).to_string()
    }
}

fn about(recorded: &Recorded) -> Value {
    let Recorded { name, room, player, players, seed, start, end, ticks_per_s, ending } = recorded;
    let players: Vec<_> = players.iter().map(|(player, name)| json!({ "player": player.0, "name": name })).collect();
    json!({
        "name": name, "room": room, "player": player.0, "players": players, "seed": seed.to_string(),
        "start": start.0, "end": end.0, "ticks_per_s": ticks_per_s, "ending": ending,
    })
}

/// Cells by name if they are few, else how many.
fn few(cells: &[CellId]) -> String {
    if cells.len() <= FEW { viewer::told_cells(cells) } else { format!("{} cells", cells.len()) }
}

fn cells(cells: &[CellId]) -> Vec<[u16; 2]> {
    cells.iter().map(|cell| [cell.x, cell.y]).collect()
}
