//! One peer's part in a session of any kind: sans-IO, for any [`Simulation`].
//!
//! ```text
//! loop {
//!     while let Some(event) = link.poll()              { session.handle(event, now) }
//!     session.advance(now)
//!     while let Some(packet) = session.poll_transmit() {
//!         link.send(packet.to, packet.channel, packet.bytes)
//!     }
//!     while let Some(event) = session.poll_event()     { record it, show it }
//!     sleep until session.wake_at(), or until the link has something
//! }
//! ```
//!
//! `now` is what any clock of the embedder shows, from any beginning on. If the clock is set back,
//! or leaps, the session goes on from there: it takes nobody for silent.
//!
//! There are four kinds: a [`Party`](crate::party::Party), a
//! [`Rollback`](crate::rollback::Rollback), a [`Relay`](crate::relay::Relay) and its
//! [`Replica`](crate::relay::Replica). What drives, records or shows one does so with the others.
//! They differ in where turns come from, never in what a turn does. All are one [`Peer`], whose
//! role is the kind's own.

mod applicants;
mod attested;
mod ballots;
mod bindings;
mod claims;
mod comparison;
mod config;
mod continuation;
mod distant;
mod entrant;
mod event;
mod evidence;
mod expulsion;
mod greeting;
mod ingress;
mod leader;
mod ledger;
mod membership;
mod minority;
mod observer;
mod offer;
mod outbox;
mod peer;
mod repairs;
mod roll;
mod schedule;
mod stats;
mod stepper;
mod time;
pub(crate) mod trace;
mod traffic;

pub use crate::transfer::TransferError;
pub use config::{Config, ConfigError, OnDesync};
pub use continuation::Continuation;
pub use distant::{Companion, DistantView, Landmark};
pub use entrant::PlayerError;
pub use event::{BranchError, CommandError, EndReason, Event, EvidenceError, Phase, SayError, Transmit, VoteError};
pub use peer::Peer;
pub use stats::{
    AheadStats, DelayStats, DropReason, Drops, Exchange, LevelStats, Loss, PlayerStats, RelayStats, RollbackStats,
    RoundTrip, StallStats, Stats, SyncCheck,
};
pub use traffic::{Traffic, TrafficByClass, TrafficClass};

pub(crate) use applicants::{Applicant, Applicants};
pub(crate) use attested::{Attested, Offence};
pub(crate) use ballots::{Ballots, Heard, Voters};
pub(crate) use claims::Claims;
pub(crate) use comparison::Comparison;
pub(crate) use config::{Common, Following, Settings, within, within_time};
pub(crate) use continuation::{Founded, Past};
pub(crate) use entrant::{Build, Entrant, Newcomer};
pub(crate) use evidence::Witnesses;
pub(crate) use expulsion::Expulsion;
pub(crate) use greeting::Greeting;
pub(crate) use ingress::{Allowance, Rate};
pub(crate) use leader::Leader;
pub(crate) use ledger::{Ledger, Member};
pub(crate) use membership::Membership;
pub(crate) use offer::Offer;
pub(crate) use outbox::{Outbox, Standing};
pub(crate) use peer::{Io, Kind, Role};
pub(crate) use repairs::{Made, Repairs, Right, differing};
#[cfg(feature = "rollback")]
pub(crate) use roll::Refused;
pub(crate) use roll::{Roll, Slot};
pub(crate) use schedule::Schedule;
pub(crate) use stepper::{Stepper, turn};

use core::time::Duration;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use crate::link::LinkEvent;
use crate::wire::Fitness;

/// A peer's part in a session.
pub trait Session {
    /// What is simulated.
    type Sim: Simulation;

    /// Takes what the link has to tell.
    fn handle(&mut self, event: LinkEvent, now: Duration);

    /// Does what is due: call it when [`wake_at`](Session::wake_at) says so, and after
    /// `handle` and `command`. It may play several turns, but never so many that the caller
    /// cannot stay responsive.
    fn advance(&mut self, now: Duration);

    /// Gives a command of this peer's player. It travels with the next
    /// [`advance`](Session::advance).
    ///
    /// # Errors
    /// [`CommandError`] if it cannot be taken now, or ever.
    fn command(&mut self, command: <Self::Sim as Simulation>::Command) -> Result<(), CommandError>;

    /// Says something to other players: to all of a party or a rollback session; of a relay's
    /// session to those of the own party, if its [`Horizon`](crate::relay::Horizon) knows any, and
    /// to those whose world holds this hero. [`Event::Said`] tells them, and this player too.
    ///
    /// # Errors
    /// [`SayError`] if it cannot be said now, or ever.
    fn say(&mut self, text: &str) -> Result<(), SayError>;

    /// Gives this peer's evidence, as [`Event::EvidenceWanted`] asks for: once, within 12 s. Every
    /// other player of the session is sent it, and sends its own: bytes that nobody looks into
    /// here. A peer that has none may give an empty string, and gets that of the others. A peer
    /// that gives nothing at all does not stay for it if its world is out of step.
    ///
    /// # Errors
    /// [`EvidenceError`] if it is not wanted, or too long.
    fn give_evidence(&mut self, bytes: Vec<u8>) -> Result<(), EvidenceError>;

