//! Plays a schedule: production sessions on a memory network, on virtual time, a bot on each seat.
//!
//! The loop is [`Fleet::run`]: what is due happens, time passes to the next thing, each peer is
//! heard, and its bot looks. It must never judge: what came of it is the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockstone_net::PeerId;
use lockstone_net::memory::{Clock, Driver, MemoryLink, Seat, Weather};
use lockstone_net::session::{Event, Phase, Session};
use lockstone_sim::{PlayerId, Simulation, Tick, mix64};

use super::hosts::{Hosts, Origin};
use super::schedule::{Fault, HUB, Kind, Schedule, SeatId};
use super::trace::{LOOK_MS, Life, Trace, digest};
use crate::game::{Bot, Game};

/// Fair weather follows all trouble for so long: all must be well again by then.
pub(super) const FAIR_MS: u32 = 16_000;
/// So long before the end bots give no more commands.
pub(super) const HUSH_MS: u32 = 4_000;
/// All have found the signaling server within so long, once it is back.
pub(super) const RETURNS_MS: u32 = 1_000;
/// So long the signaling server awaits the room's peers, once it is back.
const AWAITED_MS: u32 = 3_000;
/// A newcomer that waits for that looks so often whether it may enter.
const LOOKS_MS: u32 = 100;
/// Figures are looked at so often.
const FIGURES_MS: u32 = 1_000;

/// Something that a fleet tells of a seat.
pub(super) enum Heard<'e, S: Simulation> {
    /// What its peer was told.
    Event(&'e Event<S>),
    /// The relay goes on there from what was recorded: what was played beyond counts no more.
    Resumed,
}

/// Hears what is told of each seat.
pub(super) type Listener<'l, S> = &'l mut dyn FnMut(SeatId, Heard<'_, S>);

/// Peers that play.
pub(super) struct Fleet<'f, G: Game, T: Session<Sim = G::Sim>, H: Session<Sim = G::Sim> = T> {
    schedule: &'f Schedule,
    driver: Driver<T, MemoryLink, H>,
    /// The sessions of those who have not entered.
    sessions: BTreeMap<SeatId, T>,
    listener: Listener<'f, G::Sim>,
    /// The driver's place of each seat whose process is there, and its peer.
    places: BTreeMap<SeatId, (Place, PeerId)>,
    /// Of a relay's session.
    hosts: Option<Hosts<'f, G::Sim, H>>,
    bots: BTreeMap<SeatId, Player<G::Sim>>,
    lives: BTreeMap<SeatId, Life>,
    /// What goes wrong just now, until when.
    troubles: Vec<(u32, Trouble)>,
    /// Until when newcomers wait at a signaling server that is back, and to which nobody is.
    awaited_until_ms: Option<u32>,
}

/// A place of the driver.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Hub,
    BesideHub,
    Seat(usize),
}

/// A seat of the driver, of whatever session.
trait Process<S: Simulation> {
    fn session(&mut self) -> &mut dyn Session<Sim = S>;
    fn clock(&mut self) -> &mut Clock;
    fn freeze(&mut self, until: Duration);
    /// What was told since the last time.
    fn events(&mut self) -> Vec<Event<S>>;
}

impl<T: Session> Process<T::Sim> for Seat<T> {
    fn session(&mut self) -> &mut dyn Session<Sim = T::Sim> {
        &mut self.session
    }

    fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn freeze(&mut self, until: Duration) {
        Seat::freeze(self, until);
    }

    fn events(&mut self) -> Vec<Event<T::Sim>> {
        core::mem::take(&mut self.events)
    }
}

struct Player<S: Simulation> {
    player: PlayerId,
    bot: Box<dyn Bot<S>>,
    saw: Tick,
}

