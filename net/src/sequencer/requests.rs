//! What the simulation asked for and is in no closed turn yet.
//!
//! Whoever follows the turns of a whole world knows it, and so can lead on. It knows no peer and no
//! packet.

use std::collections::VecDeque;

use lockstone_sim::{Simulation, codec};

use crate::limits::*;
use crate::wire::{Bytes, RawInput};

/// A request, encoded.
pub(crate) type Request = Bytes<REQUEST_BYTES_MAX>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// Oldest first.
    open: VecDeque<Request>,
    /// Requests of closed turns that the simulation will ask for in ticks that are not played yet.
    early: VecDeque<Request>,
}

impl Requests {
    pub fn new(open: Vec<Request>) -> Requests {
        Requests { open: open.into(), early: VecDeque::new() }
    }

    /// Those that are in no closed turn, oldest first.
    pub fn open(&self) -> Vec<Request> {
        self.open.iter().cloned().collect()
    }

    /// The simulation has played a tick, and asks for something. Returns how many requests are
    /// dropped: more than may wait, or too long.
    pub fn asked<S: Simulation>(&mut self, simulation: &S) -> u64 {
        let requests = simulation.requests().iter().map(|request| Request::try_from(codec::compact(request)));
        requests.map(|request| u64::from(!request.is_ok_and(|request| self.ask(request)))).sum()
    }

    /// Something is asked for. Returns whether it was taken.
    pub fn ask(&mut self, request: Request) -> bool {
        if take(&mut self.early, &request) {
            return true;
        }
        let room = self.open.len() < REQUESTS_QUEUED_MAX;
        if room {
            self.open.push_back(request);
        }
        room
    }

    /// A closed turn holds an input.
    pub fn closed(&mut self, input: &RawInput) {
        let RawInput::Request(request) = input else { return };
        if take(&mut self.open, request) {
            return;
        }
        // A leader may close what no simulation ever asks for.
        if self.early.len() == REQUESTS_QUEUED_MAX {
            self.early.pop_front();
        }
        self.early.push_back(request.clone());
    }

    /// Those that the next turn takes. They stay until it is [`closed`](Requests::closed).
    pub fn next(&self) -> Vec<RawInput> {
        let mut bytes = 0;
        let fits = |request: &&Request| {
            bytes += request.len();
            bytes <= REQUEST_BYTES_PER_TURN_MAX
        };
        self.open.iter().take(REQUESTS_PER_TURN_MAX).take_while(fits).cloned().map(RawInput::Request).collect()
    }
}

/// Takes the first that is equal out. Returns whether there was one.
fn take(queue: &mut VecDeque<Request>, request: &Request) -> bool {
    let at = queue.iter().position(|one| one == request);
    at.and_then(|at| queue.remove(at)).is_some()
}
