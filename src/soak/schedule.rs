//! What happens in one run: who enters and when, and what goes wrong. It can be printed, written
//! down, read again and made smaller, and it alone decides how a run comes out.

use std::collections::BTreeSet;
use std::fmt;

use lockstone_net::memory::Weather;
use serde::{Deserialize, Serialize};

/// A place in the fleet: each peer that enters has one of its own.
pub type SeatId = u16;

/// The seat of a relay.
pub const HUB: SeatId = 0;

/// Whether the player of a first seat has a key, by which it is known again.
pub(super) fn has_key(first: SeatId) -> bool {
    first % 4 != 3
}

/// Which kind of session is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A party: one of its members closes ticks, another takes over when it is lost.
    Party,
    /// A rollback session: all are there at the start.
    Rollback,
    /// A relay, which is seat 0, and its replicas.
    Relay,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Party, Kind::Rollback, Kind::Relay];

    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Party => "party",
            Kind::Rollback => "rollback",
            Kind::Relay => "relay",
        }
    }
}

/// What can happen, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Peers enter while others play.
    Enter,
    /// Players come back in another process.
    Return,
    /// Peers leave and say so.
    Leave,
    /// Processes die without a word.
    Kill,
    /// A peer loses all its connections.
    Drop,
    /// Some peers and the others cannot reach each other for a while.
    Cut,
    /// A peer hears nothing of another for a while, which still hears it.
    Deafen,
    /// A process stands still for a while.
    Freeze,
    /// A clock jumps ahead.
    Jump,
    /// The network is bad for a while.
    Weather,
    /// Clocks begin anywhere, and are fast or slow.
    Skew,
    /// A relay dies, and its standby leads on, or it is started again; or the standby dies.
    Relay,
    /// The signaling server is away for a while.
    Signal,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 13] = [
        FaultKind::Enter,
        FaultKind::Return,
        FaultKind::Leave,
        FaultKind::Kill,
        FaultKind::Drop,
        FaultKind::Cut,
        FaultKind::Deafen,
        FaultKind::Freeze,
        FaultKind::Jump,
        FaultKind::Weather,
        FaultKind::Skew,
        FaultKind::Relay,
        FaultKind::Signal,
    ];

    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        self.about().0
    }

    /// What happens.
    pub const fn does(self) -> &'static str {
        self.about().1
    }

    const fn about(self) -> (&'static str, &'static str) {
        match self {
            FaultKind::Enter => ("enter", "peers enter while others play"),
            FaultKind::Return => ("return", "players come back in another process, with their key"),
            FaultKind::Leave => ("leave", "peers leave, and say so"),
            FaultKind::Kill => ("kill", "processes die without a word"),
            FaultKind::Drop => ("drop", "peers lose all their connections"),
            FaultKind::Cut => ("cut", "some peers and the others cannot reach each other for a while"),
            FaultKind::Deafen => ("deafen", "a peer does not hear another for a while, which still hears it"),
            FaultKind::Freeze => ("freeze", "processes stand still for a while"),
            FaultKind::Jump => ("jump", "clocks jump ahead"),
            FaultKind::Weather => ("weather", "the network is bad for a while"),
            FaultKind::Skew => ("skew", "clocks begin anywhere, and are fast or slow"),
            FaultKind::Relay => ("relay", "relays die: a standby leads on, or they are started again"),
            FaultKind::Signal => ("signal", "the signaling server is away for a while, and forgets who is in the room"),
        }
    }
}

/// One run. The same schedule and the same program give the same run, to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Which kind of session.
    pub kind: Kind,
    /// Of the world and the network.
    pub seed: u64,
    /// How long things go wrong at least, in milliseconds: fair weather follows.
    pub ms: u32,
    /// The network, unless a step says otherwise.
    pub weather: Weather,
    /// What happens, by time.
    pub steps: Vec<Step>,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// When, in milliseconds from the beginning.
    pub at_ms: u32,
    /// What.
    #[serde(flatten)]
    pub fault: Fault,
}

