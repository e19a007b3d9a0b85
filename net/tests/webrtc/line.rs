//! Bad lines between peers: whoever signals by this is reached over a line that loses packets and
//! takes its time. The signaling server is told of that line's end, in place of each way to the
//! peer itself.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use matchbox_protocol::{JsonPeerRequest, PeerRequest};
use testkit::Dice;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

use super::peers::ANY_PORT;

/// What a packet meets on its way.
#[derive(Clone, Copy)]
pub struct Weather {
    /// Of every hundred.
    pub lost: u64,
    pub delay: Duration,
    /// Before that nothing arrives.
    pub opens: Instant,
}

/// Where peers find the server, whose lines are as bad as that.
pub fn before(server: SocketAddr, weather: Weather) -> SocketAddr {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || carry(stream.unwrap(), server, weather));
        }
    });
    addr
}

/// Carries what a peer and the server tell each other, until either is gone.
#[allow(clippy::result_large_err, reason = "the type is tungstenite's")]
fn carry(stream: TcpStream, server: SocketAddr, weather: Weather) {
    let (mut path, other) = (String::new(), stream.try_clone().unwrap());
    let read = |request: &Request, response: Response| {
        path = request.uri().to_string();
        Ok(response)
    };
    let Ok(mut peer) = tungstenite::accept_hdr(stream, read) else { return };
    let there = TcpStream::connect(server).unwrap();
    let forth = there.try_clone().unwrap();
    let Ok((mut there, _)) = tungstenite::client(format!("ws://{server}{path}"), there) else { return };
    let mut to_peer = WebSocket::from_raw_socket(other, Role::Server, None);
    let mut to_server = WebSocket::from_raw_socket(forth, Role::Client, None);
    thread::spawn(move || pass_on(&mut there, &mut to_peer, Some));
    pass_on(&mut peer, &mut to_server, |text| lengthened(text, weather));
}

fn pass_on<A: Read + Write, B: Read + Write>(
    from: &mut WebSocket<A>,
    to: &mut WebSocket<B>,
    alter: impl Fn(String) -> Option<String>,
) {
    while let Ok(message) = from.read() {
        let message = match message {
            Message::Text(text) => alter(text.to_string()).map(Message::text),
            other => Some(other),
        };
        let Some(message) = message else { continue };
        if to.send(message).is_err() {
            return;
        }
    }
}

/// The same signal, with the end of a line in the place of the way that it names. None if it names
/// one by IPv6: lines are of IPv4.
fn lengthened(text: String, weather: Weather) -> Option<String> {
    let Ok(PeerRequest::Signal { receiver, mut data }) = serde_json::from_str::<JsonPeerRequest>(&text) else {
        return Some(text);
    };
    for told in data.as_object_mut()?.values_mut() {
        let mut words: Vec<_> = told.as_str()?.split(' ').map(str::to_owned).collect();
        for way in (0..words.len()).filter(|n| words[*n].contains("candidate:")).collect::<Vec<_>>() {
            let [.., ip, port] = &mut words[way..way + 6] else { unreachable!() };
            let end = line((ip.parse::<Ipv4Addr>().ok()?, port.parse::<u16>().ok()?).into(), weather);
            (*ip, *port) = (end.ip().to_string(), end.port().to_string());
        }
        *told = words.join(" ").into();
    }
    let request: JsonPeerRequest = PeerRequest::Signal { receiver, data };
    serde_json::to_string(&request).ok()
}

/// The end of a line to a peer. What comes there goes on from another socket for each sender, by
/// which the peer answers.
fn line(peer: SocketAddr, weather: Weather) -> SocketAddr {
    let end = Arc::new(UdpSocket::bind(ANY_PORT).unwrap());
    let addr = end.local_addr().unwrap();
    thread::spawn(move || {
        let mut senders: HashMap<SocketAddr, mpsc::Sender<_>> = HashMap::new();
        receive(&end, addr.port().into(), weather, |packet, from| {
            let to_peer = senders.entry(from).or_insert_with(|| {
                let socket = Arc::new(UdpSocket::bind(ANY_PORT).unwrap());
                let (back, answers) = (send(Arc::clone(&end), from), Arc::clone(&socket));
                thread::spawn(move || {
                    receive(&answers, from.port().into(), weather, |packet, _| drop(back.send(packet)))
                });
                send(socket, peer)
            });
            let _ = to_peer.send(packet);
        });
    });
    addr
}

type Packet = (Instant, Vec<u8>);

/// Hands on what arrives, with when it is due, but for what is lost.
fn receive(socket: &UdpSocket, seed: u64, weather: Weather, mut hand_on: impl FnMut(Packet, SocketAddr)) {
    let (mut buffer, mut dice) = ([0; 2048], Dice(seed));
    loop {
        // Who is sent to may be gone.
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        if dice.roll(100) >= weather.lost && Instant::now() >= weather.opens {
            hand_on((Instant::now() + weather.delay, buffer[..length].to_vec()), from);
        }
    }
}

/// Sends each packet when it is due.
fn send(socket: Arc<UdpSocket>, to: SocketAddr) -> mpsc::Sender<Packet> {
    let (sender, due) = mpsc::channel::<Packet>();
    thread::spawn(move || {
        for (at, packet) in due {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            let _ = socket.send_to(&packet, to);
        }
    });
    sender
}
