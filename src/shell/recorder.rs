//! Records the session: passes on what happens to the [`Keeper`], which works on the caller's
//! thread, or on a thread of its own. Both do all jobs in the order in which they were given.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
#[cfg(not(target_arch = "wasm32"))]
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use lockstone_sim::Tick;

use super::effort::Clocks;
pub use super::keeper::Labels;
use super::keeper::{Keeper, Target, Told};
use super::storage::Storage;
use crate::inspect::Inspect;

/// Jobs that wait at most. The caller of one more waits until there is room.
#[cfg(not(target_arch = "wasm32"))]
const JOBS_MAX: usize = 4_096;

/// Why a recording cannot begin.
#[derive(Debug, thiserror::Error)]
#[error("the recording {} cannot be written: {cause}", path.display())]
pub struct RecordError {
    /// Where it was to be.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

/// Records a session of one simulation.
pub struct Recorder<S: Inspect + 'static> {
    worker: Worker<S>,
    /// What became of what was asked for.
    pub(super) told: Receiver<Told>,
    /// In nanoseconds.
    worked: Arc<AtomicU64>,
}

type Job<S> = Box<dyn FnOnce(&mut Keeper<S>) + Send>;

/// Where jobs are done.
enum Worker<S: Inspect> {
    /// On the caller's thread, at once.
    Here(Box<Keeper<S>>),
    /// On a thread beside it.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page has one thread"))]
    Beside(SyncSender<Job<S>>, JoinHandle<()>),
    /// Nowhere any more: the recorder is closed.
    Gone,
}

impl<S: Inspect + Send + 'static> Recorder<S> {
    /// A recorder that keeps the last minutes in memory, and if a path is given all of the
    /// session in a file.
    ///
    /// # Errors
    /// [`RecordError`] if the file cannot be made, or is there already: a recording is
    /// never written over.
    pub fn new(labels: Labels, mut storage: impl Storage + 'static, path: Option<&Path>) -> Result<Self, RecordError> {
        let target = match path.map(|path| (path.to_owned(), storage.create(path))) {
            None => Target::None,
            Some((path, Ok(output))) => Target::Asked(path, output),
            Some((path, Err(cause))) => return Err(RecordError { path, cause }),
        };
        let (told_tx, told) = mpsc::channel();
        let keeper = Keeper::new(labels, Box::new(storage), target, told_tx);
        Ok(Recorder { worker: Worker::Here(Box::new(keeper)), told, worked: Arc::default() })
    }

    /// Puts checksum trees into the file as well, if the session tells them. What is in memory
    /// has them anyway.
    #[must_use]
    pub fn with_trees(mut self, trees: bool) -> Self {
        self.ask(move |keeper| keeper.trees_until_bytes = if trees { u64::MAX } else { 0 });
        self
    }

    /// Has all of it done by a thread: states are serialised and compressed, files written, the
    /// past is played again beside the game. What is recorded is the same.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn beside(mut self) -> Self {
        self.worker = match std::mem::replace(&mut self.worker, Worker::Gone) {
            Worker::Here(keeper) => Worker::beside(keeper),
            other => other,
        };
        self
    }

    /// Has something done. A worker that has panicked does nothing any more.
    pub(super) fn ask(&mut self, job: impl FnOnce(&mut Keeper<S>) + Send + 'static) {
        match &mut self.worker {
            Worker::Here(keeper) => job(keeper),
            Worker::Beside(jobs, _) => drop(jobs.send(Box::new(job))),
            Worker::Gone => {}
        }
    }

    /// A copy of the state before the turn of a tick.
    pub(super) fn keyframe(&mut self, tick: Tick, snapshot: S::Snapshot, of: &S) {
        match of.encoder() {
            Some(encode) => self.ask(move |keeper| keeper.keyframe(tick, &encode(&snapshot))),
            None => {
                let bytes = of.encode(&snapshot);
                self.ask(move |keeper| keeper.keyframe(tick, &bytes));
            }
        }
    }

    /// The clocks that it is to read.
    pub(super) fn read(&mut self, clocks: Clocks) {
        self.ask(move |keeper| keeper.clock = clocks.wall);
        let worked = Arc::clone(&self.worked);
        // In the thread that records, if there is one.
        self.ask(move |keeper| keeper.worked = Some((clocks.thread, worked)));
    }

    /// How long a thread of its own has worked.
    pub(super) fn worked(&self) -> Duration {
        match self.worker {
            Worker::Here(_) => Duration::ZERO,
            _ => Duration::from_nanos(self.worked.load(Ordering::Relaxed)),
        }
    }

    /// Does a piece of what goes on by itself, if that is to be done here. Returns whether there is
    /// more.
    pub(super) fn work(&mut self) -> bool {
        if let Worker::Here(keeper) = &mut self.worker { keeper.work() } else { false }
    }
}

impl<S: Inspect + 'static> Recorder<S> {
    /// Waits until all is done. Nothing more is recorded.
    pub(super) fn close(&mut self) {
        match std::mem::replace(&mut self.worker, Worker::Gone) {
            Worker::Here(mut keeper) => while keeper.work() {},
            Worker::Beside(jobs, thread) => {
                drop(jobs);
                // Its panic was told by the hook.
                let _ = thread.join();
            }
            Worker::Gone => {}
        }
    }
}

impl<S: Inspect + 'static> Drop for Recorder<S> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<S: Inspect + Send + 'static> Worker<S> {
    /// A thread that works until nobody asks any more. Without one, nothing is done.
    fn beside(mut keeper: Box<Keeper<S>>) -> Self {
        let (jobs, asked) = mpsc::sync_channel::<Job<S>>(JOBS_MAX);
        let work = move || {
            while let Ok(job) = asked.recv() {
                job(&mut keeper);
                while keeper.work() {
                    asked.try_iter().for_each(|job| job(&mut keeper));
                }
            }
        };
        let thread = thread::Builder::new().name("lockstone-recorder".to_owned()).spawn(work);
        thread.map_or(Worker::Gone, |thread| Worker::Beside(jobs, thread))
    }
}
