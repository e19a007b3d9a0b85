//! The page that is played on: enters sessions, and does there what is done on the page.
//!
//! The loop is in `page/page.js`: a page may not sleep, so [`Page::step`] returns when it is to be
//! called again. Nothing here may decide what is played, or ask another host for anything.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;

use js_sys::{Array, Function, Uint8Array};
use lockstone::game::{Game, Wide};
use lockstone::scene::Pointer;
use lockstone::shell::{Memory, Next};
use lockstone::sound::{Sound, VOICES_MAX};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::bell;
use crate::clock;
use crate::entry::Entry;
use crate::eye::Eye;
use crate::gate::{Any, Broad, Gate, Playing};
use crate::hands::Hands;
use crate::picture::Picture;

/// The page plays a sound by so many samples a second.
const RATE_HZ: u32 = 44_100;

thread_local! {
    /// What is heard, until the page takes it.
    static HEARD: RefCell<VecDeque<Sound>> = const { RefCell::new(VecDeque::new()) };
    /// The hero as it is to be kept, if that is new.
    pub(crate) static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
    /// What was recorded. It outlives a panic.
    static FILES: RefCell<Memory> = RefCell::default();
}

/// A game's page: what it shows, and what is done there.
#[wasm_bindgen]
pub struct Page {
    gate: Box<dyn Gate>,
    playing: Option<Box<dyn Playing>>,
    hands: Rc<RefCell<Hands>>,
    ending: Option<String>,
}

impl Page {
    /// The page of a game.
    pub fn of<G: Game>() -> Page {
        Page::at(Box::new(Any::<G>::default()))
    }

    /// The page of a game whose world can be relayed in parts.
    pub fn wide<G: Wide>() -> Page {
        Page::at(Box::new(Broad::<G>::default()))
    }

    fn at(gate: Box<dyn Gate>) -> Page {
        crate::note_panics();
        Page { gate, playing: None, hands: Rc::default(), ending: None }
    }
}

#[wasm_bindgen]
impl Page {
    /// What the page tells of the game before anyone plays, as JSON: its name, what it is, the
    /// heroes that can be chosen, the keys that it knows.
    pub fn about(&self) -> String {
        self.gate.about()
    }

