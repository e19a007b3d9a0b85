//! A member, or a stranger, sends far more than anyone honest, or what it has no right to say. What
//! is too much is dropped and counted; the others play on as if nothing were.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use lockstone_net::PlayerKey;
use lockstone_net::limits::{COMMANDS_PER_TURN_MAX, PACKETS_PER_S_MAX};
use lockstone_net::link::{Channel, Link, PeerId};
use lockstone_net::memory::{Driver, MemoryLink, Weather};
use lockstone_net::party::{Party, PartySettings};
use lockstone_net::session::{DropReason, Event, Session, Stats};
use lockstone_net::wire::{self, *};
use lockstone_sim::{PlayerId, Tick};
use peak_alloc::PeakAlloc;
use testkit::seeds;
use testkit::sessions::rollback::commands_of;
use testkit::sessions::*;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
static ALONE: Mutex<()> = Mutex::new(());

const TEST: &str = "-p lockstone-net --test floods";
const DELAY: Duration = ms(50);
const PERIOD: Duration = ms(50);
const PEERS: usize = 5;
const TIME: Duration = secs(6);
/// The last of the members floods, if no stranger does. With the two before it there are more than
/// half.
const LIAR: usize = PEERS - 1;
const COMMANDS_PER_TICK: usize = 400;
const PACKETS_PER_S: u32 = 10_000;
const PACKETS_PER_TICK: u32 = PACKETS_PER_S / 20;
/// How much the others may be held up: so many ticks less, and a stall of so long.
const TICKS_LESS_MAX: u32 = 8;
const STALL_MORE_MAX: Duration = ms(400);
const DELAY_MORE_MAX_TICKS: u32 = 8;
/// Once a member may have voted alone, all vote for their leader again: so often a minute.
const VOTES_MORE_MAX: u32 = 3;
/// What a flood may leave behind in each peer.
const KEPT_BYTES_MAX: usize = 256 * 1024;

type Room = Driver<Party<Mixer>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flood {
    None,
    /// Commands by the thousand, in reports.
    Commands,
    /// Bytes that mean nothing, and some that begin as a message does.
    Garbage,
    /// Doubts and votes for anyone, in the epochs that come.
    Stands,
    /// Votes, and votes of others, that nobody signed.
    FalseVotes,
    /// Messages that only who leads may send, or only a member.
    Forgeries,
}

/// Who sends it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Stranger,
    Member,
    /// More than half of the members: the control.
    Most,
}

/// What was seen of one who had no part in it.
#[derive(Clone, Debug)]
struct Seen {
    ticks: u32,
    stats: Stats,
}

