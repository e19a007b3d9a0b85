//! The peer that closes a party's ticks is gone while another joins, at any moment of that: the
//! others play on as ever, and the joiner gets in, with one hero.

use core::time::Duration;

use lockstone_net::PlayerKey;
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{Phase, Session};
use lockstone_sim::Tick;
use testkit::seeds::{self, spread};
use testkit::sessions::*;

const TEST: &str = "-p lockstone-net --test virtual_time takeover_join::";
const DELAY: Duration = ms(50);
/// Worlds of one chunk, and of more than are under way at once.
const CELLS: [usize; 3] = [1_000, 16_000, 48_000];
/// On the joiner's line a world takes about a second.
const LINE_BYTES_PER_CELL_S: u32 = 9;
/// From the joiner's first packet until its hero is in the world: the time in which the sequencer
/// is gone.
const JOIN_MS: u64 = 2_000;
const OTHERS_WITHIN: Duration = secs(2);
const JOINER_WITHIN: Duration = secs(5);

type Room = Driver<Party<Mixer>>;

/// How the sequencer goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gone {
    /// Its process stands still for good, and nobody is told.
    Silently,
    /// Its process is killed, and the carrier says so.
    Killed,
    /// It says goodbye.
    Left,
    /// Another with it: those who are left are no quorum.
    WithAnother,
}

/// Who they are, and what world they play in.
#[derive(Clone, Copy)]
struct Members {
    keyed: bool,
    /// For how long heroes wait for their players.
    away_ticks: u32,
    cells: usize,
}

impl Members {
    fn any(dice: &mut Dice) -> Members {
        let cells = CELLS[dice.roll(CELLS.len() as u64) as usize];
        Members { keyed: dice.roll(2) == 0, away_ticks: dice.roll(2) as u32 * 1_200, cells }
    }

    fn party(self, n: usize) -> Party<Mixer> {
        let build = move |seed| Mixer::new(seed, self.cells).keeping(self.away_ticks);
        let party = party_of(PartySettings::default(), IDENTITY, &format!("player {n}"), build);
        if self.keyed { party.with_key(PlayerKey::from_bytes([n as u8; 32])) } else { party }
    }
}

fn known(room: &Room, seats: &[usize]) -> Tick {
    seats.iter().map(|seat| room.seats[*seat].session.stats().known).max().expect("there are seats")
}

/// The sequencer of `peers` is gone so long after another began to join. Returns how long the
/// others waited for the next turn, and the joiner for its hero, and how far it had come.
fn join(seed: u64, peers: usize, gone: Gone, dice: &mut Dice) -> Result<(Duration, Duration, Phase), String> {
    let members = Members::any(dice);
    let parties = (0..peers).map(|n| members.party(n));
    let mut room = gather(seed, Weather::clear(DELAY), parties, |_, link| link);
    let until = room.now() + ms(500 + dice.roll(1_000));
    room.run_until(until);
    let joiner = room.enter(members.party(peers));
    for seat in 0..peers {
        let bytes_per_s = Some(20_000 + LINE_BYTES_PER_CELL_S * members.cells as u32);
        let line = Weather { line_bytes_per_s: bytes_per_s, ..Weather::clear(DELAY) };
        room.network.set_direction(room.peer(seat), room.peer(joiner), Some(line));
    }
    let until = room.now() + ms(dice.roll(JOIN_MS));
    room.run_until(until);
    let phase = room.seats[joiner].session.phase();

    let (at, sequencer) = (room.now(), room.peer(0));
    if gone == Gone::Left {
        room.seats[0].session.leave(at);
        room.run_until(at + ms(1));
    }
    room.seats[0].freeze(Duration::MAX);
    if matches!(gone, Gone::Killed | Gone::Left) {
        room.network.drop_peer(sequencer);
    }
    if gone == Gone::WithAnother {
        room.seats[1].freeze(Duration::MAX);
    }
    let others: Vec<_> = (1 + usize::from(gone == Gone::WithAnother)..peers).collect();
    // What it had sent still arrives.
    room.run_until(at + 2 * DELAY);
    let before = known(&room, &others);
    room.run_while(at + JOINER_WITHIN, |room| known(room, &others) <= before);
    let others_waited = room.now() - at;
    let waits = |room: &Room| !playing(&room.seats[joiner].session) || !plays_with(room, others[0]);
    if room.run_while(at + 3 * JOINER_WITHIN, |room| waits(room)) {
        let joiner_waited = (room.now() - at).max(ms(1));
        settle(&mut room, dice, &others, joiner, seed);
        match (others_waited, joiner_waited) {
            (others, _) if others >= OTHERS_WITHIN => Err(format!("the others waited for {others:?}")),
            (_, joiner) if joiner >= JOINER_WITHIN => Err(format!("the joiner waited for {joiner:?}, {phase:?}")),
            (others, joiner) => Ok((others, joiner, phase)),
        }
    } else {
        Err(format!("the joiner is not in: {:?}", room.seats[joiner].session.phase()))
    }
}

