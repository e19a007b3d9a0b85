//! What is to be sent to a peer that is silent. As soon as it leaves the probe's questions
//! unanswered, it is sent nothing but those: what is reliable waits until the peer is heard.
//!
//! While nothing arrives, SCTP tries less and less often, up to a minute apart, and what it has
//! under way holds up all that follows. So that must be next to nothing. Else two ends that can
//! reach each other again would not notice for as long as they could not.

use std::time::Duration;

use futures::FutureExt;
use futures_timer::Delay;

/// A peer that is silent for this long, at most twice, is asked when something is to be sent.
const ASKED_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Silence {
    /// Whether the peer said something since the time began.
    is_heard: bool,
    time: Delay,
    /// Once it left a question unanswered: what waits, in order.
    waiting: Option<Vec<Vec<u8>>>,
}

impl Default for Silence {
    fn default() -> Silence {
        Silence { is_heard: false, time: Delay::new(ASKED_AFTER), waiting: None }
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
        !self.is_heard && !self.waiting.get_or_insert_default().is_empty()
    }

    /// Where what is reliable waits, while nothing may be sent.
    pub fn waiting(&mut self) -> Option<&mut Vec<Vec<u8>>> {
        self.waiting.as_mut()
    }

    /// The peer said something. Returns what waited for that.
    pub fn heard(&mut self) -> Vec<Vec<u8>> {
        self.is_heard = true;
        self.waiting.take().unwrap_or_default()
    }
}
