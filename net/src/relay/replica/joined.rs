//! The session that a replica was let into: loads what it is told to, plays frames as they come, and reports.
//!
//! Its loop is [`Joined::advance`]: play what is due, report what is due.

use core::time::Duration;
use std::rc::Rc;

use lockstone_sim::world::Given;
use lockstone_sim::{CellRect, Extent, PlayerId, Rules, Simulation, Tick, World, codec};

use super::afar::Afar;
use super::pending::{Change, Pending};
use crate::intake::{Intake, Progress};
use crate::limits::*;
use crate::link::{Channel, PeerId};
use crate::playout::Playout;
use crate::relay::{DistantView, Horizon, RelayConfig};
use crate::session::{
    Beginning, Build, CommandError, Comparison, DropReason, EndReason, Event, Evidence, Exchange, Out, Phase, Stage,
    Witnesses,
};
use crate::transfer::{Receiver, TransferError};
use crate::wire::*;

pub(super) struct Joined<R: Rules> {
    config: RelayConfig,
    build: Rc<Build<World<R>>>,
    me: PeerId,
    relay: PeerId,
    epoch: Epoch,
    welcome: Welcome,
    heard: Duration,
    progressed: Duration,
    /// The outline of the world.
    receiver: Receiver,
    pending: Pending,
    intake: Intake<Frame>,
    playout: Playout,
    comparison: Comparison,
    /// What the player sees from afar, if the game says so.
    afar: Option<Afar<R>>,
    pub evidence: Evidence,
    /// The world, once its outline is here.
    stage: Option<Stage<World<R>>>,
    ready_sent: bool,
    /// The relay found the core to differ, and wants to know where.
    tree_wanted: bool,
}

impl<R: Rules> Joined<R> {
    pub fn new(
        config: RelayConfig,
        build: Rc<Build<World<R>>>,
        (me, relay): (PeerId, PeerId),
        epoch: Epoch,
        welcome: Welcome,
        now: Duration,
    ) -> Self {
        Joined {
            build,
            me,
            relay,
            epoch,
            heard: now,
            progressed: now,
            receiver: Receiver::new(welcome.snapshot_bytes, welcome.snapshot_digest),
            pending: Pending::default(),
            intake: Intake::new(welcome.tick, config.packet_interval()),
            playout: Playout::new(config.period()),
            comparison: Comparison::default(),
            afar: None,
            evidence: Evidence::default(),
            stage: None,
            ready_sent: false,
            tree_wanted: false,
            welcome,
            config,
        }
    }

    /// Takes what the relay tells of what lies beyond the area from now on.
    pub fn look_out(&mut self, horizon: Box<dyn Horizon<R>>) {
        self.afar = Some(Afar::new(horizon));
    }

    /// What the player sees from afar.
    pub fn distant(&self) -> DistantView {
        let seen = self.afar.as_ref().zip(self.stage.as_ref());
        seen.map_or_else(DistantView::default, |(afar, stage)| afar.view(&stage.simulation))
    }

    pub fn relay(&self) -> PeerId {
        self.relay
    }

    pub fn relay_player(&self) -> PlayerId {
        self.welcome.sequencer
    }

    pub fn player(&self) -> PlayerId {
        self.welcome.player
    }

    pub fn stage(&self) -> Option<&Stage<World<R>>> {
        self.stage.as_ref()
    }

    pub fn known(&self) -> Tick {
        self.intake.known()
    }

    pub fn commands_pending(&self) -> usize {
        self.intake.commands_pending()
    }

    pub fn phase(&self) -> Phase {
        match &self.stage {
            None => {
                let (bytes, total) = self.receiver.progress();
                Phase::Loading { bytes, total }
            }
            Some(_) if self.evidence.lingers() => Phase::OutOfStep,
            Some(stage) if stage.plays() => Phase::Playing,
            Some(_) => Phase::CatchingUp,
        }
    }

