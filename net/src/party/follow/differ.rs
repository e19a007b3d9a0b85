//! What happens when a replica's world and the sequencer's differ: it is told, and evidence is given when the sequencer calls for it.

use core::time::Duration;

use lockstone_sim::Simulation;

use super::{Follow, Joined};
use crate::limits::INQUIRY_ANSWER_INTERVAL;
use crate::link::PeerId;
use crate::session::{DropReason, Event, Out, Witnesses};
use crate::wire::{DesyncNotice, Inquiry, LeaveReason, Message};

impl<S: Simulation> Follow<S> {
    /// The sequencer calls for evidence.
    pub(super) fn inquired(&mut self, inquiry: &Inquiry, now: Duration, out: &mut Out<S>) {
        let Some(session) = self.session.as_mut().filter(|session| session.stage.is_some()) else {
            return out.dropped(DropReason::Unexpected);
        };
        let called = |of: PeerId| inquiry.witnesses.iter().any(|(_, peer)| *peer == of);
        if !called(self.me) || !called(session.sequencer) {
            return out.dropped(DropReason::Unexpected);
        }
        let others = inquiry.witnesses.iter().filter(|(_, peer)| *peer != self.me).copied();
        let (others, missing): (Vec<_>, Vec<_>) = others.partition(|(_, peer)| self.connected.contains(peer));
        let witnesses = Witnesses {
            others: others.into_iter(),
            missing: missing.into_iter().map(|(player, _)| player).collect(),
            players: inquiry.witnesses.len(),
        };
        if !session.evidence.begin(INQUIRY_ANSWER_INTERVAL, witnesses, now, out) {
            out.dropped(DropReason::Unexpected);
        }
    }
}

impl<S: Simulation> Joined<S> {
    /// The worlds have become different: told once, to both sides.
    pub(super) fn differs(
        &mut self,
        notice: DesyncNotice,
        found_here: bool,
        stop: bool,
        now: Duration,
        out: &mut Out<S>,
    ) {
        if !self.comparison.differs(found_here, out) {
            return;
        }
        let player = self.welcome.sequencer;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        self.stage.iter_mut().for_each(|stage| stage.tell_keyframe(out));
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.epoch, self.sequencer, &Message::Desync(notice));
        }
        if stop {
            out.reliably(self.epoch, self.sequencer, &Message::Bye(LeaveReason::Desync));
            // The sequencer calls for evidence, this peer's included.
            self.evidence.linger(now);
        }
    }
}
