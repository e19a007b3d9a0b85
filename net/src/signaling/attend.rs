//! What a server says to one peer: it lets it in, or refuses it, and passes on what others say,
//! until it leaves. The loop is [`attend`]. It must never wait for a peer that does not read.

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
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::addresses::Guest;
use super::ingress::Ingress;
use super::rooms::{Inbox, OFFERS_WITHIN, Refusal, Rooms, Seat};
use super::turn::{Credentials, TurnServer};
use super::{HEAD_WITHIN, Shared};
use crate::room::{Door, REPLACED};

/// The largest message from a peer, in bytes. A session description has about 1,000, in a
/// browser up to 5,000.
const MESSAGE_BYTES_MAX: usize = 16_384;

/// What is read at once from a peer. There is such a buffer for each, also while it is idle.
const READ_BYTES: usize = 512;

/// A peer that says nothing for this long is gone. Links say something every 10 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Who is gone before was on a visit: each costs the others an offer.
const VISIT_MAX: Duration = Duration::from_secs(2);

/// A peer that takes longer than this to read a message is gone.
const SEND_WITHIN: Duration = Duration::from_secs(10);

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
    // A timer takes a millisecond at least.
    if !wait.is_zero() {
        sleep(wait).await;
    }
    let upgrade = upgrade.max_message_size(MESSAGE_BYTES_MAX).max_frame_size(MESSAGE_BYTES_MAX);
    let upgrade = upgrade.read_buffer_size(READ_BYTES).write_buffer_size(0);
    let turn = turn.filter(|_| ingress.turn.is_some());
    if ingress.proves.is_some() {
        return upgrade.on_upgrade(move |socket| enter_by_proof(socket, rooms, room, ingress, (guest, turn)));
    }
    let locked = ingress.locked(&room).map_err(Refusal::from);
    match locked.and_then(|ingress| let_in(&rooms, &room, &ingress, &guest)) {
        Ok((seat, inbox)) => upgrade.on_upgrade(move |socket| attend(socket, seat, inbox, (guest, turn))),
        Err(refusal) => refuse(&rooms, refusal),
    }
}

/// Lets a peer in that has proven what it says to know.
async fn enter_by_proof(
    mut socket: WebSocket,
    rooms: Arc<Rooms>,
    room: String,
    ingress: Ingress,
    (guest, turn): (Arc<Guest>, Option<Arc<TurnServer>>),
) {
    let nonce = Uuid::new_v4().to_string();
    let answer = async {
        socket.send(door(&Door::Challenge(nonce.clone()))).await.ok()?;
        serde_json::from_str(socket.recv().await?.ok()?.to_text().ok()?).ok()
    };
    let Ok(Some(Door::Proofs { key, token })) = timeout(HEAD_WITHIN, answer).await else { return };
    let proven = ingress.proven(&room, &nonce, key, token);
    match proven.and_then(|ingress| let_in(&rooms, &room, &ingress, &guest)) {
        Ok((seat, inbox)) => attend(socket, seat, inbox, (guest, turn)).await,
        Err(refusal) => {
            rooms.count_refusal();
            tell(&mut socket, door(&Door::Refused(refusal.to_string()))).await;
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

/// Serves one peer until it leaves, breaks, falls silent or is replaced. Dropping the
/// seat tells its room. One that may go by a TURN server is told so before it is told its id, and
/// thus before it hears of anyone.
async fn attend(
    mut socket: WebSocket,
    mut seat: Seat,
    mut inbox: Inbox,
    (guest, turn): (Arc<Guest>, Option<Arc<TurnServer>>),
) {
    let mut credentials = Credentials::of(turn, seat.peer);
    if let Some(turn) = credentials.first().await
        && !tell(&mut socket, door(&Door::Turn(turn))).await
    {
        return;
    }
    let (mut stays, mut is_visit) = (pin!(sleep(VISIT_MAX)), true);
    let (mut offered, mut is_new) = (pin!(sleep(OFFERS_WITHIN)), true);
    loop {
        tokio::select! {
            () = &mut stays, if is_visit => {
                guest.stays();
                is_visit = false;
            }
            () = &mut offered, if is_new => {
                seat.evict_silent();
                is_new = false;
            }
            turn = credentials.next() => {
                if !tell(&mut socket, door(&Door::Turn(turn))).await { return }
            }
            text = inbox.next() => {
                let message = match text {
                    Some(text) => Message::Text(text.into()),
                    None if inbox.is_evicted() => Message::Close(None),
                    None => replaced(),
                };
                let over = matches!(message, Message::Close(_));
                if !tell(&mut socket, message).await || over { return }
            }
            heard = timeout(SILENCE_MAX, socket.recv()) => match heard {
                Ok(Some(Ok(message))) => hear(&message, &mut seat),
                _ => return,
            }
        }
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
