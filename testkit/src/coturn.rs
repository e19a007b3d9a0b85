//! coturn as its package has it: the TURN server that lets in who has credentials by a secret.

use std::io::{BufRead as _, BufReader};
use std::net::IpAddr;
use std::process::{Child, Command, Stdio};

use crate::lacks;

/// A server that runs, until this is dropped.
pub struct Coturn(Child);

impl Coturn {
    /// By a program that runs others, such as `nsenter`, or `env`. `None` where the machine has no
    /// coturn, which fails in CI.
    pub fn start(mut by: Command, addr: IpAddr, port: u16, secret: &str) -> Option<Coturn> {
        if Command::new("turnserver").arg("--version").output().is_err() {
            lacks("a TURN server: apt-get install coturn");
            return None;
        }
        by.args(["turnserver", "-n", "--no-cli", "--no-tls", "--no-dtls", "--no-tcp", "--use-auth-secret"]);
        by.args(["--realm=lockstone", "--pidfile=/dev/null", "--log-file=stdout"]);
        by.arg(format!("--listening-ip={addr}")).arg(format!("--relay-ip={addr}"));
        by.arg(format!("--listening-port={port}")).arg(format!("--static-auth-secret={secret}"));
        let mut coturn = by.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map(Coturn).expect("it can be run");
        let mut told = BufReader::new(coturn.0.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let listens = told.any(|line| line.contains("Total General servers"));
        assert!(listens, "it listens");
        // It goes on telling, and must not wait for a reader.
        std::thread::spawn(move || told.for_each(drop));
        Some(coturn)
    }
}

impl Drop for Coturn {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
