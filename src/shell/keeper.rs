//! Keeps a session's recording: the last minutes in memory, so that a difference can be saved when
//! it is found; all of it in a file, if asked. And what is found out of a difference.
//!
//! It works beside the game ([`Recorder`](super::recorder::Recorder)). A recording that fails
//! must never stop the game: it stops itself, and says so once. Whatever peers claim, what is
//! saved has an end.

mod evidence;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;
use std::time::Duration;

use lockstone_net::wire::{LeaveReason, PublicKey, Signed, Terms};
use lockstone_sim::{CellId, Checksum, PlayerId, Tick, Turn};

use super::effort::Clock;
use super::executable;
use super::inquiry::{Inquiry, State};
use super::storage::{Output, Storage, named_after};
use crate::inspect::Inspect;
use crate::recording::{Desync, Header, Packed, RING_BYTES_MAX, Reference, Ring, Writer};

/// A recording that was saved at a difference goes on with trees up to this size: how the
/// difference spreads is to be seen.
const SAVED_TREES_BYTES: u64 = 2 * RING_BYTES_MAX as u64;
/// And without them up to this one: nobody asked for a recording of months.
const SAVED_BYTES_MAX: u64 = 4 * RING_BYTES_MAX as u64;
/// Beside what was asked for, so many recordings of branches are kept.
const BRANCHES_MAX: u32 = 4;

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

impl Labels {
    /// What a recording of the session is called where nobody named it.
    pub fn file(&self) -> PathBuf {
        let room = if self.room.is_empty() { "alone" } else { &self.room };
        format!("{}-{}-{}.lksrec", self.game, plain(room), plain(&self.name)).into()
    }
}

/// What of a text any file may be called.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

/// What became of it.
pub(super) enum Told {
    /// The recording is in a file from now on.
    Recorded(PathBuf),
    /// What others did not play is on record there.
    Apart(PathBuf),
    /// A difference is on record there.
    Desync(PathBuf),
    /// The recording stops here, and why.
    Failed(io::Error),
    /// What should be on record is in no file, and why.
    Unsaved(io::Error),
    /// This peer's evidence.
    Evidence(Vec<u8>),
    /// All peers' evidence is there.
    Bundle(PathBuf),
    /// The checksum to which the own recording comes at a tick, if it comes to one.
    Reference(Tick, Option<Checksum>),
    /// A difference is passed over: enough of them were saved.
    PassedOver,
}

/// Keeps the recording of one session.
pub(super) struct Keeper<S: Inspect> {
    labels: Labels,
    storage: Box<dyn Storage>,
    target: Target,
    /// Whether somebody wanted a file, rather than a difference.
    is_asked: bool,
    /// Trees are put into the file as long as it is smaller than this.
    pub trees_until_bytes: u64,
    ring: Option<Ring>,
    /// What was in memory when the world was put right, until this peer's evidence is given.
    before: Option<Ring>,
    saved: Option<PathBuf>,
    /// The first file that was wanted, and how many there were since.
    first: Option<PathBuf>,
    files: u32,
    /// How many recordings of branches were kept, and whether one is just now.
    branches: u32,
    is_apart: bool,
    /// The last difference that was told.
    desync: Option<Desync>,
    /// Makes another simulation, to play again in.
    pub build: Option<Box<dyn Fn(u64) -> S + Send>>,
    inquiry: Option<Inquiry<S>>,
    /// The own recording is played again, to learn whose world is right.
    reference: Option<Reference<S>>,
    inquiries: u32,
    pub clock: Clock,
    /// How long this thread has worked, and who is told, in nanoseconds.
    pub worked: Option<(Clock, Arc<AtomicU64>)>,
    told: Sender<Told>,
}

pub(super) enum Target {
    /// Memory alone, unless worlds differ.
    None,
    /// Opened before the session begins, so that a bad path is told then.
    Asked(PathBuf, Output),
    Open(Writer<Output>),
    /// The file failed, or is closed.
    Done,
}

impl<S: Inspect> Keeper<S> {
    pub fn new(labels: Labels, storage: Box<dyn Storage>, target: Target, told: Sender<Told>) -> Self {
        Keeper {
            labels,
            storage,
            is_asked: matches!(target, Target::Asked(..)),
            target,
            trees_until_bytes: 0,
            ring: None,
            before: None,
            saved: None,
            first: None,
            files: 1,
            branches: 0,
            is_apart: false,
            desync: None,
            build: None,
            inquiry: None,
            reference: None,
            inquiries: 0,
            clock: || Duration::ZERO,
            worked: None,
            told,
        }
    }

    fn tell(&self, told: Told) {
        // Nobody listens any more once the session is over.
        let _ = self.told.send(told);
    }

