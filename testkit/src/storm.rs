//! Rules made to find faults: everything acts on everything, as far as the engine lets it.
//!
//! Chasers hunt, bombs blow up whole neighbourhoods, nests spawn, mines lie still until touched,
//! ghosts ask for transfers and announcements. All of it depends on what is seen to the very edge
//! of the reach, and on draws.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lockstone_sim::world::{Request, Zone};
use lockstone_sim::{
    Area, Body, Cause, CellId, Dice, EntityId, Fate, Fx, Grid, GridConfig, Input, Mind, PlayerId, Rules, Simulation,
    Table, Tick, Turn, Vec2, World,
};
use serde::{Deserialize, Serialize};

pub type StormWorld = World<Storm>;

/// In a command's column: a portal moves the hero there.
pub const PORTAL: u16 = 1 << 15;
/// In a command's row: nothing drains the hero for a long time, so that no portal moves it.
pub const STURDY: u16 = 1 << 15;
/// In a command's row, with a portal: a second one of the same turn moves the hero on from there.
pub const ONWARD: u16 = 1 << 14;
/// In a command's column, with a portal: that one, one back home, one a little beyond the first,
/// and so on, and back home at last. One more than a turn of a session takes.
pub const OFTEN: u16 = 1 << 14;
const OFTEN_TIMES: usize = 257;
const UNDRAINED: u32 = 1 << 30;
/// Where a hero walks whose player is away. No command says so.
const AWAY: Vec2 = Vec2::new(Fx::EPSILON, Fx::EPSILON);
/// The energy of a hero that a portal was called for.
const CALLED: u32 = u32::MAX;
/// The same, and for one that leads on.
const CALLED_ONWARD: u32 = u32::MAX - 1;
/// The same, and for many.
const CALLED_OFTEN: u32 = u32::MAX - 2;
/// How far one leads on.
const ONWARD_WAY: Vec2 = Vec2::new(Fx::int(3), Fx::ZERO);

pub struct Storm {
    weather: Weather,
    /// From this tick on each thought adds one to a counter outside of the world, and reads it:
    /// rules must not have one.
    counts_from: Option<Tick>,
    counter: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Soul {
    pub kind: Kind,
    pub energy: u32,
    pub heading: Vec2,
    pub memory: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    Hero,
    Chaser,
    Bomb,
    Nest,
    Mine {
        armed: bool,
    },
    Ghost {
        asked: bool,
    },
    /// Turns from actor to prop by itself, and back and forth when it is armed, on the way to
    /// another cell too.
    Mimic {
        still: bool,
    },
}

impl Body for Soul {
    fn is_actor(&self) -> bool {
        !matches!(self.kind, Kind::Mine { armed: false } | Kind::Mimic { still: true })
    }

    fn is_unchanged(&self, before: &Soul) -> bool {
        self == before
    }
}

#[derive(Clone, Debug)]
pub enum Effect {
    Drain(u32),
    Feed(u32),
    Arm,
    Mark(u64),
}

impl Rules for Storm {
    const AWAY_TICKS: u32 = 300;

    type Body = Soul;
    type Effect = Effect;
    type Command = (u16, u16);
    type Hero = ();
    type Facts = u64;
    type Fact = u64;
    type Scratch = ();

    fn generate(&self, cell: CellId, dice: &mut Dice, content: &mut Vec<(Vec2, Soul)>) {
        let side = 1 << self.weather.cell_log2;
        for _ in 0..dice.below(4) {
            let along = |n: u16, dice: &mut Dice| {
                Fx::int(i32::from(n) * side) + Fx::from_bits(dice.below(4096 * side as u32) as i32)
            };
            let pos = Vec2::new(along(cell.x, dice), along(cell.y, dice));
            let kinds = [
                Kind::Chaser,
                Kind::Bomb,
                Kind::Nest,
                Kind::Mine { armed: false },
                Kind::Ghost { asked: false },
                Kind::Mimic { still: false },
            ];
            let kind = kinds[dice.weighted(&[8, 2, 1, 6, 1, 5]).expect("the weights are not all 0")];
            content.push((pos, Soul { kind, energy: 20 + dice.below(60), heading: pos, memory: 0 }));
        }
    }

    fn entrance(&self, player: PlayerId, _hero: &(), facts: &u64) -> Vec2 {
        let along = |n: u64| Fx::int((n % u64::from(self.weather.tiles())) as i32);
        Vec2::new(along(u64::from(player.0) * 17 + facts), along(u64::from(player.0) * 29 + 5))
    }

