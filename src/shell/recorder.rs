//! Records the session: the last minutes in memory, so that a difference can be saved when it is found; all of it in a file, if asked.
//!
//! A recording that fails must never stop the game: it stops itself, and says so once.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lockstone_net::wire::{Identity, Terms};
use lockstone_sim::{CellId, Checksum, PlayerId, Simulation, Tick, Turn};

use super::evidence::first_difference;
use super::executable;
use crate::inspect::Inspect;
use crate::recording::{
    Build, Bundle, Desync, Header, Packed, PackedRerun, RING_BYTES_MAX, Recording, Rerunner, Ring, Writer,
};

/// A recording that was saved at a difference goes on with trees up to this size: how the difference spreads is to be seen.
const SAVED_TREES_BYTES: u64 = 2 * RING_BYTES_MAX as u64;

/// Why a recording cannot begin.
#[derive(Debug, thiserror::Error)]
#[error("the recording {} cannot be written: {cause}", path.display())]
pub struct RecordError {
    /// Where it was to be.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

/// What a recording says of its session, as far as it is known before the session begins.
#[derive(Clone, Debug)]
pub struct Labels {
    /// The game's name.
    pub game: &'static str,
    /// What all peers have in common.
    pub terms: Terms,
    /// The player's name.
    pub name: String,
    /// The room.
    pub room: String,
}

/// Records a session of one simulation.
pub struct Recorder<S> {
    labels: Labels,
    build: Build,
    target: Target,
    /// Trees are put into the file as long as it is smaller than this.
    trees_until_bytes: u64,
    ring: Option<Ring<S>>,
    saved: Option<PathBuf>,
    /// The last difference that was told.
    desync: Option<Desync>,
}

enum Target {
    /// Memory alone, unless worlds differ.
    None,
    /// Opened before the session begins, so that a bad path is told then.
    Asked(PathBuf, File),
    Open(Writer<BufWriter<File>>),
    /// The file failed, or is closed.
    Done,
}

impl<S: Simulation> Recorder<S> {
    /// A recorder that keeps the last minutes in memory, and if a path is given all of the session in a file.
    ///
    /// # Errors
    /// [`RecordError`] if the file cannot be made, or is there already: a recording is never written over.
    pub fn new(labels: Labels, path: Option<&Path>) -> Result<Self, RecordError> {
        let target = match path {
            None => Target::None,
            Some(path) => {
                let file = File::create_new(path).map_err(|cause| RecordError { path: path.to_owned(), cause })?;
                Target::Asked(path.to_owned(), file)
            }
        };
        let build = Build::of(executable::digest());
        Ok(Recorder { labels, build, target, trees_until_bytes: 0, ring: None, saved: None, desync: None })
    }

    /// Puts checksum trees into the file as well, if the session tells them. What is in memory has them anyway.
    #[must_use]
    pub fn with_trees(mut self, trees: bool) -> Self {
        self.trees_until_bytes = if trees { u64::MAX } else { 0 };
        self
    }

    /// Where the recording is, if it is in a file.
    pub fn saved(&self) -> Option<&Path> {
        self.saved.as_deref()
    }

    /// A recording of the last minutes, or of as much of them as fits: what this peer knows of a difference. Empty if nothing fits.
    pub fn recent(&self, bytes_max: usize) -> Vec<u8> {
        self.ring.as_ref().and_then(|ring| ring.write_within(bytes_max)).unwrap_or_default()
    }

    /// The tick at which others' recordings part from what is in memory: of those that can be read, the first that does.
    pub(super) fn parts_from<'o>(&self, others: impl IntoIterator<Item = &'o Vec<u8>>) -> Option<Tick> {
        let mut others = others.into_iter().peekable();
        others.peek()?;
        let own = Recording::<S>::read(&self.ring.as_ref()?.write()).ok()?;
        others.find_map(|other| first_difference(&own, other))
    }

    /// Plays again what is in memory, around the tick at which it parted from another's, or else around the last difference that was told.
    /// Nothing if there was none, or if its ticks are no longer held.
    pub(super) fn rerunner(&self, parted: Option<Tick>, build: &dyn Fn(u64) -> S) -> Option<Rerunner<S>>
    where
        S: Inspect,
    {
        let told = self.desync.map(|desync| (desync.tick, desync.agreed));
        let (tick, agreed) = parted.map(|tick| (tick, tick.0.checked_sub(1).map(Tick))).or(told)?;
        let recording = Recording::read(&self.ring.as_ref()?.write()).ok()?;
        Rerunner::new(recording, tick, agreed, build).ok()
    }

    /// What came of it.
    pub(super) fn rerun(&mut self, rerun: PackedRerun) {
        self.file(|writer| writer.rerun(&rerun));
        self.remember(|ring| ring.rerun(rerun));
    }

