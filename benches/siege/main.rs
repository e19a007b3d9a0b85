//! Honest peers of each kind of session, in peace and then under siege: over real WebRTC, each in a
//! process of its own, while all that `attack` does is done to their rooms and their signaling
//! server.
//!
//! `cargo bench -p lockstone --bench siege` prints what a siege of 5 minutes costs them, beside a
//! minute of peace just before, and fails if that is more than is asked for. In the middle the
//! signaling server is killed, and another takes its place. `SECONDS=60` makes it shorter, and
//! `ATTACKS=visits,members` leaves the other ways out: signals, garbage, claims, cuts, lies,
//! delays, gossip, stories, silence, restarts, guesses, holds, dribbles. Attackers take their share
//! of this machine, too: with few cores they slow others down by that alone.
//!
//! Who is held up by a player that gives no inputs waits for it until it is out, and no longer: the
//! pace of those is told from a fifth of the siege on, and beside it how long they stood still.

mod attack;
mod honest;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use attack::Traitor;
use honest::Report;
use lockstone_net::signaling::Server;
use testkit::process::Process;
use testkit::router::{ANY_PORT, Router};

/// Honest players of each session.
const PEERS: usize = 4;
/// The relay's.
const TOKEN: &str = "siege";
/// What a signaling server leaves to the next.
const REGISTER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/siege-rooms");
/// Newcomers whose joins are timed.
const JOINS: usize = 5;
/// The connection of who founded a session is cut so often.
const CUT_INTERVAL: Duration = Duration::from_secs(5);
/// The pace of each session.
const TICKS_PER_S: f64 = 20.0;
/// In less, nobody could be put out.
const SECONDS_MIN: u64 = 60;
/// All must play by then.
const GATHERS_WITHIN: Duration = Duration::from_secs(60);
/// What is asked for: ticks a second at least, CPU time at most beside peace, and memory at most
/// beside the siege's beginning.
const TICKS_PER_S_MIN: f64 = 19.8;
const CPU_MAX: f64 = 1.5;
const MEMORY_MAX: f64 = 1.2;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", addr] => serve(addr.parse().expect("an address")),
        ["attack", server] => attack::attack(server.parse().expect("an address")),
        ["honest", what, server] => honest::play(what, server.parse().expect("an address")),
        _ => besiege(),
    }
}

/// Serves as long as this process lives. Where another has just ended, it waits until it may.
fn serve(addr: SocketAddr) -> ! {
    let server = loop {
        match Server::bind(addr) {
            Err(_) => thread::sleep(Duration::from_millis(10)),
            bound => break bound.and_then(|server| server.with_register(Path::new(REGISTER))).expect("it serves"),
        }
    };
    let served = server.spawn().expect("it serves");
    println!("{}", served.local_addr());
    loop {
        thread::park();
    }
}

/// An honest peer, and what it said last.
struct Peer {
    latest: Arc<Mutex<Option<Report>>>,
    _process: Process,
}

impl Peer {
    fn enter(what: &str, server: SocketAddr) -> Peer {
        let mut process = Process::start(&["honest", what, &server.to_string()]);
        let (lines, latest) = (process.lines(), Arc::new(Mutex::new(None)));
        let heard = Arc::clone(&latest);
        thread::spawn(move || {
            for report in lines.filter_map(|line| Report::parse(&line)) {
                *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            }
        });
        Peer { latest, _process: process }
    }

