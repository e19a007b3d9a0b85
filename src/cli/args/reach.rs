//! How others are reached: signaling servers, STUN and TURN, and the addresses of all of them.

use lockstone_net::matchbox::is_ice_server;
use lockstone_net::tls::Trust;

/// Servers that help peers beyond the local network to find each other.
#[derive(clap::Args, Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Ice {
    /// A STUN server, for peers beyond the local network. Can be given several times
    #[arg(long, value_name = "URL", value_parser = |text: &str| of_scheme(text, "stun"))]
    pub stun: Vec<String>,
    /// A TURN server, for peers that no other way joins: it passes on all that they send [default:
    /// the one that the signaling server has for its peers, if it has one]
    #[arg(
        long,
        value_name = "URL",
        requires_all = ["turn_user", "turn_password"],
        value_parser = |text: &str| of_scheme(text, "turn")
    )]
    pub turn: Option<String>,
    /// Who may use the TURN server
    #[arg(long, value_name = "USER", requires = "turn")]
    pub turn_user: Option<String>,
    /// The user's password there
    #[arg(long, value_name = "PASSWORD", requires = "turn")]
    pub turn_password: Option<String>,
    /// Of signaling servers behind wss://, trust those alone that have a certificate of this file,
    /// or one that they have signed [default: those that the web trusts]
    #[arg(long, value_name = "FILE", value_parser = trust)]
    pub signal_ca: Option<Trust>,
}

impl Ice {
    /// The TURN server and its user.
    pub fn turn(&self) -> Option<(&str, &str, &str)> {
        Some((self.turn.as_deref()?, self.turn_user.as_deref()?, self.turn_password.as_deref()?))
    }

    /// Who is taken for the signaling server.
    pub fn trust(&self) -> Trust {
        self.signal_ca.clone().unwrap_or_default()
    }

    /// What is named, each by its option's name without the dashes.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let turn =
            self.turn().map(|(url, user, password)| [("turn", url), ("turn-user", user), ("turn-password", password)]);
        self.stun.iter().map(|url| ("stun", url.as_str())).chain(turn.into_iter().flatten())
    }
}

pub(super) fn trust(file: &str) -> Result<Trust, String> {
    Trust::read(file.as_ref()).map_err(|error| error.to_string())
}

/// A signaling server's address.
pub(super) fn server(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("ws://").or_else(|| text.strip_prefix("wss://"));
    let wanted = || "name a signaling server as ws://host:port, or wss://host".to_owned();
    host.filter(|host| !host.is_empty()).map(|_| text.to_owned()).ok_or_else(wanted)
}

/// A server's address: `stun:host:port`.
pub(super) fn of_scheme(text: &str, scheme: &str) -> Result<String, String> {
    let wanted = || format!("name a host behind {scheme}:, as in {scheme}:{scheme}.example.org:3478");
    is_ice_server(text, scheme).then(|| text.to_owned()).ok_or_else(wanted)
}

/// As a browser says it: scheme and host in small letters, and nothing after the port.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim_end_matches('/').to_ascii_lowercase();
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = |host: &str| !host.is_empty() && host.bytes().all(|b| b.is_ascii_graphic() && !b"/?#@".contains(&b));
    if host.is_some_and(is_host) {
        Ok(origin)
    } else {
        Err("name a scheme and a host, as in https://play.example.org".into())
    }
}
