//! What happens when a player is gone: the others stop, agree who is left and from where to go on,
//! and go on from there.
//!
//! Each player that notices stops, and sends the others its proposal: which players are gone for
//! it, and up to where it knows the turns. A player that receives one stops too, adds the players
//! that are gone, and sends its own. Once all who are left name the same ones, they go on from the
//! first tick that one of them does not know, which all of them can go back to. The next epoch
//! begins there; its number counts all who are gone.
//!
//! One player may have gone on already while another notices the next loss. Nothing can have been
//! confirmed by then, so the one that went on stops again and takes part. A player that others
//! take for gone ends.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::ggrs::Predictor;
use super::play::Play;
use crate::limits::INQUIRY_ANSWER_INTERVAL;
use crate::link::Channel;
use crate::session::{DropReason, EndReason, Event, Io, Outbox};
use crate::wire::{Epoch, LeaveReason, List, Message, Regroup};

/// A stand is told again after so long. It is small and changes rarely, so it rather goes twice
/// than waits for what was lost before it.
const REPEAT: Duration = Duration::from_millis(100);

/// The players that are gone, and why.
type Gone = BTreeMap<PlayerId, LeaveReason>;

#[derive(Default)]
pub(super) struct Regrouping {
    /// Gone in this epoch.
    gone: Gone,
    /// When the last of them was counted out.
    changed_at: Duration,
    /// What each of the others stands for.
    proposals: BTreeMap<PlayerId, Regroup>,
    /// When our own stand was told.
    proposed_at: Option<Duration>,
    /// The epoch before, and who was gone in it, until the first turn of this one is confirmed.
    before: Option<(Epoch, Gone)>,
}

impl Regrouping {
    pub fn is_under_way(&self) -> bool {
        self.proposed_at.is_some()
    }

    /// When the stand is to be told again, if one was.
    pub fn wake_at(&self) -> Option<Duration> {
        self.proposed_at.map(|told| told + REPEAT)
    }

    /// The players that were gone in the epoch before, if it is this one and may still count.
    fn gone_in(&self, epoch: Epoch) -> Option<&Gone> {
        self.before.as_ref().filter(|(before, _)| *before == epoch).map(|(_, gone)| gone)
    }

    /// Whether a player is gone in this epoch.
    pub fn is_gone(&self, player: PlayerId) -> bool {
        self.gone.contains_key(&player)
    }

    /// Whether a player stands for the same as we do.
    fn agrees(&self, player: PlayerId) -> bool {
        let named = |theirs: &Regroup| theirs.gone.iter().map(|(player, _)| player).eq(self.gone.keys());
        self.proposals.get(&player).is_some_and(named)
    }

    /// Everyone has gone on: a turn of this epoch holds inputs of all.
    pub fn conclude(&mut self) {
        self.before = None;
    }
}

impl<S: Simulation> Play<S> {
    /// A silent player is gone. So is one that speaks, but not of what must be agreed upon, and one
    /// that speaks, but gives no inputs that all wait for.
    ///
    /// As long as everyone is heard of within the timeout, everyone has in one timeout what
    /// all had given before, and in two what they gave upon that: then someone goes on, or
    /// does not want to.
    pub(super) fn watch_over(&mut self, io: &mut Io<S>) {
        let now = io.now;
        let timeout = self.config.settings().silence_timeout;
        let overdue = self.regrouping.is_under_way() && now >= self.regrouping.changed_at + 2 * timeout;
        let silent = self
            .remotes
            .iter()
            .filter(|remote| now >= remote.heard_at + timeout || overdue && !self.regrouping.agrees(remote.player));
        let silent: Vec<_> = silent.map(|remote| (remote.player, LeaveReason::Silent)).collect();
        let stalled = !self.regrouping.is_under_way() && now >= self.went_on_at + 2 * timeout;
        let farthest_behind = self.remotes.iter().map(|remote| remote.received).min().filter(|_| stalled);
        let slow = self.remotes.iter().filter(|remote| Some(remote.received) == farthest_behind);
        let slow: Vec<_> = slow.map(|remote| (remote.player, LeaveReason::TooSlow)).collect();
        for (player, reason) in silent.into_iter().chain(slow) {
            self.lose(player, reason, io);
        }
    }

    /// A player is gone.
    pub(super) fn lose(&mut self, player: PlayerId, reason: LeaveReason, io: &mut Io<S>) {
        if self.count_out(player, reason, io) {
            self.send_proposal(io.now, &mut io.out);
            self.go_on_if_agreed(io.now, &mut io.out);
        }
    }

    /// Returns whether this is news.
    fn count_out(&mut self, player: PlayerId, reason: LeaveReason, io: &mut Io<S>) -> bool {
        let Some(peer) = self.remote(player).map(|remote| remote.peer) else { return false };
        if self.regrouping.is_gone(player) {
            return false;
        }
        if reason == LeaveReason::Desync {
            // It is a witness, and whoever found it may not be heard of soon.
            self.inquire(INQUIRY_ANSWER_INTERVAL, io);
        } else {
            io.evidence.lost(peer, &mut io.out);
        }
        // In case that it can hear us.
        io.out.reliably(self.epoch, peer, &Message::Removed(reason));
        self.regrouping.gone.insert(player, reason);
        self.regrouping.changed_at = io.now;
        self.timeline.hold();
        true
    }

