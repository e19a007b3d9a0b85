//! What a hero wears and carries, with what each piece does.

use crate::hero::{Hero, Stats};
use crate::loot::{Gear, Slot};
use crate::scene::words::title;

/// All of it, in lines.
pub(super) fn inventory(hero: &Hero) -> Vec<String> {
    let stats = hero.stats();
    let mut lines = vec![
        format!("{}, {} of level {}", hero.name.text(), hero.class.measures().name, hero.level),
        format!("life {}, damage {}-{}, armour {}", stats.life, stats.damage.0, stats.damage.1, stats.armour),
    ];
    lines.extend(Slot::ALL.map(|slot| match hero.worn[slot as usize] {
        Some(gear) => format!("{}: {} ({})", name(slot), title(&gear), gives(&gear)),
        None => format!("{}: none", name(slot)),
    }));
    let bag = hero.bag.iter().enumerate();
    lines.extend(bag.map(|(n, piece)| match piece {
        Some(gear) => format!("bag {}: {}; worn: {}", n + 1, title(gear), change(hero, *gear)),
        None => format!("bag {}: empty", n + 1),
    }));
    let potion = hero.potion_gives();
    lines.push(format!("{} potions, each for {potion} life; {} gold", hero.potions, hero.gold));
    lines.push("1 to 4 wears from the bag, /off charm takes off, /drop 1 lays down, I closes; or drag it".to_owned());
    lines
}

/// Where a hero has what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Worn(Slot),
    Bag(u8),
}

impl Place {
    /// What a line tells of.
    pub fn of(line: &str) -> Option<Place> {
        let (what, _) = line.split_once(':')?;
        match what.strip_prefix("bag ") {
            Some(place) => place.parse().ok().and_then(|place: u8| place.checked_sub(1)).map(Place::Bag),
            None => slot(what).map(Place::Worn),
        }
    }
}

/// Where that is worn.
pub(crate) fn slot(text: &str) -> Option<Slot> {
    Slot::ALL.into_iter().find(|slot| name(*slot) == text)
}

fn name(slot: Slot) -> &'static str {
    match slot {
        Slot::Weapon => "weapon",
        Slot::Armour => "armour",
        Slot::Charm => "charm",
    }
}

/// What a piece gives of itself.
fn gives(gear: &Gear) -> String {
    match gear.slot {
        Slot::Weapon => format!("{} more damage a blow", gear.base),
        Slot::Armour => format!("{} more armour", gear.base),
        Slot::Charm => format!("{} more life", u32::from(gear.base) * 2),
    }
}

/// What becomes of a hero's numbers if it wears a piece instead of what it does.
fn change(hero: &Hero, gear: Gear) -> String {
    let mut other = hero.clone();
    other.worn[gear.slot as usize] = Some(gear);
    let (now, then) = (hero.stats(), other.stats());
    let percent = |stats: &Stats| (stats.step.to_bits() * 100 / hero.class.measures().step.to_bits()).to_string();
    let pace = |stats: &Stats| (stats.attack_ticks.to_string(), stats.leech.to_string());
    let damage = |stats: &Stats| format!("{}-{}", stats.damage.0, stats.damage.1);
    let all = [
        ("life", now.life.to_string(), then.life.to_string()),
        ("damage", damage(&now), damage(&then)),
        ("armour", now.armour.to_string(), then.armour.to_string()),
        ("speed %", percent(&now), percent(&then)),
        ("ticks a blow", pace(&now).0, pace(&then).0),
        ("leech", pace(&now).1, pace(&then).1),
    ];
    let changed = all.iter().filter(|(_, now, then)| now != then);
    let told: Vec<_> = changed.map(|(what, now, then)| format!("{what} {then}, now {now}")).collect();
    if told.is_empty() { "nothing changes".to_owned() } else { told.join("; ") }
}
