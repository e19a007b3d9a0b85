//! A dishonest member, and a stranger, of a rollback session. What they send is well-formed, and sealed where it must be: every claim in it
//! is a lie. Nobody panics, lies are counted, honest players stay in step. `rollback_flood.rs` is about packets that are not well-formed.

mod support;

use lockstone_net::link::{Channel, LinkEvent, PeerId};
use lockstone_net::memory::{Driver, Weather};
use lockstone_net::session::{DropReason, EndReason, Event, Phase, Session};
use lockstone_net::wire::{self, *};
use lockstone_net::{Rollback, RollbackConfig, RollbackSettings};
use lockstone_sim::{Checksum, PlayerId, Tick};
use support::crafted;
use support::rollback::*;
use support::tap::{Kept, Room, Tap, listening_room};
use support::*;

/// The seat whose name lies are told in, and one that hears them.
const LIAR: usize = 2;
const FIRST: usize = 0;
const SECOND: usize = 1;
const EPOCH: Epoch = Epoch(0);

/// Three players who have played for two seconds, and their newest packets.
fn room_of_three() -> (Room, Kept) {
    let (mut room, kept) = listening_room(4, 3, Weather::clear(ms(20)), 8);
    play(&mut room, &mut Dice(4), secs(2));
    (room, kept)
}

fn hear<T: Session>(room: &mut Driver<T>, seat: usize, from: PeerId, bytes: Vec<u8>) {
    let now = room.now();
    room.seats[seat].session.handle(LinkEvent::Packet { from, channel: Channel::Reliable, bytes }, now);
}

fn say<T: Session>(room: &mut Driver<T>, from: usize, to: usize, message: Message) {
    let peer = room.peer(from);
    hear(room, to, peer, wire::encode(EPOCH, &message));
}

fn drops(room: &Driver<impl Session>, seat: usize, reason: DropReason) -> u64 {
    room.seats[seat].session.stats().drops.of(reason)
}

/// The newest inputs of one seat for another, with a number that none of its own packets has.
fn inputs(room: &Room, kept: &Kept, from: usize, to: usize, number: u32) -> Inputs {
    let kept = kept.borrow();
    let newest = kept[&(from, room.peer(to))].iter().rev().find_map(|packet| match wire::decode(packet) {
        Ok((EPOCH, Message::Inputs(inputs))) => Some(inputs),
        _ => None,
    });
    Inputs { stamp: Stamp { number, echo: None }, ..newest.expect("it has said something") }
}

/// All play, and go on at their pace.
fn go_on(room: &mut Driver<impl Session<Sim = Mixer>>, seats: &[usize]) {
    let settled = |room: &Driver<_>, seat: usize| Session::stats(&room.seats[seat].session).settled;
    let before: Vec<_> = seats.iter().map(|seat| settled(room, *seat)).collect();
    play(room, &mut Dice(5), secs(3));
    for (seat, before) in seats.iter().zip(before) {
        assert_eq!(room.seats[*seat].session.phase(), Phase::Playing, "seat {seat}");
        let played = settled(room, *seat).since(before);
        assert!(played >= 50, "seat {seat} played {played} ticks in 3 s");
    }
}

/// What some seats told is the same.
fn same_story(room: &Driver<impl Session<Sim = Mixer>>, seats: [usize; 2]) {
    let [a, b] = seats.map(|seat| Played::of(&room.seats[seat].events));
    assert!(assert_same(&a, &b, &format!("seats {seats:?}")) > 5);
}

fn list<T: std::fmt::Debug, const MAX: usize>(values: Vec<T>) -> List<T, MAX> {
    List::try_from(values).expect("fits")
}

fn pause(room: &mut Driver<impl Session>, for_ms: u64) {
    let until = room.now() + ms(for_ms);
    room.run_until(until);
}