/// What happens. What lasts says how long, so that a step can be left out of a schedule without
/// making nonsense of the others. A step is passed over if its seat is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "fault")]
pub enum Fault {
    /// A peer enters the room, and plays until something happens to it.
    Enter {
        /// On a seat that nobody had before.
        seat: SeatId,
        /// What its clock shows when the network begins.
        clock_ms: u32,
        /// What its clock gains on the right time, in millionths.
        gains_ppm: i32,
        /// The first seat of its player, who comes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        back: Option<SeatId>,
    },
    /// A standby of the relay enters, in the place of one that was lost.
    Standby {
        /// On a seat that nobody had before.
        seat: SeatId,
        /// What its clock shows when the network begins.
        clock_ms: u32,
        /// What its clock gains on the right time, in millionths.
        gains_ppm: i32,
    },
    /// The process of a relay that is dead is started again, and goes on from what it recorded:
    /// of the relay that led last, or if another leads by now, of the last one that died. It is
    /// passed over while the relay lives, or while it is open whether its standby leads on.
    Resume {
        /// On a seat that nobody had before.
        seat: SeatId,
        /// What its clock shows when the network begins.
        clock_ms: u32,
        /// What its clock gains on the right time, in millionths.
        gains_ppm: i32,
        /// So many of the last ticks were not recorded.
        lost_ticks: u32,
    },
    /// A peer leaves, and says so.
    Leave {
        /// Whose.
        seat: SeatId,
    },
    /// A process dies without a word.
    Kill {
        /// Whose.
        seat: SeatId,
        /// How long the carrier takes to tell the others.
        told_ms: u32,
    },
    /// A peer loses all its connections, and everyone is told.
    Drop {
        /// Whose.
        seat: SeatId,
    },
    /// These peers and the others cannot reach each other.
    Cut {
        /// One side.
        seats: BTreeSet<SeatId>,
        /// For so long.
        ms: u32,
    },
    /// One hears nothing of the other, which still hears it. What was sent reliably comes late.
    Deafen {
        /// Who is not heard.
        from: SeatId,
        /// Who does not hear.
        to: SeatId,
        /// For so long.
        ms: u32,
    },
    /// A process stands still, and reads its mail afterwards.
    Freeze {
        /// Whose.
        seat: SeatId,
        /// For so long.
        ms: u32,
    },
    /// A clock jumps ahead.
    Jump {
        /// Whose.
        seat: SeatId,
        /// By so much.
        ms: u32,
    },
    /// The signaling server is away, and has forgotten the room when it is back. Who enters
    /// meanwhile waits for it. Then all come back to the room within a second, in any order.
    Signal {
        /// For so long.
        ms: u32,
    },
    /// The network is otherwise for a while.
    Weather {
        /// How.
        weather: Weather,
        /// For so long.
        ms: u32,
    },
}

impl Fault {
    /// How long it lasts, in milliseconds.
    pub fn lasts_ms(&self) -> u32 {
        match self {
            Fault::Enter { .. } | Fault::Standby { .. } | Fault::Resume { .. } => 0,
            Fault::Leave { .. } | Fault::Drop { .. } | Fault::Jump { .. } => 0,
            Fault::Kill { told_ms, .. } => *told_ms,
            Fault::Cut { ms, .. } | Fault::Deafen { ms, .. } | Fault::Freeze { ms, .. } => *ms,
            Fault::Weather { ms, .. } | Fault::Signal { ms } => *ms,
        }
    }
}

impl Step {
    /// When it is over, in milliseconds from the beginning.
    pub fn over_ms(&self) -> u32 {
        self.at_ms.saturating_add(self.fault.lasts_ms())
    }
}

impl Schedule {
    /// When all that goes wrong is over, in milliseconds.
    pub fn fair_from_ms(&self) -> u32 {
        self.steps.iter().map(Step::over_ms).fold(self.ms, u32::max)
    }

    /// How many peers are there at the start.
    pub fn founders(&self) -> usize {
        self.steps.iter().filter(|step| step.at_ms == 0 && matches!(step.fault, Fault::Enter { .. })).count()
    }

