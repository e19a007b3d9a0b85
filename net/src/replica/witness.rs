//! How a relay's replica takes part when the relay is lost: it tells the relay's standby that it
//! doubts, and promises to follow it.
//!
//! ```text
//! follows ─ relay not heard ─► doubts ─ the standby asks ─► promised ─ Lead ─► says hello to it
//!    ▲                           │                             │
//!    └────── relay heard ────────┴─ the standby follows again ─┘
//! ```
//!
//! It must never follow anyone but whom its relay named, and never take anything of an older epoch
//! than it has promised. Whose votes count it need not know: the relay and its standby do.

use core::time::Duration;

use lockstone_sim::{PlayerId, Tick};

use super::{Place, Replica, Share};
use crate::link::{Channel, PeerId};
use crate::members::{EPOCHS_AHEAD_MAX, LEASE, REPEAT};
use crate::session::{DropReason, Io, Leader};
use crate::wire::*;

/// A witness has been up for so long, and heard nothing of the relay, before it doubts: its clock
/// may have jumped.
const LISTENS: Duration = Duration::from_millis(250);

/// A replica's part in deciding who leads.
pub struct Witness {
    /// Who leads on if the relay is lost, as that said.
    heir: Option<PeerId>,
    /// The newest that was named so. Whoever leads in its place was elected by others.
    named: Option<PeerId>,
    /// The relay that let it in, with its newest epoch.
    led: Vote,
    /// Its newest promise.
    vote: Vote,
    /// Since when it listens for a relay that it has not heard for almost too long.
    listens_since: Option<Duration>,
    /// When it told its doubt last.
    told_at: Option<Duration>,
}

impl Witness {
    /// Of a replica that nobody has let in.
    pub fn new() -> Witness {
        Witness::following(Vote { epoch: Epoch::default(), leader: PlayerId(0) })
    }

    /// Of a replica that a relay let in.
    pub fn following(led: Vote) -> Witness {
        Witness { heir: None, named: None, led, vote: led, listens_since: None, told_at: None }
    }

    /// The oldest epoch of which it may take anything.
    pub fn promised(&self) -> Epoch {
        self.vote.epoch
    }

    /// Whether the session may go on without its relay.
    pub fn has_heir(&self) -> bool {
        self.heir.is_some()
    }
}

impl<F: Share> Replica<F> {
    /// Takes what is said of who leads, or will. Returns the message if it is another.
    pub(super) fn of_heir(
        &mut self,
        from: PeerId,
        epoch: Epoch,
        message: Message,
        io: &mut Io<F::Sim>,
    ) -> Option<Message> {
        if F::OUTLIVES_LEADER {
            return Some(message);
        }
        let (is_leader, is_heir) = (self.leads(from), self.witness.heir == Some(from));
        let was_named = self.witness.named == Some(from);
        match message {
            Message::Heir(heir) if is_leader => {
                self.witness.heir = heir.peer.filter(|peer| *peer != from);
                self.witness.named = self.witness.heir.or(self.witness.named);
                Leader { peer: from, epoch }.tell(&Message::Heir(heir), &mut io.out);
            }
            Message::Stand(stand) if is_heir => self.asked(stand, io),
            Message::Lead(_) if was_named && epoch >= self.witness.vote.epoch && epoch > self.witness.led.epoch => {
                self.witness.vote.epoch = epoch;
                self.greet_anew(io);
            }
            // It leads on in another epoch.
            Message::Lead(_) if is_leader && epoch >= self.witness.vote.epoch => {
                if let Place::Joined(session) = &mut self.place {
                    session.leader.epoch = epoch;
                    let led = Vote { epoch, leader: session.sequencer };
                    (self.witness.led, self.witness.vote) = (led, led);
                }
            }
            Message::Heir(_) | Message::Stand(_) | Message::Lead(_) => io.out.dropped(DropReason::Unexpected),
            other => return Some(other),
        }
        None
    }

    /// The standby wants to lead, or says that it follows the relay again.
    fn asked(&mut self, stand: Stand, io: &mut Io<F::Sim>) {
        let (doubts, witness) = (self.doubts(io.now), &mut self.witness);
        if stand.vote.epoch <= witness.led.epoch {
            let is_promised = witness.vote.epoch > witness.led.epoch;
            witness.vote = witness.led;
            if is_promised && matches!(self.place, Place::Greeting(_)) {
                self.greet_anew(io);
            }
            return;
        }
        let ahead = stand.vote.epoch.0.saturating_sub(witness.vote.epoch.0);
        if doubts && (1..=EPOCHS_AHEAD_MAX).contains(&ahead) {
            witness.vote = stand.vote;
        }
        if doubts {
            self.tell_stand(self.witness.heir, io);
        }
    }

    /// Whether the relay is not heard, or was left, and another would lead.
    fn doubts(&self, now: Duration) -> bool {
        let Witness { heir, led, vote, listens_since, .. } = &self.witness;
        let has_listened = listens_since.is_some_and(|since| now >= since + LISTENS);
        heir.is_some()
            && match &self.place {
                Place::Greeting(_) => true,
                Place::Joined(session) => vote.epoch > led.epoch || has_listened && now >= session.heard_at + LEASE,
            }
    }

    /// Begins to listen for the relay once it has not been heard for almost too long.
    fn listen(&mut self, now: Duration) {
        let is_silent = self.session().is_some_and(|session| now >= session.heard_at + LEASE - LISTENS);
        let since = self.witness.listens_since.unwrap_or(now);
        self.witness.listens_since = is_silent.then_some(since);
    }

    /// Tells the standby of its doubt, as long as it has one.
    pub(super) fn bear_witness(&mut self, io: &mut Io<F::Sim>) {
        self.listen(io.now);
        if !self.doubts(io.now) {
            self.witness.told_at = None;
        } else if self.witness.told_at.is_none_or(|told| io.now >= told + REPEAT) {
            self.witness.told_at = Some(io.now);
            self.tell_stand(self.witness.heir, io);
        }
    }

    /// When there is something to tell the standby.
    pub(super) fn bears_witness_at(&self) -> Duration {
        let suspicious_at = match &self.place {
            _ if self.witness.heir.is_none() => return Duration::MAX,
            Place::Joined(session) if self.witness.vote.epoch <= self.witness.led.epoch => {
                let listens_at = session.heard_at + LEASE - LISTENS;
                self.witness.listens_since.map_or(listens_at, |since| (since + LISTENS).max(session.heard_at + LEASE))
            }
            Place::Joined(_) | Place::Greeting(_) => Duration::ZERO,
        };
        suspicious_at.max(self.witness.told_at.map_or(Duration::ZERO, |told| told + REPEAT))
    }

    /// Says whom it has promised to follow.
    pub(super) fn tell_stand(&self, to: Option<PeerId>, io: &mut Io<F::Sim>) {
        let Witness { vote, led, .. } = self.witness;
        let end = self.session().map_or(Tick(0), |session| session.intake.known());
        let doubts = self.doubts(io.now).then_some(Epoch(vote.epoch.0.saturating_add(1)));
        let known = Known { epoch: led.epoch, end, ..Known::default() };
        let stand = Stand { doubts, ..Stand::of(vote, known) };
        if let Some(to) = to {
            io.out.send(Epoch::default(), to, Channel::Unreliable, &Message::Stand(stand));
        }
    }
}