    pub fn start(&mut self, tick: Tick, seed: u64, player: PlayerId, snapshot: &[u8]) {
        let (header, snapshot) = (self.header(tick, seed, player), Packed::of(snapshot));
        // A recording tells one history: what this peer played alone, nobody else did, and no play
        // leads from an odd world to one that was put right.
        if let Target::Open(_) = self.target {
            self.end(tick, "the world was loaded anew, or put right");
            self.target = self.next_file();
        }
        if std::mem::take(&mut self.is_apart) {
            self.saved = None;
        }
        self.target = match std::mem::replace(&mut self.target, Target::Done) {
            Target::Asked(path, output) => {
                self.tell(Told::Recorded(path.clone()));
                self.saved = Some(path);
                match Writer::begin(output, &header, &snapshot) {
                    Ok(writer) => Target::Open(writer),
                    Err(error) => self.give_up(error),
                }
            }
            other => other,
        };
        let before = self.ring.replace(Ring::new(header, snapshot));
        // Nobody is told the names of those who were here before.
        for (player, name) in before.iter().flat_map(Ring::names) {
            self.name(*player, name);
        }
        if self.inquiry.as_ref().is_some_and(|inquiry| !matches!(inquiry.state, State::Given)) {
            self.before = self.before.take().or(before);
        }
    }

    /// The file behind the one that is closed, if somebody wanted one: with the next number in its
    /// name that is free.
    fn next_file(&mut self) -> Target {
        let Some(path) = self.saved.clone().filter(|_| self.is_asked) else { return Target::Done };
        let first = self.first.get_or_insert(path).clone();
        match self.create(&first, self.files + 1) {
            Ok((number, path, output)) => {
                self.files = number;
                Target::Asked(path, output)
            }
            Err(error) => self.give_up(error),
        }
    }

