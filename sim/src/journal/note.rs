//! One thing that happened, and its line of text.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::panic::Location;
use serde::{Deserialize, Serialize};

use super::roll::Roll;
use crate::grid::CellId;
use crate::ids::{Checksum, EntityId, Tick};
use crate::vec2::Vec2;

/// One thing that happened in a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// In which part of the tick.
    pub phase: Phase,
    /// Whose doing it was.
    pub doer: Doer,
    /// What happened.
    pub event: Event,
    /// Where in the game's source it was decided; for an effect that is applied, where it was sent.
    /// `None` for the engine's own doing.
    pub site: Option<Site>,
}

/// A part of the tick, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Every entity in a lit cell thinks. Commands reach their heroes here.
    Think,
    /// Effects are applied.
    Effects,
    /// Movers and spawns are put into their cells.
    Moves,
    /// What the turn brings enters, beside commands.
    Turn,
    /// Torchlight spreads.
    Light,
    /// A part is given what it does not simulate itself.
    Given,
}

/// Whose doing something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Doer {
    /// An entity that thinks, or is moved.
    Entity(EntityId),
    /// An effect.
    Effect {
        /// Whom it reaches.
        target: EntityId,
        /// Who sent it.
        source: EntityId,
        /// Which of the source's effects in this tick, from 0.
        n: u32,
    },
    /// The `n`-th input of the turn, from 0.
    Input(u32),
    /// A cell that is generated, or whose light changes.
    Cell(CellId),
}

/// What happened. Checksums are those of the checksum tree's leaves: position and body of an
/// entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// An entity begins to think.
    Thinks {
        /// Where.
        cell: CellId,
        /// Its state at the start of the tick.
        sum: Checksum,
    },
    /// A command reaches its hero.
    Receives {
        /// The command's debug text.
        command: String,
    },
    /// A draw. Its value is [`Table::draw`](crate::table::Table::draw) of stream, tick and n.
    Draws {
        /// The table's stream.
        stream: u64,
        /// The stream's tick: that of the journal, but 0 where a cell is generated.
        tick: Tick,
        /// Which draw of the stream at that tick.
        n: u32,
        /// The 32 bits drawn.
        value: u32,
        /// What is made of them.
        roll: Roll,
    },
    /// An effect is sent.
    Affects {
        /// To whom.
        target: EntityId,
        /// Which of the sender's effects in this tick, from 0.
        n: u32,
        /// The effect's debug text.
        effect: String,
    },
    /// The entity asks to walk.
    Walks {
        /// Where to, before the stride is enforced.
        to: Vec2,
    },
    /// The entity makes another.
    Spawns {
        /// Its id.
        id: EntityId,
        /// Its place. Beyond reach, nothing comes of it.
        pos: Vec2,
    },
    /// The entity decides to leave the world, or the effect's target is gone.
    Vanishes,
    /// The entity asks for an announcement or a transfer.
    Requests {
        /// The request's debug text.
        request: String,
    },
    /// The state of the entity after its thought, or of the target after the effect.
    Becomes {
        /// Where it is.
        pos: Vec2,
        /// Its state.
        sum: Checksum,
    },
    /// An effect reaches its target.
    Applies {
        /// The effect's debug text.
        effect: String,
        /// The target's state before.
        sum: Checksum,
    },
    /// An entity is taken out of a cell. If it does not arrive anywhere, it is gone.
    Leaves {
        /// The cell.
        cell: CellId,
    },
    /// An entity is put into a cell.
    Arrives {
        /// The cell.
        cell: CellId,
        /// Its place.
        pos: Vec2,
        /// Its state.
        sum: Checksum,
    },
    /// An input of the turn takes effect.
    Enters {
        /// The input's debug text.
        input: String,
    },
    /// An announcement has changed what everyone knows.
    Announced {
        /// The facts after it.
        sum: Checksum,
    },
    /// A cell is filled with what it holds before anyone has been there.
    Generates {
        /// How many entities.
        entities: u32,
        /// The sum of their checksums.
        sum: Checksum,
    },
    /// The light of a cell becomes another.
    Lights {
        /// Its light in this tick.
        before: u8,
        /// Its light in the next.
        after: u8,
    },
}

/// A place in the game's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file as the compiler names it, with `/` between folders.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1: it tells apart two draws in one line.
    pub column: u32,
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Site {
        let file = location.file();
        // The same source is named with other separators on another system.
        let file = if file.contains('\\') { Cow::Owned(file.replace('\\', "/")) } else { Cow::Borrowed(file) };
        Site { file, line: location.line(), column: location.column() }
    }
}

impl Note {
    /// Stream, tick and n, if this is a draw.
    pub fn drawn(&self) -> Option<(u64, Tick, u32)> {
        match self.event {
            Event::Draws { stream, tick, n, .. } => Some((stream, tick, n)),
            _ => None,
        }
    }

    /// Whether both are of the same kind, whatever the values in them.
    pub(super) fn same_kind(&self, other: &Note) -> bool {
        match (&self.event, &other.event) {
            (Event::Draws { roll: a, .. }, Event::Draws { roll: b, .. }) => a.same_kind(b),
            (a, b) => core::mem::discriminant(a) == core::mem::discriminant(b),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.doer, self.event)?;
        match &self.site {
            Some(site) => write!(f, ", at {site}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Thinks { cell, sum } => write!(f, "thinks in cell {cell}, from state {sum}"),
            Event::Receives { command } => write!(f, "receives {command}"),
            Event::Draws { stream, tick, n, value, roll } => {
                roll.write(f, *value)?;
                write!(f, ", n {n} of stream {stream:016x} at tick {tick}")
            }
            Event::Affects { target, n, effect } => write!(f, "sends effect {n} to e:{target}: {effect}"),
            Event::Walks { to } => write!(f, "walks to {to}"),
            Event::Spawns { id, pos } => write!(f, "spawns e:{id} at {pos}"),
            Event::Vanishes => f.write_str("vanishes"),
            Event::Requests { request } => write!(f, "asks for {request}"),
            Event::Becomes { pos, sum } => write!(f, "comes to state {sum} at {pos}"),
            Event::Applies { effect, sum } => write!(f, "reaches it in state {sum}: {effect}"),
            Event::Leaves { cell } => write!(f, "leaves cell {cell}"),
            Event::Arrives { cell, pos, sum } => write!(f, "arrives in cell {cell} at {pos} in state {sum}"),
            Event::Enters { input } => write!(f, "enters: {input}"),
            Event::Announced { sum } => write!(f, "makes the facts {sum}"),
            Event::Generates { entities, sum } => write!(f, "is generated with {entities} entities, in sum {sum}"),
            Event::Lights { before, after } => write!(f, "goes from light {before} to {after}"),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Think => "thinking",
            Phase::Effects => "effects",
            Phase::Moves => "moves",
            Phase::Turn => "turn",
            Phase::Light => "light",
            Phase::Given => "given",
        })
    }
}

impl fmt::Display for Doer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doer::Entity(id) => write!(f, "e:{id}"),
            Doer::Effect { target, source, n } => write!(f, "e:{target} by effect {n} of e:{source}"),
            Doer::Input(n) => write!(f, "input {n}"),
            Doer::Cell(cell) => write!(f, "cell {cell}"),
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
