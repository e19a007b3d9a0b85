//! A session in progress: plays ticks, exchanges inputs, tells what is settled.
//!
//! Its loop is [`Play::advance`](Role::advance). At the end of its prediction it waits until who is
//! missing is heard of, or is gone; that is in `regroup`.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use super::config::RollbackConfig;
use super::differ::Differences;
use super::ggrs::Predictor;
use super::losses::Lost;
use super::own::OwnInputs;
use super::pace::{Pace, VainStops};
use super::reconcile::Reconciliation;
use super::regroup::{REPEAT, Regrouping};
use super::remote::Remote;
use super::stories::Stories;
use super::timeline::Timeline;
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::members::{Electorate, Electorates, Members, Policy};
use crate::session::{
    Ballots, CommandError, DropReason, EndReason, Event, Io, Offence, Outbox, Phase, PlayerStats, Refused, Role, Stats,
};
use crate::wire::*;

/// Time lost because this peer stood still for longer than this is not made up for.
const CATCH_UP_MAX: Duration = Duration::from_millis(500);
/// Ticks played in one call: what can be caught up at the default rate.
const TICKS_PER_CALL_MAX: u32 = 10;

pub struct Play<S: Simulation> {
    pub(super) config: RollbackConfig,
    terms: Terms,
    pub(super) player: PlayerId,
    name: Name,
    pub(super) seed: u64,
    pub(super) epoch: Epoch,
    /// The others, by player.
    pub(super) remotes: Vec<Remote>,
    pub(super) timeline: Timeline<S>,
    build: Box<dyn Fn() -> S + Send>,
    pub(super) predictor: Predictor,
    pub(super) own: OwnInputs,
    /// The first tick whose turn is not known here.
    pub(super) confirmed: Tick,
    /// This world's newest checksums that count.
    pub(super) checksums: BTreeMap<Tick, Checksum>,
    /// Those of them that still travel, and how often.
    pub(super) travelling: VecDeque<(Tick, Checksum, u32)>,
    pub(super) differences: Differences,
    pub(super) next_tick_at: Duration,
    pace: Pace,
    advanced_at: Duration,
    /// Since when the prediction is at its end.
    pub(super) stalled_since: Option<Duration>,
    /// When the turns that are known went on; in the future as long as players have
    /// time to speak first.
    pub(super) went_on_at: Duration,
    /// Who leads the present epoch, and who would lead the next one.
    pub(super) members: Members,
    pub(super) electorates: Electorates,
    pub(super) ballots: Ballots,
    /// What there is to do after somebody told several stories.
    pub(super) reconciliation: Reconciliation,
    /// Everyone who is gone since the session began.
    pub(super) gone: Lost,
    /// What this player leads with, and when it was told, as long as not everyone has gone on.
    pub(super) lead: Option<(Lead, Duration)>,
    /// As long as someone is lost, and the others have not gone on.
    pub(super) regrouping: Option<Regrouping>,
    /// How often all stopped for nobody.
    pub(super) vain_stops: VainStops,
    /// Who said that this player is out of the session.
    pub(super) removed_by: BTreeSet<PlayerId>,
    /// Newcomers that were told that the session takes nobody in.
    refused: Refused,
    /// What each player signed of its commands.
    pub(super) stories: Stories,
    /// How many began: all know the same number.
    pub(super) players_at_start: usize,
}

/// What a session begins with.
pub(super) struct Beginning<S: Simulation> {
    pub config: RollbackConfig,
    pub terms: Terms,
    pub player: PlayerId,
    pub name: Name,
    pub seed: u64,
    /// The others, by player.
    pub remotes: Vec<Remote>,
    pub timeline: Timeline<S>,
    /// Makes the world before tick 0.
    pub build: Box<dyn Fn() -> S + Send>,
    pub stories: Stories,
    pub ballots: Ballots,
    /// Until then players have time to speak first.
    pub silent_until: Duration,
}

