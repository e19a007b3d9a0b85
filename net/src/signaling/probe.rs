//! Questions to a server, from whoever means to use it or to start another: does it answer, and has
//! it a page?

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::http::Uri;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{GREETING, runtime};
use crate::tls::Trust;

/// Whether a Lockstone signaling server answers at an address. Takes no longer than `within` once
/// the name is resolved. It blocks this thread, so it is not for a task of tokio's, where it
/// panics.
pub fn probe(addr: SocketAddr, within: Duration) -> bool {
    let url = format!("ws://{addr}");
    asks(&url, &Trust::Web, within, "*/*", |answer| answer.ends_with(GREETING.as_bytes()))
}

/// Whether the server there, such as `wss://play.example.org`, shows a page to browsers. It takes
/// as long, and blocks as well.
pub fn has_page(url: &str, trust: &Trust, within: Duration) -> bool {
    let is_page = |answer: &[u8]| String::from_utf8_lossy(answer).to_lowercase().contains("content-type: text/html");
    asks(url, trust, within, "text/html", is_page)
}

/// Whether any server at an address gives an answer that will do.
fn asks(url: &str, trust: &Trust, within: Duration, accept: &str, will_do: fn(&[u8]) -> bool) -> bool {
    let (Ok(url), Ok(runtime)) = (url.parse(), runtime()) else { return false };
    let answer = async { timeout(within, answer(&url, trust, accept)).await };
    matches!(runtime.block_on(answer), Ok(Ok(answer)) if will_do(&answer))
}

/// The beginning of what a server answers.
async fn answer(url: &Uri, trust: &Trust, accept: &str) -> io::Result<Vec<u8>> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidInput);
    let is_tls = url.scheme_str() == Some("wss");
    let host = url.host().ok_or_else(malformed)?;
    let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = TcpStream::connect(format!("{host}:{port}")).await?;
    let authority = url.authority().ok_or_else(malformed)?;
    let request = format!("GET / HTTP/1.1\r\nHost: {authority}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
    if is_tls {
        let name = host.trim_matches(['[', ']']).to_owned().try_into().map_err(|_| malformed())?;
        converse(TlsConnector::from(trust.client()).connect(name, stream).await?, &request).await
    } else {
        converse(stream, &request).await
    }
}

async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(2048).read_to_end(&mut answer).await?;
    Ok(answer)
}
