//! What a server says to one peer: it lets it in, or refuses it, and passes on what others say,
//! until it leaves. The loop is [`attend`]. It must never wait for a peer that does not read, nor
//! read a peer faster than its address may be read.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use matchbox_protocol::{JsonPeerRequest, PeerRequest};
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::addresses::Guest;
use super::ingress::Ingress;
use super::rooms::{Inbox, Refusal, Rooms, Seat};
use super::turn::{Credentials, TurnServer};
use super::{Shared, pause};
use crate::limits::signaling::{HEAD_WITHIN, MESSAGE_BYTES_MAX, OFFERS_WITHIN, SEND_WITHIN, SILENCE_MAX, VISIT_MAX};
use crate::room::{Door, REPLACED};

/// What is read at once from a peer. There is such a buffer for each, also while it is idle.
const READ_BYTES: usize = 256;

/// Takes the place in the room before the upgrade, so that a refusal still has an HTTP status,
/// unless the peer has something to prove.
pub(super) async fn enter(
    State(Shared { rooms, turn, .. }): State<Shared>,
    Path(room): Path<String>,
    Query(ingress): Query<Ingress>,
    Extension(guest): Extension<Arc<Guest>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(refusal) = rooms.admit_page(headers.get(ORIGIN).map(|origin| origin.as_bytes())) {
        return refuse(&rooms, refusal);
    }
    rooms.await_peers(&room, &ingress.role(), ingress.pass()).await;
    let Some(wait) = guest.tries() else { return refuse(&rooms, Refusal::TooManyTries) };
    pause(wait).await;
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    let upgrade = upgrade.read_buffer_size(READ_BYTES).write_buffer_size(0);
    let turn = turn.filter(|_| ingress.turn.is_some());
    if ingress.proves.is_some() {
        let comer = Box::new((rooms, room, ingress, guest, turn));
        return upgrade.on_upgrade(move |socket| {
            let proof = Box::pin(enter_by_proof(socket, comer));
            async move {
                if let Some(peer) = proof.await {
                    attend(peer).await;
                }
            }
        });
    }
    let locked = ingress.locked(&room).map_err(Refusal::from);
    match locked.and_then(|ingress| let_in(&rooms, &room, &ingress, &guest)) {
        Ok((seat, inbox)) => {
            upgrade.on_upgrade(move |socket| attend(Box::new(Served { socket, seat, inbox, guest, turn })))
        }
        Err(refusal) => refuse(&rooms, refusal),
    }
}

/// Who wants to enter which of all rooms, and may be lent which server.
type Comer = (Arc<Rooms>, String, Ingress, Arc<Guest>, Option<Arc<TurnServer>>);

/// Lets a peer in that has proven what it says to know.
async fn enter_by_proof(mut socket: WebSocket, comer: Box<Comer>) -> Option<Box<Served>> {
    let (rooms, room, ingress, guest, turn) = *comer;
    let nonce = Uuid::new_v4().to_string();
    let answer = async {
        socket.send(door(&Door::Challenge(nonce.clone()))).await.ok()?;
        serde_json::from_str(socket.recv().await?.ok()?.to_text().ok()?).ok()
    };
    let Ok(Some(Door::Proofs { key, token })) = timeout(HEAD_WITHIN, answer).await else { return None };
    let proven = ingress.proven(&room, &nonce, key, token);
    match proven.and_then(|ingress| let_in(&rooms, &room, &ingress, &guest)) {
        Ok((seat, inbox)) => Some(Box::new(Served { socket, seat, inbox, guest, turn })),
        Err(refusal) => {
            rooms.count_refusal();
            tell(&mut socket, door(&Door::Refused(refusal.to_string()))).await;
            None
        }
    }
}

fn door(said: &Door) -> Message {
    Message::Text(json!(said).to_string().into())
}

fn let_in(rooms: &Arc<Rooms>, room: &str, ingress: &Ingress, guest: &Guest) -> Result<(Seat, Inbox), Refusal> {
    let entered = rooms.enter(room, ingress.key.as_deref(), &ingress.role(), ingress.pass(), guest.origin());
    if !entered.as_ref().is_err_and(|refusal| refusal.is_of_guess()) {
        guest.was_no_guess();
    }
    entered.inspect(|(seat, _)| tracing::info!("{} entered room {room}", seat.peer))
}