    fn report(&self) -> Option<Report> {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The honest peers of one session.
struct Camp {
    name: &'static str,
    peers: Vec<Peer>,
    /// By which the first of them reaches the server.
    router: Router,
    /// What may come later.
    newcomer: Option<&'static str>,
}

impl Camp {
    fn gather(name: &'static str, peers: &[&str], newcomer: Option<&'static str>, server: SocketAddr) -> Camp {
        let mut camp = Camp { name, peers: Vec::new(), router: Router::before(server), newcomer };
        let began = Instant::now();
        for what in peers {
            let way = if camp.peers.is_empty() { camp.router.addr() } else { server };
            camp.peers.push(Peer::enter(what, way));
            // Who founds it comes first.
            while camp.peers[0].report().is_none() {
                thread::sleep(Duration::from_millis(20));
            }
        }
        while !camp.peers.iter().all(|peer| peer.report().is_some_and(|report| report.plays)) {
            assert!(began.elapsed() < GATHERS_WITHIN, "the peers of a {name} session do not come together");
            thread::sleep(Duration::from_millis(20));
        }
        camp
    }

    /// How long newcomers took to play, one after the other: half of them took longer.
    fn joins(&self, server: SocketAddr) -> Option<Duration> {
        let mut took: Vec<_> = (0..JOINS).map(|_| join(self.newcomer?, server)).collect::<Option<_>>()?;
        took.sort();
        Some(took[JOINS / 2])
    }

    fn reports(&self) -> Vec<Report> {
        self.peers.iter().map(|peer| peer.report().expect("it has played")).collect()
    }
}

/// How long a newcomer takes to play, if it ever does.
fn join(what: &str, server: SocketAddr) -> Option<Duration> {
    let (peer, began) = (Peer::enter(what, server), Instant::now());
    while began.elapsed() < GATHERS_WITHIN {
        if let Some(report) = peer.report().filter(|report| report.plays) {
            return Some(Duration::from_millis(report.at_ms));
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// What the worst of a camp's peers came to, each by its own clock.
struct Spell {
    ticks_per_s: f64,
    cpu_ms_per_s: f64,
    /// At its end.
    memory_kb: u64,
    out: usize,
}

impl Spell {
    fn between(before: &[Report], after: &[Report]) -> Spell {
        let rates = |of: fn(&Report) -> u64| {
            let pairs = before.iter().zip(after);
            pairs.map(move |(before, after)| {
                1_000.0 * (of(after) - of(before)) as f64 / (after.at_ms - before.at_ms).max(1) as f64
            })
        };
        Spell {
            ticks_per_s: rates(|report| report.tick).fold(f64::INFINITY, f64::min),
            cpu_ms_per_s: rates(|report| report.cpu_ms).fold(0.0, f64::max),
            memory_kb: after.iter().map(|report| report.memory_kb).max().unwrap_or(0),
            out: after.iter().filter(|report| !report.plays).count(),
        }
    }

    /// How long no ticks came, in so much time.
    fn stood_still(&self, time: Duration) -> Duration {
        time.saturating_sub(time.mul_f64(self.ticks_per_s / TICKS_PER_S))
    }
}

/// Lets a time pass, and tells how far it is. Connections to the server that go by these routers
/// are cut now and then.
fn pass(what: &str, time: Duration, cuts: &[&Router]) {
    let (began, is_seen) = (Instant::now(), std::io::stderr().is_terminal());
    let mut cut_at = CUT_INTERVAL;
    while let left = time.saturating_sub(began.elapsed())
        && !left.is_zero()
    {
        if began.elapsed() >= cut_at {
            cut_at += CUT_INTERVAL;
            cuts.iter().for_each(|router| router.break_down());
            cuts.iter().for_each(|router| router.mend());
        }
        if is_seen {
            eprint!("\r{what}: {:>3} s left ", left.as_secs());
        }
        thread::sleep(left.min(Duration::from_secs(1)));
    }
    if is_seen {
        eprint!("\r{:40}\r", "");
    }
}

/// For how many seconds they are to be besieged.
fn asked() -> Result<u64, String> {
    attack::are_known()?;
    let Ok(text) = std::env::var("SECONDS") else { return Ok(300) };
    let seconds = text.parse().ok().filter(|seconds| *seconds >= SECONDS_MIN);
    seconds.ok_or_else(|| format!("SECONDS is how long to besiege them, a whole number from {SECONDS_MIN} on"))
}

fn besiege() -> ExitCode {
    let seconds = match asked() {
        Ok(seconds) => seconds,
        Err(objection) => {
            eprintln!("{objection}.");
            return ExitCode::from(2);
        }
    };
    let siege = Duration::from_secs(seconds);
    let peace = siege / 5;
    let _ = std::fs::remove_file(REGISTER);
    let mut signaling = Process::start(&["serve", &ANY_PORT.to_string()]);
    let addr = signaling.lines().next().expect("it says where it serves");
    let server: SocketAddr = addr.parse().expect("an address");
    let traitors = [
        ("lies", Traitor::liar(server, "betrayed")),
        ("delays", Traitor::idler(server, "delayed")),
        ("gossip", Traitor::gossip(server, "slandered")),
        ("stories", Traitor::storyteller(server, "deceived")),
    ];
    let camps = [
        Camp::gather("party", &["party"; PEERS], Some("party"), server),
        Camp::gather("rollback", &["rollback"; PEERS], None, server),
        // With one who turns against them.
        Camp::gather("betrayed", &["betrayed"; PEERS - 1], None, server),
        // With one who stops giving inputs.
        Camp::gather("delayed", &["delayed"; PEERS - 1], None, server),
        // With one who tells one of them another story.
        Camp::gather("deceived", &["deceived"; PEERS - 1], None, server),
        // With one who speaks ill of them.
        Camp::gather("slandered", &["slandered"; PEERS - 1], None, server),
        Camp::gather("relay", &["relay", "replica", "replica", "replica", "replica"], Some("replica"), server),
    ];
    let reports = || camps.iter().map(Camp::reports).collect::<Vec<_>>();
    let joins = || camps.iter().map(|camp| camp.joins(server)).collect::<Vec<_>>();
    println!("{} attackers of each kind, {seconds} s, after {} s of peace", attack::ATTACKERS, peace.as_secs());
    pass("gathered", Duration::from_secs(3), &[]);
    let gathered = reports();
    pass("peace", peace, &[]);
    let (besieged, joins_in_peace) = (reports(), joins());
    let attackers = Process::start(&["attack", &addr]);
    traitors.iter().filter(|(way, _)| attack::is_wanted(way)).for_each(|(_, traitor)| traitor.betray());
    let is_cut = |_: &&Camp| attack::is_wanted("cuts");
    let cuts: Vec<_> = camps.iter().filter(is_cut).map(|camp| &camp.router).collect();
    pass("siege", peace, &cuts);
    let settled = reports();
    pass("siege", (siege - peace) / 2, &cuts);
    if attack::is_wanted("restarts") {
        drop(signaling);
        signaling = Process::start(&["serve", &addr]);
        signaling.lines().next().expect("it serves again");
    }
    pass("siege", (siege - peace) / 2, &cuts);
    let (ended, joins_in_siege) = (reports(), joins());
    let silenced = join("silenced", server);
    drop(attackers);

    println!(
        "The worst of each session's peers, in peace and under siege; memory after a fifth of it, and at its end:"
    );
    println!(
        "{:10} {:>8} {:>8}   {:>8} {:>8} {:>7}   {:>9} {:>9} {:>7} {:>4}",
        "", "ticks/s", "", "CPU ms/s", "", "ratio", "memory kB", "", "ratio", "out"
    );
    let held_up = camps.iter().position(|camp| camp.name == "delayed").expect("it is one of them");
    let mut missed = Vec::new();
    for (n, camp) in camps.iter().enumerate() {
        let peace = Spell::between(&gathered[n], &besieged[n]);
        let begun = Spell::between(&besieged[n], &settled[n]);
        let from = if n == held_up { &settled[n] } else { &besieged[n] };
        let siege = Spell::between(from, &ended[n]);
        let cpu = siege.cpu_ms_per_s / peace.cpu_ms_per_s;
        let memory = siege.memory_kb as f64 / begun.memory_kb as f64;
        println!(
            "{:10} {:>8.2} {:>8.2}   {:>8.1} {:>8.1} {cpu:>6.2}x   {:>9} {:>9} {memory:>6.2}x {:>4}",
            camp.name,
            peace.ticks_per_s,
            siege.ticks_per_s,
            peace.cpu_ms_per_s,
            siege.cpu_ms_per_s,
            begun.memory_kb,
            siege.memory_kb,
            siege.out
        );
        let limits = [
            ("ticks", siege.ticks_per_s >= TICKS_PER_S_MIN),
            ("CPU time", cpu <= CPU_MAX),
            ("memory", memory <= MEMORY_MAX),
            ("nobody out", siege.out == 0),
        ];
        missed.extend(limits.iter().filter(|(_, holds)| !holds).map(|(what, _)| format!("{} {what}", camp.name)));
    }
    for (n, camp) in camps.iter().enumerate().filter(|(_, camp)| camp.newcomer.is_some()) {
        let told = |took: Option<Duration>| took.map_or("never".into(), |took| format!("{:.2} s", took.as_secs_f64()));
        let (peace, siege) = (joins_in_peace[n], joins_in_siege[n]);
        if siege.is_none() {
            missed.push(format!("{} newcomers", camp.name));
        }
        println!("{:10} a newcomer plays after {}, besieged {}", camp.name, told(peace), told(siege));
    }
    match silenced {
        Some(took) => println!("silenced   who comes to a room of the silent plays after {:.2} s", took.as_secs_f64()),
        None => missed.push("silenced newcomers".to_owned()),
    }
    let stood = Spell::between(&besieged[held_up], &settled[held_up]).stood_still(peace);
    println!("delayed    stood still for {:.1} s, until who held it up was out", stood.as_secs_f64());
    let verdict = if missed.is_empty() { "all held".to_owned() } else { format!("missed: {}", missed.join(", ")) };
    println!(
        "Asked for: {TICKS_PER_S_MIN} ticks/s, CPU {CPU_MAX}x and memory {MEMORY_MAX}x at most, nobody out; {verdict}."
    );
    ExitCode::from(u8::from(!missed.is_empty()))
}
