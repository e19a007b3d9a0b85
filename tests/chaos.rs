//! Chaos: each fault is caught by the breaker that is there for it, and a sound game passes all.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockstone::check::chaos::{Breaker, ChaosReport, Difference, Outcome};
use lockstone::check::{self, ChaosConfig};
use lockstone::sim::journal::{Doer, Phase};
use lockstone::sim::world::StatePart;
use lockstone::sim::{Input, PlayerId, Table, Tick, Turn};
use serde_json::{Value, json};
use testkit::faulty::{self, FROM, Fault, Sim, draw};
use testkit::mixer::Mixer;
use testkit::pasture::{self, Wrong};
use testkit::process;

const SEED: u64 = 5;
const HEROES: u16 = 4;
const TICKS: u32 = 160;

/// The breakers that play in this process.
fn in_process() -> Vec<Breaker> {
    Breaker::ALL.into_iter().filter(|breaker| !breaker.needs_program()).collect()
}

fn chaos(fault: Fault, only: &[Breaker]) -> ChaosReport {
    let build = || faulty::world(SEED, fault);
    let look = |world: &Sim| draw(world);
    check::chaos_of(&build, faulty::turns(SEED, HEROES, TICKS), Some(&look), only)
}

/// The difference that a breaker finds in a game with a fault: in a field of a being, after
/// the fault awoke.
fn caught(fault: Fault, breaker: Breaker) -> Difference {
    let report = chaos(fault, &[breaker]);
    println!("{report}");
    assert!(!report.passed());
    let Outcome::Differs(difference) = &report.of(breaker).expect("it played").outcome else {
        panic!("{} is not caught: {report}", fault.name())
    };
    assert!(difference.tick > FROM, "{report}");
    let fields = difference.location.spots.iter().flat_map(|spot| &spot.fields);
    assert!(fields.clone().count() > 0, "{report}");
    assert!(fields.clone().all(|field| field.path.starts_with("body.") || field.path.starts_with("pos.")), "{report}");
    (**difference).clone()
}

#[test]
fn a_sound_game_passes() {
    let report = chaos(Fault::None, &[]);
    assert!(report.passed(), "{report}");
    for breaker in in_process() {
        let outcome = &report.of(breaker).expect("it played").outcome;
        assert!(matches!(outcome, Outcome::Passed { checksums } if *checksums > TICKS), "{breaker}: {outcome:?}");
    }
}

/// The same, and what the step did otherwise: in whose thought, and behind which line.
fn caught_in_a_thought(fault: Fault, breaker: Breaker) -> Difference {
    let difference = caught(fault, breaker);
    let write = difference.bad_writes.first().unwrap_or_else(|| panic!("it is not traced: {difference}"));
    assert_eq!((write.tick.next(), write.phase), (difference.tick, Phase::Think));
    let differs = |id| {
        difference.location.spots.iter().any(|spot| matches!(spot.part, StatePart::Entity(_, other) if other == id))
    };
    assert!(matches!(write.doer, Doer::Entity(id) if differs(id)), "{difference}");
    let site =
        write.here.iter().chain(&write.last_alike).next().unwrap_or_else(|| panic!("no line is named: {difference}"));
    assert_eq!(site.file, "testkit/src/faulty/mod.rs");
    assert!(difference.to_string().contains(&site.to_string()));
    difference
}

#[test]
fn leftovers_of_thoughts_are_caught_by_the_cells_order() {
    caught_in_a_thought(Fault::CellOrder, Breaker::CellOrder);
}

#[test]
fn reading_the_thread_is_caught_by_threads() {
    caught_in_a_thought(Fault::Thread, Breaker::Threads);
}

#[test]
fn hidden_state_is_caught_by_restoring() {
    caught_in_a_thought(Fault::Hidden, Breaker::Restore);
}

#[test]
fn a_field_that_is_not_serialised_is_caught_by_serialising() {
    let difference = caught_in_a_thought(Fault::Unsaved, Breaker::Serialise);
    assert!(difference.reference_repeats);
    assert!(difference.location.spots.iter().all(|spot| spot.kind == "Beast"));
}

#[test]
fn a_memo_of_a_wrong_prediction_is_caught_by_rollback() {
    caught_in_a_thought(Fault::Memo, Breaker::Rollback);
    // What is undone but the same the second time does not show it.
    assert!(chaos(Fault::Memo, &[Breaker::Restore]).passed());
}

#[test]
fn state_shared_with_snapshots_is_caught_by_a_stale_one() {
    let difference = caught(Fault::Alias, Breaker::StaleSnapshot);
    assert_eq!(difference.location.spots[0].fields[0].path, "body.Hero.purse");
}

#[test]
fn handles_and_heap_addresses_are_caught_by_allocation() {
    caught_in_a_thought(Fault::Handles, Breaker::Allocation);
    caught(Fault::HeapAddress, Breaker::Allocation);
}

#[test]
fn reading_beyond_reach_is_caught_by_a_part() {
    caught_in_a_thought(Fault::Reach, Breaker::Partial);
}

