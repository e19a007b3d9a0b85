//! A dishonest member, and a stranger, of a rollback session. What they send is well-formed, and
//! sealed where it must be: every claim in it is a lie. Nobody panics, lies are counted, honest
//! players stay in step. `rollback_flood.rs` is about packets that are not well-formed,
//! `rollback/words.rs` about what is said out of place.

use lockstone_net::RollbackSettings;
use lockstone_net::limits::EVIDENCE_GIVE_TIME;
use lockstone_net::link::PeerId;
use lockstone_net::memory::Weather;
use lockstone_net::session::{DropReason, EndReason, Event, Session, Transmit};
use lockstone_net::wire::{self, *};
use lockstone_sim::{Checksum, PlayerId, Tick};
use proptest::prelude::*;
use testkit::sessions::hostile::*;
use testkit::sessions::rollback::*;
use testkit::sessions::tap::{Room, Tap};
use testkit::sessions::*;

#[test]
fn every_lie_about_inputs_is_dropped_by_its_reason() {
    type Lie = fn(&mut Inputs);
    let lies: [(&str, Lie, DropReason); 17] = [
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
        ("knows nothing, and is far ahead", |i| i.confirmed = Tick(0), DropReason::TooFarAhead),
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
                let next = Tick(i.confirmed.0 / 10 * 10 + 10);
                i.checksums = list(vec![(next, Checksum(0))]);
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
    let rtt = stats.players[LIAR].exchange.as_ref().and_then(|exchange| exchange.rtt()).expect("it was measured");
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

/// Three players. What the third sends is altered on its way, the same for all; its own checksums
/// and findings do not count.
fn liars_room(
    seed: u64,
    settings: &RollbackSettings,
    mut alter: impl FnMut(PeerId, Inputs) -> Option<Inputs> + 'static,
) -> Room {
    let weather = Weather { jitter: ms(10), loss_permille: 20, ..Weather::clear(ms(30)) };
    let mut alter = Some(move |packet: Transmit| {
        let (epoch, message) = wire::decode(&packet.bytes).expect("it was honest");
        let message = match message {
            Message::Inputs(inputs) => Message::Inputs(alter(packet.to, inputs)?.sealed(epoch)),
            Message::Desync(_) => return None,
            other => other,
        };
        Some(Transmit { bytes: wire::encode(epoch, &message), ..packet })
    });
    let settings = RollbackSettings { stop_on_desync: false, ..settings.clone() };
    room_by(seed, 3, weather, &settings, |seat, link| match (seat, alter.take()) {
        (LIAR, Some(hand)) => Tap::new(link, hand),
        (_, hand) => {
            alter = hand;
            Tap::idle(link)
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
fn who_tells_one_player_a_forged_checksum_puts_nobody_out() {
    for (liar, hearer) in [(LIAR, FIRST), (LIAR, SECOND), (FIRST, SECOND), (FIRST, LIAR)] {
        let mut room = lied_to(liar, &[hearer]);
        let told = |seat: usize| accused(&room, seat);
        assert_eq!(told(hearer), [liar as u16], "once");
        assert_eq!(told(liar), [hearer as u16], "and on the other side");
        assert!(told(3 - liar - hearer).is_empty());
        go_on(&mut room, &[0, 1, 2]);
        same_story(&room, [hearer, 3 - liar - hearer]);
    }
}

/// The honest do not differ.
#[test]
fn who_tells_all_others_forged_checksums_is_out_be_it_the_first_player() {
    for liar in 0..3 {
        let honest: Vec<_> = (0..3).filter(|seat| *seat != liar).collect();
        let mut room = lied_to(liar, &honest);
        go_on(&mut room, &honest);
        for seat in &honest {
            assert_eq!(accused(&room, *seat), [liar as u16], "once");
            assert_eq!(room.seats[*seat].session.simulation().expect("it plays").state.heroes.len(), 2);
            let stats = room.seats[*seat].session.stats();
            assert!(stats.desyncs > 0 && stats.acquitted == stats.desyncs, "{stats:?}");
        }
        same_story(&room, [honest[0], honest[1]]);
        // A peer that is out of step waits for its application to give evidence, which
        // here never comes.
        play(&mut room, &mut Dice(6), EVIDENCE_GIVE_TIME);
        assert_eq!(ended(&room.seats[liar].session), Some(EndReason::Desync));
    }
}

/// One of three tells some others false checksums, three times.
fn lied_to(liar: usize, hearers: &[usize]) -> Room {
    let (mut room, kept) = room_of_three();
    for n in 0..3 {
        for hearer in hearers {
            let mut forged = inputs(&room, &kept, liar, *hearer, 9_000 + n);
            let tick = Tick(forged.confirmed.0 / 10 * 10);
            forged.checksums = list(vec![(tick, Checksum(13 + u64::from(n)))]);
            say(&mut room, liar, *hearer, Message::Inputs(forged.sealed(EPOCH)));
        }
        play(&mut room, &mut Dice(n.into()), secs(1));
    }
    room
}

/// With whom a peer told that its world differs.
fn accused(room: &Room, seat: usize) -> Vec<u16> {
    let of = |event: &Event<Mixer>| match event {
        Event::Desync { player, .. } => Some(player.0),
        _ => None,
    };
    room.seats[seat].events.iter().filter_map(of).collect()
}

fn ticks() -> impl Strategy<Value = Tick> {
    prop_oneof![any::<u32>().prop_map(Tick), (0_u32..300).prop_map(Tick), Just(Tick(u32::MAX))]
}

fn any_inputs() -> impl Strategy<Value = Inputs> {
    let stamp = (any::<u32>(), proptest::option::of((any::<u32>(), any::<u16>())));
    let command = proptest::option::weighted(0.3, proptest::collection::vec(any::<u8>(), 0..=255));
    let inputs = proptest::collection::vec(command, 0..=128);
    let checksums = proptest::collection::vec((ticks(), any::<u64>()), 0..=16);
    let known = (ticks(), ticks(), ticks());
    (stamp, known, inputs, any::<i16>(), checksums).prop_map(|(stamp, known, inputs, behind_ticks, checksums)| Inputs {
        stamp: Stamp { number: stamp.0, echo: stamp.1.map(|(number, held_ms)| Echo { number, held_ms }) },
        confirmed: known.0,
        received: known.1,
        from: known.2,
        inputs: list(inputs.into_iter().map(|command| command.map(list)).collect()),
        behind_ticks,
        checksums: list(checksums.into_iter().map(|(tick, checksum)| (tick, Checksum(checksum))).collect()),
        seal: 0,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sealed_inputs_are_read_as_they_were_written_and_no_damage_goes_unnoticed(
        inputs in any_inputs(),
        epoch in any::<u32>().prop_map(Epoch),
        damage in proptest::collection::vec((any::<usize>(), 1_u8..), 1..4),
    ) {
        let message = Message::Inputs(inputs.clone().sealed(epoch));
        let mut packet = wire::encode(epoch, &message);
        let fits = inputs.from.0.checked_add(inputs.inputs.len() as u32).is_some();
        prop_assert_eq!(wire::decode(&packet).ok(), fits.then_some((epoch, message.clone())));
        for (at, flip) in damage {
            let len = packet.len();
            packet[at % len] ^= flip;
        }
        // What is left of it may be another message, or the same: never other inputs.
        if let Ok((read_epoch, Message::Inputs(read))) = wire::decode(&packet) {
            prop_assert_eq!((read_epoch, Message::Inputs(read)), (epoch, message));
        }
    }

    /// Whatever a member claims under its own seal, nobody panics and nobody holds more for it.
    #[test]
    fn nobody_panics_at_any_inputs(lies in proptest::collection::vec((any_inputs(), 0_usize..3, 0_u64..80), 1..12)) {
        let (mut room, _) = room_of_three();
        for (lie, from, after) in lies {
            let to = (from + 1) % 3;
            say(&mut room, from, to, Message::Inputs(lie.sealed(EPOCH)));
            pause(&mut room, after);
        }
        pause(&mut room, 200);
    }
}
