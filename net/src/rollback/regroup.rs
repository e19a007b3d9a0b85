//! What happens when a player is lost: the others stop, decide by votes who leads, and go on from
//! where it says, without those whom it names.
//!
//! A player that notices a loss stops, and tells the others whom it has lost. Who hears that stops
//! too: nobody can play on without everyone. [`Members`](crate::members::Members) decides who
//! leads. The leader waits for the votes of all whom it has not lost, and with them for what each
//! knows. Those who hear each other go on, from the first tick that one of them does not know,
//! which all of them can go back to: nothing that is settled is undone.
//!
//! Who goes on must be a quorum of those who played until now, so no two sides do. A side without a
//! quorum waits, and ends. Who is left counts from the first turn on that holds inputs of all: then
//! everyone has gone on. Until then those before it decide, as one may not have gone on yet.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::ggrs::Predictor;
use super::losses::{Losses, Lost};
use super::play::Play;
use super::remote::Remote;
use crate::limits::INQUIRY_ANSWER_INTERVAL;
use crate::link::Channel;
use crate::members::{Electorate, Electorates, Outlook};
use crate::session::{DropReason, EndReason, Event, Io, Outbox};
use crate::wire::{Epoch, Known, Lead, LeaveReason, List, Message, Regroup, Stand, Vote};

/// What is not known to have arrived is told again after so long.
pub(super) const REPEAT: Duration = Duration::from_millis(100);

/// If all have stopped for nobody too often, the game must have stood still for so long before they
/// do so again.
const STANDS_STILL: Duration = Duration::from_millis(500);

/// This player has stopped.
pub(super) struct Regrouping {
    pub losses: Losses,
    /// When it stopped, or the last player was lost.
    pub changed_at: Duration,
    /// When the others were told so last.
    told_at: Duration,
    /// Whether the game had stood still by then.
    stood_still: bool,
}

impl Regrouping {
    /// Whether a player is lost for this one.
    pub fn has_lost(&self, player: PlayerId) -> bool {
        self.losses.ours.contains_key(&player)
    }

    /// The newest vote of another player.
    fn vote_of(&self, player: PlayerId) -> Option<Vote> {
        self.losses.said.get(&player).map(|said| said.stand.vote)
    }
}

impl<S: Simulation> Play<S> {
    /// A silent player is lost. So is one that speaks, but not of what must be decided, one that
    /// speaks, but gives no inputs that all wait for, and one that gives them too slowly.
    ///
    /// As long as everyone is heard of within the timeout, everyone has in one timeout what
    /// all had given before, and in two what they gave upon that: then someone goes on, or
    /// does not want to.
    pub(super) fn watch_over(&mut self, io: &mut Io<S>) {
        let now = io.now;
        let timeout = self.config.settings().silence_timeout;
        let stopped_for = self.regrouping.as_ref().map(|regrouping| now.saturating_sub(regrouping.changed_at));
        if stopped_for.is_some_and(|time| time >= timeout) && !self.has_quorum() {
            self.say_goodbye(LeaveReason::Lost, &mut io.out);
            return io.out.end(EndReason::NoQuorum);
        }
        let heard = self.remotes.iter().filter(|remote| !self.has_lost(remote.player));
        let silent = heard.filter(|remote| {
            now >= remote.heard_at + timeout || stopped_for.is_some_and(|time| self.is_overdue(remote.player, time))
        });
        let silent: Vec<_> = silent.map(|remote| (remote.player, LeaveReason::Silent)).collect();
        let stalled = self.regrouping.is_none() && now >= self.went_on_at + 2 * timeout;
        let farthest_behind = self.remotes.iter().map(|remote| remote.received).min().filter(|_| stalled);
        let patience = self.config.settings().slowness_timeout.max(2 * timeout);
        let slow = self.remotes.iter().filter(|remote| {
            Some(remote.received) == farthest_behind || self.regrouping.is_none() && remote.held_up() >= patience
        });
        let slow: Vec<_> = slow.map(|remote| (remote.player, LeaveReason::TooSlow)).collect();
        for (player, reason) in silent.into_iter().chain(slow) {
            self.lose(player, reason, io);
        }
    }

