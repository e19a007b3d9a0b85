//! Where a session takes place: rooms, signaling servers, this machine's address.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::task::Waker;
use std::time::Duration;

use etcetera::BaseStrategy;
use lockstone_net::matchbox::{self, MatchboxLink, RoomRole, TOKEN_BYTES_MAX, is_room_name};
use lockstone_net::signaling::{Handle, Pages, Server, SignalingError, has_page, probe};
use lockstone_net::tls::Trust;
use lockstone_net::{Channel, Link, LinkEvent, Obstacle, PeerId};

use super::args::{self, SIGNAL_PORT};
use super::failure::Failure;
use super::link;
use crate::game::Game;

/// A server that takes longer to answer is not used unless it is named.
const PROBE_WITHIN: Duration = Duration::from_millis(500);
/// The same, of whether one that is named, and may be far, has a page.
const PAGE_WITHIN: Duration = Duration::from_secs(2);

/// A signaling server, ours or another's.
pub(super) struct Signaling {
    /// How this machine reaches it.
    pub url: String,
    /// How other machines of the local network reach it.
    pub public_url: String,
    /// Where a browser of the local network finds its page, if it has one.
    pub page_url: Option<String>,
    /// Ours, if it is.
    _server: Option<Handle>,
}

impl Signaling {
    /// The one at the default address. If none answers there, this process serves one, with the
    /// page beside the game's program: at any free port, if another program has the default one
    /// and `anywhere` will do.
    pub fn find_or_serve<G: Game>(anywhere: bool) -> Result<Signaling, Failure> {
        let all = |port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        let here = on_this_machine(all(SIGNAL_PORT));
        if probe(here, PROBE_WITHIN) {
            let has_page = has_page(&format!("ws://{here}"), &Trust::Web, PROBE_WITHIN);
            return Ok(Signaling::there(all(SIGNAL_PORT), has_page, None));
        }
        let server = match Server::bind(all(SIGNAL_PORT)) {
            Err(SignalingError::AddressTaken { .. }) if anywhere => Server::bind(all(0)),
            bound => bound,
        };
        Signaling::serve(remembering(server?, SIGNAL_PORT)?, link::page::<G>())
    }

    /// Another's, wherever it is. That it answers, the link finds out.
    pub fn of(url: &str, ice: &args::Ice) -> Signaling {
        let page_url = url.strip_prefix("ws").map(|rest| format!("http{}", rest.trim_end_matches('/')));
        let page_url = page_url.filter(|_| has_page(url, &ice.trust(), PAGE_WITHIN));
        Signaling { url: url.to_owned(), public_url: url.to_owned(), page_url, _server: None }
    }

    /// One of our own, for this machine alone.
    pub fn private() -> Result<Signaling, Failure> {
        let server = Server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Signaling::serve(server, None)
    }

    /// One of our own, where a relay wants it, with the page beside the game's program; with a
    /// token, only who presents that may be a relay there.
    pub fn at<G: Game>(addr: SocketAddr, host_token: Option<&str>) -> Result<Signaling, Failure> {
        let server = Server::bind(addr).map_err(|error| {
            Failure::new(format!(
                "{error}; choose another with --listen, or name the signaling server that is there with --signal"
            ))
        })?;
        let server = remembering(server, addr.port())?;
        let server = match host_token {
            Some(token) => server.with_host_token(token),
            None => server,
        };
        Signaling::serve(server, link::page::<G>())
    }

    fn serve(server: Server, page: Option<Pages>) -> Result<Signaling, Failure> {
        let (addr, has_page) = (server.local_addr(), page.is_some());
        let server = server.with_pages(page.unwrap_or_default());
        Ok(Signaling::there(addr, has_page, Some(server.spawn()?)))
    }

    fn there(addr: SocketAddr, has_page: bool, server: Option<Handle>) -> Signaling {
        let (url, public_url) = (format!("ws://{}", on_this_machine(addr)), format!("ws://{}", public(addr)));
        let page_url = has_page.then(|| format!("http://{}", public(addr)));
        Signaling { url, public_url, page_url, _server: server }
    }
}

/// A link to a room, for whoever has its key.
pub(super) fn link(url: &str, room: &str, key: &Option<String>, ice: &args::Ice, role: RoomRole) -> MatchboxLink {
    let (url, room, stun, trust) = (url.to_owned(), room.to_owned(), ice.stun.clone(), ice.trust());
    let turn = ice.turn().map(|(url, user, password)| {
        let [url, user, password] = [url, user, password].map(str::to_owned);
        matchbox::Turn { url, user, password }
    });
    MatchboxLink::open(matchbox::Config { url, room, key: key.clone(), stun, turn, trust, role, ..Default::default() })
}