/// What comes with one tick, to one receiver.
fn packets(flood: Flood, room: &Room, speaker: Option<usize>, number: &mut u32, dice: &mut Dice) -> Vec<Vec<u8>> {
    let stats = room.seats[0].session.stats();
    let (epoch, known, branch) = (stats.epoch, stats.known, stats.branch);
    let mut next = || {
        *number += 1;
        *number
    };
    match flood {
        Flood::None => Vec::new(),
        Flood::Commands => {
            let report = |number: u32| {
                let commands = (0..32).map(|_| list(vec![(number % 250) as u8])).collect();
                let (stamp, first_command) = (Stamp { number: 1_000_000 + number, echo: None }, (number - 1) * 32);
                let report = Report { stamp, known, first_command, commands: list(commands), ..Report::default() };
                wire::encode(epoch, &Message::Report(report))
            };
            (0..COMMANDS_PER_TICK.div_ceil(32)).map(|_| report(next())).collect()
        }
        Flood::Garbage => {
            let garbage = |dice: &mut Dice| {
                let len = dice.roll(200) as usize;
                let mut bytes: Vec<_> = (0..len).map(|_| dice.roll(256) as u8).collect();
                // Of the session's epoch, and of a kind that there is.
                if dice.roll(2) == 0 && len > 1 {
                    (bytes[0], bytes[1]) = (epoch.0 as u8, dice.roll(36) as u8);
                }
                bytes
            };
            (0..PACKETS_PER_TICK).map(|_| garbage(dice)).collect()
        }
        Flood::Stands => {
            let stand = |dice: &mut Dice| {
                let later = Epoch(epoch.0 + dice.roll(5) as u32);
                let leader = PlayerId(dice.roll(PEERS as u64) as u16);
                let known = Known { epoch: later, end: known.plus(dice.roll(1_000) as u32), branch, leader };
                let doubts = (dice.roll(2) == 0).then_some(Epoch(later.0 + 1));
                Stand { doubts, ..Stand::of(Vote { epoch: later, leader }, known) }
            };
            let message = |dice: &mut Dice| wire::encode(Epoch(0), &Message::Stand(stand(dice)));
            (0..PACKETS_PER_TICK).map(|_| message(dice)).collect()
        }
        Flood::FalseVotes => {
            let proof = |dice: &mut Dice| Proof([dice.roll(256) as u8; 32], [dice.roll(256) as u8; 32]);
            let message = |dice: &mut Dice, number: u32| {
                let vote = Vote { epoch: Epoch(epoch.0 + 1 + number % 100), leader: PlayerId(1) };
                let (from, leader) = (Known { epoch, end: known, branch, leader: PlayerId(0) }, PlayerId(1));
                let votes = (0..PEERS as u16).map(|player| (PlayerId(player), proof(dice))).collect();
                match number % 3 {
                    0 => {
                        let stand = Stand { proof: Some(proof(dice)), ..Stand::of(vote, from) };
                        (Epoch(0), Message::Stand(stand))
                    }
                    1 => {
                        let votes = [(leader, proof(dice)), (PlayerId(2), proof(dice))];
                        (Epoch(0), Message::TwoVotes(TwoVotes { voter: PlayerId(0), epoch: vote.epoch, votes }))
                    }
                    _ => {
                        let (before, gone) = (list(vec![]), list(vec![]));
                        (epoch, Message::Lead(Lead { from, before, gone, votes: list(votes) }))
                    }
                }
            };
            let mut packets = Vec::new();
            for _ in 0..PACKETS_PER_TICK {
                let (epoch, message) = message(dice, next());
                packets.push(wire::encode(epoch, &message));
            }
            packets
        }
        Flood::Forgeries => {
            let leader = PlayerId(speaker.unwrap_or(LIAR) as u16);
            let (later, rank) = (Epoch(epoch.0 + 1), Rank { members: 16, age: u8::MAX, branch });
            let from = Known { epoch, end: known, branch, leader };
            let lead = Lead { from, ..Lead::default() };
            let turns = Turns { from: known, ticks: 8, ..Turns::default() };
            let stand = Stand::of(Vote { epoch: later, leader }, from);
            let forged = [
                (epoch, Message::Lead(lead.clone())),
                (later, Message::Lead(lead)),
                (Epoch(0), Message::Stand(stand)),
                (epoch, Message::Turns(turns.clone())),
                (later, Message::Turns(turns.clone())),
                (epoch, Message::Fetched(turns)),
                (epoch, Message::Fetch(Tick(0))),
                (epoch, Message::Removed(LeaveReason::Yielded)),
                (epoch, Message::Ending),
                (Epoch(0), Message::Elsewhere(room.peer(LIAR))),
                (Epoch(0), Message::Meet(Meet { ours: rank, yours: Some(rank) })),
                (epoch, Message::Repair(None)),
                (epoch, Message::Survey(Survey { tick: known, disputed: known })),
                (Epoch(0), Message::Inquiry(Inquiry::default())),
            ];
            let all: Vec<_> = forged.iter().map(|(epoch, message)| wire::encode(*epoch, message)).collect();
            all.iter().cycle().take(PACKETS_PER_TICK as usize).cloned().collect()
        }
    }
}

