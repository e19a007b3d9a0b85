//! The relay's role: closes ticks, simulates all, and makes each replica's frames.
//!
//! Its loop is [`Host::advance`](Role::advance): play what is due, send what is due. It never waits
//! for a replica. [`Host::play`] is one tick.

mod admission;
mod area;
mod budget;
mod cell_interest;
mod cell_map;
mod chat;
mod checks;
mod choice;
mod distant_interest;
mod frames;
mod guest;
mod loads;
mod nearby;
mod regions;
mod succession;

use core::time::Duration;
use std::sync::Arc;

use lockstone_sim::{Checksum, Extent, PlayerId, Rules, Simulation, Tick, World};

use super::areas::AreaRules;
use super::config::RelayConfig;
use super::horizon::Horizon;
use crate::limits::*;
use crate::link::PeerId;
use crate::sequencer::{Capacity, Waiting};
use crate::session::{
    Applicants, CommandError, DropReason, Entrant, Io, Leader, Ledger, Offer, Outbox, Phase, RelayStats, Role, Roll,
    Schedule, Slot, Stats, Stepper,
};
use crate::wire::*;
use cell_interest::CellInterest;
use checks::{CoreSums, Doubts};
use choice::Choice;
use distant_interest::DistantInterest;
use guest::Guest;
use succession::{KEEP_ALIVE, Succession};

/// What a relay is set up with.
pub struct Setup<R: Rules> {
    pub config: RelayConfig,
    /// So many rings of the halo that keeps a core exact are held back.
    pub halo_rings_less: u16,
    pub horizon: Option<Box<dyn Horizon<R>>>,
    /// Whether turns are told though the standby may lack them.
    pub hurries: bool,
}

pub struct Host<R: Rules> {
    config: RelayConfig,
    /// This peer.
    leader: Leader,
    stepper: Stepper<World<R>>,
    /// What the closed turns say beside the world. The stepper's is of those that were played.
    ledger: Ledger,
    succession: Succession,
    waiting: Waiting,
    /// Whether it has a hero of its own.
    hosts_player: bool,
    schedule: Schedule,
    guests: Roll<Guest>,
    /// Those who are asked for the proof of their key.
    applicants: Applicants<World<R>>,
    entrant: Arc<Entrant<World<R>>>,
    cell_interest: CellInterest<R>,
    choice: Choice,
    /// What players see from afar, if the game says so.
    distant_interest: Option<DistantInterest<R>>,
    /// The guests that are visited before the next tick.
    answering: Vec<Slot>,
    /// The world's outline, as several joiners may get it.
    outline: Option<Offer>,
    /// How often evidence was called for.
    inquiries: u32,
    doubts: Doubts,
    stats: RelayStats,
}

impl<R: Rules> Host<R> {
    /// Founds a session: a new world, or the one that the relay goes on with. Its own hero, if it
    /// has one, is on its way into the next turn.
    pub(super) fn found(
        setup: Setup<R>,
        standby: Option<PublicKey>,
        entrant: &Arc<Entrant<World<R>>>,
        me: PeerId,
        io: &mut Io<World<R>>,
    ) -> Self {
        let (settings, mut waiting) = (setup.config.settings(), Waiting::default());
        let founded = entrant.found((settings.seed, settings.players_max), me, &mut waiting, &mut io.out);
        let stepper = Stepper::found(founded, setup.config.following(), &mut io.out);
        let leader = Leader { peer: me, epoch: Epoch::default() };
        let succession = Succession::new(standby, entrant.past.is_some(), None, io.now).hurrying(setup.hurries);
        Host::leading(setup, entrant, leader, (stepper, waiting), succession, io.now)
    }

    /// Leads on in the place of a relay that is lost, in a later epoch. All who are here are away
    /// until they come back.
    pub(super) fn take_over(
        setup: Setup<R>,
        entrant: &Arc<Entrant<World<R>>>,
        (me, before): (Leader, PeerId),
        mut stepper: Stepper<World<R>>,
        io: &mut Io<World<R>>,
    ) -> Self {
        let mut waiting = Waiting::default();
        let mut ledger = stepper.ledger.take().expect("it plays the whole world");
        // Nobody who was in has to leave, whatever this peer was set up with.
        let players_max = setup.config.settings().players_max.max(ledger.members.len());
        // All are connected already, so they are known without a key too.
        let took = (&stepper.simulation, &mut *ledger);
        stepper.player = entrant.take_up(took, (players_max, me.peer), |_| true, &mut waiting, &mut io.out);
        stepper.ledger = Some(ledger);
        let succession = Succession::new(None, false, Some(before), io.now);
        let host = Host::leading(setup, entrant, me, (stepper, waiting), succession, io.now);
        let others: Vec<_> = io.ingress.peers().filter(|peer| *peer != before).collect();
        others.into_iter().for_each(|peer| host.tell_lead(peer, io));
        host
    }

