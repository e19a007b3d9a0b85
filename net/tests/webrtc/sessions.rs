//! Sessions over WebRTC whose signaling server is restarted, or whose peers lose it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lockstone_net::limits::signaling::{AWAITED_FOR, OFFERS_WITHIN};
use lockstone_net::matchbox::{Config, MatchboxLink, RoomRole};
use lockstone_net::party::PartySettings;
use lockstone_net::session::{Event, Phase, Transmit};
use lockstone_net::wire::{self, Epoch};
use lockstone_net::{Link, LinkEvent, Party, RollbackSettings};
use lockstone_sim::PlayerId;
use testkit::router::Router;
use testkit::sessions::rollback::rollback;
use testkit::sessions::*;

use super::peers::*;

/// A session and its link, in real time.
pub struct Player<T: Session> {
    pub link: MatchboxLink,
    pub session: T,
    pub events: Vec<Event<T::Sim>>,
    /// Through which all passes that it sends.
    pub hand: Box<dyn FnMut(Transmit) -> Option<Transmit>>,
    /// The epochs of all that it sent.
    epochs: BTreeSet<Epoch>,
    /// Whether the way to the signaling server is lost, and how often it was.
    is_away: bool,
    losses: u32,
    began: Instant,
}

impl<T: Session> Player<T> {
    pub fn enter(server: SocketAddr, room: &str, session: T) -> Player<T> {
        Player::enter_as(RoomRole::Peer, server, room, session)
    }

    pub fn enter_as(role: RoomRole, server: SocketAddr, room: &str, session: T) -> Player<T> {
        Player::enter_by(Config { role, ..Config::default() }, server, room, session)
    }

    /// In a room of a server, and for the rest as the configuration says.
    pub fn enter_by(config: Config, server: SocketAddr, room: &str, session: T) -> Player<T> {
        let config = Config { url: format!("ws://{server}"), room: room.to_owned(), ..config };
        let (link, began) = (MatchboxLink::open(config), Instant::now());
        let (events, hand) = (Vec::new(), Box::new(Some));
        Player { link, session, events, hand, epochs: BTreeSet::new(), is_away: false, losses: 0, began }
    }

    pub fn advance(&mut self) {
        let now = self.began.elapsed();
        while let Some(event) = self.link.poll() {
            match event {
                LinkEvent::SignalingLost(_) => (self.is_away, self.losses) = (true, self.losses + 1),
                LinkEvent::SignalingBack => self.is_away = false,
                _ => {}
            }
            self.session.handle(event, now);
        }
        self.session.advance(now);
        let packets = core::iter::from_fn(|| self.session.poll_transmit());
        for packet in packets.filter_map(&mut self.hand) {
            self.epochs.extend(wire::decode(&packet.bytes).map(|(epoch, _)| epoch));
            self.link.send(packet.to, packet.channel, packet.bytes);
        }
        self.events.extend(core::iter::from_fn(|| self.session.poll_event()));
    }
}

/// Advances all until something is true of all.
pub fn all<T: Session<Sim = Mixer>>(what: &str, players: &mut [Player<T>], wanted: impl Fn(&Player<T>) -> bool) {
    let advance = || {
        players.iter_mut().for_each(Player::advance);
        players.iter().all(&wanted).then_some(())
    };
    if look(advance).is_none() {
        let told = |player: &Player<T>| format!("{:?}, away: {}", player.session.stats(), player.is_away);
        panic!("waited in vain: {what}\n{}", players.iter().map(told).collect::<Vec<_>>().join("\n"));
    }
}

/// Plays for so many ticks.
pub fn play<T: Session<Sim = Mixer>>(players: &mut [Player<T>], ticks: u32) {
    let begin = players.iter().map(|player| player.session.stats().tick).max().unwrap();
    all("ticks", players, |player| player.session.stats().tick >= begin.plus(ticks));
}

/// Nobody left, nobody was away, nobody else led, and all have one world.
pub fn assert_undisturbed<T: Session<Sim = Mixer>>(players: &[Player<T>]) {
    for player in players {
        let gone = |event: &&Event<Mixer>| matches!(event, Event::PlayerLeft { .. } | Event::PlayerAway { .. });
        assert_eq!(player.events.iter().find(gone).map(|event| format!("{event:?}")), None);
        assert_eq!(player.epochs, BTreeSet::from([Epoch(0)]));
        assert_eq!(player.session.phase(), Phase::Playing);
        assert_eq!(player.session.stats().desyncs, 0);
    }
    let played: Vec<_> = players.iter().map(|player| Played::of(&player.events)).collect();
    assert!(played[1..].iter().all(|other| assert_same(&played[0], other, "over WebRTC") > 10));
}

