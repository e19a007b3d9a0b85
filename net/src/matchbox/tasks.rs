//! Runs what waits on sockets beside the game: one thread a link natively, a task in a browser.
//! Dropping [`Tasks`] ends all of it. A panic ends only the task that it is in.

use std::panic::AssertUnwindSafe;

use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::future::{AbortHandle, abortable};
use futures::{FutureExt, StreamExt};

use crate::link::LinkError;

/// The thread in which signaling and matchbox's loops run.
pub const THREAD_NAME: &str = "lockstone-webrtc";

#[cfg(not(target_arch = "wasm32"))]
pub(super) type Task = futures::future::BoxFuture<'static, ()>;
#[cfg(target_arch = "wasm32")]
pub(super) type Task = futures::future::LocalBoxFuture<'static, ()>;

/// A link's tasks.
#[derive(Debug)]
pub(super) struct Tasks {
    spawner: Spawner,
    abort: AbortHandle,
}

/// Adds to a link's tasks.
#[derive(Clone, Debug)]
pub(super) struct Spawner(UnboundedSender<Task>);

impl Spawner {
    pub(super) fn spawn(&self, task: Task) {
        // An error means that the tasks did not start, which the link has told, or have ended.
        let _ = self.0.unbounded_send(task);
    }
}

impl Tasks {
    /// Also tells why nothing will run, if so.
    pub(super) fn start() -> (Self, Result<(), LinkError>) {
        let (queue, tasks) = mpsc::unbounded();
        let (all, abort) = abortable(run(tasks));
        (Self { spawner: Spawner(queue), abort }, start(Box::pin(all.map(drop))))
    }

    pub(super) fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    pub(super) fn end(&self) {
        self.abort.abort();
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.end();
    }
}

async fn run(tasks: UnboundedReceiver<Task>) {
    tasks.for_each_concurrent(None, |task| AssertUnwindSafe(task).catch_unwind().map(drop)).await;
}

#[cfg(not(target_arch = "wasm32"))]
fn start(all: Task) -> Result<(), LinkError> {
    check_multicast()?;
    std::thread::Builder::new()
        .name(THREAD_NAME.into())
        .spawn(move || futures::executor::block_on(all))
        .map(drop)
        .map_err(|error| LinkError::Ended(format!("no thread for the connection: {error}")))
}

#[cfg(target_arch = "wasm32")]
fn start(all: Task) -> Result<(), LinkError> {
    wasm_bindgen_futures::spawn_local(all);
    Ok(())
}

/// webrtc joins the mDNS group for every connection, and matchbox 0.15, which gives no way to turn
/// that off, panics where it is impossible: this tells before.
#[cfg(not(target_arch = "wasm32"))]
fn check_multicast() -> Result<(), LinkError> {
    use std::net::{Ipv4Addr, UdpSocket};
    const MDNS_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.join_multicast_v4(&MDNS_GROUP, &Ipv4Addr::UNSPECIFIED))
        .map_err(|error| {
            LinkError::Ended(format!(
                "WebRTC needs a network with multicast, and this machine has none now ({error}); \
                 on Linux `ip route add 224.0.0.0/4 dev lo` is enough for play on one machine"
            ))
        })
}
