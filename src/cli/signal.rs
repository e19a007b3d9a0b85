//! `signal`: serves signaling until it is stopped.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lockstone_net::matchbox::TOKEN_BYTES_MAX;
use lockstone_net::signaling::Server;

use super::args::Signal;
use super::failure::Failure;
use super::{STOP, place};

pub(super) fn run(args: &Signal) -> Result<ExitCode, Failure> {
    if args.host_token.as_ref().is_some_and(|token| !(1..=TOKEN_BYTES_MAX).contains(&token.len())) {
        return Err(Failure::new(format!("the host token is not one: use 1 to {TOKEN_BYTES_MAX} bytes")));
    }
    let server = Server::bind(args.listen).map_err(|error| place::failure(&error))?;
    let server = match &args.host_token {
        Some(token) => server.with_host_token(token),
        None => server,
    };
    let addr = server.local_addr();
    let _server = server.spawn().map_err(|error| place::failure(&error))?;
    println!("ws://{addr}");
    eprintln!("Signaling is served. Peers join with --signal ws://{}; Ctrl-C ends it.", place::public(addr));
    while !STOP.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(ExitCode::SUCCESS)
}