impl<S: Simulation> Play<S> {
    /// Tick 0 is now.
    pub(super) fn begin(beginning: Beginning<S>, now: Duration) -> Self {
        let Beginning { config, terms, player, name, seed, remotes, timeline, build, stories, ballots, silent_until } =
            beginning;
        let base = timeline.base();
        let electorate = Electorate::of(timeline.players().iter().copied());
        let founder = Vote { epoch: Epoch::default(), leader: electorate.senior };
        Play {
            predictor: Predictor::new(&config, timeline.players(), player),
            own: OwnInputs::starting_at(base.plus(config.settings().input_delay_ticks)),
            config,
            terms,
            player,
            name,
            seed,
            epoch: Epoch::default(),
            players_at_start: remotes.len() + 1,
            remotes,
            timeline,
            build,
            confirmed: base,
            checksums: BTreeMap::new(),
            travelling: VecDeque::new(),
            differences: Differences::default(),
            next_tick_at: now,
            pace: Pace::default(),
            advanced_at: now,
            stalled_since: None,
            went_on_at: silent_until,
            members: Members::following(player, founder, now).under(Policy::ROLLBACK),
            electorates: Electorates::of(electorate),
            ballots,
            reconciliation: Reconciliation::default(),
            gone: Lost::new(),
            lead: None,
            regrouping: None,
            vain_stops: VainStops::default(),
            removed_by: BTreeSet::new(),
            refused: Refused::default(),
            stories,
        }
    }

    /// Plays, tells and sends what is due.
    fn play_on(&mut self, io: &mut Io<S>) {
        let now = io.now;
        // A peer that stood still itself must not take the others for silent.
        let stood_still = now.saturating_sub(self.advanced_at);
        if stood_still > self.config.settings().silence_timeout / 2 {
            let changed_at = self.regrouping.as_mut().map(|regrouping| &mut regrouping.changed_at);
            let heard_at = self.remotes.iter_mut().map(|remote| &mut remote.heard_at);
            let times = heard_at.chain([&mut self.went_on_at]).chain(changed_at);
            times.for_each(|time| *time = (*time).max(now.min(*time + stood_still)));
        }
        self.advanced_at = now;
        self.watch_over(io);
        if self.regrouping.is_some() {
            // The others may have stopped for what is proven here only now.
            self.find_who_tells_stories(io);
            return self.regroup(io);
        }
        if io.out.standing.end().is_none() && now >= self.next_tick_at {
            if self.reconciles(io) {
                // The others wait for this player, and it only for who tells what is right.
                (self.next_tick_at, self.went_on_at) = (now + self.config.period(), now);
                return self.send(now, &mut io.out);
            }
            let (confirmed, settled) = (self.confirmed, self.timeline.first());
            self.run(now, &mut io.out);
            self.settle(&mut io.out);
            if self.timeline.first() > settled {
                // Everyone has spoken to everyone.
                self.went_on_at = now;
            } else if self.confirmed > confirmed {
                self.went_on_at = self.went_on_at.max(now);
            }
            self.sign(&mut io.out);
            self.find_who_tells_stories(io);
            if self.regrouping.is_some() {
                return;
            }
            self.tell_differences(io);
            self.judge(io);
            if io.out.standing.is_in_step() && self.regrouping.is_none() {
                self.send(now, &mut io.out);
                self.lead_again(now, &mut io.out);
            }
        }
    }

    /// Plays the ticks whose time has come.
    fn run(&mut self, now: Duration, out: &mut Outbox<S>) {
        if now > self.next_tick_at + CATCH_UP_MAX {
            self.next_tick_at = now;
        }
        for _ in 0..TICKS_PER_CALL_MAX {
            if now < self.next_tick_at {
                return;
            }
            self.next_tick_at += self.config.period();
            if !self.pace.leaves_out() {
                let stalls = !self.play(out);
                self.timeline.figures.stalls += u64::from(stalls);
                self.stalled_since = stalls.then_some(self.stalled_since.unwrap_or(now));
                self.look_who_holds_up(stalls && now >= self.went_on_at, out);
            }
        }
    }

    /// A tick was due: whose inputs all wait for, if the prediction is at its end, holds them up.
    /// If hardly a packet of anyone comes through, nobody does.
    fn look_who_holds_up(&mut self, stalls: bool, out: &mut Outbox<S>) {
        let blames = stalls && !self.remotes.iter().all(Remote::is_hardly_heard);
        let behind = self.remotes.iter().map(|remote| remote.received).min().filter(|_| blames);
        for remote in &mut self.remotes {
            if remote.waited_for(Some(remote.received) == behind, self.config.period()) {
                out.events.push_back(Event::HoldsUp { player: remote.player });
            }
        }
    }

