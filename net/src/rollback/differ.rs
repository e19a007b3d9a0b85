//! What happens when worlds differ: it is reported, evidence is called for, and who is odd goes.
//!
//! ```text
//! a difference ─► all is settled and signed ─► census ─► this world is odd: it stops
//!                                                └─► another is: Odd ─► a quorum says so: lost
//! ```
//!
//! Of two players who both may be right, the first one's world counts. It must never lose a player
//! for what one alone tells of it. Nothing here is about how a player that has stopped leaves the
//! others' world; that is in `regroup`.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use lockstone_sim::{PlayerId, Simulation, Tick};

use super::play::Play;
use crate::census::{Census, Judgement, Ruling};
use crate::limits::{INQUIRY_ANSWER_INTERVAL, INQUIRY_INTERVAL};
use crate::session::{DropReason, Event, Io, Outbox, Witnesses};
use crate::wire::{DesyncNotice, Inquiry, LeaveReason, Message};

/// What is known of worlds that differ.
#[derive(Default)]
pub(super) struct Differences {
    /// Those whose tick is not settled yet, and with whom.
    pub found: Vec<(PlayerId, DesyncNotice)>,
    /// What each told of its world.
    pub census: Census,
    /// Whose world is the odd one, and who says so.
    accusers: BTreeMap<PlayerId, BTreeSet<PlayerId>>,
    /// What differed up to then is put right, whoever's world it was.
    reconciled: Option<Tick>,
}

impl Differences {
    /// Those who stay go on from a tick: what came of later ones is undone, and nothing else.
    pub fn go_on(&mut self, from: Tick, stays: impl Fn(PlayerId) -> bool) {
        self.found.retain(|(player, notice)| notice.tick <= from && stays(*player));
        self.census.go_on(from);
        self.accusers.retain(|player, _| stays(*player));
        self.accusers.values_mut().for_each(|accusers| accusers.retain(|player| stays(*player)));
    }

    /// All go on from a tick with one world: nobody is out for what differed before. It is still
    /// told.
    pub fn reconcile(&mut self, from: Tick) {
        (self.census, self.accusers, self.reconciled) = (Census::default(), BTreeMap::new(), Some(from));
    }
}

impl<S: Simulation> Play<S> {
    /// Tells differences of which all is settled.
    pub(super) fn tell_differences(&mut self, io: &mut Io<S>) {
        let found = core::mem::take(&mut self.differences.found);
        let open = |notice: &DesyncNotice| self.differences.reconciled.is_none_or(|until| notice.tick > until);
        let disputes: Vec<_> = found.iter().map(|(_, notice)| *notice).filter(open).collect();
        for notice in disputes {
            self.differences.census.dispute(notice.tick, notice.agreed, io.now);
        }
        let (due, early): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, notice)| self.is_told(notice.tick));
        self.differences.found = early;
        for (player, notice) in due {
            let agreed = self.remote(player).and_then(|remote| remote.comparison.agreed_before(notice.tick));
            self.differs(player, DesyncNotice { agreed, ..notice }, true, io);
        }
    }

    /// Whether all that led to a tick is settled, and everyone signed what it gave: a recording
    /// then holds it, and who was told another story is known. Else that one would be found odd.
    fn is_told(&self, tick: Tick) -> bool {
        let settled = self.timeline.first();
        tick <= settled && self.stories.are_told(tick, settled)
    }

    /// Worlds have become different: reported once, on both sides.
    pub(super) fn differs(&mut self, player: PlayerId, notice: DesyncNotice, found_here: bool, io: &mut Io<S>) {
        let out = &mut io.out;
        let Some(remote) = self.remotes.iter_mut().find(|remote| remote.player == player) else { return };
        if !remote.comparison.differs(found_here, out) {
            return;
        }
        let peer = remote.peer;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        out.events.extend(self.stories.newest().map(Event::Signed));
        out.events.push_back(self.timeline.keyframe());
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.epoch, peer, &Message::Desync(notice));
        }
        self.inquire(INQUIRY_INTERVAL, io);
    }

    /// Decides whose world is right, and does what follows.
    pub(super) fn judge(&mut self, io: &mut Io<S>) {
        let stops = self.config.settings().stop_on_desync && io.out.standing.is_in_step();
        let disputed = self.differences.census.disputed().filter(|tick| stops && self.is_told(*tick));
        if disputed.is_none() {
            return;
        }
        let voters = self.timeline.players();
        match self.differences.census.judge(voters[0], voters, io.now) {
            None => {}
            Some(Judgement::Replay { tick, agreed }) => {
                io.out.events.push_back(Event::ReferenceWanted { tick, agreed });
            }
            Some(Judgement::Found(Ruling { odd, .. })) if odd.contains_key(&self.player) => self.put_out(io),
            Some(Judgement::Found(Ruling { odd, is_proven, .. })) => {
                for player in odd.into_keys() {
                    self.accuse(player, is_proven, io);
                }
            }
        }
    }

    /// Says that another's world is the odd one.
    fn accuse(&mut self, player: PlayerId, is_proven: bool, io: &mut Io<S>) {
        if is_proven && let Some(remote) = self.remotes.iter_mut().find(|remote| remote.player == player) {
            remote.comparison.acquit(&mut io.out);
        }
        if self.differences.accusers.get(&player).is_some_and(|accusers| accusers.contains(&self.player)) {
            return;
        }
        for remote in &self.remotes {
            io.out.reliably(self.epoch, remote.peer, &Message::Odd(player));
        }
        self.accused(self.player, player, io);
    }

    /// A player says, or this one finds, whose world is the odd one.
    pub(super) fn accused(&mut self, by: PlayerId, player: PlayerId, io: &mut Io<S>) {
        if !self.config.settings().stop_on_desync || !self.timeline.players().contains(&player) {
            return io.out.dropped(DropReason::Unexpected);
        }
        let accusers = self.differences.accusers.entry(player).or_default();
        accusers.insert(by);
        // Of its own world each decides by itself.
        if player != self.player && self.electorates.is_quorum(|player| accusers.contains(&player)) {
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
