//! What one address can take of a signaling server, and that others get in meanwhile.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use lockstone_net::PeerId;
use lockstone_net::limits::signaling::{READS, SIGNALS};
use lockstone_net::signaling::Server;
use matchbox_protocol::{JsonPeerEvent, PeerEvent};
use socket2::{Domain, Socket, Type};
use testkit::strangers;
use tungstenite::{Message, WebSocket, client};

use super::peers::*;
use super::process::{self, Process};

const PATIENCE: Duration = Duration::from_secs(20);

/// A connection from one of this machine's many addresses.
fn connect_from(from: u8, server: SocketAddr) -> TcpStream {
    let stream = strangers::connect_from(from, server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Enters a room from there, and tells how long that took.
fn enter_from(from: u8, server: SocketAddr, path: &str) -> Duration {
    let began = Instant::now();
    client(format!("ws://{server}/{path}"), connect_from(from, server)).unwrap();
    began.elapsed()
}

/// How long the server keeps a connection that sends this, and then goes on so.
fn kept(server: SocketAddr, first: &[u8], mut more: impl FnMut(&mut TcpStream) -> std::io::Result<()>) -> Duration {
    let (mut stream, began) = (connect_from(2, server), Instant::now());
    stream.write_all(first).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    while began.elapsed() < PATIENCE {
        let read = stream.read(&mut [0; 1024]);
        let is_over = match read {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
        };
        if is_over || more(&mut stream).is_err() {
            return began.elapsed();
        }
    }
    PATIENCE
}

#[test]
fn who_says_nothing_or_never_ends_its_headers_is_soon_gone() {
    let server = serve();
    let addr = server.local_addr();
    let silent = kept(addr, b"", |_| Ok(()));
    let slow = kept(addr, b"GET /r HTTP/1.1\r\n", |stream| stream.write_all(b"a: b\r\n"));
    let long = kept(addr, b"GET /r HTTP/1.1\r\na: ", |stream| stream.write_all(&[b'a'; 4_096]));
    let idle = kept(addr, b"GET / HTTP/1.1\r\nhost: h\r\n\r\n", |_| Ok(()));
    let asks = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    let unproven = format!("GET /r?proves HTTP/1.1\r\nhost: h\r\n{asks}\r\n\r\n");
    let unproven = kept(addr, unproven.as_bytes(), |_| Ok(()));
    println!("silent {silent:?}, slow {slow:?}, long {long:?}, idle afterwards {idle:?}, unproven {unproven:?}");
    for time in [silent, slow, long, idle, unproven] {
        assert!(time < Duration::from_secs(8));
    }
}

#[test]
fn an_address_has_so_many_connections_and_others_get_in() {
    let server = serve();
    let addr = server.local_addr();
    let mut held = Vec::new();
    // A connection that is refused ends at once.
    let is_open = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        !matches!(stream.read(&mut [0; 1]), Ok(0)) && stream.take_error().unwrap().is_none()
    };
    for n in 0..700 {
        held.push(connect_from(2, addr));
        if n % 50 == 49 {
            let idle = enter_from(3, addr, &format!("party-{n}"));
            assert!(idle < Duration::from_secs(2), "{idle:?}");
        }
    }
    let open = held.iter_mut().filter_map(|stream| is_open(stream).then_some(())).count();
    println!("{open} of {} are open", held.len());
    assert!(open <= 512);
    drop(held);
    until("them to be forgotten", || client(format!("ws://{addr}/r"), connect_from(2, addr)).ok().map(drop));
}

#[test]
fn little_is_kept_for_a_slow_reader() {
    let server = serve();
    let addr = server.local_addr();
    // Others may not say so much.
    let (mut relay, _) = raw(addr, "r?host=t").unwrap();
    let (mut slow, slow_id) = raw(addr, "r?relay").unwrap();
    let (count, bytes) = (3_000, 15_000);
    for _ in 0..count {
        signal(&mut relay, slow_id, "x".repeat(bytes).into());
    }
    // Whatever was said before this is there, or dropped.
    until("the server to have heard all", || raw(addr, "other").ok().map(drop));
    std::thread::park_timeout(Duration::from_secs(1));
    let (mut kept, tungstenite::stream::MaybeTlsStream::Plain(stream)) = (0, slow.get_mut()) else { unreachable!() };
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    while let Ok(Message::Text(text)) = slow.read() {
        kept += text.len();
    }
    println!("{kept} bytes of {} were kept, here and by the system", count * bytes);
    assert!((100_000..8_000_000).contains(&kept));
}

#[test]
fn a_flood_of_signals_to_one_peer_reaches_it_as_a_few_and_takes_nothing_from_the_others() {
    let server = serve();
    let addr = server.local_addr();
    let [mut one, mut other, mut hostile] = [(); 3].map(|()| raw(addr, "r").unwrap());
    // Until a signal says so: how many there were.
    let signals_before = |socket: &mut Raw, end: &str| {
        let signals = std::iter::repeat_with(|| next(socket)).filter_map(|event| match event {
            PeerEvent::Signal { data, .. } => Some(data),
            _ => None,
        });
        signals.take_while(|data| data != end).count()
    };
    let began = Instant::now();
    for n in 0..1_000 {
        signal(&mut hostile.0, one.1, n.into());
    }
    signal(&mut hostile.0, other.1, "hostile".into());
    assert_eq!(signals_before(&mut other.0, "hostile"), 0, "it has not used up what it may say to others");
    signal(&mut other.0, one.1, "other".into());
    let heard = signals_before(&mut one.0, "other");
    let most = SIGNALS.free + SIGNALS.per_s * (began.elapsed().as_secs() as u32 + 1);
    println!("{heard} of 1,000 signals are passed on, of {most} at most");
    assert!((SIGNALS.free as usize..=most as usize).contains(&heard));
}

/// Enters a room from there, and reads nothing: the system holds little for it.
fn slow_reader(from: u8, server: SocketAddr, path: &str) -> (WebSocket<TcpStream>, PeerId) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::new(127, 0, 0, from), 0)).into()).unwrap();
    socket.connect(&server.into()).unwrap();
    let (mut socket, _) = client(format!("ws://{server}/{path}"), socket.into()).unwrap();
    let told: JsonPeerEvent = socket.read().unwrap().into_text().unwrap().parse().unwrap();
    let PeerEvent::IdAssigned(id) = told else { panic!("the id comes first") };
    (socket, PeerId(id.0.as_u128()))
}

