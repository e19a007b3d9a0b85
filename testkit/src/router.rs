//! A router between peers and their server, that can be broken and mended.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use crate::strangers::connect_from;

/// Of this machine, which the system draws.
pub const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Forwards TCP connections to a server, as a router does.
pub struct Router {
    addr: SocketAddr,
    server: SocketAddr,
    lines: Arc<Mutex<Lines>>,
}

#[derive(Default)]
struct Lines {
    /// Both ends of each connection. Who forwards what comes by one keeps it open.
    open: Vec<Weak<TcpStream>>,
    is_broken: bool,
}

impl Router {
    pub fn before(server: SocketAddr) -> Router {
        Router::at(ANY_PORT, server)
    }

    /// One by whose address, 127.0.0.`from`, the server sees all who come by it.
    pub fn of(from: u8, server: SocketAddr) -> Router {
        Router::with(ANY_PORT, server, move || connect_from(from, server))
    }

    /// One that listens at this address.
    pub fn at(addr: SocketAddr, server: SocketAddr) -> Router {
        Router::with(addr, server, move || TcpStream::connect(server))
    }

    fn with(
        addr: SocketAddr,
        server: SocketAddr,
        connect: impl Fn() -> io::Result<TcpStream> + Send + 'static,
    ) -> Router {
        let listener = TcpListener::bind(addr).unwrap();
        let (addr, lines) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Lines::default())));
        let theirs = Arc::downgrade(&lines);
        thread::spawn(move || {
            for comer in listener.incoming() {
                let (Some(lines), Ok(comer)) = (theirs.upgrade(), comer) else { return };
                let mut lines = lines.lock().unwrap();
                if !lines.is_broken
                    && let Ok(server) = connect()
                {
                    let ends = [comer, server].map(Arc::new);
                    lines.open.retain(|line| line.strong_count() > 0);
                    lines.open.extend(ends.each_ref().map(Arc::downgrade));
                    let [comer, server] = ends;
                    forward(comer.clone(), server.clone());
                    forward(server, comer);
                }
            }
        });
        Router { addr, server, lines }
    }

    pub fn server(&self) -> SocketAddr {
        self.server
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Breaks all connections, and lets none through until it is mended.
    pub fn break_down(&self) {
        let mut lines = self.lines.lock().unwrap();
        lines.is_broken = true;
        // It may be shut already.
        lines.open.drain(..).filter_map(|line| line.upgrade()).for_each(|line| drop(line.shutdown(Shutdown::Both)));
    }

    pub fn mend(&self) {
        self.lines.lock().unwrap().is_broken = false;
    }
}

fn forward(from: Arc<TcpStream>, to: Arc<TcpStream>) {
    thread::spawn(move || {
        // It ends with an error when the line is cut.
        let _ = io::copy(&mut &*from, &mut &*to);
        let _ = to.shutdown(Shutdown::Both);
    });
}
