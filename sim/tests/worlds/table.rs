//! The random table's file, its addressed draws, and what the dice make of them.
#![allow(clippy::disallowed_types, reason = "statistics are computed in floats")]

use lockstone_sim::table::{TABLE_BYTES, Table, TableError};
use lockstone_sim::{Dice, Fx, Tick};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

mod battery;

use battery::{chi_square_z, failures};

const SEED: [u8; 32] = *b"one seed for all tests, 32 bytes";

fn table() -> Table {
    Table::generate(SEED)
}

fn dice() -> Dice<'static> {
    table().dice(1, Tick(1))
}

/// The file after a change, with the header's digest made good again.
fn resealed(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = table().to_bytes();
    change(&mut bytes);
    let seal = xxh3_64(&bytes[..56]);
    bytes[56..64].copy_from_slice(&seal.to_le_bytes());
    bytes
}

#[test]
fn a_table_survives_being_a_file() {
    let bytes = table().to_bytes();
    assert_eq!(bytes.len(), TABLE_BYTES);
    let read = Table::from_bytes(&bytes).unwrap();
    assert_eq!((read.seed(), read.digest()), (SEED, table().digest()));
    assert_eq!(read, table());
    assert_eq!(read.draw(3, Tick(4), 5), table().draw(3, Tick(4), 5));
}

#[test]
fn tables_differ_by_seed() {
    let other = Table::generate([0; 32]);
    assert_ne!(other, table());
    assert_ne!(other.digest(), table().digest());
    assert_ne!(other.draw(0, Tick(0), 0), table().draw(0, Tick(0), 0));
}

/// The key stream of the all-zero key, as printed in draft-agl-tls-chacha20poly1305-04, section 7.
#[test]
fn the_words_are_the_key_stream_of_chacha20() {
    let words = &Table::generate([0; 32]).to_bytes()[64..96];
    let published = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7";
    assert_eq!(words.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), published);
}

#[test]
fn the_draws_are_those_of_the_formula() {
    let (table, phi) = (table(), 0x9e37_79b9_7f4a_7c15u64);
    let bytes = table.to_bytes();
    let (words, _) = bytes[64..].as_chunks();
    for (stream, tick, n) in
        [(0, 0, 0), (1, 2, 3), (u64::MAX, u32::MAX, u32::MAX), (0x1234_5678_9abc_def0, 77, 1 << 20)]
    {
        let h = splitmix(stream.wrapping_mul(phi) ^ u64::from(tick) << 32);
        let key = u64::from_le_bytes(words[(h % 8192) as usize]) ^ h;
        let drawn = (splitmix(key.wrapping_add(u64::from(n).wrapping_mul(phi))) >> 32) as u32;
        assert_eq!(table.draw(stream, Tick(tick), n), drawn);
    }
}

/// The finisher as its authors publish it.
fn splitmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn mixing_is_that_of_splitmix64() {
    let phi = 0x9e37_79b9_7f4a_7c15u64;
    // The first outputs of java.util.SplittableRandom and of Vigna's splitmix64.c for seed 0.
    assert_eq!(lockstone_sim::mix64(phi), 0xe220_a839_7b1d_cdaf);
    assert_eq!(lockstone_sim::mix64(phi.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
}

/// A change here changes every world. If that is meant, put in what the failure prints.
#[test]
fn golden_digest_and_draws() {
    let (table, mut dice) = (table(), dice());
    assert_eq!(format!("{:032x}", table.digest()), "9fa9c076a06c9fadc0ce0d3d35435493");
    let draws = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0xfeed_beef, 1200, 2)];
    assert_eq!(
        draws.map(|(stream, tick, n)| table.draw(stream, Tick(tick), n)),
        [2477901652, 214501378, 1984936861, 2135210694, 1119655677]
    );
    let mut deck = [0, 1, 2, 3, 4, 5, 6, 7];
    dice.shuffle(&mut deck);
    let rolled = (dice.below(6), dice.range(-100..=100), dice.unit(), dice.angle().0, dice.weighted(&[1, 2, 3]), deck);
    assert_eq!(rolled, (2, -45, Fx::ratio(635, 1024), 57849, Some(0), [6, 3, 5, 4, 2, 7, 1, 0]));
}

