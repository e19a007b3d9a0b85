//! `signal`: serves signaling until it is stopped, and tells now and then how much it has to do.
//! `serve`: the same, and a page.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lockstone_net::signaling::{Pages, Server};

use super::args::Signal;
use super::failure::Failure;
use super::{STOP, link, place};
use crate::output::{print, say};
use crate::view::Join;

/// Between two lines of figures. They are told if they have changed.
const TELLS: Duration = Duration::from_secs(60);

pub(super) fn run(args: &Signal, page: Option<Pages>) -> Result<ExitCode, Failure> {
    place::check_token(args.host_token.as_deref())?;
    let server = Server::bind(args.listen)?;
    let server = match &args.host_token {
        Some(token) => server.with_host_token(token),
        None => server,
    };
    let server = args.origins.iter().fold(server, |server, origin| server.with_origin(origin));
    let addr = server.local_addr();
    // Nobody comes back to a port that was drawn.
    let own = || Some(addr.port()).filter(|_| args.listen.port() != 0).and_then(place::rooms_file);
    let server = match args.state.clone().or_else(own) {
        Some(file) => server.with_register(&file)?,
        None => server,
    };
    let url = format!("http://{}/", place::public(addr));
    let join = Join { line: String::new(), link: page.is_some().then_some(url) };
    let server = match page {
        Some(page) => server.with_pages(page),
        None => server,
    };
    let server = server.spawn()?;
    print(format_args!("ws://{addr}"));
    link::tell(&join);
    say(format_args!(
        "Signaling is served. Peers join with --signal ws://{0}; http://{0}/?figures tells how much it has to do; \
         Ctrl-C ends it.",
        place::public(addr)
    ));
    let (mut told, mut told_at) = (server.figures(), Instant::now());
    while !STOP.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
        if told_at.elapsed() >= TELLS {
            told_at = Instant::now();
            let figures = server.figures();
            if figures != told {
                say(format_args!("{figures}"));
            }
            told = figures;
        }
    }
    if server.figures().entries > 0 {
        say(format_args!("{}", server.figures()));
    }
    Ok(ExitCode::SUCCESS)
}
