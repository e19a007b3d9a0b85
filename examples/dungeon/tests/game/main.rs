//! The dungeon's rules, bots and recordings, without a process of their own.

mod ahead;
mod coverage;
mod golden;
mod horizon;
mod hostile;
mod input;
mod loot;
mod map;
mod measure;
mod monsters;
mod recording;
mod wide;
mod world;