#[test]
fn every_lie_about_inputs_is_dropped_by_its_reason() {
    type Lie = fn(&mut Inputs);
    let lies: [(&str, Lie, DropReason); 16] = [
        ("has inputs never given", |i| i.received = i.received.plus(30), DropReason::ForgedAck),
        ("has all inputs there can be", |i| i.received = Tick(u32::MAX), DropReason::ForgedAck),
        ("knows turns without inputs", |i| i.confirmed = i.received.next(), DropReason::ForgedAck),
        ("knows all turns there can be", |i| i.confirmed = Tick(u32::MAX), DropReason::ForgedAck),
        (
            "knows and has everything",
            |i| (i.confirmed, i.received) = (Tick(u32::MAX), Tick(u32::MAX)),
            DropReason::ForgedAck,
        ),
        ("begins 200 ticks ahead", |i| i.from = i.from.plus(200), DropReason::TooFarAhead),
        ("leaves one input out", |i| (i.from, i.inputs) = (i.end().next(), list(vec![None])), DropReason::TooFarAhead),
        ("begins at the last tick", |i| (i.from, i.inputs) = (Tick(u32::MAX), list(vec![])), DropReason::TooFarAhead),
        (
            "goes beyond the last tick",
            |i| (i.from, i.inputs) = (Tick(u32::MAX), list(vec![None])),
            DropReason::Malformed,
        ),
        ("as many inputs as a packet holds", |i| i.inputs = list(vec![None; 128]), DropReason::TooFarAhead),
        ("has nothing, and is far ahead", |i| (i.confirmed, i.received) = (Tick(0), Tick(0)), DropReason::TooFarAhead),
        (
            "a checksum of a tick that is not compared",
            |i| i.checksums = list(vec![(Tick(11), Checksum(0))]),
            DropReason::Unexpected,
        ),
        ("a checksum of the future", |i| i.checksums = list(vec![(Tick(10_000), Checksum(0))]), DropReason::Unexpected),
        (
            "a checksum of the last tick",
            |i| i.checksums = list(vec![(Tick(u32::MAX), Checksum(0))]),
            DropReason::Unexpected,
        ),
        (
            "a checksum of what it does not know",
            |i| {
                let (tick, checksum) = (Tick(10), Checksum(0));
                (i.confirmed, i.checksums) = (Tick(9), list(vec![(tick, checksum)]));
            },
            DropReason::Unexpected,
        ),
        ("a number that was there", |i| i.stamp.number = 9_000, DropReason::Replayed),
    ];
    let (mut room, kept) = room_of_three();
    let peer = room.peer(LIAR);
    let first = inputs(&room, &kept, LIAR, FIRST, 9_000).sealed(EPOCH);
    say(&mut room, LIAR, FIRST, Message::Inputs(first));
    for (n, (what, lie, reason)) in lies.into_iter().enumerate() {
        let mut lying = inputs(&room, &kept, LIAR, FIRST, 9_001 + n as u32);
        lie(&mut lying);
        let (before, all) = (drops(&room, FIRST, reason), room.seats[FIRST].session.stats().drops.total());
        hear(&mut room, FIRST, peer, wire::encode(EPOCH, &Message::Inputs(lying.sealed(EPOCH))));
        assert_eq!(drops(&room, FIRST, reason), before + 1, "{what}: {:?}", room.seats[FIRST].session.stats().drops);
        assert_eq!(room.seats[FIRST].session.stats().drops.total(), all + 1, "{what}");
        pause(&mut room, 60);
    }
    go_on(&mut room, &[0, 1, 2]);
    assert!(in_step(&room, 4) > 0);
}