/// Tells each of them so much. When this returns, the server has it, or has dropped it.
fn press(host: &mut WebSocket<TcpStream>, readers: &[(WebSocket<TcpStream>, PeerId)], bytes: usize) {
    const EACH: usize = 15_000;
    for _ in 0..bytes / EACH {
        readers.iter().for_each(|(_, reader)| signal(host, *reader, "x".repeat(EACH).into()));
    }
    host.send(Message::Ping(Default::default())).unwrap();
    while !matches!(host.read().unwrap(), Message::Pong(_)) {}
}

#[test]
fn slow_readers_of_an_address_together_hold_little_and_leave_others_their_share() {
    const MIB: usize = 1 << 20;
    let server = serve();
    let addr = server.local_addr();
    let room = |name: &str, from, readers| {
        let host = client(format!("ws://{addr}/{name}?host=t"), connect_from(3, addr)).unwrap().0;
        let readers = (0..readers).map(|_| slow_reader(from, addr, &format!("{name}?relay")));
        (host, readers.collect::<Vec<_>>())
    };
    let (mut host, slow) = room("r", 2, 40);
    press(&mut host, &slow, 4 * MIB);
    let waiting = server.figures().waiting_bytes;
    println!("{waiting} bytes wait for {} slow readers", slow.len());
    assert!((8 * MIB..16 * MIB).contains(&waiting));
    let (mut other_host, other) = room("other", 4, 1);
    press(&mut other_host, &other, 4 * MIB);
    let more = server.figures().waiting_bytes - waiting;
    println!("{more} bytes wait for one of another address");
    assert!(more > MIB / 2);
    drop((slow, other));
    until("all of it to be forgotten", || (server.figures().waiting_bytes == 0).then_some(()));
}

