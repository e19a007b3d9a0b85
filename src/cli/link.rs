//! The link with which a friend joins in a browser, as text and as a QR code; and the page that it
//! opens, if this program has one.
//!
//! A room's key stands behind the `#` of a link: no server ever sees it.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use lockstone_net::signaling::Pages;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use super::args::Ice;
use super::failure::Failure;
use crate::game::Game;
use crate::output::say;
use crate::view::Join;

/// Where `cargo xtask page` puts the page: a folder beside the program.
const FOLDER: &str = "page";

/// What stands otherwise in a link: all but what RFC 3986 leaves unreserved.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The page in a folder, as a program of a game shows it.
pub(super) fn page_in<G: Game>(folder: &Path) -> Result<Pages, Failure> {
    let advice = "make it with `cargo xtask page`, or name its folder with --page";
    let page = Pages::read(folder);
    page.map(|page| page.of_rules(G::rules_digest()))
        .map_err(|error| Failure::file("serve the page in", folder, format!("{error}; {advice}")))
}

/// The folder beside this program in which its page is, if it has one. A page is built in release,
/// also for a program that is not.
pub(super) fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.with_file_name(FOLDER);
    let of_release = program.ancestors().nth(2).map(|target| target.join("release").join(FOLDER));
    of_release.filter(|folder| !beside.exists() && folder.exists()).unwrap_or(beside)
}

/// The page beside this program, if there is one.
pub(super) fn page<G: Game>() -> Option<Pages> {
    page_in::<G>(&folder()).ok()
}

/// The link to a room, from the address at which its page is served. `words` say which kind of
/// session is there.
pub(super) fn to_room(page_url: &str, room: &str, key: Option<&str>, words: &[&str], ice: &Ice) -> String {
    let words: String = words.iter().map(|word| format!("&{word}")).collect();
    let named = named(key, ice).map(|(name, value)| format!("&{name}={}", utf8_percent_encode(value, ENCODED)));
    let named: String = named.collect();
    format!("{page_url}/#room={room}{named}{words}")
}

/// The same of the line that a friend types.
pub(super) fn options(key: Option<&str>, ice: &Ice) -> String {
    let is_plain = |value: &str| value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:/?=@+,".contains(&b));
    let quoted = |value: &str| {
        if is_plain(value) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
    };
    named(key, ice).map(|(name, value)| format!(" --{name} {}", quoted(value))).collect()
}

/// What a friend needs beside the room's name, each by its name.
fn named<'a>(key: Option<&'a str>, ice: &'a Ice) -> impl Iterator<Item = (&'static str, &'a str)> {
    key.map(|key| ("key", key)).into_iter().chain(ice.named())
}

/// Says that there is a link, and shows it as a code where a person may have it before a camera.
pub(super) fn tell(join: &Join) {
    let Some(link) = &join.link else { return };
    say(format_args!("In a browser: {link}"));
    if std::io::stderr().is_terminal()
        && let Ok(code) = QrCode::new(link)
    {
        // Terminals are mostly dark, and cameras want dark signs on a light ground.
        let picture = code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
        say(picture);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_holds_all_that_a_page_needs() {
        let page = "http://192.0.2.7:3536";
        let (none, mut ice) = (Ice::default(), Ice::default());
        assert_eq!(to_room(page, "hall", None, &[], &none), "http://192.0.2.7:3536/#room=hall");
        let whole = "http://192.0.2.7:3536/#room=hall&key=a%20%26%C3%A9&relay";
        assert_eq!(to_room(page, "hall", Some("a &é"), &["relay"], &none), whole);
        ice.turn = Some("turn:turn.example.org".to_owned());
        assert_eq!(to_room(page, "hall", None, &[], &ice), "http://192.0.2.7:3536/#room=hall", "nobody may use it");
        assert_eq!(options(Some("oak"), &none), " --key oak");
        assert_eq!(options(Some("it's an oak"), &none), r" --key 'it'\''s an oak'");
        (ice.turn_user, ice.turn_password) = (Some("ada".to_owned()), Some("a=b".to_owned()));
        let turn = "&turn=turn%3Aturn.example.org&turn-user=ada&turn-password=a%3Db";
        assert_eq!(to_room(page, "hall", None, &[], &ice), format!("http://192.0.2.7:3536/#room=hall{turn}"));
    }
}
