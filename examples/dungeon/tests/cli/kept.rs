//! Heroes that are kept in files, as people meet them: what comes along, what is refused, and that
//! nothing is ever lost.

use std::fs;
use std::path::Path;

use super::program::{dungeon, folder, refused, run, text};

/// Plays alone for some ticks, with more arguments. Returns what was told.
fn play(more: &[&str]) -> String {
    let output = run(&[&["--solo", "--view", "none", "--until", "100"], more].concat());
    let told = text(&output.stderr).to_owned();
    assert!(output.status.success(), "{told}");
    told
}

/// A folder, and the hero of a bot that played there.
fn kept(name: &str) -> (std::path::PathBuf, String) {
    let file = folder(name).join("ada.character");
    let path = file.to_str().expect("it is text").to_owned();
    let told = play(&["--bot", "--seed", "3", "--character", &path]);
    assert!(told.contains(&format!("Your hero is kept in {path}")), "{told}");
    (file, path)
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).expect("it is there").lines().map(str::to_owned).collect()
}

#[test]
fn a_hero_comes_along_and_is_laid_aside_if_its_player_begins_anew() {
    let (file, path) = kept("kept");
    let before = lines(&file);
    assert_eq!(before[..3], ["Lockstone character 1", "dungeon", "warrior"], "{before:?}");
    assert!(play(&["--bot", "--seed", "4", "--character", &path]).contains(&format!("Your {} is back", before[3])));
    assert!(lines(&file)[4].parse::<u64>().ok() >= before[4].parse().ok(), "it goes on from there");
    let before = lines(&file);
    let told = play(&["--bot", "--hero", "mage", "--seed", "4", "--new", "--character", &path]);
    let aside = file.with_file_name("ada-2.character");
    assert!(told.contains(&format!("--character {} plays it on", aside.display())), "{told}");
    assert_eq!((lines(&aside), lines(&file)[2].as_str()), (before, "mage"));
}

#[test]
fn what_cannot_come_along_is_told_and_left_as_it_is() {
    let (file, path) = kept("unfit");
    let told = refused(&["--solo", "--hero", "mage", "--character", &path]);
    assert!(told.contains("keeps a warrior of level") && told.contains("leave out --hero mage"), "{told}");
    let whole = fs::read(&file).expect("it is there");
    let refused_as_is = |bytes: &[u8], cause: &str| {
        fs::write(&file, bytes).expect("it can be written");
        let told = refused(&["--solo", "--view", "none", "--seconds", "1", "--character", &path]);
        assert!(told.contains(cause) && told.contains("--new, which lays it aside"), "{told}");
        assert_eq!(fs::read(&file).expect("it is there"), bytes, "it is left as it is");
    };
    refused_as_is(&whole[..whole.len() / 2], "it is damaged");
    refused_as_is(b"", "it is no character of this game");
    refused_as_is(b"my notes", "it is no character of this game");
    assert!(refused(&["--solo", "--character", "/no/such/folder/x"]).contains("/no/such/folder/x"));
}

#[test]
fn a_person_has_a_hero_of_each_class_and_goes_on_with_the_last() {
    let home = folder("home");
    let play = |more: &[&str]| {
        let args = [&["--solo", "--view", "none", "--until", "40"], more].concat();
        let output = dungeon(&args).env("XDG_STATE_HOME", &home).output().expect("it runs");
        text(&output.stderr).to_owned()
    };
    let place = |class: &str| home.join("dungeon").join(class).with_extension("character");
    assert!(play(&["--hero", "mage"]).contains(&format!("kept in {}", place("mage").display())));
    assert!(play(&[]).contains("Your mage of level 1 is back"));
    assert!(play(&["--hero", "ranger"]).contains("Your hero is kept in"));
    assert!(!place("warrior").exists(), "it was never played");
    // A bot has none, unless it is said.
    assert!(!play(&["--bot", "--hero", "warrior"]).contains("kept") && !place("warrior").exists());
}
