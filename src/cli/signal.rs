//! `signal`: serves signaling until it is stopped.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lockstone_net::signaling::Server;

use super::args::Signal;
use super::failure::Failure;
use super::{STOP, place};
use crate::output::{print, say};

pub(super) fn run(args: &Signal) -> Result<ExitCode, Failure> {
    place::check_token(args.host_token.as_deref())?;
    let server = Server::bind(args.listen)?;
    let server = match &args.host_token {
        Some(token) => server.with_host_token(token),
        None => server,
    };
    let addr = server.local_addr();
    // Nobody comes back to a port that was drawn.
    let own = || Some(addr.port()).filter(|_| args.listen.port() != 0).and_then(place::rooms_file);
    let server = match args.state.clone().or_else(own) {
        Some(file) => server.with_register(&file)?,
        None => server,
    };
    let _server = server.spawn()?;
    print(format_args!("ws://{addr}"));
    say(format_args!("Signaling is served. Peers join with --signal ws://{}; Ctrl-C ends it.", place::public(addr)));
    while !STOP.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(ExitCode::SUCCESS)
}
