//! What can be said on the command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Parser, ValueEnum};
use lockstone_net::tls::Trust;

use super::soak::{Peers, Seeds};
use crate::check::chaos::{ANSWER_TIME, Breaker};
use crate::soak::{FaultKind, Kind};

/// Where a signaling server is looked for, and served, by default.
pub(super) const SIGNAL_PORT: u16 = 3536;
/// So many ticks chaos plays at most, again for each breaker.
pub(super) const CHAOS_TICKS_MAX: u32 = 1_000_000;

/// A co-op game over WebRTC: every peer runs the same world, equal to the bit.
#[derive(Parser, Debug)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub command: Option<Subcommand>,
    #[command(flatten)]
    pub play: Play,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Subcommand {
    /// Play. With no option at all: a game of your own, with a bot beside you as a second peer
    Play(Box<Play>),
    /// Let bots play as separate processes over real WebRTC, and compare their worlds
    ///
    /// In a party of 10 s or longer the last one comes late.
    Demo(Demo),
    /// Serve signaling, so that peers find each other
    Signal(Signal),
    /// Serve the game's page and signaling at one port, so that people play in their browsers
    Serve(Serve),
    /// Be the relay of a large session: simulate the whole world, and send each player what their
    /// hero's surroundings need
    Relay(Box<Relay>),
    /// Play a crowd of bots on one relay in this process, and tell what it costs
    Crowd(Crowd),
    /// Let whole sessions play on virtual time while everything goes wrong that a seed draws, and
    /// see whether all that must hold does
    Soak(Soak),
    /// Play a recording again and verify every checksum
    Replay(Replay),
    /// Tell whether recordings are in step, and if not: who differs, since when, where and why
    Check(Check),
    /// Tell what a bundle shows that a player sent in: who differs, since when, where and why
    Explain(Explain),
    /// Make the smallest recording that still fails as the given one does
    Shrink(Shrink),
    /// Answer a table and a recording on stdin: for `check chaos`.
    #[command(hide = true)]
    Answer,
    /// Send as players of a relay do: for `crowd --process`.
    #[command(hide = true)]
    Carry(Carry),
    /// Make or verify a random table
    #[command(subcommand)]
    Table(Table),
}

impl Subcommand {
    /// Whether it leaves nothing behind and owes nobody a goodbye: Ctrl-C may end it at once.
    pub fn may_break_off(&self) -> bool {
        match self {
            Subcommand::Replay(_) | Subcommand::Explain(_) | Subcommand::Crowd(_) => true,
            Subcommand::Check(args) => args.command.is_none(),
            _ => false,
        }
    }
}

#[derive(clap::Args, Debug, Default, Clone)]
pub(super) struct Play {
    /// The room to enter: 1 to 64 of A-Z a-z 0-9 _ -
    #[arg(long)]
    pub room: Option<String>,
    /// The room's key. Whoever enters first sets it
    #[arg(long)]
    pub key: Option<String>,
    /// The signaling server, as ws://host:port or wss://host
    #[arg(long, value_name = "URL", value_parser = server)]
    pub signal: Option<String>,
    /// Your name
    #[arg(long)]
    pub name: Option<String>,
    /// What you play
    #[arg(long, value_name = "CLASS")]
    pub hero: Option<String>,
    /// The file with the key by which you are known again: who is lost comes back to their hero
    /// with it, from any machine. It is made if it is not there [default: one in your folder for
    /// the state of programs; a bot has none]
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    #[command(flatten)]
    pub keeping: Keeping,
    /// Start when so many peers are there [default: 1, with --rollback 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub peers: Option<u16>,
    /// A bot plays your hero; it never goes on as a branch by itself (/branch), but comes along
    #[arg(long)]
    pub bot: bool,
    /// Show the confirmed world: your hero answers once your command is played
    #[arg(long)]
    pub no_look_ahead: bool,
    /// Play alone, without any network
    #[arg(long, conflicts_with_all = ["room", "key", "signal", "peers", "rollback"])]
    pub solo: bool,
    /// Join the relay of a room: your peer simulates the surroundings of your hero, equal to
    /// the relay's world
    #[arg(long)]
    pub relay: bool,
    #[command(flatten)]
    pub shared: Shared,
    /// Where the world is shown [default: window if there is a display, else terminal, else none]
    #[arg(long, value_name = "VIEW")]
    pub view: Option<View>,
    /// Begin without sound; /sound switches it on
    #[cfg(feature = "sound")]
    #[arg(long)]
    pub mute: bool,
    /// The seed of the world, if you found the session [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Record the session into a file. Without it a recording is saved only if worlds differ
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Go on with the session of a recording, from its last tick: with the same world, and the same
    /// heroes for all who were in it. Any of its players may begin it again, the others join. The
    /// file stays as it is [default of --room: the recorded one]
    #[arg(long = "continue", value_name = "FILE", conflicts_with = "seed")]
    pub continues: Option<PathBuf>,
    /// Record the checksums of the world's parts too: what differs is found faster, and the file is
    /// several times as large
    #[arg(long, requires = "record")]
    pub trees: bool,
    /// Save a picture of the end as PNG
    #[arg(long, value_name = "FILE")]
    pub shot: Option<PathBuf>,
    /// Leave after so long
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: Option<u32>,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    #[command(flatten)]
    pub ice: Ice,
    /// Leave at this tick.
    #[arg(long, hide = true)]
    pub until: Option<u32>,
    /// Build another world than the session's, to see that it is found out.
    #[arg(long, hide = true)]
    pub plant_fault: bool,
    /// Tell the parent process, on stdout, how it goes; end when it does.
    #[arg(long, hide = true)]
    pub report: bool,
}