    fn enter(&self, _player: PlayerId, _hero: &(), dice: &mut Dice) -> Soul {
        Soul { kind: Kind::Hero, energy: 200, heading: Vec2::ZERO, memory: u64::from(dice.next_u32()) }
    }

    fn command(&self, hero: &mut Soul, &(x, y): &(u16, u16)) {
        if x & PORTAL > 0 {
            hero.energy = match (y & ONWARD > 0, x & OFTEN > 0) {
                (_, true) => CALLED_OFTEN,
                (true, false) => CALLED_ONWARD,
                (false, false) => CALLED,
            };
        }
        if y & STURDY > 0 {
            hero.energy = UNDRAINED;
        }
        let (x, y) = (x & !PORTAL & !OFTEN, y & !STURDY & !ONWARD);
        hero.heading = Vec2::new(Fx::int(i32::from(x)), Fx::int(i32::from(y)));
    }

    fn think(&self, me: &mut Soul, mind: &mut Mind<'_, Self>) {
        // What is remembered depends on all that is seen.
        for seen in mind.actors(Fx::MAX).chain(mind.props(Fx::MAX)) {
            me.memory = me.memory.rotate_left(7) ^ seen.id.0 ^ seen.pos.x.to_bits() as u64 ^ seen.body.memory;
        }
        me.memory ^= mind.facts();
        if self.counts_from.is_some_and(|from| mind.tick() >= from) {
            me.memory ^= self.counter.fetch_add(1, Ordering::Relaxed);
        }
        if me.energy == 0 && me.kind != Kind::Hero {
            mind.vanish();
        }
        match me.kind {
            Kind::Hero => self.lead(me, mind),
            Kind::Chaser => self.chase(me, mind),
            Kind::Bomb if mind.dice().chance(1, 40) => self.blow(mind),
            Kind::Bomb => drift(me, mind, self.weather.stride),
            Kind::Nest if mind.dice().chance(1, 12) => self.hatch(me, mind),
            Kind::Nest => {}
            Kind::Mine { .. } => self.blow(mind),
            Kind::Ghost { asked } => self.haunt(me, asked, mind),
            Kind::Mimic { .. } => {
                drift(me, mind, self.weather.stride);
                me.kind = Kind::Mimic { still: mind.dice().chance(1, 6) };
            }
        }
    }

    fn apply(&self, target: &mut Soul, effect: &Effect, cause: &mut Cause) -> Fate {
        match effect {
            Effect::Drain(by) => target.energy = target.energy.saturating_sub(*by + cause.dice.below(3)),
            Effect::Feed(by) => target.energy = (target.energy + by).min(250),
            Effect::Mark(mark) => target.memory = target.memory.wrapping_mul(31).wrapping_add(*mark),
            Effect::Arm => match &mut target.kind {
                Kind::Mine { armed } => *armed = true,
                Kind::Mimic { still } => *still = !*still,
                _ => {}
            },
        }
        let doomed = target.energy == 0 && target.kind != Kind::Hero && cause.dice.chance(1, 2);
        if doomed { Fate::Gone } else { Fate::Stay }
    }

    fn away(&self, hero: &mut Soul) {
        hero.memory = hero.memory.rotate_left(7) ^ 0xa;
        hero.energy /= 2;
        hero.heading = AWAY;
    }

    fn back(&self, hero: &mut Soul) {
        hero.memory = hero.memory.rotate_left(9) ^ 0xb;
        hero.energy = hero.energy.saturating_add(9);
    }

    /// Who is away leaves a bomb and a mine.
    fn leave(&self, hero: &Soul, stays: &mut Vec<Soul>) {
        let behind = |kind| Soul { kind, energy: 30, memory: hero.memory, heading: Vec2::ZERO };
        if hero.heading == AWAY {
            stays.extend([Kind::Bomb, Kind::Mine { armed: false }].map(behind));
        }
    }

