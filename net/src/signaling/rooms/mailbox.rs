//! What waits for one peer until it reads: so many bytes at most, and so many for all peers of an
//! address. What comes beyond is dropped.
//!
//! An address may have a part of what all have left, so however many addresses hold what they can,
//! something is left for another: dynamic thresholds, as Choudhury and Hahne have them for queues
//! that share a memory (1998).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::StreamExt as _;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::limits::signaling::{WAITING_ADDRESS_PART, WAITING_BYTES_MAX};

/// What each message costs beside its bytes.
const MESSAGE_BYTES: usize = 64;

/// Bytes that wait for all peers of an address, and for all of the server.
#[derive(Clone, Debug, Default)]
pub(in crate::signaling) struct Waiting {
    address: Arc<AtomicUsize>,
    all: Arc<AtomicUsize>,
}

/// What both ends know of one peer.
#[derive(Debug, Default)]
struct Own {
    /// Bytes that wait for it.
    waiting: AtomicUsize,
    is_evicted: AtomicBool,
}

/// Where a room puts messages. While none waits, it holds no place for any.
#[derive(Debug)]
pub(super) struct Mailbox {
    messages: UnboundedSender<(String, Waits)>,
    own: Arc<Own>,
    waiting: Waiting,
    bytes_max: usize,
}

/// Where a connection takes them.
#[derive(Debug)]
pub(in crate::signaling) struct Inbox {
    messages: UnboundedReceiver<(String, Waits)>,
    own: Arc<Own>,
}

/// That a message waits, until this is dropped.
#[derive(Debug)]
struct Waits {
    bytes: usize,
    own: Arc<Own>,
    waiting: Waiting,
}

pub(super) fn mailbox(bytes_max: usize, waiting: Waiting) -> (Mailbox, Inbox) {
    let (messages, inbox) = mpsc::unbounded();
    let own = Arc::<Own>::default();
    let inbox = Inbox { messages: inbox, own: Arc::clone(&own) };
    (Mailbox { messages, own, waiting, bytes_max }, inbox)
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
        self.address.load(Ordering::Relaxed) + bytes <= left / WAITING_ADDRESS_PART
    }
}

impl Mailbox {
    /// Whether there is room for it, and a reader.
    pub(super) fn put(&self, message: String) -> bool {
        let bytes = message.len() + MESSAGE_BYTES;
        // Messages are put under the rooms' lock, so no two at the same time.
        let fits = self.own.waiting.load(Ordering::Relaxed) + bytes <= self.bytes_max && self.waiting.has_room(bytes);
        fits && self.messages.unbounded_send((message, Waits::new(bytes, &self.own, &self.waiting))).is_ok()
    }

    /// The peer has to go.
    pub(super) fn evict(&self) {
        self.own.is_evicted.store(true, Ordering::Relaxed);
    }
}

impl Inbox {
    /// Whether it has ended because the peer has to go, and not because another connection has
    /// taken its place.
    pub(in crate::signaling) fn is_evicted(&self) -> bool {
        self.own.is_evicted.load(Ordering::Relaxed)
    }

    /// The next one; none if nothing more comes.
    pub(in crate::signaling) async fn next(&mut self) -> Option<String> {
        self.messages.next().await.map(|(message, _)| message)
    }
}

impl Waits {
    fn new(bytes: usize, own: &Arc<Own>, waiting: &Waiting) -> Waits {
        let waits = Waits { bytes, own: Arc::clone(own), waiting: waiting.clone() };
        waits.counters().into_iter().for_each(|counter| {
            counter.fetch_add(bytes, Ordering::Relaxed);
        });
        waits
    }

    fn counters(&self) -> [&AtomicUsize; 3] {
        [&self.own.waiting, &self.waiting.address, &self.waiting.all]
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.counters().into_iter().for_each(|counter| {
            counter.fetch_sub(self.bytes, Ordering::Relaxed);
        });
    }
}
