//! Records the session: into the file that was asked for, else into memory, so that a difference can be saved when it is found.
//!
//! A recording that fails must never stop the game: it stops itself, and says so once.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lockstone_net::wire::{Identity, Terms};
use lockstone_sim::{Checksum, PlayerId, Simulation, Tick, Turn};

use crate::recording::{Desync, Header, Writer};

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
    /// Opened before the session begins, so that a bad path is told then.
    target: Target,
    writer: Option<Writer<Sink>>,
    saved: Option<PathBuf>,
    simulation: std::marker::PhantomData<fn() -> S>,
}

enum Target {
    Memory,
    File(PathBuf, File),
    /// The writer has it.
    Taken,
}

enum Sink {
    Memory(Vec<u8>),
    File(BufWriter<File>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Memory(memory) => memory.write(bytes),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Memory(_) => Ok(()),
            Sink::File(file) => file.flush(),
        }
    }
}

impl<S: Simulation> Recorder<S> {
    /// A recorder that keeps the recording in memory, unless a path is given.
    ///
    /// # Errors
    /// [`RecordError`] if the file cannot be made, or is there already: a recording is never written over.
    pub fn new(labels: Labels, path: Option<&Path>) -> Result<Self, RecordError> {
        let target = match path {
            None => Target::Memory,
            Some(path) => {
                let file = File::create_new(path).map_err(|cause| RecordError { path: path.to_owned(), cause })?;
                Target::File(path.to_owned(), file)
            }
        };
        Ok(Recorder { labels, target, writer: None, saved: None, simulation: std::marker::PhantomData })
    }

    /// Where the recording is, if it is in a file.
    pub fn saved(&self) -> Option<&Path> {
        self.saved.as_deref()
    }

    pub(super) fn start(&mut self, tick: Tick, seed: u64, player: PlayerId, snapshot: &[u8]) {
        let (labels, terms) = (&self.labels, &self.labels.terms);
        let Identity { rules, table, config } = terms.identity;
        let header = Header {
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
            start: tick,
        };
        let sink = match std::mem::replace(&mut self.target, Target::Taken) {
            Target::File(path, file) => {
                self.saved = Some(path);
                Sink::File(BufWriter::new(file))
            }
            Target::Memory => Sink::Memory(Vec::new()),
            Target::Taken => return,
        };
        match Writer::create(sink, &header, snapshot) {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => self.give_up(&error),
        }
    }

    pub(super) fn turn(&mut self, tick: Tick, turn: &Turn<S>) {
        self.with(|writer| writer.turn(tick, turn));
    }

    pub(super) fn checksum(&mut self, tick: Tick, checksum: Checksum) {
        self.with(|writer| writer.checksum::<S>(tick, checksum));
    }

    pub(super) fn reached(&mut self, tick: Tick) {
        self.with(|writer| writer.reached::<S>(tick));
    }

    pub(super) fn name(&mut self, player: PlayerId, name: &str) {
        self.with(|writer| {
            writer.name::<S>(player, name);
            Ok(())
        });
    }

    /// Notes a difference, and saves what was only in memory. Returns where the recording is.
    pub(super) fn desync(&mut self, desync: Desync) -> Option<String> {
        self.with(|writer| writer.desync::<S>(desync));
        if self.saved.is_none() {
            self.saved = self.save(desync.tick);
        }
        self.saved.as_ref().map(|path| path.display().to_string())
    }

    pub(super) fn end(&mut self, tick: Tick, reason: &str) {
        let Some(writer) = self.writer.take() else { return };
        match (writer.end::<S>(tick, reason), &self.saved) {
            // What was saved at a difference is brought up to the end.
            (Ok((Sink::Memory(bytes), _)), Some(path)) => {
                if let Err(error) = fs::write(path, bytes) {
                    self.give_up(&error);
                }
            }
            (Ok(_), _) => {}
            (Err(error), _) => self.give_up(&error),
        }
    }

    /// Saves a recording from memory: here, or where the system keeps passing things.
    fn save(&self, tick: Tick) -> Option<PathBuf> {
        let Some(Sink::Memory(bytes)) = self.writer.as_ref().map(Writer::output) else { return None };
        let Labels { game, room, name, .. } = &self.labels;
        let plain = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>();
        let file = format!("{game}-desync-{}-{}-{tick}.lksrec", plain(room), plain(name));
        let places = [PathBuf::from("."), std::env::temp_dir()];
        places
            .into_iter()
            .map(|place| place.join(&file))
            .find(|path| File::create_new(path).and_then(|mut file| file.write_all(bytes)).is_ok())
    }

    fn with(&mut self, write: impl FnOnce(&mut Writer<Sink>) -> io::Result<()>) {
        if let Some(writer) = &mut self.writer
            && let Err(error) = write(writer)
        {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        self.writer = None;
        eprintln!("The recording stops here: {error}.");
    }
}

impl<S> Drop for Recorder<S> {
    fn drop(&mut self) {
        // A session that never began leaves no empty file behind.
        if let Target::File(path, _) = &self.target {
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

    #[test]
    fn a_difference_saves_what_was_only_in_memory() {
        let identity = Identity { rules: 1, table: 2, config: 0 };
        let (terms, room) = (PartyConfig::default().terms(identity), format!("test-{}", std::process::id()));
        let labels = Labels { game: "nothing", terms, name: "Ada/../x".into(), room };
        let mut recorder = Recorder::<Nothing>::new(labels, None).unwrap();
        recorder.start(Tick(0), 7, PlayerId(0), &[]);
        recorder.checksum(Tick(10), Checksum(1));
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
