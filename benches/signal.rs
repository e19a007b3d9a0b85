//! What a signaling server costs: memory for 10,000 peers who say nothing, joins in a second, and
//! how much longer others take to join while one address floods it.
//!
//! `cargo bench -p lockstone --bench signal` prints that beside what is asked for. The server and
//! the flood are each a process of its own. An address may have 512 connections, so peers come from
//! many of this machine's. With few cores the flood slows others down also by its share of them.

use std::io::{Error, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::signaling::Server;
use testkit::process::Process;
use testkit::strangers::connect_from;

/// Peers who say nothing: every other alone in a room, the rest with a relay.
const IDLE: usize = 10_000;
/// Who comes from one address, and who is in one relay's room.
const ADDRESS_PEERS: usize = 250;
const RELAY_PEERS: usize = 2_500;
/// Joins that are timed, one after the other, in so many turns of peace and flood.
const JOINS: usize = 400;
const TURNS: usize = 20;
/// Connections of a flood, all from one address.
const FLOOD_PER_S: u32 = 2_000;
/// Until a flood is in full flow.
const FLOOD_BEGINS: Duration = Duration::from_millis(500);
/// Where they and those who are timed come from: the idle come from 2 on.
const FLOOD_FROM: u8 = 200;
const TIMED_FROM: u8 = 210;
/// What is asked for.
const MEMORY_KB_MAX: u64 = 80_000;
const JOINS_PER_S_MIN: f64 = 1_000.0;
const FLOODED_MAX: f64 = 1.2;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => serve(),
        ["flood", server] => flood(server.parse().expect("an address")),
        _ => measure(),
    }
}

fn serve() -> ! {
    let server = Server::bind("127.0.0.1:0".parse().expect("an address")).expect("it listens");
    println!("{}", server.local_addr());
    panic!("{:?}", server.run())
}

/// Asks to enter a room.
fn ask(from: u8, server: SocketAddr, path: &str) -> Result<TcpStream, Error> {
    let mut stream = connect_from(from, server)?;
    let asks = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    stream.write_all(format!("GET /{path} HTTP/1.1\r\nHost: h\r\n{asks}\r\n{key}\r\n\r\n").as_bytes())?;
    Ok(stream)
}

/// Enters a room, and says nothing more.
fn join(from: u8, server: SocketAddr, path: &str) -> Result<TcpStream, Error> {
    let (mut stream, mut told) = (ask(from, server, path)?, Vec::new());
    while !String::from_utf8_lossy(&told).contains("IdAssigned") {
        let mut bytes = [0; 1_024];
        match stream.read(&mut bytes)? {
            0 => return Err(Error::other(String::from_utf8_lossy(&told).into_owned())),
            count => told.extend(&bytes[..count]),
        }
    }
    Ok(stream)
}

/// Comes, asks, and goes, over and over, until this process is killed.
fn flood(server: SocketAddr) -> ! {
    let (began, mut come) = (Instant::now(), 0);
    loop {
        let due = (began.elapsed().as_secs_f64() * f64::from(FLOOD_PER_S)) as u32;
        while come < due {
            come += 1;
            let _ = ask(FLOOD_FROM, server, "flooded");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn measure() {
    let mut server = Process::start(&["serve"]);
    let addr = server.lines().next().and_then(|line| line.parse().ok()).expect("it says where it serves");
    let empty_kb = server.memory_kb();
    let (mut inside, began) = (Vec::with_capacity(IDLE), Instant::now());
    for n in 0..IDLE {
        let relay = n / RELAY_PEERS;
        let path = match n {
            _ if n % RELAY_PEERS == 0 => format!("hall-{relay}?host=token"),
            _ if n % 2 == 0 => format!("hall-{relay}?relay"),
            _ => format!("room-{n}"),
        };
        match join(2 + (n / ADDRESS_PEERS) as u8, addr, &path) {
            Ok(stream) => inside.push(stream),
            // "Too many open files", of this process.
            Err(error) if error.raw_os_error() == Some(24) => {
                return println!("Raise `ulimit -n` to {}: this system gave {n} files.", 2 * IDLE);
            }
            Err(error) => panic!("peer {n} does not get in: {error}"),
        }
    }
    let joins_per_s = IDLE as f64 / began.elapsed().as_secs_f64();
    thread::sleep(Duration::from_secs(3));
    let (mut peace, mut flooded) = (Vec::new(), Vec::new());
    let held_kb = server.memory_kb();
    drop(inside);
    for turn in 0..TURNS {
        let from = TIMED_FROM + 2 * turn as u8;
        peace.extend(joins(from, addr));
        let _flood = Process::start(&["flood", &addr.to_string()]);
        thread::sleep(FLOOD_BEGINS);
        flooded.extend(joins(from + 1, addr));
    }
    let means = [&peace, &flooded].map(|times| times.iter().sum::<Duration>() / times.len() as u32);
    let medians = [peace, flooded].map(median);
    if let (Some(empty), Some(held)) = (empty_kb, held_kb) {
        let each = (held - empty) as f64 / IDLE as f64;
        println!("{IDLE} idle peers: the server holds {held} kB, {each:.1} each; at most {MEMORY_KB_MAX}.");
    }
    println!("{joins_per_s:.0} joins a second, one after the other; at least {JOINS_PER_S_MIN}.");
    println!("While one address comes and goes {FLOOD_PER_S} times a second, joins take at most {FLOODED_MAX}x:");
    for (what, [peace, flooded]) in [("half of them", medians), ("on average", means)] {
        let slower = flooded.as_secs_f64() / peace.as_secs_f64();
        println!("{what} {flooded:?} beside {peace:?} in peace, {slower:.2}x.");
    }
}

/// How long joins from there take.
fn joins(from: u8, server: SocketAddr) -> Vec<Duration> {
    let mut inside = Vec::new();
    let times = (0..JOINS).map(|n| {
        let began = Instant::now();
        inside.push(join(from, server, &format!("timed-{from}-{n}")).expect("it is let in"));
        began.elapsed()
    });
    times.collect()
}

/// Half of them took longer.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