    fn announce(&self, facts: &mut u64, fact: &u64) {
        *facts = facts.wrapping_mul(131).wrapping_add(*fact);
    }
}

impl Storm {
    fn lead(&self, me: &mut Soul, mind: &mut Mind<'_, Self>) {
        mind.walk(mind.pos().toward(me.heading, self.weather.stride));
        for seen in mind.props(self.weather.reach) {
            mind.affect(seen, Effect::Arm);
        }
        if let Some(near) = mind.actors(self.weather.reach).nearest(|other| other.body.kind != Kind::Hero) {
            mind.affect(near, Effect::Drain(4));
            mind.affect(near, Effect::Mark(me.memory));
        }
        let (there, onward) = (me.heading, me.heading + ONWARD_WAY);
        match me.energy {
            CALLED => mind.transfer(there),
            CALLED_ONWARD => [there, onward].into_iter().for_each(|to| mind.transfer(to)),
            CALLED_OFTEN => {
                let ways = [there, mind.pos(), onward].into_iter().cycle();
                ways.take(OFTEN_TIMES).for_each(|to| mind.transfer(to));
            }
            _ => {}
        }
        if me.energy >= CALLED_OFTEN {
            me.energy = 200;
        }
        if me.energy == 0 {
            me.energy = 200;
            let to = self.anywhere(mind.dice());
            mind.transfer(to);
        }
    }

    fn chase(&self, me: &mut Soul, mind: &mut Mind<'_, Self>) {
        match mind.heroes(self.weather.reach).nearest(|_| true) {
            Some(hero) => {
                // Asks for more than the stride allows.
                mind.walk(hero.pos);
                mind.affect(hero, Effect::Drain(3));
                me.energy = me.energy.saturating_sub(1);
            }
            None => drift(me, mind, self.weather.stride),
        }
        let far = mind.actors(self.weather.reach).max_by_key(|seen| (seen.distance_squared(), seen.id));
        if let Some(far) = far {
            mind.affect(far, Effect::Mark(mind.me().id.0));
        }
    }

    fn blow(&self, mind: &mut Mind<'_, Self>) {
        for seen in mind.actors(self.weather.reach).chain(mind.props(self.weather.reach)) {
            mind.affect(seen, Effect::Drain(15));
            mind.affect(seen, Effect::Arm);
        }
        mind.vanish();
    }

    fn hatch(&self, me: &mut Soul, mind: &mut Mind<'_, Self>) {
        let angle = mind.dice().angle();
        let pos = mind.pos() + Vec2::from_angle(angle, self.weather.reach);
        let kind = if mind.dice().chance(1, 3) { Kind::Mine { armed: false } } else { Kind::Chaser };
        mind.spawn(pos, Soul { kind, energy: 30, heading: pos, memory: me.memory });
        me.energy = me.energy.saturating_sub(1);
    }

    fn haunt(&self, me: &mut Soul, asked: bool, mind: &mut Mind<'_, Self>) {
        if !asked && mind.dice().chance(1, 60) {
            me.kind = Kind::Ghost { asked: true };
            mind.announce(me.memory);
            let to = self.anywhere(mind.dice());
            mind.transfer(to);
        }
    }

    fn anywhere(&self, dice: &mut Dice) -> Vec2 {
        let mut along = || Fx::int(dice.below(self.weather.tiles()) as i32);
        Vec2::new(along(), along())
    }
}

fn drift(me: &mut Soul, mind: &mut Mind<'_, Storm>, stride: Fx) {
    if mind.dice().chance(1, 10) {
        let angle = mind.dice().angle();
        me.heading = mind.pos() + Vec2::from_angle(angle, Fx::int(9));
    }
    mind.walk(mind.pos().toward(me.heading, stride));
}

/// What differs from storm to storm.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub seed: u64,
    /// Columns and rows of the world.
    pub cells: u16,
    pub cell_log2: u8,
    pub reach: Fx,
    pub stride: Fx,
    pub light: u8,
    pub players: u16,
}

/// A storm that costs little.
pub const SMALL: Weather =
    Weather { seed: 11, cells: 8, cell_log2: 2, reach: Fx::int(3), stride: Fx::ONE, light: 2, players: 4 };

impl Weather {
    pub const CELLS: u16 = 24;

    /// A storm for every seed.
    pub fn of(seed: u64) -> Weather {
        let mut dice = table().dice(seed ^ 0x57a7, Tick(0));
        Weather {
            seed,
            cells: Self::CELLS,
            cell_log2: 2,
            reach: Fx::from_bits(dice.range(2 * 4096..=5 * 4096)),
            stride: Fx::from_bits(dice.range(1024..=3 * 4096)),
            light: 2 + dice.below(5) as u8,
            players: 2 + dice.below(40) as u16,
        }
    }

    /// Columns and rows of the world, in tiles.
    pub fn tiles(&self) -> u32 {
        u32::from(self.cells) << self.cell_log2
    }

    /// A place that a command can name.
    pub fn place(&self, n: u64) -> (u16, u16) {
        let along = |n: u64| (n % u64::from(self.tiles())) as u16;
        (along(n), along(n >> 32))
    }

    pub fn world(&self) -> StormWorld {
        self.counting_world(None)
    }