#[test]
fn every_damage_to_the_header_is_named() {
    let mut bytes = table().to_bytes();
    for at in 0..64 {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let expected = match at {
                0..4 => TableError::WrongMagic,
                4..6 => TableError::UnsupportedVersion { version: u16::from_le_bytes([bytes[4], bytes[5]]) },
                _ => TableError::HeaderDigest,
            };
            assert_eq!(Table::from_bytes(&bytes), Err(expected), "byte {at}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(Table::from_bytes(&bytes).is_ok());
    bytes[..7].copy_from_slice(b"LKSTREC");
    assert_eq!(Table::from_bytes(&bytes), Err(TableError::WrongMagic), "a recording");
}

#[test]
fn damage_to_the_words_is_found() {
    let mut bytes = table().to_bytes();
    for at in (64..TABLE_BYTES).step_by(37).chain([TABLE_BYTES - 1]) {
        bytes[at] ^= 1 << (at % 8);
        assert_eq!(Table::from_bytes(&bytes), Err(TableError::PayloadDigest), "byte {at}");
        bytes[at] ^= 1 << (at % 8);
    }
    bytes[64..].fill(0);
    assert_eq!(Table::from_bytes(&bytes), Err(TableError::PayloadDigest));
}

#[test]
fn a_sound_header_of_another_table_is_refused() {
    let (log2_words, word_bytes) = (resealed(|bytes| bytes[6] = 63), resealed(|bytes| bytes[7] = 4));
    assert_eq!(Table::from_bytes(&log2_words), Err(TableError::WrongLayout { log2_words: 63, word_bytes: 8 }));
    assert_eq!(Table::from_bytes(&word_bytes), Err(TableError::WrongLayout { log2_words: 13, word_bytes: 4 }));
    assert_eq!(Table::from_bytes(&resealed(|bytes| bytes[40] ^= 1)), Err(TableError::PayloadDigest));
}

#[test]
fn a_file_of_another_length_is_refused() {
    let mut bytes = table().to_bytes();
    for len in 0..64 {
        assert_eq!(Table::from_bytes(&bytes[..len]), Err(TableError::TooShort { len }));
    }
    for len in [64, 65, 4096, TABLE_BYTES - 1] {
        assert_eq!(Table::from_bytes(&bytes[..len]), Err(TableError::WrongLength { len }));
    }
    bytes.push(0);
    assert_eq!(Table::from_bytes(&bytes), Err(TableError::WrongLength { len: TABLE_BYTES + 1 }));
}

#[test]
fn errors_are_one_sentence() {
    let said = Table::from_bytes(b"LKST").unwrap_err().to_string();
    assert_eq!(said, "the table has 4 bytes, which is too short for its header of 64");
    let said = Table::from_bytes(&resealed(|bytes| bytes[6] = 12)).unwrap_err().to_string();
    assert_eq!(said, "the table is laid out as 2^12 words of 8 bytes, not as 2^13 of 8");
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Table::from_bytes(&bytes).is_err());
        prop_assert!(Table::from_bytes(&[&b"LKST\x01\x00"[..], &bytes].concat()).is_err());
    }
}

#[test]
fn the_draws_pass_the_battery() {
    for seed in [SEED, [0; 32]] {
        let table = Table::generate(seed);
        assert_eq!(failures(&|stream, tick, n| table.draw(stream, Tick(tick), n)), Vec::<String>::new());
    }
}

/// Read raw, the table's words make streams that are one another's shifted copies.
#[test]
fn the_battery_rejects_a_table_read_raw() {
    let bytes = table().to_bytes();
    let (words, _) = bytes[64..].as_chunks();
    let raw = |stream: u64, tick: u32, n: u32| {
        let at = stream.wrapping_add(u64::from(tick) * 97).wrapping_add(n.into()) & 8191;
        (u64::from_le_bytes(words[at as usize]) >> 32) as u32
    };
    let failed = failures(&raw);
    for expected in ["correlation with the next stream's previous draw", "equal draws"] {
        assert!(failed.iter().any(|failure| failure.starts_with(expected)), "not found: {expected}");
    }
}

/// Without the last mixing the draws of a stream are an arithmetic sequence.
#[test]
fn the_battery_rejects_a_counter_that_is_not_mixed() {
    let table = table();
    let unmixed = |stream, tick, n: u32| table.draw(stream, Tick(tick), 0).wrapping_add(n.wrapping_mul(0x9e37_79b9));
    let failed = failures(&unmixed);
    assert!(failed.iter().any(|failure| failure.starts_with("correlation with the next draw")), "{failed:?}");
}

#[test]
fn dice_are_a_cursor_over_the_draws() {
    let (table, mut dice) = (table(), table().dice(9, Tick(8)));
    for n in 0..100 {
        assert_eq!(dice.taken(), n);
        assert_eq!(dice.next_u32(), table.draw(9, Tick(8), n));
    }
    let mut copy = dice;
    assert_eq!(copy.next_u32(), dice.next_u32());
}

/// Counts what 100,000 rolls give.
fn counts<const N: usize>(mut roll: impl FnMut() -> usize) -> [u32; N] {
    let mut counts = [0; N];
    (0..100_000).for_each(|_| counts[roll()] += 1);
    counts
}