    /// Plays and reports what is due.
    pub fn advance(&mut self, now: Duration, out: &mut Out<World<R>>) {
        let settings = self.config.settings();
        if !self.evidence.lingers() {
            if now >= self.heard + settings.silence_timeout {
                return out.end(EndReason::SequencerLost { silent: true });
            }
            if now >= self.give_up_at() {
                return out.end(EndReason::LoadTimeout);
            }
            self.play(now, out);
            self.look_afar();
            self.report(now, out);
        }
        self.evidence.advance(now, out);
    }

    /// When [`advance`](Joined::advance) has something to do.
    pub fn wake_at(&self) -> Duration {
        if self.evidence.lingers() {
            return self.evidence.wake_at();
        }
        let silence = self.heard + self.config.settings().silence_timeout;
        let at = self.evidence.wake_at().min(self.intake.report_at()).min(silence).min(self.give_up_at());
        self.next_play_at().map_or(at, |play| at.min(play))
    }

    /// When loading has made no progress for too long.
    fn give_up_at(&self) -> Duration {
        if self.ready_sent { Duration::MAX } else { self.progressed + self.config.settings().load_timeout }
    }

    /// Takes a message of the relay.
    pub fn handle(&mut self, epoch: Epoch, message: Message, now: Duration, out: &mut Out<World<R>>) {
        let timeless = matches!(message, Message::Refusal(_) | Message::Inquiry(_) | Message::Parcel(_));
        if epoch != if timeless { Epoch::default() } else { self.epoch } {
            return out.dropped(DropReason::StaleEpoch);
        }
        self.heard = now;
        match message {
            Message::Parcel(parcel) => self.evidence.handle(self.relay, parcel, now, out),
            Message::Removed(_) if self.evidence.lingers() => self.evidence.put_out(now, out),
            _ if self.evidence.lingers() => {}
            Message::Chunk(chunk) if self.stage.is_none() => {
                let received = self.receiver.take(&chunk);
                self.acknowledge(received.map(Some), now, out);
                self.begin(out);
            }
            Message::Chunk(chunk) => {
                let received = self.pending.chunk(&chunk);
                self.acknowledge(received, now, out);
            }
            Message::Load(load) => {
                let received = self.pending.begin(load);
                self.acknowledge(received.map(Some), now, out);
            }
            Message::Frames(frames) => self.frames(frames, now, out),
            Message::Said(said) if self.stage.is_some() => out.said(&said),
            Message::Distant(distant) => self.hear_of(distant, out),
            Message::Desync(notice) => self.differs(notice, out),
            Message::Inquiry(inquiry) => self.inquired(&inquiry, now, out),
            Message::Removed(LeaveReason::Desync) => self.evidence.put_out(now, out),
            Message::Removed(reason) => out.end(EndReason::Removed(reason)),
            Message::Ending => out.end(EndReason::SequencerLeft),
            Message::Refusal(refusal) => out.end(EndReason::Refused(refusal)),
            _ => out.dropped(DropReason::Unexpected),
        }
    }

    fn acknowledge(&mut self, received: Result<Option<u32>, TransferError>, now: Duration, out: &mut Out<World<R>>) {
        match received {
            Ok(Some(received)) => {
                self.progressed = now;
                out.reliably(self.epoch, self.relay, &Message::ChunkAck(received));
            }
            Ok(None) => out.dropped(DropReason::Unexpected),
            Err(error) => out.end(EndReason::Transfer(error)),
        }
    }

