//! Cases of a relay session: the relay records the whole world, each replica its part, over a
//! network in memory. What is planted is kept from a player on the way, or written into a core.

use lockstone::check::Checker;
use lockstone::net::relay::RelaySettings;
use lockstone::recording::{Ending, Recording};
use lockstone::sim::{PlayerId, Simulation as _, Tick};
use serde::{Deserialize, Serialize};
use testkit::flips::dice;
use testkit::relayed::{Relayed, Withheld, build, tampered, without_changes, without_commands};
use testkit::storm::StormWorld;
use testkit::tampered::scribble;

use super::case::{By, Plant, STOPPED_TICKS, answered, judged_by, play_again, split, thinned};
use super::judge::{Outcome, Planted};

pub const NAME: &str = "storm";
const PLANTS: [Plant; 5] = [Plant::Nothing, Plant::Bit, Plant::Write, Plant::Withheld, Plant::Halo];
const TICKS: u32 = 260;
/// What is planted into a part is planted by then: it has been joined, and loaded.
const FIRST: u32 = 120;

/// What the judge knows of a case.
#[derive(Serialize, Deserialize)]
struct Known {
    plant: Plant,
    odd: usize,
    at: Tick,
    split: Option<Tick>,
    planted: Option<Planted>,
    how: String,
    has_rerun: bool,
}

pub fn judged(n: u64) -> (Plant, &'static str, Outcome) {
    let mut dice = dice(0x7265_6c61 + n);
    let plant = *dice.pick(&PLANTS).expect("there are some");
    let (replicas, at) = (2 + dice.below(3) as usize, Tick(FIRST + dice.below(TICKS - FIRST - 40)));
    let odd = 1 + dice.below(replicas as u32) as usize;
    let settings = RelaySettings { enter_rings: 1, leave_rings: 2, ahead_rings: 1, ..RelaySettings::default() };
    let mut session = Relayed::new(settings);
    let player = PlayerId(odd as u16);
    let (commands, changes) = (Withheld::default(), Withheld::default());
    match plant {
        Plant::Withheld => session.meddle(without_commands(player, at, commands.clone())),
        Plant::Halo => session.meddle(without_changes(player, at, 1, changes.clone())),
        _ => {}
    }
    session.enter(replicas);
    session.play(TICKS, 40 + u64::from(dice.below(40)));
    let (is_bundle, interval) = (dice.chance(1, 2), *dice.pick(&[1, 1, 2, 10]).expect("there are some"));
    let rings = session.rings();
    let mut recordings = session.recordings();
    let mut planted = None;
    let as_recorded = recordings[odd].clone();
    if let Plant::Bit | Plant::Write = plant {
        let bits = if plant == Plant::Bit { 1 } else { 6 };
        recordings[odd] = tampered(&as_recorded, Some(at.plus(STOPPED_TICKS)), |world| {
            if world.tick() == at {
                planted = Some(scribble(world, &mut dice, bits));
            }
        });
    }
    if is_bundle {
        // What peers keep in memory; the odd one is stopped.
        for (n, ring) in rings.iter().enumerate().filter(|(n, _)| *n != odd || planted.is_none()) {
            recordings[n] = Recording::read(ring).expect("it was just written");
        }
        if planted.is_some() {
            stop(&mut recordings[odd], at.plus(STOPPED_TICKS));
        }
    }
    let mut recordings: Vec<_> = recordings.into_iter().map(|recording| thinned(recording, interval)).collect();
    // The world behind the turn from which something was kept is the first that differs. Of what
    // nobody gave nothing could be kept from anyone.
    let alone = split(&[thinned(as_recorded, interval), recordings[odd].clone()]);
    let split = match plant {
        Plant::Withheld => commands.get().map(|tick| (None, tick.next())),
        Plant::Halo => changes.get().map(|(tick, _)| (None, tick.next())),
        Plant::Bit | Plant::Write => alone,
        _ => None,
    };
    let plant = if split.is_some() || planted.is_some() { plant } else { Plant::Nothing };
    let has_rerun = dice.chance(1, 3) && split.is_some_and(|found| play_again(&mut recordings[odd], found, &build));
    let (checked, what) = (By::checker(&mut dice), if is_bundle { "bundle" } else { "recordings" });
    let how = format!(
        "{replicas} replicas, {player} odd, {what}, rerun {has_rerun}, checked by {checked:?}, interval {interval}, at {at}"
    );
    let known = Known { plant, odd, at, split: split.map(|(_, tick)| tick), planted, how, has_rerun };
    (plant, NAME, judged_by((n, checked), recordings, known, judge))
}

/// What came of a case in this process, which has played nothing of it.
pub fn answer(question: &[u8]) -> Outcome {
    answered(question, judge)
}

fn judge(recordings: Vec<Recording<StormWorld>>, known: Known) -> Outcome {
    let Known { plant, odd, at, split, planted, how, has_rerun } = known;
    // A storm is never shown.
    let report = Checker::new(&build).with_presentation(&|_| ()).check(recordings).expect("they are of one session");
    // What was kept back may have changed nothing: all that two have in common was compared then.
    let split = split.filter(|_| planted.is_some() || report.finding.is_some());
    Outcome::of(plant, odd, split, (planted.filter(|_| split == Some(at)), None), report, (how, has_rerun))
}

/// Ends a recording before the turn of a tick.
fn stop(recording: &mut Recording<StormWorld>, end: Tick) {
    let mut tick = recording.header.start;
    recording.entries.retain(|entry| {
        tick = tick.plus(entry.ticks());
        tick <= end
    });
    recording.ending = Ending::Open;
}
