//! Writes each target's seeds to `corpus/<target>/`, where `cargo fuzz run` looks for them.

use std::fs;
use std::path::Path;

use lockstone_fuzz::TARGETS;

fn main() -> std::io::Result<()> {
    for target in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        fs::create_dir_all(&folder)?;
        let seeds = (target.seeds)();
        println!("{}: {} seeds, {} bytes", target.name, seeds.len(), seeds.iter().map(Vec::len).sum::<usize>());
        for (n, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{n:02}")), seed)?;
        }
    }
    Ok(())
}
