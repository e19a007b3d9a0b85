//! Links, raw clients and lines that can be cut, and waiting for what they are told.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use lockstone_net::matchbox::{Config, MatchboxLink, RoomRole};
use lockstone_net::signaling::{Handle, Server};
use lockstone_net::{Channel, Link, LinkError, LinkEvent, PeerId};
use matchbox_protocol::{JsonPeerEvent, JsonPeerRequest, PeerEvent, PeerRequest};
pub use testkit::router::ANY_PORT;
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// A loaded machine needs seconds for handshakes that take half of one otherwise.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Who comes joins within that.
pub const JOINED_WITHIN: Duration = Duration::from_secs(5);

pub fn serve() -> Handle {
    Server::bind(ANY_PORT).unwrap().spawn().unwrap()
}

/// Serves at an address where another server has just ended.
pub fn serve_at(addr: SocketAddr) -> Handle {
    until("the address to be free", || Server::bind(addr).ok()).spawn().unwrap()
}

/// What a server leaves to the next one. It is gone when the test ends.
pub struct RoomsFile(PathBuf);

impl RoomsFile {
    pub fn new(name: &str) -> RoomsFile {
        let file = env::temp_dir().join(format!("lockstone-{name}-{}", process::id()));
        let _ = fs::remove_file(&file);
        RoomsFile(file)
    }

    pub fn serve_at(&self, addr: SocketAddr) -> Handle {
        let server = until("the address to be free", || Server::bind(addr).ok());
        server.with_register(&self.0).unwrap().spawn().unwrap()
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn lose(&self) {
        fs::remove_file(&self.0).unwrap();
    }
}

impl Drop for RoomsFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Looks again until there is something, and fails when patience ends.
pub fn until<T>(what: &str, found: impl FnMut() -> Option<T>) -> T {
    look(found).unwrap_or_else(|| panic!("waited in vain: {what}"))
}

/// Looks again until there is something, or patience ends.
pub fn look<T>(mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let found = found();
        if found.is_some() {
            return found;
        }
        thread::park_timeout(Duration::from_millis(1));
    }
    None
}

/// A link and all that it told so far.
pub struct Peer {
    pub link: MatchboxLink,
    pub told: Vec<LinkEvent>,
}

impl Peer {
    pub fn open(server: SocketAddr, room: &str, key: Option<&str>) -> Self {
        Self::open_as(RoomRole::Peer, server, room, key)
    }

    pub fn open_as(role: RoomRole, server: SocketAddr, room: &str, key: Option<&str>) -> Self {
        let config = Config {
            url: format!("ws://{server}"),
            room: room.into(),
            key: key.map(str::to_owned),
            role,
            ..Config::default()
        };
        Self { link: MatchboxLink::open(config), told: Vec::new() }
    }

    pub fn enter(server: SocketAddr, room: &str) -> (Self, PeerId) {
        Self::enter_as(RoomRole::Peer, server, room)
    }

    pub fn enter_as(role: RoomRole, server: SocketAddr, room: &str) -> (Self, PeerId) {
        Self::open_as(role, server, room, None).entered()
    }

    pub fn entered(mut self) -> (Self, PeerId) {
        let id = until("to enter", || {
            self.look();
            self.told.iter().find_map(|event| if let LinkEvent::Entered(id) = event { Some(*id) } else { None })
        });
        (self, id)
    }

    /// A link that ends as soon as it has neither a server nor a peer.
    pub fn enter_impatient(server: SocketAddr, room: &str) -> (Self, PeerId) {
        let (url, room) = (format!("ws://{server}"), room.into());
        let config = Config { url, room, return_within: Duration::ZERO, ..Config::default() };
        Self { link: MatchboxLink::open(config), told: Vec::new() }.entered()
    }

    pub fn find<T>(&mut self, wanted: impl FnMut(&LinkEvent) -> Option<T>) -> Option<T> {
        while let Some(event) = self.link.poll() {
            self.told.push(event);
        }
        self.told.iter().find_map(wanted)
    }

    /// Takes what there is. A link that closes says why.
    pub fn look(&mut self) {
        let closed = self.find(|event| matches!(event, LinkEvent::Closed(_)).then(|| event.clone()));
        assert_eq!(closed, None);
    }

