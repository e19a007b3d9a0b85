//! The signaling server: peers of a room find each other here and exchange what WebRTC needs
//! to connect them.
//!
//! It speaks matchbox's protocol over a WebSocket at `/ROOM?key=KEY`, and `GET /` tells what it is,
//! `GET /?figures` how much it has to do. A browser gets a page there, if the server has one. Who
//! need not tell it the key, or a relay's token, proves to know them (`&proves`). It must never
//! keep either, but their locks alone.
//! Peer ids number the arrivals of a room (see [`PeerId::arrival`](crate::PeerId::arrival)), which
//! matchbox's own server cannot. A room is a party's, where everyone is to be connected with
//! everyone, or a relay's: `&host=TOKEN` claims it, and who enters with `&relay` is to be connected
//! with the relay alone. A relay whose connection was lost gets its room back by its token. Any
//! peer that presents a secret gets its id back by that, from a server that was restarted too: its
//! id is made of it. What it knows of its rooms outlives it, if it has a file for that: then two
//! newcomers do not found a second session in a room whose peers are not back yet, and a stranger
//! does not get a relay's. Whoever is in a room may be lent a TURN server (`&turn`). Who comes from
//! a trusted proxy counts by the address that it names. The server must never carry game packets,
//! or let a client disturb more than itself and its room. The loop is [`Server::run`] (this thread)
//! or [`Server::spawn`] (its own).