enum Trouble {
    Cut(BTreeSet<SeatId>),
    Deaf {
        from: SeatId,
        to: SeatId,
    },
    Weather(Weather),
    /// A process stands still.
    Frozen(SeatId),
    /// A process is dead, and nobody knows.
    Dead(SeatId),
    /// A peer said goodbye: its process ends.
    Leaving(SeatId),
    /// The signaling server is away.
    NoSignaling,
    /// A peer has yet to find the signaling server again.
    Missing(SeatId),
    /// A peer that has a clock waits at the signaling server, to enter.
    Waiting(SeatId, Clock),
    /// Somebody has entered whom nobody was back for. The next one waits.
    Founding,
}

/// Who founded a session in a room that was forgotten, has given it up so soon.
const FOUNDED_MS: u32 = 5_000;

impl<'f, G: Game, T: Session<Sim = G::Sim>, H: Session<Sim = G::Sim>> Fleet<'f, G, T, H> {
    pub fn new(
        schedule: &'f Schedule,
        driver: Driver<T, MemoryLink, H>,
        sessions: BTreeMap<SeatId, T>,
        hosts: Option<Hosts<'f, G::Sim, H>>,
        listener: Listener<'f, G::Sim>,
    ) -> Self {
        let (mut places, mut lives) = (BTreeMap::new(), BTreeMap::new());
        if schedule.kind == Kind::Relay {
            places.insert(HUB, (Place::Hub, driver.hub().peer));
            lives.insert(HUB, Life::new(0));
        }
        let (bots, troubles) = (BTreeMap::new(), Vec::new());
        Fleet { schedule, driver, sessions, listener, places, hosts, bots, lives, troubles, awaited_until_ms: None }
    }

    /// Plays all of it.
    pub fn run(mut self) -> Trace {
        let end_ms = self.schedule.fair_from_ms() + FAIR_MS;
        let mut steps = self.schedule.steps.iter().peekable();
        let (mut now_ms, mut look_ms) = (0, 0);
        self.weather();
        while now_ms < end_ms {
            self.relieve(now_ms);
            while let Some(step) = steps.next_if(|step| step.at_ms <= now_ms) {
                self.happen(&step.fault, now_ms);
            }
            let over_ms = self.troubles.iter().map(|(over_ms, _)| *over_ms);
            let next = over_ms.chain(steps.peek().map(|step| step.at_ms)).chain([look_ms, end_ms]).min();
            now_ms = next.unwrap_or(end_ms);
            self.driver.run_until(ms(now_ms));
            self.attend(now_ms);
            if now_ms == look_ms {
                self.look(now_ms);
                look_ms += LOOK_MS;
            }
        }
        let carried = self.driver.network.carried_in_all();
        Trace { lives: self.lives, end_ms, carried, cores: None }
    }

    /// Who is there.
    fn there(&self) -> Vec<SeatId> {
        self.lives.iter().filter(|(_, life)| life.gone_ms.is_none()).map(|(seat, _)| *seat).collect()
    }

    fn is_there(&self, seat: SeatId) -> bool {
        self.lives.get(&seat).is_some_and(|life| life.gone_ms.is_none())
    }

    fn is_frozen(&self, seat: SeatId) -> bool {
        self.troubles.iter().any(|(_, trouble)| matches!(trouble, Trouble::Frozen(it) if *it == seat))
    }

    /// Whether all have yet to find the signaling server again.
    fn all_are_missing(&self) -> bool {
        let missing = |seat| self.troubles.iter().any(|(_, it)| matches!(it, Trouble::Missing(it) if *it == seat));
        self.there().into_iter().all(missing)
    }