/// They are pings, which a server answers one by one, and which nothing else holds up.
#[test]
fn an_address_that_floods_messages_is_read_at_its_pace_and_others_at_theirs() {
    const TIME: Duration = Duration::from_secs(6);
    const PING: [u8; 6] = [0x89, 0x80, 0, 0, 0, 0];
    const PONG_BYTES: usize = 2;
    let server = serve();
    let addr = server.local_addr();
    let mut answers = client(format!("ws://{addr}/r"), connect_from(2, addr)).unwrap().0.into_inner();
    let (mut pings, began) = (answers.try_clone().unwrap(), Instant::now());
    let flood = thread::spawn(move || while pings.write_all(&PING.repeat(64)).is_ok() {});
    answers.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let (mut bytes, mut joins) = (0, Vec::new());
    while began.elapsed() < TIME {
        bytes += answers.read(&mut [0; 4_096]).unwrap_or(0);
        if bytes / PONG_BYTES > READS.free as usize && joins.len() < 4 {
            joins.push(enter_from(3, addr, &format!("other-{}", joins.len())));
        }
    }
    let (read, most) = (bytes / PONG_BYTES, READS.free + READS.per_s * (began.elapsed().as_secs() as u32 + 1));
    answers.shutdown(std::net::Shutdown::Both).unwrap();
    flood.join().unwrap();
    println!("{read} messages of one address were read, of {most} at most; others joined in {joins:?}");
    assert!(read <= most as usize && joins.iter().all(|took| *took < Duration::from_secs(1)));
}

/// A server in a process that may have so many files, and can have no more.
fn serve_with(limit: &str) -> (Process, SocketAddr) {
    let mut program = Command::new("sh");
    program.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(process::program());
    Process::serve_by(program, ANY_PORT)
}

/// One of its figures.
fn figure(server: SocketAddr, name: &str) -> usize {
    let mut stream = connect_from(9, server);
    stream.write_all(b"GET /?figures HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    let value = told.lines().find_map(|line| line.strip_prefix("lockstone_")?.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {told}"))
}

#[test]
fn an_address_with_more_connections_than_a_server_has_files_keeps_nobody_out() {
    let (_server, addr) = serve_with("-n 64");
    let mut held: Vec<_> = (0..100).map(|n| strangers::enter_from(2, addr, &format!("room-{n}"))).collect();
    let silent: Vec<_> = (0..100).map(|_| connect_from(2, addr)).collect();
    let inside = held.iter().flatten().count();
    println!("{inside} of 100 are let in");
    let takes = enter_from(3, addr, "honest");
    assert!(takes < Duration::from_secs(1), "{takes:?}");
    assert_eq!(figure(addr, "connections_max"), 48);
    // Peers of an address that has too many may come once some of its own are gone.
    assert!(strangers::enter_from(2, addr, "r").is_none());
    held.retain(Option::is_some);
    held.truncate(inside / 2);
    drop(silent);
    until("room for one of that address", || strangers::enter_from(2, addr, "r"));
    let mut friends = vec![Peer::enter(addr, "party"), Peer::enter(addr, "party")];
    connect(&mut friends);
}

#[test]
fn a_server_takes_as_many_files_as_it_may_have() {
    let (_server, addr) = serve_with("-Sn 64");
    let began = Instant::now();
    let held: Vec<_> = (0..100).map_while(|n| strangers::enter_from(2, addr, &format!("room-{n}"))).collect();
    assert_eq!(held.len(), 100);
    assert!(began.elapsed() < Duration::from_secs(10), "they wait until others are gone: {:?}", began.elapsed());
    assert!(figure(addr, "connections_max") > 100);
}

#[test]
fn wrong_guesses_slow_down_whoever_makes_them() {
    let server = serve();
    let addr = server.local_addr();
    let (_host, _) = raw(addr, "hall?host=t&key=k").unwrap();
    let (_peer, _) = raw(addr, "party?key=k").unwrap();
    let guarded = Server::bind(ANY_PORT).unwrap().with_host_token("elder").spawn().unwrap();
    let guarded = guarded.local_addr();
    let guesses = [
        (addr, "hall?relay&key=", 404),
        (addr, "hall?standby=t&key=", 404),
        (addr, "hall?key=", 403),
        (addr, "hall?host=t&key=", 403),
        (addr, "hall?key=k&host=", 403),
        (addr, "party?key=", 403),
        (addr, "party?host=t&key=", 403),
        (addr, "party?key=k&host=", 409),
        (guarded, "hall?host=", 403),
    ];
    let guess = |from: u8, (server, path, status): (SocketAddr, &'static str, u16)| {
        thread::spawn(move || {
            let (began, mut count) = (Instant::now(), 0);
            while began.elapsed() < Duration::from_secs(3) {
                match client(format!("ws://{server}/{path}{count}"), connect_from(from, server)) {
                    Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                        let told = response.status().as_u16();
                        assert!([status, 429].contains(&told), "{path}: {told}");
                    }
                    other => panic!("not refused: {other:?}"),
                }
                count += 1;
            }
            println!("{path}: {count} guesses in {:?}", began.elapsed());
            assert!(count < 120, "64 at once, and 8 a second");
        })
    };
    let guessing: Vec<_> = (20..).zip(guesses).map(|(from, guesses)| guess(from, guesses)).collect();
    guessing.into_iter().for_each(|guessing| guessing.join().unwrap());
    let other = enter_from(3, addr, "hall?relay&key=k");
    assert!(other < Duration::from_secs(1), "{other:?}");
}

