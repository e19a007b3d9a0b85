//! Lockstone.
