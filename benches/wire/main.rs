//! What peers send each other: a Lockstone party of eight and a Lockstone rollback session of four,
//! each beside ggrs with the same commands.
//!
//! 20 ticks a second, one command of 6 bytes a second from each, 50 ms one way, no loss.
//! `cargo bench -p lockstone --bench wire` prints payload bytes and packets a second of all peers
//! together. ggrs reads the real clock, so its part takes real time.

mod ggrs;
mod ours;

/// How many peers play in a party.
const PARTY_PEERS: usize = 8;
/// ggrs beside a party: it predicts, and delays inputs by so many ticks.
const PARTY_DELAY_TICKS: usize = 2;
/// How many peers play in a rollback session, without any delay.
const ROLLBACK_PEERS: usize = 4;
/// Ticks a second.
const TICKS_PER_S: usize = 20;
/// One way, in milliseconds.
const DELAY_MS: u64 = 50;
/// What is measured, in seconds.
const SECONDS: u64 = 15;

/// A player's state change: as long as a walk to a far place.
type Command = [u8; 6];

/// Whether a peer gives a command in a tick: one a second, at another time for each.
fn command(peer: usize, tick: usize) -> Option<Command> {
    let due = (tick + peer * 7).is_multiple_of(TICKS_PER_S);
    due.then_some([1, peer as u8, tick as u8, (tick >> 8) as u8, 77, 200])
}

/// What all peers sent.
#[derive(Clone, Copy, Default)]
struct Sent {
    bytes: u64,
    packets: u64,
    /// Commands that every peer has played.
    played: usize,
}

fn main() {
    println!("ggrs runs in real time: twice {} s ...", SECONDS + 2);
    compare(&format!("a party of {PARTY_PEERS}"), ours::party(PARTY_PEERS), ggrs::run(PARTY_PEERS, PARTY_DELAY_TICKS));
    compare(
        &format!("a rollback session of {ROLLBACK_PEERS}"),
        ours::rollback(ROLLBACK_PEERS),
        ggrs::run(ROLLBACK_PEERS, 0),
    );
}

fn compare(what: &str, ours: Sent, theirs: Sent) {
    println!("\n{what}");
    println!("{:24} {:>12} {:>12} {:>8}", "a second, all peers", "Lockstone", "ggrs 0.13", "ratio");
    let row = |name: &str, ours: u64, theirs: u64| {
        let per_s = |n: u64| n as f64 / SECONDS as f64;
        println!("{name:24} {:>12.0} {:>12.0} {:>7.1}x", per_s(ours), per_s(theirs), theirs as f64 / ours as f64);
    };
    row("payload bytes", ours.bytes, theirs.bytes);
    row("packets", ours.packets, theirs.packets);
    row("with 93 B a packet", ours.bytes + 93 * ours.packets, theirs.bytes + 93 * theirs.packets);
    println!("{:24} {:>12} {:>12}", "commands played", ours.played, theirs.played);
}
