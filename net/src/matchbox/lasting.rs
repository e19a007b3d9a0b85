//! A socket that lasts, when it is dropped, until matchbox has made the connection that it makes.
//! From then on it must tell its peer nothing, which would take it for a newer one.
//!
//! webrtc 0.21 makes a connection while its caller waits. A caller that waits no more leaves its
//! sockets and its buffers behind for ever: a stranger who offers connections in quick succession,
//! each in the place of the one before, could have all files of this process.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::UnboundedSender;
use futures::channel::oneshot::Receiver;
use futures::future::select;
use matchbox_socket::{PeerEvent, PeerId, WebRtcSocket};

use super::delay::Delay;
use super::tasks::Spawner;

/// Nothing is made by a socket that was told nothing. A loaded machine takes part of a second.
const MAKES_WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Lasting {
    /// Until it is dropped; with what rings when the connection is made, or never will be.
    socket: Option<(WebRtcSocket, Receiver<()>)>,
    /// Without them the socket's loop ends: its signaling does, or the probe with its channel.
    alive: (UnboundedSender<PeerEvent>, UnboundedSender<PeerId>),
    spawner: Spawner,
    /// Lives as long as this does: by it the socket's pipe knows when to fall silent.
    _owner: Arc<()>,
}

impl Lasting {
    pub fn new(
        socket: WebRtcSocket,
        alive: (UnboundedSender<PeerEvent>, UnboundedSender<PeerId>),
        (made, owner): (Receiver<()>, Arc<()>),
        spawner: Spawner,
    ) -> Lasting {
        Lasting { socket: Some((socket, made)), alive, spawner, _owner: owner }
    }
}

impl Deref for Lasting {
    type Target = WebRtcSocket;

    fn deref(&self) -> &WebRtcSocket {
        &self.socket.as_ref().expect("it is there until it is dropped").0
    }
}

impl DerefMut for Lasting {
    fn deref_mut(&mut self) -> &mut WebRtcSocket {
        &mut self.socket.as_mut().expect("it is there until it is dropped").0
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        let (Some((socket, made)), alive) = (self.socket.take(), self.alive.clone()) else { return };
        self.spawner.spawn(Box::pin(async move {
            let _ = select(made, Delay::new(MAKES_WITHIN)).await;
            drop((socket, alive));
        }));
    }
}
