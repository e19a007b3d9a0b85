//! A game's page: its wasm with what JavaScript needs to call it, the files of every page, and all
//! of them compressed.

use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";
/// The profile by which cargo builds a page: the workspace's manifest has it.
const PROFILE: &str = "page";
/// The programs of a page, each a build of the game's crate with that feature, and what their files
/// are called: the same for every game.
const PROGRAMS: [(&str, &str); 2] = [("play", "game"), ("view", "viewer")];

/// Builds it. Returns what to tell.
pub fn build(package: &str, example: Option<&str>, out: Option<PathBuf>) -> Result<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is in a folder of the workspace");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let built = target.join(TARGET).join(PROFILE);
    let (wasm, shown, folder) = match example {
        None => (built.join(package.replace('-', "_")), root.join("web/page"), "page".to_owned()),
        Some(name) => {
            let shown = root.join("examples").join(package).join(name);
            (built.join("examples").join(name), shown, format!("page-{name}"))
        }
    };
    let wasm = wasm.with_extension("wasm");
    let out = out.unwrap_or_else(|| target.join("release").join(folder));
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).map_err(|error| cannot("make", &out, error))?;
    let programs = if example.is_some() { &PROGRAMS[..1] } else { &PROGRAMS[..] };
    for (feature, name) in programs {
        compile(root, package, example, feature)?;
        // Who plays it reads no names of functions, and no lines.
        let mut bindgen = Bindgen::new();
        bindgen.input_path(&wasm).typescript(false).remove_name_section(true).remove_producers_section(true);
        let bound = bindgen.out_name(name).web(true).and_then(|bindgen| bindgen.generate(&out));
        bound.map_err(|error| cannot("bind", &wasm, format!("{error:#}")))?;
    }
    for file in files(&shown)?.iter().chain(&report_files(root, example)) {
        copy(file, &out)?;
    }
    let mut told = format!("{}:", out.display());
    for (name, sizes) in compressed(&out, programs)? {
        let [plain, gzip, brotli] = sizes.map(|bytes| bytes as f64 / 1e3);
        told += &format!("\n  {name}: {plain:.0} KB, by gzip {gzip:.0} KB, by brotli {brotli:.0} KB");
    }
    Ok(told + "\nServe it with `serve`.")
}

/// The style and the script of a report, as the checker's own pages have them.
fn report_files(root: &Path, example: Option<&str>) -> Vec<PathBuf> {
    let of_report = |name| root.join("src/check/page").join(name);
    if example.is_some() { Vec::new() } else { ["report.css", "report.js"].map(of_report).into() }
}

/// Compresses all files. Returns what each program of the page is loaded with: of the files that
/// both need, both.
fn compressed<'p>(out: &Path, programs: &[(&str, &'p str)]) -> Result<Vec<(&'p str, [usize; 3])>, String> {
    let mut sizes: Vec<_> = programs.iter().map(|(_, name)| (*name, [0; 3])).collect();
    for file in files(out)? {
        let (each, name) = (compress(&file)?, file.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let is_of_another =
            |program: &str| programs.iter().any(|(_, other)| *other != program && name.starts_with(other));
        for (_, sum) in sizes.iter_mut().filter(|(program, _)| !is_of_another(program)) {
            sum.iter_mut().zip(each).for_each(|(sum, bytes)| *sum += bytes);
        }
    }
    Ok(sizes)
}

fn compile(root: &Path, package: &str, example: Option<&str>, feature: &str) -> Result<(), String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", PROFILE, "--locked", "--target", TARGET, "--package", package]).current_dir(root);
    cargo.args(["--no-default-features", "--features", feature]);
    cargo.args(example.into_iter().flat_map(|name| ["--example", name]));
    // Four numbers at once: a picture takes half the time. Every browser has it since 2023.
    let four = "-C target-feature=+simd128";
    // A call in place of so much code: pictures take as long, a tick 2 % longer, and the program is
    // a tenth less to load. A browser inlines nothing by itself, so what a tick calls most often is
    // marked as `inline(always)`.
    let small = "-C llvm-args=-inline-threshold=40";
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", format!("{four} {small}"));
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{package} was not built: see above; `rustup target add {TARGET}` adds the target")),
        Err(error) => Err(format!("cargo cannot be run: {error}")),
    }
}

/// Copies a file of a page. The page is told how long its program is, for whoever waits for it.
fn copy(file: &Path, out: &Path) -> Result<(), String> {
    let length = fs::metadata(out.join("game_bg.wasm")).map_or(0, |wasm| wasm.len());
    let copied = fs::read(file).and_then(|bytes| {
        let text = String::from_utf8(bytes).map(|text| text.replace("{{bytes}}", &length.to_string()).into_bytes());
        let bytes = text.unwrap_or_else(|binary| binary.into_bytes());
        fs::write(out.join(file.file_name().unwrap_or_default()), bytes)
    });
    copied.map_err(|error| cannot("copy", file, error))
}

/// Writes a file's compressed forms beside it. Returns the sizes: as it is, by gzip, by brotli.
fn compress(file: &Path) -> Result<[usize; 3], String> {
    let plain = fs::read(file).map_err(|error| cannot("read", file, error))?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let gzip = gzip.write_all(&plain).and_then(|()| gzip.finish());
    let gzip = gzip.map_err(|error| cannot("compress", file, error))?;
    let mut brotli = Vec::new();
    // The best there is: it takes seconds, once.
    let params = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 24, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut brotli, &params).map_err(|error| cannot("compress", file, error))?;
    for (bytes, ending) in [(&gzip, "gz"), (&brotli, "br")] {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{ending}"));
        fs::write(&name, bytes).map_err(|error| cannot("write", Path::new(&name), error))?;
    }
    Ok([plain.len(), gzip.len(), brotli.len()])
}

/// The files of a folder, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut files: Vec<PathBuf> = entries.map_err(|error| cannot("read", folder, error))?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

fn cannot(doing: &str, path: &Path, cause: impl Display) -> String {
    format!("cannot {doing} {}: {cause}", path.display())
}
