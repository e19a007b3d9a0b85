//! One peer's part in a rollback session: two to four players, all there from the start, none of
//! them ever waits for its own commands.
//!
//! Its loop is that of every [`Session`](crate::Session). Each peer plays its own commands at once,
//! predicts that others do nothing new, and plays the past again when they did.
//! [`ggrs`](https://docs.rs/ggrs) predicts; what it must not see is kept from it in `remote`, what
//! it cannot do, losing a player, is done in `regroup` by the votes of the others. What is told by
//! [`Event`](crate::Event)s is settled: every player knows it, and nothing undoes it. What
//! [`simulation`](crate::Session::simulation) shows is predicted.
//!
//! Time is an argument. ggrs reads the real clock, and nothing that it makes of that counts here:
//! `pace` keeps players abreast.

mod config;
mod differ;
mod ggrs;
mod lobby;
mod losses;
mod own;
mod pace;
mod play;
mod reconcile;
mod regroup;
mod rehearsal;
mod remote;
mod stories;
mod timeline;
mod votes;

pub use config::{RollbackConfig, RollbackSettings};
pub use rehearsal::{Mismatch, SyncTest, sync_test};

/// A peer's part in a rollback session.
pub type Rollback<S> = crate::session::Peer<S, RollbackConfig>;