mod addresses;
mod attend;
mod certificate;
mod count;
mod figures;
mod files;
mod ingress;
mod pages;
mod probe;
mod rooms;
mod turn;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{self, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::extract::{self, Path, Query, State};
use axum::handler::Handler as _;
use axum::http::{HeaderMap, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;

pub use crate::limits::signaling::{ADDRESS_CONNECTIONS_MAX, RELAY_PLAYERS_MAX, ROOM_PEERS_MAX, SERVER_PEERS_MAX};
use crate::limits::signaling::{HEAD_BYTES_MAX, HEAD_WITHIN, SEND_WITHIN};
use crate::room::Malformed;
use addresses::Addresses;
use attend::{enter, refuse};
pub use certificate::Certificate;
pub use figures::Figures;
pub use pages::Pages;
pub use probe::{has_page, probe};
use rooms::{Admission, Refusal, Register, Rooms};
pub use turn::TurnServer;

/// A server that cannot take a connection, as it has no file left, tries again after this.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// What `GET /` answers.
const GREETING: &str = "lockstone signaling\n";

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub enum SignalingError {
    /// Another program, perhaps another signaling server, listens there.
    #[error("the address {addr} is taken by another program")]
    AddressTaken {
        /// The address asked for.
        addr: SocketAddr,
    },
    /// The system does not let this program listen there.
    #[error("cannot listen at {addr}: {cause}")]
    Listen {
        /// The address asked for.
        addr: SocketAddr,
        /// What the system said.
        cause: io::Error,
    },
    /// The file in which the server remembers its rooms cannot be read or written.
    #[error("cannot remember rooms in {path}: {cause}")]
    Register {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The system does not give what the loop needs (a thread, an event queue).
    #[error("cannot run the signaling server: {0}")]
    Run(#[from] io::Error),
}

/// A server that listens already but answers only when it runs.
#[derive(Debug)]
pub struct Server {
    listener: std::net::TcpListener,
    addr: SocketAddr,
    admission: Admission,
    /// What it remembers, and whether it remembers anything.
    register: Option<(Register, bool)>,
    pages: Pages,
    proxies: Vec<IpAddr>,
    certificate: Option<Certificate>,
    turn: Option<TurnServer>,
}

/// A server that runs on its own thread, until this is dropped.
#[derive(Debug)]
pub struct Handle {
    addr: SocketAddr,
    shared: Shared,
    /// Dropping the sender stops the thread.
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Server {
    /// Listens at an address. Port 0 takes any free port.
    ///
    /// # Errors
    /// [`SignalingError::AddressTaken`], or [`SignalingError::Listen`] with the system's reason.
    pub fn bind(addr: SocketAddr) -> Result<Self, SignalingError> {
        let listen = || {
            let listener = std::net::TcpListener::bind(addr)?;
            listener.set_nonblocking(true)?;
            Ok(Self {
                addr: listener.local_addr()?,
                listener,
                admission: Admission::default(),
                register: None,
                pages: Pages::default(),
                proxies: Vec::new(),
                certificate: None,
                turn: None,
            })
        };
        listen().map_err(|cause: io::Error| match cause.kind() {
            io::ErrorKind::AddrInUse => SignalingError::AddressTaken { addr },
            _ => SignalingError::Listen { addr, cause },
        })
    }

    /// Only relays that present this token may claim rooms. Without it anyone may, with a
    /// token of its own.
    #[must_use]
    pub fn with_host_token(mut self, token: &str) -> Self {
        self.admission.host_token = Some(token.to_owned());
        self
    }

    /// Of browsers, only pages of this origin may use the server, such as
    /// `https://play.example.org`, and of others that are named so; without any, all pages may.
    /// Programs other than browsers say no origin, or whatever they like, and are not kept out.
    #[must_use]
    pub fn with_origin(mut self, origin: &str) -> Self {
        self.admission.origins.push(origin.to_owned());
        self
    }

    /// What the server knows of its rooms outlives it in this file. In the first three seconds
    /// newcomers to a party's room that there was wait for one of its peers to be back; if there is
    /// no such file, those to any room do. A relay's room stays its own for a day after all have
    /// left it. Without a file the server forgets all that when it ends.
    ///
    /// # Errors
    /// [`SignalingError::Register`] if the file cannot be read or written.
    pub fn with_register(self, file: &path::Path) -> Result<Self, SignalingError> {
        let opened = Register::open(file);
        let register = opened.map_err(|cause| SignalingError::Register { path: file.to_owned(), cause })?;
        Ok(Self { register: Some(register), ..self })
    }

    /// Shows a page to browsers, at the same port.
    #[must_use]
    pub fn with_pages(self, pages: Pages) -> Self {
        Self { pages, ..self }
    }

    /// The address of a proxy in front of the server, and of others that are named so: who comes
    /// from there is whom the proxy names last in `X-Forwarded-For`, for all limits that there are
    /// for an address. Nobody else's word on that counts.
    #[must_use]
    pub fn with_proxy(mut self, addr: IpAddr) -> Self {
        self.proxies.push(addr);
        self
    }

    /// Speaks `https` and `wss` alone.
    #[must_use]
    pub fn with_certificate(self, certificate: Certificate) -> Self {
        Self { certificate: Some(certificate), ..self }
    }

    /// Gives whoever is let into a room credentials for a TURN server, as they are needed.
    #[must_use]
    pub fn with_turn(self, turn: TurnServer) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves on this thread, for as long as the process lives. So that it can have more
    /// connections, the process may have more files from then on, if the system lets it.
    ///
    /// # Errors
    /// [`SignalingError::Run`] if the system does not give what the loop needs.
    pub fn run(self) -> Result<(), SignalingError> {
        let (listener, shared) = self.open();
        shared.run_until(listener, std::future::pending())
    }

    /// Serves on its own thread until the handle is dropped; every signaling connection then
    /// ends, links live on. It raises the process's limit of files as [`Server::run`] does.
    ///
    /// # Errors
    /// [`SignalingError::Run`] if the system gives no thread.
    pub fn spawn(self) -> Result<Handle, SignalingError> {
        let addr = self.addr;
        let (stop, stopped) = oneshot::channel::<()>();
        let (listener, shared) = self.open();
        let served = shared.clone();
        let serve = move || {
            if let Err(error) = served.run_until(listener, async { drop(stopped.await) }) {
                tracing::error!("{error}");
            }
        };
        let thread = std::thread::Builder::new().name("lockstone-signaling".into()).spawn(serve)?;
        Ok(Handle { addr, shared, running: Some((stop, thread)) })
    }

    /// What the loop and others share, and where it listens.
    fn open(self) -> (std::net::TcpListener, Shared) {
        let rooms = Rooms::new(self.admission);
        let rooms = Arc::new(match self.register {
            Some((register, was_there)) => rooms.remembering(register, was_there),
            None => rooms,
        });
        let addresses = Arc::new(Addresses::behind(self.proxies, files::connections_max()));
        let pages = Arc::new(self.pages);
        let (turn, certificate) = (self.turn.map(Arc::new), self.certificate);
        (self.listener, Shared { rooms, addresses, pages, certificate, turn })
    }
}

/// All that a server knows.
#[derive(Clone, Debug)]
struct Shared {
    rooms: Arc<Rooms>,
    addresses: Arc<Addresses>,
    pages: Arc<Pages>,
    certificate: Option<Certificate>,
    turn: Option<Arc<TurnServer>>,
}

impl Shared {
    fn figures(&self) -> Figures {
        let turn_credentials = self.turn.as_ref().map(|turn| turn.given());
        let Figures { rooms, peers, entries, refusals, .. } = self.rooms.figures();
        Figures { rooms, peers, entries, refusals, turn_credentials, ..self.addresses.figures() }
    }

    fn run_until(
        &self,
        listener: std::net::TcpListener,
        stopped: impl Future<Output = ()>,
    ) -> Result<(), SignalingError> {
        runtime()?.block_on(async {
            let listener = TcpListener::from_std(listener)?;
            tokio::select! {
                () = serve(listener, self.clone()) => {}
                () = stopped => self.rooms.close(),
            }
            Ok(())
        })
    }
}

impl Handle {
    /// Where the server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// How much it has to do.
    pub fn figures(&self) -> Figures {
        self.shared.figures()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            // A panic of that thread was printed already; there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// A loop on this thread.
fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Takes connections for ever.
async fn serve(listener: TcpListener, shared: Shared) {
    let addresses = Arc::clone(&shared.addresses);
    let tls = shared.certificate.clone().map(|certificate| TlsAcceptor::from(certificate.0));
    let rooms = Arc::clone(&shared.rooms);
    let routes = TowerToHyperService::new(routes(shared));
    loop {
        let (stream, addr) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("could not take a connection: {error}");
                sleep(ACCEPT_AGAIN).await;
                continue;
            }
        };
        let Some(connection) = addresses.connect(addr.ip()) else { continue };
        let (routes, rooms, wait) = (routes.clone(), Arc::clone(&rooms), connection.waits());
        let answers = move |mut request: Request<Incoming>| {
            let answer = match connection.guest(request.headers()) {
                Some(guest) => {
                    let wait = guest.asks();
                    request.extensions_mut().insert(guest);
                    Ok((wait, routes.call(request)))
                }
                None => Err(refuse(&rooms, Refusal::TooManyConnections)),
            };
            async move {
                match answer {
                    Ok((wait, answer)) => {
                        pause(wait).await;
                        answer.await
                    }
                    Err(refusal) => Ok(refusal),
                }
            }
        };
        let tls = tls.clone();
        tokio::spawn(async move {
            pause(wait).await;
            serve_one(stream, tls, answers).await;
        });
    }
}

/// A timer takes a millisecond at least: there is none for who need not wait.
async fn pause(time: Duration) {
    if !time.is_zero() {
        sleep(time).await;
    }
}

/// Serves whoever has connected, by TLS if that is spoken here.
async fn serve_one<F, R>(stream: TcpStream, tls: Option<TlsAcceptor>, answers: F)
where
    F: Fn(Request<Incoming>) -> R + Send + 'static,
    R: Future<Output = Result<Response, Infallible>> + Send + 'static,
{
    let Some(tls) = tls else { return speak_http(stream, answers).await };
    match timeout(HEAD_WITHIN, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak_http(stream, answers).await,
        Ok(Err(error)) => tracing::debug!("a connection speaks no TLS: {error}"),
        Err(_) => tracing::debug!("a connection says nothing"),
    }
}

async fn speak_http<F, R>(stream: impl AsyncRead + AsyncWrite + Send + 'static, answers: F)
where
    F: Fn(Request<Incoming>) -> R + Send + 'static,
    R: Future<Output = Result<Response, Infallible>> + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(HEAD_BYTES_MAX);
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(SEND_WITHIN));
    let stream = TokioIo::new(Box::pin(stream));
    if let Err(error) = http.serve_connection(stream, service_fn(answers)).with_upgrades().await {
        tracing::debug!("a connection has ended: {error}");
    }
}

fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/", get(greet))
        .route("/{name}", get(show_or_let_in))
        .fallback(|| async { Refusal::from(Malformed::RoomName) })
        .with_state(shared)
}

/// The page's file of a name, or else the room.
async fn show_or_let_in(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    request: extract::Request,
) -> Response {
    match shared.pages.file(&name, &headers) {
        Some(file) => file,
        None => enter.call(request, shared).await,
    }
}

#[derive(Deserialize)]
struct Question {
    /// Its presence asks for figures.
    figures: Option<String>,
}

async fn greet(State(shared): State<Shared>, Query(question): Query<Question>, headers: HeaderMap) -> Response {
    if question.figures.is_some() {
        return shared.figures().exposition().into_response();
    }
    shared.pages.index(&headers).unwrap_or_else(|| GREETING.into_response())
}