    fn leading(
        Setup { config, halo_rings_less, horizon, .. }: Setup<R>,
        entrant: &Arc<Entrant<World<R>>>,
        leader: Leader,
        (stepper, waiting): (Stepper<World<R>>, Waiting),
        succession: Succession,
        now: Duration,
    ) -> Self {
        let settings = config.settings();
        let ledger = (**stepper.ledger.as_ref().expect("it plays the whole world")).clone();
        let mut guests = Roll::new(entrant.terms, settings.players_max);
        guests.follow(&ledger, stepper.player);
        let grid = stepper.simulation.grid();
        let mut cell_interest = CellInterest::new(grid);
        cell_interest.update_heroes(&stepper.simulation);
        Host {
            choice: Choice::new(AreaRules::new(grid, settings, halo_rings_less)),
            cell_interest,
            leader,
            ledger,
            succession,
            waiting,
            hosts_player: entrant.newcomer.is_some(),
            schedule: Schedule::going_on(stepper.tick(), now, config.period()),
            guests,
            applicants: Applicants::new(),
            entrant: entrant.clone(),
            distant_interest: horizon.map(|horizon| DistantInterest::new(horizon, settings.ticks_per_s)),
            answering: Vec::new(),
            outline: None,
            inquiries: 0,
            doubts: Doubts::default(),
            stats: RelayStats::default(),
            stepper,
            config,
        }
    }