/// A link that does something once this peer is in the room, and keeps what comes of it.
pub(super) struct Entering<F, T> {
    link: MatchboxLink,
    entered: Option<F>,
    kept: Option<T>,
}

impl<F: FnOnce() -> T, T> Entering<F, T> {
    pub fn new(link: MatchboxLink, entered: Option<F>) -> Self {
        Entering { link, entered, kept: None }
    }
}

impl<F: FnOnce() -> T, T> Link for Entering<F, T> {
    fn poll(&mut self) -> Option<LinkEvent> {
        let event = self.link.poll();
        if matches!(event, Some(LinkEvent::Entered(_)))
            && let Some(entered) = self.entered.take()
        {
            self.kept = Some(entered());
        }
        event
    }

    fn send(&mut self, to: PeerId, channel: Channel, bytes: Vec<u8>) {
        self.link.send(to, channel, bytes);
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.link.obstacle()
    }

    fn wake_with(&mut self, driver: &Waker) -> bool {
        self.link.wake_with(driver)
    }
}

/// A server that remembers its rooms, if it has the port that was asked for: nobody comes back to
/// one that was drawn. Who serves here for the first time waits for nobody.
fn remembering(server: Server, port: u16) -> Result<Server, SignalingError> {
    let file = rooms_file(port).filter(|_| server.local_addr().port() == port);
    let file = file.filter(|file| File::options().create(true).append(true).open(file).is_ok());
    match file {
        Some(file) => server.with_register(&file),
        None => Ok(server),
    }
}

/// Where the signaling server at a port remembers its rooms, if no file is named.
pub(super) fn rooms_file(port: u16) -> Option<PathBuf> {
    let folder = state_folder()?.join("lockstone");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join(format!("signal-{port}.rooms")))
}

/// Where this user's programs keep what they need the next time.
pub(super) fn state_folder() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.state_dir().unwrap_or_else(|| folders.data_dir()))
}

/// How this machine reaches what listens here at an address.
fn on_this_machine(addr: SocketAddr) -> SocketAddr {
    if addr.ip().is_unspecified() { (Ipv4Addr::LOCALHOST, addr.port()).into() } else { addr }
}

/// How other machines of the local network do.
pub(super) fn public(addr: SocketAddr) -> SocketAddr {
    if addr.ip().is_unspecified() { (lan_address(), addr.port()).into() } else { addr }
}

/// Refuses what cannot be a relay's token.
pub(super) fn check_token(token: Option<&str>) -> Result<(), Failure> {
    match token {
        Some(token) if !(1..=TOKEN_BYTES_MAX).contains(&token.len()) => {
            Err(Failure::new(format!("the host token is not one: use 1 to {TOKEN_BYTES_MAX} bytes")))
        }
        _ => Ok(()),
    }
}

/// This machine's address in the local network, as far as it can be told.
fn lan_address() -> IpAddr {
    // Connecting a UDP socket sends nothing: it only chooses the way out. The address is one kept
    // for documentation.
    let way_out = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    };
    way_out().map_or(Ipv4Addr::LOCALHOST.into(), |addr| addr.ip())
}

/// The room that was asked for, or a new one.
pub(super) fn room_name(asked: Option<&str>) -> Result<String, Failure> {
    match asked {
        Some(room) if !is_room_name(room) => {
            Err(Failure::new(format!("the room {room:?} is not a name: use 1 to 64 of A-Z a-z 0-9 _ -")))
        }
        Some(room) => Ok(room.to_owned()),
        None => Ok(new_room()),
    }
}

/// A room name that nobody else will have chosen, or can guess.
fn new_room() -> String {
    const COLORS: [&str; 16] = [
        "amber", "ashen", "azure", "bronze", "copper", "coral", "ebony", "golden", "indigo", "ivory", "jade", "ochre",
        "pearl", "ruby", "silver", "umber",
    ];
    const BEASTS: [&str; 16] = [
        "badger", "bat", "boar", "crow", "drake", "fox", "hare", "heron", "lynx", "moth", "newt", "otter", "owl",
        "raven", "toad", "wolf",
    ];
    // The 32 characters that are least taken for each other. With the words these are 63 bits.
    const CHARACTERS: &[u8; 32] = b"23456789abcdefghijkmnpqrstuvwxyz";
    let drawn = any_number();
    let of = |words: [&'static str; 16], shift: u32| words[(drawn >> shift) as usize % 16];
    let rest: String =
        (0..11).map(|n| char::from(CHARACTERS[(drawn >> (8 + 5 * n)) as usize % CHARACTERS.len()])).collect();
    format!("{}-{}-{rest}", of(COLORS, 0), of(BEASTS, 4))
}

/// A number that nobody could have known. For the shell alone: the world's draws come from its
/// table.
pub(super) fn any_number() -> u64 {
    getrandom::u64().expect("every system that is played on draws random numbers")
}
