//! The receiving end of a feed, on its own.

use core::time::Duration;

use lockstone_sim::Tick;

use super::{Intake, Progress};
use crate::limits::*;
use crate::session::CommandError;
use crate::wire::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn command(byte: u8) -> CommandBytes {
    vec![byte].try_into().expect("fits")
}

fn turns(number: u32, from: u32, ticks: u32) -> Turns {
    let stamp = Stamp { number, echo: None };
    Turns { stamp, from: Tick(from), ticks, ..Turns::default() }
}

#[test]
fn a_replica_joins_up_what_arrives_and_asks_for_what_is_missing() {
    let mut replica = Intake::<RawTurn>::new(Tick(10), ms(100));
    assert_eq!(replica.take_turns(turns(0, 10, 3), ms(0)), Ok(Progress::New(Tick(10))));
    assert!(replica.take_turns(turns(0, 10, 3), ms(0)).is_err(), "the same packet");
    assert_eq!(replica.take_turns(turns(1, 9, 2), ms(0)), Ok(Progress::Old));
    assert_eq!(replica.take_turns(turns(2, 12, 5), ms(0)), Ok(Progress::New(Tick(13))));
    replica.report(ms(0), None);
    assert_eq!(replica.take_turns(turns(4, 18, 2), ms(10)), Ok(Progress::Gap));
    assert_eq!(replica.report_at(), ms(0), "asked for at once");
    assert!(replica.report(ms(10), None).missing);
    assert!(replica.report_at() >= ms(110), "and again only after a pause");
    assert_eq!(replica.take_turns(turns(3, 17, 3), ms(20)), Ok(Progress::New(Tick(17))));
    assert!(!replica.report(ms(20), None).missing);
    let beyond = turns(9, 20, TICKS_PER_PACKET_MAX);
    let packets = (0..8).map(|n| Turns { from: Tick(20 + n * TICKS_PER_PACKET_MAX), ..beyond.clone() });
    let packets = packets.zip(10..).map(|(turns, number)| Turns { stamp: Stamp { number, echo: None }, ..turns });
    let progress: Vec<_> = packets.map(|turns| replica.take_turns(turns, ms(30)).expect("new numbers")).collect();
    assert!(progress.contains(&Progress::TooFarAhead));
    assert!(replica.known().since(replica.next()) <= TICKS_AHEAD_MAX);
}

#[test]
fn a_command_is_reported_until_it_is_taken() {
    let mut replica = Intake::<RawTurn>::new(Tick(0), ms(100));
    replica.report(ms(0), None);
    replica.command(command(1)).expect("room");
    assert_eq!(replica.report_at(), ms(0));
    assert_eq!(replica.report(ms(50), None).commands.len(), 1);
    let again = replica.report_at();
    assert!(again > ms(200) && again < ms(500), "{again:?}");
    replica.command(command(2)).expect("room");
    let report = replica.report(again, None);
    assert_eq!((report.first_command, report.commands.len()), (0, 2));
    let forged = Turns { commands_taken: 77, ..turns(0, 0, 1) };
    replica.take_turns(forged, again).expect("new");
    assert_eq!(replica.commands_pending(), 2, "more taken than sent: not believed");
    let taken = Turns { commands_taken: 1, ..turns(1, 1, 1) };
    replica.take_turns(taken, again).expect("new");
    let report = replica.report(again + ms(1), None);
    assert_eq!((report.first_command, report.commands.len()), (1, 1));
    for n in 1..COMMANDS_PENDING_MAX {
        replica.command(command(n as u8)).expect("room");
    }
    assert_eq!(replica.command(command(0)), Err(CommandError::Full));
    assert_eq!(replica.report(again + ms(2), None).commands.len(), COMMANDS_PER_PACKET_MAX);
}