    /// Plays the next tick, unless the prediction is at its end. Returns whether it did.
    fn play(&mut self, out: &mut Outbox<S>) -> bool {
        let (base, frame) = (self.timeline.base(), self.predictor.frame());
        self.remotes.iter_mut().for_each(|remote| remote.feed(base, &mut self.predictor));
        let settings = self.config.settings();
        let (ticks_per_s, tick) = (settings.ticks_per_s, base.plus(frame + settings.input_delay_ticks));
        let own = self.own.input(tick);
        if let Some(command) = own {
            self.timeline.give(tick, self.player, command);
        }
        let plays = self.predictor.advance(own.is_some(), &mut self.timeline);
        self.confirmed = base.plus(self.predictor.confirmed());
        if plays {
            let ahead = self.remotes.iter_mut().map(|remote| remote.measure(base.plus(frame), ticks_per_s));
            self.pace.played(ahead.max().unwrap_or(0));
        }
        self.compare(base, out);
        plays
    }

    /// Keeps our newest checksum, and compares those that are new with the others'.
    fn compare(&mut self, base: Tick, out: &mut Outbox<S>) {
        let mut new = None;
        if let Some((frame, checksum)) = self.predictor.newest_checksum()
            && let tick = base.plus(frame)
            && self.checksums.insert(tick, checksum).is_none()
        {
            self.travelling.push_back((tick, checksum, CHECKSUM_SENDS));
            self.differences.census.tell(self.player, tick, checksum);
            new = Some((tick, checksum));
        }
        if self.checksums.len() > CHECKSUMS_KEPT_MAX {
            self.checksums.pop_first();
        }
        for remote in &mut self.remotes {
            let differences = remote.compare(new, &self.checksums, &mut self.differences.census, out);
            self.differences.found.extend(differences.into_iter().map(|notice| (remote.player, notice)));
        }
    }

    /// Tells the turns that all players know: nothing can undo them.
    fn settle(&mut self, out: &mut Outbox<S>) {
        let known = self.remotes.iter().map(|remote| remote.confirmed);
        let settled = known.fold(self.confirmed, Tick::min);
        self.settle_until(settled, out);
        let needed = self.remotes.iter().map(|remote| remote.acknowledged).fold(settled, Tick::min);
        self.own.forget(needed);
        if self.confirmed > self.timeline.base() {
            // A turn of this epoch holds inputs of all.
            self.all_have_gone_on();
        }
    }

    /// Tells the turns before a tick.
    pub(super) fn settle_until(&mut self, until: Tick, out: &mut Outbox<S>) {
        let Play { timeline, stories, .. } = self;
        timeline.settle(until, |tick, turn| stories.settled(tick, turn), |event| out.events.push_back(event));
    }

    /// Signs what this player gave.
    fn sign(&mut self, out: &mut Outbox<S>) {
        if let Some(attestation) = self.stories.sign() {
            for remote in &self.remotes {
                out.reliably(self.epoch, remote.peer, &Message::Attested(attestation.clone()));
            }
        }
    }

    /// Finds out whether the others give all the same.
    fn find_who_tells_stories(&mut self, io: &mut Io<S>) {
        let mut found = self.stories.find();
        found.retain(|(player, _)| !self.has_lost(*player));
        for (player, offence) in found {
            let is_proven = matches!(offence, Offence::Equivocates(_));
            if let Offence::Equivocates(both) = offence {
                let signed = both.into_iter().filter_map(|attestation| self.stories.signed(player, attestation));
                io.out.events.extend(signed.map(Event::Signed));
            }
            io.out.events.push_back(Event::Distrusted { player, is_proven });
            self.lose(player, LeaveReason::Distrusted, io);
        }
    }

    /// Another says what it signed, which the rest are told.
    fn attested(&mut self, by: PlayerId, attestation: Attestation, out: &mut Outbox<S>) {
        if self.stories.told(by, attestation.clone()) {
            // Whether it arrives does not matter much: what is signed next is passed on, too.
            for remote in self.remotes.iter().filter(|remote| remote.player != by) {
                out.send(self.epoch, remote.peer, Channel::Unreliable, &Message::PassedOn(by, attestation.clone()));
            }
        }
    }

    /// Sends each of the others what it does not have.
    fn send(&mut self, now: Duration, out: &mut Outbox<S>) {
        // A player that catches up may have more at once than a packet holds: the
        // newest are worth most.
        let at_base = self.reconciliation.told.map(|checksum| (self.timeline.base(), checksum));
        let room = CHECKSUMS_PER_PACKET_MAX - usize::from(at_base.is_some());
        self.travelling.drain(..self.travelling.len().saturating_sub(room));
        let newest = self.travelling.iter().map(|(tick, checksum, _)| (*tick, *checksum));
        let checksums: Vec<_> = at_base.into_iter().chain(newest).collect();
        let checksums = Checksums::try_from(checksums).expect("no more are left");
        for remote in &mut self.remotes {
            let packet = remote.packet(now);
            let inputs = Inputs {
                confirmed: self.confirmed,
                inputs: self.own.from(packet.from),
                checksums: checksums.clone(),
                ..packet
            };
            let message = Message::Inputs(inputs.sealed(self.epoch));
            out.send(self.epoch, remote.peer, Channel::Unreliable, &message);
        }
        self.travelling.iter_mut().for_each(|(_, _, sends)| *sends -= 1);
        self.travelling.retain(|(_, _, sends)| *sends > 0);
    }

