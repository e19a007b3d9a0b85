//! A page without its server: it plays alone, whether nobody answers at all or a proxy does.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::PoisonError;
use std::thread;

use super::comeback::{door, enter};
use super::page::{ALONE, blank, serve};

/// All that it plays by is kept for use without a server.
const KEPT: &str = "navigator.serviceWorker.controller && caches.match('game_bg.wasm').then((kept) => (window.isKept = Boolean(kept))) && window.isKept";

#[test]
fn a_page_plays_alone_once_its_server_is_gone() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some((server, url)), Some(mut page)) = (serve(), blank()) else { return };
    page.tools.go(&door(&url, "&name=Ada&hero=mage"), "");
    page.tools.until("document.getElementById('form')?.checkVisibility()");
    page.tools.until(KEPT);
    server.kill();
    for answers in [false, true] {
        if answers {
            as_a_proxy(url.trim_start_matches("ws://"));
        }
        page.tools.reload();
        page.tools.until("document.getElementById('form')?.checkVisibility()");
        enter(&mut page);
        page.tools.click("leave");
        page.tools.until("document.getElementById('end').open");
    }
}

/// Answers as a proxy does whose server is gone.
#[expect(clippy::disallowed_methods, reason = "no peer depends on it")]
fn as_a_proxy(addr: &str) {
    let listener = TcpListener::bind(addr).expect("the server is gone");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4_096]);
            let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
}
