//! `signal`: serves signaling until it is stopped.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lockstone_net::signaling::Server;

use super::args::Signal;
use super::failure::Failure;
use super::{STOP, place};

pub(super) fn run(args: &Signal) -> Result<ExitCode, Failure> {
    let server = Server::bind(args.listen).map_err(|error| place::failure(&error))?;
    let addr = server.local_addr();
    let _server = server.spawn().map_err(|error| place::failure(&error))?;
    println!("ws://{addr}");
    let host = if addr.ip().is_unspecified() { place::lan_address() } else { addr.ip() };
    eprintln!("Signaling is served. Peers join with --signal ws://{host}:{}; Ctrl-C ends it.", addr.port());
    while !STOP.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(ExitCode::SUCCESS)
}
