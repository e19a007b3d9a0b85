//! By which keys the two ends of a connection know each other: what they signaled of them.
//!
//! It must never go by what a connection does not: matchbox takes the first offer and the first
//! answer, and DTLS lets in whoever has one of the keys whose fingerprints these name. So all that
//! are named count.

use std::sync::{Arc, Mutex, PoisonError};

use matchbox_socket::{PeerEvent, PeerRequest, PeerSignal};
use sha2::{Digest, Sha256};

use crate::link::Binding;

/// What is digested before the fingerprints, to make a binding.
const DIGESTED: &str = "lockstone: the fingerprints of a connection";

/// Of one pair, shared with its end of the signaling.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints(Arc<Mutex<Signaled>>);

#[derive(Debug, Default)]
struct Signaled {
    told: Descriptions,
    heard: Descriptions,
}

/// The fingerprints in the first description of each kind.
#[derive(Debug, Default)]
struct Descriptions {
    offer: Option<String>,
    answer: Option<String>,
}

impl Fingerprints {
    /// Takes notice of what this end signals.
    pub fn tells(&self, request: &PeerRequest) {
        if let PeerRequest::Signal { data, .. } = request {
            self.signaled(|signaled| signaled.told.note(data));
        }
    }

    /// Takes notice of what the peer signals.
    pub fn hears(&self, event: &PeerEvent) {
        if let PeerEvent::Signal { data, .. } = event {
            self.signaled(|signaled| signaled.heard.note(data));
        }
    }

    /// The same at both ends, if nobody changed what they signaled.
    pub fn binding(&self) -> Option<Binding> {
        self.signaled(|Signaled { told, heard }| {
            // Who has answered has taken an offer; whatever it offered itself was passed over.
            let (offer, answer) = match &told.answer {
                Some(answer) => (heard.offer.as_ref()?, answer),
                None => (told.offer.as_ref()?, heard.answer.as_ref()?),
            };
            let digest =
                Sha256::new().chain_update(DIGESTED).chain_update(offer).chain_update("\n").chain_update(answer);
            Some(Binding(digest.finalize().into()))
        })
    }

    fn signaled<T>(&self, f: impl FnOnce(&mut Signaled) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Descriptions {
    fn note(&mut self, signal: &PeerSignal) {
        let (description, sdp) = match signal {
            PeerSignal::Offer(sdp) => (&mut self.offer, sdp),
            PeerSignal::Answer(sdp) => (&mut self.answer, sdp),
            PeerSignal::IceCandidate(_) => return,
        };
        description.get_or_insert_with(|| fingerprints(sdp));
    }
}

/// All that a description names (RFC 8122), one a line.
fn fingerprints(sdp: &str) -> String {
    let named = sdp.lines().filter_map(|line| line.strip_prefix("a=fingerprint:"));
    named.map(|named| named.trim().to_ascii_lowercase()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(offer: [&str; 2], answer: [&str; 2]) -> [Option<Binding>; 2] {
        let (offerer, answerer) = (Fingerprints::default(), Fingerprints::default());
        let peer = matchbox_socket::PeerId(uuid::Uuid::nil());
        let tell =
            |sdp: &str, kind: fn(String) -> PeerSignal| PeerRequest::Signal { receiver: peer, data: kind(sdp.into()) };
        let hear =
            |sdp: &str, kind: fn(String) -> PeerSignal| PeerEvent::Signal { sender: peer, data: kind(sdp.into()) };
        offerer.tells(&tell(offer[0], PeerSignal::Offer));
        answerer.hears(&hear(offer[1], PeerSignal::Offer));
        assert_eq!(offerer.binding(), None, "nobody has answered");
        answerer.tells(&tell(answer[0], PeerSignal::Answer));
        offerer.hears(&hear(answer[1], PeerSignal::Answer));
        [offerer.binding(), answerer.binding()]
    }

    #[test]
    fn both_ends_come_to_the_same_unless_someone_changed_what_they_said() {
        let sdp = |keys: &[&str]| {
            let named: Vec<_> = keys.iter().map(|key| format!("a=fingerprint:sha-256 {key}\r\n")).collect();
            format!("v=0\r\ns=-\r\n{}a=setup:actpass\r\n", named.concat())
        };
        let (ours, theirs, between) = (sdp(&["AA:01"]), sdp(&["BB:02"]), sdp(&["CC:03"]));
        let [one, other] = ends([&ours, &ours], [&theirs, &theirs]);
        assert!(one.is_some() && one == other);
        let others = [
            ends([&ours, &between], [&between, &theirs]),
            ends([&ours, &ours], [&theirs, &between]),
            ends([&ours, &sdp(&["AA:01", "CC:03"])], [&theirs, &theirs]),
            ends([&ours, "v=0"], [&theirs, &theirs]),
        ];
        assert!(others.iter().all(|[one, other]| one != other), "{others:?}");
        assert_ne!(ends([&theirs, &theirs], [&ours, &ours])[0], one, "who offers counts");
        assert_eq!(ends([&ours, &ours.to_lowercase()], [&theirs, &theirs])[1], one, "as browsers may write them");
    }
}