#[test]
fn a_scene_that_writes_is_caught_by_drawing() {
    let difference = caught(Fault::Scene, Breaker::Presentation);
    assert_eq!(difference.location.spots[0].fields[0].path, "body.Beast.glances");
    let write = &difference.bad_writes[0];
    assert!(write.text.contains("thinks in cell") && write.here.is_none(), "it was so before the step: {write:?}");
}

#[test]
fn a_clock_is_caught_by_playing_again() {
    assert!(!caught(Fault::Clock, Breaker::Again).reference_repeats);
}

/// What the breakers find in another game.
fn chaos_of_another(wrong: Wrong, only: &[Breaker]) -> ChaosReport {
    let build = || pasture::world(SEED, wrong);
    let look = |world: &pasture::Sim| pasture::draw(world, 1);
    check::chaos_of(&build, pasture::turns(SEED, TICKS), Some(&look), only)
}

#[test]
fn another_sound_game_passes() {
    let report = chaos_of_another(Wrong::Nothing, &[]);
    for breaker in in_process() {
        let outcome = &report.of(breaker).expect("it played").outcome;
        assert!(matches!(outcome, Outcome::Passed { checksums } if *checksums > TICKS), "{breaker}: {outcome:?}");
    }
}

#[test]
fn what_is_wrong_with_another_game_is_caught_too() {
    for (wrong, breaker, field) in [
        (Wrong::Unsaved, Breaker::Serialise, "body.Sheep."),
        (Wrong::Scene, Breaker::Presentation, "body.Sheep.glances"),
        (Wrong::Clock, Breaker::Again, "body.Wolf.hunger"),
        (Wrong::Counter(37), Breaker::Again, "body.Wolf.hunger"),
        (Wrong::HashOrder, Breaker::Again, "body.Wolf.hunger"),
        (Wrong::Reach, Breaker::Partial, "body.Wolf.hunger"),
    ] {
        let report = chaos_of_another(wrong, &[breaker]);
        let Outcome::Differs(difference) = &report.of(breaker).expect("it played").outcome else {
            panic!("{wrong:?} is not caught: {report}")
        };
        let mut fields = difference.location.spots.iter().flat_map(|spot| &spot.fields);
        assert!(fields.any(|of| of.path.starts_with(field)), "{wrong:?}: {report}");
        assert!(!difference.bad_writes.is_empty(), "{wrong:?}: {report}");
    }
}

/// What the example's command line tells of a fault; and its exit code.
fn told((game, fault): (&str, &str), only: &str) -> (Value, i32) {
    let mut command = Command::new(process::faulty());
    command.args(["check", "chaos", "--ticks", "120", "--json", "--only", only]);
    let output = command.envs([("GAME", game), ("FAULT", fault)]).stdin(Stdio::null()).output().expect("it was built");
    let told = String::from_utf8(output.stdout).expect("text");
    println!("{told}{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_str(&told).expect("JSON"), output.status.code().expect("it ended by itself"))
}

fn caught_by_command(game: &str, fault: &str, breaker: &str) -> Value {
    let (report, code) = told((game, fault), breaker);
    let tried = &report["tried"][0];
    assert_eq!((code, tried["breaker"].as_str(), tried["outcome"].as_str()), (1, Some(breaker), Some("differs")));
    assert!(game != "faulty" || tried["tick"].as_u64() > Some(FROM.0.into()));
    assert!(tried["location"]["spots"][0]["fields"][0]["path"].as_str().is_some_and(|path| path.starts_with("body.")));
    report
}

#[test]
fn what_is_drawn_anew_for_each_process_is_caught_by_a_second_one_which_tells_where() {
    for (game, fault, rules) in [
        ("faulty", "hash-order", "testkit/src/faulty/mod.rs"),
        ("faulty", "address", "testkit/src/faulty/mod.rs"),
        ("meadow", "process", "testkit/src/pasture.rs"),
    ] {
        let report = caught_by_command(game, fault, "second-process");
        let write = &report["tried"][0]["bad_writes"][0];
        let file = write["last_alike"]["file"].as_str().unwrap_or_default();
        assert!(write["phase"] == json!("Think") && file.ends_with(rules), "{write}");
    }
}

#[test]
fn another_table_is_played_in_other_processes_too() {
    let file = std::env::temp_dir().join(format!("chaos-table-{}.bin", std::process::id()));
    std::fs::write(&file, Table::generate([5; 32]).to_bytes()).expect("there is room");
    let args = ["--only", "second-process", "--ticks", "60", "--json", "--table"];
    let output =
        Command::new(process::faulty()).args(["check", "chaos"]).args(args).arg(&file).output().expect("it was built");
    std::fs::remove_file(&file).expect("it is there");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["tried"][0]["outcome"], "passed", "{report}");
}

/// A program that does as it is told by a line of the shell.
#[cfg(unix)]
fn script(name: &str, line: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = std::env::temp_dir().join(format!("chaos-{name}-{}", std::process::id()));
    std::fs::write(&file, format!("#!/bin/sh\n{line}\n")).expect("there is room");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    file
}