    /// Whether a player took too long: to say anything of who leads, to vote when this player is
    /// elected, or to lead once it is elected itself. It waits for others as long as this one does.
    fn is_overdue(&self, player: PlayerId, stopped_for: Duration) -> bool {
        let timeout = self.config.settings().silence_timeout;
        let theirs = self.regrouping.as_ref().and_then(|regrouping| regrouping.vote_of(player));
        let vote = self.members.vote();
        let elected = vote.epoch > self.epoch && self.members.leader() == Some(vote);
        let timeouts = match theirs {
            _ if elected && player == vote.leader => 3,
            None => 2,
            Some(_) if !self.members.is_elected() => return false,
            // It may vote as the others do in the next epoch.
            Some(theirs) if theirs.epoch >= vote.epoch => 4,
            Some(_) => 2,
        };
        stopped_for >= timeouts * timeout
    }

    /// Whether a player is lost for this one.
    pub(super) fn has_lost(&self, player: PlayerId) -> bool {
        self.regrouping.as_ref().is_some_and(|regrouping| regrouping.has_lost(player))
    }

    /// Whether a player was there when the session began.
    fn took_part(&self, player: PlayerId) -> bool {
        usize::from(player.0) < self.players_at_start
    }

    /// Whether those who may still go on with this player are enough.
    fn has_quorum(&self) -> bool {
        let here = self.remotes.iter().map(|remote| remote.player);
        let here = here.filter(|player| !self.has_lost(*player) && !self.removed_by.contains(player));
        let here: BTreeSet<_> = here.chain([self.player]).collect();
        self.electorates.is_quorum(|player| here.contains(&player))
    }

    /// This player plays on with the others no more until someone leads them.
    fn stop(&mut self, now: Duration) -> &mut Regrouping {
        let timeout = self.config.settings().silence_timeout;
        let stood_still = now.saturating_sub(self.went_on_at) >= timeout / 2;
        self.timeline.hold();
        self.regrouping.get_or_insert_with(|| Regrouping {
            losses: Losses::new(self.player),
            changed_at: now,
            told_at: Duration::ZERO,
            stood_still,
        })
    }

    /// A player is lost.
    pub(super) fn lose(&mut self, player: PlayerId, reason: LeaveReason, io: &mut Io<S>) {
        let Some(peer) = self.remote(player).map(|remote| remote.peer) else { return };
        if self.has_lost(player) {
            return;
        }
        if matches!(reason, LeaveReason::Desync | LeaveReason::Distrusted) {
            // It is a witness, and whoever found it may not be heard of soon.
            self.inquire(INQUIRY_ANSWER_INTERVAL, io);
        } else {
            io.evidence.lost(peer, &mut io.out);
        }
        let waits_to_end = !self.has_quorum();
        let regrouping = self.stop(io.now);
        regrouping.losses.ours.insert(player, reason);
        if !waits_to_end {
            regrouping.changed_at = io.now;
        }
        // It is news.
        regrouping.told_at = Duration::ZERO;
        // Of two players one goes on if the carrier says that the other is gone. Should the other
        // live, it goes on in an epoch of its own.
        if reason == LeaveReason::Lost && self.electorates.iter().eq(self.pair_with(player)) {
            if self.player > player {
                self.members.concede(player);
            }
            self.electorates.resign(player);
        }
        self.regroup(io);
    }

    fn pair_with(&self, player: PlayerId) -> [PlayerId; 2] {
        [self.player.min(player), self.player.max(player)]
    }

    /// A player said goodbye, and promised never to vote again.
    pub(super) fn resigned(&mut self, player: PlayerId, reason: LeaveReason, io: &mut Io<S>) {
        self.electorates.resign(player);
        self.lose(player, reason, io);
    }

    /// Another player has gone on without this one. One alone may lie.
    pub(super) fn removed(&mut self, by: PlayerId, reason: LeaveReason, io: &mut Io<S>) {
        self.removed_by.insert(by);
        if self.has_quorum() {
            return;
        }
        match reason {
            LeaveReason::Desync => self.put_out(io),
            _ => self.go(reason, io),
        }
    }

    /// The others go on without this player.
    fn go(&self, reason: LeaveReason, io: &mut Io<S>) {
        self.say_goodbye(reason, &mut io.out);
        io.out.end(EndReason::Removed(reason));
    }

