//! The dungeon in a browser: all that a game needs to have a page. `cargo xtask page` builds it.

use dungeon::DungeonGame;
use wasm_bindgen::prelude::wasm_bindgen;

/// The game of this page.
#[cfg(feature = "play")]
#[wasm_bindgen]
pub fn game() -> lockstone_web::Page {
    lockstone_web::Page::wide::<DungeonGame>()
}

/// Its recordings.
#[cfg(feature = "view")]
#[wasm_bindgen]
pub fn recordings() -> lockstone_web::Recordings {
    lockstone_web::Recordings::of::<DungeonGame>()
}