    fn happen(&mut self, fault: &Fault, now_ms: u32) {
        match fault {
            Fault::Enter { seat, clock_ms, gains_ppm, .. } => {
                let clock = Clock::new(ms(*clock_ms), *gains_ppm);
                match self.waits_until(*seat, now_ms) {
                    Some(at_ms) => self.troubles.push((at_ms, Trouble::Waiting(*seat, clock))),
                    None => self.let_in(*seat, now_ms, clock),
                }
            }
            Fault::Signal { ms } => {
                self.driver.network.forget_room();
                let over_ms = now_ms + ms;
                self.troubles.push((over_ms, Trouble::NoSignaling));
                self.awaited_until_ms = Some(over_ms + AWAITED_MS);
                let there = self.there();
                let missing = there.into_iter().map(|seat| (over_ms + self.returns_ms(seat), Trouble::Missing(seat)));
                self.troubles.extend(missing.collect::<Vec<_>>());
            }
            Fault::Standby { seat, clock_ms, gains_ppm } => {
                let is_taken =
                    self.places.iter().any(|(seat, (at, _))| *at == Place::BesideHub && self.is_there(*seat));
                let hosts = self.hosts.as_ref().filter(|_| !is_taken);
                if let Some(standby) = hosts.map(|hosts| (hosts.make)(Origin::Standby)) {
                    self.driver.enter_beside_hub(standby, |link| link);
                    self.place_host(*seat, Place::BesideHub, Clock::new(ms(*clock_ms), *gains_ppm), now_ms);
                }
            }
            Fault::Resume { seat, clock_ms, gains_ppm, lost_ticks } => {
                self.resume(*seat, *lost_ticks, Clock::new(ms(*clock_ms), *gains_ppm), now_ms);
            }
            Fault::Leave { seat } if self.is_there(*seat) && !self.is_frozen(*seat) => {
                let now = self.driver.now();
                if let Some(process) = self.process(*seat) {
                    let now = process.clock().shows(now);
                    process.session().leave(now);
                }
                // What it says at the end goes out first.
                self.troubles.push((now_ms + 1, Trouble::Leaving(*seat)));
            }
            // Who stands still says nothing any more.
            Fault::Leave { seat } if self.is_there(*seat) => self.kill(*seat, now_ms, 0),
            Fault::Kill { seat, told_ms } if self.is_there(*seat) => self.kill(*seat, now_ms, *told_ms),
            Fault::Drop { seat } if self.is_there(*seat) => self.out_of_room(*seat, now_ms),
            Fault::Freeze { seat, ms: for_ms } if self.is_there(*seat) => {
                self.troubles.push((now_ms + for_ms, Trouble::Frozen(*seat)));
                let is_it = |(_, trouble): &&(u32, Trouble)| matches!(trouble, Trouble::Frozen(it) if it == seat);
                let until_ms = self.troubles.iter().filter(is_it).map(|(over_ms, _)| *over_ms).max();
                self.freeze(*seat, ms(until_ms.unwrap_or(now_ms)));
            }
            Fault::Jump { seat, ms: by_ms } if self.is_there(*seat) => {
                self.process(*seat).into_iter().for_each(|process| process.clock().jump(ms(*by_ms)));
            }
            Fault::Cut { seats, ms } => self.troubles.push((now_ms + ms, Trouble::Cut(seats.clone()))),
            Fault::Deafen { from, to, ms } => {
                self.troubles.push((now_ms + ms, Trouble::Deaf { from: *from, to: *to }));
            }
            Fault::Weather { weather, ms } => self.troubles.push((now_ms + ms, Trouble::Weather(*weather))),
            // Who waits at the signaling server waits no more.
            Fault::Leave { seat } | Fault::Kill { seat, .. } | Fault::Drop { seat } => {
                let waits = |trouble: &Trouble| matches!(trouble, Trouble::Waiting(it, _) if it == seat);
                self.troubles.retain(|(_, trouble)| !waits(trouble));
            }
            Fault::Freeze { .. } | Fault::Jump { .. } => {}
        }
        self.weather();
    }

    fn kill(&mut self, seat: SeatId, now_ms: u32, told_ms: u32) {
        self.freeze(seat, Duration::MAX);
        self.gone(seat, now_ms);
        self.troubles.push((now_ms + told_ms, Trouble::Dead(seat)));
    }

    /// When a newcomer comes to the signaling server, if it cannot enter at once.
    fn waits_until(&self, seat: SeatId, now_ms: u32) -> Option<u32> {
        let back_ms = self.last(|trouble| matches!(trouble, Trouble::NoSignaling));
        back_ms.map(|back_ms| back_ms + self.returns_ms(seat)).or(self.held_until(now_ms))
    }

