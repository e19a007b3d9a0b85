//! The random table that the engine brings along: `rng_table.bin`.
//!
//! It is the table of [`DEFAULT_SEED`], so that anyone can make it again and see that nothing was
//! chosen, with any game's `table generate --seed <DEFAULT_SEED in hex> --out rng_table.bin`. Peers
//! compare their tables' digests before anything else.

use std::sync::OnceLock;

use lockstone_sim::Table;

/// The seed of the default table: this text, 32 bytes of ASCII.
pub const DEFAULT_SEED: [u8; 32] = *b"lockstone: the default table, v1";

#[cfg(not(target_arch = "wasm32"))]
const BYTES: &[u8] = include_bytes!("../rng_table.bin");

/// The default table. A game that wants other draws hands its own to
/// [`Game::build`](crate::game::Game::build).
pub fn default_table() -> Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(brought).clone()
}

#[cfg(not(target_arch = "wasm32"))]
fn brought() -> Table {
    Table::from_bytes(BYTES).expect("a test holds the embedded table sound")
}

/// A page is to be there soon, and nothing packs a table: it is made where it is needed.
#[cfg(target_arch = "wasm32")]
fn brought() -> Table {
    Table::generate(DEFAULT_SEED)
}
