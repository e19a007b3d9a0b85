//! The files of a page, which the server shows to browsers at the same port.
//!
//! All of them are in memory, and none is read later: a request must never reach the file system.
//! No file is called as a room could be, for each has a dot in its name.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::{fs, io};

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

/// The file that stands for the folder.
const INDEX: &str = "index.html";

/// A page loads what this server has. Its clock is a worker of its own text. Whom it may connect to
/// depends on the file, and is added there.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data:; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The file that shows recordings, wherever they are: a link can name one of any host. It alone may
/// connect to others than this server.
const VIEWER: &str = "view.html";

/// Of which rules the program is that serves the page.
const RULES: HeaderName = HeaderName::from_static("x-rules");

/// A page's files, by name.
#[derive(Debug, Default)]
pub struct Pages {
    files: BTreeMap<String, File>,
    rules: Option<HeaderValue>,
}

#[derive(Debug)]
struct File {
    content_type: &'static str,
    etag: String,
    /// As it is, and compressed by those encodings that were beside it, the best first.
    encoded: Vec<(&'static str, Bytes)>,
    plain: Bytes,
}

impl Pages {
    /// The files of a folder, with those beside them that hold the same compressed: `a.js.br`,
    /// `a.js.gz`.
    ///
    /// # Errors
    /// What the system says, or that there is no `index.html`.
    pub fn read(folder: &Path) -> io::Result<Pages> {
        let mut pages = Pages::default();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(content_type) = path.extension().and_then(content_type) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let compressed = |(encoding, ending)| {
                let bytes = fs::read(folder.join(format!("{name}.{ending}"))).ok()?;
                Some((encoding, bytes.into()))
            };
            let plain = fs::read(&path)?;
            let etag = format!("\"{:016x}\"", xxh3_64(&plain));
            let encoded = [("br", "br"), ("gzip", "gz")].into_iter().filter_map(compressed).collect();
            pages.files.insert(name, File { content_type, etag, encoded, plain: plain.into() });
        }
        if pages.files.contains_key(INDEX) {
            Ok(pages)
        } else {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no {INDEX} in it")))
        }
    }

    /// Tells with each file of which rules the serving program is, as the 16 hexadecimal digits of
    /// `x-rules`: a page that was built of others can say so before any session refuses it.
    #[must_use]
    pub fn of_rules(self, digest: u64) -> Pages {
        let digits = HeaderValue::try_from(format!("{digest:016x}")).expect("digits are a header's value");
        Pages { rules: Some(digits), ..self }
    }

    /// The page itself, for whoever wants one: a program that asks for anything gets something
    /// else.
    pub(super) fn index(&self, headers: &HeaderMap) -> Option<Response> {
        says(headers, ACCEPT, "text/html").then(|| self.file(INDEX, headers))?
    }

    /// A file, as whoever asks for it can read it, if there is one of that name.
    pub(super) fn file(&self, name: &str, headers: &HeaderMap) -> Option<Response> {
        let file = self.files.get(name)?;
        let others = if name == VIEWER { " https: http:" } else { "" };
        let policy = format!("{POLICY}; connect-src 'self'{others}");
        let always = [
            (CONTENT_TYPE, file.content_type),
            (ETAG, &file.etag),
            // What is there already is asked for again, and not sent again.
            (CACHE_CONTROL, "no-cache"),
            (VARY, "accept, accept-encoding"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (CONTENT_SECURITY_POLICY, &policy),
        ];
        let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == file.etag.as_bytes());
        let encoded = file.encoded.iter().find(|(encoding, _)| says(headers, ACCEPT_ENCODING, encoding));
        let mut response = match encoded {
            _ if is_known => (StatusCode::NOT_MODIFIED, always).into_response(),
            Some((encoding, bytes)) => (always, [(CONTENT_ENCODING, *encoding)], bytes.clone()).into_response(),
            None => (always, file.plain.clone()).into_response(),
        };
        response.headers_mut().extend(self.rules.clone().map(|rules| (RULES, rules)));
        Some(response)
    }
}

/// Whether one of the words of a header is this one, which nothing says is unwanted.
fn says(headers: &HeaderMap, header: HeaderName, word: &str) -> bool {
    let lists = headers.get_all(header).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|item| {
        let (said, how) = item.split_once(';').unwrap_or((item, ""));
        said.trim() == word && !matches!(how.trim(), "q=0" | "q=0.0")
    })
}

fn content_type(extension: &OsStr) -> Option<&'static str> {
    Some(match extension.to_str()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        // A recording, or a bundle, to which a link leads.
        "lksrec" | "lksbnd" => "application/octet-stream",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(said: &[(HeaderName, &'static str)]) -> HeaderMap {
        said.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn page() -> Pages {
        let file = |content_type, encoded: &[&'static str]| {
            let encoded = encoded.iter().map(|encoding| (*encoding, Bytes::from(*encoding))).collect();
            File { content_type, etag: "\"7\"".to_owned(), encoded, plain: "plain".into() }
        };
        let wasm = file("application/wasm", &["br", "gzip"]);
        let files = [(INDEX.to_owned(), file("text/html", &[])), ("game.wasm".to_owned(), wasm)].into();
        Pages { files, rules: None }
    }

    #[test]
    fn a_file_comes_as_its_reader_can_read_it() {
        let wasm = |said: &[(HeaderName, &'static str)]| page().file("game.wasm", &headers(said)).expect("it is there");
        let encoding = |response: &Response| {
            let encoding = response.headers().get(CONTENT_ENCODING)?;
            Some(encoding.to_str().unwrap().to_owned())
        };
        for (accepted, sent) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip, deflate", Some("gzip")),
            ("br;q=0, gzip;q=0.5", Some("gzip")),
            ("identity", None),
        ] {
            let response = wasm(&[(ACCEPT_ENCODING, accepted)]);
            assert_eq!(encoding(&response).as_deref(), sent, "{accepted}");
            assert_eq!(response.headers()[CONTENT_TYPE], "application/wasm");
        }
        assert_eq!(wasm(&[(IF_NONE_MATCH, "\"7\"")]).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(wasm(&[(IF_NONE_MATCH, "\"8\"")]).status(), StatusCode::OK);
        assert!(page().file("other.wasm", &HeaderMap::new()).is_none());
        let told = page().of_rules(7).file("game.wasm", &headers(&[(IF_NONE_MATCH, "\"7\"")])).expect("it is there");
        assert_eq!(told.headers()[RULES], "0000000000000007");
    }

    #[test]
    fn who_asks_for_a_page_gets_one() {
        let browser = headers(&[(ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")]);
        let response = page().index(&browser).expect("it is a browser");
        assert!(response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("default-src 'none'"));
        assert!(page().index(&HeaderMap::new()).is_none(), "a program that looks for signaling gets the greeting");
    }
}