    /// Closes the ticks whose time has come, and plays those that may be.
    fn run(&mut self, now: Duration, out: &mut Outbox<World<R>>) {
        self.schedule.forgive(self.open(), now);
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            let open = self.open();
            let is_due = now >= self.schedule.time_of(open);
            if is_due && self.may_close() {
                let inputs = self.close();
                self.closed(inputs, now, out);
            } else if is_due {
                // Time in which nothing may be closed is not made up for.
                let period = self.config.period();
                self.schedule = Schedule::going_on(open, now + period, period);
            }
            match self.release(now) {
                Some(inputs) => self.play(&inputs, now, out),
                None if !is_due || !self.may_close() => return,
                None => {}
            }
        }
    }

    /// One tick: step, tell each replica what it needs.
    fn play(&mut self, inputs: &[RawInput], now: Duration, out: &mut Outbox<World<R>>) {
        let scopes = self.scopes(inputs);
        let bytes = |input: &RawInput| if let RawInput::Command(_, bytes) = input { bytes.len() + 4 } else { 0 };
        self.choice.costs.command.note(inputs.iter().map(bytes).sum(), self.stepper.roster.len());
        self.stepper.play(inputs, Vec::new(), out);
        // The stepper counts those that are dropped.
        self.ledger.requests.asked(&self.stepper.simulation);
        self.cell_interest.update_heroes(&self.stepper.simulation);
        self.note_nearby();
        self.note_names(inputs);
        self.draft_inputs(inputs, &scopes);
        self.draft_changes();
        let mut sums = CoreSums::default();
        for slot in self.guests.slots() {
            self.draft_repairs(slot);
            self.update_area(slot, now);
            self.close_frame(slot, inputs, &scopes);
            self.note_checksum(slot, &mut sums);
        }
        if let Some(distant_interest) = &mut self.distant_interest {
            distant_interest.observe(&self.stepper.simulation);
        }
    }

    /// The inputs of the turn that comes next.
    fn close(&mut self) -> Vec<RawInput> {
        let (tick, away_ticks) = (self.open(), self.stepper.simulation.away_ticks());
        let overdue = self.ledger.overdue(tick, away_ticks, |player| self.is_absent(player));
        overdue.iter().for_each(|player| self.guests.free(*player));
        let overdue = overdue.into_iter().map(|player| RawInput::Leave(player, LeaveReason::Away));
        let requests = self.ledger.requests.next();
        let witnesses = self.name_witnesses();
        witnesses.into_iter().chain(overdue).chain(self.waiting.take(Capacity::RELAY, requests)).collect()
    }

    /// Sends a replica what is due to it.
    fn flush(&mut self, slot: Slot, now: Duration, out: &mut Outbox<World<R>>) {
        let (interval, tick) = (self.config.settings().packet_interval_ticks, self.stepper.tick());
        let stands_still = self.succession.stands_still(now);
        let Some(guest) = self.guests.get_mut(slot) else { return };
        guest.budget.advance(guest.feed.rtt(), now);
        let rests = !stands_still || guest.feed.sent_at().is_some_and(|sent| now < sent + KEEP_ALIVE);
        if guest.feed.due(tick, interval) || !rests {
            let unplayed = self.succession.commands_unplayed(guest.player);
            let taken = self.waiting.commands_taken(guest.player).saturating_sub(unplayed);
            guest.send_frames(self.leader.epoch, (tick, now), taken, &mut self.stats, out);
        }
        guest.send_pieces(self.leader.epoch, &mut self.stats.loads, out);
        if let Some(distant_interest) = &mut self.distant_interest {
            distant_interest.tell(guest, &self.stepper.simulation, self.leader.epoch, &mut self.stats.distant, out);
        }
        // Each at its own ticks: so what a fight brings goes together.
        let nearby_ticks = (self.config.settings().ticks_per_s / DISTANT_PER_S).max(1);
        if (tick.0.wrapping_add(slot)).is_multiple_of(nearby_ticks) {
            guest.send_nearby(self.leader.epoch, &self.stepper.roster, &mut self.stats.chat, out);
        }
        guest.send_chat(self.leader.epoch, &mut self.stats.chat, out);
    }

    /// Puts a replica out that fell silent, fell behind, does not get on with loading, or does not
    /// say where its core differs.
    fn remove_if_overdue(&mut self, slot: Slot, now: Duration, out: &mut Outbox<World<R>>) {
        let settings = self.config.settings();
        let Some(guest) = self.guests.get(slot) else { return };
        let behind = guest.frames.open().since(guest.feed.known()) > TICKS_BEHIND_MAX;
        let crowded = guest.frames.bytes() > FRAME_HISTORY_BYTES_MAX;
        let stuck = guest.loading_since().is_some_and(|progressed| now >= progressed + settings.load_timeout);
        let reason = match () {
            () if now >= guest.heard_at + settings.silence_timeout => LeaveReason::Silent,
            () if guest.checks.is_unanswered(now) => LeaveReason::Desync,
            () if behind || crowded || stuck => LeaveReason::TooSlow,
            () => return,
        };
        let peer = guest.peer;
        out.reliably(self.leader.epoch, peer, &Message::Removed(reason));
        self.remove(peer, reason);
    }

    fn report(&mut self, from: PeerId, report: Report, io: &mut Io<World<R>>) {
        let per_s = self.config.settings().commands_per_s_max;
        let Some(guest) = self.guests.of_mut(from) else { return };
        let out = &mut io.out;
        if let Err(reason) = guest.feed.take(&report, guest.frames.open(), io.now) {
            return out.dropped(reason);
        }
        guest.frames.forget(guest.feed.known());
        if report.distant.is_some_and(|tick| !guest.distant.acknowledge(tick)) {
            out.dropped(DropReason::ForgedAck);
        }
        let allowed = guest.admit_commands(&report, self.waiting.commands_came(guest.player), per_s, io.now);
        self.waiting.report(guest.player, &report, allowed, out);
        self.compare(from, &report.checksums, io);
    }

    fn remove(&mut self, peer: PeerId, reason: LeaveReason) {
        let Some(slot) = self.guests.slot(peer) else { return };
        self.set_bounds(slot, Extent::NOTHING);
        self.note_nearby();
        let Some((player, key)) = self.guests.get(slot).map(|guest| (guest.player, guest.key)) else { return };
        self.succession.lapse(player);
        let departure = self.ledger.departure(player, key, reason, self.stepper.simulation.away_ticks());
        if let RawInput::Away(..) = departure {
            self.guests.vacate(peer);
        } else {
            self.guests.remove(peer);
        }
        self.waiting.leave(player, departure);
    }

    /// What it is to serve the replicas.
    fn relay_stats(&self) -> RelayStats {
        let mut stats = self.stats;
        for (_, guest) in self.guests.iter() {
            let bounds = guest.area.bounds();
            let (core, halo) = (bounds.core.len() as u64, bounds.halo.len() as u64);
            stats.replicas += 1;
            stats.replicas_grown += u64::from(guest.grown);
            stats.core_cells += core;
            stats.halo_cells += halo - core;
        }
        stats
    }
}

impl<R: Rules> Role<World<R>> for Host<R> {
    fn next(self: Box<Self>, _: &mut Io<World<R>>) -> Box<dyn Role<World<R>>> {
        self
    }

