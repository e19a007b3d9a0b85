//! The dungeon in a browser: all that a game needs to have a page. `cargo xtask page` builds it.

use wasm_bindgen::prelude::wasm_bindgen;

/// The game of this page.
#[wasm_bindgen]
pub fn game() -> lockstone_web::Page {
    lockstone_web::Page::wide::<dungeon::DungeonGame>()
}
