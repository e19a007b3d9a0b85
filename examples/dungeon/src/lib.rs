//! A co-op dungeon on Lockstone.
