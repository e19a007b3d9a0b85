//! What heroes wear: rolled from the dice, by weights.

use lockstone::sim::Dice;
use serde::{Deserialize, Serialize};

/// Where a piece is worn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slot {
    /// Adds damage.
    Weapon,
    /// Keeps off damage.
    Armour,
    /// Adds life.
    Charm,
}

/// How rare a piece is, and how many affixes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rarity {
    /// No affix.
    Common,
    /// One affix.
    Magic,
    /// Two affixes.
    Rare,
    /// Three affixes, stronger ones.
    Unique,
}

/// What an affix improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AffixKind {
    /// Damage, in percent.
    Might,
    /// Armour.
    Guard,
    /// Life.
    Vigour,
    /// Walking, in percent.
    Swiftness,
    /// Blows in the same time, in percent.
    Haste,
    /// Life from each blow.
    Leech,
}

/// One property of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affix {
    /// What it improves.
    pub kind: AffixKind,
    /// By how much.
    pub value: u8,
}

/// A piece to wear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gear {
    /// Where it is worn.
    pub slot: Slot,
    /// How rare it is.
    pub rarity: Rarity,
    /// What it is worth without affixes.
    pub base: u8,
    /// Its properties.
    pub affixes: [Option<Affix>; 3],
}

/// The highest level of a piece: what a warden of the deepest level leaves.
const LEVEL_MAX: u8 = 18;

impl Slot {
    /// All of them, in the order in which they are worn.
    pub const ALL: [Slot; 3] = [Slot::Weapon, Slot::Armour, Slot::Charm];
}

impl Rarity {
    const ALL: [Rarity; 4] = [Rarity::Common, Rarity::Magic, Rarity::Rare, Rarity::Unique];
    /// Of 1,000 pieces.
    const WEIGHTS: [u32; 4] = [620, 270, 92, 18];

    const fn affixes(self) -> usize {
        self as usize
    }
}

impl AffixKind {
    /// All of them, in their order, each with its weight, and its least and most value at the first
    /// level.
    pub(crate) const ALL: [(AffixKind, u32, (i32, i32)); 6] = [
        (AffixKind::Might, 26, (5, 14)),
        (AffixKind::Guard, 22, (1, 4)),
        (AffixKind::Vigour, 22, (5, 15)),
        (AffixKind::Swiftness, 10, (4, 9)),
        (AffixKind::Haste, 12, (4, 10)),
        (AffixKind::Leech, 8, (1, 2)),
    ];
}

impl Gear {
    /// A piece of a level: the best of so many rolls of its rarity.
    pub fn roll(dice: &mut Dice, level: u8, rolls: u32) -> Gear {
        let slot = *dice.pick(&Slot::ALL).unwrap_or(&Slot::Weapon);
        let rarity = (0..rolls).filter_map(|_| dice.weighted(&Rarity::WEIGHTS)).max();
        let rarity = Rarity::ALL[rarity.unwrap_or(0)];
        let base = (dice.range(1..=3) + i32::from(level)) as u8;
        let mut gear = Gear { slot, rarity, base, affixes: [None; 3] };
        for n in 0..rarity.affixes() {
            gear.affixes[n] = Some(gear.roll_affix(dice, level));
        }
        gear
    }

    /// An affix of a kind that the piece does not have yet.
    fn roll_affix(&self, dice: &mut Dice, level: u8) -> Affix {
        let taken = |kind: AffixKind| self.affixes.iter().flatten().any(|affix| affix.kind == kind);
        let weights = AffixKind::ALL.map(|(kind, weight, _)| if taken(kind) { 0 } else { weight });
        let (kind, _, (least, most)) = AffixKind::ALL[dice.weighted(&weights).unwrap_or(0)];
        Affix { kind, value: self.affix_value(dice.range(least..=most), level) }
    }

    /// What becomes of a draw.
    fn affix_value(&self, drawn: i32, level: u8) -> u8 {
        let rolled = drawn * (10 + i32::from(level)) / 10;
        let value = if self.rarity == Rarity::Unique { rolled * 3 / 2 } else { rolled };
        value.clamp(1, u8::MAX.into()) as u8
    }

    /// Whether some roll makes such a piece.
    pub fn can_be(&self) -> bool {
        let (count, mut kinds) = (self.rarity.affixes(), self.affixes.iter().flatten().map(|affix| affix.kind));
        let counts = self.affixes.iter().enumerate().all(|(n, affix)| affix.is_some() == (n < count));
        let differ = (0..count).all(|_| kinds.next().is_some_and(|kind| kinds.clone().all(|other| other != kind)));
        counts && differ && (1..=LEVEL_MAX).any(|level| self.can_be_of(level))
    }

    fn can_be_of(&self, level: u8) -> bool {
        let drawn = |affix: &Affix| {
            let known = AffixKind::ALL.iter().find(|(kind, ..)| *kind == affix.kind);
            known.is_some_and(|&(_, _, (least, most))| {
                (least..=most).any(|drawn| self.affix_value(drawn, level) == affix.value)
            })
        };
        (level + 1..=level + 3).contains(&self.base) && self.affixes.iter().flatten().all(drawn)
    }

    /// One number for all of it, to compare pieces of a slot.
    pub fn worth(&self) -> i32 {
        let affixes = self.affixes.iter().flatten().map(|affix| match affix.kind {
            AffixKind::Leech => 12 * i32::from(affix.value),
            AffixKind::Guard => 4 * i32::from(affix.value),
            AffixKind::Might | AffixKind::Haste => 2 * i32::from(affix.value),
            AffixKind::Vigour | AffixKind::Swiftness => i32::from(affix.value),
        });
        6 * i32::from(self.base) + affixes.sum::<i32>()
    }
}
