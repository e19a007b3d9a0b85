//! Pages and a signaling server: those of other origins, and those that nobody reads.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;
use std::{env, fs, process};

use lockstone_net::limits::signaling::SEND_WITHIN;
use lockstone_net::signaling::{Pages, Server};
use testkit::strangers::connect_from;
use tungstenite::client;
use tungstenite::client::IntoClientRequest as _;

use super::peers::*;

/// Enters a room as a page of this origin would, or as another program does.
fn enter_as(origin: Option<&str>, server: SocketAddr) -> Result<TcpStream, u16> {
    let mut request = format!("ws://{server}/r").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("Origin", origin.parse().unwrap());
    }
    match client(request, connect_from(2, server).unwrap()) {
        Ok((socket, _)) => Ok(socket.into_inner()),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_u16())
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn pages_of_other_origins_are_kept_out_and_programs_get_in() {
    let server = Server::bind(ANY_PORT).unwrap().with_origin("https://play.example.org").spawn().unwrap();
    let addr = server.local_addr();
    let own = enter_as(Some("https://play.example.org"), addr).unwrap();
    let program = enter_as(None, addr).unwrap();
    for foreign in ["https://example.org", "http://play.example.org", "https://play.example.org:8443", "null"] {
        assert_eq!(enter_as(Some(foreign), addr).unwrap_err(), 403, "{foreign}");
    }
    let open = serve();
    enter_as(Some("https://example.org"), open.local_addr()).expect("a server that names none is for all pages");
    drop((own, program));
}

/// It holds a connection, and the system's buffers, for nothing.
#[test]
fn who_asks_for_a_page_and_never_reads_it_is_soon_gone() {
    let folder = env::temp_dir().join(format!("lockstone-unread-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("index.html"), "page").unwrap();
    fs::write(folder.join("large.wasm"), vec![7; 32 << 20]).unwrap();
    let pages = Pages::read(&folder);
    fs::remove_dir_all(&folder).unwrap();
    let server = Server::bind(ANY_PORT).unwrap().with_pages(pages.unwrap()).spawn().unwrap();
    let mut stream = connect_from(2, server.local_addr()).unwrap();
    stream.write_all(b"GET /large.wasm HTTP/1.1\r\nhost: h\r\n\r\n").unwrap();
    until("it to be connected", || (server.figures().connections == 1).then_some(()));
    let began = Instant::now();
    until("it to be gone", || (server.figures().connections == 0).then_some(()));
    println!("gone after {:?}", began.elapsed());
    assert!(began.elapsed() > SEND_WITHIN / 2, "it is given time");
    drop(stream);
}
