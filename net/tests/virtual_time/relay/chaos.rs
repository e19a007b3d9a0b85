//! Bad weather, storms of many shapes, replicas that come, leave, stand still and die, heroes that
//! meet, part, and go through portals. Cores stay exact throughout. `SEED=17 cargo test -p
//! lockstone-net --test virtual_time relay::chaos -- --nocapture` repeats a seed,
//! `SEEDS=200` tries more of them.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_net::PeerId;
use lockstone_net::memory::Weather;
use lockstone_net::relay::RelaySettings;
use lockstone_net::session::EndReason;
use lockstone_net::wire::LeaveReason;
use lockstone_sim::{PlayerId, Vec2};
use testkit::relay::*;
use testkit::sessions::*;
use testkit::{seeds, storm};

use super::leaks::assert_all_concerned;

const BAD: Weather = Weather {
    delay: ms(30),
    jitter: ms(200),
    loss_permille: 200,
    duplicate_permille: 50,
    reorder_permille: 100,
    line_bytes_per_s: None,
};
/// A replica stands still for so long.
const FREEZE: Duration = secs(30);

#[test]
fn cores_stay_exact_in_a_storm() {
    let runs = seeds::each("-p lockstone-net --test virtual_time relay::chaos", 4, storm_of);
    let (cells, things) =
        runs.iter().fold((0, 0), |(cells, things), (compared, told)| (cells + compared, things + told));
    println!("{} seeds, {cells} cell-ticks compared, {things} things told, each to whom it concerns", runs.len());
}

/// What a hero does all the time.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// Goes here and there.
    Wander,
    /// Goes over a border of two columns and back, as fast as it can.
    Swing,
    /// Comes to where the others meet, then goes where nobody is.
    Meet,
    /// Goes through portals: alone, or with another to each other's place, and several
    /// in the same tick.
    Travel,
}

struct Chaos {
    scene: Scene,
    dice: Dice,
    habits: BTreeMap<PeerId, Habit>,
    /// Who stands still, and until when.
    frozen: BTreeMap<usize, Duration>,
    /// Whose line is dead.
    dead: Vec<PeerId>,
    meeting: (u16, u16),
    silence: Duration,
}

/// Plays a storm. Returns how many cells were compared, and how many things were told to replicas.
fn storm_of(seed: u64) -> (u64, usize) {
    let mut dice = Dice(seed ^ 0xc4a0);
    let storm = storm::Weather { cells: 20 + dice.roll(20) as u16, ..storm::Weather::of(seed) };
    // Areas as small as the storm's strides allow, so that they move as often as can be. Half of
    // those who stand still are put out for it.
    let silence = secs(if dice.roll(2) == 0 { 10 } else { 60 });
    let settings = RelaySettings {
        core_actors_max: if dice.roll(2) == 0 { 0 } else { 2_000 },
        enter_rings: 1 + dice.roll(3) as u16,
        leave_rings: 4,
        ahead_rings: 1 + dice.roll(3) as u16,
        silence_timeout: silence,
        load_timeout: secs(60),
        ..RelaySettings::default()
    };
    let scene = Scene::new(seed, storm, settings.clone(), BAD);
    let (habits, frozen, dead, meeting) = Default::default();
    let mut chaos = Chaos { scene, dice, habits, frozen, dead, meeting, silence };
    while chaos.scene.driver.now() < secs(45) {
        let for_ms = 200 + chaos.dice.roll(400);
        chaos.play(ms(for_ms));
        chaos.happen();
    }
    chaos.calm_down();
    chaos.assert_all_are_there(seed);
    let Chaos { scene, .. } = chaos;
    let stats = scene.stats();
    assert_eq!(stats.desyncs, 0, "seed {seed}");
    let (things, _) = assert_all_concerned(&scene, &settings);
    let relay = stats.relay.expect("a relay");
    println!(
        "seed {seed}: {} cell-ticks compared, {things} things told, {} loads, {} areas, {} begun anew",
        scene.cells_compared, relay.loads_begun, relay.areas_changed, relay.begun_anew
    );
    (scene.cells_compared, things)
}

impl Chaos {
    /// Heroes follow their habits for a time.
    fn play(&mut self, time: Duration) {
        let end = self.scene.driver.now() + time;
        while self.scene.driver.now() < end {
            let until = self.scene.driver.now() + ms(50);
            self.scene.run_until(until);
            self.frozen.retain(|_, at| until < *at);
            if self.dice.roll(100) == 0 {
                self.meeting = self.somewhere();
            }
            let together = self.dice.roll(60) == 0;
            self.scene.numbers().into_iter().for_each(|seat| self.follow_habit(seat, together));
        }
    }

    fn follow_habit(&mut self, seat: usize, together: bool) {
        let peer = self.scene.peer(seat);
        let Some((_, at)) = self.hero(seat).filter(|_| !self.frozen.contains_key(&seat)) else { return };
        let to = match self.habits[&peer] {
            Habit::Swing => self.other_side(at),
            Habit::Travel if together => {
                let (x, y) = self.partner_of(seat).unwrap_or_else(|| self.somewhere());
                (x | storm::PORTAL, y)
            }
            Habit::Meet if self.dice.roll(15) == 0 => self.meeting,
            _ if self.dice.roll(40) == 0 => self.somewhere(),
            _ => return,
        };
        let _ = self.scene.seat_mut(seat).session.command(to);
    }