/// Which hero comes along.
#[derive(clap::Args, Debug, Default, Clone)]
pub(super) struct Keeping {
    /// The file in which your hero is kept, with its level and all that it carries: it comes along
    /// to any session. It is made if it is not there [default: one for each class, in your folder
    /// for the state of programs, the last that was played if you name no --hero; a bot has none]
    #[arg(long, value_name = "FILE")]
    pub character: Option<PathBuf>,
    /// Begin anew: the hero that was kept is laid aside, in a file of its own
    #[arg(long)]
    pub new: bool,
}

/// How commands are played, as the processes that this one starts must be told too.
#[derive(clap::Args, Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Shared {
    /// Play without input delay: your hero answers at once, others are predicted and corrected.
    /// For 2 to 4 peers
    #[arg(long)]
    pub rollback: bool,
    /// How much later a command plays, 0 only with --rollback, where it is the same for all peers
    /// [default: as the lines ask for, with --rollback 0]
    #[arg(long, value_name = "TICKS")]
    pub input_delay: Option<u32>,
    /// How far a rollback session plays ahead of what it knows; the same for all peers [default: 8]
    #[arg(long, value_name = "TICKS", requires = "rollback")]
    pub max_prediction: Option<u32>,
}

impl Shared {
    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let numbers = [("--input-delay", self.input_delay), ("--max-prediction", self.max_prediction)];
        let numbers = numbers.into_iter().filter_map(|(option, number)| Some([option.to_owned(), number?.to_string()]));
        self.rollback.then(|| "--rollback".to_owned()).into_iter().chain(numbers.flatten()).collect()
    }
}

#[derive(clap::Args, Debug, Clone)]
pub(super) struct Relay {
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
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    #[command(flatten)]
    pub ice: Ice,
    /// Of how many ticks at the end the report tells what they cost.
    #[arg(long, hide = true)]
    pub measured_ticks: Option<u32>,
    /// Tell the parent process, on stdout, how it goes; end when it does.
    #[arg(long, hide = true)]
    pub report: bool,
}

/// Servers that help peers beyond the local network to find each other.
#[derive(clap::Args, Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Ice {
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

/// Where the world is shown.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// A window
    Window,
    /// The terminal
    Terminal,
    /// Nowhere: a line now and then
    None,
}

/// Where recordings are shown.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplayView {
    /// A window
    Window,
}

#[derive(clap::Args, Debug)]
pub(super) struct Demo {
    /// How many peers: at most 16, with --relay 64 beside the relay
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub peers: u16,
    /// A relay and so many replicas, instead of a party
    #[arg(long)]
    pub relay: bool,
    /// How long they play
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    #[command(flatten)]
    pub shared: Shared,
    /// The seed of the world [default: drawn]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Let the last peer build another world than the session's, to see that it is found out.
    #[arg(long, hide = true)]
    pub plant_fault: bool,
}

