//! Where packets come in: who may send, how much, and whether it is a message at all.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::Simulation;

use super::{DropReason, Out};
use crate::limits::PACKETS_PER_S_MAX;
use crate::link::PeerId;
use crate::wire::{self, Difference, Epoch, Message, PROTOCOL_VERSION, Refusal, Subject, WireError};

/// The peers that are connected, and how much each may still send.
#[derive(Default)]
pub(crate) struct Door {
    rates: BTreeMap<PeerId, Rate>,
}

/// What came through.
pub(crate) enum Admitted {
    Message(Epoch, Message),
    /// A hello of another version of the wire format, whatever else it says: to be answered with this, by who answers hellos.
    Foreign(Refusal),
}

impl Door {
    pub fn connected(&mut self, peer: PeerId) {
        self.rates.insert(peer, Rate::default());
    }

    pub fn disconnected<S: Simulation>(&mut self, peer: PeerId, out: &mut Out<S>) {
        self.rates.remove(&peer);
        out.forget(peer);
    }

    /// Checks a packet. What does not come through is dropped and counted.
    pub fn admit<S: Simulation>(
        &mut self,
        from: PeerId,
        bytes: &[u8],
        now: Duration,
        out: &mut Out<S>,
    ) -> Option<Admitted> {
        // A packet that comes after its sender is gone must leave no trace.
        let Some(rate) = self.rates.get_mut(&from) else {
            out.dropped(DropReason::UnknownPeer);
            return None;
        };
        out.received(from, bytes.len());
        if !rate.admits(now) {
            out.dropped(DropReason::OverRate);
            return None;
        }
        match wire::decode(bytes) {
            Ok((epoch, message)) => return Some(Admitted::Message(epoch, message)),
            Err(WireError::Oversized { .. }) => out.dropped(DropReason::Oversized),
            Err(_) => match wire::hello_version(bytes) {
                Some(protocol) if protocol != PROTOCOL_VERSION => return Some(Admitted::Foreign(foreign(protocol))),
                _ => out.dropped(DropReason::Malformed),
            },
        }
        None
    }
}

fn foreign(protocol: u32) -> Refusal {
    let (session, joiner) = (PROTOCOL_VERSION.into(), protocol.into());
    let difference = vec![Difference { what: Subject::Protocol, session, joiner }];
    Refusal::Different(difference.try_into().expect("one is allowed"))
}

/// A second's worth of packets may be used up at a moderate pace, half as much again at once.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    used: u32,
    at: Duration,
}

impl Rate {
    fn admits(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.at).as_millis() * u128::from(PACKETS_PER_S_MAX) / 1_000;
        if earned > 0 {
            self.used = self.used.saturating_sub(u32::try_from(earned).unwrap_or(u32::MAX));
            self.at = now;
        }
        let admitted = self.used < PACKETS_PER_S_MAX + PACKETS_PER_S_MAX / 2;
        self.used += u32::from(admitted);
        admitted
    }
}