pub fn party_at(server: SocketAddr, name: &str) -> Player<Party<Mixer>> {
    Player::enter(server, "party", party(PartySettings::default(), name))
}

/// A party whose members find the server at these addresses.
pub fn party_of_three(servers: [SocketAddr; 3]) -> Vec<Player<Party<Mixer>>> {
    let mut players = Vec::new();
    for (server, name) in servers.into_iter().zip(["Ada", "Bram", "Cleo"]) {
        players.push(party_at(server, name));
        all("to play", &mut players, |player| playing(&player.session));
    }
    play(&mut players, 10);
    players
}

fn joined(players: &mut [Player<Party<Mixer>>], since: Instant) {
    let takes = join(players, since);
    assert!(takes < JOINED_WITHIN, "{takes:?}");
}

/// Until all play together.
pub fn join(players: &mut [Player<Party<Mixer>>], since: Instant) -> Duration {
    let count = players.len();
    all("all to play together", players, |player| {
        playing(&player.session) && player.session.stats().players.len() == count
    });
    println!("joined after {:?}", since.elapsed());
    since.elapsed()
}

#[test]
fn a_party_goes_on_while_its_server_is_restarted_and_is_joined_afterwards() {
    let server = serve();
    let addr = server.local_addr();
    let mut players = party_of_three([addr; 3]);
    drop(server);
    all("word of it", &mut players, |player| player.is_away);
    play(&mut players, 40);
    let _server = serve_at(addr);
    let back = Instant::now();
    players.push(party_at(addr, "Dirk"));
    joined(&mut players, back);
    play(&mut players, 20);
    assert_undisturbed(&players[..3]);
    assert_eq!(players[3].session.stats().sequencer(), Some(PlayerId(0)));
}

/// They say nothing to each other by the server: their connections live on.
fn come_back_one_by_one(order: [usize; 3]) {
    let server = serve();
    let addr = server.local_addr();
    let routers = [(); 3].map(|()| Router::before(addr));
    let mut players = party_of_three(routers.each_ref().map(Router::addr));
    routers.iter().for_each(Router::break_down);
    drop(server);
    all("word of it", &mut players, |player| player.is_away);
    let _server = serve_at(addr);
    for seat in order {
        routers[seat].mend();
        until("it to be back", || {
            players.iter_mut().for_each(Player::advance);
            (!players[seat].is_away).then_some(())
        });
    }
    // For longer than who was there has to offer a newcomer a connection.
    let back = Instant::now();
    until("time to pass", || {
        players.iter_mut().for_each(Player::advance);
        (back.elapsed() > OFFERS_WITHIN + Duration::from_secs(2)).then_some(())
    });
    assert_eq!(players.iter().map(|player| player.losses).collect::<Vec<_>>(), [1; 3]);
    let began = Instant::now();
    players.push(party_at(addr, "Dirk"));
    joined(&mut players, began);
    assert_undisturbed(&players[..3]);
}

#[test]
fn members_who_come_back_the_founder_first_put_nobody_out() {
    come_back_one_by_one([0, 1, 2]);
}

#[test]
fn members_who_come_back_the_founder_last_put_nobody_out() {
    come_back_one_by_one([2, 1, 0]);
}

/// The newcomer is the first in the room: it founds a session of its own, and gives it up.
#[test]
fn who_comes_before_the_members_are_back_joins_them() {
    let server = serve();
    let addr = server.local_addr();
    let router = Router::before(addr);
    let mut players = party_of_three([router.addr(); 3]);
    router.break_down();
    drop(server);
    all("word of it", &mut players, |player| player.is_away);
    let _server = serve_at(addr);
    players.push(party_at(addr, "Dirk"));
    all("to found", &mut players, |player| playing(&player.session));
    assert_eq!(players[3].session.stats().player, Some(PlayerId(0)));
    router.mend();
    all("to be back", &mut players, |player| !player.is_away);
    joined(&mut players, Instant::now());
    play(&mut players, 20);
    assert_undisturbed(&players[..3]);
    assert_eq!(players[3].session.stats().player, Some(PlayerId(3)));
}

