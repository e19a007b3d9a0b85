//! Plays a schedule: production sessions on a memory network, on virtual time, a bot on each seat.
//!
//! The loop is [`Fleet::run`]: what is due happens, time passes to the next thing, each peer is
//! heard, and its bot looks. It must never judge: what came of it is the trace.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockstone_net::PeerId;
use lockstone_net::memory::{Clock, Driver, MemoryLink, Seat, Weather};
use lockstone_net::session::{Event, Phase, Session};
use lockstone_sim::{PlayerId, Simulation, Tick};

use super::schedule::{Fault, HUB, Kind, Schedule, SeatId};
use super::trace::{LOOK_MS, Life, Trace, digest};
use crate::game::{Bot, Game};

/// Fair weather follows all trouble for so long: all must be well again by then.
pub(super) const FAIR_MS: u32 = 16_000;
/// So long before the end bots give no more commands.
pub(super) const HUSH_MS: u32 = 4_000;
/// Figures are looked at so often.
const FIGURES_MS: u32 = 1_000;

/// Hears what each peer tells.
pub(super) type Listener<'l, S> = &'l mut dyn FnMut(SeatId, &Event<S>);

/// Peers that play.
pub(super) struct Fleet<'f, G: Game, T: Session<Sim = G::Sim>, H: Session<Sim = G::Sim> = T> {
    schedule: &'f Schedule,
    driver: Driver<T, MemoryLink, H>,
    /// The sessions of those who have not entered.
    sessions: BTreeMap<SeatId, T>,
    listener: Listener<'f, G::Sim>,
    /// The driver's place of each seat, a hub's not counted.
    places: BTreeMap<SeatId, usize>,
    bots: BTreeMap<SeatId, Player<G::Sim>>,
    lives: BTreeMap<SeatId, Life>,
    /// What goes wrong just now, until when.
    troubles: Vec<(u32, Trouble)>,
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
}