    pub fn has(&mut self, event: &LinkEvent) -> bool {
        self.find(|told| (told == event).then_some(())).is_some()
    }

    pub fn has_lost_signaling(&mut self) -> bool {
        self.find(|event| matches!(event, LinkEvent::SignalingLost(_)).then_some(())).is_some()
    }

    /// How often a peer was connected, and how often it was lost.
    pub fn connections(&mut self, peer: PeerId) -> (usize, usize) {
        self.look();
        let count = |event: LinkEvent| self.told.iter().filter(|told| **told == event).count();
        (count(LinkEvent::Connected(peer)), count(LinkEvent::Disconnected(peer)))
    }

    pub fn closed(&mut self) -> LinkError {
        until("the link to close", || {
            self.find(|event| if let LinkEvent::Closed(error) = event { Some(error.clone()) } else { None })
        })
    }
}

pub fn connect(peers: &mut [(Peer, PeerId)]) {
    let ids: Vec<PeerId> = peers.iter().map(|(_, id)| *id).collect();
    until("a full mesh", || {
        let all = |(peer, own): &mut (Peer, PeerId)| {
            ids.iter().filter(|id| *id != own).all(|id| peer.has(&LinkEvent::Connected(*id)))
        };
        peers.iter_mut().map(all).fold(true, |met, now| met & now).then_some(())
    });
}

/// Sends again until it arrives: what the unreliable channel asks of its user.
pub fn exchange(from: &mut (Peer, PeerId), to: &mut (Peer, PeerId), channel: Channel, bytes: &[u8]) {
    let packet = LinkEvent::Packet { from: from.1, channel, bytes: bytes.to_vec() };
    if channel == Channel::Reliable {
        from.0.link.send(to.1, channel, bytes.to_vec());
    }
    until("a packet", || {
        if channel == Channel::Unreliable {
            from.0.link.send(to.1, channel, bytes.to_vec());
        }
        to.0.has(&packet).then_some(())
    });
}

/// All do what is due, for a time: to see that nothing happens in it.
pub fn attend(peers: &mut [(Peer, PeerId)], time: Duration) {
    let begun = Instant::now();
    until("the time to pass", || {
        peers.iter_mut().for_each(|(peer, _)| peer.look());
        (begun.elapsed() >= time).then_some(())
    });
}

/// A client that speaks the signaling protocol and nothing else.
pub type Raw = WebSocket<MaybeTlsStream<TcpStream>>;

pub fn raw(server: SocketAddr, path: &str) -> Result<(Raw, PeerId), tungstenite::Error> {
    let (mut socket, _) = tungstenite::connect(format!("ws://{server}/{path}"))?;
    let MaybeTlsStream::Plain(stream) = socket.get_mut() else { unreachable!("no TLS here") };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let PeerEvent::IdAssigned(id) = next(&mut socket) else { panic!("the id comes first") };
    Ok((socket, PeerId(id.0.as_u128())))
}

pub fn next(socket: &mut Raw) -> JsonPeerEvent {
    socket.read().unwrap().into_text().unwrap().parse().unwrap()
}

pub fn signal(from: &mut WebSocket<impl io::Read + io::Write>, to: PeerId, data: serde_json::Value) {
    let receiver = matchbox_protocol::PeerId(uuid::Uuid::from_u128(to.0));
    let request: JsonPeerRequest = PeerRequest::Signal { receiver, data };
    from.send(Message::text(request.to_string())).unwrap();
}

pub fn refused(server: SocketAddr, path: &str) -> (u16, String) {
    match raw(server, path) {
        Err(tungstenite::Error::Http(response)) => {
            let text = response.body().clone().unwrap_or_default();
            (response.status().as_u16(), String::from_utf8(text).unwrap())
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// Lets all be connected with one.
pub fn meet(host: &mut (Peer, PeerId), players: &mut [(Peer, PeerId)]) {
    until("all players to be connected", || {
        let both = |(player, id): &mut (Peer, PeerId)| {
            host.0.has(&LinkEvent::Connected(*id)) & player.has(&LinkEvent::Connected(host.1))
        };
        players.iter_mut().map(both).fold(true, |met, now| met & now).then_some(())
    });
}
