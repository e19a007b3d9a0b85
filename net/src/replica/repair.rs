//! How a replica whose world has become another is put right: at an agreed tick it waits, tells
//! what its world is made of, and puts in what differs.
//!
//! ```text
//! Survey ─► plays up to that tick ─ Parts ─► waits ─ Repair, Chunks ─► put in, checked ─► plays on
//! ```
//!
//! It believes its leader alone, and takes nothing that it did not wait for. It never waits long:
//! if no repair comes it plays on, and so it does if what comes is not what was promised.

use core::time::Duration;

use lockstone_sim::Tick;
use lockstone_sim::codec::{self, CodecError};

use super::{Joined, Life, Place, Replica, Share};
use crate::limits::*;
use crate::session::{DropReason, Event, Io, Made, OnDesync, Right};
use crate::transfer::Receiver;
use crate::wire::{List, Message, Parts, Repair, Survey};

/// So long does it wait for the next thing that it is told.
const WAIT_TIME: Duration = Duration::from_secs(2);
/// So many ticks ahead of the newest that it knows may it be asked to wait.
const AHEAD_MAX: u32 = 40;

/// How far the repair of a replica's world has come.
pub struct Mending {
    survey: Survey,
    stage: Stage,
}

enum Stage {
    /// Its world has not come to the tick yet.
    Due,
    /// It has told what its world is made of, and waits for what is right since then.
    Waits(Duration),
    /// What is right is on its way. The last piece came then.
    Loads(Duration, Repair, Receiver),
}

impl<F: Share> Joined<F> {
    /// Until when at most the world stands still to be repaired, if it does.
    pub(super) fn waits_until(&self) -> Option<Duration> {
        match &self.mending.as_ref()?.stage {
            Stage::Due => None,
            Stage::Waits(since) | Stage::Loads(since, ..) => Some(*since + WAIT_TIME),
        }
    }

    /// Tells what the world is made of, and waits, if it has come to the tick.
    pub(super) fn tell_parts(&mut self, io: &mut Io<F::Sim>) {
        let (Some(mending), Life::Here { stepper, .. }) = (&mut self.mending, &mut self.life) else { return };
        if !matches!(mending.stage, Stage::Due) || stepper.tick() < mending.survey.tick {
            return;
        }
        mending.stage = Stage::Waits(io.now);
        let disputed = stepper.checksums.get(&mending.survey.disputed).copied();
        let (tick, Made { checksum, rest, cells }) = (stepper.tick(), Made::of(&mut stepper.simulation));
        let mut pieces = cells.chunks(TREE_CELLS_MAX).peekable();
        loop {
            let cells = pieces.next().unwrap_or_default().to_vec();
            let (cells, more) = (List::try_from(cells).expect("a piece is no longer"), pieces.peek().is_some());
            self.leader.tell(&Message::Parts(Parts { tick, checksum, disputed, rest, cells, more }), &mut io.out);
            if !more {
                return;
            }
        }
    }
}

impl<F: Share> Replica<F> {
    /// The leader found this world to differ: it is asked what it is made of at a tick.
    pub(super) fn surveyed(&mut self, survey: Survey, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let repairs = !F::LEADER_COMPARES && self.settings.on_desync == OnDesync::Repair;
        let (next, known) = (session.intake.next(), session.intake.known());
        let is_due = survey.tick >= next && survey.tick <= known.plus(AHEAD_MAX);
        // A leader asks no more often than it repairs, and another may have begun to.
        if !repairs || !is_due || session.surveys.admit(2 * REPAIRS_MAX as usize, io.now).is_none() {
            return io.out.dropped(DropReason::Unexpected);
        }
        session.mending = Some(Mending { survey, stage: Stage::Due });
        session.tell_parts(io);
    }

    /// The leader tells what is right, or that nothing differs.
    pub(super) fn mend(&mut self, repair: Option<Repair>, io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        match (&mut session.mending, repair) {
            (Some(Mending { stage: Stage::Waits(_), .. }), None) => session.mending = None,
            (Some(Mending { survey, stage: stage @ Stage::Waits(_) }), Some(repair)) if repair.tick == survey.tick => {
                *stage = Stage::Loads(io.now, repair, Receiver::new(repair.bytes, repair.digest));
            }
            _ => io.out.dropped(DropReason::Unexpected),
        }
    }

    /// A piece of what is right has arrived.
    pub(super) fn mended(&mut self, chunk: &[u8], io: &mut Io<F::Sim>) {
        let Place::Joined(session) = &mut self.place else { return };
        let Some(Mending { stage: Stage::Loads(since, repair, receiver), .. }) = &mut session.mending else {
            return io.out.dropped(DropReason::Unexpected);
        };
        *since = io.now;
        let (repair, received) = (*repair, receiver.take(chunk));
        let done = received.and_then(|received| Ok((received, receiver.finish()?)));
        let done = done.map_err(|_| CodecError::Malformed("not what was announced"));
        let done = done.and_then(|(received, bytes)| {
            let put = bytes.map(|bytes| session.put_right(&repair, &bytes, io)).transpose()?;
            Ok((received, put))
        });
        match done {
            Ok((received, put)) => {
                session.leader.tell(&Message::ChunkAck(received), &mut io.out);
                if put.is_some() {
                    session.mending = None;
                }
            }
            // It plays on as it is, and differs again.
            Err(_) => {
                session.mending = None;
                io.out.dropped(DropReason::BadRepair);
            }
        }
    }
}

impl<F: Share> Joined<F> {
    fn put_right(&mut self, repair: &Repair, bytes: &[u8], io: &mut Io<F::Sim>) -> Result<(), CodecError> {
        let right: Right = codec::read(bytes, bytes.len())?;
        let Life::Here { stepper, .. } = &mut self.life else { return Ok(()) };
        stepper.repair(&right, repair.checksum, &mut io.out)?;
        let Right { requests, cells, .. } = right;
        if let Some(succession) = &mut self.succession {
            let waiting = (self.intake.next().0..self.intake.known().0).map(Tick);
            let turns = waiting.filter_map(|tick| self.intake.turn(tick)).map(F::whole);
            succession.membership.ledger.resume_requests(requests.into_vec(), turns);
            succession.contradicted = Default::default();
        }
        self.intake.forget_checksums();
        self.comparison.put_right(repair.tick);
        io.out.stats.repairs += 1;
        let Repair { tick, is_proven, .. } = *repair;
        io.out.events.push_back(Event::Repaired { player: self.player, tick, cells, is_proven });
        Ok(())
    }
}