    /// Tells the others our stand.
    pub(super) fn send_proposal(&mut self, now: Duration, out: &mut Outbox<S>) {
        self.regrouping.proposed_at = Some(now);
        let proposal = proposal(&self.regrouping.gone, self.confirmed);
        for remote in self.remotes.iter().filter(|remote| !self.regrouping.is_gone(remote.player)) {
            out.send(self.epoch, remote.peer, Channel::Unreliable, &proposal);
        }
    }

    /// Takes another player's stand: of this epoch, or of the one before as long as not everyone is
    /// known to have gone on.
    pub(super) fn regroup(&mut self, from: PlayerId, epoch: Epoch, theirs: Regroup, io: &mut Io<S>) {
        let (now, out) = (io.now, &mut io.out);
        let past = self.regrouping.gone_in(epoch).cloned();
        if past.is_none() && epoch != self.epoch {
            return out.dropped(DropReason::StaleEpoch);
        }
        // All must hold before anything is done about it: an epoch that was given up in vain would
        // begin a second time.
        if !theirs.gone.iter().all(|(player, _)| self.took_part(*player, epoch)) {
            return out.dropped(DropReason::Unexpected);
        }
        if theirs.confirmed < self.timeline.first() {
            return out.dropped(DropReason::ForgedAck);
        }
        match theirs.gone.iter().find(|(player, _)| *player == self.player) {
            Some((_, LeaveReason::Desync)) => return self.put_out(io),
            Some((_, reason)) => return out.end(EndReason::Removed(*reason)),
            None => {}
        }
        if let Some(past) = past {
            if theirs.gone.iter().all(|(player, _)| past.contains_key(player)) {
                return self.answer_late(from, epoch, &past, out);
            }
            self.stop_again(epoch, past);
        }
        let mut news = !self.regrouping.is_under_way();
        for (player, reason) in theirs.gone.iter() {
            news |= self.count_out(*player, *reason, io);
        }
        // One that says less was overtaken.
        if self.regrouping.proposals.get(&from).is_none_or(|before| before.gone.len() < theirs.gone.len()) {
            self.regrouping.proposals.insert(from, theirs);
        }
        if news {
            self.send_proposal(now, &mut io.out);
        }
        self.go_on_if_agreed(now, &mut io.out);
    }

    /// Whether a player was there when an epoch began: this one, or the one before.
    fn took_part(&self, player: PlayerId, epoch: Epoch) -> bool {
        let gone = self.regrouping.gone_in(epoch).unwrap_or(&self.regrouping.gone);
        gone.contains_key(&player) || self.timeline.players().contains(&player)
    }

    /// It has not heard our stand, and we have gone on already.
    fn answer_late(&self, to: PlayerId, before: Epoch, gone: &Gone, out: &mut Outbox<S>) {
        if let Some(remote) = self.remote(to) {
            out.send(before, remote.peer, Channel::Unreliable, &proposal(gone, self.timeline.base()));
        }
    }

    /// Someone noticed another loss before the epoch that has just begun: it is as if it had not.
    fn stop_again(&mut self, before: Epoch, mut gone: Gone) {
        let base = self.timeline.base();
        self.epoch = before;
        self.confirmed = base;
        self.own.take_back(base, base.plus(self.config.settings().input_delay_ticks));
        gone.append(&mut self.regrouping.gone);
        self.regrouping = Regrouping { gone, ..Regrouping::default() };
    }

    /// Goes on if all who are left stand for the same.
    fn go_on_if_agreed(&mut self, now: Duration, out: &mut Outbox<S>) {
        let regrouping = &self.regrouping;
        let mut left = self.remotes.iter().map(|remote| remote.player).filter(|player| !regrouping.is_gone(*player));
        if left.all(|player| regrouping.agrees(player)) {
            let theirs = regrouping.proposals.iter().filter(|(player, _)| !regrouping.is_gone(**player));
            let from = theirs.map(|(_, proposal)| proposal.confirmed).fold(self.confirmed, Tick::min);
            self.go_on(from, now, out);
        }
    }

    /// Goes on from a tick with those who are left. The others leave the world in its turn.
    fn go_on(&mut self, from: Tick, now: Duration, out: &mut Outbox<S>) {
        let gone = core::mem::take(&mut self.regrouping).gone;
        let delay_ticks = self.config.settings().input_delay_ticks;
        for remote in self.remotes.iter().filter(|remote| gone.contains_key(&remote.player)) {
            let (player, reason) = (remote.player, gone[&remote.player]);
            out.events.push_back(Event::PlayerLeft { player, reason });
        }
        self.remotes.retain(|remote| !gone.contains_key(&remote.player));
        self.remotes.iter_mut().for_each(|remote| remote.begin(from, delay_ticks));
        self.timeline.branch(from, gone.keys().copied());
        self.predictor = Predictor::new(&self.config, self.timeline.players(), self.player);
        self.timeline.figures.regroupings += 1;
        self.own.take_back(from, from.plus(delay_ticks));
        self.confirmed = from;
        self.checksums.retain(|tick, _| *tick <= from);
        self.travelling.clear();
        self.differences.clear();
        (self.next_tick_at, self.went_on_at) = (now, now);
        let before = self.epoch;
        self.epoch = Epoch(before.0 + gone.len() as u32);
        self.regrouping.before = Some((before, gone));
    }
}

fn proposal(gone: &Gone, confirmed: Tick) -> Message {
    let gone: Vec<_> = gone.iter().map(|(player, reason)| (*player, *reason)).collect();
    Message::Regroup(Regroup { gone: List::try_from(gone).expect("no more players than that"), confirmed })
}
