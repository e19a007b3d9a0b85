//! What people look at: a scene of the world and the session's status, drawn as a
//! picture or as text.
//!
//! ```text
//! Game::scene ─► Smooth ─► Frame::draw ─► window, page, PNG file
//!                  └─────► terminal
//! ```
//!
//! Views read. Nothing that they compute may find its way back into the world; what people do comes
//! back as [`Action`]s.

pub mod dragging;
#[cfg(feature = "picture")]
pub mod frame;
pub mod held;
mod rows;
pub mod smooth;
mod status;
#[cfg(all(feature = "terminal", not(target_arch = "wasm32")))]
pub mod terminal;
pub mod typing;
#[cfg(all(feature = "window", not(target_arch = "wasm32")))]
pub mod window;

pub use rows::{Row, Tone};
pub use status::{Join, Status, last_check, loss, rtt, title};

use crate::scene::{Pointer, Scene};
use smooth::Smooth;

/// Where a session is shown, and where its person acts.
pub trait View {
    /// Shows a moment: `moment` is its part of a tick after the newest scene, `time_s` the time
    /// since the start.
    fn show(&mut self, scenes: &Smooth, moment: f32, status: &Status, time_s: f32);

    /// What was done since the last time.
    fn actions(&mut self) -> Vec<Action>;

    /// The line that is being typed.
    fn line(&self) -> Option<&str>;

    /// The keys that it knows beside the game's and what they do, in a line for players.
    fn keys(&self) -> &'static str {
        typing::KEYS
    }

    /// Whether it can show a picture now. A page shows some in the browser's frames alone, and none
    /// while it is hidden: what is not shown is not drawn.
    fn is_ready(&self) -> bool {
        true
    }

    /// Whether it is drawn where messages for people are printed, which would be in its way.
    fn is_where_messages_go(&self) -> bool {
        false
    }
}

/// Draws a scene with the session's status as a picture's file, at a time in seconds
/// since the start.
pub type Draw = fn(Option<&Scene>, &Status, f32) -> Result<Vec<u8>, String>;

/// What a person did.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Clicked at a place, in tiles.
    Click((f32, f32), Pointer),
    /// Dragged one of the lines that list what the hero carries onto another, or onto the world.
    Drag(String, Option<String>),
    /// Walks into a direction, each coordinate -1, 0 or 1.
    Walk((i8, i8)),
    /// Pressed a key that a game may know, or typed a command.
    Type(String),
    /// Wants to see the session's figures, or no more.
    Figures,
    /// Wants to hear nothing of the world, or to hear it again.
    Sound,
    /// Wants to see everyone's keys.
    Keys,
    /// Wants to go on without those who cannot be reached.
    Branch,
    /// Wants to hear nothing more of a player that is called so, or to hear it again.
    Mute(String),
    /// Wants a player out that is called so.
    VoteOut(String),
    /// Says something to the other players.
    Say(String),
    /// Wants to leave.
    Quit,
}
