//! A server behind a proxy: visitors count by the addresses that the proxy names, and nobody else
//! can name one.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use lockstone_net::signaling::{ADDRESS_CONNECTIONS_MAX, Handle, Server};
use testkit::strangers;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{HandshakeError, Message, WebSocket, client};

use super::peers::*;

/// The proxy is 127.0.0.2, as is said to the server.
const PROXY: u8 = 2;

type Visitor = WebSocket<TcpStream>;

fn serve_behind() -> Handle {
    let proxies = [Ipv4Addr::new(127, 0, 0, PROXY), Ipv4Addr::new(203, 0, 113, 77)];
    let server = Server::bind(ANY_PORT).unwrap();
    proxies.into_iter().fold(server, |server, proxy| server.with_proxy(proxy.into())).spawn().unwrap()
}

/// Enters a room from 127.0.0.`from`, with what a proxy there says of where it comes from.
fn enter(from: u8, forwarded: &[&str], server: SocketAddr, room: &str) -> Result<Visitor, u16> {
    let mut request = format!("ws://{server}/{room}").into_client_request().unwrap();
    for forwarded in forwarded {
        request.headers_mut().append("X-Forwarded-For", forwarded.parse().unwrap());
    }
    let stream = strangers::connect_from(from, server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    match client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(tungstenite::Error::Http(response))) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

fn says(visitor: &mut Visitor) -> serde_json::Value {
    let Message::Text(text) = visitor.read().unwrap() else { panic!("no text") };
    serde_json::from_str(&text).unwrap()
}

/// For whom the server takes those who enter so, each a number: equal for those with one address.
fn addresses(visits: &[(u8, &[&str])]) -> Vec<u64> {
    let server = serve_behind();
    let addr = server.local_addr();
    let mut first = enter(9, &[], addr, "r").unwrap();
    let id = says(&mut first)["IdAssigned"].as_str().unwrap().to_owned();
    let number = |(from, forwarded): &(u8, &[&str])| {
        let mut visitor = enter(*from, forwarded, addr, "r").unwrap();
        let signal = format!(r#"{{"Signal":{{"receiver":"{id}","data":{{"Offer":"..."}}}}}}"#);
        visitor.send(Message::text(signal)).unwrap();
        until("its signal", || says(&mut first)["Signal"]["address"].as_u64())
    };
    visits.iter().map(number).collect()
}

#[test]
fn a_proxy_says_where_visitors_come_from_and_nobody_else_does() {
    let told = addresses(&[
        (PROXY, &["203.0.113.5"]),
        (PROXY, &["198.51.100.1, 203.0.113.5"]),
        (PROXY, &["198.51.100.1", "203.0.113.5"]),
        (PROXY, &["203.0.113.5, 203.0.113.77"]),
        (PROXY, &["203.0.113.6"]),
        (PROXY, &["203.0.113.5, nonsense"]),
        (PROXY, &[]),
        (3, &["203.0.113.5"]),
        (3, &[]),
    ]);
    let [plain, forged, forged_apart, by_two, another, nonsense, silent, spoofed, direct] = told[..] else {
        unreachable!()
    };
    assert_eq!([forged, forged_apart], [plain; 2], "what a visitor says to the proxy stands before its own word");
    assert_eq!(by_two, plain, "a proxy behind a proxy");
    assert_ne!(another, plain);
    assert_eq!(nonsense, silent, "who is not named is the proxy");
    assert_ne!(silent, plain);
    assert_eq!(spoofed, direct, "who is no proxy is taken for what it is");
    assert_ne!(spoofed, plain);
}

#[test]
fn an_address_behind_a_proxy_has_so_many_connections_and_others_get_in() {
    let server = serve_behind();
    let addr = server.local_addr();
    let held: Vec<_> = (0..ADDRESS_CONNECTIONS_MAX)
        .map(|n| enter(PROXY, &["203.0.113.5"], addr, &format!("r{}", n / 16)).expect("it is let in"))
        .collect();
    assert_eq!(enter(PROXY, &["203.0.113.5"], addr, "other").unwrap_err(), 429);
    let _other = enter(PROXY, &["203.0.113.6"], addr, "other").expect("it is let in");
    drop(held);
    until("them to be forgotten", || enter(PROXY, &["203.0.113.5"], addr, "other").ok().map(drop));
}