    /// A newcomer is told, once, that the session has begun, or that it would not fit anyway.
    fn hello(&mut self, from: PeerId, hello: &Hello, io: &mut Io<S>) {
        // Said again before it had the answer: it may not know yet that all has begun.
        if self.remote_of(from).is_some_and(|remote| remote.heard_at > io.now) {
            return;
        }
        let differences = self.terms.differences(hello.protocol, &hello.terms);
        let refusal = if differences.is_empty() {
            Refusal::Begun
        } else {
            Refusal::Different(differences.try_into().expect("one of each kind"))
        };
        self.turn_away(from, hello.name.as_str(), refusal, &mut io.out);
    }

    fn turn_away(&mut self, from: PeerId, name: &str, refusal: Refusal, out: &mut Outbox<S>) {
        match self.remote_of(from) {
            Some(_) => out.dropped(DropReason::Unexpected),
            None => self.refused.refuse(from, name, refusal, out),
        }
    }

    pub(super) fn remote(&self, player: PlayerId) -> Option<&Remote> {
        self.remotes.iter().find(|remote| remote.player == player)
    }

    fn remote_of(&self, peer: PeerId) -> Option<&Remote> {
        self.remotes.iter().find(|remote| remote.peer == peer)
    }

    /// One line for each player, by player.
    fn players(&self, out: &Outbox<S>) -> Vec<PlayerStats> {
        let line = |player, name: &Name, exchange| PlayerStats {
            player,
            name: name.as_str().to_owned(),
            own: player == self.player,
            sequencer: false,
            exchange,
            key: None,
        };
        let others = self.remotes.iter().map(|remote| line(remote.player, &remote.name, Some(remote.exchange(out))));
        let mut players: Vec<_> = others.chain([line(self.player, &self.name, None)]).collect();
        players.sort_by_key(|stats| stats.player);
        players
    }
}

impl<S: Simulation> Role<S> for Play<S> {
    fn next(self: Box<Self>, _: &mut Io<S>) -> Box<dyn Role<S>> {
        self
    }

    fn disconnected(&mut self, peer: PeerId, io: &mut Io<S>) {
        self.refused.forget(peer);
        if let Some(player) = self.remote_of(peer).map(|remote| remote.player) {
            self.lose(player, LeaveReason::Lost, io);
        }
    }

    /// One of two goes on alone: nobody can enter anyway. One of more goes: the others play on.
    fn closed(&mut self, reason: EndReason, io: &mut Io<S>) {
        io.evidence.close(&mut io.out);
        if self.electorates.iter().count() > 2 {
            return io.out.end(reason);
        }
        let players: Vec<_> = self.remotes.iter().map(|remote| remote.player).collect();
        for player in players {
            self.lose(player, LeaveReason::Lost, io);
        }
    }

