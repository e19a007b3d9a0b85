//! One recording as a viewer has it, whatever its game, and how two of them compare.
//!
//! It must never compare worlds of two ticks.

use lockstone_sim::{CellId, Checksum, Grid, Input, PlayerId, Simulation, Table, Tick};

use super::{Compared, told};
use crate::check::OddWorld;
use crate::check::locate;
use crate::check::moment::{Common, Moment};
use crate::game::Game;
use crate::inspect::{Inspect, Sketch, Thing};
use crate::recording::{Ending, Entry, Film, Header, Mismatch, Playback, Recording, Replay};
use crate::scene::Scene;

/// Ticks that are verified before it is asked again whether to go on.
const VERIFIED_TICKS: u32 = 8;
/// So many differing parts of a cell are told, and so many fields of each.
const SPOTS_MAX: usize = 12;
const FIELDS_MAX: usize = 4;

/// What a recording is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What its recorder is called.
    pub name: String,
    /// The room; empty without one.
    pub room: String,
    /// The recorder's player.
    pub player: PlayerId,
    /// All players that have a name in it, and the recorder.
    pub players: Vec<(PlayerId, String)>,
    /// The seed of its world.
    pub seed: u64,
    /// The first tick.
    pub start: Tick,
    /// The tick behind the last.
    pub end: Tick,
    /// How many ticks a second has.
    pub ticks_per_s: u32,
    /// How its file ends, in a few words.
    pub ending: String,
}

impl Recorded {
    /// So many seconds pass in so many ticks of its session.
    pub fn seconds(&self, ticks: f64) -> f64 {
        ticks / f64::from(self.ticks_per_s)
    }
}

/// How far a recording is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Whether all of it is.
    pub is_done: bool,
    /// What became of it so far.
    pub replay: Replay,
}

impl Verified {
    /// What is known of a recording of so many ticks, in a sentence.
    pub fn sentence(&self, recorded: &Recorded) -> String {
        let Verified { is_done, replay } = self;
        match replay.mismatch {
            Some(Mismatch { tick, agreed, .. }) => {
                let since = agreed.map_or("from the start".to_owned(), |tick| format!("after tick {tick}"));
                format!("The worlds differ at tick {tick}; they parted {since}.")
            }
            None if !is_done => {
                let all = u64::from(recorded.end.since(recorded.start).max(1));
                format!("Verified {} %", 100 * u64::from(replay.ticks) / all)
            }
            None if replay.checksums == 0 => "It holds no checksum, so nothing is shown by it.".to_owned(),
            None => format!("In step: all {} checksums are met.", replay.checksums),
        }
    }

    /// Whether that is good news or bad; `None` if it is neither.
    pub fn is_good(&self) -> Option<bool> {
        let Verified { is_done, replay } = self;
        let is_known = *is_done && replay.checksums > 0 || replay.mismatch.is_some();
        is_known.then_some(replay.mismatch.is_none())
    }
}

/// A recording of some game.
pub(super) trait Reel {
    fn recorded(&self) -> &Recorded;

    /// Its place among the recordings that were opened.
    fn place(&self) -> usize;

    fn seek(&mut self, tick: Tick);

    /// The tick that is shown: another than the one that was gone to, if that is not on record.
    fn tick(&self) -> Tick;

    fn scene(&self, player: PlayerId) -> Scene;

    /// What is compared of the tick, and the whole state's checksum.
    fn moment(&mut self) -> (Moment, Checksum);

    /// The checksum on record, and whether the world that is shown has it.
    fn known(&mut self) -> Option<(Checksum, bool)>;

    /// The next recorded state, not later than a tick.
    fn next_state(&self, until: Tick) -> Option<Tick>;

    /// Whether it is of the whole world.
    fn is_whole(&self) -> bool;

    fn grid(&self) -> Option<Grid>;

    fn sketch(&self) -> Option<Sketch>;

    fn things(&self, cell: CellId) -> Vec<Thing>;

    /// What entered at a tick, but for what a part was given.
    fn inputs(&self, tick: Tick) -> Vec<String>;

    /// Shows the odd peer's world from its tick on.
    fn take(&mut self, world: &OddWorld);

    /// What its turns alone lead to from its start.
    fn by_turns(&self) -> Box<dyn Reel>;

    fn verify(&mut self, go_on: &mut dyn FnMut() -> bool) -> Verified;
}

/// A recording of a game, if this program can play it.
pub(super) fn open<G: Game>(
    recording: Recording<G::Sim>,
    place: usize,
    table: &Table,
) -> Result<Box<dyn Reel>, String> {
    let header = &recording.header;
    let build = || G::build(header.seed, table.clone());
    header.check(G::NAME, &G::identity(table)).map_err(|error| error.to_string())?;
    let playback = Playback::new(recording.clone(), build()).map_err(|error| error.to_string())?;
    let film = Film::new(recording.clone(), build()).map_err(|error| error.to_string())?;
    let recorded = recorded(&recording, &film);
    Ok(Box::new(Played::<G> { recording, recorded, place, table: table.clone(), film, playback, is_verified: false }))
}

