//! Who is found right, of what was told: by the many, by a replay, or by nobody.

use super::*;

const TICK: Tick = Tick(50);
const OWN: PlayerId = PlayerId(0);

/// What is found of checksums by player at the tick of a dispute, when all time to tell is over.
fn found(told: &[(u16, u64)], voters: u16, reference: Option<Option<u64>>) -> Option<Who> {
    let who = |Ruling { sound, odd, is_proven, .. }: Ruling| {
        let numbers = |players: Vec<PlayerId>| players.into_iter().map(|player| player.0).collect();
        (numbers(sound), numbers(odd.into_keys().collect()), is_proven)
    };
    let mut census = Census::default();
    told.iter().for_each(|(player, checksum)| census.tell(PlayerId(*player), TICK, Checksum(*checksum)));
    census.dispute(TICK, Some(Tick(40)), Duration::ZERO);
    let voters: Vec<_> = (0..voters).map(PlayerId).collect();
    match census.judge(OWN, &voters, TELL_TIME)? {
        Judgement::Found(finding) => Some(who(finding)),
        Judgement::Replay { tick, agreed } => {
            assert_eq!((tick, agreed), (TICK, Some(Tick(40))));
            assert_eq!(census.judge(OWN, &voters, TELL_TIME), None, "the replay is waited for");
            if let Some(reference) = reference {
                census.reference(TICK, reference.map(Checksum));
            }
            match census.judge(OWN, &voters, TELL_TIME + REFERENCE_TIME)? {
                Judgement::Found(finding) => Some(who(finding)),
                again => panic!("it is asked for once: {again:?}"),
            }
        }
    }
}

/// Who is right, who is odd, and whether that is proven.
type Who = (Vec<u16>, Vec<u16>, bool);

fn finding(sound: &[u16], odd: &[u16], is_proven: bool) -> Option<Who> {
    Some((sound.to_vec(), odd.to_vec(), is_proven))
}

#[test]
fn more_than_half_of_those_who_tell_are_right() {
    assert_eq!(found(&[(0, 7), (1, 7), (2, 9), (3, 7)], 4, None), finding(&[0, 1, 3], &[2], true));
    assert_eq!(found(&[(0, 9), (1, 7), (2, 7)], 3, None), finding(&[1, 2], &[0], true));
    assert_eq!(found(&[(0, 7), (1, 7), (2, 9)], 4, None), finding(&[0, 1], &[2], true), "one told nothing");
    assert_eq!(found(&[(0, 8), (1, 7), (2, 9), (3, 7), (4, 7)], 5, None), finding(&[1, 3, 4], &[0, 2], true));
}

#[test]
fn a_replay_decides_where_no_half_outvotes_the_rest() {
    let two = [(0, 7), (1, 9)];
    assert_eq!(found(&two, 2, Some(Some(7))), finding(&[0], &[1], true));
    assert_eq!(found(&two, 2, Some(Some(9))), finding(&[1], &[0], true));
    let four = [(0, 7), (1, 9), (2, 9), (3, 7)];
    assert_eq!(found(&four, 4, Some(Some(9))), finding(&[1, 2], &[0, 3], true));
}

#[test]
fn if_nobody_can_tell_the_first_counts_and_nothing_is_proven() {
    let two = [(0, 7), (1, 9)];
    for reference in [None, Some(None), Some(Some(8))] {
        assert_eq!(found(&two, 2, reference), finding(&[0], &[1], false), "{reference:?}");
    }
}

#[test]
fn who_counts_at_last_and_tells_nothing_hinders_no_majority_and_decides_nothing() {
    assert_eq!(found(&[(1, 7), (2, 7)], 3, None), finding(&[1, 2], &[], true));
    assert_eq!(found(&[(1, 7), (2, 9)], 3, None), None);
}

#[test]
fn what_is_disputed_is_remembered_however_long_the_session_goes_on() {
    let mut census = Census::default();
    for (player, sum) in [(0, 7), (1, 7), (2, 9)] {
        census.tell(PlayerId(player), TICK, Checksum(sum));
    }
    census.dispute(TICK, None, Duration::ZERO);
    (1..=100).for_each(|n| census.tell(OWN, TICK.plus(n), Checksum(7)));
    let voters = [0, 1, 2].map(PlayerId);
    assert!(matches!(census.judge(OWN, &voters, TELL_TIME), Some(Judgement::Found(_))));
}
