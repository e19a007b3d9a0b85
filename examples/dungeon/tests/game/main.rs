//! The dungeon's rules, bots and recordings, and what the checker makes of them.

mod ahead;
mod beginner;
mod chaos;
mod company;
mod coverage;
mod ear;
mod golden;
mod horizon;
mod hostile;
mod input;
mod inventory;
mod kept;
mod loot;
mod map;
mod measure;
mod monsters;
mod recording;
mod relays;
mod scene;
mod shrink;
mod wide;
mod world;