    /// What a hero is called that the page kept.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn title(&self, character: &str) -> Result<String, String> {
        self.gate.title(character)
    }

    /// Of which class a hero is that is brought in a file.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn class(&self, character: &str) -> Result<String, String> {
        self.gate.class(character)
    }

    /// Enters a session: which, and as whom, says JSON. `wake` is called when there is something to
    /// do before the time that [`step`](Page::step) told. With a recording it goes on from where
    /// that ends.
    ///
    /// # Errors
    /// A sentence with its cause and what to do.
    pub fn enter(
        &mut self,
        entry: &str,
        canvas: HtmlCanvasElement,
        wake: Function,
        recording: Option<Vec<u8>>,
    ) -> Result<(), String> {
        let entry = Entry { recording, ..Entry::read(entry)? };
        self.hands.borrow_mut().let_go();
        let eye = Eye::new(Picture::new(canvas)?, Rc::clone(&self.hands));
        let files = Memory::default();
        FILES.set(files.clone());
        self.ending = None;
        self.playing = Some(self.gate.enter(&entry, eye, files, &bell::waker(wake))?);
        Ok(())
    }

    /// One round. Returns in how many milliseconds the next is due, or -1 if the session is over.
    pub fn step(&mut self) -> f64 {
        let Some(playing) = &mut self.playing else { return -1.0 };
        let (is_hidden, now) = (self.hands.borrow().is_hidden, clock::now());
        match playing.step(is_hidden, now) {
            Next::At(at) => at.saturating_sub(now).as_secs_f64() * 1e3,
            Next::Over => {
                self.ending = self.playing.take().map(|mut playing| playing.ending());
                -1.0
            }
        }
    }

    /// Lets the next [`step`](Page::step) show a picture, or keeps it from that: it is one of the
    /// browser's frames, or is none.
    pub fn is_frame(&self, is_frame: bool) {
        self.hands.borrow_mut().is_frame = is_frame;
    }

    /// Nobody sees the page, which its browser slows down; or somebody does again.
    pub fn hidden(&self, is_hidden: bool) {
        self.hands.borrow_mut().is_hidden = is_hidden;
    }

    /// Keeps torches from flickering, for who wants less motion.
    pub fn calm(&self, is_calm: bool) {
        self.hands.borrow_mut().is_calm = is_calm;
    }

    /// What stands beside the picture, as JSON; nothing if it is what it was.
    pub fn panel(&self) -> Option<String> {
        self.hands.borrow_mut().panel.take()
    }

    /// How the session ended, as JSON: one sentence, and the report. Nothing before.
    pub fn ending(&self) -> Option<String> {
        self.ending.clone()
    }

    /// How large the picture is from now on, in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        self.hands.borrow_mut().size = (width, height);
    }

    /// A button goes down, or up, at a place of the picture; with `other` it is not the main one.
    pub fn press(&self, is_down: bool, other: bool, x: f32, y: f32) {
        let pointer = if other { Pointer::Secondary } else { Pointer::Primary };
        self.hands.borrow_mut().press(is_down, pointer, (x, y));
    }

    /// One of the listed lines is dragged onto another, or onto the world.
    pub fn drag(&self, from: &str, to: Option<String>) {
        self.hands.borrow_mut().drag(from, to.as_deref());
    }

    /// The mouse is there, or nowhere on the picture.
    pub fn point(&self, x: Option<f32>, y: Option<f32>) {
        self.hands.borrow_mut().at = x.zip(y);
    }

    /// Where the walking keys lead that are down.
    pub fn walk(&self, x: i8, y: i8) {
        self.hands.borrow_mut().walk((x, y));
    }

    /// A key that the game may know.
    pub fn key(&self, key: char) {
        self.hands.borrow_mut().key(key);
    }

    /// A line: something to say, or a command behind a `/`.
    pub fn line(&self, line: &str) {
        self.hands.borrow_mut().line(line);
    }

    /// The page may be closed at any moment, without a word: what `character` and `recordings`
    /// give from now on is the hero and the session as they are.
    pub fn keep(&mut self) {
        if let Some(playing) = &mut self.playing {
            playing.keep();
        }
    }

    /// Wants to leave. The steps that follow say goodbye.
    pub fn leave(&mut self) {
        if let Some(playing) = &mut self.playing {
            playing.leave(clock::now());
        }
    }
}

/// Keeps sounds for the page to take, the newest of them.
pub(crate) fn hear(sounds: &[Sound]) {
    HEARD.with_borrow_mut(|heard| {
        heard.extend(sounds);
        heard.drain(..heard.len().saturating_sub(VOICES_MAX));
    });
}

/// The next sound to be played: from where it comes, -1 left and 1 right, then its samples, 44,100
/// a second. Nothing if all have been taken.
#[wasm_bindgen]
pub fn sound() -> Option<Vec<f32>> {
    let sound = HEARD.with_borrow_mut(VecDeque::pop_front)?;
    Some([sound.pan].into_iter().chain(sound.samples(RATE_HZ)).collect())
}

/// The own hero, to be kept by the page in place of what it was; nothing if it is what it was.
#[wasm_bindgen]
pub fn character() -> Option<String> {
    KEPT.take()
}

/// What was recorded so far: files, each as its name and its bytes. A session has several where its
/// world was loaded anew, or others' evidence came.
#[wasm_bindgen]
pub fn recordings() -> Array {
    let file = |(name, bytes): (PathBuf, Vec<u8>)| {
        Array::of2(&name.to_string_lossy().as_ref().into(), &Uint8Array::from(&*bytes))
    };
    FILES.with_borrow(Memory::files).into_iter().map(file).collect()
}