fn even<const N: usize>(roll: impl FnMut() -> usize) -> bool {
    chi_square_z(&counts::<N>(roll), &[1.0; N]).abs() < 5.5
}

#[test]
fn bounded_numbers_are_even() {
    let mut dice = dice();
    assert!(even::<2>(|| dice.below(2) as usize));
    assert!(even::<6>(|| dice.below(6) as usize));
    assert!(even::<100>(|| dice.below(100) as usize));
    assert!(even::<11>(|| (dice.range(-5..=5) + 5) as usize));
    assert!(even::<16>(|| (dice.unit().to_bits() >> 8) as usize));
    assert!(even::<16>(|| (dice.angle().0 >> 12) as usize));
    assert!(even::<5>(|| *dice.pick(&[0, 1, 2, 3, 4]).unwrap()));
}

/// Three quarters of 2^32: without rejection every third number comes twice as often.
#[test]
fn a_large_bound_is_even_only_by_rejection() {
    let (mut dice, mut hasty) = (dice(), dice());
    assert!(even::<3>(|| (dice.below(3 << 30) % 3) as usize));
    assert!(!even::<3>(|| ((u64::from(hasty.next_u32()) * (3 << 30)) >> 32) as usize % 3));
}

#[test]
fn weights_are_followed() {
    let mut dice = dice();
    let weights = [0, 1, 2, 0, 3, 10];
    let [never, one, two, nor_this, three, ten] = counts(|| dice.weighted(&weights).unwrap());
    assert_eq!((never, nor_this), (0, 0));
    assert!(chi_square_z(&[one, two, three, ten], &[1.0, 2.0, 3.0, 10.0]).abs() < 5.5);
    assert!(even::<3>(|| dice.weighted(&[u32::MAX; 3]).unwrap()));
}

#[test]
fn a_shuffle_gives_all_orders_alike() {
    let mut dice = dice();
    // An order as a number: 4 positions of 2 bits.
    let orders: [u32; 256] = counts(|| {
        let mut items = [0, 1, 2, 3];
        dice.shuffle(&mut items);
        items.iter().fold(0, |order, item| order << 2 | item)
    });
    let seen: Vec<u32> = orders.into_iter().filter(|&count| count > 0).collect();
    assert_eq!(seen.len(), 24);
    assert!(chi_square_z(&seen, &[1.0; 24]).abs() < 5.5);
}

#[test]
fn a_chance_is_exact() {
    let mut dice = dice();
    let [miss, hit] = counts(|| usize::from(dice.chance(1, 4)));
    assert!(chi_square_z(&[miss, hit], &[3.0, 1.0]).abs() < 5.5);
    assert!((0..1000).all(|_| dice.chance(4, 4) && dice.chance(5, 4) && !dice.chance(0, 4) && !dice.chance(1, 0)));
}

#[test]
fn ranges_may_be_empty_or_whole() {
    let mut dice = dice();
    assert_eq!(dice.range(5..=5), 5);
    #[expect(clippy::reversed_empty_ranges, reason = "that is the case to test")]
    let empty = dice.range(5..=4);
    assert_eq!(empty, 5);
    let mut same = dice;
    assert_eq!(dice.range(i32::MIN..=i32::MAX), i32::MIN.wrapping_add_unsigned(same.next_u32()));
    let ends = (0..1000).map(|_| dice.range(i32::MIN..=i32::MAX - 1)).fold((0, 0), |(a, b), x| (x.min(a), x.max(b)));
    assert!(ends.0 < -2_000_000_000 && ends.1 > 2_000_000_000);
}

#[test]
fn the_number_of_draws_is_as_promised() {
    let mut dice = dice();
    let mut taken = |roll: fn(&mut Dice)| {
        let before = dice.taken();
        roll(&mut dice);
        dice.taken() - before
    };
    let single: [fn(&mut Dice); 9] = [
        |dice| assert_eq!(dice.below(0), 0),
        |dice| assert!(dice.below(6) < 6),
        |dice| assert!(!dice.chance(1, 0)),
        |dice| assert!(dice.unit() < Fx::ONE),
        |dice| assert!(dice.angle().0 > 0),
        |dice| assert_eq!(dice.pick::<u8>(&[]), None),
        |dice| assert_eq!(dice.weighted(&[0, 0]), None),
        |dice| assert_eq!(dice.weighted(&[]), None),
        |dice| assert_eq!(dice.weighted(&[0, 7]), Some(1)),
    ];
    assert_eq!(single.map(&mut taken), [1; 9]);
    assert_eq!(taken(|dice| dice.shuffle(&mut [0; 10])), 9);
    assert_eq!(taken(|dice| dice.shuffle::<u8>(&mut [])), 0);
    assert_eq!(taken(|dice| assert!(dice.weighted(&[u32::MAX, u32::MAX]).is_some())) % 2, 0);
}
