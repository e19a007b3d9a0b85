//! The games: two worlds of other measures and rules, and a simulation without cells.

use lockstone::check::Inspect;
use lockstone::game::Game as _;
use lockstone::sim::journal::Site;
use lockstone::sim::world::StatePart;
use lockstone::sim::{CellId, Dice, EntityId, Fx, Input, PlayerId, Simulation, Turn, Vec2};
use testkit::faulty::{self, Fault, Faulty, Order};
use testkit::pasture::{self, Pasture, Wrong};
use testkit::tampered::scribble;

use super::case::Plant;
use super::foreign;
use super::judge::Planted;

/// A game into which something can be planted.
pub trait Game {
    type Sim: Inspect;
    const NAME: &'static str;
    /// What can be planted into it.
    const PLANTS: &'static [Plant];
    /// The lines in which its fault lies.
    fn lines(plant: Plant) -> Option<Lines>;
    /// What the peers play, and the checker.
    fn world(seed: u64, plant: Plant) -> Self::Sim;
    /// What the odd peer plays.
    fn odd_world(seed: u64, plant: Plant) -> Self::Sim {
        Self::world(seed, plant)
    }
    fn turns(seed: u64, ticks: u32) -> Vec<Turn<Self::Sim>>;
    fn command(dice: &mut Dice<'_>) -> Input<Self::Sim>;
    fn look(world: &Self::Sim);
    /// Turns so many bits of a number over, and tells which.
    fn scribble(world: &mut Self::Sim, dice: &mut Dice<'_>, bits: u32) -> Planted;
}

/// The lines of a fault.
pub struct Lines {
    /// Those that do something else because of it: if a report tells what was decided, one of these
    /// decided it.
    pub decide: &'static [Part],
    /// Those that may come last before it writes something: if only that is told, it is one of
    /// these.
    pub precede: &'static [Part],
}

/// A part of a source file: from the first line that holds a text to the first that holds another.
pub struct Part {
    file: &'static str,
    source: &'static str,
    from: &'static str,
    to: &'static str,
}

impl Part {
    const fn of_wilds(from: &'static str, to: &'static str) -> Part {
        Part { file: "testkit/src/faulty/mod.rs", source: include_str!("../../testkit/src/faulty/mod.rs"), from, to }
    }

    const fn of_meadow(from: &'static str, to: &'static str) -> Part {
        Part { file: "testkit/src/pasture.rs", source: include_str!("../../testkit/src/pasture.rs"), from, to }
    }

    pub fn holds(&self, site: &Site) -> bool {
        let at = |of| self.source.lines().position(|line| line.contains(of)).expect("it is there") as u32 + 1;
        site.file.ends_with(self.file) && (at(self.from)..=at(self.to)).contains(&site.line)
    }
}

pub struct Wilds;

impl Wilds {
    fn fault(plant: Plant) -> Fault {
        match plant {
            Plant::Field => Fault::Unsaved,
            Plant::HiddenField => Fault::Hidden,
            Plant::Scene => Fault::Scene,
            Plant::Clock => Fault::Clock,
            Plant::HashOrder => Fault::HashOrder,
            _ => Fault::None,
        }
    }
}

impl Game for Wilds {
    type Sim = faulty::Sim;
    const NAME: &'static str = "wilds";
    const PLANTS: &'static [Plant] = &[
        Plant::Nothing,
        Plant::Keyframe,
        Plant::Input,
        Plant::Seed,
        Plant::HiddenSeed,
        Plant::Table,
        Plant::Rules,
        Plant::Platform,
        Plant::Bit,
        Plant::LateBit,
        Plant::Write,
        Plant::Field,
        Plant::HiddenField,
        Plant::Scene,
        Plant::Clock,
    ];

    fn lines(plant: Plant) -> Option<Lines> {
        /// A beast's mood is all that these change, and only this asks for it.
        const BITE: Part = Part::of_wilds("let damage = 1 + mind", "mind.affect(hero, Deed::Bite(damage));");
        const ROAM: Part = Part::of_wilds("fn roam(", "mind.spawn(mind.pos(), Being::Beast(young));");
        const RULE: Part = Part {
            file: "testkit/src/faulty/fault.rs",
            source: include_str!("../../testkit/src/faulty/fault.rs"),
            from: "Fault::Rule if key",
            to: "Fault::Rule if key",
        };
        match plant {
            Plant::Rules => Some(Lines { decide: &[RULE], precede: &[] }),
            Plant::Field | Plant::HiddenField | Plant::Clock => Some(Lines { decide: &[BITE], precede: &[ROAM] }),
            _ => None,
        }
    }

    fn world(seed: u64, plant: Plant) -> faulty::Sim {
        faulty::world(seed, Wilds::fault(plant))
    }

    fn odd_world(seed: u64, plant: Plant) -> faulty::Sim {
        let fault = match plant {
            Plant::Rules => Fault::Rule,
            Plant::Platform => Fault::Usize,
            _ => Wilds::fault(plant),
        };
        faulty::world(seed, fault)
    }

    fn turns(seed: u64, ticks: u32) -> Vec<Turn<faulty::Sim>> {
        faulty::turns(seed, 3, ticks)
    }

    fn command(dice: &mut Dice<'_>) -> Input<faulty::Sim> {
        Input::Command(PlayerId(1), Order::Walk(place(dice, 120)))
    }

    fn look(world: &faulty::Sim) {
        drop(Faulty::scene(world, PlayerId(0)));
    }

    fn scribble(world: &mut faulty::Sim, dice: &mut Dice<'_>, bits: u32) -> Planted {
        scribble(world, dice, bits)
    }
}

pub struct Meadow;

impl Meadow {
    fn wrong(plant: Plant) -> Wrong {
        match plant {
            Plant::Field => Wrong::Unsaved,
            Plant::Scene => Wrong::Scene,
            Plant::Clock => Wrong::Clock,
            Plant::Counter => Wrong::Counter(211),
            Plant::HashOrder => Wrong::HashOrder,
            Plant::Process => Wrong::Process { drawn: 2, one_in: 40 },
            _ => Wrong::Nothing,
        }
    }
}

impl Game for Meadow {
    type Sim = pasture::Sim;
    const NAME: &'static str = "meadow";
    const PLANTS: &'static [Plant] = &[
        Plant::Nothing,
        Plant::Keyframe,
        Plant::Input,
        Plant::Seed,
        Plant::HiddenSeed,
        Plant::Table,
        Plant::Rules,
        Plant::Platform,
        Plant::Bit,
        Plant::LateBit,
        Plant::Write,
        Plant::Field,
        Plant::Scene,
        Plant::Clock,
        Plant::Counter,
        Plant::HashOrder,
        Plant::Process,
    ];

