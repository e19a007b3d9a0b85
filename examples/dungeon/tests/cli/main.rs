//! The dungeon's command line as people and programs meet it: real processes, real WebRTC.
//!
//! Nothing here has a fixed port: servers listen at port 0 and say where, peers say when they play.

mod access;
mod check;
mod codes;
mod comeback;
mod commands;
mod continuing;
mod dragging;
mod hands;
mod internet;
mod kept;
mod offline;
mod page;
mod program;
mod relay;
mod standby;
mod wrong;
