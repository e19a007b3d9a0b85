//! What a signaling server costs: memory for 10,000 peers who say nothing, joins in a second, and
//! how much longer others take to join while one address floods it with visits, messages or
//! requests.
//!
//! `cargo bench -p lockstone --bench signal` prints that beside what is asked for, and fails if
//! that is missed. The server and the flood are each a process of its own. An address may have 512
//! connections, so peers come from many of this machine's. With few cores the flood slows others
//! down also by its share of them.

use std::io::{Error, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
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
/// Joins that are timed, one after the other, in so many turns of peace and of each flood.
const JOINS: usize = 400;
const TURNS: usize = 12;
/// Until a flood is in full flow.
const FLOOD_BEGINS: Duration = Duration::from_millis(500);
/// Where they and those who are timed come from: the idle come from 2 on, and are gone by then.
const FLOOD_FROM: u8 = 200;
const TIMED_FROM: u8 = 50;
/// Connections of a flood of visits in a second, and those of any other at once.
const VISITS_PER_S: u32 = 2_000;
const FLOOD_CONNECTIONS: usize = 16;
/// Messages that a flood writes at once.
const AT_ONCE: usize = 64;
/// What is asked for.
const MEMORY_KB_MAX: u64 = 80_000;
const EACH_KB_MAX: f64 = 4.0;
const JOINS_PER_S_MIN: f64 = 1_000.0;
const FLOODED_MAX: f64 = 1.2;

/// What a flood, all from one address, does over and over, and what it is called.
type Flood = (&'static str, fn(SocketAddr) -> !, &'static str);
const FLOODS: [Flood; 3] = [
    ("visits", visits, "comes and goes"),
    ("messages", messages, "says as much as it can"),
    ("requests", requests, "asks as often as it is answered"),
];

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => serve(),
        ["flood", by, server] => {
            let (_, flood, _) = FLOODS.iter().find(|(name, ..)| name == by).expect("a flood");
            flood(server.parse().expect("an address"))
        }
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
fn visits(server: SocketAddr) -> ! {
    let (began, mut come) = (Instant::now(), 0);
    loop {
        let due = (began.elapsed().as_secs_f64() * f64::from(VISITS_PER_S)) as u32;
        while come < due {
            come += 1;
            let _ = ask(FLOOD_FROM, server, "flooded");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Says messages that mean little, as fast as they are taken.
fn messages(server: SocketAddr) -> ! {
    // A text of a WebSocket's client, whose mask changes nothing.
    let text = br#""KeepAlive""#;
    let frame = [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text.as_slice()].concat();
    let frames = frame.repeat(AT_ONCE);
    over_and_over(move |n| {
        let mut stream = join(FLOOD_FROM, server, &format!("flooded-{n}"))?;
        loop {
            stream.write_all(&frames)?;
        }
    })
}

/// Asks for the server's figures, as fast as they come.
fn requests(server: SocketAddr) -> ! {
    over_and_over(move |_| {
        let mut stream = connect_from(FLOOD_FROM, server)?;
        loop {
            stream.write_all(b"GET /?figures HTTP/1.1\r\nHost: h\r\n\r\n")?;
            if stream.read(&mut [0; 4_096])? == 0 {
                return Ok(());
            }
        }
    })
}

/// On many connections at once, each of which is opened again when it ends.
fn over_and_over(one: impl Fn(usize) -> Result<(), Error> + Clone + Send + 'static) -> ! {
    for n in 0..FLOOD_CONNECTIONS {
        let one = one.clone();
        thread::spawn(move || {
            loop {
                let _ = one(n);
                thread::sleep(Duration::from_millis(1));
            }
        });
    }
    loop {
        thread::park();
    }
}

fn measure() -> ExitCode {
    let mut server = Process::start(&["serve"]);
    let addr = server.lines().next().and_then(|line| line.parse().ok()).expect("it says where it serves");
    let (empty_kb, began) = (server.memory_kb(), Instant::now());
    let inside = match fill(addr) {
        Ok(inside) => inside,
        // "Too many open files", of this process.
        Err((n, error)) if error.raw_os_error() == Some(24) => {
            println!("Raise `ulimit -n` to {}: this system gave {n} files.", 2 * IDLE);
            return ExitCode::FAILURE;
        }
        Err((n, error)) => panic!("peer {n} does not get in: {error}"),
    };
    let joins_per_s = IDLE as f64 / began.elapsed().as_secs_f64();
    thread::sleep(Duration::from_secs(3));
    let held_kb = server.memory_kb();
    drop(inside);
    let mut is_met = joins_per_s >= JOINS_PER_S_MIN;
    if let (Some(empty), Some(held)) = (empty_kb, held_kb) {
        let each = held.saturating_sub(empty) as f64 / IDLE as f64;
        println!("{IDLE} idle peers: the server holds {held} kB, at most {MEMORY_KB_MAX}.");
        println!("That is {each:.1} kB each, at most {EACH_KB_MAX}.");
        is_met &= held <= MEMORY_KB_MAX && each <= EACH_KB_MAX;
    }
    println!("{joins_per_s:.0} joins a second, one after the other; at least {JOINS_PER_S_MIN}.");
    let mut timed = TIMED_FROM;
    for flood in FLOODS {
        is_met &= beside(&flood, addr, &mut timed);
    }
    if is_met {
        return ExitCode::SUCCESS;
    }
    println!("MISSED: what is asked for.");
    ExitCode::FAILURE
}

/// All who say nothing, or which of them does not get in, and why.
fn fill(server: SocketAddr) -> Result<Vec<TcpStream>, (usize, Error)> {
    let enter = |n: usize| {
        let relay = n / RELAY_PEERS;
        let path = match n {
            _ if n.is_multiple_of(RELAY_PEERS) => format!("hall-{relay}?host=token"),
            _ if n.is_multiple_of(2) => format!("hall-{relay}?relay"),
            _ => format!("room-{n}"),
        };
        join(2 + (n / ADDRESS_PEERS) as u8, server, &path).map_err(|error| (n, error))
    };
    (0..IDLE).map(enter).collect()
}

/// Whether joins take little longer beside a flood than in peace: half of them, and on average.
fn beside((by, _, does): &Flood, server: SocketAddr, timed: &mut u8) -> bool {
    let (mut peace, mut flooded) = (Vec::new(), Vec::new());
    let mut next = || {
        *timed += 1;
        *timed
    };
    for _ in 0..TURNS {
        peace.extend(joins(next(), server));
        let _flood = Process::start(&["flood", by, &server.to_string()]);
        thread::sleep(FLOOD_BEGINS);
        flooded.extend(joins(next(), server));
    }
    let means = [&peace, &flooded].map(|times| times.iter().sum::<Duration>() / times.len() as u32);
    let medians = [peace, flooded].map(median);
    println!("While one address {does}, joins take at most {FLOODED_MAX}x:");
    let ratios = [("half of them", medians), ("on average", means)].map(|(what, [peace, flooded])| {
        let slower = flooded.as_secs_f64() / peace.as_secs_f64();
        println!("{what} {flooded:?} beside {peace:?} in peace, {slower:.2}x.");
        slower
    });
    ratios.iter().all(|slower| *slower <= FLOODED_MAX)
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
