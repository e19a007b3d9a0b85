//! Bytes on their way to a peer, a snapshot to a joiner or evidence to a witness: pieces on the
//! reliable channel, under a window, because carriers have no back-pressure.

use std::sync::Arc;

use crate::limits::*;
use crate::wire::Bytes;

/// The sending side of a snapshot.
pub type SnapshotSender = Sender<CHUNK_BYTES, CHUNKS_IN_FLIGHT_MAX>;
/// The sending side of evidence.
pub type EvidenceSender = Sender<EVIDENCE_CHUNK_BYTES, EVIDENCE_CHUNKS_IN_FLIGHT_MAX>;

/// The sending side, in pieces of `CHUNK` bytes, `IN_FLIGHT` of them under way at once.
#[derive(Debug)]
pub struct Sender<const CHUNK: usize, const IN_FLIGHT: usize> {
    bytes: Arc<[u8]>,
    sent: usize,
    acknowledged: usize,
}

/// More was acknowledged than had been sent, or less than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAck;

impl<const CHUNK: usize, const IN_FLIGHT: usize> Sender<CHUNK, IN_FLIGHT> {
    /// For bytes whose length and [`digest`] the other side is told.
    pub fn new(bytes: Arc<[u8]>) -> Self {
        Sender { bytes, sent: 0, acknowledged: 0 }
    }

    /// Whether there is a next piece, and the window allows it.
    pub fn ready(&self) -> bool {
        self.sent < self.bytes.len() && self.sent - self.acknowledged < IN_FLIGHT * CHUNK
    }

    /// The next piece, if the window allows one.
    pub fn next_chunk(&mut self) -> Option<Bytes<CHUNK>> {
        if !self.ready() {
            return None;
        }
        let end = self.bytes.len().min(self.sent + CHUNK);
        let chunk = self.bytes[self.sent..end].to_vec();
        self.sent = end;
        Some(chunk.try_into().expect("a chunk is no longer than a chunk"))
    }

    /// Takes note of what has arrived, in bytes from the start.
    ///
    /// # Errors
    /// [`BadAck`] if that cannot be; then nothing is noted.
    pub fn acknowledge(&mut self, received: u32) -> Result<(), BadAck> {
        let received = received as usize;
        if received > self.sent || received < self.acknowledged {
            return Err(BadAck);
        }
        self.acknowledged = received;
        Ok(())
    }

    /// Whether everything has arrived.
    pub fn done(&self) -> bool {
        self.acknowledged == self.bytes.len()
    }
}

/// The receiving side.
#[derive(Debug)]
pub struct Receiver {
    bytes: Vec<u8>,
    total: usize,
    digest: u128,
}

/// What came is not what was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// More bytes than announced, or an empty piece.
    #[error("it does not have the announced length")]
    Length,
    /// The bytes are others than announced.
    #[error("it arrived damaged")]
    Digest,
}

impl Receiver {
    /// For so many bytes of a [`digest`]. Memory is taken only as pieces come.
    pub fn new(total: u32, digest: u128) -> Receiver {
        Receiver { bytes: Vec::new(), total: total as usize, digest }
    }

    /// Takes the next piece. Returns how many bytes have arrived, which is what to acknowledge.
    ///
    /// # Errors
    /// [`TransferError::Length`] if the piece is empty or goes beyond the end.
    pub fn take(&mut self, chunk: &[u8]) -> Result<u32, TransferError> {
        if chunk.is_empty() || self.bytes.len() + chunk.len() > self.total {
            return Err(TransferError::Length);
        }
        self.bytes.extend_from_slice(chunk);
        Ok(self.bytes.len() as u32)
    }

    /// Bytes that have arrived, and all bytes.
    pub fn progress(&self) -> (usize, usize) {
        (self.bytes.len(), self.total)
    }

    /// The bytes, once they are whole.
    ///
    /// # Errors
    /// [`TransferError::Digest`] if it is whole but another.
    pub fn finish(&mut self) -> Result<Option<Vec<u8>>, TransferError> {
        if self.bytes.len() < self.total {
            return Ok(None);
        }
        if digest(&self.bytes) != self.digest {
            return Err(TransferError::Digest);
        }
        Ok(Some(core::mem::take(&mut self.bytes)))
    }
}

/// The digest on the wire: the first half of the bytes' BLAKE3. Whoever announces bytes may choose
/// them anyway, so it is enough that nobody finds others for a digest.
pub fn digest(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(blake3::hash(bytes).as_bytes()[..16].try_into().expect("it has 32 bytes"))
}

#[cfg(test)]
mod tests;
