//! One bug, and what three tools tell of it: ggrs's event, a dump of checksums, and the desync
//! checker. `docs/desync.md` reads the output.
//!
//! ```text
//! cargo run -p lockstone --example desync
//! ```
//!
//! The bug is in `wood.rs`, a wolf's `rest`: it decides when a wolf draws a new heading, and no
//! snapshot holds it. Ada has played for 60 ticks when Bram is sent her world. From then on ggrs
//! plays both; then the same turns are recorded, as a session would, and checked.

mod wood;

use std::sync::{Arc, Mutex};
use std::{collections::VecDeque, thread, time::Duration};

use ggrs::{DesyncDetection, GgrsEvent, GgrsRequest, Message, P2PSession, PlayerType, SessionBuilder, SessionState};
use lockstone::check;
use lockstone::recording::Entry;
use lockstone::sim::*;
use testkit::recorded::Peer;
use wood::{Sim, place, world};

const SEED: u64 = 15;
const JOINED: Tick = Tick(60);

/// What each of two players says at each tick: where to walk, now and then.
fn turns(ticks: u32) -> Vec<Turn<Sim>> {
    let said = |tick: u32| match tick {
        0 => [0, 1].map(|n| Input::Join(PlayerId(n), world(SEED).admit(PlayerId(n), ()))).into(),
        _ if tick.is_multiple_of(20) => {
            [0, 1].map(|n| Input::Command(PlayerId(n), place((tick / 20) as u16 * 7 + n))).into()
        }
        _ => Vec::new(),
    };
    (0..ticks).map(|tick| Turn { inputs: said(tick) }).collect()
}

/// Both worlds at the tick at which Bram comes in: Ada's as she played it, his as he was sent it.
fn worlds(turns: &[Turn<Sim>]) -> [Sim; 2] {
    let (mut ada, mut bram) = (world(SEED), world(SEED));
    turns[..JOINED.0 as usize].iter().for_each(|turn| ada.step(turn));
    let sent = bram.decode(&ada.encoded()).expect("it was just written");
    bram.restore(&sent);
    [ada, bram]
}

#[derive(Debug)]
struct Play;

impl ggrs::Config for Play {
    type Input = u8;
    type InputPredictor = ggrs::PredictRepeatLast;
    type State = <Sim as Simulation>::Snapshot;
    type Address = usize;
}

/// Messages under way to each of both.
#[derive(Clone, Default)]
struct Line(Arc<Mutex<[Queue; 2]>>, usize);

type Queue = VecDeque<(usize, Message)>;

impl ggrs::NonBlockingSocket<usize> for Line {
    fn send_to(&mut self, message: &Message, to: &usize) {
        self.0.lock().expect("nothing panics")[*to].push_back((self.1, message.clone()));
    }

    fn receive_all_messages(&mut self) -> Vec<(usize, Message)> {
        self.0.lock().expect("nothing panics")[self.1].drain(..).collect()
    }
}

fn ggrs_session(me: usize, line: &Line) -> Result<P2PSession<Play>, ggrs::GgrsError> {
    let detection = DesyncDetection::On { interval: 10 };
    let [first, second] = [0, 1].map(|n| if n == me { PlayerType::Local } else { PlayerType::Remote(n) });
    let builder = SessionBuilder::<Play>::new().with_num_players(2)?.with_desync_detection_mode(detection);
    builder.add_player(first, 0)?.add_player(second, 1)?.start_p2p_session(Line(line.0.clone(), me))
}

/// Lets ggrs play both worlds from [`JOINED`] on, its frame 0, and prints what it tells of a
/// desync.
fn play_through_ggrs(turns: &[Turn<Sim>]) -> Result<(), ggrs::GgrsError> {
    let (line, mut worlds) = (Line::default(), worlds(turns));
    let mut sessions = [ggrs_session(0, &line)?, ggrs_session(1, &line)?];
    loop {
        thread::sleep(Duration::from_millis(2));
        for (me, (session, world)) in sessions.iter_mut().zip(&mut worlds).enumerate() {
            session.poll_remote_clients();
            if let Some(event) = session.events().find(|event| matches!(event, GgrsEvent::DesyncDetected { .. })) {
                println!("{event:?}");
                return Ok(());
            }
            if session.current_state() != SessionState::Running {
                continue;
            }
            session.add_local_input(me, 0)?;
            for request in session.advance_frame().unwrap_or_default() {
                match request {
                    GgrsRequest::SaveGameState { cell, frame } => {
                        let checksum = world.checksum().0.into();
                        cell.save(frame, Some(world.snapshot()), Some(checksum));
                    }
                    GgrsRequest::LoadGameState { cell, .. } => world.restore(&cell.load().expect("it was saved")),
                    GgrsRequest::AdvanceFrame { .. } => world.step(&turns[world.tick().0 as usize]),
                }
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let turns = turns(1_000);
    println!("--- ggrs");
    play_through_ggrs(&turns)?;

    let [_, mut bram] = worlds(&turns);
    let record = |n, world: &mut Sim| Peer::new(n, SEED).record(world, &turns[..200], |_| None);
    let recordings = [record(0, &mut world(SEED)), record(1, &mut bram)];

    println!("\n--- a dump of checksums\ntick  Ada               Bram");
    let roots = |n: usize| {
        recordings[n].entries.iter().filter_map(|entry| match entry {
            Entry::Checksum(root) => Some(*root),
            _ => None,
        })
    };
    let rows = (JOINED.0..).zip(roots(0).skip(JOINED.0 as usize).zip(roots(1)));
    let rows: Vec<_> = rows.collect();
    let first = rows.iter().position(|(_, (ada, bram))| ada != bram).expect("they differ");
    for (tick, (ada, bram)) in &rows[first.saturating_sub(3)..first + 3] {
        println!("{tick:4}  {ada}  {bram}");
    }

    println!("\n--- the checker");
    println!("{}", check::compare(recordings.into(), &world)?);
    Ok(())
}