#[derive(clap::Args, Debug)]
pub(super) struct Signal {
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
pub(super) struct Front {
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
pub(super) struct Serve {
    #[command(flatten)]
    pub signal: Signal,
    /// The folder of the page, as `cargo xtask page` makes it [default: `page` beside this program]
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(super) struct Carry {
    #[arg(long)]
    pub signal: String,
    #[arg(long)]
    pub players: u16,
    #[arg(long)]
    pub packets_per_s: f64,
    /// Of each packet.
    #[arg(long)]
    pub bytes: usize,
}

#[derive(clap::Args, Debug)]
pub(super) struct Crowd {
    /// How many players
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub players: u16,
    /// How long they play
    #[arg(long, value_name = "M", default_value_t = 1.0, value_parser = |text: &str| number_within(text, 0.01, 1_440.0))]
    pub minutes: f64,
    /// Where they are
    #[arg(long, value_enum, default_value_t = CrowdSpread::Parties)]
    pub spread: CrowdSpread,
    /// Compare every replica's core with the whole world at every tick. Exit code 1 if one differs
    #[arg(long)]
    pub verify: bool,
    /// Play the relay once more as a process of its own, as long as they play, and tell its
    /// cost as `relay` does
    #[arg(long)]
    pub process: bool,
    /// Of 100 packets, how many are lost
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = |text: &str| number_within(text, 0.0, 90.0))]
    pub loss: f64,
    /// What a replica is sent at most as far as it can wait, in bytes a second [default: 1000000]
    #[arg(long, value_name = "BYTES_PER_S")]
    pub budget: Option<u32>,
    /// The seed of world and network [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Play for an eighth, a quarter and half of the players too, and draw the cost
    /// against their number
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Give replicas so many rings of halo fewer than they need, to see that it is found out.
    #[arg(long, hide = true, default_value_t = 0)]
    pub halo_rings_less: u16,
}

/// How a crowd is spread, and over which world.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CrowdSpread {
    /// Each alone, 100 on 1,000 x 1,000 tiles
    Uniform,
    /// In parties of four, as many
    Parties,
    /// In the game's own world, as `relay` serves it
    Own,
    /// All on one field of 256 x 256 tiles, with what the game puts there
    Hotspot,
}

fn number_within(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (low..=high).contains(&number) { Ok(number) } else { Err(format!("{low} to {high} are possible")) }
}

fn trust(file: &str) -> Result<Trust, String> {
    Trust::read(file.as_ref()).map_err(|error| error.to_string())
}

/// A signaling server's address.
fn server(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("ws://").or_else(|| text.strip_prefix("wss://"));
    let wanted = || "name a signaling server as ws://host:port, or wss://host".to_owned();
    host.filter(|host| !host.is_empty()).map(|_| text.to_owned()).ok_or_else(wanted)
}

/// A server's address: `stun:host:port`.
fn of_scheme(text: &str, scheme: &str) -> Result<String, String> {
    let host = text.strip_prefix(scheme).and_then(|rest| rest.strip_prefix(':')).filter(|host| !host.is_empty());
    let wanted = || format!("name a host behind {scheme}:, as in {scheme}:{scheme}.example.org:3478");
    host.map(|_| text.to_owned()).ok_or_else(wanted)
}

/// As a browser says it: scheme and host in small letters, and nothing after the port.
fn origin(text: &str) -> Result<String, String> {
    let origin = text.trim_end_matches('/').to_ascii_lowercase();
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = |host: &str| !host.is_empty() && host.bytes().all(|b| b.is_ascii_graphic() && !b"/?#@".contains(&b));
    if host.is_some_and(is_host) {
        Ok(origin)
    } else {
        Err("name a scheme and a host, as in https://play.example.org".into())
    }
}

#[derive(clap::Args, Debug)]
pub(super) struct Soak {
    /// Which kind of session
    #[arg(long, value_name = "KIND", value_enum, default_value_t = SoakKind::All)]
    pub kind: SoakKind,
    /// The seeds to play, B left out [default: 60 fresh ones]
    #[arg(long, value_name = "A..B")]
    pub seeds: Option<Seeds>,
    /// How many peers are there at the start, as far as a session has places [default: 2..8]
    #[arg(long, value_name = "LO..HI")]
    pub peers: Option<Peers>,
    /// How long things go wrong. Fair weather follows
    #[arg(long, value_name = "M", default_value_t = Soak::MINUTES, value_parser = |text: &str| number_within(text, 0.1, 1_440.0))]
    pub minutes: f64,
    /// What goes wrong, separated by commas [default: everything]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub faults: Vec<FaultKind>,
    /// How many runs play at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// Make the schedule of each run that fails small, and write it into a file
    #[arg(long)]
    pub shrink: bool,
    /// Tell line by line what happened in each run that fails
    #[arg(long)]
    pub tell: bool,
    /// Schedules to play, instead of those of seeds
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["kind", "seeds", "peers", "minutes", "faults"])]
    pub play: Vec<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl Soak {
    /// How long things go wrong, unless it is said otherwise.
    pub const MINUTES: f64 = 2.0;
}

/// Which kinds of session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SoakKind {
    /// All that the game has, in turn.
    All,
    One(Kind),
}

impl ValueEnum for SoakKind {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [SoakKind; 4] =
            [SoakKind::One(Kind::Party), SoakKind::One(Kind::Rollback), SoakKind::One(Kind::Relay), SoakKind::All];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            SoakKind::One(kind) => PossibleValue::new(kind.name()),
            SoakKind::All => PossibleValue::new("all"),
        })
    }
}

