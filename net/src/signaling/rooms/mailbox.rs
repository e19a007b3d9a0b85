//! What waits for one peer until it reads: so many bytes at most, and so many for all peers of an
//! address. What comes beyond is dropped.
//!
//! An address may have a part of what all have left, so however many addresses hold what they can,
//! something is left for another: dynamic thresholds, as Choudhury and Hahne have them for queues
//! that share a memory (1998).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// What each message costs beside its bytes.
const MESSAGE_BYTES: usize = 64;

/// How much waits for all peers of a server, in bytes; and which part of what is left of it one
/// address may have: 15 MiB, if no other has any.
const WAITING_BYTES_MAX: usize = 256 << 20;
const ADDRESS_PART: usize = 16;

/// Bytes that wait for all peers of an address, and for all of the server.
#[derive(Clone, Debug, Default)]
pub(in crate::signaling) struct Waiting {
    address: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

/// Where a room puts messages.
#[derive(Debug)]
pub(super) struct Mailbox {
    messages: UnboundedSender<(String, Waits)>,
    inbox: Arc<AtomicUsize>,
    waiting: Waiting,
    evicted: Arc<AtomicBool>,
    bytes_max: usize,
}

/// Where a connection takes them.
#[derive(Debug)]
pub(in crate::signaling) struct Inbox {
    messages: UnboundedReceiver<(String, Waits)>,
    evicted: Arc<AtomicBool>,
}

/// That a message waits, until this is dropped.
#[derive(Debug)]
struct Waits {
    bytes: usize,
    inbox: Arc<AtomicUsize>,
    waiting: Waiting,
}

pub(super) fn mailbox(bytes_max: usize, waiting: Waiting) -> (Mailbox, Inbox) {
    let (messages, inbox) = mpsc::unbounded_channel();
    let evicted = Arc::<AtomicBool>::default();
    let inbox = Inbox { messages: inbox, evicted: Arc::clone(&evicted) };
    (Mailbox { messages, inbox: Arc::default(), waiting, evicted, bytes_max }, inbox)
}

impl Waiting {
    /// Of another address of the same server.
    pub(in crate::signaling) fn elsewhere(&self) -> Waiting {
        Waiting { address: Arc::default(), all: Arc::clone(&self.all) }
    }

    /// How many wait for all.
    pub(in crate::signaling) fn all(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    fn has_room(&self, bytes: usize) -> bool {
        let left = WAITING_BYTES_MAX.saturating_sub(self.all());
        self.address.load(Ordering::Relaxed) + bytes <= left / ADDRESS_PART
    }
}

impl Mailbox {
    /// Whether there is room for it, and a reader.
    pub(super) fn put(&self, message: String) -> bool {
        let bytes = message.len() + MESSAGE_BYTES;
        // Messages are put under the rooms' lock, so no two at the same time.
        let fits = self.inbox.load(Ordering::Relaxed) + bytes <= self.bytes_max && self.waiting.has_room(bytes);
        fits && self.messages.send((message, Waits::new(bytes, &self.inbox, &self.waiting))).is_ok()
    }

    /// The peer has to go.
    pub(super) fn evict(&self) {
        self.evicted.store(true, Ordering::Relaxed);
    }
}

impl Inbox {
    /// Whether it has ended because the peer has to go, and not because another connection has
    /// taken its place.
    pub(in crate::signaling) fn is_evicted(&self) -> bool {
        self.evicted.load(Ordering::Relaxed)
    }

    /// The next one; none if nothing more comes.
    pub(in crate::signaling) async fn next(&mut self) -> Option<String> {
        self.messages.recv().await.map(|(message, _)| message)
    }
}

impl Waits {
    fn new(bytes: usize, inbox: &Arc<AtomicUsize>, waiting: &Waiting) -> Waits {
        let waits = Waits { bytes, inbox: Arc::clone(inbox), waiting: waiting.clone() };
        waits.counters().into_iter().for_each(|counter| {
            counter.fetch_add(bytes, Ordering::Relaxed);
        });
        waits
    }

    fn counters(&self) -> [&AtomicUsize; 3] {
        [&self.inbox, &self.waiting.address, &self.waiting.all]
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.counters().into_iter().for_each(|counter| {
            counter.fetch_sub(self.bytes, Ordering::Relaxed);
        });
    }
}