#[test]
fn inputs_of_another_epoch_or_under_a_broken_seal_are_dropped() {
    let (mut room, kept) = room_of_three();
    let peer = room.peer(LIAR);
    let honest = inputs(&room, &kept, LIAR, FIRST, 9_000);
    for epoch in [Epoch(1), Epoch(u32::MAX)] {
        let packet = wire::encode(epoch, &Message::Inputs(honest.clone().sealed(epoch)));
        hear(&mut room, FIRST, peer, packet);
        // Sealed for one and sent in the other.
        hear(&mut room, FIRST, peer, wire::encode(epoch, &Message::Inputs(honest.clone().sealed(EPOCH))));
    }
    assert_eq!((drops(&room, FIRST, DropReason::StaleEpoch), drops(&room, FIRST, DropReason::Malformed)), (2, 2));
    say(&mut room, LIAR, FIRST, Message::Inputs(Inputs { behind_ticks: 7, ..honest.clone().sealed(EPOCH) }));
    say(&mut room, LIAR, FIRST, Message::Inputs(Inputs { seal: 0, ..honest }));
    assert_eq!(drops(&room, FIRST, DropReason::Malformed), 4);
    go_on(&mut room, &[0, 1, 2]);
    assert!(in_step(&room, 4) > 0);
}

#[test]
fn extreme_numbers_echoes_and_advantages_are_borne() {
    let (mut room, kept) = room_of_three();
    let echo = |number, held_ms| Some(Echo { number, held_ms });
    let stamps = [(u32::MAX, echo(u32::MAX, u16::MAX)), (u32::MAX - 1, echo(0, 0)), (1 << 31, echo(40, u16::MAX))];
    for (n, (number, echo)) in stamps.into_iter().enumerate() {
        let behind_ticks = [i16::MIN, i16::MAX, i16::MIN][n];
        let stamp = Stamp { number, echo };
        let extreme = Inputs { stamp, behind_ticks, ..inputs(&room, &kept, LIAR, FIRST, 0) };
        say(&mut room, LIAR, FIRST, Message::Inputs(extreme.sealed(EPOCH)));
        play(&mut room, &mut Dice(n as u64), ms(300));
    }
    assert_eq!(room.seats[FIRST].session.stats().drops.total(), 0);
    let stats = room.seats[FIRST].session.stats();
    let rtt = stats.players[LIAR].exchange.as_ref().and_then(|exchange| exchange.rtt).expect("it was measured");
    assert!(rtt <= ms(60), "{rtt:?}");
    go_on(&mut room, &[0, 1, 2]);
    assert!(in_step(&room, 4) > 0);
}

#[test]
fn who_claims_to_be_far_behind_slows_the_others_by_a_quarter_at_most() {
    for behind_ticks in [i16::MIN, i16::MAX] {
        let mut room = liars_room(6, &settings(6), move |_, inputs| Some(Inputs { behind_ticks, ..inputs }));
        play(&mut room, &mut Dice(6), secs(2));
        let before = room.seats[FIRST].session.stats().settled;
        play(&mut room, &mut Dice(7), secs(10));
        let played = room.seats[FIRST].session.stats().settled.since(before);
        println!("behind by {behind_ticks}: {played} ticks in 10 s");
        assert!(played >= 145, "{behind_ticks}: {played} ticks in 10 s");
        assert!(in_step(&room, 6) > 0);
    }
}

