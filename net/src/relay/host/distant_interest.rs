//! What the relay tells of the distant view: to each replica what changed of its own party's heroes
//! and of the landmarks.
//!
//! ```text
//! each tick     watch: follow every hero on its track; where the track leads elsewhere,
//!               there is a new one
//! 5 times a s   tell: of each companion beyond the replica's area the track, if it is newer
//!               than what the replica acknowledged
//! ```
//!
//! As long as every track leads to where its hero is, nothing is sent. A track is told again with
//! every packet until it is acknowledged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lockstone_sim::{Entity, Fx, PlayerId, Rules, Simulation, Tick, Vec2, World, codec};

use super::guest::Guest;
use crate::limits::*;
use crate::link::Channel;
use crate::relay::dead_reckoning::DeadReckoning;
use crate::relay::horizon::Horizon;
use crate::session::{Landmark, LevelStats, Outbox};
use crate::wire::{Bytes, Distant, Epoch, Landmarks, List, Message, Samples, Track};

/// So far a hero may be from where its route leads; then it is told anew.
const ROUTE_OFF: Fx = Fx::ratio(1, 2);
/// So far a hero may be from where its samples lead.
const SAMPLES_OFF: Fx = Fx::ratio(1, 4);
/// A hero that goes farther in a tick was put there. Its past says nothing about its future.
const LEAP: Fx = Fx::int(2);
/// What is not acknowledged after so many packet times is sent again, if nothing new is sent
/// anyway.
const REPEAT_PACKETS: u32 = 3;
/// Packets whose acknowledgement is still taken.
const SENT_KEPT: usize = 32;

/// What can be seen from afar.
pub(super) struct DistantInterest<R: Rules> {
    horizon: Box<dyn Horizon<R>>,
    scratch: R::Scratch,
    interval_ticks: u32,
    heroes: BTreeMap<PlayerId, Hero<R>>,
    /// Parties of more than one hero.
    parties: BTreeMap<u32, Vec<PlayerId>>,
    /// By number, and since when each is as it is. `None`: it is gone.
    landmarks: BTreeMap<u16, (Tick, Option<Landmark>)>,
    /// The newest change of a landmark.
    landmarks_changed: Tick,
    /// What changed of the landmarks since a tick, encoded.
    encoded: BTreeMap<Tick, Bytes<LANDMARK_BYTES_MAX>>,
}

/// A hero that others of its party may see from afar.
struct Hero<R: Rules> {
    party: u32,
    reckoning: DeadReckoning<R>,
    /// When the track became what it is.
    changed: Tick,
    /// Where it was a tick before.
    before: Vec2,
}

/// What one replica was told.
#[derive(Default)]
pub(super) struct DistantState {
    /// The heroes that it was told of, and since when it is to see each or none.
    sights: BTreeMap<PlayerId, Sight>,
    /// When it was last seen to.
    looked: Tick,
    /// The ticks of the newest packets.
    sent: VecDeque<Tick>,
    /// The newest of them that is acknowledged.
    acked: Tick,
}

#[derive(Clone, Copy)]
struct Sight {
    seen: bool,
    changed: Tick,
}

impl<R: Rules> DistantInterest<R> {
    pub fn new(horizon: Box<dyn Horizon<R>>, ticks_per_s: u32) -> Self {
        DistantInterest {
            horizon,
            scratch: R::Scratch::default(),
            interval_ticks: ticks_per_s.div_ceil(DISTANT_PER_S),
            heroes: BTreeMap::new(),
            parties: BTreeMap::new(),
            landmarks: BTreeMap::new(),
            landmarks_changed: Tick(0),
            encoded: BTreeMap::new(),
        }
    }

    /// Looks at the world after a tick.
    pub fn observe(&mut self, world: &World<R>) {
        let looks = world.tick().0.is_multiple_of(self.interval_ticks);
        if looks {
            self.gather(world);
            self.look_at_landmarks(world);
        }
        let DistantInterest { horizon, scratch, heroes, .. } = self;
        heroes.retain(|player, hero| {
            let Some(entity) = world.hero(*player) else { return false };
            hero.reckon(entity, world, &**horizon, scratch, looks);
            true
        });
    }

