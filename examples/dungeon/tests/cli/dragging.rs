//! What a hero carries is dragged in the page's list, by mouse and finger.

use std::fs;
use std::sync::PoisonError;

use dungeon::DungeonGame;
use lockstone::game::Game;
use lockstone::sim::PlayerId;
use testkit::delve::Play;
use testkit::open_page::OpenPage;

use super::comeback::{door, enter};
use super::page::{ALONE, blank, serve};
use super::program::folder;

/// The line of the list that begins so.
fn line(words: &str) -> String {
    format!("[...document.querySelectorAll('#notes.lists li')].find((line) => line.textContent.startsWith('{words}'))")
}

/// The middle of a part of the page, on the screen.
fn middle(page: &mut OpenPage, part: &str) -> (i64, i64) {
    let middle = format!(
        "(({{ left, top, width, height }}) => [left + width / 2, top + height / 2].map(Math.round))(
            ({part}).getBoundingClientRect())"
    );
    let place = page.tools.value(&middle);
    (place[0].as_i64().expect("a number"), place[1].as_i64().expect("a number"))
}

/// Drags a line onto a part of the page, which shows that, and waits until the list says something.
/// A picture is kept of what is held, called so.
fn drag(page: &mut OpenPage, from: &str, (to, at): (&str, (i64, i64)), by_finger: bool, says: &str, name: &str) {
    let from = middle(page, &line(from));
    let mut shown = Vec::new();
    page.tools.drag(from, at, by_finger, |tools| {
        tools.until(&format!("document.querySelector('#notes .dragged') && {to}.classList.contains('onto')"));
        shown = tools.picture();
    });
    let pictures = testkit::browser::folder(env!("CARGO_TARGET_TMPDIR"), "pictures");
    fs::write(pictures.join(name).with_extension("png"), shown).expect("there is room");
    page.tools.until(&line(says));
}

/// The same onto another line.
fn drag_to(page: &mut OpenPage, from: &str, to: &str, by_finger: bool, says: &str, name: &str) {
    page.tools.until(&format!("{} && {}", line(from), line(to)));
    let at = middle(page, &line(to));
    drag(page, from, (&line(to), at), by_finger, says, name);
}

#[test]
fn a_piece_is_dragged_to_the_bag_and_back_and_onto_the_ground() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((_server, url)), Some(mut page)) = (serve(), blank()) else { return };
    let mut play = Play::bots(3, 2);
    (0..6_000).for_each(|_| play.tick());
    let list = DungeonGame::inventory(&play.world, PlayerId(0)).expect("a hero");
    let has = |words: &str| list.iter().any(|line| line.starts_with(words) && !line.ends_with(": none"));
    let worn = ["weapon: ", "armour: ", "charm: "].into_iter().find(|slot| has(slot)).expect("it found something");
    let bag = (1..=4).map(|n| format!("bag {n}: ")).find(|place| list.contains(&format!("{place}empty")));
    let bag = bag.expect("there is room");
    let kept = DungeonGame::keep(&play.world, PlayerId(0)).expect("it is kept").text::<DungeonGame>();
    let file = folder("dragged").join("ada.character");
    fs::write(&file, kept).expect("there is room");

    page.tools.go(&door(&url, "&name=Ada"), "");
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.choose_file("brought", &file);
    page.tools.until("/comes along/.test(document.getElementById('comes').innerText)");
    enter(&mut page);
    page.tools.press("i");
    let none = format!("{worn}none");
    drag_to(&mut page, worn, &bag, false, &none, "taken-off-by-mouse");
    drag_to(&mut page, &bag, worn, false, &format!("{bag}empty"), "worn-by-mouse");
    // The same on a phone, where the list is in the drawer.
    page.tools.become_phone();
    page.tools.click("drawer");
    page.tools.until("document.getElementById('panel').checkVisibility() && innerWidth === 390");
    drag_to(&mut page, worn, &bag, true, &none, "taken-off-by-finger");
    // Beside the drawer the world is still to be seen.
    let world = ("document.getElementById('canvas')", (15, 500));
    drag(&mut page, &bag, world, true, &format!("{bag}empty"), "laid-down-by-finger");
    page.tools.until(&line(&none));
    page.assert_quiet();
}
