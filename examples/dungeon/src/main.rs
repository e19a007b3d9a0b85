//! The dungeon.

fn main() {}
