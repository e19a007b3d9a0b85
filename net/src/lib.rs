//! The session half of Lockstone: who orders commands into turns, who plays them, and what
//! travels between.
//!
//! ```text
//! command ─► replica ─► link ─► sequencer ─► turn ─► link ─► replica ─► playout
//!                                                                         └─► Simulation::step
//! ```
//!
//! What a player sees may be ahead of that: `ahead` simulates on by what is known already, and by
//! the own commands that are on their way.
//!
//! Everything but the carriers is sans-IO: time and packets are arguments, packets and
//! events are results.
//!
//! Reading order: [`party`] is what a game holds, and shows the loop; `sequencer` closes ticks,
//! `intake` receives them, `playout` says when they are played; [`wire`] is what travels; [`link`]
//! is what carries it.

mod ahead;
mod census;
pub mod hex;
mod intake;
mod key;
pub mod limits;
pub mod link;
mod members;
pub mod memory;
pub mod party;
mod playout;
pub mod relay;
mod replica;
#[cfg(feature = "rollback")]
pub mod rollback;
mod sequencer;
pub mod session;
mod stamps;
pub mod text;
mod transfer;
pub mod wire;

#[cfg(feature = "matchbox")]
pub mod matchbox;
#[cfg(any(feature = "matchbox", feature = "signaling"))]
mod room;
#[cfg(all(feature = "signaling", not(target_arch = "wasm32")))]
pub mod signaling;
#[cfg(all(any(feature = "matchbox", feature = "signaling"), not(target_arch = "wasm32")))]
pub mod tls;

pub use key::{PlayerKey, PublicKey};
pub use link::{Binding, Channel, Link, LinkError, LinkEvent, Obstacle, PeerId};
pub use party::{Party, PartyConfig, PartySettings};
#[cfg(feature = "rollback")]
pub use rollback::{Rollback, RollbackConfig, RollbackSettings};
pub use session::{Event, Session};
pub use wire::Identity;
