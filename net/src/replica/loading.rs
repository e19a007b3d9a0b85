//! How a replica is let in: it loads the world, in place of all that it had of a session before.

use core::time::Duration;

use lockstone_sim::Simulation;
use lockstone_sim::codec::CodecError;

use super::{Entry, Joined, Life, Place, Replica, Share, Succession, Witness};
use crate::intake::Intake;
use crate::link::PeerId;
use crate::playout::Playout;
use crate::session::{Comparison, EndReason, Following, Io, Leader, Ledger, Membership, Repairs, Stepper};
use crate::transfer::Receiver;
use crate::wire::{Epoch, Vote, Welcome};

impl<F: Share> Replica<F> {
    /// Takes its place in the session of the peer that let it in.
    pub(super) fn welcomed(&mut self, from: PeerId, epoch: Epoch, welcome: Welcome, io: &mut Io<F::Sim>) {
        self.keep_commands();
        self.remember_votes();
        self.share.begin();
        if !F::OUTLIVES_LEADER {
            self.witness = Witness::following(Vote { epoch, leader: welcome.sequencer });
        }
        let (now, receiver) = (io.now, Receiver::new(welcome.snapshot_bytes, welcome.snapshot_digest));
        self.place = Place::Joined(Box::new(Joined {
            leader: Leader { peer: from, epoch },
            heard_at: now,
            replaced_at: Duration::MAX,
            progressed: now,
            intake: Intake::new(welcome.tick, self.settings.packet_interval),
            playout: Playout::new(self.settings.period),
            held_from: None,
            follows_anew: false,
            comparison: Comparison::default(),
            mending: None,
            surveys: Repairs::default(),
            succession: None,
            sequencer: welcome.sequencer,
            player: welcome.player,
            life: Life::Loading(welcome, receiver),
            seeks: None,
        }));
        // A world of no bytes is whole already.
        self.load(io);
    }

    /// Sets up the world once all of it is here.
    pub(super) fn load(&mut self, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Life::Loading(welcome, receiver) = &mut session.life else { return };
        let bytes = match receiver.finish() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return io.out.end(EndReason::Transfer(error)),
        };
        let Welcome { player, seed, tick, plays, .. } = *welcome;
        let mut simulation = (self.entrant.build)(seed);
        let (ledger, bytes) = if F::OUTLIVES_LEADER {
            match Ledger::unpack(&bytes) {
                Ok((ledger, snapshot)) => (Some(ledger), snapshot),
                Err(error) => return io.out.end(EndReason::Snapshot(error)),
            }
        } else {
            (None, bytes)
        };
        let decoded = simulation.decode(&bytes).and_then(|snapshot| {
            simulation.restore(&snapshot);
            if simulation.tick() != tick {
                return Err(CodecError::Malformed("a world of another tick than announced"));
            }
            self.share.check(&simulation)
        });
        if let Err(error) = decoded {
            return io.out.end(EndReason::Snapshot(error));
        }
        // Whether a hero waits for its player, whoever leads, is told in the closed turns.
        self.hero_waits = hero_waits(&simulation, self.settings);
        let mut stepper = Stepper::begin(simulation, bytes, (player, seed), ledger.clone(), self.settings, &mut io.out);
        welcome.roster.iter().for_each(|(player, name)| stepper.enrol(*player, name, &mut io.out));
        let entry = if plays.is_some() { Entry::Playing } else { Entry::CatchingUp };
        session.life = Life::Here { stepper, entry };
        if let Some(closed) = plays {
            session.intake.resume_commands(core::mem::take(&mut self.given), closed);
        }
        let vote = Vote { epoch: session.leader.epoch, leader: session.sequencer };
        session.succession = ledger.map(|ledger| {
            let membership = Membership::new((player, self.me), vote, ledger, tick, io.now);
            Succession::of(membership.signing(self.entrant.key.clone(), self.voted), None)
        });
        session.note_closed(tick);
    }
}

/// For how long a hero waits for its player, if it does.
pub(super) fn hero_waits<S: Simulation>(simulation: &S, settings: Following) -> Option<Duration> {
    let away_ticks = simulation.away_ticks();
    (away_ticks > 0).then(|| settings.period * away_ticks)
}
