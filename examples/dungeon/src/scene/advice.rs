//! What a player is told in danger, and when their hero was slain: by whom, and what to do.

use lockstone::sim::{Simulation, World};

use crate::hero::{Event, FALLEN_TICKS, Hero};
use crate::measures::TICKS_PER_SECOND;
use crate::monsters::Race;
use crate::rules::Dungeon;

/// Less life than this is danger, in percent.
const DANGER_PERCENT: i32 = 40;
/// For so long it is told who slew the hero.
const TOLD_TICKS: u32 = 40 * TICKS_PER_SECOND;

/// What there is to tell, the most urgent first.
pub(super) fn advice(world: &World<Dungeon>, hero: &Hero) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(since) = hero.fallen {
        let left = FALLEN_TICKS.saturating_sub(world.tick().since(since)).div_ceil(TICKS_PER_SECOND);
        told.push(format!("SLAIN. You rise at the entrance in {left} s, and keep all but a tenth of your gold."));
    } else if hero.life.saturating_mul(100) < hero.stats().life.saturating_mul(DANGER_PERCENT) {
        told.push(if hero.potions > 0 {
            "LOW LIFE: Q drinks a potion.".to_owned()
        } else {
            "LOW LIFE and no potion: walk away, and rest where nothing sees you.".to_owned()
        });
    }
    told.extend(end(world, hero));
    told
}

/// How it was slain lately, if it was.
fn end(world: &World<Dungeon>, hero: &Hero) -> Option<String> {
    let fell = hero.news.iter().flatten().rev().find_map(|news| match news.event {
        Event::Fell(race) if world.tick().since(news.tick) < TOLD_TICKS => Some(race),
        _ => None,
    })?;
    let unused = match hero.potions {
        0 => String::new(),
        potions => format!(" You had {potions} potions left: Q drinks one, in a fight too."),
    };
    Some(format!("A {} slew you. {}{unused}", fell.measures().name, against(fell)))
}

/// What to do about a kind of monster.
fn against(race: Race) -> &'static str {
    match race {
        Race::Hunter => "Hunters come in packs: meet them in a passage, where few reach you, and use your skill (K).",
        Race::Archer => "Their arrows are slow: step aside, and wait behind a corner until they come.",
        Race::Sleeper => "They hit hard and seldom: strike, step back, or let them sleep.",
        Race::Broodling | Race::BroodMother => "Broodlings end with their mother: strike her, with a few levels more.",
        Race::Warden => "Stand between the orbs of a ring, and bring friends.",
    }
}
