//! The desync checker and its recordings: what was planted is named, and nobody else.
//!
//! One program, since a program for each file takes longer to link than to run.

mod bits;
mod blame;
mod bundle;
mod check;
mod coverage;
mod doubt;
mod faulty_game;
mod floats;
mod forged;
mod location;
mod panics;
mod parts;
mod recording;
mod repair;
mod rerun;
mod rollback;
mod two_stories;
mod verdict;
mod viewer;
