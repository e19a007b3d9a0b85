//! The breakers by name: what each does, and what it means for the game's author if the game
//! notices.

use std::fmt;

use serde::Serialize;

/// Breaks one thing that a game must not depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breaker {
    /// Nothing but time.
    Again,
    /// The order in which cells think.
    CellOrder,
    /// How many threads think.
    Threads,
    /// Whether a tick was undone.
    Restore,
    /// Whether the state was read from bytes.
    Serialise,
    /// What was predicted wrongly.
    Rollback,
    /// How old a snapshot is.
    StaleSnapshot,
    /// Where and in what order things lie in memory.
    Allocation,
    /// How much of the world is simulated.
    Partial,
    /// Whether anybody looks.
    Presentation,
    /// What is drawn anew for every process.
    SecondProcess,
    /// Clock, environment and directory.
    Environment,
    /// The profile of the build.
    DebugRelease,
    /// The kind of machine.
    Wasm,
}

impl Breaker {
    /// All of them, in the order in which they play.
    pub const ALL: [Breaker; ABOUT.len()] = {
        let (mut all, mut n) = ([Breaker::Again; ABOUT.len()], 0);
        while n < ABOUT.len() {
            all[n] = ABOUT[n].breaker;
            n += 1;
        }
        all
    };

    /// Its name, as the command line takes it and reports hold it.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// What it does.
    pub fn does(self) -> &'static str {
        self.about().does
    }

    /// What it means if the game comes out another way.
    pub fn means(self) -> &'static str {
        self.about().means
    }

    /// Whether it plays in another process.
    pub fn needs_program(self) -> bool {
        matches!(self, Breaker::SecondProcess | Breaker::Environment | Breaker::DebugRelease | Breaker::Wasm)
    }

    fn about(self) -> &'static About {
        ABOUT.iter().find(|about| about.breaker == self).expect("all are listed")
    }
}

/// What people are told of a breaker.
struct About {
    breaker: Breaker,
    name: &'static str,
    does: &'static str,
    means: &'static str,
}

/// All breakers, in the order in which they play.
const ABOUT: [About; 14] = [
    About {
        breaker: Breaker::Again,
        name: "again",
        does: "plays the same turns once more",
        means: "A step reads something besides the state and the turn: a clock, a global, a cursor that goes on from game to game.",
    },
    About {
        breaker: Breaker::CellOrder,
        name: "cell-order",
        does: "lets the cells think backwards, and in drawn orders",
        means: "A thought reads what another one left behind: in Scratch, a counter, a lock. Peers do not store cells in the same order.",
    },
    About {
        breaker: Breaker::Threads,
        name: "threads",
        does: "lets the cells think on 2 to 7 threads",
        means: "The rules read the thread, or thoughts share memory: a thread-local, a lock, an atomic.",
    },
    About {
        breaker: Breaker::Restore,
        name: "restore",
        does: "undoes every third tick, and plays it again",
        means: "Something that matters is in no snapshot: a counter or a cache in the rules or in a static. Keep it in a body or in the facts.",
    },
    About {
        breaker: Breaker::Serialise,
        name: "serialise",
        does: "goes on, at every seventh tick, with what a new simulation reads from the serialised state",
        means: "Something that matters is not serialised: a field with serde(skip), a Serialize of its own, memory in the rules. Who joins later goes another way.",
    },
    About {
        breaker: Breaker::Rollback,
        name: "rollback",
        does: "plays up to 12 ticks ahead without inputs, goes back, and plays what really entered",
        means: "A wrong prediction leaves a trace: something is kept by tick or by entity outside of the state, and not thrown away.",
    },
    About {
        breaker: Breaker::StaleSnapshot,
        name: "stale-snapshot",
        does: "keeps snapshots until the end, then goes back to each and plays on",
        means: "A snapshot changed after it was taken: it shares memory with the living state, as an Arc with a lock, a cell or an atomic in it does.",
    },
    About {
        breaker: Breaker::Allocation,
        name: "allocation",
        does: "stores cells in drawn orders, in a heap that is churned",
        means: "The rules read an address, or handles that were given out in the order of first use. Use the entity's id.",
    },
    About {
        breaker: Breaker::Partial,
        name: "partial",
        does: "simulates only a hero's surroundings, and is given the halo from the whole",
        means: "Something is read or done from beyond the reach: through the rules, a static, or all players at once. Send it through a turn (announce, transfer).",
    },
    About {
        breaker: Breaker::Presentation,
        name: "presentation",
        does: "draws what every player sees before each tick",
        means: "What shows the world writes into it: through a cell, a lock or an atomic in a body or in the rules.",
    },
    About {
        breaker: Breaker::SecondProcess,
        name: "second-process",
        does: "plays in two more processes, with other hash seeds and addresses",
        means: "Something is drawn anew for every process: the order of a HashMap or HashSet, an address. Use a BTreeMap or a sorted Vec.",
    },
    About {
        breaker: Breaker::Environment,
        name: "environment",
        does: "plays later, in another directory, with another language, time zone, home, and more variables",
        means: "The rules read the clock, an environment variable, or a file. Peers have none of these in common.",
    },
    About {
        breaker: Breaker::DebugRelease,
        name: "debug-release",
        does: "plays in the program's other build: debug against release",
        means: "The build counts: cfg!(debug_assertions), a debug_assert that does something, arithmetic that overflows, floats. (Or the other was built from other sources: build both.)",
    },
    About {
        breaker: Breaker::Wasm,
        name: "wasm",
        does: "plays as wasm32 under node, with another clock",
        means: "The machine counts: usize or isize in a result, cfg!(target_...), floats, an unstable sort. (Or the module was built from other sources: build both.)",
    },
];

impl fmt::Display for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
