//! A source that gives its bytes in pieces of a fixed size, never an empty one before the end.

use fornax::ports::files::{FileStat, Files, Met};
use std::io::{self, Read};
use std::path::Path;

/// Files whose readers give at most `size` bytes at a time.
pub(super) struct Chunked<F> {
    pub(super) inner: F,
    pub(super) size: usize,
}

impl<F: Files> Files for Chunked<F> {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.inner.stat(path)
    }

    fn open(&self, path: &Path, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let inner = self.inner.open(path, offset)?;
        Ok(Box::new(Pieces { inner, size: self.size }))
    }

    fn walk(&self, root: &Path) -> Vec<Met> {
        self.inner.walk(root)
    }
}

struct Pieces {
    inner: Box<dyn Read + Send>,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = buf.len().min(self.size);
        self.inner.read(&mut buf[..most])
    }
}
