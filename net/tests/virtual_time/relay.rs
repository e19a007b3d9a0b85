//! Relay sessions over a memory network, on virtual time. Every failure names the seed
//! that repeats it.

mod anew;
mod attacks;
mod borders;
mod chaos;
mod chat;
mod clocks;
mod controls;
mod cost;
mod crowds;
mod desync;
mod distant;
mod edges;
mod exact;
mod false_relay;
mod leaks;
mod limits;
mod members;
mod ramble;
mod resume;
mod standby;
