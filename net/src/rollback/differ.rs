//! What happens when worlds differ: it is reported, evidence is called for, and a peer that is
//! out of step stops.
//!
//! The first player's world counts. A player that differs from it stops, and it goes on without
//! that player. Nothing here is about how a player that has stopped leaves the others' world; that
//! is in `regroup`.

use core::time::Duration;

use lockstone_sim::{PlayerId, Simulation};

use super::play::Play;
use crate::limits::{INQUIRY_ANSWER_INTERVAL, INQUIRY_INTERVAL};
use crate::session::{DropReason, Event, Io, Outbox, Witnesses};
use crate::wire::{DesyncNotice, Inquiry, LeaveReason, Message};

impl<S: Simulation> Play<S> {
    /// Tells differences whose tick is settled, and of which everyone signed what it gave: a
    /// recording then holds all that led to them.
    pub(super) fn tell_differences(&mut self, io: &mut Io<S>) {
        let settled = self.timeline.first();
        let differences = core::mem::take(&mut self.differences);
        // Who gave what is proven first: else one who was told another story would be put out.
        let is_due = |tick| tick <= settled && self.stories.are_told(tick, settled);
        let (due, early): (Vec<_>, Vec<_>) = differences.into_iter().partition(|(_, notice)| is_due(notice.tick));
        self.differences = early;
        for (player, notice) in due {
            if !io.out.standing.is_in_step() {
                return;
            }
            let agreed = self.remote(player).and_then(|remote| remote.comparison.agreed_before(notice.tick));
            self.differs(player, DesyncNotice { agreed, ..notice }, true, io);
        }
    }

    /// The session's first live player, whose world counts when worlds differ.
    pub(super) fn first_player(&self) -> PlayerId {
        self.timeline.players()[0]
    }

    /// Worlds have become different: reported once, on both sides. The first player's counts. A
    /// player that differs from it ends, and it goes on without that player.
    pub(super) fn differs(&mut self, player: PlayerId, notice: DesyncNotice, found_here: bool, io: &mut Io<S>) {
        let out = &mut io.out;
        let first_player = self.first_player();
        let Some(remote) = self.remotes.iter_mut().find(|remote| remote.player == player) else { return };
        if !remote.comparison.differs(found_here, out) {
            return;
        }
        let peer = remote.peer;
        let ends = self.config.settings().stop_on_desync && player == first_player;
        if ends {
            // Nothing can be undone any more. What both sides compared is known on both sides.
            self.settle_until(notice.tick.min(self.confirmed), out);
        }
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        out.events.extend(self.stories.newest().map(Event::Signed));
        out.events.push_back(self.timeline.keyframe());
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.epoch, peer, &Message::Desync(notice));
        }
        self.inquire(INQUIRY_INTERVAL, io);
        if ends {
            self.put_out(io);
        } else if self.config.settings().stop_on_desync && self.player == first_player {
            io.out.reliably(self.epoch, peer, &Message::Removed(LeaveReason::Desync));
            self.lose(player, LeaveReason::Desync, io);
        }
    }

    /// Asks for the evidence of everyone, no matter which player found that worlds differ. Several
    /// may find so, and each calls the others.
    pub(super) fn inquire(&mut self, interval: Duration, io: &mut Io<S>) {
        let live = self.remotes.iter().filter(|remote| !self.has_lost(remote.player));
        let others: Vec<_> = live.map(|remote| (remote.player, remote.peer)).collect();
        io.inquire(interval, Witnesses::of(others, self.players_at_start), Inquiry::default());
    }

    /// This peer's world is out of step, as it has found or was told.
    pub(super) fn put_out(&mut self, io: &mut Io<S>) {
        self.inquire(INQUIRY_ANSWER_INTERVAL, io);
        self.say_goodbye(LeaveReason::Desync, &mut io.out);
        io.evidence.put_out(io.now, &mut io.out);
    }

    /// Another player calls for evidence.
    pub(super) fn inquired(&mut self, io: &mut Io<S>) {
        self.inquire(INQUIRY_ANSWER_INTERVAL, io);
        if !io.evidence.under_way() {
            io.out.dropped(DropReason::Unexpected);
        }
    }

    pub(super) fn say_goodbye(&self, reason: LeaveReason, out: &mut Outbox<S>) {
        for remote in &self.remotes {
            out.reliably(self.epoch, remote.peer, &Message::Bye(reason));
        }
    }
}
