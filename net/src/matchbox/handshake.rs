//! When a handshake is given up, and for whom another is begun in its place.
//!
//! It must never wait for ever, nor give up what a slow machine or a long line is about to bring
//! about, nor begin as often as a peer likes.

use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt;
use matchbox_socket::{PeerEvent, PeerSignal};

use super::delay::Delay;
use super::ways::is_way;

/// By this a handshake is timed.
const LAP: Duration = Duration::from_millis(500);
/// How long it may take. A loaded machine needs seconds.
const LAPS_MAX: u32 = 50;
pub(super) const WITHIN: Duration = Duration::from_millis(LAP.as_millis() as u64 * LAPS_MAX as u64);
/// How long a relay's may take while players of other addresses wait for theirs. matchbox does not
/// tell whether ICE has found a way.
const LAPS_IN_THE_WAY: u32 = 10;
/// How long it may take since the answer, and three times as long as the answer took more, if
/// another can be begun. ICE seeks a way for 1.4 s from then on, and no more, though the handshake
/// goes on. Two who can reach each other a moment later need another one.
const LAPS_ANSWERED: u32 = 7;
/// The same if a TURN server may have to join the two: ICE takes a way through one after 2 s only.
const LAPS_RELAYED: u32 = 12;

/// So many offers are answered, each in the place of the one before, within so many laps. A peer
/// that stood still finds two or three at once: the server puts it out after a minute.
const OFFERS_MAX: usize = 4;
const OFFERS_LAPS: u32 = 4;

#[derive(Debug)]
pub(super) struct Handshake {
    /// Until the next lap.
    lap: Delay,
    laps: u32,
    /// With which of them the answer came.
    answered: Option<u32>,
    patience: Option<u32>,
    /// Whether a TURN server may have to join the two.
    relayed: bool,
    /// Offers that were heard.
    offers: usize,
}

impl Handshake {
    /// Of the end that answers, and cannot begin another.
    pub fn answering() -> Handshake {
        Handshake { lap: Delay::new(LAP), laps: 0, answered: None, patience: None, relayed: false, offers: 0 }
    }

    /// Of the end that offers, and knows a TURN server or not. `patience`: how many times as long
    /// it may take once it is answered, as others did not suffice.
    pub fn offering(patience: u32, relayed: bool) -> Handshake {
        Handshake { patience: Some(patience), relayed, ..Handshake::answering() }
    }

    /// The one that takes the place of this one, as another offer is heard.
    pub fn anew(&self) -> Handshake {
        Handshake { offers: self.offers_lately(), patience: self.patience, ..Handshake::answering() }
    }

    /// Takes notice of what the peer says.
    pub fn hear(&mut self, event: &PeerEvent) {
        match event {
            PeerEvent::Signal { data: PeerSignal::Offer(_), .. } => self.offers += 1,
            PeerEvent::Signal { data: PeerSignal::Answer(_), .. } => self.answered = Some(self.laps),
            PeerEvent::Signal { data: PeerSignal::IceCandidate(way), .. } => self.relayed |= is_way(way, "relay"),
            _ => {}
        }
    }

    /// Whether another offer is to be answered in the place of one that the peer gave up.
    pub fn may_answer_anew(&self) -> bool {
        (1..OFFERS_MAX).contains(&self.offers_lately())
    }

    fn offers_lately(&self) -> usize {
        if self.laps < OFFERS_LAPS { self.offers } else { self.offers.min(1) }
    }

    /// With which lap it is given up.
    fn laps_max(&self) -> u32 {
        let after = if self.relayed { LAPS_RELAYED } else { LAPS_ANSWERED };
        let answered = self.answered.zip(self.patience).map(|(laps, patience)| 4 * laps + after * patience);
        answered.unwrap_or(LAPS_MAX).min(LAPS_MAX)
    }

    /// Whether it has taken too long. The bell rings when that is to be asked again.
    pub fn is_late(&mut self, is_in_the_way: bool, bell: &Waker) -> bool {
        let cx = &mut Context::from_waker(bell);
        let laps_max = self.laps_max().min(if is_in_the_way { LAPS_IN_THE_WAY } else { LAPS_MAX });
        while self.laps < laps_max && self.lap.poll_unpin(cx).is_ready() {
            self.laps += 1;
            self.lap.reset(LAP);
        }
        self.laps >= laps_max
    }
}
