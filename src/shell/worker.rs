//! What is done beside the game: on a thread of its own, or in pieces where there are no threads.
//!
//! It is all done in the order in which it was asked for, whichever of the two it is.

/// Work that goes on by itself once it was begun.
pub(super) trait Work {
    /// Does a piece. Returns whether there is more to do.
    fn work(&mut self) -> bool;
}

type Job<T> = Box<dyn FnOnce(&mut T) + Send>;

/// Jobs that wait at most. Whoever asks for another waits then.
#[cfg(not(target_arch = "wasm32"))]
const JOBS_MAX: usize = 4_096;

/// Who does it.
pub(super) enum Worker<T> {
    /// Whoever asks, at once.
    Here(Box<T>),
    /// A thread.
    #[cfg(not(target_arch = "wasm32"))]
    Beside(std::sync::mpsc::SyncSender<Job<T>>, std::thread::JoinHandle<()>),
    /// Nobody any more.
    Gone,
}

impl<T: Work + 'static> Worker<T> {
    /// A thread that works until nobody asks any more. Without one, nothing is done.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn beside(name: &str, mut worker: Box<T>) -> Self
    where
        T: Send,
    {
        let (jobs, work) = std::sync::mpsc::sync_channel::<Job<T>>(JOBS_MAX);
        let run = move || {
            while let Ok(job) = work.recv() {
                job(&mut worker);
                while worker.work() {
                    work.try_iter().for_each(|job| job(&mut worker));
                }
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        thread.map_or(Worker::Gone, |thread| Worker::Beside(jobs, thread))
    }

    /// Has something done. A worker that has panicked does nothing any more.
    pub fn ask(&mut self, job: impl FnOnce(&mut T) + Send + 'static) {
        match self {
            Worker::Here(worker) => job(worker),
            #[cfg(not(target_arch = "wasm32"))]
            Worker::Beside(jobs, _) => drop(jobs.send(Box::new(job))),
            Worker::Gone => {}
        }
    }

    /// Does a piece of what goes on by itself, if that is to be done here. Returns
    /// whether there is more.
    pub fn work(&mut self) -> bool {
        if let Worker::Here(worker) = self { worker.work() } else { false }
    }

    /// Waits until all is done.
    pub fn close(&mut self) {
        match std::mem::replace(self, Worker::Gone) {
            Worker::Here(mut worker) => while worker.work() {},
            #[cfg(not(target_arch = "wasm32"))]
            Worker::Beside(jobs, thread) => {
                drop(jobs);
                // Its panic was told by the hook.
                let _ = thread.join();
            }
            Worker::Gone => {}
        }
    }
}
