//! What both ends of `wss` have: certificates from files, and whom a client trusts by them.
//!
//! It must never bring a second provider of cryptography, nor let a server be taken for another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::{ClientConfig, RootCertStore};

/// Why a certificate or a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file is not there, or not for this program.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// There is something else in it.
    #[error("{path} holds no certificate: it begins with -----BEGIN CERTIFICATE-----")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// There is something else in it, or the key is locked by a password.
    #[error("{path} holds no key that can be read: it begins with -----BEGIN PRIVATE KEY-----")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// It is another certificate's.
    #[error("the key in {key} does not belong to the certificate in {cert}")]
    Mismatch {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's.
        key: PathBuf,
    },
    /// What is in it cannot be used.
    #[error("the certificate in {path} cannot be used: {cause}")]
    Unusable {
        /// The certificate's file.
        path: PathBuf,
        /// What is wrong with it.
        cause: rustls::Error,
    },
}

/// Whom a client takes for the server that it looks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Whoever has a certificate that the web trusts, by the roots of Mozilla's list.
    #[default]
    Web,
    /// Whoever has one of these, or one that they have signed, and nobody else.
    These(Vec<CertificateDer<'static>>),
}

impl Trust {
    /// In the certificates of a file of PEM, and in no others.
    ///
    /// # Errors
    /// [`TlsError`] names the file, and says what is wrong with it.
    pub fn read(path: &Path) -> Result<Trust, TlsError> {
        let certificates = certificates(path)?;
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|cause| TlsError::Unusable { path: path.to_owned(), cause })?;
        }
        Ok(Trust::These(certificates))
    }

    /// What a client goes by.
    pub(crate) fn client(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        match self {
            Trust::Web => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Trust::These(certificates) => drop(roots.add_parsable_certificates(certificates.iter().cloned())),
        }
        let config = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let config = config.expect("the provider has ciphers for every version");
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    }
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let certificates = certificates.ok().filter(|certificates| !certificates.is_empty());
    certificates.ok_or_else(|| TlsError::NoCertificate { path: path.to_owned() })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|cause| TlsError::Unreadable { path: path.to_owned(), cause })
}