/// Three players. What the third sends is altered on its way, the same for all; its own checksums and findings do not count.
fn liars_room(
    seed: u64,
    settings: &RollbackSettings,
    mut alter: impl FnMut(PeerId, Inputs) -> Option<Inputs> + 'static,
) -> Room {
    let weather = Weather { jitter: ms(10), loss_permille: 20, ..Weather::clear(ms(30)) };
    let mut alter = Some(move |packet: lockstone_net::session::Transmit| {
        let (epoch, message) = wire::decode(&packet.bytes).expect("it was honest");
        let message = match message {
            Message::Inputs(inputs) => Message::Inputs(alter(packet.to, inputs)?.sealed(epoch)),
            Message::Desync(_) => return None,
            other => other,
        };
        Some(lockstone_net::session::Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
    let settings = RollbackSettings { stop_on_desync: false, ..settings.clone() };
    room_of(seed, 3, weather, &settings, |seat, session: Rollback<Mixer>| match (seat, alter.take()) {
        (LIAR, Some(hand)) => Tap::new(session, hand),
        (_, hand) => {
            alter = hand;
            Tap::new(session, Some)
        }
    })
}

#[test]
fn commands_that_cannot_be_read_are_passed_over_by_all_alike() {
    let mut room = liars_room(8, &settings(8), |_, inputs| {
        let spoilt = inputs.inputs.iter().map(|input| input.as_ref().map(|_| list(vec![255; 12]))).collect();
        Some(Inputs { inputs: list(spoilt), checksums: List::default(), ..inputs })
    });
    play(&mut room, &mut Dice(8), secs(6));
    for seat in [FIRST, SECOND] {
        assert!(drops(&room, seat, DropReason::BadCommand) > 10, "{:?}", room.seats[seat].session.stats().drops);
        let turns = Played::of(&room.seats[seat].events).turns;
        assert!(turns.values().all(|turn| commands_of(turn, PlayerId(LIAR as u16)).count() == 0));
        let exchange = room.seats[seat].session.stats().players[1 - seat].exchange.clone().expect("it is another");
        assert_eq!(exchange.desyncs, 0);
        assert!(exchange.checksums_compared > 5);
    }
    same_story(&room, [FIRST, SECOND]);
    go_on(&mut room, &[FIRST, SECOND]);
}

/// Seeds with which a liar's packets are altered at random.
const LIARS: u64 = 24;

#[test]
fn honest_players_stay_in_step_whatever_a_liar_claims_and_go_on_without_it() {
    for seed in 0..LIARS {
        println!("seed {seed}");
        let mut lies = Dice(seed ^ 0x11e5);
        // Each other seed with as much room for lies as settings give.
        let extreme = RollbackSettings { max_prediction_ticks: 30, input_delay_ticks: 20, ..settings(seed) };
        let settings = if seed % 2 == 0 { settings(seed) } else { extreme };
        let mut room = liars_room(seed, &settings, move |_, inputs| Some(claim(inputs, &mut lies)));
        let mut dice = Dice(seed);
        play(&mut room, &mut dice, secs(6));
        same_in_pairs(&room, seed);
        kill(&mut room, LIAR, true);
        play(&mut room, &mut dice, secs(3));
        go_on(&mut room, &[FIRST, SECOND]);
        same_in_pairs(&room, seed);
        for seat in &room.seats {
            assert_eq!(seat.session.stats().rollback.expect("it predicts").regroupings, 1, "seed {seed}");
        }
    }
}

/// The honest ones agree with each other.
fn same_in_pairs(room: &Room, seed: u64) {
    let [a, b] = [FIRST, SECOND].map(|seat| Played::of(&room.seats[seat].events));
    assert_same(&a, &b, &format!("seed {seed}"));
    for seat in [FIRST, SECOND] {
        let stats = room.seats[seat].session.stats();
        let exchange = stats.players.iter().find(|player| !player.own).and_then(|player| player.exchange.as_ref());
        assert_eq!(exchange.expect("it is another").desyncs, 0, "seed {seed}: seat {seat}");
        assert!(room.seats[seat].events.iter().all(|event| !matches!(event, Event::Desync { .. })), "seed {seed}");
    }
}

/// Inputs as they are, and one or two lies about them.
fn claim(mut inputs: Inputs, dice: &mut Dice) -> Inputs {
    for _ in 0..dice.roll(3) {
        let near = |tick: Tick, dice: &mut Dice| Tick((tick.0 + dice.roll(41) as u32).saturating_sub(20));
        match dice.roll(9) {
            0 => inputs.confirmed = near(inputs.confirmed, dice),
            1 => inputs.received = near(inputs.received, dice),
            2 => inputs.from = Tick(inputs.from.0.saturating_add(150 + dice.roll(1 << 33) as u32)),
            3 => inputs.behind_ticks = dice.roll(1 << 16) as u16 as i16,
            4 => inputs.stamp.number = dice.roll(1 << 32) as u32,
            5 => {
                let (number, held_ms) = (dice.roll(1 << 32) as u32, dice.roll(1 << 16) as u16);
                inputs.stamp.echo = Some(Echo { number, held_ms });
            }
            6 => inputs.checksums = list(vec![(Tick(1 + 10 * dice.roll(1_000) as u32), Checksum(dice.roll(9)))]),
            7 => (inputs.confirmed, inputs.received) = (inputs.received, Tick(inputs.received.0.saturating_add(2))),
            _ => inputs.checksums = List::default(),
        }
    }
    inputs
}

#[test]
fn a_forged_checksum_is_told_once_by_each_who_hears_it() {
    // The first player's world counts: it goes on without who differs. The others only tell it.
    for (hearer, players_left) in [(FIRST, 2), (SECOND, 3)] {
        let (mut room, kept) = room_of_three();
        for n in 0..3 {
            let mut forged = inputs(&room, &kept, LIAR, hearer, 9_000 + n);
            let tick = Tick(forged.confirmed.0 / 10 * 10);
            forged.checksums = list(vec![(tick, Checksum(13 + u64::from(n)))]);
            say(&mut room, LIAR, hearer, Message::Inputs(forged.sealed(EPOCH)));
            play(&mut room, &mut Dice(n.into()), secs(1));
        }
        let told = |seat: usize| {
            let of = |event: &Event<Mixer>| match event {
                Event::Desync { player, .. } => Some(player.0),
                _ => None,
            };
            room.seats[seat].events.iter().filter_map(of).collect::<Vec<_>>()
        };
        assert_eq!(told(hearer), [LIAR as u16], "once");
        assert_eq!(told(LIAR), [hearer as u16], "and on the other side");
        assert!(told(1 - hearer).is_empty());
        assert_eq!(room.seats[hearer].session.simulation().expect("it plays").heroes(), players_left);
        same_story(&room, [FIRST, SECOND]);
        go_on(&mut room, &[FIRST, SECOND]);
        let removed = ended(&room.seats[LIAR].session) == Some(EndReason::Desync);
        assert_eq!(removed, hearer == FIRST);
    }
}

/// Nothing has happened to the session.
fn undisturbed(room: &mut Room, what: &str) {
    go_on(room, &[0, 1, 2]);
    for seat in &room.seats {
        assert_eq!(seat.session.stats().rollback.expect("it predicts").regroupings, 0, "{what}");
        assert_eq!(seat.session.stats().players.len(), 3, "{what}");
        let fine = |event: &Event<Mixer>| {
            matches!(
                event,
                Event::Started { .. } | Event::Turn { .. } | Event::Checksum { .. } | Event::PlayerJoined { .. }
            )
        };
        assert!(seat.events.iter().all(fine), "{what}");
    }
    assert!(in_step(room, 4) > 0);
}

fn regroup(gone: &[u16], confirmed: u32) -> Message {
    let gone = gone.iter().map(|player| (PlayerId(*player), LeaveReason::Silent)).collect();
    Message::Regroup(Regroup { gone: list(gone), confirmed: Tick(confirmed) })
}

#[test]
fn a_stand_that_names_nobody_or_nobody_known_stops_nothing() {
    for (gone, reason) in [
        (&[][..], DropReason::Malformed),
        (&[77], DropReason::Unexpected),
        (&[LIAR as u16, 77], DropReason::Unexpected),
    ] {
        for confirmed in [0, 30, u32::MAX] {
            let (mut room, _) = room_of_three();
            say(&mut room, LIAR, FIRST, regroup(gone, confirmed));
            assert_eq!(room.seats[FIRST].session.stats().drops.total(), 1, "{gone:?} {confirmed}");
            assert_eq!(drops(&room, FIRST, reason), 1, "{gone:?} {confirmed}");
            undisturbed(&mut room, &format!("{gone:?} are gone, {confirmed} confirmed"));
        }
    }
}

#[test]
fn a_stand_before_what_is_settled_or_of_another_epoch_stops_nothing() {
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, regroup(&[SECOND as u16], 0));
    assert_eq!(drops(&room, FIRST, DropReason::ForgedAck), 1);
    let peer = room.peer(LIAR);
    for (gone, epoch) in [(SECOND, 1), (FIRST, u32::MAX)] {
        hear(&mut room, FIRST, peer, wire::encode(Epoch(epoch), &regroup(&[gone as u16], 40)));
    }
    assert_eq!(drops(&room, FIRST, DropReason::StaleEpoch), 2);
    undisturbed(&mut room, "old stands");
}

#[test]
fn who_says_to_be_gone_is_gone_and_the_others_go_on() {
    for confirmed in [40, u32::MAX] {
        let (mut room, _) = room_of_three();
        say(&mut room, LIAR, FIRST, regroup(&[LIAR as u16], confirmed));
        pause(&mut room, 500);
        go_on(&mut room, &[FIRST, SECOND]);
        same_story(&room, [FIRST, SECOND]);
        assert_eq!(room.seats[FIRST].session.simulation().expect("it plays").heroes(), 2);
    }
}

#[test]
fn who_is_accused_is_left_out_whoever_accuses() {
    // Every player's word on who is gone counts: there is no telling who lies.
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, regroup(&[SECOND as u16], u32::MAX));
    pause(&mut room, 500);
    go_on(&mut room, &[FIRST, LIAR]);
    same_story(&room, [FIRST, LIAR]);
    let (mut room, _) = room_of_three();
    say(&mut room, LIAR, FIRST, regroup(&[FIRST as u16], u32::MAX));
    assert_eq!(ended(&room.seats[FIRST].session), Some(EndReason::Removed(LeaveReason::Silent)));
    pause(&mut room, 2_000);
    go_on(&mut room, &[SECOND, LIAR]);
    same_story(&room, [SECOND, LIAR]);
}

/// After a loss, somebody says in the old epoch that somebody unknown is gone too.
#[test]
fn a_late_stand_that_names_nobody_known_does_not_stop_the_next_epoch() {
    let (mut room, _) = room_of_three();
    kill(&mut room, SECOND, false);
    pause(&mut room, 45);
    let (first, last) = (0, 1);
    assert_eq!(room.seats[first].session.stats().rollback.expect("it predicts").regroupings, 1, "it has just gone on");
    say(&mut room, last, first, regroup(&[SECOND as u16, 77], u32::MAX));
    assert_eq!(drops(&room, first, DropReason::Unexpected), 1);
    go_on(&mut room, &[first, last]);
    assert!(in_step(&room, 4) > 0);
}

/// One message of each kind that has no place in a session in progress.
fn misplaced() -> Vec<Message> {
    let member =
        |n: u128| Member { peer: PeerId(n << 64), name: Name::new("Eve").expect("a name"), hero: list(vec![0; 3]) };
    vec![
        Message::Refusal(Refusal::Begun),
        Message::Refusal(Refusal::Hero),
        Message::Elsewhere(PeerId(9)),
        Message::Welcome(Welcome {
            player: PlayerId(0),
            sequencer: PlayerId(9),
            seed: 0,
            tick: Tick(u32::MAX),
            snapshot_bytes: 1 << 26,
            snapshot_digest: 0,
            roster: List::default(),
        }),
        Message::Chunk(list(vec![0; 16_384])),
        Message::ChunkAck(u32::MAX),
        Message::Ready,
        Message::Turns(Turns { ticks: 4_096, ..Turns::default() }),
        Message::Report(Report { known: Tick(u32::MAX), ..Report::default() }),
        Message::Ending,
        Message::Gathering(255, 0),
        Message::Form(Form { seed: 1, members: list(vec![member(0), member(1), member(2), member(3)]) }),
    ]
}

/// What counts if a member says it.
fn words() -> Vec<Message> {
    let notice = DesyncNotice { tick: Tick(u32::MAX), agreed: Some(Tick(7)), ours: Checksum(1), theirs: Checksum(2) };
    vec![
        Message::Bye(LeaveReason::Left),
        Message::Removed(LeaveReason::Silent),
        Message::Removed(LeaveReason::Desync),
        Message::Desync(notice),
        Message::Inputs(Inputs { behind_ticks: 1, ..Inputs::default() }.sealed(EPOCH)),
        regroup(&[0, 1, 2], u32::MAX),
    ]
}

/// As a player of the same game says it.
fn hello(name: &str) -> Message {
    let terms = RollbackConfig::new(RollbackSettings { players: 3, ..settings(4) }).expect("in range").terms(IDENTITY);
    Message::Hello(Hello {
        protocol: PROTOCOL_VERSION,
        terms,
        name: Name::new(name).expect("a name"),
        hero: list(vec![7, 9]),
    })
}

#[test]
fn what_a_member_says_out_of_place_is_dropped() {
    let (mut room, _) = room_of_three();
    for (n, message) in misplaced().into_iter().chain([hello("again")]).enumerate() {
        for to in [FIRST, SECOND] {
            say(&mut room, LIAR, to, message.clone());
            assert_eq!(drops(&room, to, DropReason::Unexpected), n as u64 + 1, "{message:?}");
        }
    }
    undisturbed(&mut room, "out of place");
}

#[test]
fn the_words_of_a_member_count_and_leave_the_others_in_step() {
    for message in words() {
        let (mut room, _) = room_of_three();
        say(&mut room, LIAR, SECOND, message.clone());
        pause(&mut room, 2_500);
        let left: Vec<usize> = (0..3).filter(|seat| ended(&room.seats[*seat].session).is_none()).collect();
        println!("{message:?}: {left:?} go on");
        assert!(left.len() >= 2, "{message:?}");
        go_on(&mut room, &left);
        same_story(&room, [FIRST, if left.contains(&SECOND) { SECOND } else { LIAR }]);
        let told = room.seats[SECOND].events.iter().filter(|event| matches!(event, Event::Desync { .. })).count();
        assert_eq!(told, usize::from(matches!(message, Message::Desync(_))), "{message:?}");
    }
}

#[test]
fn a_stranger_does_not_disturb_a_session() {
    let (mut room, _) = room_of_three();
    let link = room.network.enter();
    let stranger = link.peer();
    pause(&mut room, 50);
    let all: Vec<Message> = misplaced().into_iter().chain(words()).collect();
    for message in &all {
        for to in 0..3 {
            for epoch in [EPOCH, Epoch(1), Epoch(u32::MAX)] {
                hear(&mut room, to, stranger, wire::encode(epoch, message));
            }
        }
        pause(&mut room, 70);
    }
    for packet in crafted::packets() {
        hear(&mut room, FIRST, stranger, packet);
    }
    for seat in 0..3 {
        // The seal does not fit to other epochs.
        let unknown = 3 * all.len() as u64 - 2;
        assert_eq!(drops(&room, seat, DropReason::UnknownPeer), unknown);
    }
    undisturbed(&mut room, "a stranger");
    // It knocks as loudly as it may: each player answers once.
    for _ in 0..1_000 {
        hear(&mut room, SECOND, stranger, wire::encode(EPOCH, &hello("Eve")));
    }
    pause(&mut room, 50);
    let refused = room.seats[SECOND].events.iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!((refused, drops(&room, SECOND, DropReason::Unexpected)), (1, 999));
    go_on(&mut room, &[0, 1, 2]);
}
