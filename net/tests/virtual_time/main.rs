//! Sessions over a memory network, on virtual time. Every failure names the seed that repeats it.
//!
//! One program, since a program for each file takes longer to link than to run. What needs one
//! of its own is beside it: tests that count a process's memory, and those over WebRTC.

mod ahead;
mod attested;
mod away;
mod bad_lines;
mod branches;
mod claims;
mod clocks;
mod continuing;
mod desync;
mod evidence;
mod exchange;
mod figures;
mod fitness;
mod hello;
mod hostile;
mod hub;
mod input_delay;
mod joining;
mod membership;
mod one_session;
mod outages;
mod quiet;
mod relay;
mod repair;
mod rollback;
mod send;
mod session;
mod takeover;
mod takeover_join;
mod trace;
mod two;
mod two_faced;
mod vote_out;
mod votes;
