//! Players whom only a TURN server joins: no packet of one comes to another. The server is coturn,
//! at signaling's host, and signaling lets them in there.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lockstone_net::matchbox::Turn;
use lockstone_net::signaling::{Handle, Server, TurnServer};
use testkit::coturn::Coturn;
use tungstenite::Message;

use super::apart::Site;
use super::network::{Network, between};
use super::party::{Player, SECOND, assert_one_world};
use super::peers::*;

/// The TURN server and its user for players' processes: its address, the user's name and password.
const TURN: &str = "LOCKSTONE_TEST_TURN";
/// The TURN server that signaling knows: its address and secret.
const LENT: &str = "LOCKSTONE_TEST_TURN_SECRET";
const SECRET: &str = "north by north-east";

/// The words of a variable.
fn words(variable: &str) -> Option<Vec<String>> {
    Some(std::env::var(variable).ok()?.splitn(3, ' ').map(str::to_owned).collect())
}

/// The server that this process is told to use.
pub fn named() -> Option<Turn> {
    let [url, user, password] = words(TURN)?.try_into().expect("three words");
    Some(Turn { url, user, password })
}

/// Serves signaling, which knows the server that this process is told to let peers use.
pub fn serve_at(addr: SocketAddr) -> Handle {
    let server = until("the address to be free", || Server::bind(addr).ok());
    let server = match words(LENT) {
        Some(words) => server.with_turn(TurnServer::new(&words[0], &words[1..].join(" "))),
        None => server,
    };
    server.spawn().unwrap()
}

/// Players' hosts that lose each other, and a last one with coturn, and with signaling that knows
/// this secret.
fn site_of_test(name: &str, server_host: u8, secret: &str) -> Option<(Site, Coturn)> {
    let network = Network::of_test(name, server_host + 1)?;
    let mut there = Command::new("nsenter");
    there.arg(format!("--net=/run/netns/host{server_host}"));
    let coturn = Coturn::start(there, network.address(server_host).into(), 3478, SECRET)?;
    let mut signaling = network.program(server_host);
    signaling.env(LENT, format!("{} {secret}", url(&network, server_host)));
    let players: Vec<u8> = (0..server_host).collect();
    network.lose(&between(&players, &players));
    Some((Site::in_network(network, server_host, signaling), coturn))
}

fn url(network: &Network, host: u8) -> String {
    format!("turn:{}:3478", network.address(host))
}

#[test]
fn two_players_whom_only_turn_joins_play_in_step() {
    let name = "turn::two_players_whom_only_turn_joins_play_in_step";
    let Some((site, _coturn)) = site_of_test(name, 2, SECRET) else { return };
    let begun = Instant::now();
    let mut apart = site.party(0..2);
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

/// One joiner has credentials that have ended, another those of a signaling server with a wrong
/// secret.
#[test]
fn a_turn_server_that_lets_nobody_in_is_named() {
    let name = "turn::a_turn_server_that_lets_nobody_in_is_named";
    let Some((site, _coturn)) = site_of_test(name, 3, "south by south-west") else { return };
    let url = url(&site.network, site.server_host);
    let Turn { user, password, .. } = TurnServer::new(&url, SECRET).credentials("ada", UNIX_EPOCH);
    let mut ended = site.network.program(1);
    ended.env(TURN, format!("{url} {user} {password}"));
    let mut apart = site.party(0..1);
    let asked = Instant::now();
    apart.party.enter(site.server, "of-0", ended);
    apart.party.enter(site.server, "of-0", site.network.program(2));
    let all_end = |players: &[Player]| players[1..].iter().all(|player| !player.heard(asked, "ended at").is_empty());
    let takes = apart.party.until("the joiners to end", all_end);
    for player in &apart.party.players[1..] {
        println!("{}: {:?} after {takes:?}", player.id, player.news.last());
        assert!(!player.heard(asked, "Turn { refused: true }").is_empty(), "{}", apart.party.told());
    }
}

/// A server that lends a TURN server, with credentials that end after so long.
fn lending(lifetime: Duration) -> Handle {
    let turn = TurnServer::new("turn:turn.example.org:3478", SECRET).with_lifetime(lifetime);
    Server::bind(ANY_PORT).unwrap().with_turn(turn).spawn().unwrap()
}

/// What the server says first to whoever enters.
fn enter(server: SocketAddr, path: &str) -> Result<(Raw, String), Box<tungstenite::Error>> {
    let (mut socket, _) = tungstenite::connect(format!("ws://{server}/{path}"))?;
    let said = says(&mut socket);
    Ok((socket, said))
}

fn says(socket: &mut Raw) -> String {
    let Message::Text(text) = socket.read().unwrap() else { panic!("no text") };
    text.to_string()
}

#[test]
fn who_is_let_in_and_asks_is_lent_turn_before_its_id_and_nobody_else_is() {
    let server = lending(Duration::from_secs(3_600));
    let addr = server.local_addr();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (mut socket, said) = enter(addr, "r?key=k&turn").unwrap();
    let told: serde_json::Value = serde_json::from_str(&said).unwrap();
    let turn: Turn = serde_json::from_value(told["Turn"].clone()).unwrap();
    assert_eq!(turn.url, "turn:turn.example.org:3478");
    let (until, name) = turn.user.split_once(':').unwrap();
    let until: u64 = until.parse().unwrap();
    assert!((now + 3_600..=now + 3_630).contains(&until), "{until} of {now}");
    assert!(says(&mut socket).contains(name), "the id comes next, and is the name");

    let (_unasked, said) = enter(addr, "r?key=k").unwrap();
    assert!(said.contains("IdAssigned"), "matchbox's own clients know nothing of it: {said}");
    assert!(enter(addr, "r?key=l&turn").is_err(), "another key");
    assert_eq!(server.figures().turn_credentials, Some(1));
    assert!(server.figures().exposition().contains("\nlockstone_turn_credentials_total 1\n"));
    let (_plain, said) = enter(serve().local_addr(), "r?turn").unwrap();
    assert!(said.contains("IdAssigned"), "a server without TURN lends none: {said}");
}

#[test]
fn who_stays_is_lent_turn_anew_before_it_ends() {
    let server = lending(Duration::from_secs(2));
    let (mut socket, first) = enter(server.local_addr(), "r?turn").unwrap();
    assert!(says(&mut socket).contains("IdAssigned"));
    let second = says(&mut socket);
    assert!(second.starts_with(r#"{"Turn""#) && second != first, "{first}, then {second}");
}
