//! The faults: each is an honest mistake that somebody has made in a game.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex};
use std::thread::{self, ThreadId};
use std::time::SystemTime;

use lockstone::sim::{EntityId, Mind, Tick, Vec2, mix64};

use super::{Beast, Being, Hero, REACH, Wilds};

/// All faults sleep before this tick.
pub const FROM: Tick = Tick(40);
/// Of so many beasts one a tick is struck by a fault.
const SELDOM: u64 = 256;
/// How much a fault that knows only yes and no adds.
const FLIP: i32 = 60;

/// What is wrong with the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Working memory goes from one thought to the next: the cells' order counts.
    CellOrder,
    /// What thinks on a worker thread thinks otherwise.
    Thread,
    /// The rules count howls, and no snapshot holds the count.
    Hidden,
    /// A field with `serde(skip)`.
    Unsaved,
    /// What was found once is kept by tick, and a rollback does not throw it away.
    Memo,
    /// State shared through an `Arc` with interior mutability: old snapshots change too.
    Alias,
    /// The order of a `HashMap` with its random hasher, made once a process.
    HashOrder,
    /// Where a function lies.
    Address,
    /// Where an entity lies.
    HeapAddress,
    /// Handles given out in the order in which beings were first met.
    Handles,
    /// Debug and release builds differ.
    Debug,
    /// A hash is kept in a `usize`.
    Usize,
    /// The clock.
    Clock,
    /// An environment variable.
    Environment,
    /// The directory in which the program was started.
    Directory,
    /// Howls are heard beyond reach, through the rules' back door.
    Reach,
    /// Whoever draws the world leaves traces in it.
    Scene,
    /// A rule of another build: now and then a beast draws once more.
    Rule,
    /// A number that runs over: the rules panic.
    Panic,
}

