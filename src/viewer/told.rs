//! What a viewer tells, in sentences.

use std::cmp::Ordering;

use lockstone_sim::{CellId, Tick};

use super::Compared;
use super::cone::LightCone;
use super::reel::Reel;

/// So many cells are named in a sentence.
const NAMED_MAX: usize = 6;
/// So far ahead a state is looked for that tells what is in no other recording, in ticks.
const AHEAD_TICKS: u32 = 1_200;

/// Cells by name, as many as fit a sentence.
pub fn cells(cells: &[CellId]) -> String {
    let named = cells.iter().take(NAMED_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match cells.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Whose world this is, how it is known, and of which tick, if it has none of the wanted one.
pub(super) fn title(reel: &mut dyn Reel, is_by_turns: bool, wanted: Tick) -> String {
    let how = match reel.known() {
        _ if is_by_turns => "what the turns alone lead to",
        Some((_, true)) => "as it was recorded",
        Some((_, false)) => "as its turns lead to, its recorder had another world",
        None => "as its turns lead to, no checksum was recorded then",
    };
    let (whose, tick) = (name(reel), reel.tick());
    match tick.cmp(&wanted) {
        Ordering::Less => format!("{whose}, at tick {tick}, its last: {how}"),
        Ordering::Equal => format!("{whose}: {how}"),
        Ordering::Greater => format!("{whose}, at tick {tick}, its first: {how}"),
    }
}

pub(super) fn name(reel: &dyn Reel) -> String {
    let recorded = reel.recorded();
    if recorded.name.is_empty() { recorded.player.to_string() } else { recorded.name.clone() }
}

/// Why two worlds are not compared: one has no such tick.
pub(super) fn apart(lacks: &dyn Reel) -> String {
    let (whose, recorded) = (name(lacks), lacks.recorded());
    format!("They are not compared: the recording of {whose} has ticks {} to {} alone.", recorded.start, recorded.end)
}

/// How two worlds compare.
pub(super) fn compared(found: &Compared, are_whole: bool, here: &mut dyn Reel, there: &mut dyn Reel) -> String {
    if found.differs {
        let mut told = match found.cells.as_slice() {
            [] if found.loose => "What is in no cell differs, and no cell does.".to_owned(),
            [] => "The worlds differ, and have no cells to mark.".to_owned(),
            [one] => format!("1 cell differs: {one}."),
            all => format!("{} cells differ: {}.", all.len(), cells(all)),
        };
        if found.loose && !found.cells.is_empty() {
            told += " What is in no cell differs too.";
        }
        return told;
    }
    let [ours, theirs] = [here.known(), there.known()];
    let recorded = [ours, theirs].map(|known| known.map(|(root, _)| root));
    let is_unlike = matches!(recorded, [Some(here), Some(there)] if here != there);
    if !are_whole || !is_unlike && [ours, theirs].iter().flatten().all(|(_, is_met)| *is_met) {
        return "Both worlds are equal.".to_owned();
    }
    let odd: &mut dyn Reel = if ours.is_some_and(|(_, is_met)| !is_met) { here } else { there };
    let mut told = format!(
        "Both pictures show one world, though another checksum was recorded: what {} had at this tick is not known.",
        name(odd)
    );
    if let Some(state) = odd.next_state(odd.tick().plus(AHEAD_TICKS)) {
        told += &format!(" Its state of tick {state} is.");
    }
    told
}

/// What is known of the ticks before, beside a light cone.
pub(super) struct Before {
    /// The earliest tick that was looked at, and whether it is the first of both recordings.
    pub first: Tick,
    pub is_start: bool,
    /// The first tick at which what is in no cell differed.
    pub loose: Option<Tick>,
    /// Whose world of the tick before the difference began is not known.
    pub unknown: Option<String>,
    /// What entered at that tick, on both sides, if all of it is on record.
    pub entered: Option<[Vec<String>; 2]>,
}

/// What a light cone shows.
pub(super) fn cone(cone: &LightCone, before: &Before) -> Vec<String> {
    let LightCone { cell, tick, steps } = cone;
    let is = if cone.differs() { "differs" } else { "is equal" };
    let mut told = vec![format!("Cell {cell} {is} at tick {tick}.")];
    if let Some(step) = steps.get(1) {
        let of_these = match step.suspects.as_slice() {
            [] => "none of them differs".to_owned(),
            [one] => format!("of these 1 differs: {one}"),
            all => format!("of these {} differ: {}", all.len(), cells(all)),
        };
        told.push(format!("It could depend on {} cells at tick {}; {of_these}.", step.cells.len(), step.tick));
    }
    let what = if cone.differs() { "The difference" } else { "What differs of that" };
    match (cone.began(), steps.last(), &before.unknown) {
        (Some((began, all)), _, Some(whose)) => told.push(format!(
            "{what} is known from tick {began} on, in {}: what {whose} had before is on record nowhere.",
            in_cells(all)
        )),
        (Some((began, all)), ..) => told.push(format!("{what} began at tick {began}, in {}.", in_cells(all))),
        (None, Some(last), _) if last.tick == before.first && !last.suspects.is_empty() => {
            let advice = match before.is_start {
                true => "it is the first of both recordings",
                false => "go there and choose one of them to look farther",
            };
            let place = in_cells(&last.suspects);
            told.push(format!("{what} goes back to tick {}, in {place}: {advice}.", last.tick));
        }
        _ => {}
    }
    if let Some(tick) = before.loose {
        told.push(format!("What is in no cell differs from tick {tick} on, and every cell can depend on it."));
    }
    if let (Some((began, _)), Some([here, there])) = (cone.began(), &before.entered)
        && here != there
    {
        let list = |inputs: &[String]| if inputs.is_empty() { "nothing".to_owned() } else { inputs.join(", ") };
        let tick = began.0.saturating_sub(1);
        told.push(format!("At tick {tick} other turns entered: here {}, there {}.", list(here), list(there)));
    }
    told
}

fn in_cells(all: &[CellId]) -> String {
    match all {
        [one] => format!("cell {one}"),
        all => format!("{} cells: {}", all.len(), cells(all)),
    }
}
