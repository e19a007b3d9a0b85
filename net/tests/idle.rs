//! What a peer that says nothing costs a signaling server: little, or one address could fill it.
#![cfg(not(target_arch = "wasm32"))]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::signaling::Server;
use peak_alloc::PeakAlloc;
use testkit::strangers::connect_from;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Every other alone in a room, the rest with a relay.
const PEERS: usize = 400;
/// Who comes from one address.
const ADDRESS_PEERS: usize = 100;
const PATIENCE: Duration = Duration::from_secs(30);
/// Of one peer, beside what the system holds.
const BYTES_MAX: usize = 4_096;

/// Enters a room, and says nothing more.
fn join(from: u8, server: SocketAddr, path: &str) -> TcpStream {
    let mut stream = connect_from(from, server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let asks = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: h\r\n{asks}\r\n{key}\r\n\r\n").unwrap();
    let (mut told, mut bytes) = (Vec::new(), [0; 1_024]);
    while !String::from_utf8_lossy(&told).contains("IdAssigned") {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&told));
        told.extend(&bytes[..count]);
    }
    stream
}

#[test]
fn a_peer_that_says_nothing_takes_four_kilobytes_at_most() {
    let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap().spawn().unwrap();
    let addr = server.local_addr();
    let fill = |peers: usize| {
        let join_one = |n: usize| {
            let path = match n {
                0 => "hall?host=token".to_owned(),
                _ if n.is_multiple_of(2) => "hall?relay".to_owned(),
                _ => format!("room-{n}"),
            };
            join(2 + (n / ADDRESS_PEERS) as u8, addr, &path)
        };
        let inside: Vec<_> = (0..peers).map(join_one).collect();
        // Requests that were answered are forgotten.
        thread::park_timeout(Duration::from_secs(1));
        assert_eq!(server.figures().peers, peers);
        inside
    };
    // What a server allocates once, whoever comes.
    drop(fill(16));
    let began = Instant::now();
    while server.figures().peers > 0 {
        assert!(began.elapsed() < PATIENCE, "{:?}", server.figures());
        thread::park_timeout(Duration::from_millis(1));
    }
    let before = MEMORY.current_usage();
    let inside = fill(PEERS);
    let each = MEMORY.current_usage().saturating_sub(before) / PEERS;
    println!("{each} bytes for each of {} idle peers", inside.len());
    assert!((256..=BYTES_MAX).contains(&each), "{each} bytes");
}
