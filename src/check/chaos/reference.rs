//! What an undisturbed peer plays: the turns, and the checksum of every tick.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lockstone_sim::journal::{Doer, Journal};
use lockstone_sim::world::StatePart;
use lockstone_sim::{CellId, Checksum, Input, PlayerId, Simulation, Tick, Turn};

use super::report::{Difference, Outcome};
use crate::check::locate::{differing_cells, locate_in};
use crate::check::report::BadWrite;
use crate::game::{Bot, Game};
use crate::inspect::{Inspect, step};

/// The turns, and what they lead to.
pub(in crate::check) struct Reference<'a, S: Inspect> {
    build: &'a dyn Fn() -> S,
    start: Tick,
    /// The players that may have a hero, in order.
    players: Vec<PlayerId>,
    turns: Vec<Turn<S>>,
    /// The checksum before the turn of each tick, and the one behind the last turn.
    roots: Vec<Checksum>,
}

/// How a breaker's play ended.
pub(in crate::check) enum End<S> {
    /// So many checksums were met.
    Met(u32),
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

impl<S> From<S> for End<S> {
    fn from(state: S) -> Self {
        End::Parted(Box::new(Odd::of(state)))
    }
}

impl<S> End<S> {
    /// The observer has stopped it.
    pub fn stopped() -> Self {
        End::Skipped("it was stopped".to_owned())
    }
}

impl<'a, S: Inspect> Reference<'a, S> {
    /// From the tick on at which `build` makes a simulation.
    pub fn of_turns(build: &'a dyn Fn() -> S, turns: Vec<Turn<S>>) -> Self {
        let mut simulation = build();
        let start = simulation.tick();
        let mut roots = vec![simulation.checksum()];
        for turn in &turns {
            simulation.step(turn);
            roots.push(simulation.checksum());
        }
        Reference::known(build, start, turns, roots)
    }

    /// Of turns that were played already: the checksum before each, and the one behind the last.
    pub fn known(build: &'a dyn Fn() -> S, start: Tick, turns: Vec<Turn<S>>, roots: Vec<Checksum>) -> Self {
        let players: BTreeSet<_> = turns.iter().flat_map(|turn| &turn.inputs).filter_map(whose).collect();
        Reference { build, start, players: players.into_iter().collect(), turns, roots }
    }

    /// The same with more players: those who entered before the first turn.
    pub fn with_players(mut self, players: &[PlayerId]) -> Self {
        self.players.extend(players);
        self.players.sort();
        self.players.dedup();
        self
    }

    /// Bots of all classes in turn enter at the first tick. They play until `plays` breaks it off.
    pub fn of_bots<G: Game<Sim = S>>(
        build: &'a dyn Fn() -> S,
        heroes: u16,
        ticks: u32,
        plays: &mut dyn FnMut(Tick) -> ControlFlow<()>,
    ) -> Self {
        let mut simulation = build();
        let start = simulation.tick();
        let classes = G::HEROES.iter().cycle();
        let join = |(player, class): (PlayerId, &&str)| {
            let hero = G::hero(class, &format!("{class} {player}")).expect("a class of the game");
            Input::Join(player, simulation.admit(player, hero))
        };
        let players = || (0..heroes).map(PlayerId);
        let mut next: Vec<Input<S>> = players().zip(classes).map(join).collect();
        let mut bots: Vec<_> = players().map(|player| (player, G::bot(player))).collect();
        let (mut turns, mut roots) = (Vec::new(), vec![simulation.checksum()]);
        for _ in 0..ticks {
            if plays(simulation.tick()).is_break() {
                break;
            }
            let turn = Turn { inputs: std::mem::take(&mut next) };
            simulation.step(&turn);
            turns.push(turn);
            roots.push(simulation.checksum());
            next.extend(simulation.requests().iter().cloned().map(Input::Request));
            for (player, bot) in &mut bots {
                next.extend(bot.decide(&simulation, *player).map(|command| Input::Command(*player, command)));
            }
        }
        Reference::known(build, start, turns, roots)
    }

    /// The players that may have a hero, in order.
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// A simulation before the first turn.
    pub fn build(&self) -> S {
        (self.build)()
    }

    /// How many ticks there are.
    pub fn ticks(&self) -> u32 {
        self.turns.len() as u32
    }

    /// The tick of the first turn.
    pub fn start(&self) -> Tick {
        self.start
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

    pub fn root(&self, tick: Tick) -> Option<Checksum> {
        self.roots.get(self.place(tick)?).copied()
    }

    fn place(&self, tick: Tick) -> Option<usize> {
        tick.0.checked_sub(self.start.0).map(|place| place as usize)
    }

    /// Whether a state has the checksum that it should have.
    pub fn is_met(&self, simulation: &mut S) -> bool {
        self.root(simulation.tick()) == Some(simulation.checksum())
    }

    /// Says where the difference is: the turns are played once more, undisturbed, up to it.
    pub fn explain(&self, end: End<S>) -> Outcome {
        let Odd { state: mut theirs, cells, by, journal } = match end {
            End::Met(checksums) => return Outcome::Passed { checksums },
            End::Broke(sentence) => return Outcome::Broke { sentence },
            End::Skipped(reason) => return Outcome::Skipped { reason },
            End::Parted(odd) => *odd,
        };
        let (mut ours, tick) = (self.build(), theirs.tick());
        let played = self.turns.get(..self.place(tick).unwrap_or(0)).unwrap_or(&self.turns);
        let (last, before) = played.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
        before.iter().for_each(|turn| ours.step(turn));
        let mut here = Journal::default();
        last.into_iter().for_each(|turn| step(&mut ours, turn, journal.as_ref().map(|_| &mut here)));
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
            reference_repeats: self.is_met(&mut ours),
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
    let part = |part| if let StatePart::Entity(_, id) = part { Some(id) } else { None };
    let there: BTreeSet<_> = things.filter_map(|thing| part(thing.part)).collect();
    journal.notes.retain(|note| match note.doer {
        Doer::Entity(id) | Doer::Effect { target: id, .. } => there.contains(&id),
        Doer::Cell(cell) => cells.contains(&cell),
        Doer::Input(_) => false,
    });
}

/// Whose input it is; nobody's if the simulation itself asked for it.
pub(in crate::check) fn whose<S: Simulation>(input: &Input<S>) -> Option<PlayerId> {
    match input {
        Input::Command(player, _) | Input::Join(player, _) | Input::Leave(player) => Some(*player),
        Input::Request(_) | Input::Given(_) => None,
    }
}