    /// Finds out who is together with whom.
    fn gather(&mut self, world: &World<R>) {
        let mut parties: BTreeMap<u32, Vec<PlayerId>> = BTreeMap::new();
        for player in world.players() {
            if let Some(party) = self.horizon.party(world.rules(), player) {
                parties.entry(party).or_default().push(player);
            }
        }
        parties.retain(|_, players| players.len() > 1);
        self.heroes.retain(|player, hero| {
            parties.get(&hero.party).is_some_and(|players| players.binary_search(player).is_ok())
        });
        for (party, player) in parties.iter().flat_map(|(party, players)| players.iter().map(move |one| (party, one))) {
            let Some(at) = world.hero(*player).map(|hero| hero.pos) else { continue };
            self.heroes.entry(*player).or_insert_with(|| {
                let track = Track::Samples(Samples::first(world.tick(), at));
                let reckoning = DeadReckoning::new(track, &*self.horizon);
                Hero { party: *party, reckoning, changed: world.tick(), before: at }
            });
        }
        self.parties = parties;
    }

    fn look_at_landmarks(&mut self, world: &World<R>) {
        let now = self.horizon.landmarks(world).into_iter().take(LANDMARKS_MAX);
        let now: BTreeMap<_, _> = now.map(|landmark| (landmark.number, landmark)).collect();
        let numbers: BTreeSet<_> = self.landmarks.keys().chain(now.keys()).copied().collect();
        for number in numbers {
            let landmark = now.get(&number).copied();
            let changed = match self.landmarks.get(&number) {
                Some((_, known)) => *known != landmark,
                // Those that are gone take up room as well: a replica may not know it yet.
                None => self.landmarks.len() < LANDMARKS_MAX,
            };
            if changed {
                self.landmarks.insert(number, (world.tick(), landmark));
                self.landmarks_changed = world.tick();
                self.encoded.clear();
            }
        }
    }

    /// Tells a replica what it does not know, if it is time, something is new, and the
    /// budget allows it.
    pub fn tell(
        &mut self,
        guest: &mut Guest,
        world: &World<R>,
        epoch: Epoch,
        stats: &mut LevelStats,
        out: &mut Outbox<World<R>>,
    ) {
        let tick = world.tick();
        if tick.since(guest.distant.looked) < self.interval_ticks || !guest.plays() {
            return;
        }
        let afar = self.afar(guest, world);
        let told = &mut guest.distant;
        told.looked = tick;
        told.see(&afar, tick);
        let newest =
            told.sights.values().map(|sight| sight.changed).max().unwrap_or_default().max(self.landmarks_changed);
        let repeat_ticks = self.interval_ticks * REPEAT_PACKETS;
        let sent = told.sent.back().is_some_and(|sent| newest <= *sent && tick.since(*sent) < repeat_ticks);
        if sent || newest <= told.acked {
            return;
        }
        let message = Message::Distant(self.packet(&guest.distant, tick));
        if !guest.budget.allows() {
            stats.cut_bytes += codec::compact(&message).len() as u64;
            return;
        }
        guest.send(epoch, Channel::Unreliable, &message, stats, out);
        guest.distant.sent.push_back(tick);
        if guest.distant.sent.len() > SENT_KEPT {
            guest.distant.sent.pop_front();
        }
    }

    /// The players of a player's party, if it is one of several.
    pub fn party(&self, player: PlayerId) -> &[PlayerId] {
        let party = self.heroes.get(&player).and_then(|hero| self.parties.get(&hero.party));
        party.map_or(&[], |players| players)
    }

    /// The other heroes of a replica's party that are beyond its area, each with the tick since
    /// when its track is what it is.
    fn afar(&self, guest: &Guest, world: &World<R>) -> BTreeMap<PlayerId, Tick> {
        let known = guest.area.bounds().halo;
        let others = self.party(guest.player).iter().filter(|other| **other != guest.player);
        let companions = others.filter_map(|other| Some((*other, self.heroes.get(other)?))).take(COMPANIONS_MAX);
        let afar = companions.filter(|(_, hero)| !known.contains(world.grid().cell_of(hero.before)));
        afar.map(|(other, hero)| (other, hero.changed)).collect()
    }

