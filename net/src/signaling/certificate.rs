//! A server's certificate, from files. Its key must never go anywhere from here.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use crate::tls::{TlsError, certificates, provider, read};

/// A server's certificate, and the key that belongs to it.
#[derive(Clone, Debug)]
pub struct Certificate(pub(super) Arc<ServerConfig>);

impl Certificate {
    /// Of two files of PEM. The server's own certificate comes first, and those after it lead to
    /// one that clients trust.
    ///
    /// # Errors
    /// [`TlsError`] names the file, and says what is wrong with it.
    pub fn read(cert: &Path, key: &Path) -> Result<Certificate, TlsError> {
        let chain = certificates(cert)?;
        let private = PrivateKeyDer::from_pem_slice(&read(key)?);
        let private = private.map_err(|_| TlsError::NoKey { path: key.to_owned() })?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private));
        let mut config = config.map_err(|cause| match cause {
            rustls::Error::InconsistentKeys(_) => TlsError::Mismatch { cert: cert.to_owned(), key: key.to_owned() },
            cause => TlsError::Unusable { path: cert.to_owned(), cause },
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Certificate(Arc::new(config)))
    }
}