    /// When a newcomer that the signaling server lets wait is to look again. Two that enter while
    /// nobody is back, after all that time, would be a session that believes no stranger.
    fn held_until(&self, now_ms: u32) -> Option<u32> {
        let until_ms = self.awaited_until_ms.filter(|until_ms| self.all_are_missing() && now_ms < *until_ms);
        let looks_ms = until_ms.map(|until_ms| until_ms.min(now_ms + LOOKS_MS));
        looks_ms.or_else(|| self.last(|trouble| matches!(trouble, Trouble::Founding)))
    }

    fn let_in(&mut self, seat: SeatId, now_ms: u32, clock: Clock) {
        if let Some(at_ms) = self.held_until(now_ms) {
            self.troubles.push((at_ms, Trouble::Waiting(seat, clock)));
            return;
        }
        if self.awaited_until_ms.is_some() && self.all_are_missing() {
            self.awaited_until_ms = None;
            let all_ms = self.last(|trouble| matches!(trouble, Trouble::Missing(_)));
            self.troubles.push((all_ms.unwrap_or(now_ms) + FOUNDED_MS, Trouble::Founding));
        }
        self.enter(seat, now_ms, clock);
    }

    fn last(&self, is_it: fn(&Trouble) -> bool) -> Option<u32> {
        self.troubles.iter().filter(|(_, trouble)| is_it(trouble)).map(|(over_ms, _)| *over_ms).max()
    }

    /// How long a peer takes to find the signaling server, once that is back.
    fn returns_ms(&self, seat: SeatId) -> u32 {
        (mix64(self.schedule.seed ^ u64::from(seat)) % u64::from(RETURNS_MS)) as u32
    }

    fn enter(&mut self, seat: SeatId, now_ms: u32, clock: Clock) {
        let Some(session) = self.sessions.remove(&seat) else { return };
        let place = self.driver.enter_by(session, |link| link);
        self.driver.seats[place].clock = clock;
        self.places.insert(seat, (Place::Seat(place), self.driver.peer(place)));
        self.lives.insert(seat, Life::new(now_ms));
    }

    /// A process of the relay is there, in the place of one that was there before.
    fn place_host(&mut self, seat: SeatId, place: Place, clock: Clock, now_ms: u32) {
        let before = self.places.iter().find(|(_, (taken, _))| *taken == place).map(|(before, _)| *before);
        if let Some(before) = before {
            self.places.remove(&before);
        }
        let peer = match place {
            Place::BesideHub => self.driver.beside_hub().map(|standby| standby.peer),
            Place::Hub | Place::Seat(_) => Some(self.driver.hub().peer),
        };
        let Some(peer) = peer else { return };
        self.places.insert(seat, (place, peer));
        self.lives.insert(seat, Life::new(now_ms));
        self.process(seat).into_iter().for_each(|process| *process.clock() = clock);
    }

    /// The relay is started again, unless it lives, or it is open who leads.
    fn resume(&mut self, seat: SeatId, lost_ticks: u32, clock: Clock, now_ms: u32) {
        let is_host = |seat: &SeatId| self.schedule.is_host(*seat);
        let hosts = || self.lives.iter().filter(|(seat, _)| is_host(seat));
        let leads = |life: &Life| life.looks.last().is_some_and(|look| look.plays);
        let is_there = |life: &Life| life.gone_ms.is_none();
        let is_led = hosts().any(|(_, life)| is_there(life) && leads(life));
        let follows = hosts().any(|(_, life)| is_there(life) && !leads(life));
        let has_hub = self.places.iter().any(|(seat, (place, _))| *place == Place::Hub && self.is_there(*seat));
        // Its machine is that of the last one that died, as long as there is no other.
        let last = hosts().filter(|(_, life)| !is_there(life) && life.plays_from_ms().is_some());
        let Some((from, _)) = last.max_by_key(|(_, life)| life.gone_ms).filter(|_| !follows && !has_hub) else {
            return;
        };
        let Some(relay) = self.hosts.as_ref().and_then(|hosts| hosts.resume(*from, lost_ticks)) else { return };
        self.driver.replace_hub(relay, |link| link);
        self.place_host(seat, Place::Hub, clock, now_ms);
        if !is_led {
            (self.listener)(seat, Heard::Resumed);
        }
    }

