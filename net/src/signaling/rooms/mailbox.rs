//! What waits for one peer until it reads: so many bytes at most. What comes beyond is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// What each message costs beside its bytes.
const MESSAGE_BYTES: usize = 64;

/// Where a room puts messages.
#[derive(Debug)]
pub(super) struct Mailbox {
    messages: UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
    evicted: Arc<AtomicBool>,
    bytes_max: usize,
}

/// Where a connection takes them.
#[derive(Debug)]
pub(in crate::signaling) struct Inbox {
    messages: UnboundedReceiver<String>,
    waiting: Arc<AtomicUsize>,
    evicted: Arc<AtomicBool>,
}

pub(super) fn mailbox(bytes_max: usize) -> (Mailbox, Inbox) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (waiting, evicted) = (Arc::default(), Arc::default());
    let mailbox = Mailbox { messages: sender, waiting: Arc::clone(&waiting), evicted: Arc::clone(&evicted), bytes_max };
    (mailbox, Inbox { messages: receiver, waiting, evicted })
}

impl Mailbox {
    /// Whether there is room for it, and a reader.
    pub(super) fn put(&self, message: String) -> bool {
        let bytes = message.len() + MESSAGE_BYTES;
        // Messages are put under the rooms' lock, so no two at the same time.
        let fits = self.waiting.load(Ordering::Relaxed) + bytes <= self.bytes_max;
        if fits {
            self.waiting.fetch_add(bytes, Ordering::Relaxed);
        }
        fits && self.messages.send(message).is_ok()
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
        let message = self.messages.recv().await?;
        self.waiting.fetch_sub(message.len() + MESSAGE_BYTES, Ordering::Relaxed);
        Some(message)
    }
}
