//! Signaling over TLS: with a certificate that was made for a test, and with files that are wrong.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstone_net::matchbox::{Config, MatchboxLink};
use lockstone_net::signaling::{Certificate, Handle, Pages, Server, has_page};
use lockstone_net::tls::{TlsError, Trust};
use lockstone_net::{Channel, LinkError};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use super::peers::*;

/// A folder with the files of a certificate for this machine. It is gone when the test ends.
struct Files(PathBuf);

impl Files {
    fn of(name: &str) -> Files {
        let folder = std::env::temp_dir().join(format!("lockstone-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let files = Files(folder);
        files.write("cert", &cert.pem());
        files.write("key", &signing_key.serialize_pem());
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, cert: &str, key: &str) -> Result<Certificate, TlsError> {
        Certificate::read(&self.path(cert), &self.path(key))
    }

    fn serve(&self) -> Handle {
        let server = Server::bind(ANY_PORT).unwrap().with_certificate(self.read("cert", "key").unwrap());
        self.write("index.html", "<!doctype html>");
        server.with_pages(Pages::read(&self.0).unwrap()).spawn().unwrap()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(url: String, trust: Trust) -> Peer {
    let link = MatchboxLink::open(Config { url, room: "r".into(), trust, ..Config::default() });
    Peer { link, told: Vec::new() }
}

#[test]
fn peers_meet_by_a_certificate_that_they_trust_and_by_no_other() {
    let files = Files::of("meet");
    let server = files.serve();
    let url = format!("wss://{}", server.local_addr());
    let trust = Trust::read(&files.path("cert")).unwrap();
    let mut peers = [(); 2].map(|()| open(url.clone(), trust.clone()).entered());
    connect(&mut peers);
    let [a, b] = &mut peers;
    exchange(a, b, Channel::Reliable, b"hello");

    let another = Trust::read(&Files::of("another").path("cert")).unwrap();
    let plain = serve();
    for (url, trust, words) in [
        (url.clone(), Trust::Web, "certificate is not trusted"),
        (url.clone(), another, "certificate is not trusted"),
        (url.replace("wss", "ws"), trust.clone(), "try wss://"),
        (format!("wss://{}", plain.local_addr()), trust.clone(), "it speaks no TLS: try ws://"),
    ] {
        let error = open(url, trust).closed();
        println!("{error}");
        assert!(matches!(error, LinkError::Unreachable { .. }) && error.to_string().contains(words), "{error}");
    }
    assert!(has_page(&url, &trust, PATIENCE));
    assert!(!has_page(&url, &Trust::Web, PATIENCE));
}

#[test]
fn wrong_files_are_told_by_what_is_wrong_with_them() {
    let (files, others) = (Files::of("wrong"), Files::of("others"));
    fs::copy(others.path("key"), files.path("other-key")).unwrap();
    files.write("text", "north");
    files.write("broken", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (cert, key, words) in [
        ("nothing", "key", "cannot read"),
        ("cert", "nothing", "cannot read"),
        ("text", "key", "holds no certificate"),
        ("key", "key", "holds no certificate"),
        ("broken", "key", "cannot be used"),
        ("cert", "text", "holds no key"),
        ("cert", "cert", "holds no key"),
        ("cert", "other-key", "does not belong to"),
    ] {
        let told = files.read(cert, key).unwrap_err().to_string();
        println!("{told}");
        assert!(told.contains(words) && !told.contains('\n'), "{cert} and {key}: {told}");
    }
    for (file, words) in [("nothing", "cannot read"), ("text", "holds no certificate"), ("broken", "cannot be used")] {
        let told = Trust::read(&files.path(file)).unwrap_err().to_string();
        assert!(told.contains(words), "{file}: {told}");
    }
}

#[test]
fn who_begins_no_tls_or_never_ends_to_begin_it_is_soon_gone() {
    let files = Files::of("silent");
    let server = files.serve();
    // The head of a first message of 512 bytes, which never come.
    for first in [&b""[..], &[22, 3, 1, 2, 0, 1]] {
        let mut stream = TcpStream::connect(server.local_addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(first).unwrap();
        let began = Instant::now();
        let read = stream.read(&mut [0; 64]);
        println!("{first:?}: {read:?} after {:?}", began.elapsed());
        assert!(!read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)));
        assert!(began.elapsed() < Duration::from_secs(8));
    }
}
