//! What the simulator promises, through its public interface.
//!
//! One program, since a program for each file takes longer to link than to run. What counts a
//! process's memory is beside it.

mod codec;
mod dark;
mod exactness;
mod gambler;
mod given;
mod hostile;
mod journal;
mod near;
mod numbers;
mod order;
mod parts;
mod path;
mod presence;
mod snapshot;
mod soundness;
mod table;
mod tamper;
mod unchanged;
mod unfit;
mod world;
