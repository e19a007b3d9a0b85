//! `play`: what a person says of their session, and what the processes of one share.

use std::path::PathBuf;

use clap::ValueEnum;

use super::reach::{Ice, server};
use super::table::RandomTable;

#[derive(clap::Args, Debug, Default, Clone)]
pub(in crate::cli) struct Play {
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
    #[command(flatten)]
    pub table: RandomTable,
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
pub(in crate::cli) struct Keeping {
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
pub(in crate::cli) struct Shared {
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

/// Where the world is shown.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum View {
    /// A window
    Window,
    /// The terminal
    Terminal,
    /// Nowhere: a line now and then
    None,
}
