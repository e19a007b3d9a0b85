//! How the source and the documents are written, as far as a program can tell.
//!
//! All faults are reported at once, each as file and line. A planted fault shows that each is seen.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest line of a comment or a document, in characters.
const COLUMNS_MAX: usize = 100;

/// Folders that nobody writes by hand.
const SKIPPED: [&str; 2] = ["target", ".git"];

#[test]
fn comments_and_documents_are_narrow_and_every_module_has_a_header() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(root, &mut files);
    assert!(files.len() > 100, "the repository is not here: {} files", files.len());
    let mut all = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).expect("it was found there").to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        all.extend(faults(&name, &text));
    }
    assert!(all.is_empty(), "{} faults of style:\n{}", all.len(), all.join("\n"));
}

#[test]
fn the_protocol_is_told_of_the_versions_that_there_are() {
    let protocol = include_str!("../PROTOCOL.md");
    for told in [
        format!("version **{}** of the wire protocol", lockstone::net::wire::PROTOCOL_VERSION),
        format!("\"LKSTREC\"  version: u8 = {} ", lockstone::recording::format::VERSION),
        format!("\"LKSTBND\"  version: u8 = {} ", lockstone::recording::bundle::VERSION),
    ] {
        assert!(protocol.contains(&told), "{told}");
    }
}

#[test]
fn no_test_stands_where_none_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(root, &mut files);
    let (mut lost, mut looked_at) = (Vec::new(), 0);
    for file in files {
        let Some(package) = file.ancestors().find(|folder| folder.ends_with("src")).and_then(Path::parent) else {
            continue;
        };
        let Ok(manifest) = fs::read_to_string(package.join("Cargo.toml")) else { continue };
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        looked_at += usize::from(manifest.contains("test = false"));
        lost.extend(never_run(&manifest, &text).map(|what| format!("{}: {what}", file.display())));
    }
    assert!(looked_at > 100, "only {looked_at} files are of packages that switch tests off");
    assert!(lost.is_empty(), "see Cargo.toml:\n{}", lost.join("\n"));
}

/// A test in a package's source that its manifest switches off.
fn never_run(manifest: &str, text: &str) -> Option<&'static str> {
    let is_off = |what: &str| manifest.lines().any(|line| line == what);
    let has_test = || text.lines().any(|line| ["#[test]", "proptest! {"].contains(&line.trim_start()));
    let fences =
        text.lines().filter_map(|line| line.trim_start().strip_prefix("//")?.get(1..)?.trim().strip_prefix("```"));
    let opened = |(n, tag): (usize, &str)| n % 2 == 0 && !["text", "ignore", "sh", "toml"].contains(&tag);
    match () {
        () if is_off("test = false") && has_test() => Some("a test"),
        () if is_off("doctest = false") && fences.enumerate().any(opened) => Some("an example in its documentation"),
        () => None,
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            walk(&path, files);
        } else if path.is_file() && (name.ends_with(".rs") || name.ends_with(".md")) {
            files.push(path);
        }
    }
}

/// What is wrong with a file, a line for each fault.
fn faults(name: &str, text: &str) -> Vec<String> {
    let wrong = if name.ends_with(".rs") { of_rust(name, text) } else { of_markdown(text) };
    wrong.into_iter().map(|(line, what)| format!("{name}:{line}: {what}")).collect()
}

fn of_rust(name: &str, text: &str) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    if name.split('/').any(|part| part == "src") && !text.trim_start().starts_with("//!") {
        wrong.push((1, "a module without a header (//!)".to_owned()));
    }
    for (line, number) in text.lines().zip(1..) {
        let content = line.trim_start();
        if content.starts_with("//") {
            wrong.extend(too_wide(line).map(|what| (number, what)));
        }
        // An example is what it is tested as.
        if content.starts_with("#[path") && !content.contains("/examples/") {
            wrong.push((number, "a module from elsewhere (#[path]): share it through a crate".to_owned()));
        }
    }
    wrong
}

fn of_markdown(text: &str) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1..) {
        let content = line.trim_start();
        if content.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !content.starts_with('|') && !is_link(content) {
            wrong.extend(too_wide(line).map(|what| (number, what)));
        }
    }
    wrong
}

fn too_wide(line: &str) -> Option<String> {
    let columns = line.chars().count();
    (columns > COLUMNS_MAX).then(|| format!("{columns} columns, where at most {COLUMNS_MAX} are allowed"))
}

/// Whether a line of Markdown is one link or picture and nothing else: it cannot be broken.
fn is_link(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ");
    let definition = line.starts_with('[') && line.contains("]: ") && line.split_whitespace().count() == 2;
    let inline =
        (line.starts_with('[') || line.starts_with("![")) && line.ends_with(')') && line.matches("](").count() == 1;
    definition || inline || (line.starts_with("https://") && !line.contains(' '))
}

#[test]
fn planted_faults_are_seen() {
    let (test, example) = ("mod tests {\n    #[test]\n", "//! ```text\n//! ```\n/// ```\n/// f();\n/// ```\n");
    assert_eq!(never_run("[lib]\ntest = false\n", test), Some("a test"));
    assert_eq!(never_run("[lib]\ndoctest = false\n", test), None);
    assert_eq!(never_run("[lib]\ndoctest = false\n", example), Some("an example in its documentation"));
    assert_eq!(never_run("[lib]\ntest = false\n", example), None);
    let wide = "word ".repeat(21);
    let wide = wide.trim_end();
    let lines = |name: &str, text: &str| faults(name, text).len();
    assert_eq!(faults("src/a.rs", &format!("//! {wide}")), ["src/a.rs:1: 108 columns, where at most 100 are allowed"]);
    assert_eq!(lines("src/a.rs", &format!("//! A.\nfn f() {{}} /* {wide} */\n    /// {wide}\n    // {wide}")), 2);
    assert_eq!(lines("src/a.rs", "use core::fmt;"), 1);
    assert_eq!(lines("tests/a.rs", "use core::fmt;"), 0);
    assert_eq!(lines("tests/a.rs", "    #[path = \"../b.rs\"]\nmod b;"), 1);
    assert_eq!(lines("a.md", &format!("- {wide}\n```text\n{wide}\n```\n| {wide} |\n![{wide}](a.png)\n{wide}")), 2);
}
