//! Two players whom only a TURN server joins: no packet of one comes to the other. The server is
//! coturn, at signaling's host.

use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use lockstone_net::matchbox::Turn;

use super::apart::Site;
use super::network::between;
use super::party::{SECOND, assert_one_world};

/// The TURN server and its user for players' processes: its address, the user's name and password.
const TURN: &str = "LOCKSTONE_TEST_TURN";
const USER: &str = "ada";
const PASSWORD: &str = "a secret of hers";
/// Two players, and a server.
const SERVER: u8 = 2;

/// The server that this process is told to use.
pub fn named() -> Option<Turn> {
    let named = std::env::var(TURN).ok()?;
    let mut words = named.splitn(3, ' ').map(str::to_owned);
    Some(Turn { url: words.next()?, user: words.next()?, password: words.next()? })
}

/// It is killed when this is dropped.
struct Coturn(Child);

impl Coturn {
    /// At a host of the site. None where the machine has none.
    fn start(site: &Site) -> Option<Coturn> {
        let address = site.network.address(SERVER);
        let mut server = Command::new("nsenter");
        server.arg(format!("--net=/run/netns/host{SERVER}")).args(["turnserver", "-n", "--no-cli", "--no-tls"]);
        server.args(["--no-dtls", "--lt-cred-mech", "--realm=lockstone", "--pidfile=/dev/null", "--log-file=stdout"]);
        server.arg(format!("--listening-ip={address}")).arg(format!("--relay-ip={address}"));
        server.arg(format!("--user={USER}:{PASSWORD}")).stdin(Stdio::null()).stdout(Stdio::piped());
        let is_there = Command::new("turnserver").arg("--version").output().is_ok();
        if !is_there {
            assert!(std::env::var_os("CI").is_none(), "this test needs a TURN server: apt-get install coturn");
            let _ = writeln!(stderr(), "SKIPPED: there is no coturn to reach each other by");
            return None;
        }
        let mut coturn = server.spawn().map(Coturn).expect("nsenter runs");
        let mut told = BufReader::new(coturn.0.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let listens = told.any(|line| line.contains("Total General servers"));
        assert!(listens, "it listens");
        // It goes on telling, and must not wait for a reader.
        std::thread::spawn(move || told.for_each(drop));
        Some(coturn)
    }
}

impl Drop for Coturn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A player's program that knows the server by a password.
fn program(site: &Site, host: u8, password: &str) -> Command {
    let mut program = site.network.program(host);
    program.env(TURN, format!("turn:{}:3478 {USER} {password}", site.network.address(SERVER)));
    program
}

#[test]
fn two_players_whom_only_turn_joins_play_in_step() {
    let Some(site) = Site::of_test("turn::two_players_whom_only_turn_joins_play_in_step", SERVER) else { return };
    let Some(_coturn) = Coturn::start(&site) else { return };
    site.network.lose(&between(&[0], &[1]));
    let begun = Instant::now();
    let mut apart = site.party_of((0..SERVER).map(|host| program(&site, host, PASSWORD)), 0..SERVER);
    println!("two behind TURN: together after {:?}", begun.elapsed());
    let whole = Instant::now();
    apart.party.pass(60 * SECOND);
    assert_one_world(&apart.party.players, whole, 0);
    for player in &apart.party.players {
        let stall = player.stall(whole);
        println!("two behind TURN: {} stood still for {stall:?} at most in 60 s", player.id);
        assert!(stall < SECOND);
    }
}

#[test]
fn a_turn_server_that_lets_nobody_in_is_named() {
    let Some(site) = Site::of_test("turn::a_turn_server_that_lets_nobody_in_is_named", SERVER) else { return };
    let Some(_coturn) = Coturn::start(&site) else { return };
    site.network.lose(&between(&[0], &[1]));
    let mut apart = site.party_of([program(&site, 0, "another")], 0..1);
    let asked = Instant::now();
    apart.party.enter(site.server, "of-0", program(&site, 1, "another"));
    let takes = apart.party.until("the joiner to end", |players| !players[1].heard(asked, "ended at").is_empty());
    println!("a wrong password: {:?} after {takes:?}", apart.party.players[1].news.last());
    assert!(!apart.party.players[1].heard(asked, "Turn").is_empty(), "{}", apart.party.told());
}