/// Two newcomers come to a server as soon as it is started again, and the members a second later.
/// It must have ended: a room that all leave before that is nobody's.
fn two_come_first(players: &mut Vec<Player<Party<Mixer>>>, routers: &Router, start: impl FnOnce()) -> Instant {
    routers.break_down();
    start();
    let returned = Instant::now();
    all("word of it", players, |player| player.is_away);
    for name in ["Dirk", "Elsa"] {
        players.push(party_at(routers.server(), name));
    }
    until("a second", || {
        players.iter_mut().for_each(Player::advance);
        (returned.elapsed() > Duration::from_secs(1)).then_some(())
    });
    routers.mend();
    returned
}

/// Also if the server has lost what it knew.
#[test]
fn two_who_come_before_the_members_are_back_join_them() {
    for loses_all in [false, true] {
        let file = RoomsFile::new("two-come-first");
        let server = file.serve_at(ANY_PORT);
        let addr = server.local_addr();
        let router = Router::before(addr);
        let mut players = party_of_three([router.addr(); 3]);
        let mut again = None;
        drop(server);
        if loses_all {
            file.lose();
        }
        let returned = two_come_first(&mut players, &router, || again = Some(file.serve_at(addr)));
        joined(&mut players, returned);
        play(&mut players, 20);
        assert_undisturbed(&players[..3]);
        let newcomers = players[3..].iter().map(|player| player.session.stats().player);
        assert_eq!(newcomers.collect::<BTreeSet<_>>(), [3, 4].map(|n| Some(PlayerId(n))).into());
    }
}

/// The control: these two are a session of their own, and yield to nobody.
#[test]
fn a_server_that_forgets_lets_two_found_another_session() {
    let server = serve();
    let addr = server.local_addr();
    let router = Router::before(addr);
    let mut players = party_of_three([router.addr(); 3]);
    let mut again = None;
    drop(server);
    two_come_first(&mut players, &router, || again = Some(serve_at(addr)));
    all("all to have played together or not", &mut players, |player| {
        playing(&player.session) && !player.is_away && player.session.stats().tick.0 > 100
    });
    assert!(players[3..].iter().all(|player| player.session.stats().players.len() == 2));
}

/// Nobody is back: who comes does not wait for long.
#[test]
fn a_room_whose_members_have_all_gone_is_founded_again() {
    let file = RoomsFile::new("all-have-gone");
    let server = file.serve_at(ANY_PORT);
    let addr = server.local_addr();
    let members = party_of_three([addr; 3]);
    drop(server);
    drop(members);
    let _server = file.serve_at(addr);
    let returned = Instant::now();
    // Nobody was in another.
    let _another = raw(addr, "another").unwrap();
    assert!(returned.elapsed() < Duration::from_secs(1));
    let mut players = vec![party_at(addr, "Dirk"), party_at(addr, "Elsa")];
    let takes = join(&mut players, returned);
    assert!(takes < AWAITED_FOR + Duration::from_secs(2), "{takes:?}");
}

/// Of the sequencer, and of another.
#[test]
fn a_party_goes_on_while_one_websocket_is_broken() {
    for seat in [0, 2] {
        let server = serve();
        let router = Router::before(server.local_addr());
        let mut addrs = [server.local_addr(); 3];
        addrs[seat] = router.addr();
        let mut players = party_of_three(addrs);
        router.break_down();
        until("word of it", || {
            players.iter_mut().for_each(Player::advance);
            players[seat].is_away.then_some(())
        });
        play(&mut players, 60);
        router.mend();
        let mended = Instant::now();
        all("to be back", &mut players, |player| !player.is_away);
        players.push(party_at(server.local_addr(), "Dirk"));
        joined(&mut players, mended);
        play(&mut players, 20);
        assert_undisturbed(&players[..3]);
    }
}

#[test]
fn a_rollback_session_goes_on_whole() {
    let server = serve();
    let addr = server.local_addr();
    let router = Router::before(addr);
    let settings = RollbackSettings { players: 3, ..RollbackSettings::default() };
    let player = |server, name| {
        let session = rollback(settings.clone(), name, |seed| Mixer::new(seed, 64));
        Player::enter(server, "rollback", session)
    };
    let mut players = vec![player(addr, "Ada"), player(router.addr(), "Bram"), player(addr, "Cleo")];
    all("to play", &mut players, |player| playing(&player.session));
    play(&mut players, 20);
    router.break_down();
    until("word of it", || {
        players.iter_mut().for_each(Player::advance);
        players[1].is_away.then_some(())
    });
    play(&mut players, 60);
    drop(server);
    all("word of it", &mut players, |player| player.is_away);
    play(&mut players, 40);
    let _server = serve_at(addr);
    router.mend();
    all("to be back", &mut players, |player| !player.is_away);
    play(&mut players, 40);
    assert_undisturbed(&players);
}
