//! What happens when a replica's world and the sequencer's differ: it is told, and evidence is
//! given when the sequencer calls for it.

use super::{Life, Place, Replica, Share};
use crate::limits::INQUIRY_ANSWER_INTERVAL;
use crate::link::PeerId;
use crate::session::{DropReason, Event, Io, OnDesync, Witnesses};
use crate::wire::{DesyncNotice, Inquiry, LeaveReason, Message};

impl<F: Share> Replica<F> {
    /// The sequencer calls for evidence.
    pub(super) fn inquired(&mut self, inquiry: &Inquiry, io: &mut Io<F::Sim>) {
        let Some(session) = self.session().filter(|session| session.life.stepper().is_some()) else {
            return io.out.dropped(DropReason::Unexpected);
        };
        let called = |of: PeerId| inquiry.witnesses.iter().any(|(_, peer)| *peer == of);
        if !called(self.me) || !called(session.leader.peer) {
            return io.out.dropped(DropReason::Unexpected);
        }
        let others = inquiry.witnesses.iter().filter(|(_, peer)| *peer != self.me).copied();
        let (others, missing): (Vec<_>, Vec<_>) = others.partition(|(_, peer)| io.ingress.is_connected(*peer));
        let witnesses = Witnesses {
            others,
            missing: missing.into_iter().map(|(player, _)| player).collect(),
            players: inquiry.witnesses.len(),
            may_know: true,
        };
        if !io.evidence.begin(INQUIRY_ANSWER_INTERVAL, witnesses, io.now, &mut io.out) {
            io.out.dropped(DropReason::Unexpected);
        }
    }

    /// The worlds have become different: told once, to both sides. `counts`: it was found by a
    /// comparison, here or of this very tick.
    pub(super) fn differs(&mut self, notice: DesyncNotice, counts: bool, io: &mut Io<F::Sim>) {
        self.share.differs(notice.tick);
        let Place::Joined(session) = &mut self.place else { return };
        if !session.comparison.differs(counts, &mut io.out) {
            return;
        }
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        if let Life::Here { stepper, .. } = &mut session.life {
            stepper.emit_keyframe(&mut io.out);
        }
        io.out.events.push_back(Event::Desync { player: session.sequencer, tick, agreed, ours, theirs });
        if F::LEADER_COMPARES {
            return;
        }
        if counts {
            session.leader.tell(&Message::Desync(notice), &mut io.out);
            self.contradict(notice, io);
        }
        if self.settings.on_desync == OnDesync::Stop {
            self.say_goodbye(LeaveReason::Desync, io);
            // The sequencer calls for evidence, this peer's included.
            io.out.fall_out_of_step(io.now);
        }
    }
}
