//! `signal` and `serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::SIGNAL_PORT;
use super::reach::{of_scheme, origin};

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Signal {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from(([0, 0, 0, 0], SIGNAL_PORT)))]
    pub listen: SocketAddr,
    /// Let only those relays claim rooms that present this token (1 to 128 bytes); without it any
    /// relay may, with a token of its own
    #[arg(long, value_name = "TOKEN")]
    pub host_token: Option<String>,
    /// Of browsers, let only pages of this origin in, such as https://play.example.org; may be
    /// given again for others (default: all pages)
    #[arg(long = "origin", value_name = "URL", value_parser = origin)]
    pub origins: Vec<String>,
    /// Where the server remembers its rooms for when it is started again (default: a file for its
    /// port in your state folder)
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub front: Front,
    /// A TURN server that whoever is let into a room may use, with credentials that peers are given
    /// when they enter: none of them needs --turn
    #[arg(long, value_name = "URL", requires = "turn_secret_file", value_parser = |text: &str| of_scheme(text, "turn"))]
    pub turn: Option<String>,
    /// The file with the secret that the TURN server has too (coturn's static-auth-secret): peers
    /// are given credentials that it makes, and that end after 12 h
    #[arg(long, value_name = "FILE", requires = "turn")]
    pub turn_secret_file: Option<PathBuf>,
}

/// How a server is seen from outside.
#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Front {
    /// Speak https and wss, with the certificate of this file (PEM; those that lead to a trusted
    /// one come after it)
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    pub cert: Option<PathBuf>,
    /// The file with the certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub cert_key: Option<PathBuf>,
    /// The address of a reverse proxy in front of this server: its word is taken, in
    /// X-Forwarded-For, on where visitors come from. Can be given several times
    #[arg(long = "trust-forwarded", value_name = "IP")]
    pub proxies: Vec<IpAddr>,
    /// How others reach this server, such as https://play.example.org: links are printed with it
    #[arg(long, value_name = "URL", value_parser = origin)]
    pub public: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(in crate::cli) struct Serve {
    #[command(flatten)]
    pub signal: Signal,
    /// The folder of the page, as `cargo xtask page` makes it [default: `page` beside this program]
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
}