/// All play for a while, and somebody floods. Returns what those saw who had no part in it, the
/// sequencer first, and how much is kept by all of them.
fn play(seed: u64, flood: Flood, by: By, keyed: bool) -> (Vec<Seen>, usize) {
    let mut dice = Dice(seed);
    let settings = PartySettings { players_at_start: PEERS, seed, ..PartySettings::default() };
    let parties = (0..PEERS).map(|n| {
        let party = party(settings.clone(), &format!("player {n}"));
        if keyed { party.with_key(PlayerKey::from_bytes([n as u8 + 1; 32])) } else { party }
    });
    let mut room: Room = gather(seed, Weather { jitter: ms(10), ..Weather::clear(DELAY) }, parties, |_, link| link);
    let mut stranger = room.network.enter();
    let until = room.now() + secs(2);
    room.run_until(until);
    let liars: &[usize] = if by == By::Most { &[LIAR - 2, LIAR - 1, LIAR] } else { &[LIAR] };
    let others = 0..liars[0];
    let kept_before = kept(&mut room, &mut stranger);
    let before: Vec<_> = others.clone().map(|seat| room.seats[seat].session.settled()).collect();

    let (end, mut number, mut tick) = (room.now() + TIME, 0, 0_u64);
    while room.now() < end {
        for liar in liars {
            for to in others.clone() {
                let (speaker, peer) = ((by != By::Stranger).then_some(*liar), room.peer(to));
                let sent = number;
                for bytes in packets(flood, &room, speaker, &mut number, &mut dice) {
                    send(&mut room, &mut stranger, speaker, peer, bytes);
                }
                // Each is told the same commands.
                number = if to + 1 < others.end { sent } else { number };
            }
        }
        // Everyone else gives a command now and then.
        let seat = dice.roll(others.end as u64) as usize;
        if tick % 4 == 0 {
            room.seats[seat].session.command(tick << 20 | seat as u64).expect("it plays");
        }
        let until = room.now() + PERIOD;
        room.run_until(until);
        tick += 1;
        while stranger.poll().is_some() {}
    }
    let ticks = |seat: usize| room.seats[seat].session.settled().since(before[seat]);
    let seen: Vec<_> =
        others.map(|seat| Seen { ticks: ticks(seat), stats: room.seats[seat].session.stats() }).collect();
    assert_sound(&room, liars[0], by, seed);
    let until = room.now() + secs(2);
    room.run_until(until);
    (seen, kept(&mut room, &mut stranger).saturating_sub(kept_before))
}

/// What is in use, once nothing is under way and what was told is forgotten.
fn kept(room: &mut Room, stranger: &mut MemoryLink) -> usize {
    while stranger.poll().is_some() {}
    room.seats.iter_mut().for_each(|seat| seat.events.clear());
    MEMORY.current_usage()
}

fn send(room: &mut Room, stranger: &mut MemoryLink, speaker: Option<usize>, to: PeerId, bytes: Vec<u8>) {
    match speaker {
        Some(seat) => room.seats[seat].link.send(to, Channel::Unreliable, bytes),
        None => stranger.send(to, Channel::Unreliable, bytes),
    }
}

/// Nobody honest was put out, and all of them played the same, with no more commands in a turn than
/// one player may have.
fn assert_sound(room: &Room, others: usize, by: By, seed: u64) {
    let first = Played::of(&room.seats[0].events);
    for seat in 0..others {
        let gone = |event: &&Event<Mixer>| match event {
            Event::PlayerLeft { player, .. } | Event::PlayerAway { player, .. } => (player.0 as usize) < others,
            _ => false,
        };
        if by != By::Most {
            assert_eq!(room.seats[seat].events.iter().find(gone).map(|_| ()), None, "seed {seed}: seat {seat}");
            let phase = room.seats[seat].session.phase();
            assert!(playing(&room.seats[seat].session), "seed {seed}: seat {seat}, {phase:?}");
        }
        assert_same(&first, &Played::of(&room.seats[seat].events), &format!("seed {seed}"));
    }
    let most = first.turns.values().map(|turn| commands_of(turn, PlayerId(LIAR as u16)).count()).max();
    assert!(most.unwrap_or(0) <= COMMANDS_PER_TURN_MAX, "seed {seed}: {most:?} commands in a turn");
}

/// How the others were harmed, if they were, beside those whom nobody flooded. `votes`: how often
/// they may have voted again.
fn harm(calm: &[Seen], flooded: &[Seen], votes: u32) -> Option<String> {
    calm.iter().zip(flooded).enumerate().find_map(|(seat, (calm, flooded))| {
        let (a, b) = (&calm.stats, &flooded.stats);
        let ok = flooded.ticks + TICKS_LESS_MAX >= calm.ticks
            && b.takeovers <= a.takeovers + votes
            && b.stalls.longest <= a.stalls.longest + STALL_MORE_MAX
            && b.delay.max_ticks <= a.delay.max_ticks + DELAY_MORE_MAX_TICKS
            && b.sequencer() == a.sequencer();
        (!ok).then(|| {
            let told = |seen: &Seen| {
                let Stats { takeovers, stalls, delay, .. } = &seen.stats;
                format!("{} ticks, {takeovers} takeovers, {stalls:?}, {delay:?}", seen.ticks)
            };
            format!("seat {seat}: {}, without the flood {}", told(flooded), told(calm))
        })
    })
}

