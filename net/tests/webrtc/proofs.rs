//! A room's key and its relay's token are proven to servers, and told to none.

use std::net::TcpListener;

use lockstone_net::LinkEvent;
use lockstone_net::matchbox::RoomRole;
use tungstenite::Message;

use super::peers::*;

const KEY: &str = "thekey";

fn roles() -> [RoomRole; 4] {
    let token = "thetoken".to_owned();
    [RoomRole::Relay { token: token.clone() }, RoomRole::Standby { token }, RoomRole::Player, RoomRole::Peer]
}

/// What a peer asks of a server, and how it answers this challenge.
fn told(role: RoomRole, nonce: &str) -> (String, String) {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let _peer = Peer::open_as(role, listener.local_addr().unwrap(), "r", Some(KEY));
    let (stream, mut head) = (listener.accept().unwrap().0, [0; 4_096]);
    let asked = until("a request", || {
        let count = stream.peek(&mut head).unwrap();
        let head = String::from_utf8_lossy(&head[..count]);
        head.ends_with("\r\n\r\n").then(|| head.into_owned())
    });
    let mut socket = tungstenite::accept(stream).unwrap();
    socket.send(Message::text(serde_json::json!({ "Challenge": nonce }).to_string())).unwrap();
    let answer = socket.read().unwrap().to_text().unwrap().to_owned();
    (asked, answer)
}

#[test]
fn no_server_is_told_a_key_or_a_token() {
    for role in roles() {
        let (asked, answer) = told(role, "a nonce");
        assert!(answer.contains("Proofs"), "{answer}");
        assert!([asked, answer].iter().all(|said| !said.contains(KEY) && !said.contains("thetoken")));
    }
}

#[test]
fn what_one_server_was_shown_opens_nothing_at_another() {
    let server = serve();
    for role in roles() {
        let (asked, answer) = told(role, "a nonce");
        let path = asked.split(' ').nth(1).expect("a path");
        let (mut thief, _) = tungstenite::connect(format!("ws://{}{path}", server.local_addr())).unwrap();
        assert!(thief.read().unwrap().to_text().unwrap().contains("Challenge"));
        thief.send(Message::text(answer)).unwrap();
        assert_eq!(thief.read().unwrap().to_text().unwrap(), r#"{"Refused":"the key or the token is not proven"}"#);
        assert!(thief.read().is_err() || !thief.can_read(), "the server ends it");
    }
    assert_eq!((server.figures().peers, server.figures().refusals), (0, 4));
}

#[test]
fn who_proves_a_key_and_who_tells_it_meet_in_one_room() {
    let server = serve();
    let addr = server.local_addr();
    let [host, _, player, _] = roles();
    let enter = |role| {
        let mut peer = Peer::open_as(role, addr, "r", Some(KEY));
        let is_in = |event: &LinkEvent| matches!(event, LinkEvent::Entered(_)).then_some(());
        until("to enter", || peer.find(is_in));
        peer
    };
    let _peers = [enter(host), enter(player)];
    raw(addr, "r?relay&key=thekey").expect("it tells the key");
    raw(addr, "r?host=thetoken&key=thekey").expect("it tells the token, too");
    assert_eq!(refused(addr, "r?relay&key=other").0, 404);
    assert_eq!(refused(addr, "r?host=other&key=thekey").0, 403);
    let wrong = Peer::open_as(RoomRole::Player, addr, "r", Some("other")).closed().to_string();
    assert!(wrong.contains("no relay serves this room"), "{wrong}");
}
