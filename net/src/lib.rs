//! The session half of Lockstone: who orders commands into turns, who plays them, and what travels between.
//!
//! Everything but the carriers is sans-IO: time and packets are arguments, packets and events are results.

pub mod link;

#[cfg(feature = "matchbox")]
pub mod matchbox;
#[cfg(all(feature = "matchbox", not(target_arch = "wasm32")))]
pub mod signaling;

pub use link::{Channel, Link, LinkError, LinkEvent, PeerId};