    /// Whether another gave inputs for ticks that this player is far from: it may well wait for it.
    fn is_behind(&self, other: PlayerId) -> bool {
        let far = self.config.settings().max_prediction_ticks / 2;
        self.remote(other).is_some_and(|remote| remote.received > self.own.end().plus(far))
    }

    /// Whether this player stops as another has. If all have stopped for nobody too often, it does
    /// once the game stands still anyway. If that is for the other's inputs, the other is charged
    /// with the stop.
    fn heeds(&mut self, other: PlayerId, now: Duration) -> bool {
        if self.vain_stops.are_few(now) {
            return true;
        }
        let stands_still = self.stalled_since.is_some_and(|since| now >= since + STANDS_STILL);
        let farthest_behind = self.remotes.iter().map(|remote| remote.received).min().filter(|_| stands_still);
        let holds_up = |remote: &&mut Remote| remote.player == other && Some(remote.received) == farthest_behind;
        self.remotes.iter_mut().filter(holds_up).for_each(Remote::stopped_in_vain);
        stands_still
    }

    /// Takes what another player says that has stopped.
    pub(super) fn take_stand(&mut self, from: PlayerId, theirs: Regroup, io: &mut Io<S>) {
        let Some(peer) = self.remote(from).map(|remote| remote.peer) else { return };
        let Stand { vote, doubts, known, .. } = theirs.stand;
        let knows_too_much = known.epoch > vote.epoch;
        if knows_too_much || theirs.lost.iter().any(|(player, _)| *player == from || !self.took_part(*player)) {
            return io.out.dropped(DropReason::Unexpected);
        }
        // Whoever plays in this epoch had said that it knows all that is settled. Who was left out
        // may not know it, and what it says may come late.
        if known.end < self.timeline.first() {
            return io.out.dropped(DropReason::Unexpected);
        }
        let Some(is_proven) = self.hear_votes(from, &theirs, io) else { return };
        // Nobody can play on without one that promised to take nothing of this epoch any more, or
        // would promise it.
        let stops = vote.epoch > self.epoch || doubts > Some(self.epoch) && known.epoch == self.epoch;
        if self.regrouping.is_none() && !stops {
            // It does not know yet who leads.
            if self.members.take(from, theirs.stand, is_proven, io.now) {
                let word = self.word();
                io.out.send(Epoch::default(), peer, Channel::Unreliable, &word);
            }
            return;
        }
        if self.regrouping.is_none() && !self.heeds(from, io.now) {
            return io.out.dropped(DropReason::Unexpected);
        }
        if theirs.lost.contains(&(self.player, LeaveReason::TooSlow)) && self.is_behind(from) {
            self.removed_by.insert(from);
            if 2 * self.removed_by.len() > self.remotes.len() {
                return self.go(LeaveReason::TooSlow, io);
            }
        }
        self.stop(io.now).losses.take(from, &theirs);
        // This player waited for it, too.
        for (player, reason) in theirs.lost.iter().filter(|(_, reason)| *reason == LeaveReason::TooSlow) {
            if self.remote(*player).is_some_and(Remote::holds_up) {
                self.lose(*player, *reason, io);
            }
        }
        self.members.take(from, theirs.stand, is_proven, io.now);
        self.regroup(io);
    }

    /// Does what is due while this player has stopped.
    pub(super) fn regroup(&mut self, io: &mut Io<S>) {
        self.decide(io);
        self.go_on_if_elected(io);
    }

    /// Takes part in deciding who leads.
    fn decide(&mut self, io: &mut Io<S>) {
        let Some(regrouping) = &self.regrouping else { return };
        self.members.regard(self.outlook(regrouping));
        let vote = self.members.vote();
        if vote.epoch == self.epoch || regrouping.has_lost(vote.leader) {
            self.members.suspect();
        }
        // Who waits for the leader tells its stand, too: the others hear that it lives.
        let mut due = io.now >= regrouping.told_at + REPEAT;
        while self.members.advance(self.known(), &self.electorates, io.now).is_some() {
            due = true;
        }
        if due {
            self.tell(io);
        }
    }