impl ValueEnum for FaultKind {
    fn value_variants<'a>() -> &'a [Self] {
        &FaultKind::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.does()))
    }
}

#[derive(clap::Args, Debug)]
pub(super) struct Replay {
    /// The recording; with --view also several peers' of one session, and bundles
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show them, instead of verifying one: any tick, by any hero's eyes, and two recordings side
    /// by side, with the cells marked that differ. Space plays, arrows go a tick, PageUp and
    /// PageDown 10 s, Home and End to the ends, + and - change the speed, Tab looks with another
    /// hero's eyes, R at another recording, B puts one beside it, a click on a cell tells where its
    /// difference came from, Esc closes
    #[arg(long, value_name = "VIEW", conflicts_with = "drawn")]
    pub view: Option<ReplayView>,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Draw it as moving pictures into this file, instead of verifying it
    #[arg(long, value_name = "FILE", group = "drawn")]
    pub gif: Option<PathBuf>,
    /// The same in all colours, and a smaller file
    #[arg(long, value_name = "FILE", group = "drawn")]
    pub webp: Option<PathBuf>,
    /// The first tick to draw [default: the recording's first]
    #[arg(long, value_name = "TICK", requires = "drawn")]
    pub from: Option<u32>,
    /// The tick behind the last to draw [default: the recording's last]
    #[arg(long, value_name = "TICK", requires = "drawn")]
    pub to: Option<u32>,
}

#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Check {
    #[command(subcommand)]
    pub command: Option<CheckCommand>,
    /// Recordings: one, or several peers' of one session
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub telling: Telling,
}

#[derive(clap::Args, Debug)]
pub(super) struct Explain {
    /// A bundle that a peer saved when worlds differed
    #[arg(value_name = "BUNDLE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub telling: Telling,
}

/// How what was found is told.
#[derive(clap::Args, Debug)]
pub(super) struct Telling {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the result as a page for a browser, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the recordings, and all that it takes to look at them and to check them, as one page
    /// for a browser, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    pub page: Option<PathBuf>,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum CheckCommand {
    /// Break what a deterministic game must not depend on, and see whether it notices
    Chaos(Chaos),
    /// List every float instruction in a WebAssembly module of the simulation. Exit code 1
    /// if there are any
    Floats(Floats),
    /// Change every field of everything that bots meet, and see whether the checksum changes
    Coverage(Coverage),
}

impl ValueEnum for Breaker {
    fn value_variants<'a>() -> &'a [Self] {
        &Breaker::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.does()))
    }
}

#[derive(clap::Args, Debug)]
pub(super) struct Coverage {
    /// How many ticks bots play
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub ticks: u32,
    /// How many bots play
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub heroes: u16,
    /// The seed of the world
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(super) struct Shrink {
    /// The recording that fails
    pub file: PathBuf,
    /// Where the small one goes; no file is written over [default: FILE with -small in its name]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Look for what this breaker finds, and for nothing else
    #[arg(long, value_name = "NAME")]
    pub breaker: Option<Breaker>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
pub(super) struct Chaos {
    /// A recording to play, instead of bots
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ticks", "heroes", "seed"])]
    pub play: Option<PathBuf>,
    /// How many ticks bots play
    #[arg(long, value_name = "N", default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..=CHAOS_TICKS_MAX.into()))]
    pub ticks: u32,
    /// How many bots play
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub heroes: u16,
    /// The seed of the world
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Only this breaker. Can be given several times
    #[arg(long, value_name = "NAME", value_enum)]
    pub only: Vec<Breaker>,
    /// This program's other build, debug or release [default: where cargo puts it]
    #[arg(long, value_name = "FILE")]
    pub other: Option<PathBuf>,
    /// This program as a wasm32-wasip1 module [default: where cargo puts it]
    #[arg(long, value_name = "FILE")]
    pub wasm: Option<PathBuf>,
    /// Another random table than the one that is built in
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// How long another process may take to answer, and then for each tick, before it is ended
    #[arg(long, value_name = "N", default_value_t = ANSWER_TIME.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub answer_seconds: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args, Debug)]
pub(super) struct Floats {
    /// The module: a release build for wasm32-wasip1 of a program in which the game plays by itself
    /// and draws nothing
    pub wasm: PathBuf,
    /// Functions whose names begin so may have floats. Can be given several times
    #[arg(long, value_name = "BEGINNING")]
    pub allow: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Subcommand, Debug)]
pub(super) enum Table {
    /// Make the table of a seed
    Generate {
        /// 32 bytes, as 64 digits
        #[arg(long, value_name = "HEX")]
        seed: String,
        /// Where to write it
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Check every byte of a table's file, and that it is the table of its seed
    Verify {
        /// The table
        file: PathBuf,
    },
}