    /// Sets up the world once its outline is here.
    fn begin(&mut self, out: &mut Out<World<R>>) {
        let bytes = match self.receiver.finish() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return out.end(EndReason::Transfer(error)),
        };
        let Welcome { player, seed, tick, .. } = self.welcome;
        let mut simulation = (self.build)(seed);
        match simulation.decode(&bytes) {
            Ok(snapshot) => simulation.restore(&snapshot),
            Err(error) => return out.end(EndReason::Snapshot(error)),
        }
        let malformed = |why| EndReason::Snapshot(codec::CodecError::Malformed(why));
        if simulation.tick() != tick {
            return out.end(malformed("a world of another tick than announced"));
        }
        if simulation.area().core_rect() != Some(CellRect::EMPTY) {
            return out.end(malformed("more than the outline of a world"));
        }
        let beginning = Beginning { simulation, player, seed, snapshot: bytes };
        self.stage = Some(Stage::begin(beginning, self.config.telling(), out));
    }

    fn frames(&mut self, frames: Frames, now: Duration, out: &mut Out<World<R>>) {
        match self.intake.take_turns(frames, now) {
            Err(_) => out.dropped(DropReason::Replayed),
            Ok(Progress::TooFarAhead) => out.dropped(DropReason::TooFarAhead),
            Ok(Progress::New(first)) => self.playout.arrived(first, self.intake.known(), now),
            Ok(Progress::Old | Progress::Gap) => {}
        }
    }

    fn hear_of(&mut self, distant: Distant, out: &mut Out<World<R>>) {
        let tick = distant.tick;
        match self.afar.as_mut().map(|afar| afar.take(distant)) {
            Some(Ok(())) => self.intake.distant(tick),
            Some(Err(_)) => out.dropped(DropReason::Replayed),
            None => out.dropped(DropReason::Unexpected),
        }
    }

    fn look_afar(&mut self) {
        if let (Some(afar), Some(stage)) = (&mut self.afar, &self.stage) {
            afar.advance(&stage.simulation);
        }
    }

    /// When the next frame is to be played, if it is known.
    fn next_play_at(&self) -> Option<Duration> {
        let next = self.intake.next();
        (self.stage.is_some() && next < self.intake.known()).then(|| self.playout.time_of(next)).flatten()
    }

    /// Plays the frames whose time has come.
    fn play(&mut self, now: Duration, out: &mut Out<World<R>>) {
        self.playout.advance(now);
        for _ in 0..TICKS_PER_ADVANCE_MAX {
            if self.next_play_at().is_none_or(|at| now < at) {
                return self.caught_up(out);
            }
            let (Some(frame), Some(stage)) = (self.intake.next_turn(), &mut self.stage) else { return };
            let Some(given) = given(&mut self.pending, &stage.simulation, &frame.given) else {
                return out.end(EndReason::Transfer(TransferError::Digest));
            };
            stage.play_given(&frame.inputs, given, out);
            self.progressed = now;
            self.check(out);
        }
    }

    /// Notes the core's checksum, if it is this replica's tick for it.
    fn check(&mut self, out: &mut Out<World<R>>) {
        let Some(stage) = &mut self.stage else { return };
        let (tick, interval) = (stage.tick(), self.config.settings().checksum_interval_ticks);
        let core = stage.simulation.area().core_rect().filter(|core| !core.is_empty());
        let Some(core) = core.filter(|_| crate::relay::checks_at(tick, stage.player, interval)) else { return };
        self.intake.checksum(tick, stage.simulation.part_checksum(core));
        if core::mem::take(&mut self.tree_wanted) {
            let cells = List::try_from(stage.simulation.part_tree(core)).unwrap_or_default();
            out.reliably(self.epoch, self.relay, &Message::CoreTree(CoreTree { tick, cells }));
        }
    }

    /// Nothing is left to play now: the hero may enter, if the place is known where it does.
    fn caught_up(&mut self, out: &mut Out<World<R>>) {
        let placed = |stage: &Stage<World<R>>| stage.simulation.area().core_rect().is_some_and(|core| !core.is_empty());
        if !self.ready_sent && self.stage.as_ref().is_some_and(placed) {
            self.ready_sent = true;
            out.reliably(self.epoch, self.relay, &Message::Ready);
        }
    }

    fn report(&mut self, now: Duration, out: &mut Out<World<R>>) {
        if now >= self.intake.report_at() {
            let report = self.intake.report(now);
            out.send(self.epoch, self.relay, Channel::Unreliable, &Message::Report(report));
        }
    }

    /// The relay found this core to differ from its own.
    fn differs(&mut self, notice: DesyncNotice, out: &mut Out<World<R>>) {
        self.tree_wanted = true;
        let first = self.comparison.differs(true, out);
        let DesyncNotice { tick, agreed, ours: theirs, theirs: ours } = notice;
        if first {
            self.stage.iter_mut().for_each(|stage| stage.tell_keyframe(out));
            out.events.push_back(Event::Desync { player: self.welcome.sequencer, tick, agreed, ours, theirs });
        }
    }

    /// The relay calls for evidence.
    fn inquired(&mut self, inquiry: &Inquiry, now: Duration, out: &mut Out<World<R>>) {
        let both = [(self.welcome.sequencer, self.relay), (self.welcome.player, self.me)];
        let called = both.iter().all(|witness| inquiry.witnesses.contains(witness)) && inquiry.witnesses.len() == 2;
        let others = both.into_iter().take(1);
        let witnesses = Witnesses { others, missing: Vec::new(), players: 2 };
        if !called || !self.evidence.begin(INQUIRY_ANSWER_INTERVAL, witnesses, now, out) {
            out.dropped(DropReason::Unexpected);
        }
    }

    /// The carrier lost a peer.
    pub fn disconnected(&mut self, peer: PeerId, out: &mut Out<World<R>>) {
        self.evidence.lost(peer, out);
        if peer == self.relay && !self.evidence.lingers() {
            out.end(EndReason::SequencerLost { silent: false });
        }
    }

    /// Takes a command of this peer's player.
    pub fn command(&mut self, command: CommandBytes) -> Result<(), CommandError> {
        if self.evidence.lingers() || !self.stage.as_ref().is_some_and(Stage::plays) {
            return Err(CommandError::NotPlaying);
        }
        self.intake.command(command).map_err(|_| CommandError::Full)
    }

    /// Says something to who may hear it.
    pub fn say(&self, line: ChatLine, out: &mut Out<World<R>>) {
        out.reliably(self.epoch, self.relay, &Message::Say(line));
    }

    /// Says that this peer leaves.
    pub fn leave(&mut self, out: &mut Out<World<R>>) {
        out.reliably(self.epoch, self.relay, &Message::Bye(LeaveReason::Left));
    }

    /// The figures of the exchange with the relay.
    pub fn exchange(&self, out: &Out<World<R>>) -> Exchange {
        Exchange {
            peer: self.relay,
            rtt: self.intake.rtt(),
            traffic: out.traffic(self.relay),
            checksums_compared: self.comparison.compared,
            desyncs: self.comparison.desyncs,
            last_check: self.comparison.last,
        }
    }
}

