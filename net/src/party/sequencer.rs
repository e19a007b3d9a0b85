//! The role of a party's peer that closes ticks: lets joiners in, feeds replicas, watches over
//! them, and plays along.
//!
//! Its loop is [`Sequencing::advance`](Role::advance): close what is due, play what is due, send
//! what is due. It never waits for a peer.

mod admission;

use core::time::Duration;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::config::PartyConfig;
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::{Feed, History, Sequencer, Waiting};
use crate::session::{
    CommandError, Comparison, DropReason, Entrant, Event, Io, Leader, Offer, Outbox, Phase, Rate, Role, Roll, Schedule,
    Stats, Stepper,
};
use crate::transfer::SnapshotSender;
use crate::wire::*;

/// Between two packets to a replica before tick 0.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Joiners within so many seconds get the same snapshot.
const SNAPSHOT_SHARED_S: u32 = 1;

pub struct Sequencing<S: Simulation> {
    config: PartyConfig,
    /// This peer.
    leader: Leader,
    stepper: Stepper<S>,
    sequencer: Sequencer,
    /// Once tick 0 is known.
    schedule: Option<Schedule>,
    guests: Roll<Guest<S>>,
    /// The snapshot that several joiners get.
    offer: Option<Offer>,
}

/// A peer of the session.
struct Guest<S: Simulation> {
    player: PlayerId,
    name: Name,
    feed: Feed,
    comparison: Comparison,
    heard_at: Duration,
    /// How much it said lately.
    chat: Rate,
    entry: Entry<S>,
}

/// How far a guest has come.
enum Entry<S: Simulation> {
    /// It is on its way in.
    Loading { hero: S::Hero, sender: SnapshotSender, progressed: Duration },
    /// Its hero is in the world, or on its way into a turn.
    Playing,
}

impl<S: Simulation> Guest<S> {
    fn plays(&self) -> bool {
        matches!(self.entry, Entry::Playing)
    }
}

impl<S: Simulation> Sequencing<S> {
    /// Founds a session: the world at tick 0, and this peer's own hero on its way into the first
    /// turn.
    pub(super) fn found(config: PartyConfig, entrant: &Entrant<S>, leader: Leader, io: &mut Io<S>) -> Self {
        let mut waiting = Waiting::default();
        let stepper = Stepper::found(entrant, config.settings().seed, config.following(), &mut waiting, &mut io.out);
        let sequencer = Sequencer { waiting, history: History::starting_at(stepper.tick()) };
        let guests = Roll::new(entrant, config.settings().players_max);
        Sequencing { config, leader, stepper, sequencer, schedule: None, guests, offer: None }
    }

    /// Players whose hero is in the world or on its way into a turn.
    fn ready(&self) -> usize {
        1 + self.guests.iter().filter(|(_, guest)| guest.plays()).count()
    }

