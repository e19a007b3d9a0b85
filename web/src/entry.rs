//! What the page says of the session that is to be entered, and as whom. It is checked here once.

use lockstone::net::PlayerKey;
use lockstone::net::matchbox::is_room_name;
use serde::Deserialize;

/// Which kind of session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Solo,
    Party,
    Rollback,
    Relay,
}

/// Which session is entered, and as whom.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Entry {
    pub kind: Kind,
    pub name: String,
    pub hero: String,
    /// The signaling server: `ws://host:port`.
    #[serde(default)]
    pub signal: String,
    #[serde(default)]
    pub room: String,
    pub key: Option<String>,
    #[serde(default)]
    pub stun: Vec<String>,
    pub turn: Option<String>,
    pub turn_user: Option<String>,
    pub turn_password: Option<String>,
    /// The line, or link, with which others join.
    pub join: Option<String>,
    /// Of a world that is founded here. A page draws it.
    pub seed: u32,
    /// The player's key, as 64 hexadecimal digits.
    pub identity: String,
    /// Whether the hero is kept.
    #[serde(default)]
    pub keeps: bool,
    /// What was kept of it before, as a [`Character`](lockstone::character::Character) is written.
    pub character: Option<String>,
    /// The recording of a session to go on with.
    #[serde(skip)]
    pub recording: Option<Vec<u8>>,
    /// How many players a rollback session begins with.
    pub peers: Option<usize>,
    /// A bot plays the hero.
    #[serde(default)]
    pub bot: bool,
    /// A bot accompanies whoever plays alone.
    #[serde(default)]
    pub companion: bool,
    /// Leaves after so long.
    pub seconds: Option<u32>,
    /// Leaves at this tick.
    pub until: Option<u32>,
    /// Begins without sound.
    #[serde(default)]
    pub mute: bool,
    /// Keeps every checksum for the report, and those of the world's parts.
    #[serde(default)]
    pub checksums: bool,
}

impl Entry {
    pub fn read(text: &str) -> Result<Entry, String> {
        let entry: Entry = serde_json::from_str(text)
            .map_err(|error| format!("The page and its program do not fit together ({error}): load the page again."))?;
        if entry.kind != Kind::Solo && !is_room_name(&entry.room) {
            let room = &entry.room;
            return Err(format!(
                "{room:?} is not the name of a room, which is 1 to 64 of A-Z a-z 0-9 _ -: see the link."
            ));
        }
        Ok(entry)
    }

    /// By which this player is known again.
    pub fn player_key(&self) -> Result<PlayerKey, String> {
        let key = PlayerKey::from_hex(&self.identity);
        key.ok_or_else(|| "The key that this page keeps for you is damaged: clear the page's data.".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(room: &str) -> String {
        let identity = "0f".repeat(32);
        format!(r#"{{"kind":"party","name":"Ada","hero":"mage","room":{room:?},"seed":7,"identity":"{identity}"}}"#)
    }

    #[test]
    fn an_entry_is_checked() {
        let read = Entry::read(&entry("ashen-newt-841")).expect("it is one");
        assert_eq!((read.kind, read.name.as_str(), read.bot), (Kind::Party, "Ada", false));
        assert_eq!(read.player_key().map(|key| key.public()).ok(), Some(PlayerKey::from_bytes([15; 32]).public()));
        assert!(Entry::read(&entry("no room")).is_err_and(|told| told.contains("see the link")));
        assert!(Entry::read("{}").is_err_and(|told| told.contains("load the page again")));
        let damaged = Entry { identity: "0g".repeat(32), ..read };
        assert!(damaged.player_key().is_err_and(|told| told.contains("damaged")));
    }
}
