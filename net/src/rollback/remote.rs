//! The exchange with one other player: its packets are checked here before anything of them goes
//! on.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::{Checksum, PlayerId, Simulation, Tick};

use super::config::RollbackSettings;
use super::ggrs::Predictor;
use super::pace::Gap;
use super::timeline::Timeline;
use crate::census::Census;
use crate::link::PeerId;
use crate::session::{Comparison, DropReason, Exchange, Outbox, Rate};
use crate::stamps::Stamps;
use crate::wire::{DesyncNotice, Inputs, Name};

/// When all have waited for a player for so long, that is told.
const SLOWNESS_TOLD: Duration = Duration::from_secs(2);
/// Who has all stop too often counts as one for whom all waited for so long more.
const VAIN_STOP_COSTS: Duration = Duration::from_secs(2);

pub(super) struct Remote {
    pub peer: PeerId,
    pub player: PlayerId,
    pub name: Name,
    /// When something came of it; in the future as long as it has time to speak first.
    pub heard_at: Duration,
    pub comparison: Comparison,
    /// How much it said lately.
    pub chat: Rate,
    stamps: Stamps,
    /// The first tick of its inputs that has not come.
    pub received: Tick,
    /// Whether it gave a command in the ticks before that: what ggrs has not got.
    inbox: Vec<bool>,
    /// The first tick of our inputs that it does not have.
    pub acknowledged: Tick,
    /// The first tick whose turn it does not know.
    pub confirmed: Tick,
    /// Whether inputs of this epoch came of it: it has gone on.
    pub follows: bool,
    /// By how many ticks we take ourselves to be behind it, and it itself behind us.
    behind_ticks: [i16; 2],
    gap: Gap,
    /// For how long all waited for it, less the time since in which they did not.
    held_up: Duration,
    slowness_told: bool,
    /// The checksum of its world where this epoch goes on from, if it tells it.
    pub at_base: Option<Checksum>,
    /// Its checksums that have not gone on, and the tick of the newest that came.
    checksums: Vec<(Tick, Checksum)>,
    checked: Tick,
}

impl Remote {
    pub fn new(peer: PeerId, player: PlayerId, name: Name, heard_at: Duration, base: Tick, delay_ticks: u32) -> Remote {
        let mut remote = Remote {
            peer,
            player,
            name,
            heard_at,
            comparison: Comparison::default(),
            chat: Rate::default(),
            stamps: Stamps::default(),
            received: base,
            inbox: Vec::new(),
            acknowledged: base,
            confirmed: base,
            follows: false,
            behind_ticks: [0; 2],
            gap: Gap::new(),
            held_up: Duration::ZERO,
            slowness_told: false,
            at_base: None,
            checksums: Vec::new(),
            checked: base,
        };
        remote.begin(base, delay_ticks);
        remote
    }

    /// An epoch begins at a tick: what came of later ones is undone. For how long it was waited for
    /// counts on.
    pub fn begin(&mut self, base: Tick, delay_ticks: u32) {
        let first = base.plus(delay_ticks);
        (self.received, self.acknowledged) = (first, first);
        (self.confirmed, self.checked) = (base, base);
        self.follows = false;
        (self.behind_ticks, self.gap) = ([0; 2], Gap::new());
        self.inbox.clear();
        self.at_base = None;
        self.checksums.clear();
        self.comparison.restart();
    }

    /// Takes a packet. `own_end`: the first tick for which we have given no input.
    ///
    /// # Errors
    /// Why all of it was dropped.
    pub fn take<S: Simulation>(
        &mut self,
        inputs: &Inputs,
        own_end: Tick,
        settings: &RollbackSettings,
        timeline: &mut Timeline<S>,
        now: Duration,
        out: &mut Outbox<S>,
    ) -> Result<(), DropReason> {
        self.stamps.take(inputs.stamp, now).map_err(|_| DropReason::Replayed)?;
        if inputs.received > own_end || inputs.confirmed > inputs.received {
            return Err(DropReason::ForgedAck);
        }
        // How far its inputs can be ahead of the turns that it knows.
        let ahead_ticks = settings.max_prediction_ticks + settings.input_delay_ticks + 1;
        if inputs.from > self.received || inputs.end() > inputs.confirmed.plus(ahead_ticks) {
            return Err(DropReason::TooFarAhead);
        }
        let base = timeline.base();
        let compared = |tick: Tick| tick.since(base).is_multiple_of(settings.checksum_interval_ticks);
        if inputs.checksums.iter().any(|(tick, _)| *tick > inputs.confirmed || !compared(*tick)) {
            return Err(DropReason::Unexpected);
        }
        self.follows = true;
        self.acknowledged = self.acknowledged.max(inputs.received);
        self.confirmed = self.confirmed.max(inputs.confirmed);
        self.behind_ticks[1] = inputs.behind_ticks;
        for input in inputs.inputs.iter().skip(self.received.since(inputs.from) as usize) {
            if input.as_ref().is_some_and(|bytes| !timeline.give(self.received, self.player, bytes)) {
                // It stays in its place: all players pass it over alike.
                out.dropped(DropReason::BadCommand);
            }
            self.inbox.push(input.is_some());
            self.received = self.received.next();
        }
        let at_base = inputs.checksums.iter().find(|(tick, _)| *tick == base).map(|(_, checksum)| *checksum);
        self.at_base = self.at_base.or(at_base);
        for (tick, checksum) in inputs.checksums.iter().filter(|(tick, _)| *tick > base) {
            if *tick > self.checked {
                self.checked = *tick;
                self.checksums.push((*tick, *checksum));
            }
        }
        Ok(())
    }