    /// Plays the ticks whose time has come, and closes those an input delay ahead of them.
    fn run(&mut self, io: &mut Io<S>) {
        if let Some(schedule) = &mut self.schedule {
            schedule.forgive(self.stepper.tick(), io.now);
        }
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let tick = self.stepper.tick();
            if self.schedule.as_ref().is_none_or(|schedule| io.now < schedule.time_of(tick)) {
                return;
            }
            while self.sequencer.history.open() <= tick.plus(self.config.settings().input_delay_ticks) {
                self.sequencer.close();
            }
            self.play(tick, io);
        }
    }

    fn play(&mut self, tick: Tick, io: &mut Io<S>) {
        let checksum = self.stepper.play(self.sequencer.turn(tick), Vec::new(), &mut io.out);
        self.sequencer.waiting.requests(&self.stepper.simulation, &mut io.out);
        let Some((tick, checksum)) = checksum else { return };
        let mut differing = Vec::new();
        for (peer, guest) in self.guests.peers_mut() {
            guest.feed.checksum(tick, checksum);
            differing.extend(guest.comparison.ours(tick, checksum, &mut io.out).map(|notice| (peer, notice)));
        }
        for (peer, notice) in differing {
            self.differs(peer, notice, true, io);
        }
    }

    /// Sends each replica what is due to it.
    fn flush(&mut self, now: Duration, out: &mut Outbox<S>) {
        let (epoch, interval) = (self.leader.epoch, self.config.settings().packet_interval_ticks);
        let tick = self.stepper.tick();
        for (peer, guest) in self.guests.peers_mut() {
            if let Entry::Loading { sender, .. } = &mut guest.entry {
                while let Some(chunk) = sender.next_chunk() {
                    out.reliably(epoch, peer, &Message::Chunk(chunk));
                }
            }
            let overdue = guest.feed.sent_at().is_none_or(|sent| now >= sent + KEEP_ALIVE);
            if overdue || guest.feed.due(tick, interval) {
                let taken = self.sequencer.waiting.commands_taken(guest.player);
                for (channel, turns) in guest.feed.packets(&self.sequencer.history, tick, now, taken) {
                    out.send_turns(epoch, peer, channel, TurnsKind::Turns, &turns);
                }
            }
        }
    }

    /// Removes each guest that fell silent, fell behind, or does not get on with loading.
    fn watch_over(&mut self, now: Duration, out: &mut Outbox<S>) {
        let (settings, history) = (self.config.settings(), &self.sequencer.history);
        let crowded = history.bytes() > HISTORY_BYTES_MAX;
        let stuck = |guest: &Guest<S>| match guest.entry {
            Entry::Loading { progressed, .. } => now >= progressed + settings.load_timeout,
            Entry::Playing => false,
        };
        let reason = |guest: &Guest<S>| {
            if now >= guest.heard_at + settings.silence_timeout {
                return Some(LeaveReason::Silent);
            }
            let behind = history.open().since(guest.feed.known());
            let hinders = crowded && guest.feed.known() == history.oldest();
            (behind > TICKS_BEHIND_MAX || hinders || stuck(guest)).then_some(LeaveReason::TooSlow)
        };
        let gone: Vec<_> = self.guests.peers().filter_map(|(peer, guest)| Some((peer, reason(guest)?))).collect();
        for (peer, reason) in gone {
            out.reliably(self.leader.epoch, peer, &Message::Removed(reason));
            self.remove(peer, reason);
        }
    }

    /// Forgets turns that everyone has.
    fn forget(&mut self) {
        let tick = self.stepper.tick();
        let shared_ticks = SNAPSHOT_SHARED_S * self.config.settings().ticks_per_s;
        self.offer.take_if(|offer| tick.since(offer.tick()) > shared_ticks);
        let needed = self.guests.iter().map(|(_, guest)| guest.feed.known());
        let oldest = needed.chain(self.offer.iter().map(Offer::tick)).fold(tick, Tick::min);
        self.sequencer.history.forget(oldest);
    }

    fn report(&mut self, from: PeerId, report: Report, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(from) else { return };
        let out = &mut io.out;
        if let Err(reason) = guest.feed.take(&report, self.sequencer.history.open(), io.now) {
            return out.dropped(reason);
        }
        self.sequencer.waiting.report(guest.player, &report, report.commands.len(), out);
        let (ours, theirs) = (&self.stepper.checksums, report.checksums.iter());
        let compare = |(tick, theirs): &(Tick, Checksum)| guest.comparison.theirs(*tick, *theirs, ours, out);
        let differing: Vec<_> = theirs.filter_map(compare).collect();
        for notice in differing {
            self.differs(from, notice, true, io);
        }
    }

    /// A replica's world has become another: told once, to both sides. `found_here`: by a
    /// comparison of our own.
    fn differs(&mut self, peer: PeerId, notice: DesyncNotice, found_here: bool, io: &mut Io<S>) {
        let Some(guest) = self.guests.of_mut(peer) else { return };
        let out = &mut io.out;
        if !guest.comparison.differs(found_here, out) {
            return;
        }
        let player = guest.player;
        let DesyncNotice { tick, agreed, ours, theirs } = notice;
        self.stepper.emit_keyframe(out);
        out.events.push_back(Event::Desync { player, tick, agreed, ours, theirs });
        if found_here {
            out.reliably(self.leader.epoch, peer, &Message::Desync(notice));
        }
        self.inquire(peer, io);
        if self.config.settings().stop_on_desync {
            io.out.reliably(self.leader.epoch, peer, &Message::Removed(LeaveReason::Desync));
            self.remove(peer, LeaveReason::Desync);
        }
    }

    /// Calls for the evidence of whose world is another, and of everyone whose hero is in the
    /// world.
    fn inquire(&mut self, odd: PeerId, io: &mut Io<S>) {
        let guests = self.guests.peers().filter(|(peer, guest)| *peer == odd || guest.plays());
        let others: Vec<_> = guests.map(|(peer, guest)| (guest.player, peer)).collect();
        let mut all: Vec<_> = others.iter().copied().chain([(self.stepper.player, self.leader.peer)]).collect();
        all.sort();
        let players = all.len();
        let inquiry = Inquiry { witnesses: List::try_from(all).expect("no more are let in") };
        io.inquire(INQUIRY_INTERVAL, others, players, inquiry);
    }

    /// Tells all what a player says.
    fn said(&mut self, player: PlayerId, name: Name, line: ChatLine, out: &mut Outbox<S>) {
        let said = Said { player, name, line };
        for (peer, _) in self.guests.peers().filter(|(_, guest)| guest.plays()) {
            out.reliably(self.leader.epoch, peer, &Message::Said(said.clone()));
        }
        out.said(&said);
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        if let Some(guest) = self.guests.remove(peer) {
            self.sequencer.waiting.leave(guest.player, reason);
        }
    }
}