    /// Saves what all peers know of a difference. Returns where it is.
    pub(super) fn save_bundle(&self, bundle: &Bundle) -> Option<PathBuf> {
        let tick = self.ring.as_ref().map_or(Tick(0), Ring::tick);
        self.places(tick, "lksbnd").find_map(|path| {
            File::create_new(&path).ok()?.write_all(&bundle.write()).ok()?;
            Some(path)
        })
    }

    pub(super) fn start(&mut self, tick: Tick, seed: u64, player: PlayerId, snapshot: &[u8]) {
        let (header, snapshot) = (self.header(tick, seed, player), Packed::of(snapshot));
        self.target = match std::mem::replace(&mut self.target, Target::Done) {
            Target::Asked(path, file) => {
                self.saved = Some(path);
                match Writer::begin(BufWriter::new(file), &header, &snapshot) {
                    Ok(writer) => Target::Open(writer),
                    Err(error) => give_up(&error),
                }
            }
            other => other,
        };
        self.ring = Some(Ring::new(header, snapshot));
    }

    fn header(&self, start: Tick, seed: u64, player: PlayerId) -> Header {
        let (labels, terms) = (&self.labels, &self.labels.terms);
        let Identity { rules, table, config } = terms.identity;
        Header {
            game: labels.game.to_owned(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            rules,
            table,
            config,
            ticks_per_s: terms.ticks_per_s,
            input_delay_ticks: terms.input_delay_ticks,
            checksum_interval_ticks: terms.checksum_interval_ticks,
            player,
            name: labels.name.clone(),
            room: labels.room.clone(),
            start,
            build: self.build.clone(),
        }
    }

    pub(super) fn turn(&mut self, tick: Tick, turn: &Turn<S>) {
        self.remember(|ring| ring.turn(tick, turn));
        self.file(|writer| writer.turn(tick, turn));
    }

    pub(super) fn checksum(&mut self, tick: Tick, checksum: Checksum, tree: &[(CellId, Checksum)]) {
        let trees_until_bytes = self.trees_until_bytes;
        self.remember(|ring| {
            ring.checksum(tick, checksum);
            ring.tree(tick, tree);
        });
        self.file(|writer| {
            writer.checksum::<S>(tick, checksum)?;
            if writer.bytes() < trees_until_bytes { writer.tree::<S>(tick, tree) } else { Ok(()) }
        });
    }

    pub(super) fn keyframe(&mut self, tick: Tick, snapshot: &[u8]) {
        let snapshot = Packed::of(snapshot);
        self.file(|writer| writer.keyframe::<S>(tick, &snapshot));
        self.remember(|ring| ring.keyframe(tick, snapshot));
    }

    pub(super) fn reached(&mut self, tick: Tick) {
        self.remember(|ring| ring.reached(tick));
        self.file(|writer| writer.reached::<S>(tick));
    }

    pub(super) fn name(&mut self, player: PlayerId, name: &str) {
        self.remember(|ring| ring.name(player, name));
        self.file(|writer| {
            writer.name::<S>(player, name);
            Ok(())
        });
    }

    /// Notes a difference, and saves what was only in memory; what comes next goes there too. Returns where the recording is.
    pub(super) fn desync(&mut self, desync: Desync) -> Option<String> {
        self.desync = Some(desync);
        self.remember(|ring| ring.desync(desync));
        self.file(|writer| writer.desync::<S>(desync));
        if self.saved.is_none()
            && let Some((path, writer)) = self.save(desync.tick)
        {
            (self.saved, self.target) = (Some(path), Target::Open(writer));
            self.trees_until_bytes = SAVED_TREES_BYTES;
        }
        self.saved.as_ref().map(|path| path.display().to_string())
    }

    pub(super) fn end(&mut self, tick: Tick, reason: &str) {
        if let Target::Open(writer) = std::mem::replace(&mut self.target, Target::Done)
            && let Err(error) = writer.end::<S>(tick, reason)
        {
            give_up(&error);
        }
    }

    /// Saves the last minutes: here, or where the system keeps passing things.
    fn save(&self, tick: Tick) -> Option<(PathBuf, Writer<BufWriter<File>>)> {
        let ring = self.ring.as_ref()?;
        self.places(tick, "lksrec").find_map(|path| {
            let file = File::create_new(&path).ok()?;
            Some((path, ring.save(BufWriter::new(file)).ok()?))
        })
    }

    /// Files to save evidence in.
    fn places(&self, tick: Tick, extension: &str) -> impl Iterator<Item = PathBuf> {
        let Labels { game, room, name, .. } = &self.labels;
        let plain = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>();
        let file = format!("{game}-desync-{}-{}-{tick}.{extension}", plain(room), plain(name));
        [PathBuf::from("."), std::env::temp_dir()].into_iter().map(move |place| place.join(&file))
    }

    fn remember(&mut self, keep: impl FnOnce(&mut Ring<S>)) {
        if let Some(ring) = &mut self.ring {
            keep(ring);
        }
    }

    fn file(&mut self, write: impl FnOnce(&mut Writer<BufWriter<File>>) -> io::Result<()>) {
        if let Target::Open(writer) = &mut self.target
            && let Err(error) = write(writer)
        {
            self.target = give_up(&error);
        }
    }
}

fn give_up(error: &io::Error) -> Target {
    eprintln!("The recording stops here: {error}.");
    Target::Done
}

impl<S> Drop for Recorder<S> {
    fn drop(&mut self) {
        // A session that never began leaves no empty file behind.
        if let Target::Asked(path, _) = &self.target {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use lockstone_net::PartyConfig;

    use super::*;
    use crate::recording::{Ending, Entry, Recording};

    /// The least simulation there can be.
    struct Nothing;

    impl Simulation for Nothing {
        type Command = ();
        type Hero = ();
        type Join = ();
        type Request = ();
        type Given = lockstone_sim::Nothing;
        type Snapshot = ();

        fn tick(&self) -> Tick {
            Tick(0)
        }
        fn step(&mut self, _turn: &Turn<Self>) {}
        fn requests(&self) -> &[()] {
            &[]
        }
        fn admit(&self, _player: PlayerId, _hero: ()) {}
        fn snapshot(&mut self) {}
        fn restore(&mut self, _snapshot: &()) {}
        fn checksum(&mut self) -> Checksum {
            Checksum(0)
        }
        fn encode(&self, _snapshot: &()) -> Vec<u8> {
            Vec::new()
        }
        fn decode(&self, _bytes: &[u8]) -> Result<(), lockstone_sim::codec::CodecError> {
            Ok(())
        }
    }

    fn recorder(room: &str) -> Recorder<Nothing> {
        let identity = Identity { rules: 1, table: 2, config: 0 };
        let (terms, room) = (PartyConfig::default().terms(identity), room.to_owned());
        let mut recorder = Recorder::new(Labels { game: "nothing", terms, name: "Ada".into(), room }, None).unwrap();
        recorder.start(Tick(0), 7, PlayerId(0), &[]);
        recorder
    }

    #[test]
    fn two_recordings_tell_the_tick_at_which_they_part() {
        let (mut ours, mut theirs) = (recorder("a"), recorder("b"));
        for tick in 0..20 {
            ours.checksum(Tick(tick), Checksum(tick.into()), &[]);
            // The other has recorded less, and from some tick on something else.
            let other = Checksum(u64::from(tick) + u64::from(tick >= 13));
            if tick >= 5 {
                theirs.checksum(Tick(tick), other, &[]);
            }
        }
        let (good, garbage) = (theirs.recent(1 << 20), vec![7; 100]);
        assert_eq!(ours.parts_from(&[garbage.clone(), good.clone()]), Some(Tick(13)));
        assert_eq!(theirs.parts_from(&[garbage, good]), None, "from itself it does not part");
        assert_eq!(ours.parts_from(&[]), None);
    }

    #[test]
    fn a_difference_saves_what_was_only_in_memory() {
        let identity = Identity { rules: 1, table: 2, config: 0 };
        let (terms, room) = (PartyConfig::default().terms(identity), format!("test-{}", std::process::id()));
        let labels = Labels { game: "nothing", terms, name: "Ada/../x".into(), room };
        let mut recorder = Recorder::<Nothing>::new(labels, None).unwrap();
        recorder.start(Tick(0), 7, PlayerId(0), &[]);
        recorder.checksum(Tick(10), Checksum(1), &[]);
        assert_eq!(recorder.saved(), None, "a session in step leaves no file");
        let (tick, agreed) = (Tick(10), None);
        let desync = Desync { player: PlayerId(1), tick, agreed, ours: Checksum(1), theirs: Checksum(2) };
        assert!(recorder.desync(desync).is_some());
        let path = recorder.saved().unwrap().to_owned();
        let read = || Recording::<Nothing>::read(&fs::read(&path).unwrap()).ok().unwrap();
        let at_once = read();
        recorder.end(Tick(20), "fell out of step");
        let at_last = read();
        fs::remove_file(&path).unwrap();
        assert!(at_once.entries.iter().any(|entry| matches!(entry, Entry::Desync(found) if *found == desync)));
        assert_eq!((at_once.ending, at_last.end()), (Ending::Open, Tick(20)));
        assert_eq!(at_last.ending, Ending::Closed("fell out of step".into()));
    }
}
