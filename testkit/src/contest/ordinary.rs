//! The play as it is ordinarily done: entities in a map by id, the whole world cloned for a
//! snapshot, serialised by bincode and hashed by FNV for a checksum. Heroes are looked up in a grid
//! made anew each tick, which is kinder than usual.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockstone_sim::codec::{self, CodecError};
use lockstone_sim::{Checksum, Nothing, PlayerId, Simulation, Tick, Turn};
use serde::{Deserialize, Serialize};

use super::play::{ARM, Being, HERO_STEP, Kind, MONSTER_STEP, Places, Play, SIGHT};

#[derive(Clone, Serialize, Deserialize)]
pub struct Ordinary {
    tick: u32,
    crowd: i32,
    dice: u64,
    entities: BTreeMap<u64, Thing>,
    /// Where the objects lie, which never move: neither cloned nor hashed.
    #[serde(skip)]
    objects: Arc<Lookup>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Thing {
    pos: (i32, i32),
    kind: Kind,
}

/// Who stands in which square of `SIGHT`.
#[derive(Default)]
struct Lookup(BTreeMap<(i32, i32), Vec<Spot>>);

/// An entity and its place.
type Spot = (u64, (i32, i32));

impl Lookup {
    fn insert(&mut self, id: u64, pos: (i32, i32)) {
        self.0.entry((pos.0 / SIGHT, pos.1 / SIGHT)).or_default().push((id, pos));
    }

    fn near(&self, pos: (i32, i32), radius: i32) -> impl Iterator<Item = Spot> {
        let square = (pos.0 / SIGHT, pos.1 / SIGHT);
        let squares = (-1..=1).flat_map(move |y| (-1..=1).map(move |x| (square.0 + x, square.1 + y)));
        let all = squares.filter_map(|square| self.0.get(&square)).flatten().copied();
        all.filter(move |&(_, at)| distance_squared(pos, at) <= i64::from(radius) * i64::from(radius))
    }
}

fn distance_squared(a: (i32, i32), b: (i32, i32)) -> i64 {
    let (x, y) = (i64::from(a.0 - b.0), i64::from(a.1 - b.1));
    x * x + y * y
}

fn toward(from: (i32, i32), to: (i32, i32), step: i32) -> (i32, i32) {
    let length = distance_squared(from, to).isqrt().max(1);
    if length <= i64::from(step) {
        return to;
    }
    let along = |a: i32, b: i32| a + (i64::from(b - a) * i64::from(step) / length) as i32;
    (along(from.0, to.0), along(from.1, to.1))
}

fn walk(pos: &mut (i32, i32), being: &mut Being, to: (i32, i32), step: i32, places: &mut Places, crowd: i32) {
    if distance_squared(*pos, to) <= i64::from(step) * i64::from(step) {
        being.goal = places.place(crowd);
    }
    *pos = toward(*pos, to, step);
    being.rest = being.rest.saturating_sub(1);
}

impl Ordinary {
    pub fn new(play: &Play) -> Ordinary {
        let things = play.start().into_iter().map(|(pos, kind)| Thing { pos, kind });
        let ids = (1_u64..).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let entities: BTreeMap<u64, Thing> = ids.zip(things).collect();
        let mut objects = Lookup::default();
        for (&id, thing) in &entities {
            if matches!(thing.kind, Kind::Object { .. }) {
                objects.insert(id, thing.pos);
            }
        }
        Ordinary { tick: 0, crowd: play.crowd, dice: 9, entities, objects: Arc::new(objects) }
    }

    /// How many entities there are.
    pub fn population(&self) -> usize {
        self.entities.len()
    }
}

impl Simulation for Ordinary {
    type Command = ();
    type Hero = ();
    type Join = ();
    type Request = ();
    type Given = Nothing;
    type Snapshot = Ordinary;

    fn tick(&self) -> Tick {
        Tick(self.tick)
    }

    fn step(&mut self, _: &Turn<Self>) {
        self.tick += 1;
        let (mut heroes, mut monsters) = (Lookup::default(), Lookup::default());
        for (&id, thing) in &self.entities {
            match thing.kind {
                Kind::Hero { .. } => heroes.insert(id, thing.pos),
                Kind::Monster { .. } => monsters.insert(id, thing.pos),
                Kind::Object { .. } => {}
            }
        }
        let mut places = Places(self.dice);
        let mut hurt = Vec::new();
        for thing in self.entities.values_mut() {
            match &mut thing.kind {
                Kind::Hero { being, .. } => {
                    let to = being.goal;
                    walk(&mut thing.pos, being, to, HERO_STEP, &mut places, self.crowd);
                    if being.rest == 0 {
                        being.rest = 20;
                        hurt.extend(monsters.near(thing.pos, ARM).next().map(|(foe, _)| (foe, 9)));
                        hurt.extend(self.objects.near(thing.pos, ARM).next().map(|(object, _)| (object, 0)));
                    }
                }
                Kind::Monster { being, .. } => {
                    let here = thing.pos;
                    let prey = heroes.near(here, SIGHT).min_by_key(|&(id, at)| (distance_squared(here, at), id));
                    let to = prey.map_or(being.goal, |(_, at)| at);
                    walk(&mut thing.pos, being, to, MONSTER_STEP, &mut places, self.crowd);
                    if let Some((foe, at)) = prey
                        && being.rest == 0
                        && distance_squared(here, at) <= i64::from(ARM) * i64::from(ARM)
                    {
                        being.rest = 20;
                        hurt.push((foe, 3));
                    }
                }
                Kind::Object { .. } => {}
            }
        }
        self.dice = places.0;
        for (target, by) in hurt {
            match self.entities.get_mut(&target).map(|thing| &mut thing.kind) {
                Some(Kind::Hero { being, .. } | Kind::Monster { being, .. }) => being.hurt(by),
                Some(Kind::Object { touched, .. }) => *touched += 1,
                None => {}
            }
        }
    }

    fn snapshot(&mut self) -> Ordinary {
        self.clone()
    }

    fn restore(&mut self, snapshot: &Ordinary) {
        *self = snapshot.clone();
    }

    fn requests(&self) -> &[()] {
        &[]
    }

    fn admit(&self, _: PlayerId, (): ()) {}

    fn checksum(&mut self) -> Checksum {
        let fnv = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        Checksum(self.encode(self).iter().fold(0xcbf2_9ce4_8422_2325, fnv))
    }

    fn encode(&self, snapshot: &Ordinary) -> Vec<u8> {
        codec::compact(snapshot)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Ordinary, CodecError> {
        Ok(Ordinary { objects: self.objects.clone(), ..codec::read::<Ordinary>(bytes, usize::MAX)? })
    }
}