    /// A seat's hero as that sees it.
    fn hero(&self, seat: usize) -> Option<(PlayerId, Vec2)> {
        let session = &self.scene.seat(seat).session;
        let player = session.stats().player?;
        Some((player, session.simulation()?.hero(player)?.pos))
    }

    /// Just across the border between an even column and the next.
    fn other_side(&self, at: Vec2) -> (u16, u16) {
        let side = 1 << self.scene.weather.cell_log2;
        let (x, y) = tile(at);
        let column = x / side;
        if column.is_multiple_of(2) { (column * side + side, y) } else { (column * side - 1, y) }
    }

    /// Where another traveller is: that one comes here.
    fn partner_of(&self, seat: usize) -> Option<(u16, u16)> {
        let travels = |seat: &usize| matches!(self.habits[&self.scene.peer(*seat)], Habit::Travel);
        let travellers: Vec<_> = self.scene.numbers().into_iter().filter(travels).collect();
        let mine = travellers.iter().position(|one| *one == seat)?;
        let (_, at) = self.hero(*travellers.get(mine ^ 1)?)?;
        Some(tile(at))
    }

    fn somewhere(&mut self) -> (u16, u16) {
        let tiles = u64::from(self.scene.weather.tiles());
        (self.dice.roll(tiles) as u16, self.dice.roll(tiles) as u16)
    }

    /// Somebody comes, goes, dies or stands still, or nobody does.
    fn happen(&mut self) {
        let (replicas, seats) = (self.scene.numbers(), self.scene.numbers().len() as u64 + 1);
        let one = self.dice.roll(seats.max(2) - 1) as usize;
        let one = replicas.get(one).copied().unwrap_or_default();
        let peer = (seats > 1).then(|| self.scene.peer(one));
        match (self.dice.roll(12), peer) {
            (0..=3, _) if seats < 12 => self.enter(),
            (4, Some(_)) if seats > 4 => {
                let now = self.scene.driver.now();
                self.scene.seat_mut(one).session.leave(now);
                self.scene.run_until(now + ms(1));
                self.scene.remove(one);
            }
            (5, Some(_)) if seats > 4 => {
                // It breaks away.
                self.scene.remove(one);
            }
            (6, Some(peer)) if seats > 4 && !self.dead.contains(&peer) && self.dice.roll(3) == 0 => {
                // Nothing comes through any more, and nobody says so.
                let relay = self.scene.peer(0);
                self.scene.driver.network.set_cut(relay, peer, true);
                self.dead.push(peer);
            }
            (7, Some(_)) if !self.frozen.contains_key(&one) => {
                let until = self.scene.driver.now() + FREEZE;
                self.scene.seat_mut(one).freeze(until);
                self.frozen.insert(one, until);
            }
            _ => {}
        }
    }

    fn enter(&mut self) {
        let habits = [Habit::Wander, Habit::Swing, Habit::Meet, Habit::Travel, Habit::Travel];
        let habit = habits[self.dice.roll(habits.len() as u64) as usize];
        let seat = self.scene.enter();
        self.habits.insert(self.scene.peer(seat), habit);
    }

    /// The weather clears, all come back who can; who was put out joins again.
    fn calm_down(&mut self) {
        self.frozen.clear();
        for seat in self.scene.numbers() {
            self.scene.seat_mut(seat).freeze(Duration::ZERO);
        }
        self.scene.driver.network.set_weather(Weather::clear(ms(30)));
        let until = self.scene.driver.now() + secs(12);
        self.scene.run_until(until);
        let mut again = 0;
        for seat in self.scene.numbers() {
            let peer = self.scene.peer(seat);
            let Some(reason) = ended(&self.scene.seat(seat).session) else {
                // It is as long dead as it may be.
                if self.dead.contains(&peer) {
                    self.scene.remove(seat);
                }
                continue;
            };
            let silent = matches!(reason, EndReason::Removed(LeaveReason::Silent)) && self.silence < FREEZE;
            let behind = matches!(reason, EndReason::Removed(LeaveReason::TooSlow));
            let lost = matches!(reason, EndReason::SequencerLost { silent: true } | EndReason::NoSession);
            assert!(silent || behind || (lost && self.dead.contains(&peer)), "seat {seat} ended: {reason}");
            self.scene.remove(seat);
            again += 1;
        }
        (0..again).for_each(|_| self.enter());
        let until = self.scene.driver.now() + secs(5);
        self.scene.run_until(until);
    }

    fn assert_all_are_there(&self, seed: u64) {
        let tick = self.scene.stats().tick;
        assert_eq!(self.scene.playing(), self.scene.numbers().len(), "seed {seed}: everyone who is there plays");
        for (n, seat) in self.scene.seats() {
            let behind = tick.since(seat.session.stats().tick);
            assert!(behind <= 5, "seed {seed}: seat {n} is {behind} ticks behind");
        }
    }
}

fn tile(at: Vec2) -> (u16, u16) {
    ((at.x.to_bits() >> 12) as u16, (at.y.to_bits() >> 12) as u16)
}
