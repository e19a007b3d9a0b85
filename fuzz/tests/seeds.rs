//! The seeds, and simple damage to them, pass their own checks: a fuzzer starts from what holds.

use lockstone_fuzz::TARGETS;

/// One test, because memory is counted for the whole process.
#[test]
fn seeds_pass_their_checks_whole_cut_and_damaged() {
    for target in TARGETS {
        let seeds = (target.seeds)();
        assert!(seeds.iter().map(Vec::len).sum::<usize>() < 128 * 1_024, "{}: the seeds are not small", target.name);
        for (n, seed) in seeds.iter().enumerate() {
            println!("{} {n}", target.name);
            assert!((target.check)(seed), "{} {n} is not understood", target.name);
            (target.check)(&seed[..seed.len() / 2]);
            let mut damaged = seed.clone();
            damaged.iter_mut().step_by(17).for_each(|byte| *byte ^= 1);
            (target.check)(&damaged);
        }
    }
}
