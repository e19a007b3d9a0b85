//! Names, notes and news.

use lockstone::sim::{Simulation, World};

use super::advice::advice;
use crate::hero::{Event, Hero, News};
use crate::loot::{AffixKind, Gear, Rarity, Slot};
use crate::measures::TICKS_PER_SECOND;
use crate::monsters::Monster;
use crate::rules::Dungeon;

/// News older than this are none.
const NEWS_TICKS: u32 = 20 * TICKS_PER_SECOND;
/// How many lines of news are shown.
const NEWS_LINES: usize = 6;

/// The player's own state, and what there is to do.
pub(super) fn notes(world: &World<Dungeon>, hero: Option<&Hero>) -> Vec<String> {
    let Some(hero) = hero else { return vec!["Waiting to enter the dungeon.".into()] };
    let mut notes = advice(world, hero);
    notes.extend([
        format!("{}, {} of level {}", hero.name.text(), hero.class.measures().name, hero.level),
        format!(
            "{} gold, {} potions (one more costs {} at the entrance)",
            hero.gold,
            hero.potions,
            hero.potion_price()
        ),
    ]);
    let stats = hero.stats();
    notes.push(format!("damage {}-{}, armour {}", stats.damage.0, stats.damage.1, stats.armour));
    notes.extend(hero.worn.iter().flatten().map(title));
    let bag = hero.bag.iter().enumerate();
    notes.extend(bag.filter_map(|(n, gear)| Some(format!("bag {}: {}", n + 1, title(gear.as_ref()?)))));
    notes.push(quest(world));
    notes
}

fn quest(world: &World<Dungeon>) -> String {
    let (facts, nests) = (world.facts(), world.rules().map().nests().len());
    match facts.portal_open(nests) {
        true => format!("The portal is open! ({} went through)", facts.escapes),
        false if facts.warden_slain => format!("{} of {nests} brood-mothers and the warden slain", facts.slain()),
        false => format!("{} of {nests} brood-mothers slain, the warden lives", facts.slain()),
    }
}

/// What lately happened to any hero, the newest last.
pub(super) fn news(world: &World<Dungeon>) -> Vec<String> {
    let now = world.tick();
    let heroes = world.players().filter_map(|player| world.hero(player)?.body.hero());
    let mut news: Vec<(News, &Hero)> =
        heroes.flat_map(|hero| hero.news.iter().flatten().map(move |news| (*news, hero))).collect();
    news.retain(|(news, _)| now.since(news.tick) < NEWS_TICKS);
    news.sort_by_key(|(news, _)| news.tick);
    let skipped = news.len().saturating_sub(NEWS_LINES);
    news.iter().skip(skipped).map(|(news, hero)| tell(&hero.name.text(), news.event)).collect()
}

fn tell(name: &str, event: Event) -> String {
    match event {
        Event::Level(level) => format!("{name} reached level {level}."),
        Event::Found(gear) => format!("{name} found {}.", title(&gear)),
        Event::Fell(race) => format!("{name} was slain by a {}.", race.measures().name),
        Event::Returned => format!("{name} returned."),
        Event::Slew(race) => format!("{name} saw the {} die.", race.measures().name),
        Event::Escaped => format!("{name} went through the portal!"),
        Event::Came(level) => format!("{name} came with level {level}."),
        Event::BeganAnew(flaw) => format!("{name} begins anew, for what was brought along cannot be: {flaw}."),
    }
}

/// A monster's name and level.
pub(super) fn monster(monster: &Monster) -> String {
    format!("{} {}", monster.race.measures().name, monster.level)
}

/// What a piece is called, with what it does.
pub fn title(gear: &Gear) -> String {
    let noun = match gear.slot {
        Slot::Weapon => "weapon",
        Slot::Armour => "armour",
        Slot::Charm => "charm",
    };
    let rarity = match gear.rarity {
        Rarity::Common => "plain",
        Rarity::Magic => "magic",
        Rarity::Rare => "rare",
        Rarity::Unique => "unique",
    };
    let affixes = gear.affixes.iter().flatten().map(|affix| match affix.kind {
        AffixKind::Might => format!(", +{}% damage", affix.value),
        AffixKind::Guard => format!(", +{} armour", affix.value),
        AffixKind::Vigour => format!(", +{} life", affix.value),
        AffixKind::Swiftness => format!(", +{}% speed", affix.value),
        AffixKind::Haste => format!(", +{}% haste", affix.value),
        AffixKind::Leech => format!(", +{} leech", affix.value),
    });
    format!("{rarity} {noun} +{}{}", gear.base, affixes.collect::<String>())
}