    fn lines(plant: Plant) -> Option<Lines> {
        const fn line(of: &'static str) -> Part {
            Part::of_meadow(of, of)
        }
        const TURN: Part = line("*heading = mind.dice().angle();");
        const COUNT: Part = line("// the counter's draw");
        const RULE: Part = line("Wrong::Process { drawn, one_in } if mind");
        const WOLF: Part = Part::of_meadow("Being::Wolf { heading, hunger } => {", "STRIDE / Fx::int(2)));");
        const CLOCK: Part = line("Wrong::Clock if mind");
        const HASH: Part = line("Wrong::HashOrder if mind");
        Some(match plant {
            Plant::Field => Lines { decide: &[TURN], precede: &[] },
            Plant::Counter => Lines { decide: &[COUNT], precede: &[] },
            Plant::Clock => Lines { decide: &[], precede: &[CLOCK, WOLF] },
            Plant::HashOrder => Lines { decide: &[], precede: &[HASH, WOLF] },
            Plant::Rules => Lines { decide: &[RULE], precede: &[] },
            _ => return None,
        })
    }

    fn world(seed: u64, plant: Plant) -> pasture::Sim {
        pasture::world(seed, Meadow::wrong(plant))
    }

    fn odd_world(seed: u64, plant: Plant) -> pasture::Sim {
        let wrong = match plant {
            Plant::Process => Wrong::Process { drawn: 5, one_in: 40 },
            Plant::Rules | Plant::Platform => Wrong::Process { drawn: 5, one_in: 400 },
            _ => Meadow::wrong(plant),
        };
        pasture::world(seed, wrong)
    }

    fn turns(seed: u64, ticks: u32) -> Vec<Turn<pasture::Sim>> {
        pasture::turns(seed, ticks)
    }

    fn command(dice: &mut Dice<'_>) -> Input<pasture::Sim> {
        Input::Command(PlayerId(1), pasture::Order::Walk(place(dice, 48)))
    }

    fn look(world: &pasture::Sim) {
        pasture::draw(world, 1);
    }

    fn scribble(world: &mut pasture::Sim, dice: &mut Dice<'_>, bits: u32) -> Planted {
        scribble::<Pasture>(world, dice, bits)
    }
}

/// A flock without cells.
pub struct Flock;

impl Game for Flock {
    type Sim = foreign::Flock;
    const NAME: &'static str = "flock";
    const PLANTS: &'static [Plant] =
        &[Plant::Nothing, Plant::Keyframe, Plant::Input, Plant::Seed, Plant::HiddenSeed, Plant::Write, Plant::Field];

    fn lines(_: Plant) -> Option<Lines> {
        None
    }

    fn world(seed: u64, plant: Plant) -> foreign::Flock {
        foreign::Flock::new(seed, plant != Plant::Field)
    }

    fn turns(_: u64, ticks: u32) -> Vec<Turn<foreign::Flock>> {
        foreign::turns(ticks)
    }

    fn command(dice: &mut Dice<'_>) -> Input<foreign::Flock> {
        Input::Command(PlayerId(dice.below(4) as u16), (dice.below(40) as i32, dice.below(40) as i32))
    }

    fn look(_: &foreign::Flock) {}

    fn scribble(world: &mut foreign::Flock, dice: &mut Dice<'_>, bits: u32) -> Planted {
        let (meadow, mut flock) = world.snapshot();
        let n = dice.below(flock.len() as u32) as usize;
        flock[n].0.set_wool(bits + dice.below(20));
        world.restore(&(meadow, flock));
        // They are numbered, and none is ever lost.
        (StatePart::Entity(CellId::new(0, 0), EntityId(n as u64)), "wool".into())
    }
}

fn place(dice: &mut Dice<'_>, side: u32) -> Vec2 {
    let mut along = || Fx::int(2 + dice.below(side - 4) as i32);
    Vec2::new(along(), along())
}
