//! The session half of Lockstone: who orders commands into turns, who plays them, and what travels between.
//!
//! Everything but the carriers is sans-IO: time and packets are arguments, packets and events are results.

pub mod link;

pub use link::{Channel, Link, LinkError, LinkEvent, PeerId};
