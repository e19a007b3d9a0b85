//! What people look at: a scene of the world and the session's status, drawn as a picture or as text.
//!
//! ```text
//! Game::scene ─► Smooth ─► Frame::draw ─► window, PNG file
//!                  └─────► terminal
//! ```
//!
//! Views read. Nothing that they compute may find its way back into the world; what people do comes back as [`Action`]s.

pub mod frame;
pub mod smooth;
mod status;
#[cfg(not(target_arch = "wasm32"))]
pub mod terminal;
pub mod typing;
#[cfg(not(target_arch = "wasm32"))]
pub mod window;

pub use status::{PeerRow, RelayRow, Status};

use crate::scene::Pointer;

/// What a person did.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Clicked at a place, in tiles.
    Click((f32, f32), Pointer),
    /// Walks into a direction, each coordinate -1, 0 or 1.
    Walk((i8, i8)),
    /// Pressed a key that a game may know, or typed a command.
    Type(String),
    /// Says something to the other players.
    Say(String),
    /// Wants to leave.
    Quit,
}
