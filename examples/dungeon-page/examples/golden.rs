//! What must come out the same on every machine, worked out in a browser: its page writes it in the
//! console. `cargo xtask page --example golden` builds it.

use wasm_bindgen::prelude::wasm_bindgen;

/// One line a run: its name and its digest.
#[wasm_bindgen]
pub fn golden() -> String {
    testkit::golden::golden()
}
