//! The digest changes with every source that counts, and with nothing else.

use std::fs;
use std::path::PathBuf;

/// A directory of sources, which goes with the test.
struct Sources(PathBuf);

impl Sources {
    fn new(name: &str) -> Sources {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("scene")).expect("the target directory can be written");
        let sources = Sources(dir);
        sources.write("rules.rs", "fn think() {}\n");
        sources.write("scene/draw.rs", "fn draw() {}\n");
        sources
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("the target directory can be written");
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("it is a text").to_owned()
    }

    fn digest(&self) -> u64 {
        let (all, scene) = (self.path(""), self.path("scene"));
        lockstone_digest::of_sources(&[&all], &[&scene]).expect("they can be read")
    }
}

#[test]
fn rules_that_changed_have_another_digest() {
    let sources = Sources::new("changed");
    let before = sources.digest();
    assert_eq!(sources.digest(), before);
    sources.write("rules.rs", "fn think() { }\n");
    let changed = sources.digest();
    assert_ne!(changed, before);
    sources.write("rules.rs", "fn think() {}\n");
    assert_eq!(sources.digest(), before);
    sources.write("more.rs", "");
    assert_ne!(sources.digest(), before);
}

#[test]
fn what_does_not_count_changes_nothing() {
    let sources = Sources::new("same");
    let before = sources.digest();
    sources.write("scene/draw.rs", "fn draw() { todo!() }\n");
    sources.write("scene/more.rs", "");
    sources.write("rules.rs", "fn think() {}\r\n");
    assert_eq!(sources.digest(), before);
}

#[test]
fn sources_that_are_not_there_are_an_error() {
    assert!(lockstone_digest::of_sources(&[&Sources::new("none").path("gone")], &[]).is_err());
}