    /// Hands on what has come.
    pub fn feed(&mut self, base: Tick, predictor: &mut Predictor) {
        let ack_frame = self.acknowledged.since(base) as i32 - 1;
        predictor.inputs(self.player, &core::mem::take(&mut self.inbox), ack_frame);
    }

    /// A tick was played. Its newest inputs have been on their way for half of a round trip.
    /// Returns by how many ticks we are ahead of it.
    pub fn measure(&mut self, tick: Tick, ticks_per_s: u32) -> i32 {
        if self.follows {
            let rtt_ms = self.stamps.rtt().unwrap_or_default().as_millis() as i64;
            let on_their_way = rtt_ms / 2 * i64::from(ticks_per_s) / 1_000;
            let behind = i64::from(self.received.0) - 1 + on_their_way - i64::from(tick.0);
            self.behind_ticks[0] = behind.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        }
        let [own, other] = self.behind_ticks;
        self.gap.note(own, other);
        self.gap.ahead_ticks()
    }

    /// A tick was due, and was not played as it `holds` all up, or was. Returns whether it is to be
    /// told that it does.
    pub fn waited_for(&mut self, holds: bool, period: Duration) -> bool {
        self.held_up = if holds { self.held_up + period } else { self.held_up.saturating_sub(period) };
        self.slowness_told &= !self.held_up.is_zero();
        let is_news = self.held_up >= SLOWNESS_TOLD && !self.slowness_told;
        self.slowness_told |= is_news;
        is_news
    }

    /// It had all stop for nobody, and they had waited for it: that counts as more of a wait.
    pub fn stopped_in_vain(&mut self) {
        self.held_up += VAIN_STOP_COSTS;
    }

    /// For how long all waited for it, less the time since in which they did not.
    pub fn held_up(&self) -> Duration {
        self.held_up
    }

    /// Whether it was told that it holds the others up, and it has not made up for that since.
    pub fn holds_up(&self) -> bool {
        self.slowness_told
    }

    /// Whether more than half of what it sent lately was lost.
    pub fn is_hardly_heard(&self) -> bool {
        let loss = self.stamps.loss();
        2 * loss.recent_lost > loss.recent_expected
    }

    /// Compares its newest checksums with ours, the newest of which may be new. Returns the
    /// differences.
    pub fn compare<S: Simulation>(
        &mut self,
        new: Option<(Tick, Checksum)>,
        ours: &BTreeMap<Tick, Checksum>,
        census: &mut Census,
        out: &mut Outbox<S>,
    ) -> Vec<DesyncNotice> {
        self.checksums.iter().for_each(|(tick, theirs)| census.tell(self.player, *tick, *theirs));
        let waited = new.and_then(|(tick, checksum)| self.comparison.ours(tick, checksum, out));
        let theirs = core::mem::take(&mut self.checksums).into_iter();
        waited
            .into_iter()
            .chain(theirs.filter_map(|(tick, theirs)| self.comparison.theirs(tick, theirs, ours, out)))
            .collect()
    }

    /// What goes into the next packet to it, beside what all get.
    pub fn packet(&mut self, now: Duration) -> Inputs {
        Inputs {
            stamp: self.stamps.stamp(now),
            received: self.received,
            from: self.acknowledged,
            behind_ticks: self.behind_ticks[0],
            ..Inputs::default()
        }
    }

    /// The figures of the exchange.
    pub fn exchange<S: Simulation>(&self, out: &Outbox<S>) -> Exchange {
        self.comparison.exchange(self.peer, &self.stamps, out)
    }
}