    /// The first seat of a seat's player.
    pub fn player_of(&self, seat: SeatId) -> SeatId {
        let first = self.steps.iter().find_map(|step| match step.fault {
            Fault::Enter { seat: entered, back, .. } if entered == seat => back,
            _ => None,
        });
        first.unwrap_or(seat)
    }

    /// Whether a seat is a relay's, or its standby's.
    pub fn is_host(&self, seat: SeatId) -> bool {
        let is_it = |step: &Step| matches!(step.fault, Fault::Standby { seat: it, .. } | Fault::Resume { seat: it, .. } if it == seat);
        self.kind == Kind::Relay && (seat == HUB || self.steps.iter().any(is_it))
    }

    /// Whether a relay's standby enters on a seat.
    pub fn is_standby(&self, seat: SeatId) -> bool {
        self.steps.iter().any(|step| matches!(step.fault, Fault::Standby { seat: it, .. } if it == seat))
    }

    /// Whether a relay is started again on a seat.
    pub fn is_resumed(&self, seat: SeatId) -> bool {
        self.steps.iter().any(|step| matches!(step.fault, Fault::Resume { seat: it, .. } if it == seat))
    }

    /// With other steps.
    #[must_use]
    pub fn with_steps(&self, steps: &[Step]) -> Schedule {
        Schedule { steps: steps.to_vec(), ..self.clone() }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, seed {}, {} s in {}", self.kind.name(), self.seed, seconds(self.ms), tell(&self.weather))?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{:>8} s  {}", seconds(step.at_ms), step.fault))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Enter { seat, gains_ppm, back, .. } => {
                write!(f, "{seat} enters")?;
                back.map_or(Ok(()), |first| write!(f, ", the player of {first} again"))?;
                if *gains_ppm == 0 { Ok(()) } else { write!(f, ", its clock gains {gains_ppm} ppm") }
            }
            Fault::Standby { seat, .. } => write!(f, "{seat} enters as the relay's standby"),
            Fault::Resume { seat, lost_ticks, .. } => {
                write!(f, "the relay is started again as {seat}, and lacks {lost_ticks} ticks")
            }
            Fault::Leave { seat } => write!(f, "{seat} leaves"),
            Fault::Kill { seat, told_ms: 0 } => write!(f, "{seat} is killed, and the others are told at once"),
            Fault::Kill { seat, told_ms } => {
                write!(f, "{seat} is killed, and the others are told after {} s", seconds(*told_ms))
            }
            Fault::Drop { seat } => write!(f, "{seat} loses its connections"),
            Fault::Cut { seats, ms } => {
                let seats: Vec<_> = seats.iter().map(SeatId::to_string).collect();
                write!(f, "{} and the others are cut apart for {} s", seats.join(", "), seconds(*ms))
            }
            Fault::Deafen { from, to, ms } => write!(f, "{to} does not hear {from} for {} s", seconds(*ms)),
            Fault::Freeze { seat, ms } => write!(f, "{seat} stands still for {} s", seconds(*ms)),
            Fault::Jump { seat, ms } => write!(f, "{seat}'s clock jumps by {} s", seconds(*ms)),
            Fault::Signal { ms } => write!(f, "the signaling server is away for {} s", seconds(*ms)),
            Fault::Weather { weather, ms } => write!(f, "for {} s {}", seconds(*ms), tell(weather)),
        }
    }
}

/// Milliseconds as seconds.
pub(super) fn seconds(ms: u32) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

fn tell(weather: &Weather) -> String {
    let Weather { delay, jitter, loss_permille, duplicate_permille, reorder_permille, line_bytes_per_s } = weather;
    let line = line_bytes_per_s.map_or(String::new(), |rate| format!(", {rate} B/s"));
    format!(
        "{} to {} ms, {loss_permille} ‰ lost, {duplicate_permille} ‰ doubled, {reorder_permille} ‰ overtaken{line}",
        delay.as_millis(),
        (*delay + *jitter).as_millis(),
    )
}
