//! `table`, and the table that others play with.

use std::path::PathBuf;

/// The random table to play with.
#[derive(clap::Args, Debug, Default, Clone)]
pub(in crate::cli) struct RandomTable {
    /// Another random table than the one that is built in
    #[arg(id = "table", long = "table", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

#[derive(clap::Subcommand, Debug)]
pub(in crate::cli) enum Table {
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