#[cfg(unix)]
#[test]
fn a_process_that_hangs_is_ended() {
    let build = "release build for nothing";
    let (silent, stuck) =
        (script("silent", "sleep 1000"), script("stuck", &format!("echo answer 2 {build}; sleep 1000")));
    let only = vec![Breaker::DebugRelease];
    for (program, told) in [(&silent, "did not answer within"), (&stuck, "did not come to tick 0 within")] {
        let answer_time = Duration::from_millis(300);
        let config = ChaosConfig {
            ticks: 5,
            other: Some(program.clone()),
            only: only.clone(),
            answer_time,
            ..ChaosConfig::default()
        };
        let report = check::chaos::<faulty::Faulty>(&config);
        let tried = report.of(Breaker::DebugRelease).expect("it was tried");
        assert!(tried.to_string().contains(told) && !tried.passed(), "{report}");
        assert_eq!(tried.failed(), program == &stuck, "what never began shows nothing");
    }
    [silent, stuck].iter().for_each(|file| std::fs::remove_file(file).expect("it is there"));
}

/// Ctrl-C: all processes end, and a sentence says so.
#[cfg(target_os = "linux")]
#[test]
fn chaos_and_coverage_can_be_stopped() {
    let pid_file = std::env::temp_dir().join(format!("chaos-pid-{}", std::process::id()));
    let hangs = script("hangs", &format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid_file.display()));
    let hanging =
        ["check", "chaos", "--ticks", "5", "--only", "debug-release", "--other", hangs.to_str().expect("text")];
    let playing = [&["check", "chaos", "--ticks", "1000000"][..], &["check", "coverage", "--ticks", "1000000"]];
    for args in playing.into_iter().chain([&hanging[..]]) {
        let mut command = Command::new(process::faulty());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, began) = (command.spawn().expect("it was built"), Instant::now());
        // It has begun once it hears of Ctrl-C, or once the one that it waits for has.
        while if args == hanging { !pid_file.exists() } else { !hears_of_ctrl_c(child.id()) } {
            assert!(began.elapsed() < Duration::from_secs(60), "it never began");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(signal("-INT", child.id()));
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.ends_with(" was stopped.\n"), "{told}");
    }
    let pid = std::fs::read_to_string(&pid_file).expect("it has begun").trim().parse().expect("a number");
    assert!(!signal("-0", pid), "the other process is still there");
    [hangs, pid_file].iter().for_each(|file| std::fs::remove_file(file).expect("it is there"));
}

/// Whether a process has something to do when it is interrupted.
#[cfg(target_os = "linux")]
fn hears_of_ctrl_c(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|caught| u64::from_str_radix(caught.trim(), 16).ok()).is_some_and(|caught| caught & 2 != 0)
}

#[cfg(target_os = "linux")]
fn signal(signal: &str, pid: u32) -> bool {
    let sent = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    sent.expect("there is a kill").success()
}

#[test]
fn clock_environment_and_directory_are_caught_by_changing_them() {
    for (game, fault) in [("faulty", "clock"), ("faulty", "environment"), ("faulty", "directory"), ("meadow", "clock")]
    {
        caught_by_command(game, fault, "environment");
    }
}

#[test]
fn a_sound_game_passes_in_other_processes() {
    for game in ["faulty", "meadow"] {
        for breaker in ["second-process", "environment"] {
            let (report, code) = told((game, "none"), breaker);
            assert_eq!((code, report["tried"][0]["outcome"].as_str()), (0, Some("passed")), "{game}");
        }
    }
}

#[test]
fn an_unknown_breaker_is_refused() {
    let mut command = Command::new(process::faulty());
    let output = command.args(["check", "chaos", "--only", "moon"]).output().expect("it was built");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("cell-order"), "{told}");
}

#[test]
fn what_is_not_there_is_skipped_and_not_passed() {
    let report = chaos(Fault::Debug, &[Breaker::DebugRelease, Breaker::Wasm]);
    assert!(report.tried.iter().all(|tried| matches!(tried.outcome, Outcome::Skipped { .. }) && !tried.passed()));
}

#[test]
fn a_simulation_of_another_kind_is_broken_too() {
    let turns = || -> Vec<Turn<Mixer>> {
        let input = |tick: u32| match tick {
            0 | 1 => Input::Join(PlayerId(tick as u16), (3, Tick(tick))),
            _ => Input::Command(PlayerId(0), tick.into()),
        };
        (0..100).map(|tick| Turn { inputs: vec![input(tick)] }).collect()
    };
    let sound = check::chaos_of(&|| Mixer::new(3, 8), turns(), None, &[]);
    assert!(sound.passed(), "{sound}");
    assert!(sound.of(Breaker::Restore).is_some_and(|tried| tried.passed()));
    assert!(sound.of(Breaker::CellOrder).is_some_and(|tried| !tried.passed()), "it has no cells");
    let forgetful = || Mixer::new(3, 8).with_hidden_number();
    let report = check::chaos_of(&forgetful, turns(), None, &[Breaker::Restore]);
    let Outcome::Differs(difference) = &report.tried[0].outcome else { panic!("{report}") };
    assert!(matches!(difference.location.spots[0].part, StatePart::Entity(..)), "{report}");
    assert_eq!(difference.location.spots[0].kind, "Mixer");
}
