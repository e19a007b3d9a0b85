//! A link without anyone else: a session alone is a party of one.

use std::task::Waker;

use lockstone_net::{Channel, Link, LinkEvent, PeerId};

/// Enters an empty room and stays alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoloLink {
    entered: bool,
}

impl Link for SoloLink {
    fn poll(&mut self) -> Option<LinkEvent> {
        (!std::mem::replace(&mut self.entered, true)).then_some(LinkEvent::Entered(PeerId(0)))
    }

    fn send(&mut self, _to: PeerId, _channel: Channel, _bytes: Vec<u8>) {}

    /// Nothing ever comes.
    fn wake_with(&mut self, _driver: &Waker) -> bool {
        true
    }
}
