//! Where packets come in: who may send, how much, and whether it is a message at all.

use core::time::Duration;
use std::collections::BTreeMap;

use lockstone_sim::Simulation;

use super::{DropReason, Outbox, TrafficClass};
use crate::limits::PACKETS_PER_S_MAX;
use crate::link::PeerId;
use crate::wire::{self, Difference, Epoch, Message, PROTOCOL_VERSION, Refusal, Subject, WireError};

/// The peers that are connected, and how much each may still send.
pub struct Ingress {
    allowance: Allowance,
    rates: BTreeMap<PeerId, Rates>,
}

/// What one peer may send in a second; half as much again at once.
#[derive(Clone, Copy)]
pub struct Allowance {
    pub packets: u32,
    pub bytes: u32,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance { packets: PACKETS_PER_S_MAX, bytes: u32::MAX / 2 }
    }
}

#[derive(Default)]
struct Rates {
    packets: Rate,
    bytes: Rate,
}

/// What came through.
pub enum Admitted {
    Message(Epoch, Message),
    /// A hello of another version of the wire format, whatever else it says: to be answered with
    /// this, by who answers hellos.
    Foreign(Refusal),
}

impl Ingress {
    pub fn new(allowance: Allowance) -> Ingress {
        Ingress { allowance, rates: BTreeMap::new() }
    }

    pub fn connected(&mut self, peer: PeerId) {
        self.rates.insert(peer, Rates::default());
    }

    pub fn disconnected(&mut self, peer: PeerId) {
        self.rates.remove(&peer);
    }

    pub fn is_connected(&self, peer: PeerId) -> bool {
        self.rates.contains_key(&peer)
    }

    /// Who is connected.
    pub fn peers(&self) -> impl Iterator<Item = PeerId> + Clone {
        self.rates.keys().copied()
    }

    /// Checks a packet.
    ///
    /// # Errors
    /// Why it does not come through.
    pub fn admit<S: Simulation>(
        &mut self,
        from: PeerId,
        bytes: &[u8],
        now: Duration,
        out: &mut Outbox<S>,
    ) -> Result<Admitted, DropReason> {
        // A packet that comes after its sender is gone must leave no trace.
        let rates = self.rates.get_mut(&from).ok_or(DropReason::UnknownPeer)?;
        let admitted = Ingress::check(rates, self.allowance, bytes, now);
        let class = match &admitted {
            Ok(Admitted::Message(_, message)) => TrafficClass::of(message),
            Ok(Admitted::Foreign(_)) | Err(_) => TrafficClass::Other,
        };
        out.received(from, class, bytes.len());
        admitted
    }

    fn check(rates: &mut Rates, allowance: Allowance, bytes: &[u8], now: Duration) -> Result<Admitted, DropReason> {
        let bytes_len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let Allowance { packets, bytes: bytes_max } = allowance;
        if !rates.packets.admits(1, packets, now) || !rates.bytes.admits(bytes_len, bytes_max, now) {
            return Err(DropReason::OverRate);
        }
        match wire::decode(bytes) {
            Ok((epoch, message)) => Ok(Admitted::Message(epoch, message)),
            Err(WireError::Oversized { .. }) => Err(DropReason::Oversized),
            Err(_) => match wire::hello_version(bytes) {
                Some(protocol) if protocol != PROTOCOL_VERSION => Ok(Admitted::Foreign(foreign(protocol))),
                _ => Err(DropReason::Malformed),
            },
        }
    }
}

fn foreign(protocol: u32) -> Refusal {
    let (session, joiner) = (PROTOCOL_VERSION.into(), protocol.into());
    let difference = vec![Difference { what: Subject::Protocol, session, joiner }];
    Refusal::Different(difference.try_into().expect("one is allowed"))
}

/// How much was used up of what may be used in a second. It is given back at a moderate pace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    used: u32,
    at: Duration,
}

impl Rate {
    /// Uses up so much, if it is there: of `per_s` a second, and half as much again at once.
    pub fn admits(&mut self, amount: u32, per_s: u32, now: Duration) -> bool {
        let earned = now.saturating_sub(self.at).as_millis() * u128::from(per_s) / 1_000;
        if earned > 0 {
            self.used = self.used.saturating_sub(u32::try_from(earned).unwrap_or(u32::MAX));
            self.at = now;
        }
        // A single one may be larger than all that is allowed at once.
        let admitted = self.used < per_s + per_s / 2;
        self.used = if admitted { self.used.saturating_add(amount) } else { self.used };
        admitted
    }
}
