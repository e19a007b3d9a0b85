//! What is to be sent to a peer that is silent, or deaf. As soon as it leaves the probe's questions
//! unanswered, or does not hear the probe's answers, it is sent nothing but those: what is reliable
//! waits until the peer is heard.
//!
//! While nothing arrives, SCTP tries less and less often, up to a minute apart, and what it has
//! under way holds up all that follows. So that must be next to nothing. Else two ends that can
//! reach each other again would not notice for as long as they could not.

use std::time::Duration;

use futures::FutureExt;

use super::delay::Delay;

/// A peer that is silent for this long, at most twice, is asked when something is to be sent. SCTP
/// waits for a second before it first tries again.
const ASKED_AFTER: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) struct Silence {
    /// Whether the peer said something since the time began.
    is_heard: bool,
    time: Delay,
    /// Whether it left the last questions unanswered.
    is_silent: bool,
    /// While it is silent or deaf: what waits, in order.
    waiting: Option<Vec<Vec<u8>>>,
}

impl Default for Silence {
    fn default() -> Silence {
        Silence { is_heard: false, time: Delay::new(ASKED_AFTER), is_silent: false, waiting: None }
    }
}

impl Silence {
    /// Something is to be sent. Whether the peer is to be asked.
    pub fn asks(&mut self) -> bool {
        if (&mut self.time).now_or_never().is_none() {
            return false;
        }
        let was_heard = core::mem::take(&mut self.is_heard);
        if was_heard {
            self.time.reset(ASKED_AFTER);
        }
        !was_heard
    }

    /// The peer did not answer. Whether it is to be asked again, as something waits.
    pub fn unanswered(&mut self) -> bool {
        self.is_silent = !self.is_heard;
        if self.is_silent {
            self.unheard();
        }
        self.waiting.as_ref().is_some_and(|waiting| !waiting.is_empty())
    }

    /// Whether the peer has left questions unanswered, and said nothing since.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// The peer does not hear this end, until it says something else than that.
    pub fn unheard(&mut self) {
        self.waiting.get_or_insert_default();
    }

    /// Where what is reliable waits, while nothing may be sent.
    pub fn waiting(&mut self) -> Option<&mut Vec<Vec<u8>>> {
        self.waiting.as_mut()
    }

    /// The peer said something. Returns what waited for that.
    pub fn heard(&mut self) -> Vec<Vec<u8>> {
        (self.is_heard, self.is_silent) = (true, false);
        self.waiting.take().unwrap_or_default()
    }
}