    /// A newcomer would not fit anyway.
    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        self.turn_away(from, "", refusal, &mut io.out);
    }

    fn epoch(&self) -> Option<Epoch> {
        Some(self.epoch)
    }

    fn counts_in_any_epoch(&self, from: PeerId, message: &Message) -> bool {
        match message {
            Message::Inquiry(_) | Message::Parcel(_) => false,
            // Chat is no part of the game, nobody takes a goodbye back in a later epoch, what was
            // signed counts for good, and who leads says so in the epoch that it begins.
            Message::Say(_) | Message::Bye(_) | Message::Removed(_) | Message::Lead(_) => true,
            Message::Attested(_) | Message::PassedOn(..) | Message::TwoVotes(_) => true,
            // What a stranger says is dropped as that.
            _ => self.remote_of(from).is_none(),
        }
    }

    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<S>) {
        if let Message::Hello(hello) = message {
            return self.hello(from, &hello, io);
        }
        let Some(remote) = self.remotes.iter_mut().find(|remote| remote.peer == from) else {
            return io.out.dropped(DropReason::UnknownPeer);
        };
        remote.heard_at = io.now;
        let player = remote.player;
        let is_lost = self.regrouping.as_ref().is_some_and(|regrouping| regrouping.has_lost(player));
        match message {
            Message::Regroup(regroup) => self.take_stand(player, regroup, io),
            Message::Bye(reason) => self.resigned(player, reason, io),
            // A player that is lost for us has no say but its vote.
            _ if is_lost => {}
            Message::Inquiry(_) => self.inquired(io),
            Message::Lead(lead) => self.led(player, epoch, lead, io),
            Message::TwoVotes(two) => self.hear_two_votes(player, &two, io),
            Message::Say(_) if !remote.chat.admits(1, CHAT_LINES_PER_S_MAX, io.now) => {
                io.out.dropped(DropReason::ChatFlood);
            }
            Message::Say(line) => io.out.said(&Said { player, name: remote.name.clone(), line }),
            Message::Removed(reason) => self.removed(player, reason, io),
            Message::Inputs(inputs) if self.regrouping.is_none() => {
                let (own_end, settings) = (self.own.end(), self.config.settings());
                let taken = remote.take(&inputs, own_end, settings, &mut self.timeline, io.now, &mut io.out);
                taken.unwrap_or_else(|reason| io.out.dropped(reason));
            }
            // It has not heard yet that someone is gone.
            Message::Inputs(_) => {}
            Message::Fetch(tick) => self.lend(player, tick, io),
            Message::ChunkAck(received) => self.lent(player, received, &mut io.out),
            Message::Repair(Some(repair)) => self.borrow(player, repair, io),
            Message::Chunk(chunk) => self.borrowed(player, &chunk, io),
            Message::Attested(attestation) => self.attested(player, attestation, &mut io.out),
            Message::PassedOn(of, attestation) => self.stories.passed_on(player, of, attestation),
            Message::Desync(notice) => self.differs(player, notice.turned(), false, io),
            Message::Odd(odd) => self.accused(player, odd, io),
            _ => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn handle_out_of_step(&mut self, from: PeerId, message: Message, io: &mut Io<S>) {
        let calls = self.remote_of(from).is_some_and(|remote| !self.has_lost(remote.player));
        if calls && matches!(message, Message::Inquiry(_)) {
            self.inquired(io);
        }
    }

    fn advance(&mut self, io: &mut Io<S>) {
        self.play_on(io);
    }

    fn reference(&mut self, tick: Tick, checksum: Option<Checksum>, _: &mut Io<S>) {
        self.differences.census.reference(tick, checksum);
    }

    fn wake_at(&self, now: Duration) -> Duration {
        if self.regrouping.is_some() { self.members.wake_at().min(now + REPEAT) } else { self.next_tick_at }
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if self.own.push(command) { Ok(()) } else { Err(CommandError::Full) }
    }

    fn speaks(&self) -> bool {
        true
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<S>) {
        for remote in &self.remotes {
            io.out.reliably(self.epoch, remote.peer, &Message::Say(line.clone()));
        }
        io.out.said(&Said { player: self.player, name: self.name.clone(), line });
    }

    fn leave(&mut self, io: &mut Io<S>) {
        self.say_goodbye(LeaveReason::Left, &mut io.out);
    }

    fn phase(&self) -> Phase {
        if self.regrouping.is_some() { Phase::Regrouping } else { Phase::Playing }
    }

    fn led_by(&self) -> Option<Vote> {
        self.members.leader().filter(|vote| vote.epoch == self.epoch)
    }

    fn stalled_since(&self, now: Duration) -> Option<Duration> {
        self.stalled_since.or(self.regrouping.as_ref().map(|_| now))
    }

    fn simulation(&self) -> Option<&S> {
        Some(&self.timeline.simulation)
    }

    fn confirmed(&self) -> Option<&S> {
        None
    }

    fn settled_world(&mut self) -> Option<&S> {
        Some(self.timeline.settled_world(&self.build))
    }

    fn settled(&self) -> Tick {
        self.timeline.first()
    }

    fn broken_turns(&self) -> Vec<(Tick, Turn<S>)> {
        self.timeline.broken_turns()
    }

    fn player(&self) -> Option<PlayerId> {
        Some(self.player)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<S>) {
        stats.known = self.confirmed;
        stats.players = self.players(out);
        stats.commands_pending = self.own.waiting();
        stats.input_delay_ticks = Some(self.config.settings().input_delay_ticks);
        stats.rollback = Some(self.timeline.figures);
    }
}
