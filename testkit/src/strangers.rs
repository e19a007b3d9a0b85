//! Strangers with nothing but a WebSocket: they offer everyone a connection, answer who offers them
//! one, flood signals, and never connect. Each runs on a thread of its own, until it is dropped,
//! and comes from whichever of this machine's addresses it likes.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind::TimedOut, ErrorKind::WouldBlock};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use matchbox_protocol::{JsonPeerEvent, JsonPeerRequest, PeerEvent, PeerId, PeerRequest};
use socket2::{Domain, Socket, Type};
use tungstenite::{Error, Message, WebSocket, client};

/// Between two floods of a stranger.
pub const PAUSE: Duration = Duration::from_millis(10);
/// Candidates of a flood, to everyone: some 6,000 a second of one stranger to three peers.
const FLOOD: u32 = 20;

/// A connection that nobody is behind.
pub const OFFER: &str = concat!(
    "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n",
    "a=fingerprint:sha-256 00:01:02:03:04:05:06:07:08:09:0A:0B:0C:0D:0E:0F:",
    "10:11:12:13:14:15:16:17:18:19:1A:1B:1C:1D:1E:1F\r\n",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=setup:actpass\r\na=mid:0\r\n",
    "a=sendrecv\r\na=sctp-port:5000\r\na=ice-ufrag:stranger\r\na=ice-pwd:0123456789abcdef01234567\r\n",
);

/// A connection from 127.0.0.`from`.
pub fn connect_from(from: u8, server: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0)).into())?;
    socket.connect(&server.into())?;
    Ok(socket.into())
}

/// A WebSocket from there, if the server lets it in.
pub fn enter_from(from: u8, server: SocketAddr, path: &str) -> Option<WebSocket<TcpStream>> {
    let stream = connect_from(from, server).ok()?;
    client(format!("ws://{server}/{path}"), stream).ok().map(|(socket, _)| socket)
}

pub struct Stranger {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stranger {
    /// It floods everyone in its room, if it is let in.
    pub fn flooding(from: u8, server: SocketAddr, path: &str) -> Option<Stranger> {
        let mut socket = enter_from(from, server, path)?;
        socket.get_mut().set_read_timeout(Some(PAUSE)).expect("a socket takes a timeout");
        Some(Stranger::of(move |ends| flood(socket, ends)))
    }

    /// It comes and goes, some 100 times a second.
    pub fn restless(from: u8, server: SocketAddr, path: &str) -> Stranger {
        let path = path.to_owned();
        Stranger::of(move |ends| visit(from, server, &path, ends))
    }

    /// It does as it likes until it is told that it is over.
    pub fn of(does: impl FnOnce(&AtomicBool) + Send + 'static) -> Stranger {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        Stranger { is_over, thread: Some(thread::spawn(move || does(&ends))) }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Comes and goes, some 100 times a second.
pub fn visit(from: u8, server: SocketAddr, path: &str, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        // The room may be full.
        let _socket = enter_from(from, server, path);
        thread::park_timeout(PAUSE);
    }
}

/// Sits in a room and says nothing, and comes again when it is put out.
pub fn sit(from: u8, server: SocketAddr, path: &str, ends: &AtomicBool) {
    while !ends.load(Relaxed) {
        let mut socket = enter_from(from, server, path);
        while let Some(socket) = &mut socket
            && !ends.load(Relaxed)
        {
            let _ = socket.get_mut().set_read_timeout(Some(PAUSE));
            match socket.read() {
                Err(Error::Io(error)) if matches!(error.kind(), WouldBlock | TimedOut) => {}
                Err(_) => break,
                Ok(_) => {}
            }
        }
        thread::park_timeout(PAUSE);
    }
}

fn flood(mut socket: WebSocket<TcpStream>, ends: &AtomicBool) {
    let (mut offers, mut sent) = (BTreeMap::new(), 0_u32);
    while !ends.load(Relaxed) {
        let heard = socket.read().ok().and_then(|message| message.into_text().ok()?.parse::<JsonPeerEvent>().ok());
        match heard {
            Some(PeerEvent::NewPeer(peer)) => drop(offers.insert(peer, OFFER.to_owned())),
            Some(PeerEvent::PeerLeft(peer)) => drop(offers.remove(&peer)),
            Some(PeerEvent::Signal { sender, data }) => {
                if let Some(offer) = data["Offer"].as_str() {
                    offers.insert(sender, offer.to_owned());
                    let answer = offer.replace("a=setup:actpass", "a=setup:active");
                    say(&mut socket, sender, serde_json::json!({ "Answer": answer }));
                }
            }
            _ => {}
        }
        for (victim, offer) in &offers {
            say(&mut socket, *victim, serde_json::json!({ "Offer": offer }));
            for _ in 0..FLOOD {
                sent += 1;
                say(&mut socket, *victim, serde_json::json!({ "IceCandidate": candidate(sent) }));
            }
        }
    }
}

/// The server may have had enough of it.
fn say(socket: &mut WebSocket<TcpStream>, receiver: PeerId, data: serde_json::Value) {
    let request: JsonPeerRequest = PeerRequest::Signal { receiver, data };
    let _ = socket.send(Message::text(request.to_string()));
}

/// A way by which nobody is reached: each another.
pub fn candidate(n: u32) -> String {
    let [_, a, b, c] = n.to_be_bytes();
    let candidate = format!("candidate:{n} 1 udp 2130706431 127.{a}.{b}.{c} 9 typ host");
    serde_json::json!({ "candidate": candidate, "sdpMid": "0", "sdpMLineIndex": 0, "usernameFragment": null })
        .to_string()
}