/// Of so many packets all but so many were dropped.
fn dropped(seen: &Seen, reasons: &[DropReason]) -> u64 {
    reasons.iter().map(|reason| seen.stats.drops.of(*reason)).sum()
}

fn unharmed(flood: Flood, by: By, dropped_min: u64, reasons: &[DropReason]) {
    // What is in use counts for the whole process.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let default = if (flood, by) == (Flood::Stands, By::Member) { 5 } else { 2 };
    let figures = seeds::each(TEST, default, |seed| {
        let keyed = flood == Flood::FalseVotes;
        let (calm, _) = play(seed, Flood::None, by, keyed);
        let (flooded, kept) = play(seed, flood, by, keyed);
        let votes = matches!((flood, by), (Flood::Stands | Flood::Forgeries, By::Member));
        if let Some(harm) = harm(&calm, &flooded, u32::from(votes) * VOTES_MORE_MAX) {
            panic!("seed {seed}, {flood:?} by {by:?}: {harm}");
        }
        assert!(kept < PEERS * KEPT_BYTES_MAX, "seed {seed}, {flood:?} by {by:?}: {kept} bytes are kept");
        let drops = flooded.iter().map(|seen| dropped(seen, reasons)).min().expect("there are others");
        assert!(drops >= dropped_min, "seed {seed}, {flood:?} by {by:?}: {:?}", flooded[0].stats.drops);
        (drops, kept)
    });
    let (drops, kept): (Vec<_>, Vec<_>) = figures.into_iter().unzip();
    println!(
        "{flood:?} by {by:?}: at least {:?} dropped by each, at most {:?} bytes kept",
        drops.iter().min(),
        kept.iter().max()
    );
}

/// What is beyond the rate, of so many packets a second: half of a second's may come at once more,
/// and the last are still under way.
const BEYOND_RATE: u64 = (PACKETS_PER_S - PACKETS_PER_S_MAX) as u64 * TIME.as_secs()
    - (PACKETS_PER_S_MAX * 3 / 2 + 2 * PACKETS_PER_TICK) as u64;

#[test]
fn four_hundred_commands_a_tick_fill_no_turn() {
    use DropReason::{CommandFlood, UnknownPeer};
    // Reports are for the sequencer alone.
    unharmed(Flood::Commands, By::Member, 100 * TIME.as_secs(), &[CommandFlood, UnknownPeer]);
    unharmed(Flood::Commands, By::Stranger, 100 * TIME.as_secs(), &[UnknownPeer]);
}

#[test]
fn ten_thousand_packets_of_garbage_a_second_are_dropped() {
    // Among it is a key that does not fit the connection: who says that is not heard any more.
    for by in [By::Stranger, By::Member] {
        unharmed(Flood::Garbage, by, BEYOND_RATE, &[DropReason::OverRate, DropReason::UnknownPeer]);
    }
}

#[test]
fn ten_thousand_stands_a_second_unseat_nobody() {
    for by in [By::Stranger, By::Member] {
        unharmed(Flood::Stands, by, BEYOND_RATE, &[DropReason::OverRate]);
    }
}

/// Of few of them a signature is looked at.
#[test]
fn ten_thousand_votes_a_second_that_nobody_signed_unseat_nobody() {
    for by in [By::Stranger, By::Member] {
        unharmed(Flood::FalseVotes, by, BEYOND_RATE, &[DropReason::OverRate]);
    }
    unharmed(Flood::FalseVotes, By::Member, 300 * TIME.as_secs(), &[DropReason::BadVote]);
}

#[test]
fn who_does_not_lead_cannot_speak_as_who_leads() {
    for by in [By::Stranger, By::Member] {
        unharmed(Flood::Forgeries, by, BEYOND_RATE, &[DropReason::OverRate]);
    }
}

/// The control of what is measured: if more than half of the members doubt all the time, the
/// sequencer is unseated, and the others wait.
#[test]
fn more_than_half_of_the_members_harm_the_others() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (calm, _) = play(1, Flood::None, By::Most, false);
    let (flooded, _) = play(1, Flood::Stands, By::Most, false);
    assert!(harm(&calm, &flooded, VOTES_MORE_MAX).is_some());
}