    /// A world whose rules count from a tick on, outside of it.
    pub fn counting_world(&self, counts_from: Option<Tick>) -> StormWorld {
        let Weather { seed, cells, cell_log2, reach, stride, light, .. } = *self;
        let config = GridConfig { width_cells: cells, height_cells: cells, cell_log2, reach, stride, light };
        let rules = Storm { weather: *self, counts_from, counter: AtomicU64::new(0) };
        World::new(Arc::new(rules), Grid::new(config).expect("the measures are sound"), table(), seed)
    }
}

pub fn table() -> Table {
    use std::sync::OnceLock;
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::generate([3; 32])).clone()
}

/// Makes the turns of a storm: players come, go and command at random, and requests are granted
/// three ticks late.
pub struct Turns {
    dice: Dice<'static>,
    /// Of its own draws, so that what else happens is the same with and without.
    absences: Option<Dice<'static>>,
    /// Of its own draws too.
    returns: Option<Dice<'static>>,
    weather: Weather,
    pending: Vec<(u32, Request<u64>)>,
}

impl Turns {
    pub fn of(weather: &Weather) -> Turns {
        let dice = table().dice(weather.seed ^ 0x7072, Tick(0));
        Turns { dice, absences: None, returns: None, weather: *weather, pending: Vec::new() }
    }

    /// The same, in which players are away now and then.
    pub fn with_absences(self) -> Turns {
        let absences = table().dice(self.weather.seed ^ 0xa3a4, Tick(0));
        Turns { absences: Some(absences), ..self }
    }

    /// The same, in which players leave now and then, and enter anew in the same turn.
    pub fn with_returns(self) -> Turns {
        let returns = table().dice(self.weather.seed ^ 0x7e70, Tick(0));
        Turns { returns: Some(returns), ..self }
    }

    pub fn next(&mut self, world: &StormWorld) -> Turn<StormWorld> {
        let now = world.tick().0;
        self.pending.extend(world.requests().iter().map(|request| (now + 3, request.clone())));
        let mut inputs = Vec::new();
        for player in (0..self.weather.players).map(PlayerId) {
            match world.hero(player) {
                None if self.dice.chance(1, 10) => inputs.push(Input::Join(player, world.admit(player, ()))),
                None => {}
                Some(_) if self.dice.chance(1, 150) => inputs.push(Input::Leave(player)),
                Some(_) if self.dice.chance(1, 8) => {
                    let mut along = || self.dice.below(self.weather.tiles()) as u16;
                    inputs.push(Input::Command(player, (along(), along())));
                }
                Some(_) => {}
            }
            let is_there = world.hero(player).is_some();
            let returns = self.returns.as_mut().filter(|_| is_there).is_some_and(|dice| dice.chance(1, 40));
            if returns {
                inputs.extend([Input::Leave(player), Input::Join(player, world.admit(player, ()))]);
            }
            let absent = self.absences.as_mut().filter(|_| is_there && !returns);
            match absent.map(|dice| dice.below(60)) {
                Some(0) => inputs.push(Input::Away(player)),
                Some(1) => inputs.push(Input::Back(player)),
                _ => {}
            }
        }
        let due = self.pending.iter().take_while(|(when, _)| *when <= now).count();
        inputs.extend(self.pending.drain(..due).map(|(_, request)| Input::Request(request)));
        Turn { inputs }
    }
}

/// The id of an entity that a transfer moves, and where to.
pub fn transfer(input: &Input<StormWorld>) -> Option<(EntityId, Vec2)> {
    match input {
        Input::Request(Request::Transfer { entity, to, .. }) => Some((*entity, *to)),
        _ => None,
    }
}

/// What a replica with this area is sent of a turn: its own area's inputs, and facts.
pub fn relayed(turn: &Turn<StormWorld>, whole: &StormWorld, area: &Area) -> Turn<StormWorld> {
    let cell_of = |pos| whole.grid().cell_of(pos);
    let thinks = |player| whole.hero(player).is_some_and(|hero| area.zone(cell_of(hero.pos)) >= Zone::Fringe);
    let wanted = |input: &&Input<StormWorld>| match input {
        Input::Command(player, _) | Input::Leave(player) | Input::Away(player) | Input::Back(player) => thinks(*player),
        Input::Join(_, join) => area.zone(cell_of(join.at)) == Zone::Core,
        Input::Request(_) => true,
        Input::Given(_) => false,
    };
    Turn { inputs: turn.inputs.iter().filter(wanted).cloned().collect() }
}