    /// Ends what is over.
    fn relieve(&mut self, now_ms: u32) {
        let over: Vec<_> = self.troubles.extract_if(.., |(over_ms, _)| *over_ms <= now_ms).collect();
        if over.is_empty() {
            return;
        }
        for (_, trouble) in over {
            match trouble {
                Trouble::Dead(seat) => self.out_of_room(seat, now_ms),
                Trouble::Leaving(seat) => {
                    self.out_of_room(seat, now_ms);
                    self.gone(seat, now_ms);
                }
                // Who stands still looks for nothing.
                Trouble::Missing(seat) if self.is_frozen(seat) => {
                    self.troubles.push((now_ms + RETURNS_MS, Trouble::Missing(seat)));
                }
                Trouble::Missing(seat) if self.is_there(seat) => {
                    self.peer(seat).into_iter().for_each(|peer| self.driver.network.come_back(peer));
                }
                Trouble::Waiting(seat, clock) => self.let_in(seat, now_ms, clock),
                Trouble::Cut(_) | Trouble::Deaf { .. } | Trouble::Weather(_) | Trouble::Frozen(_) => {}
                Trouble::NoSignaling | Trouble::Missing(_) | Trouble::Founding => {}
            }
        }
        self.weather();
    }

    /// Sets each way as all that goes wrong just now has it.
    fn weather(&mut self) {
        let newest = self.troubles.iter().rev().find_map(|(_, trouble)| match trouble {
            Trouble::Weather(weather) => Some(*weather),
            _ => None,
        });
        let weather = newest.unwrap_or(self.schedule.weather);
        let network = &self.driver.network;
        network.set_weather(weather);
        let seats: Vec<_> = self.lives.keys().copied().collect();
        for (a, b) in seats.iter().flat_map(|a| seats.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b) {
            let apart = |(_, trouble): &(u32, Trouble)| matches!(trouble, Trouble::Cut(side) if side.contains(&a) != side.contains(&b));
            let deaf =
                |(_, trouble): &(u32, Trouble)| matches!(trouble, Trouble::Deaf { from, to } if (*from, *to) == (a, b));
            let (Some(from), Some(to)) = (self.peer(a), self.peer(b)) else { continue };
            network.set_cut(from, to, self.troubles.iter().any(apart));
            let lost = self.troubles.iter().any(deaf).then_some(Weather { loss_permille: 1_000, ..weather });
            network.set_direction(from, to, lost);
        }
    }

    /// Hears everyone. The process of a peer whose session is over ends.
    fn attend(&mut self, now_ms: u32) {
        for seat in self.there() {
            self.hear(seat, now_ms);
            let leaving = |(_, trouble): &(u32, Trouble)| matches!(trouble, Trouble::Leaving(it) if *it == seat);
            if self.lives[&seat].end.is_some() && !self.troubles.iter().any(leaving) {
                self.out_of_room(seat, now_ms);
                self.gone(seat, now_ms);
            }
        }
    }

    fn hear(&mut self, seat: SeatId, now_ms: u32) {
        let events = self.process(seat).map(Process::events).unwrap_or_default();
        let is_host = self.schedule.is_host(seat);
        let life = self.lives.entry(seat).or_default();
        for event in events {
            life.hear(&event, now_ms);
            self.hosts.iter_mut().filter(|_| is_host).for_each(|hosts| hosts.hear(seat, &event));
            (self.listener)(seat, Heard::Event(&event));
        }
    }