    fn outlook(&self, regrouping: &Regrouping) -> Outlook {
        let lost = &regrouping.losses.ours;
        let votes: BTreeSet<_> = self.electorates.iter().collect();
        // What everyone learns alike: goodbyes, and whose world a quorum finds odd.
        let learnt_by_all =
            |(player, reason): (&PlayerId, &LeaveReason)| *reason == LeaveReason::Desync || !votes.contains(player);
        let has_not_voted = self.members.promised() == self.epoch;
        Outlook {
            lost: lost.keys().copied().collect(),
            torn: regrouping.losses.torn(self.timeline.players()),
            apart: BTreeSet::new(),
            unanimous: has_not_voted && !lost.is_empty() && lost.iter().all(learnt_by_all),
            // Nobody follows what a leader says all the time.
            fitness: BTreeMap::new(),
        }
    }

    pub(super) fn known(&self) -> Known {
        Known { epoch: self.epoch, end: self.confirmed, ..Known::default() }
    }

    /// Tells the others our stand.
    fn tell(&mut self, io: &mut Io<S>) {
        if let Some(regrouping) = &mut self.regrouping {
            regrouping.told_at = io.now;
        }
        let word = self.word();
        for remote in &self.remotes {
            io.out.send(Epoch::default(), remote.peer, Channel::Unreliable, &word);
        }
    }

    /// Leads, if this player is elected and everyone has voted whom it has not lost.
    fn go_on_if_elected(&mut self, io: &mut Io<S>) {
        let Some(regrouping) = &self.regrouping else { return };
        if self.members.elected(&self.electorates, io.now).is_none() {
            return;
        }
        let voters = self.members.backers();
        let is_here = |player| !regrouping.has_lost(player) && !self.removed_by.contains(&player);
        // One that says that it has lost others, and goes on to vote otherwise, is not waited for.
        let torn = regrouping.losses.torn(self.timeline.players());
        let had_time = io.now >= regrouping.changed_at + self.config.settings().silence_timeout;
        let voted = |player| regrouping.vote_of(player).is_some_and(|vote| vote.epoch >= self.members.promised());
        let dissents = |player| had_time && torn.contains(&player) && voted(player);
        let awaited = |player| is_here(player) && !voters.contains_key(&player) && !dissents(player);
        if self.remotes.iter().any(|remote| awaited(remote.player)) {
            return;
        }
        let is_quorum = |group: &BTreeSet<PlayerId>| self.electorates.is_quorum(|player| group.contains(&player));
        let here = voters.keys().copied().filter(|player| is_here(*player));
        let (here, ahead): (Vec<_>, Vec<_>) = here.partition(|player| voters[player].epoch <= self.epoch);
        // Whoever has gone on before leads, if it can. What no quorum knows may be untrue.
        let is_sure = had_time && is_quorum(&here.iter().copied().chain([self.player]).collect());
        if !ahead.is_empty() && !is_sure {
            return self.members.decline();
        }
        let Some(left) = regrouping.losses.group(&here, regrouping.stood_still, is_quorum) else { return };
        let gone = self.remotes.iter().map(|remote| remote.player).filter(|player| !left.contains(player));
        let gone = gone.map(|player| (player, regrouping.losses.reason(&left, player)));
        let gone: Lost = self.gone.iter().map(|(player, reason)| (*player, *reason)).chain(gone).collect();
        let ends = left.iter().filter_map(|player| voters.get(player)).map(|theirs| theirs.end);
        let from = Known { epoch: self.epoch, end: ends.fold(self.confirmed, Tick::min), ..Known::default() };
        let lead = Lead { from, gone: listed(&gone), ..Lead::default() };
        self.members.lead();
        self.go_on(self.members.promised(), &lead, io);
        self.lead = Some((lead, io.now));
        self.lead_on(&mut io.out);
    }

