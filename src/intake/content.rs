//! Where the bytes of an input are: a file, a stretch of a file, or memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::packing::Encoding;

/// Where an artifact's bytes are.
#[derive(Debug, Clone)]
pub enum Content {
    /// A regular file.
    File(PathBuf),
    /// Bytes in memory: a sample of the rule base.
    Memory(Arc<[u8]>),
    /// A member of an archive.
    Member(Arc<Member>),
}

/// A member of an archive: a stretch of a file, and how to read it.
#[derive(Debug)]
pub struct Member {
    pub(super) range: Range,
    /// How a zip packs it.
    pub(super) method: Option<Encoding>,
    /// The checksum and the length it must have.
    pub(super) check: Option<(u32, u64)>,
    /// Why it ends before its end.
    pub(super) fault: Option<String>,
    /// Whether only its beginning was kept, because it is of no use.
    pub(super) is_beginning: bool,
}

impl Member {
    /// How many bytes it has, unless only its beginning was kept.
    pub(super) fn held(&self) -> io::Result<u64> {
        match (self.method, self.check) {
            (Some(_), Some((_, bytes))) => Ok(bytes),
            (Some(_), None) => Err(io::Error::other("the archive does not say its size")),
            (None, _) if self.is_beginning => {
                Err(io::Error::other("only its beginning was unpacked"))
            }
            // A reader that stopped at what is there would not meet the fault behind it.
            (None, _) => Ok(self.range.length + u64::from(self.fault.is_some())),
        }
    }
}

/// A stretch of a file.
#[derive(Debug, Clone)]
pub(super) struct Range {
    base: Base,
    start: u64,
    pub(super) length: u64,
}

#[derive(Debug, Clone)]
enum Base {
    /// Opened for each pass: a folder may hold more archives than a process may open files.
    Path(Arc<Path>),
    /// The temporary file, which has no name.
    Open(Arc<File>),
}

impl Range {
    /// All of a file.
    pub(super) fn of_file(path: &Path, length: u64) -> Self {
        Self {
            base: Base::Path(path.into()),
            start: 0,
            length,
        }
    }

    /// A stretch of an open file.
    pub(super) fn of_open(file: Arc<File>, start: u64, length: u64) -> Self {
        Self {
            base: Base::Open(file),
            start,
            length,
        }
    }

    /// A stretch of this stretch, and how many bytes it lacks of `length`.
    pub(super) fn part(&self, start: u64, length: u64) -> (Self, u64) {
        let start = start.min(self.length);
        let there = length.min(self.length - start);
        let part = Self {
            base: self.base.clone(),
            start: self.start.saturating_add(start),
            length: there,
        };
        (part, length - there)
    }

    /// Opens it for one pass, anywhere.
    pub(super) fn open(&self) -> io::Result<Window> {
        let file = match &self.base {
            Base::Path(path) => Arc::new(File::open(path)?),
            Base::Open(file) => Arc::clone(file),
        };
        Ok(Window {
            file,
            start: self.start,
            length: self.length,
            at: 0,
        })
    }
}

/// A reader of a stretch of a file that others read elsewhere at the same time.
#[derive(Debug)]
pub struct Window {
    file: Arc<File>,
    start: u64,
    length: u64,
    at: u64,
}

impl Window {
    /// Starts at the beginning of the stretch that begins at the byte `start` and has `length` bytes.
    pub fn new(file: Arc<File>, start: u64, length: u64) -> Self {
        Self {
            file,
            start,
            length,
            at: 0,
        }
    }
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        if most == 0 {
            return Ok(0);
        }
        let place = self.start.saturating_add(self.at);
        let read = read_at(&self.file, &mut buffer[..most], place)?;
        self.at += u64::try_from(read).unwrap_or(0);
        Ok(read)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, place)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, place)
}