    /// Looks how far each peer is, and lets its bot play.
    fn look(&mut self, now_ms: u32) {
        let hushed = now_ms + HUSH_MS >= self.schedule.fair_from_ms() + FAIR_MS;
        let figures = now_ms.is_multiple_of(FIGURES_MS);
        for seat in self.there() {
            let frozen = self.is_frozen(seat);
            let Some(life) = self.lives.get_mut(&seat) else { continue };
            let Some((place, _)) = self.places.get(&seat) else { continue };
            let Some(process) = process(&mut self.driver, *place) else { continue };
            let session = process.session();
            look_at(session, life, figures, now_ms);
            if self.schedule.kind == Kind::Party || self.schedule.is_host(seat) {
                session.confirmed().into_iter().for_each(|world| life.asks(world));
            }
            if self.schedule.is_host(seat) || frozen {
                continue;
            }
            // Half of them go on without those who are cut off, once that is offered.
            if seat.is_multiple_of(2) {
                let _ = session.go_on_as_branch();
            }
            if !hushed {
                play::<G>(session, life, &mut self.bots, seat, now_ms);
            }
        }
    }

    fn out_of_room(&mut self, seat: SeatId, now_ms: u32) {
        self.peer(seat).into_iter().for_each(|peer| self.driver.network.drop_peer(peer));
        if let Some(life) = self.lives.get_mut(&seat) {
            life.in_room_until_ms = life.in_room_until_ms.or(Some(now_ms));
        }
    }

    /// The last that is heard of a peer.
    fn gone(&mut self, seat: SeatId, now_ms: u32) {
        self.hear(seat, now_ms);
        let stats = self.process(seat).map(|process| process.session().stats());
        let Some(life) = self.lives.get_mut(&seat) else { return };
        stats.into_iter().for_each(|stats| life.look_at(&stats, now_ms));
        life.gone_ms = life.gone_ms.or(Some(now_ms));
        self.bots.remove(&seat);
    }

    fn process(&mut self, seat: SeatId) -> Option<&mut dyn Process<G::Sim>> {
        let (place, _) = self.places.get(&seat)?;
        process(&mut self.driver, *place)
    }

    fn peer(&self, seat: SeatId) -> Option<PeerId> {
        Some(self.places.get(&seat)?.1)
    }

    fn freeze(&mut self, seat: SeatId, until: Duration) {
        self.process(seat).into_iter().for_each(|process| process.freeze(until));
    }
}

fn process<S: Simulation, T: Session<Sim = S>, H: Session<Sim = S>>(
    driver: &mut Driver<T, MemoryLink, H>,
    place: Place,
) -> Option<&mut dyn Process<S>> {
    match place {
        Place::Hub => Some(driver.hub_mut()),
        Place::BesideHub => driver.beside_hub_mut().as_mut().map(|standby| standby as _),
        Place::Seat(place) => Some(&mut driver.seats[place]),
    }
}

fn look_at<S: Simulation>(session: &dyn Session<Sim = S>, life: &mut Life, figures: bool, now_ms: u32) {
    life.saw(session.phase(), session.settled(), now_ms);
    if figures {
        life.look_at(&session.stats(), now_ms);
    }
}

/// Lets a seat's bot look at the world.
fn play<G: Game>(
    session: &mut dyn Session<Sim = G::Sim>,
    life: &mut Life,
    bots: &mut BTreeMap<SeatId, Player<G::Sim>>,
    seat: SeatId,
    now_ms: u32,
) {
    let (Some(player), Some(sim)) = (life.player(), session.simulation()) else { return };
    if session.phase() != Phase::Playing {
        return;
    }
    let one = bots.entry(seat).or_insert_with(|| Player { player, bot: Box::new(G::bot(player)), saw: Tick(0) });
    if one.player != player {
        *one = Player { player, bot: Box::new(G::bot(player)), saw: Tick(0) };
    }
    if sim.tick() == one.saw {
        return;
    }
    one.saw = sim.tick();
    if let Some(command) = one.bot.decide(sim, player) {
        let digest = digest(&command);
        // One that is not taken now is decided upon again.
        if session.command(command).is_ok() {
            life.given.push((now_ms, digest));
        }
    }
}

fn ms(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}