/// Nothing else can be hidden from a peer or a relay: who names a room that is not there founds it.
#[test]
fn who_does_not_know_a_rooms_key_learns_of_it_only_that_it_is_there() {
    let file = RoomsFile::new("claims");
    let server = file.serve_at(ANY_PORT);
    let addr = server.local_addr();
    let (_party, _) = raw(addr, "party?key=k").unwrap();
    let _full: Vec<_> = (0..16).map(|_| raw(addr, "full?key=k").unwrap()).collect();
    let (_relay, _) = raw(addr, "hall?host=t&key=k").unwrap();
    let (relay, _) = raw(addr, "away?host=t&key=k").unwrap();
    let (_player, _) = raw(addr, "away?relay&key=k").unwrap();
    drop(relay);
    until("the relay to be away", || raw(addr, "away?relay&key=k").is_err().then_some(()));
    drop(raw(addr, "emptied?host=t&key=k").unwrap());
    until("the relay to have left", || (server.figures().rooms == 4).then_some(()));
    for room in ["party", "full", "hall", "away", "emptied"] {
        let answers = |roles: &[&str]| -> Vec<_> {
            let keys = ["key=l", "none"];
            let asked = roles.iter().flat_map(|role| keys.map(|key| format!("{room}?{role}&{key}")));
            asked.map(|path| refused(addr, &path)).collect()
        };
        let founders = answers(&["", "host=t", "host=u", "secret=0123456789abcdef&arrival=0"]);
        assert!(founders.iter().all(|told| *told == (403, "the room has another key".into())), "{room}: {founders:?}");
        let (nowhere, others) = (refused(addr, "nowhere?relay"), answers(&["relay", "standby=t", "standby=u"]));
        assert!(others.iter().all(|told| *told == nowhere), "{room}: {others:?}");
    }
}

#[test]
fn who_comes_and_goes_all_the_time_may_come_more_and_more_seldom() {
    let server = serve();
    let addr = server.local_addr();
    let (began, mut visits, mut refused) = (Instant::now(), 0, 0);
    while began.elapsed() < Duration::from_secs(8) {
        match client(format!("ws://{addr}/r"), connect_from(2, addr)) {
            Ok(_) => visits += 1,
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                assert_eq!(response.status().as_u16(), 429);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    println!("{visits} visits in {:?}, and {refused} refused", began.elapsed());
    assert!((512..560).contains(&visits), "512 at once, and 4 a second");
    let other = enter_from(3, addr, "r");
    assert!(other < Duration::from_secs(1), "{other:?}");
}

#[test]
fn all_whom_an_address_may_have_inside_can_come_at_once_and_come_again() {
    let server = serve();
    let addr = server.local_addr();
    for _ in 0..2 {
        let began = Instant::now();
        let inside: Vec<_> = (0..500)
            .map(|n| client(format!("ws://{addr}/r{}", n / 16), connect_from(2, addr)).expect("it is let in"))
            .collect();
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        // Long enough to be no visit.
        std::thread::park_timeout(Duration::from_millis(2_500));
        drop(inside);
    }
}

#[test]
fn a_server_tells_how_much_it_has_to_do() {
    let server = serve();
    let addr = server.local_addr();
    let (_relay, _) = raw(addr, "r?host=t&key=k").unwrap();
    let (_player, _) = raw(addr, "r?relay&key=k").unwrap();
    let (_peer, _) = raw(addr, "other").unwrap();
    assert!(raw(addr, "r?relay&key=l").is_err(), "the key is another");
    let mut stream = connect_from(2, addr);
    stream.write_all(b"GET /?figures HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    for line in ["rooms 2", "peers 3", "entries_total 3", "refusals_total 1"] {
        assert!(told.contains(&format!("\nlockstone_{line}\n")), "{line}: {told}");
    }
    let lines: Vec<_> = told.lines().filter(|line| line.starts_with("lockstone_connections ")).collect();
    let connections: usize = lines[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!((4..=5).contains(&connections), "three peers and who asks, and perhaps who was refused: {connections}");
}