    /// All that changed since what the replica acknowledged.
    fn packet(&mut self, told: &DistantState, tick: Tick) -> Distant {
        let news = told.sights.iter().filter(|(_, sight)| sight.changed > told.acked);
        let track = |player: &PlayerId| self.heroes.get(player).map(|hero| hero.reckoning.track().clone());
        let sights: Vec<_> =
            news.map(|(player, sight)| (*player, sight.seen.then(|| track(player)).flatten())).collect();
        Distant {
            tick,
            sights: List::try_from(sights).expect("no more are kept"),
            landmarks: self.landmarks_since(told.acked),
        }
    }

    fn landmarks_since(&mut self, since: Tick) -> Bytes<LANDMARK_BYTES_MAX> {
        if since >= self.landmarks_changed {
            return Bytes::default();
        }
        let landmarks = &self.landmarks;
        let encode = || {
            let news = landmarks.iter().filter(|(_, (changed, _))| *changed > since);
            let told = news.map(|(number, (_, landmark))| (*number, landmark.map(|one| (one.at, one.state))));
            let told = Landmarks::try_from(told.collect::<Vec<_>>()).expect("no more are kept");
            Bytes::try_from(codec::compact(&told)).expect("each takes less")
        };
        self.encoded.entry(since).or_insert_with(encode).clone()
    }
}

impl<R: Rules> Hero<R> {
    /// Sees whether the track still leads to where the hero is.
    fn reckon(
        &mut self,
        entity: &Entity<R::Body>,
        world: &World<R>,
        horizon: &dyn Horizon<R>,
        scratch: &mut R::Scratch,
        looks: bool,
    ) {
        let (tick, rules, at) = (world.tick(), world.rules(), entity.pos);
        let before = core::mem::replace(&mut self.before, at);
        let extrapolated = self.reckoning.at(tick, rules, scratch);
        if let Some(route) = horizon.route(rules, entity) {
            let same = matches!(self.reckoning.track(), Track::Route { route: told, .. }
                if (told.end, told.step) == (route.end, route.step));
            if same && !self.reckoning.is_stale(tick) && extrapolated.within(at, ROUTE_OFF) {
                return;
            }
            // From the place before the tick: that is where a way was looked for.
            let earlier = Tick(tick.0.saturating_sub(1));
            let mut reckoning = DeadReckoning::new(Track::Route { since: earlier, from: before, route }, horizon);
            if !reckoning.at(tick, rules, scratch).within(at, ROUTE_OFF) {
                reckoning = DeadReckoning::new(Track::Route { since: tick, from: at, route }, horizon);
            }
            (self.reckoning, self.changed) = (reckoning, tick);
        } else if looks && (!extrapolated.within(at, SAMPLES_OFF) || self.reckoning.is_stale(tick)) {
            let samples = match self.reckoning.track() {
                Track::Samples(samples) if at != before && at.within(before, LEAP) => samples.with(tick, at),
                _ => Samples::first(tick, at),
            };
            (self.reckoning, self.changed) = (DeadReckoning::new(Track::Samples(samples), horizon), tick);
        }
    }
}

impl DistantState {
    /// Notes which companions are to be seen, from now on or with another track.
    fn see(&mut self, afar: &BTreeMap<PlayerId, Tick>, tick: Tick) {
        for (player, sight) in &mut self.sights {
            match afar.get(player) {
                Some(changed) if sight.seen => sight.changed = sight.changed.max(*changed),
                None if !sight.seen => {}
                now => *sight = Sight { seen: now.is_some(), changed: tick },
            }
        }
        for player in afar.keys() {
            if self.sights.len() < SIGHTS_MAX {
                self.sights.entry(*player).or_insert(Sight { seen: true, changed: tick });
            }
        }
    }

    /// The replica has a packet. Returns whether there was such a packet.
    pub fn acknowledge(&mut self, tick: Tick) -> bool {
        if !self.sent.contains(&tick) {
            return false;
        }
        self.acked = self.acked.max(tick);
        self.sights.retain(|_, sight| sight.seen || sight.changed > tick);
        true
    }
}