    /// A new file with that name, or with the first number behind it, from one on, that is free.
    fn create(&mut self, first: &Path, from: u32) -> io::Result<(u32, PathBuf, Output)> {
        let mut number = from;
        loop {
            let path = if number == 1 { first.to_owned() } else { named_after(first, &format!("-{number}")) };
            match self.storage.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => return created.map(|output| (number, path, output)),
            }
        }
    }

    fn header(&self, start: Tick, seed: u64, player: PlayerId) -> Header {
        let (labels, terms) = (&self.labels, &self.labels.terms);
        Header {
            game: labels.game.to_owned(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            identity: terms.identity,
            kind: terms.kind,
            ticks_per_s: terms.ticks_per_s,
            input_delay_ticks: terms.input_delay_ticks,
            checksum_interval_ticks: terms.checksum_interval_ticks,
            player,
            name: labels.name.clone(),
            room: labels.room.clone(),
            start,
            build: executable::build(),
        }
    }

    pub fn turn(&mut self, tick: Tick, turn: &Turn<S>) {
        self.remember(|ring| ring.turn(tick, turn));
        self.file(|writer| writer.turn(tick, turn));
    }

    /// A checksum, and the tree that it is the root of, if that was told.
    pub fn checksum(&mut self, tick: Tick, checksum: Checksum, tree: &[(CellId, Checksum)]) {
        self.remember(|ring| ring.checksum(tick, checksum));
        self.file(|writer| writer.checksum(tick, checksum));
        if tree.is_empty() {
            return;
        }
        let trees_until_bytes = self.trees_until_bytes;
        self.remember(|ring| ring.tree(tick, tree));
        self.file(|writer| if writer.bytes() < trees_until_bytes { writer.tree(tick, tree) } else { Ok(()) });
    }

    pub fn keyframe(&mut self, tick: Tick, snapshot: &[u8]) {
        let snapshot = Packed::of(snapshot);
        self.file(|writer| writer.keyframe(tick, &snapshot));
        self.remember(|ring| ring.keyframe(tick, snapshot));
    }

    /// What goes with the last state.
    pub fn ledger(&mut self, ledger: Vec<u8>) {
        self.file(|writer| writer.ledger(&ledger));
        self.remember(|ring| ring.ledger(ledger));
    }

    pub fn member(&mut self, player: PlayerId, key: Option<PublicKey>) {
        self.remember(|ring| ring.member(player, key));
        self.file(|writer| writer.member(player, key));
    }

    pub fn gone(&mut self, player: PlayerId, reason: LeaveReason) {
        self.remember(|ring| ring.gone(player, reason));
        self.file(|writer| writer.gone(player, reason));
    }

    pub fn signed(&mut self, signed: Signed) {
        self.file(|writer| writer.signed(&signed));
        self.remember(|ring| ring.signed(signed));
    }

    pub fn reached(&mut self, tick: Tick) {
        self.remember(|ring| ring.reached(tick));
        self.file(|writer| writer.reached(tick));
        if let Target::Open(writer) = &self.target
            && !self.is_asked
            && writer.bytes() > SAVED_BYTES_MAX
        {
            self.target = Target::Done;
        }
    }

    pub fn name(&mut self, player: PlayerId, name: &str) {
        self.remember(|ring| ring.name(player, name));
        self.file(|writer| {
            writer.name(player, name);
            Ok(())
        });
    }

    /// Notes a difference, and saves what was only in memory; what comes next goes there too.
    pub fn desync(&mut self, desync: Desync) {
        self.desync = Some(desync);
        self.remember(|ring| ring.desync(desync));
        self.file(|writer| writer.desync(desync));
        if self.saved.is_none() {
            self.save("desync", desync.tick);
        }
        if let Some(path) = &self.saved {
            self.tell(Told::Desync(path.clone()));
        }
    }

    /// This is a branch of the session, or yields to one: what is played in it, others do not play.
    pub fn keep_apart(&mut self) {
        let is_free = !self.is_asked && self.saved.is_none();
        if is_free && self.branches < BRANCHES_MAX {
            self.branches += 1;
            self.is_apart = true;
            self.save("branch", self.ring.as_ref().map_or(Tick(0), Ring::tick));
        }
        if let Some(path) = &self.saved {
            self.tell(Told::Apart(path.clone()));
        }
    }

    /// The ticks before this one are final: all of them are in the file from now on.
    pub fn hand_over(&mut self, tick: Tick) {
        self.file(|writer| writer.hand_over(tick));
    }

    pub fn end(&mut self, tick: Tick, reason: &str) {
        if let Target::Open(writer) = std::mem::replace(&mut self.target, Target::Done)
            && let Err(error) = writer.end(tick, reason)
        {
            self.target = self.give_up(error);
        }
    }

    /// The game panicked in the step of a tick, whose turn is on record: saves what was only in
    /// memory, and marks the tick by ending with it.
    pub fn break_off(&mut self, tick: Tick, reason: &str) {
        if self.saved.is_none() {
            self.save("panic", tick);
        }
        self.end(tick.next(), reason);
    }

    /// Saves the last minutes, because of something.
    fn save(&mut self, what: &str, tick: Tick) {
        if self.ring.is_none() {
            return;
        }
        let saved = self.write_anew(self.places(what, tick, "lksrec"), |keeper, output| {
            keeper.ring.as_ref().ok_or(io::ErrorKind::NotFound)?.save(output)
        });
        let Some((path, writer)) = saved else { return };
        self.tell(Told::Recorded(path.clone()));
        (self.saved, self.target) = (Some(path), Target::Open(writer));
        self.trees_until_bytes = SAVED_TREES_BYTES;
    }

    /// Writes a new file at the first of these places that takes it, or tells why none does.
    fn write_anew<T>(
        &mut self,
        places: Vec<PathBuf>,
        write: impl Fn(&Self, Output) -> io::Result<T>,
    ) -> Option<(PathBuf, T)> {
        let mut failure = None;
        for place in places {
            let created = self.create(&place, 1);
            match created.and_then(|(_, path, output)| Ok((path, write(self, output)?))) {
                Ok(written) => return Some(written),
                Err(error) => failure = Some(error),
            }
        }
        failure.into_iter().for_each(|error| self.tell(Told::Unsaved(error)));
        None
    }

    /// Files to save something in.
    fn places(&self, what: &str, tick: Tick, extension: &str) -> Vec<PathBuf> {
        let Labels { game, room, name, .. } = &self.labels;
        let file = format!("{game}-{what}-{}-{}-{tick}.{extension}", plain(room), plain(name));
        self.storage.folders().into_iter().map(|folder| folder.join(&file)).collect()
    }

    fn remember(&mut self, keep: impl FnOnce(&mut Ring)) {
        if let Some(ring) = &mut self.ring {
            keep(ring);
        }
    }

    fn file(&mut self, write: impl FnOnce(&mut Writer<Output>) -> io::Result<()>) {
        if let Target::Open(writer) = &mut self.target
            && let Err(error) = write(writer)
        {
            self.target = self.give_up(error);
        }
    }

    fn give_up(&self, error: io::Error) -> Target {
        self.tell(Told::Failed(error));
        Target::Done
    }
}

impl<S: Inspect> Drop for Keeper<S> {
    fn drop(&mut self) {
        // What has not come by now does not come.
        self.inquiry.iter_mut().for_each(|inquiry| inquiry.is_complete = true);
        self.save_bundle();
        // A session that never began leaves no empty file behind.
        if let Target::Asked(path, _) = &self.target {
            let _ = self.storage.remove(path);
        }
    }
}
