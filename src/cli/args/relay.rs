//! `relay`.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::play::{Keeping, View};
use super::reach::{Ice, server};
use super::table::RandomTable;

#[derive(clap::Args, Debug, Clone)]
pub(in crate::cli) struct Relay {
    /// The room: 1 to 64 of A-Z a-z 0-9 _ - [default: drawn]
    #[arg(long)]
    pub room: Option<String>,
    /// The room's key, which players must give too
    #[arg(long)]
    pub key: Option<String>,
    /// Where signaling is served, so that players find this relay; port 0 takes a free one
    /// [default: 0.0.0.0:3536]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Another signaling server, instead of one in this process: ws://host:port or wss://host
    #[arg(long, value_name = "URL", value_parser = server)]
    pub signal: Option<String>,
    /// Claims the room with this token (1 to 128 bytes), as a signaling server with `--host-token`
    /// wants it [default: drawn]
    #[arg(long, value_name = "TOKEN")]
    pub host_token: Option<String>,
    /// Places in the session
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub players: u16,
    /// The seed of the world [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What a player is sent at most as far as it can wait, in bytes a second [default: 1000000]
    #[arg(long, value_name = "BYTES_PER_S")]
    pub budget: Option<u32>,
    /// Play here too, as this [default: with --bot the first there is, else nobody plays here]
    #[arg(long, value_name = "CLASS")]
    pub hero: Option<String>,
    /// Your name, if you play here
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub keeping: Keeping,
    /// A bot plays here
    #[arg(long)]
    pub bot: bool,
    /// Where the world is shown [default: with a hero as in `play`, else none: a line now and then]
    #[arg(long, value_name = "VIEW")]
    pub view: Option<View>,
    /// Record the whole world into a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Go on with the session of a relay's recording, from its last tick: with the same world, and
    /// the same heroes for all who were in it. The file stays as it is [default of --room: the
    /// recorded one]
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    pub resume: Option<PathBuf>,
    /// Follow the relay of this room with the whole world, and lead on if most of its players lose
    /// it. Both need the same --host-token
    #[arg(long, value_name = "ROOM", requires = "host_token")]
    #[arg(conflicts_with_all = ["room", "resume", "seed", "hero", "name", "bot", "listen", "identity"])]
    pub standby: Option<String>,
    /// The file with the key by which you are known again, if you play here [default: one in your
    /// folder for the state of programs; a bot has none]
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Record the checksums of the world's parts too: what differs is found faster, and the file is
    /// several times as large
    #[arg(long, requires = "record")]
    pub trees: bool,
    /// End the session after so long
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: Option<u32>,
    #[command(flatten)]
    pub table: RandomTable,
    #[command(flatten)]
    pub ice: Ice,
    /// Of how many ticks at the end the report tells what they cost.
    #[arg(long, hide = true)]
    pub measured_ticks: Option<u32>,
    /// Tell the parent process, on stdout, how it goes; end when it does.
    #[arg(long, hide = true)]
    pub report: bool,
}