impl<S: Simulation> Role<S> for Sequencing<S> {
    fn disconnected(&mut self, peer: PeerId, _: &mut Io<S>) {
        self.remove(peer, LeaveReason::Lost);
        self.guests.forget(peer);
    }

    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<S>) {
        self.guests.refuse(from, "", refusal, &mut io.out);
    }

    fn epoch(&self) -> Option<Epoch> {
        Some(self.leader.epoch)
    }

    fn handle(&mut self, from: PeerId, _: Epoch, message: Message, io: &mut Io<S>) {
        if let Message::Hello(hello) = message {
            return self.hello(from, hello, io);
        }
        let Some(guest) = self.guests.of_mut(from) else { return io.out.dropped(DropReason::UnknownPeer) };
        guest.heard_at = io.now;
        match (message, &mut guest.entry) {
            (Message::ChunkAck(received), Entry::Loading { sender, progressed, .. }) => {
                match sender.acknowledge(received) {
                    Ok(()) => *progressed = io.now,
                    Err(_) => io.out.dropped(DropReason::ForgedAck),
                }
            }
            (Message::Ready, Entry::Loading { .. }) => self.admit(from, &mut io.out),
            (Message::Report(report), _) => self.report(from, report, io),
            (Message::Desync(notice), _) => self.differs(from, notice.turned(), false, io),
            (Message::Bye(reason), _) => self.remove(from, reason),
            (Message::Say(line), Entry::Playing) if guest.chat.admits(1, CHAT_LINES_PER_S_MAX, io.now) => {
                let (player, name) = (guest.player, guest.name.clone());
                self.said(player, name, line, &mut io.out);
            }
            (Message::Say(_), Entry::Playing) => io.out.dropped(DropReason::ChatFlood),
            _ => io.out.dropped(DropReason::Unexpected),
        }
        self.flush(io.now, &mut io.out);
    }

    fn advance(&mut self, io: &mut Io<S>) {
        self.watch_over(io.now, &mut io.out);
        if self.schedule.is_none() && self.ready() >= self.config.settings().players_at_start {
            self.schedule = Some(Schedule::starting_at(io.now, self.config.period()));
        }
        self.run(io);
        self.flush(io.now, &mut io.out);
        self.forget();
    }

    fn wake_at(&self, now: Duration) -> Duration {
        let schedule = self.schedule.as_ref();
        schedule.map_or(now + KEEP_ALIVE / 4, |schedule| schedule.time_of(self.stepper.tick()))
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stepper.plays() {
            return Err(CommandError::NotPlaying);
        }
        self.sequencer.waiting.own_command(self.stepper.player, command)
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<S>) {
        let player = self.stepper.player;
        if let Some(name) = self.stepper.roster.get(&player).cloned() {
            self.said(player, name, line, &mut io.out);
        }
    }

    /// Ends the session for everyone.
    fn leave(&mut self, io: &mut Io<S>) {
        for (peer, _) in self.guests.peers() {
            io.out.reliably(self.leader.epoch, peer, &Message::Ending);
        }
    }

    fn phase(&self) -> Phase {
        match self.schedule {
            Some(_) => Phase::Playing,
            None => Phase::Waiting { players: self.ready(), needed: self.config.settings().players_at_start },
        }
    }

    fn simulation(&self) -> Option<&S> {
        Some(&self.stepper.simulation)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<S>) {
        let exchange = |player| {
            let (peer, guest) = self.guests.peers().find(|(_, guest)| guest.player == player)?;
            Some(guest.comparison.exchange(peer, guest.feed.rtt(), out))
        };
        stats.player = Some(self.stepper.player);
        stats.known = self.sequencer.history.open();
        stats.players = self.stepper.players(self.stepper.player, exchange);
    }
}