/// What the world is given by a frame: of cells that it knows at once, of others once an area puts them in. `None` if it does not hold
/// together.
fn given<R: Rules>(pending: &mut Pending, world: &World<R>, raw: &[RawGiven]) -> Option<Vec<Given>> {
    let tick = world.tick();
    let known = |cell| world.area().role(cell) != lockstone_sim::world::Role::Outside;
    let mut result = Vec::with_capacity(raw.len());
    let mut area = None;
    for given in raw {
        match given {
            RawGiven::Area(change) => area = Some(*change),
            RawGiven::Pristine(cell) => result.push(Given::Pristine(*cell)),
            RawGiven::Cell(cell, bytes) if known(*cell) => result.push(Given::Cell(*cell, bytes.to_vec())),
            RawGiven::Change(cell, bytes) if known(*cell) => result.push(Given::Change(*cell, bytes.to_vec())),
            RawGiven::Cell(cell, bytes) => pending.keep(tick, *cell, Change::Whole(bytes.clone())).then_some(())?,
            RawGiven::Change(cell, bytes) => pending.keep(tick, *cell, Change::Since(bytes.clone())).then_some(())?,
        }
    }
    let Some(AreaChange { core, halo, load }) = area else { return Some(result) };
    let loaded = match load {
        Some(number) => pending.put_in(number, world).ok()?,
        None => Vec::new(),
    };
    Some([vec![Given::Area(Extent { core, halo })], loaded, result].concat())
}