    /// The one that this player voted for leads.
    pub(super) fn led(&mut self, by: PlayerId, epoch: Epoch, lead: Lead, io: &mut Io<S>) {
        // It is told again until it is known to have arrived.
        if epoch <= self.epoch {
            return;
        }
        if self.regrouping.is_none() || self.members.vote() != (Vote { epoch, leader: by }) {
            return io.out.dropped(DropReason::StaleEpoch);
        }
        let gone: Lost = lead.gone.iter().copied().collect();
        if let Some(reason) = gone.get(&self.player) {
            return self.removed(by, *reason, io);
        }
        let is_sound = gone.keys().all(|player| self.took_part(*player))
            && self.gone.keys().all(|player| gone.contains_key(player));
        if !is_sound || !self.electorates.is_quorum(|player| !gone.contains_key(&player)) {
            return io.out.dropped(DropReason::Unexpected);
        }
        if lead.from.end < self.timeline.first() || lead.from.end > self.confirmed {
            return io.out.dropped(DropReason::ForgedAck);
        }
        let lost = self.regrouping.as_ref().map(|regrouping| regrouping.losses.ours.clone()).unwrap_or_default();
        self.members.believe();
        self.go_on(epoch, &lead, io);
        // Who leads may not have heard the goodbye of one whom it names.
        let votes: BTreeSet<_> = self.electorates.iter().collect();
        lost.into_iter().filter(|(player, _)| !votes.contains(player)).for_each(|(player, reason)| {
            self.lose(player, reason, io);
        });
    }

    /// Goes on from a tick with those who are left. The others leave the world in its turn.
    fn go_on(&mut self, epoch: Epoch, lead: &Lead, io: &mut Io<S>) {
        let (now, from, out) = (io.now, lead.from.end, &mut io.out);
        let gone: Lost = lead.gone.iter().copied().collect();
        let is_news = |player: &PlayerId| !self.gone.contains_key(player);
        let distrusts = gone.iter().any(|(player, reason)| is_news(player) && *reason == LeaveReason::Distrusted);
        let delay_ticks = self.config.settings().input_delay_ticks;
        for remote in self.remotes.iter().filter(|remote| gone.contains_key(&remote.player)) {
            let (player, reason) = (remote.player, gone[&remote.player]);
            out.events.push_back(Event::PlayerLeft { player, reason });
            // In case that it can hear us.
            out.reliably(epoch, remote.peer, &Message::Removed(reason));
        }
        self.timeline.branch(from, gone.keys().copied().filter(|player| !self.gone.contains_key(player)));
        self.remotes.retain(|remote| !gone.contains_key(&remote.player));
        for remote in &mut self.remotes {
            remote.begin(from, delay_ticks);
            remote.heard_at = now;
        }
        let stays = |player| !gone.contains_key(&player);
        self.stories.retain(stays);
        self.differences.go_on(from, stays);
        if gone.len() == self.gone.len() {
            self.vain_stops.note(now);
        }
        self.predictor = Predictor::new(&self.config, self.timeline.players(), self.player);
        self.timeline.figures.regroupings += 1;
        self.own.take_back(from, from.plus(delay_ticks));
        self.confirmed = from;
        self.checksums.retain(|tick, _| *tick <= from);
        self.travelling.clear();
        (self.next_tick_at, self.went_on_at, self.stalled_since) = (now, now, None);
        (self.epoch, self.gone) = (epoch, gone);
        (self.lead, self.regrouping) = (None, None);
        self.removed_by.clear();
        self.begin_reconciling(distrusts, from, now);
    }

    /// Everyone who is left has gone on: from now on they decide.
    pub(super) fn all_have_gone_on(&mut self) {
        self.electorates = Electorates::of(Electorate::of(self.timeline.players().iter().copied()));
        self.lead = None;
    }

    /// Tells again where to go on from, if that is due.
    pub(super) fn lead_again(&mut self, now: Duration, out: &mut Outbox<S>) {
        if let Some((_, told_at)) = self.lead.as_mut().filter(|(_, told_at)| now >= *told_at + REPEAT) {
            *told_at = now;
            self.lead_on(out);
        }
    }

    /// Tells everyone who has not gone on where to go on from.
    fn lead_on(&self, out: &mut Outbox<S>) {
        let Some((lead, _)) = &self.lead else { return };
        for remote in self.remotes.iter().filter(|remote| !remote.follows) {
            out.send(self.epoch, remote.peer, Channel::Unreliable, &Message::Lead(lead.clone()));
        }
    }
}

pub(super) fn listed<const MAX: usize>(players: &Lost) -> List<(PlayerId, LeaveReason), MAX> {
    let players: Vec<_> = players.iter().map(|(player, reason)| (*player, *reason)).collect();
    List::try_from(players).expect("no more players than that")
}