    /// Answers [`Event::ReferenceWanted`]: the checksum to which a replay of this peer's own
    /// recording comes at that tick. `None` if it comes to none. An answer that nobody waits for
    /// has no effect.
    fn give_reference(&mut self, tick: Tick, checksum: Option<Checksum>) {
        let _ = (tick, checksum);
    }

    /// Takes the offer of [`Event::Minority`]: goes on without those members of a party that cannot
    /// be reached, as a branch of the session. Members that can be reached, and have the same
    /// offer, come along. If it meets the session again, or another branch of it, the one of fewer
    /// members yields: [`Event::Yielded`].
    ///
    /// # Errors
    /// [`BranchError`] if it is not offered now.
    fn go_on_as_branch(&mut self) -> Result<(), BranchError> {
        Err(BranchError)
    }

    /// Says that this player wants another out of a party. Once a quorum of the members does,
    /// within a minute, that one is put out, and its key is not let in again while those are there
    /// who saw it. [`Event::VoteOut`] tells all of each vote.
    ///
    /// # Errors
    /// [`VoteError`] if this is no member of a party, or that no other one who is there.
    fn vote_out(&mut self, player: PlayerId) -> Result<(), VoteError> {
        let _ = player;
        Err(VoteError)
    }

    /// Says how well this peer can lead a party, which its members are told. A leader hands over to
    /// a member that can do it better, and of those that could be elected the better one is.
    /// Nothing else depends on it, and other kinds of sessions do not ask.
    fn set_fitness(&mut self, fitness: Fitness) {
        let _ = fitness;
    }

    /// Leaves the session; a relay ends it for everyone with that. In a party another leads on.
    /// Packets that say so are still to be sent.
    fn leave(&mut self, now: Duration);

    /// The next packet to send.
    fn poll_transmit(&mut self) -> Option<Transmit>;

    /// The next thing that happened.
    fn poll_event(&mut self) -> Option<Event<Self::Sim>>;

    /// When [`advance`](Session::advance) must be called next, if nothing else happens before;
    /// never, once the session is over.
    fn wake_at(&self) -> Duration;

    /// Simulates on from the confirmed world, by the turns that are known ahead and by this
    /// player's own commands that are on their way, as far as those are played later than they are
    /// given: at most so many ticks. Until the next turn is played
    /// [`simulation`](Session::simulation) shows what comes of it, so it is called after
    /// [`advance`](Session::advance) by who shows the world, and by nobody else. It changes nothing
    /// that is played, sent or told. Returns how many ticks it has simulated.
    ///
    /// In a rollback session, and on a relay, own commands are played at once: it does nothing.
    fn look_ahead(&mut self, ticks_max: u32) -> u32 {
        let _ = ticks_max;
        0
    }

    /// The world as this peer's player sees it, once it is there: of the tick in [`Stats::tick`].
    /// It is the predicted one in a rollback session, and after
    /// [`look_ahead`](Session::look_ahead); else the confirmed one. It stays after the session's
    /// end.
    fn simulation(&self) -> Option<&Self::Sim>;

    /// The confirmed world: of the tick in [`Stats::settled`]. A rollback session has none, but
    /// tells by its events what is settled, and [restores](Session::settled_world) it if asked to.
    fn confirmed(&self) -> Option<&Self::Sim> {
        self.simulation()
    }

    /// The newest world that is final: of the tick that [`settled`](Session::settled) tells. It is
    /// the confirmed one; in a rollback session it is restored for who asks, once for each tick.
    /// It changes nothing that is played, sent or told.
    fn settled_world(&mut self) -> Option<&Self::Sim> {
        self.confirmed()
    }

    /// What this peer's player sees beyond the part of the world that is simulated here, at the
    /// tick of the confirmed world. Nothing, where the whole world is.
    fn distant(&self) -> DistantView {
        DistantView::default()
    }

    /// How far this peer has come.
    fn phase(&self) -> Phase;

    /// This peer's player, once it is let in.
    fn player(&self) -> Option<PlayerId> {
        self.stats().player
    }

    /// Figures, all of them: for a person to look at, not for each round of a loop.
    fn stats(&self) -> Stats;

    /// The first tick whose turn is not told yet: [`Stats::settled`], at the cost of a look. It is
    /// the tick of the confirmed world.
    fn settled(&self) -> Tick {
        self.confirmed().map_or_else(Tick::default, Simulation::tick)
    }

    /// Of a session whose rules panicked in a turn that was only predicted: the turns from
    /// [`settled`](Session::settled) up to that one. They lead to the panic again. None else, for
    /// all other turns are told before they are played.
    fn broken_turns(&self) -> Vec<(Tick, Turn<Self::Sim>)> {
        Vec::new()
    }
}