    fn connected(&mut self, peer: PeerId, io: &mut Io<World<R>>) {
        self.meets(peer, io);
    }

    fn disconnected(&mut self, peer: PeerId, io: &mut Io<World<R>>) {
        self.lose_standby(peer, &mut io.out);
        self.remove(peer, LeaveReason::Lost);
        self.guests.forget(peer);
        self.applicants.forget(peer);
    }

    fn foreign(&mut self, from: PeerId, refusal: Refusal, io: &mut Io<World<R>>) {
        self.guests.refuse(from, "", refusal, &mut io.out);
    }

    fn epoch(&self) -> Option<Epoch> {
        Some(self.leader.epoch)
    }

    fn counts_in_any_epoch(&self, from: PeerId, _: &Message) -> bool {
        // Those who follow it need not know yet that another epoch has begun.
        self.guests.slot(from).is_some()
    }

    fn handle(&mut self, from: PeerId, epoch: Epoch, message: Message, io: &mut Io<World<R>>) {
        let Some(message) = self.of_standby(from, epoch, message, io) else { return };
        if let Message::Hello(hello) = message {
            return self.hello(from, hello, io);
        }
        if let Message::Proof(proof) = message {
            return self.proof(from, &proof, io);
        }
        let Some(slot) = self.guests.slot(from) else { return io.out.dropped(DropReason::UnknownPeer) };
        self.answering.push(slot);
        self.guests.get_mut(slot).into_iter().for_each(|guest| guest.heard_at = io.now);
        match message {
            Message::ChunkAck(received) => self.chunk_ack(from, received, io.now, &mut io.out),
            Message::Ready => self.admit(from, &mut io.out),
            Message::Report(report) => self.report(from, report, io),
            Message::CoreTree(tree) => self.core_tree(from, tree, io),
            Message::Bye(reason) => self.remove(from, reason),
            Message::Say(line) => self.hear(from, line, io.now, &mut io.out),
            Message::Heir(heir) => self.heir_known(from, heir, &mut io.out),
            Message::Stand(stand) => self.strays(from, stand, io),
            _ => io.out.dropped(DropReason::Unexpected),
        }
    }

    fn advance(&mut self, io: &mut Io<World<R>>) {
        let tick = self.stepper.tick();
        self.run(io.now, &mut io.out);
        self.tend_standby(io);
        if self.stepper.tick() != tick || self.succession.stands_still(io.now) {
            self.answering = self.guests.slots().collect();
        }
        // Between two ticks only those who said something can have become due.
        for slot in core::mem::take(&mut self.answering) {
            self.remove_if_overdue(slot, io.now, &mut io.out);
            self.flush(slot, io.now, &mut io.out);
        }
    }

    fn wake_at(&self, _: Duration) -> Duration {
        self.schedule.time_of(self.open())
    }

    fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if !self.stepper.plays() {
            return Err(CommandError::NotPlaying);
        }
        self.waiting.own_command(self.stepper.player, command)
    }

    fn speaks(&self) -> bool {
        self.stepper.plays()
    }

    fn say(&mut self, line: ChatLine, io: &mut Io<World<R>>) {
        self.said(self.stepper.player, line, &mut io.out);
    }

    fn reference(&mut self, tick: Tick, checksum: Option<Checksum>, io: &mut Io<World<R>>) {
        self.replayed(tick, checksum, io);
    }

    /// Ends the session for everyone.
    fn leave(&mut self, io: &mut Io<World<R>>) {
        let standby = self.succession.standby();
        for peer in self.guests.peers().map(|(peer, _)| peer).chain(standby) {
            io.out.reliably(self.leader.epoch, peer, &Message::Ending);
        }
    }

    fn phase(&self) -> Phase {
        Phase::Playing
    }

    fn led_by(&self) -> Option<Vote> {
        Some(Vote { epoch: self.leader.epoch, leader: self.stepper.player })
    }

    fn simulation(&self) -> Option<&World<R>> {
        Some(&self.stepper.simulation)
    }

    fn player(&self) -> Option<PlayerId> {
        Some(self.stepper.player)
    }

    fn figures(&self, stats: &mut Stats, out: &Outbox<World<R>>) {
        let exchange = |player| {
            let guest = self.guests.get(self.guests.slot_of(player)?)?;
            Some(guest.comparison.exchange(guest.peer, guest.feed.stamps(), out))
        };
        stats.known = self.stepper.tick();
        stats.players = self.stepper.players(self.stepper.player, exchange);
        stats.relay = Some(self.relay_stats());
    }
}
