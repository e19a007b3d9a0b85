//! What an undisturbed peer plays: the turns, and the checksum of every tick.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lockstone_sim::journal::{Doer, Journal};
use lockstone_sim::world::StatePart;
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};

use super::report::{Difference, Outcome};
use crate::check::locate::{differing_cells, locate, locate_in};
use crate::check::report::BadWrite;
use crate::check::waver::{Effort, PLAYS, Varied, side_by_side};
use crate::game::{Bot, Game};
use crate::inspect::{Inspect, Thing, step};

/// Is told each tick before it is played, and says whether to go on.
pub(in crate::check) type Observer<'o> = &'o mut dyn FnMut(Tick) -> ControlFlow<()>;

/// The turns, and what they lead to.
pub(in crate::check) struct Reference<'a, S: Inspect> {
    build: &'a dyn Fn() -> S,
    /// The tick of the first turn.
    pub start: Tick,
    /// The players that may have a hero, in order.
    pub players: BTreeSet<PlayerId>,
    pub turns: Vec<Turn<S>>,
    /// The checksum before the turn of each tick, and the one behind the last turn.
    roots: Vec<Checksum>,
}

/// How a breaker's play ended: all of so many checksums were met, or not.
pub(in crate::check) type Played<S> = Result<u32, End<S>>;

/// Why a breaker's play ended before all checksums were met.
pub(in crate::check) enum End<S> {
    /// A checksum was another.
    Parted(Box<Odd<S>>),
    /// It could not go on to the end, for a fault of the game.
    Broke(String),
    /// It could not be played here.
    Skipped(String),
}

/// The first state whose checksum is another.
pub(in crate::check) struct Odd<S> {
    pub state: S,
    /// The cells that alone should be equal, if they are not all.
    pub cells: Option<Vec<CellId>>,
    /// Who played it, if it was another program.
    pub by: Option<String>,
    /// What happened in the step that led there.
    pub journal: Option<Journal>,
}

impl<S> Odd<S> {
    /// A state, all of which should be equal, that this program played.
    pub fn of(state: S) -> Odd<S> {
        Odd { state, cells: None, by: None, journal: None }
    }
}

impl<S> From<Odd<S>> for End<S> {
    fn from(odd: Odd<S>) -> Self {
        End::Parted(Box::new(odd))
    }
}

impl<S> End<S> {
    /// What an observer's answer comes to: it goes on, or ends here.
    pub fn unless_stopped(answer: ControlFlow<()>) -> Result<(), Self> {
        if answer.is_continue() { Ok(()) } else { Err(End::Skipped("it was stopped".to_owned())) }
    }
}

impl<'a, S: Inspect> Reference<'a, S> {
    /// From the tick on at which `build` makes a simulation.
    pub fn of_turns(build: &'a dyn Fn() -> S, turns: Vec<Turn<S>>) -> Self {
        let mut turns = turns.into_iter();
        Reference::played(build, |_| turns.next())
    }

    /// Bots of all classes in turn enter at the first tick. They play until `plays` breaks it off.
    pub fn of_bots<G: Game<Sim = S>>(build: &'a dyn Fn() -> S, heroes: u16, ticks: u32, plays: Observer<'_>) -> Self {
        let mut bots: Vec<_> = (0..heroes).map(PlayerId).map(|player| (player, G::bot(player))).collect();
        let mut ticks = 0..ticks;
        Reference::played(build, |simulation| {
            let nth = ticks.next().filter(|_| plays(simulation.tick()).is_continue())?;
            if nth == 0 {
                let join = |((player, _), class): (&(PlayerId, _), &&str)| {
                    let hero = G::hero(class, &format!("{class} {player}")).expect("a class of the game");
                    Input::Join(*player, simulation.admit(*player, hero))
                };
                return Some(Turn { inputs: bots.iter().zip(G::HEROES.iter().cycle()).map(join).collect() });
            }
            let commands = bots.iter_mut().filter_map(|(player, bot)| {
                bot.decide(simulation, *player).map(|command| Input::Command(*player, command))
            });
            let requests = simulation.requests().iter().cloned().map(Input::Request);
            Some(Turn { inputs: requests.chain(commands).collect() })
        })
    }

    /// Plays the turns that `next` gives, until it gives none.
    fn played(build: &'a dyn Fn() -> S, mut next: impl FnMut(&S) -> Option<Turn<S>>) -> Self {
        let mut simulation = build();
        let (start, mut turns, mut roots) = (simulation.tick(), Vec::new(), vec![simulation.checksum()]);
        while let Some(turn) = next(&simulation) {
            simulation.step(&turn);
            turns.push(turn);
            roots.push(simulation.checksum());
        }
        Reference::known(build, start, turns, roots)
    }

    /// Of turns that were played already: the checksum before each, and the one behind the last.
    pub fn known(build: &'a dyn Fn() -> S, start: Tick, turns: Vec<Turn<S>>, roots: Vec<Checksum>) -> Self {
        let players = turns.iter().flat_map(|turn| &turn.inputs).filter_map(whose).collect();
        Reference { build, start, players, turns, roots }
    }

