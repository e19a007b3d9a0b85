//! Short-lived credentials for a TURN server, by a secret that it and this server share.
//!
//! As [the REST convention](https://datatracker.ietf.org/doc/html/draft-uberti-behave-turn-rest-00)
//! has it: the name says until when it is of use, and the password is a code of the name by the
//! secret. So the TURN server needs to know nobody. The secret must never go anywhere from here.

use std::fmt::{self, Display};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use hmac::{Hmac, Mac as _};
use sha1::Sha1;
use tokio::time::{Interval, interval};

use crate::room::Turn;

/// How long credentials are of use for beginning to use the server. Who uses it goes on.
const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// Never sooner than this are they given anew.
const RENEWED_AFTER_MIN: Duration = Duration::from_secs(1);

/// A TURN server, and the secret by which it knows whom this one has let in.
pub struct TurnServer {
    url: String,
    secret: Vec<u8>,
    lifetime: Duration,
    given: AtomicU64,
}

impl TurnServer {
    /// The server of this address (`turn:host:port`), with its secret: what coturn calls
    /// `static-auth-secret`, beside `use-auth-secret`.
    pub fn new(url: &str, secret: &str) -> TurnServer {
        let (url, secret) = (url.to_owned(), secret.as_bytes().to_vec());
        TurnServer { url, secret, lifetime: LIFETIME, given: AtomicU64::new(0) }
    }

    /// How long credentials are of use. Default 12 h; peers are given others after half of it, a
    /// second at least.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> TurnServer {
        TurnServer { lifetime, ..self }
    }

    /// As whom a peer of this name may use the server, from now on.
    pub fn credentials(&self, name: &str, now: SystemTime) -> Turn {
        let until = now.duration_since(UNIX_EPOCH).unwrap_or_default() + self.lifetime;
        let user = format!("{}:{name}", until.as_secs());
        let mut code = Hmac::<Sha1>::new_from_slice(&self.secret).expect("a key may have any length");
        code.update(user.as_bytes());
        Turn { url: self.url.clone(), password: BASE64.encode(&code.finalize().into_bytes()), user }
    }

    /// How often it gave any.
    pub(super) fn given(&self) -> u64 {
        self.given.load(Relaxed)
    }
}

/// What one peer is given.
#[derive(Debug)]
pub(super) struct Credentials(Option<(Arc<TurnServer>, String, Interval)>);

impl Credentials {
    /// None, if there is no server.
    pub fn of(server: Option<Arc<TurnServer>>, peer: impl Display) -> Credentials {
        let renewal = |server: Arc<TurnServer>| {
            let every = (server.lifetime / 2).max(RENEWED_AFTER_MIN);
            (server, peer.to_string(), interval(every))
        };
        Credentials(server.map(renewal))
    }

    /// Those with which it begins.
    pub async fn first(&mut self) -> Option<Turn> {
        if self.0.is_some() { Some(self.next().await) } else { None }
    }

    /// The next, when they are due: the first are at once.
    pub async fn next(&mut self) -> Turn {
        let Some((server, peer, due)) = &mut self.0 else { return pending().await };
        due.tick().await;
        server.given.fetch_add(1, Relaxed);
        server.credentials(peer, SystemTime::now())
    }
}

impl fmt::Debug for TurnServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnServer").field("url", &self.url).field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_those_of_the_convention() {
        // By openssl: printf %s 1433895918:ada | openssl dgst -sha1 -hmac north -binary | base64
        let server = TurnServer::new("turn:turn.example.org", "north").with_lifetime(Duration::from_secs(18));
        let turn = server.credentials("ada", UNIX_EPOCH + Duration::from_secs(1_433_895_900));
        assert_eq!((turn.user.as_str(), turn.password.as_str()), ("1433895918:ada", "KJ5PTMBeGkZIwdEVUss3BPdY8wE="));
        assert!(!format!("{server:?}").contains("north"), "the secret is told to nobody");
    }
}
