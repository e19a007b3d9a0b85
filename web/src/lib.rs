//! The page of a game: gives any [`Game`] what a browser needs to play it, and to look at what was
//! played, as `cli::run` gives it its command line. A game's own crate is a `cdylib` of a few
//! lines, as exports cannot be generic:
//!
//! ```ignore
//! #[cfg(feature = "play")]
//! #[wasm_bindgen]
//! pub fn game() -> lockstone_web::Page {
//!     lockstone_web::Page::wide::<MyGame>()
//! }
//!
//! #[cfg(feature = "view")]
//! #[wasm_bindgen]
//! pub fn recordings() -> lockstone_web::Recordings {
//!     lockstone_web::Recordings::of::<MyGame>()
//! }
//! ```
//!
//! ```text
//! page.js ─► Page::enter ─► Shell ─► MatchboxLink ─► data channels
//!    │ ▲                      │ └── sounds ─► sound.js
//!    │ └── panel, ending ◄── Eye ─► canvas
//!    └───► Page::step, told when by a Worker, by the link, and by each frame of the browser
//!
//! view.js ─► Recordings::view ─► Viewer ─► canvas
//! checker.js, a Worker ─► Recordings::check ─► report
//! ```
//!
//! The two are programs of their own, so that nobody waits for the checker who wants to play: the
//! features `play` and `view`. Loops are in `page/`.

mod clock;
mod panel;
mod picture;

#[cfg(feature = "play")]
mod bell;
#[cfg(feature = "play")]
mod companion;
#[cfg(feature = "play")]
mod ending;
#[cfg(feature = "play")]
mod entry;
#[cfg(feature = "play")]
mod eye;
#[cfg(feature = "play")]
mod gate;
#[cfg(feature = "play")]
mod hands;
#[cfg(feature = "play")]
mod page;

#[cfg(feature = "view")]
mod checker;
#[cfg(feature = "view")]
mod reading;
#[cfg(feature = "view")]
mod viewer;

use std::cell::RefCell;

use lockstone::game::Game;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(feature = "play")]
pub use page::Page;
#[cfg(feature = "view")]
pub use viewer::{Recordings, Viewer};

thread_local! {
    /// What the game said as it panicked: nothing else is to be used of the page from then on.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Nothing unwinds here: what a panic says is kept as it begins, or never.
fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.set(Some(panic.to_string()));
        web_sys::console::error_1(&panic.to_string().into());
    }));
}

/// What a page tells of a game before anyone plays.
fn about<G: Game>() -> Value {
    json!({
        "name": G::NAME, "about": G::ABOUT, "version": G::VERSION, "heroes": G::HEROES, "keys": G::KEYS,
        "keeps": G::KEEPS, "rules": format!("{:016x}", G::rules_digest()),
    })
}

/// What the game said as it panicked, if it did.
#[wasm_bindgen]
pub fn panicked() -> Option<String> {
    PANIC.with_borrow(Clone::clone)
}