    /// The same with more players: those who entered before the first turn.
    pub fn with_players<'p>(mut self, players: impl IntoIterator<Item = &'p PlayerId>) -> Self {
        self.players.extend(players);
        self
    }

    /// A simulation before the first turn.
    pub fn build(&self) -> S {
        (self.build)()
    }

    /// How many ticks there are.
    pub fn ticks(&self) -> u32 {
        self.turns.len() as u32
    }

    /// The turn of a tick; none behind the last.
    pub fn turn(&self, tick: Tick) -> Option<&Turn<S>> {
        self.turns.get(self.place(tick)?)
    }

    /// The turns and the checksums before them.
    pub fn moments(&self) -> impl Iterator<Item = (Tick, Checksum, Option<&Turn<S>>)> {
        let turns = self.turns.iter().map(Some).chain([None]);
        (self.start.0..).map(Tick).zip(&self.roots).zip(turns).map(|((tick, root), turn)| (tick, *root, turn))
    }

    fn place(&self, tick: Tick) -> Option<usize> {
        tick.0.checked_sub(self.start.0).map(|place| place as usize)
    }

    /// Whether a state has the checksum that it should have.
    pub fn is_met(&self, simulation: &mut S) -> bool {
        let place = self.place(simulation.tick());
        place.and_then(|place| self.roots.get(place)) == Some(&simulation.checksum())
    }

    /// Plays the turns several times side by side, undisturbed, and tells where the plays differ.
    fn variance(&self) -> Option<Outcome> {
        let plays = (0..PLAYS).map(|_| self.build()).collect();
        let end = self.start.plus(self.ticks());
        let mut all = Effort { at_least: end, until: end, work: 0 };
        let Varied { states: [mut ours, mut theirs], writes } =
            side_by_side(plays, |tick| self.turn(tick), &mut all, |_, _| ())?;
        let tick = ours.tick();
        let last = self.turn(Tick(tick.0 - 1)).into_iter();
        Some(Outcome::Differs(Box::new(Difference {
            tick,
            reference_repeats: false,
            by: None,
            location: locate(&mut ours, &mut theirs),
            bad_writes: writes,
            entered: last.flat_map(|turn| &turn.inputs).map(|input| format!("{input:?}")).collect(),
        })))
    }

    /// Says what came of a play. If it parted, where: the turns are played once more, undisturbed,
    /// up to there. If the play was undisturbed itself, they do not repeat.
    pub fn explain(&self, played: Played<S>, was_undisturbed: bool) -> Outcome {
        let Odd { state: mut theirs, cells, by, journal } = match played {
            Ok(checksums) => return Outcome::Passed { checksums },
            Err(End::Broke(sentence)) => return Outcome::Broke { sentence },
            Err(End::Skipped(reason)) => return Outcome::Skipped { reason },
            Err(End::Parted(odd)) => *odd,
        };
        let (mut ours, tick) = (self.build(), theirs.tick());
        let played = self.turns.get(..self.place(tick).unwrap_or(0)).unwrap_or(&self.turns);
        let (last, before) = played.split_last().unzip();
        before.into_iter().flatten().for_each(|turn| ours.step(turn));
        let mut here = Journal::default();
        last.into_iter().for_each(|turn| step(&mut ours, turn, journal.as_ref().map(|_| &mut here)));
        let reference_repeats = self.is_met(&mut ours) && !was_undisturbed;
        if !reference_repeats && let Some(difference) = self.variance() {
            return difference;
        }
        let mut differing = differing_cells(&mut ours, &mut theirs);
        differing.retain(|cell| cells.as_ref().is_none_or(|cells| cells.contains(cell)));
        let bad_writes = journal.map(|mut there| {
            if let Some(cells) = &cells {
                [&mut here, &mut there].into_iter().for_each(|journal| keep(journal, &[&ours, &theirs], cells));
            }
            if by.is_some() { BadWrite::of_builds(&here, &there) } else { BadWrite::of(&here, &there) }
        });
        let entered = last.into_iter().flat_map(|turn| &turn.inputs);
        Outcome::Differs(Box::new(Difference {
            tick,
            reference_repeats,
            by,
            location: locate_in(&ours, &theirs, differing),
            bad_writes: bad_writes.unwrap_or_default(),
            entered: entered.map(|input| format!("{input:?}")).collect(),
        }))
    }
}

/// Keeps what was done by those who are in these cells now, and to them: of a part's journal,
/// what must be exact.
fn keep<S: Inspect>(journal: &mut Journal, states: &[&S], cells: &[CellId]) {
    let things = states.iter().flat_map(|state| cells.iter().flat_map(|cell| state.things(Some(*cell))));
    let id = |thing: Thing| if let StatePart::Entity(_, id) = thing.part { Some(id) } else { None };
    let there: BTreeSet<_> = things.filter_map(id).collect();
    journal.notes.retain(|note| match note.doer {
        Doer::Entity(id) | Doer::Effect { target: id, .. } => there.contains(&id),
        Doer::Cell(cell) => cells.contains(&cell),
        Doer::Input(_) => false,
    });
}

/// Whose input it is; nobody's if the simulation itself asked for it.
pub(in crate::check) fn whose<S: Simulation>(input: &Input<S>) -> Option<PlayerId> {
    match input {
        Input::Command(player, _) | Input::Join(player, _) => Some(*player),
        Input::Leave(player) | Input::Away(player) | Input::Back(player) => Some(*player),
        Input::Request(_) | Input::Given(_) => None,
    }
}