/// Whether a seat plays with the joiner.
fn plays_with(room: &Room, seat: usize) -> bool {
    let joiner = format!("player {}", room.seats.len() - 1);
    room.seats[seat].session.stats().players.iter().any(|player| player.name == joiner)
}

/// All play on, in one world, with one hero each.
fn settle(room: &mut Room, dice: &mut Dice, others: &[usize], joiner: usize, seed: u64) {
    let all: Vec<_> = others.iter().copied().chain([joiner]).collect();
    for _ in 0..20 {
        let until = room.now() + ms(100);
        room.run_until(until);
        for seat in &all {
            room.seats[*seat].session.command(dice.roll(1 << 40)).expect("it plays");
        }
    }
    let until = room.now() + secs(1);
    room.run_until(until);
    for seat in &all {
        let session = &room.seats[*seat].session;
        assert!(playing(session), "seed {seed}: seat {seat}, {:?}", session.phase());
        let (stats, world) = (session.stats(), session.simulation().expect("it plays"));
        let mut names: Vec<_> = stats.players.iter().map(|player| player.name.clone()).collect();
        names.extend(stats.away.iter().filter_map(|(_, name)| name.clone()));
        names.sort();
        let heroes = world.state.heroes.len();
        assert_eq!(stats.players.len() + stats.away.len(), heroes, "seed {seed}: seat {seat} sees {names:?}");
        let named = names.len();
        names.dedup();
        assert_eq!(names.len(), named, "seed {seed}: seat {seat} sees a second hero of one: {names:?}");
        assert!(!world.nonsense, "seed {seed}: seat {seat}");
        assert_eq!(stats.commands_pending, 0, "seed {seed}: seat {seat}");
    }
    let played: Vec<_> = all.iter().map(|seat| Played::of(&room.seats[*seat].events)).collect();
    for other in &played[1..] {
        assert!(assert_same(&played[0], other, &format!("seed {seed}")) > 2);
    }
}

#[test]
fn the_sequencer_is_gone_while_another_joins() {
    let took = seeds::each(TEST, 24, |seed| {
        let mut dice = Dice(seed);
        let gone = [Gone::Silently, Gone::Killed, Gone::Left][dice.roll(3) as usize];
        // Of two the other goes on at once only if it is told.
        let peers = (3 - usize::from(gone != Gone::Silently)) + dice.roll(3) as usize;
        join(seed, peers, gone, &mut dice).unwrap_or_else(|why| panic!("seed {seed}, {peers} peers, {gone:?}: {why}"))
    });
    let loading = took.iter().filter(|(.., phase)| matches!(phase, Phase::Loading { .. })).count();
    println!("{} joins, {loading} of them while the world was under way", took.len());
    println!("the others waited: {}", spread(took.iter().map(|took| took.0).collect()));
    println!("the joiner waited: {}", spread(took.iter().map(|took| took.1).collect()));
}

/// The control of what is measured: without a quorum the others wait, and so does the joiner.
#[test]
fn without_a_quorum_nobody_gets_in_so_soon() {
    let outcome = join(1, 4, Gone::WithAnother, &mut Dice(1));
    assert!(outcome.is_err(), "{outcome:?}");
}