fn recorded<G: Inspect>(recording: &Recording<G>, film: &Film<G>) -> Recorded {
    let Header { name, room, player, start, ticks_per_s, seed, .. } = film.header();
    let mut names = film.names().clone();
    names.entry(*player).or_insert_with(|| name.clone());
    let ending = match &recording.ending {
        Ending::Closed(reason) => format!("closed: {reason}"),
        Ending::Open => "never closed".to_owned(),
        Ending::Torn { bytes } => format!("broke off: the last {bytes} bytes are left out"),
    };
    Recorded {
        name: name.clone(),
        room: room.clone(),
        player: *player,
        players: names.into_iter().collect(),
        seed: *seed,
        start: *start,
        end: film.end(),
        ticks_per_s: *ticks_per_s,
        ending,
    }
}

struct Played<G: Game> {
    recording: Recording<G::Sim>,
    recorded: Recorded,
    place: usize,
    table: Table,
    film: Film<G::Sim>,
    /// The same, as it is verified.
    playback: Playback<G::Sim>,
    is_verified: bool,
}

impl<G: Game> Reel for Played<G> {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn place(&self) -> usize {
        self.place
    }

    fn seek(&mut self, tick: Tick) {
        self.film.seek(tick);
    }

    fn tick(&self) -> Tick {
        self.film.simulation().tick()
    }

    fn scene(&self, player: PlayerId) -> Scene {
        G::scene(self.film.simulation(), player)
    }

    fn moment(&mut self) -> (Moment, Checksum) {
        let simulation = self.film.simulation_mut();
        (Moment::of(simulation), simulation.checksum())
    }

    fn known(&mut self) -> Option<(Checksum, bool)> {
        Some((self.film.recorded()?, self.film.is_met()?))
    }

    fn next_state(&self, until: Tick) -> Option<Tick> {
        self.film.next_state(until)
    }

    fn is_whole(&self) -> bool {
        self.film.simulation().extent().is_none()
    }

    fn grid(&self) -> Option<Grid> {
        self.film.simulation().measures()
    }

    fn sketch(&self) -> Option<Sketch> {
        self.film.simulation().sketch()
    }

    fn things(&self, cell: CellId) -> Vec<Thing> {
        self.film.simulation().things(Some(cell))
    }

    fn inputs(&self, tick: Tick) -> Vec<String> {
        let turn = self.film.turn(tick);
        let inputs = turn.inputs.iter().filter(|input| !matches!(input, Input::Given(_)));
        inputs.map(|input| format!("{input:?}")).collect()
    }

    fn take(&mut self, world: &OddWorld) {
        let simulation = G::build(world.seed, self.table.clone());
        // Its own start was read before; a world of another seed may have no such start.
        if let Ok(film) = Film::new(self.recording.clone(), simulation) {
            self.film = film;
            self.film.add_state(world.tick, world.state.clone());
        }
    }

    fn by_turns(&self) -> Box<dyn Reel> {
        let mut recording = self.recording.clone();
        recording.entries.retain(|entry| !matches!(entry, Entry::Keyframe(_)));
        open::<G>(recording, self.place, &self.table).expect("it was opened before")
    }

    fn verify(&mut self, go_on: &mut dyn FnMut() -> bool) -> Verified {
        while !self.is_verified && go_on() {
            self.is_verified = !(0..VERIFIED_TICKS).all(|_| self.playback.step());
        }
        Verified { is_done: self.is_verified, replay: self.playback.so_far() }
    }
}

/// What differs at the tick of both; nothing if they are at two ticks.
pub(super) fn common(here: &mut dyn Reel, there: &mut dyn Reel) -> Common {
    if here.tick() != there.tick() {
        return Common::default();
    }
    here.moment().0.common(&there.moment().0)
}

/// What differs in a cell, part by part.
pub(super) fn spots(here: &dyn Reel, there: &dyn Reel, cell: CellId) -> Vec<String> {
    if here.tick() != there.tick() {
        return Vec::new();
    }
    let mut spots = locate::compare(here.things(cell), there.things(cell));
    spots.iter_mut().for_each(|spot| spot.fields.truncate(FIELDS_MAX));
    let more = spots.len().saturating_sub(SPOTS_MAX);
    let told = spots.iter().take(SPOTS_MAX).map(ToString::to_string);
    told.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

/// How two worlds compare that were to show a tick, in a sentence too.
pub(super) fn compare(here: &mut dyn Reel, there: &mut dyn Reel, tick: Tick) -> Compared {
    let mut found = Compared { cells: Vec::new(), loose: false, differs: false, sentence: String::new() };
    if here.tick() != there.tick() {
        found.sentence = told::apart(if here.tick() == tick { there } else { here });
        return found;
    }
    let [(ours, our_sum), (theirs, their_sum)] = [here.moment(), there.moment()];
    let common = ours.common(&theirs);
    let are_whole = ours.is_whole && theirs.is_whole;
    (found.cells, found.loose) = (common.cells(), common.loose);
    found.differs = common.differs() || are_whole && our_sum != their_sum;
    found.sentence = told::compared(&found, are_whole, here, there);
    found
}
