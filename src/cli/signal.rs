//! `signal`: serves signaling until it is stopped, and a page if there is one, and tells now and
//! then how much it has to do. `serve`: the same, never without a page.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lockstone_net::signaling::{Certificate, Pages, Server, TurnServer};

use super::args::{Front, Signal};
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
    let server = fronted(server, &args.front)?;
    let server = match (&args.turn, &args.turn_secret_file) {
        (Some(url), Some(file)) => server.with_turn(TurnServer::new(url, &secret(file)?)),
        _ => server,
    };
    let addr = server.local_addr();
    // Nobody comes back to a port that was drawn.
    let own = || Some(addr.port()).filter(|_| args.listen.port() != 0).and_then(place::rooms_file);
    let server = match args.state.clone().or_else(own) {
        Some(file) => server.with_register(&file)?,
        None => server,
    };
    let s = if args.front.cert.is_some() { "s" } else { "" };
    let public = args.front.public.clone().unwrap_or_else(|| format!("http{s}://{}", place::public(addr)));
    let join = Join { line: String::new(), link: page.is_some().then(|| format!("{public}/")) };
    let server = match page {
        Some(page) => server.with_pages(page),
        None => server,
    };
    let server = server.spawn()?;
    print(format_args!("ws{s}://{addr}"));
    link::tell(&join);
    say(format_args!(
        "Signaling is served, on up to {} connections at once. Peers join with --signal {}; {public}/?figures tells \
         how much it has to do; Ctrl-C ends it.",
        server.figures().connections_max,
        public.replacen("http", "ws", 1)
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

/// The server as it is seen from outside.
fn fronted(server: Server, front: &Front) -> Result<Server, Failure> {
    let server = front.proxies.iter().fold(server, |server, addr| server.with_proxy(*addr));
    Ok(match (&front.cert, &front.cert_key) {
        (Some(cert), Some(key)) => server.with_certificate(Certificate::read(cert, key)?),
        _ => server,
    })
}

/// What stands in a file of one line.
fn secret(file: &Path) -> Result<String, Failure> {
    let advice = "write coturn's static-auth-secret into it, which is one line of text";
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::file("read the TURN server's secret in", file, format!("{error}; {advice}")))?;
    let secret = text.trim_end();
    if secret.is_empty() || secret.contains(char::is_control) {
        return Err(Failure::file("use", file, format!("it holds no secret: {advice}")));
    }
    Ok(secret.to_owned())
}