pub(super) fn refuse(rooms: &Rooms, refusal: Refusal) -> Response {
    tracing::info!("refused a peer: {refusal}");
    rooms.count_refusal();
    refusal.into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::WrongKey
            | Self::WrongToken
            | Self::WrongHostToken
            | Self::NotProven
            | Self::NotFirst
            | Self::ForeignPage => StatusCode::FORBIDDEN,
            Self::NoRelay => StatusCode::NOT_FOUND,
            Self::TooManyTries | Self::TooManyConnections => StatusCode::TOO_MANY_REQUESTS,
            Self::RelayRoom | Self::PartyRoom => StatusCode::CONFLICT,
            Self::Full | Self::RelayFull | Self::ServerFull | Self::RelayAway => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, self.to_string()).into_response()
    }
}

/// A peer that is let in. There may be thousands, most of them idle: what serves them is small.
struct Served {
    socket: WebSocket,
    seat: Seat,
    inbox: Inbox,
    guest: Arc<Guest>,
    turn: Option<Arc<TurnServer>>,
}

/// Serves one peer until it leaves, breaks, falls silent or is replaced. Dropping the
/// seat tells its room. One that may go by a TURN server is told so before it is told its id, and
/// thus before it hears of anyone.
async fn attend(mut peer: Box<Served>) {
    let Served { socket, seat, inbox, guest, turn } = &mut *peer;
    let mut credentials = Credentials::of(turn.take(), seat.peer);
    if let Some(turn) = credentials.first().await
        && !tell(socket, door(&Door::Turn(turn))).await
    {
        return;
    }
    let mut due = Due::since(Instant::now());
    let mut timer = pin!(sleep_until(due.next()));
    loop {
        tokio::select! {
            () = &mut timer => {
                let now = Instant::now();
                if passed(&mut due.stays, now) { guest.stays() }
                if passed(&mut due.offered, now) { seat.evict_silent() }
                if due.silent <= now { return }
                passed(&mut due.reads, now);
            }
            turn = credentials.next() => {
                if !tell(socket, door(&Door::Turn(turn))).await { return }
            }
            text = inbox.next() => {
                let message = match text {
                    Some(text) => Message::Text(text.into()),
                    None if inbox.is_evicted() => Message::Close(None),
                    None => replaced(),
                };
                let over = matches!(message, Message::Close(_));
                if !tell(socket, message).await || over { return }
            }
            heard = socket.recv(), if due.reads.is_none() => {
                let Some(Ok(message)) = heard else { return };
                due.heard(guest.says(message_bytes(&message)));
                hear(&message, seat);
            }
        }
        timer.as_mut().reset(due.next());
    }
}

/// When something is to be done for a peer that is served.
struct Due {
    /// It has stayed for longer than a visit.
    stays: Option<Instant>,
    /// All had to offer it a connection.
    offered: Option<Instant>,
    /// It is read again: its address said too much.
    reads: Option<Instant>,
    /// It has said nothing for too long.
    silent: Instant,
}

impl Due {
    fn since(now: Instant) -> Due {
        let (stays, offered) = (Some(now + VISIT_MAX), Some(now + OFFERS_WITHIN));
        Due { stays, offered, reads: None, silent: now + SILENCE_MAX }
    }

    fn next(&self) -> Instant {
        [self.stays, self.offered, self.reads].into_iter().flatten().fold(self.silent, Instant::min)
    }

    /// Something was read, and nothing more is to be for a while.
    fn heard(&mut self, wait: Duration) {
        let again = Instant::now() + wait;
        self.silent = again + SILENCE_MAX;
        self.reads = Some(again).filter(|_| !wait.is_zero());
    }
}

/// Whether that time has come, once.
fn passed(due: &mut Option<Instant>, now: Instant) -> bool {
    due.take_if(|due| *due <= now).is_some()
}

fn message_bytes(message: &Message) -> usize {
    match message {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
        Message::Close(_) => 0,
    }
}

/// Whether a peer could be told something in time.
async fn tell(socket: &mut WebSocket, message: Message) -> bool {
    matches!(timeout(SEND_WITHIN, socket.send(message)).await, Ok(Ok(())))
}

fn replaced() -> Message {
    Message::Close(Some(CloseFrame { code: REPLACED, reason: "another connection has taken its place".into() }))
}

/// What is not a request is ignored: it harms nobody.
fn hear(message: &Message, seat: &mut Seat) {
    let Message::Text(text) = message else { return };
    match text.parse::<JsonPeerRequest>() {
        Ok(PeerRequest::Signal { receiver, data }) => seat.signal(receiver, data),
        Ok(PeerRequest::KeepAlive) => {}
        Err(error) => tracing::debug!("ignored a message from {}: {error}", seat.peer),
    }
}
