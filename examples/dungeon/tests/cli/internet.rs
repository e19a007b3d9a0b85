//! A server as it stands in the internet: with a certificate, a public name and a TURN server, by
//! which a page plays that can send nothing to anyone else.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use testkit::coturn::Coturn;
use testkit::lacks;

use super::page::{ALONE, assert_equal, blank, built, link, open, playing, report, seconds, serve};
use super::program::{Running, folder, refused};

const SECRET: &str = "north by north-east";

/// Writes a certificate of this machine, and its key.
fn certify(place: &Path) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(place.join("cert.pem"), cert.pem()).unwrap();
    fs::write(place.join("key.pem"), signing_key.serialize_pem()).unwrap();
}

#[test]
fn a_page_and_signaling_are_served_with_a_certificate_and_linked_to() {
    let place = folder("certified");
    certify(&place);
    fs::write(place.join("index.html"), "<!doctype html>").unwrap();
    let at = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (page, cert, key) = (place.to_str().unwrap(), at("cert.pem"), at("key.pem"));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--page", page, "--cert", &cert, "--cert-key", &key];
    let mut server = Running::start(&[&serve[..], &["--public", "https://play.example.org"]].concat());
    let url = server.line();
    assert!(url.starts_with("wss://127.0.0.1:"), "{url}");
    server.await_on_stderr("In a browser: https://play.example.org/");
    server.await_on_stderr("Peers join with --signal wss://play.example.org;");
    let join = ["--bot", "--view", "none", "--room", "hall", "--signal", &url];
    let mut founder = Running::start(&[&join[..], &["--report", "--signal-ca", &cert]].concat());
    founder.await_on_stderr(&format!("In a browser: {}/#room=hall", url.replace("wss://", "https://")));
    assert!(founder.line().contains("tick"), "it plays");
    let told = refused(&join);
    assert!(told.contains("its certificate is not trusted") && told.contains("--signal-ca"), "{told}");
}

#[test]
fn files_of_a_server_that_cannot_be_used_are_told() {
    let place = folder("uncertified");
    certify(&place);
    let at = |name: &str| place.join(name).to_str().unwrap().to_owned();
    let (cert, empty) = (at("cert.pem"), at("empty"));
    fs::write(&empty, "").unwrap();
    let served = |more: &[&str]| refused(&[&["signal", "--listen", "127.0.0.1:0"], more].concat());
    assert!(served(&["--cert", "/no/such/file", "--cert-key", &empty]).contains("/no/such/file"));
    assert!(served(&["--cert", &cert, "--cert-key", &empty]).contains("holds no key"));
    let turn = |secret| served(&["--turn", "turn:turn.example.org", "--turn-secret-file", secret]);
    for file in ["/no/such/file", &empty] {
        let told = turn(file);
        assert!(told.contains(file) && told.contains("static-auth-secret"), "{told}");
    }
}

/// The page, but that it sends nothing past a TURN server.
const RELAYED: &str = "const Straight = RTCPeerConnection;
    globalThis.RTCPeerConnection = class extends Straight {
        constructor(config) {
            super({ ...config, iceTransportPolicy: 'relay' });
            console.log('told relayed');
        }
    };";

#[test]
fn a_page_whose_stun_server_is_not_there_plays_without_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_server, url)) = serve() else { return };
    let founder = playing("--bot --name Ada", &url);
    // One of a network for documentation: nobody answers, nor says that nobody is there.
    let Some(mut pages) = open(&url, "&stun=stun:192.0.2.1:3478", &["Bea"]) else { return };
    pages[0].tools.until("/192.0.2.1:3478 does not answer/.test(document.querySelector('.warnings')?.innerText)");
    assert_equal(&report(&mut pages[0]), &founder.interrupted());
}

#[test]
fn a_page_that_only_turn_lets_out_plays_in_step_with_a_native() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(page) = built("page", "cargo xtask page") else { return };
    // No packet is sent by that: the system chooses the way out, and any free port there.
    let way_out = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let Some(addr) = way_out.ok().filter(|addr| !addr.ip().is_loopback()) else {
        return lacks("a network that is not this machine alone");
    };
    let Some(_coturn) = Coturn::start(Command::new("env"), addr.ip(), addr.port(), SECRET) else { return };
    let (served, secret) = (page.to_str().unwrap(), folder("turn").join("secret"));
    fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let (turn, secret) = (format!("turn:{addr}"), secret.to_str().unwrap());
    let serve = ["serve", "--listen", "127.0.0.1:0", "--page", served, "--turn", &turn, "--turn-secret-file", secret];
    let mut server = Running::start(&serve);
    let url = server.line();
    let mut native = Running::start(&["--bot", "--report", "--view", "none", "--room", "hall", "--signal", &url]);
    assert!(native.line().contains("tick"), "it plays");
    let Some(mut page) = blank() else { return };
    page.tools.go(&link(&url, &format!("&seconds={}", seconds()), "Ada"), RELAYED);
    page.says("told relayed");
    let page = report(&mut page);
    assert_equal(&page, &native.interrupted());
}
