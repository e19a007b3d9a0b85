//! Where a shell keeps what is to outlast it: recordings and evidence.
//!
//! What fails here must never stop a game: whoever writes gives up writing, and says so.

use std::collections::BTreeMap;
#[cfg(not(target_arch = "wasm32"))]
use std::fs::{self, File};
#[cfg(not(target_arch = "wasm32"))]
use std::io::BufWriter;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that is being written.
pub type Output = Box<dyn Write + Send>;

/// Keeps files.
pub trait Storage: Send {
    /// Begins a file. One that is there already is never written over.
    ///
    /// # Errors
    /// What the system says, or that it is there already.
    fn create(&mut self, path: &Path) -> io::Result<Output>;

    /// Folders for what nobody named a place for, the best first.
    fn folders(&self) -> Vec<PathBuf> {
        vec![PathBuf::new()]
    }

    /// Takes back a file that was begun.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
}

/// A file's name with something behind it, before its extension: `party-2.rec` of `party.rec`.
pub(crate) fn named_after(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(ending);
    let extension = file.extension().unwrap_or_default();
    // What is behind another dot of the name is no extension of it.
    file.with_file_name(name).with_added_extension(extension)
}

/// The file system of this machine.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct Files;

#[cfg(not(target_arch = "wasm32"))]
impl Storage for Files {
    fn create(&mut self, path: &Path) -> io::Result<Output> {
        Ok(Box::new(BufWriter::new(File::create_new(path)?)))
    }

    /// Here, or where the system keeps passing things.
    fn folders(&self) -> Vec<PathBuf> {
        vec![PathBuf::from("."), std::env::temp_dir()]
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Files in memory: for tests, and where there is no file system. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>);

impl Memory {
    /// What is kept, by path.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for Memory {
    fn create(&mut self, path: &Path) -> io::Result<Output> {
        let mut files = self.lock();
        if files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        files.insert(path.to_owned(), Vec::new());
        Ok(Box::new(MemoryFile { files: self.clone(), path: path.to_owned() }))
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.lock().remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

struct MemoryFile {
    files: Memory,
    path: PathBuf,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.files.lock().get_mut(&self.path) {
            Some(file) => file.extend_from_slice(bytes),
            None => return Err(io::ErrorKind::NotFound.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