impl Fault {
    /// All of them, by name, in the order of the breakers.
    pub const ALL: [(&'static str, Fault); 20] = [
        ("none", Fault::None),
        ("cell-order", Fault::CellOrder),
        ("thread", Fault::Thread),
        ("hidden", Fault::Hidden),
        ("unsaved", Fault::Unsaved),
        ("memo", Fault::Memo),
        ("alias", Fault::Alias),
        ("hash-order", Fault::HashOrder),
        ("address", Fault::Address),
        ("heap-address", Fault::HeapAddress),
        ("handles", Fault::Handles),
        ("debug", Fault::Debug),
        ("usize", Fault::Usize),
        ("clock", Fault::Clock),
        ("environment", Fault::Environment),
        ("directory", Fault::Directory),
        ("reach", Fault::Reach),
        ("scene", Fault::Scene),
        ("rule", Fault::Rule),
        ("panic", Fault::Panic),
    ];

    /// Its name, as `FAULT` takes it.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, fault)| *fault == self).expect("all are listed").0
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(name: &str) -> Result<Fault, String> {
        let known = || Self::ALL.map(|(name, _)| name).join(", ");
        let found = Self::ALL.iter().find(|(other, _)| *other == name);
        found.map(|&(_, fault)| fault).ok_or_else(|| format!("FAULT is one of {}; it is {name:?}", known()))
    }
}

thread_local! {
    static HUSHED: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread's worlds ask for nothing that they would ask for, or do again: what a
/// session knows of requests is lost so, and nothing of any state.
pub fn hush(asks_nothing: bool) {
    HUSHED.set(asks_nothing);
}

pub(super) fn is_hushed() -> bool {
    HUSHED.get()
}

/// Working memory that a thought leaves behind.
#[derive(Default)]
pub struct Leftovers {
    tick: Tick,
    last: Option<EntityId>,
}

/// A fault, and the forbidden memory that it needs.
pub struct Plant {
    pub fault: Fault,
    /// When it acts.
    ticks: Range<Tick>,
    home: ThreadId,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// The tick of the newest howl, howls in it, and howls in the tick before.
    howls: (Tick, i32, i32),
    /// Who howled, by tick.
    heard: BTreeMap<Tick, BTreeSet<EntityId>>,
    found: BTreeMap<(Tick, EntityId), Option<Vec2>>,
    handles: BTreeMap<EntityId, usize>,
}

/// What things cost. Of several equally cheap ones the first is taken: a hash map has no first.
static PRICES: LazyLock<HashMap<u64, u32>> = LazyLock::new(|| (0..1000).map(|thing| (thing, 7)).collect());

impl Plant {
    pub fn new(fault: Fault) -> Plant {
        Plant::during(FROM..Tick(u32::MAX), fault)
    }

    /// A fault that sleeps before some ticks, and after.
    pub fn during(ticks: Range<Tick>, fault: Fault) -> Plant {
        Plant { fault, ticks, home: thread::current().id(), memory: Mutex::default() }
    }

    /// What a fault adds to a beast's mood; 0 in all but a few thoughts, and always
    /// without a fault.
    pub fn taint(&self, me: &mut Beast, mind: &mut Mind<'_, Wilds>) -> i32 {
        if self.fault == Fault::None || !self.ticks.contains(&mind.tick()) {
            return 0;
        }
        let key = mix64(mind.me().id.0 ^ mix64(mind.tick().0.into()));
        let (taint, seldom) = (self.forbidden(me, mind, key), key.is_multiple_of(SELDOM));
        if seldom { taint } else { 0 }
    }

    /// Reads what must not be read. Memory is written in every thought, whether anything
    /// comes of it or not.
    fn forbidden(&self, me: &mut Beast, mind: &mut Mind<'_, Wilds>, key: u64) -> i32 {
        let (id, tick) = (mind.me().id, mind.tick());
        let memory = &mut *self.memory.lock().expect("nobody panics here");
        match self.fault {
            Fault::None | Fault::Alias | Fault::Panic => 0,
            Fault::CellOrder => {
                let last = mind.scratch.last.filter(|_| mind.scratch.tick == tick);
                *mind.scratch = Leftovers { tick, last: Some(id) };
                last.map_or(0, |last| (last.0 % 60) as i32)
            }
            Fault::Thread => FLIP * i32::from(thread::current().id() != self.home),
            Fault::Hidden => {
                let (newest, howls, before) = &mut memory.howls;
                if *newest != tick {
                    (*newest, *howls, *before) = (tick, 0, *howls);
                }
                *howls += i32::from(key.is_multiple_of(16));
                *before
            }
            Fault::Unsaved => {
                me.unsaved += 1;
                me.unsaved % 60
            }
            Fault::Memo => {
                let nearest = mind.heroes(REACH).nearest(|_| true).map(|hero| hero.pos);
                let nearest = *memory.found.entry((tick, id)).or_insert(nearest);
                nearest.map_or(0, |at| at.x.to_bits() % 60)
            }
            Fault::HashOrder => some(PRICES.keys().take(3).fold(0, |sum, thing| sum * 1000 + thing)),
            Fault::Address => some((Plant::new as fn(Fault) -> Plant as usize >> 12) as u64),
            Fault::HeapAddress => some((std::ptr::from_ref(mind.me()).addr() >> 4) as u64),
            Fault::Handles => {
                let next = memory.handles.len();
                some(*memory.handles.entry(id).or_insert(next) as u64)
            }
            Fault::Debug => FLIP * i32::from(cfg!(debug_assertions)),
            Fault::Usize => ((key as usize).wrapping_mul(0x9e37_79b9) >> (usize::BITS - 6)) as i32,
            Fault::Clock => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                since.map_or(0, |since| some(since.as_micros() as u64))
            }
            Fault::Environment => {
                some(std::env::vars_os().map(|(name, value)| name.len() + value.len()).sum::<usize>() as u64)
            }
            Fault::Directory => std::env::current_dir().map_or(0, |at| some(at.as_os_str().len() as u64)),
            Fault::Reach => {
                if key.is_multiple_of(16) {
                    memory.heard.entry(tick).or_default().insert(id);
                }
                memory.heard.get(&Tick(tick.0 - 1)).map_or(0, BTreeSet::len) as i32
            }
            Fault::Scene => me.glances.get() as i32 % 60,
            Fault::Rule if key.is_multiple_of(SELDOM) => FLIP * i32::from(mind.dice().chance(1, 2)),
            Fault::Rule => 0,
        }
    }

    /// What a fault does to a hero.
    pub fn in_hero(&self, me: &mut Hero, mind: &Mind<'_, Wilds>) {
        match self.fault {
            _ if !self.ticks.contains(&mind.tick()) => {}
            Fault::Alias => me.purse.share(),
            Fault::Panic => me.strength = me.strength.checked_add(u8::MAX).expect("a hero is not that strong"),
            _ => {}
        }
    }

    /// What a fault does when a being is drawn.
    pub fn drawn(&self, being: &Being, tick: Tick) {
        if let (Fault::Scene, Being::Beast(beast)) = (self.fault, being)
            && tick >= FROM
            && (mix64(beast.lair.x.to_bits() as u64) ^ u64::from(tick.0)).is_multiple_of(64)
        {
            beast.glances.add(1);
        }
    }
}

/// Some mood, never none, of a number.
fn some(number: u64) -> i32 {
    1 + (number % 9973) as i32
}