impl<'f, G: Game, T: Session<Sim = G::Sim>, H: Session<Sim = G::Sim>> Fleet<'f, G, T, H> {
    pub fn new(
        schedule: &'f Schedule,
        driver: Driver<T, MemoryLink, H>,
        sessions: BTreeMap<SeatId, T>,
        listener: Listener<'f, G::Sim>,
    ) -> Self {
        let hub = (schedule.kind == Kind::Relay).then(|| (HUB, Life::new(0)));
        let (places, bots, lives) = (BTreeMap::new(), BTreeMap::new(), hub.into_iter().collect());
        Fleet { schedule, driver, sessions, listener, places, bots, lives, troubles: Vec::new() }
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

    fn happen(&mut self, fault: &Fault, now_ms: u32) {
        match fault {
            Fault::Enter { seat, clock_ms, gains_ppm, .. } => self.enter(*seat, now_ms, *clock_ms, *gains_ppm),
            Fault::Leave { seat } if self.is_there(*seat) && !self.is_frozen(*seat) => {
                let now = self.driver.now();
                match self.place(*seat) {
                    None => leave(self.driver.hub_mut(), now),
                    Some(place) => leave(&mut self.driver.seats[place], now),
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
            Fault::Jump { seat, ms: by_ms } if self.is_there(*seat) => match self.place(*seat) {
                None => self.driver.hub_mut().clock.jump(ms(*by_ms)),
                Some(place) => self.driver.seats[place].clock.jump(ms(*by_ms)),
            },
            Fault::Cut { seats, ms } => self.troubles.push((now_ms + ms, Trouble::Cut(seats.clone()))),
            Fault::Deafen { from, to, ms } => {
                self.troubles.push((now_ms + ms, Trouble::Deaf { from: *from, to: *to }));
            }
            Fault::Weather { weather, ms } => self.troubles.push((now_ms + ms, Trouble::Weather(*weather))),
            Fault::Leave { .. } | Fault::Kill { .. } | Fault::Drop { .. } => {}
            Fault::Freeze { .. } | Fault::Jump { .. } => {}
        }
        self.weather();
    }

    fn kill(&mut self, seat: SeatId, now_ms: u32, told_ms: u32) {
        self.freeze(seat, Duration::MAX);
        self.gone(seat, now_ms);
        self.troubles.push((now_ms + told_ms, Trouble::Dead(seat)));
    }

    fn enter(&mut self, seat: SeatId, now_ms: u32, clock_ms: u32, gains_ppm: i32) {
        let Some(session) = self.sessions.remove(&seat) else { return };
        let place = self.driver.enter_by(session, |link| link);
        self.driver.seats[place].clock = Clock::new(ms(clock_ms), gains_ppm);
        self.places.insert(seat, place);
        self.lives.insert(seat, Life::new(now_ms));
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
                Trouble::Cut(_) | Trouble::Deaf { .. } | Trouble::Weather(_) | Trouble::Frozen(_) => {}
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
            network.set_cut(self.peer(a), self.peer(b), self.troubles.iter().any(apart));
            let lost = self.troubles.iter().any(deaf).then_some(Weather { loss_permille: 1_000, ..weather });
            network.set_direction(self.peer(a), self.peer(b), lost);
        }
    }

    /// Hears everyone. The process of a peer whose session is over ends.
    fn attend(&mut self, now_ms: u32) {
        for seat in self.there() {
            let (life, listener) = (self.lives.entry(seat).or_default(), &mut *self.listener);
            let place = self.places.get(&seat).copied();
            match place {
                None => hear(seat, self.driver.hub_mut(), life, listener, now_ms),
                Some(place) => hear(seat, &mut self.driver.seats[place], life, listener, now_ms),
            }
            let leaving = |(_, trouble): &(u32, Trouble)| matches!(trouble, Trouble::Leaving(it) if *it == seat);
            if life.end.is_some() && !self.troubles.iter().any(leaving) {
                self.out_of_room(seat, now_ms);
                self.gone(seat, now_ms);
            }
        }
    }

    /// Looks how far each peer is, and lets its bot play.
    fn look(&mut self, now_ms: u32) {
        let hushed = now_ms + HUSH_MS >= self.schedule.fair_from_ms() + FAIR_MS;
        let figures = now_ms.is_multiple_of(FIGURES_MS);
        for seat in self.there() {
            let frozen = self.is_frozen(seat);
            let Some(life) = self.lives.get_mut(&seat) else { continue };
            match self.places.get(&seat).copied() {
                None => look_at(self.driver.hub_mut(), life, figures, now_ms),
                Some(place) => {
                    let place = &mut self.driver.seats[place];
                    look_at(place, life, figures, now_ms);
                    // Half of them go on without those who are cut off, once that is offered.
                    if seat.is_multiple_of(2) && !frozen {
                        let _ = place.session.go_on_as_branch();
                    }
                    if !hushed && !frozen {
                        play::<G>(&mut place.session, life, &mut self.bots, seat, now_ms);
                    }
                }
            }
        }
    }

    fn out_of_room(&mut self, seat: SeatId, now_ms: u32) {
        self.driver.network.drop_peer(self.peer(seat));
        if let Some(life) = self.lives.get_mut(&seat) {
            life.in_room_until_ms = life.in_room_until_ms.or(Some(now_ms));
        }
    }

    fn gone(&mut self, seat: SeatId, now_ms: u32) {
        let place = self.places.get(&seat).copied();
        let Some(life) = self.lives.get_mut(&seat) else { return };
        let listener = &mut *self.listener;
        match place {
            None => close(seat, self.driver.hub_mut(), life, listener, now_ms),
            Some(place) => close(seat, &mut self.driver.seats[place], life, listener, now_ms),
        }
        life.gone_ms = life.gone_ms.or(Some(now_ms));
        self.bots.remove(&seat);
    }

    /// The driver's place of a seat; `None` for a hub.
    fn place(&self, seat: SeatId) -> Option<usize> {
        self.places.get(&seat).copied()
    }

    fn peer(&self, seat: SeatId) -> PeerId {
        match self.place(seat) {
            None => self.driver.hub().peer,
            Some(place) => self.driver.peer(place),
        }
    }

    fn freeze(&mut self, seat: SeatId, until: Duration) {
        match self.place(seat) {
            None => self.driver.hub_mut().freeze(until),
            Some(place) => self.driver.seats[place].freeze(until),
        }
    }
}

fn leave<T: Session>(seat: &mut Seat<T>, now: Duration) {
    let now = seat.clock.shows(now);
    seat.session.leave(now);
}

fn hear<T: Session>(number: SeatId, seat: &mut Seat<T>, life: &mut Life, listener: Listener<'_, T::Sim>, now_ms: u32) {
    for event in seat.events.drain(..) {
        life.hear(&event, now_ms);
        listener(number, &event);
    }
}

/// The last that is heard of a peer.
fn close<T: Session>(number: SeatId, seat: &mut Seat<T>, life: &mut Life, listener: Listener<'_, T::Sim>, now_ms: u32) {
    hear(number, seat, life, listener, now_ms);
    life.look_at(&seat.session.stats(), now_ms);
}

fn look_at<T: Session>(seat: &Seat<T>, life: &mut Life, figures: bool, now_ms: u32) {
    life.saw(seat.session.phase(), seat.session.settled(), now_ms);
    if figures {
        life.look_at(&seat.session.stats(), now_ms);
    }
}

/// Lets a seat's bot look at the world.
fn play<G: Game>(
    session: &mut impl Session<Sim = G::Sim>,
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
