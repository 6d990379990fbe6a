//! The temporary file that members of packed archives are unpacked into, once, to be read in any order.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::super::artifact::SAMPLE_BYTES;
use super::super::bounds::Exceeded;
use super::super::content::Range;
use super::is_packed;

/// How many bytes of something of that name that begins like this are of use; what is of no use is not kept.
pub type Useful<'u> = &'u dyn Fn(&str, &[u8]) -> u64;

/// How much is copied at once.
const COPY: usize = 256 * 1024;

/// One file without a name: whatever happens to this process, the system takes it back.
pub(super) struct Spool<'u> {
    file: Option<Arc<File>>,
    length: u64,
    max: u64,
    useful: Useful<'u>,
    buffer: Vec<u8>,
}

/// What was taken of a member.
pub(super) struct Kept {
    pub(super) range: Range,
    /// How many bytes were read of it, kept or not.
    pub(super) read: u64,
    /// Why it was not read to its end.
    pub(super) error: Option<io::Error>,
}

impl<'u> Spool<'u> {
    pub(super) fn new(max: u64, useful: Useful<'u>) -> Self {
        Self {
            file: None,
            length: 0,
            max,
            useful,
            buffer: Vec::new(),
        }
    }

    /// Takes `length` bytes of what is called `name` from `reader`, or all it has; keeps what is of use.
    pub(super) fn take(
        &mut self,
        name: &str,
        reader: &mut dyn Read,
        length: u64,
    ) -> io::Result<Kept> {
        let file = self.file()?;
        let start = self.length;
        let mut left = length;
        let mut read = 0;
        let mut keep = u64::MAX;
        let mut error = None;
        self.buffer.resize(COPY, 0);
        while left > 0 && error.is_none() {
            let want = COPY.min(usize::try_from(left).unwrap_or(COPY));
            let (got, fault) = fill(reader, &mut self.buffer[..want]);
            let bytes = &self.buffer[..got];
            error = fault;
            if read == 0 {
                keep = self.keep(name, &bytes[..got.min(SAMPLE_BYTES)]);
            }
            let taken = u64::try_from(got).unwrap_or(0);
            let kept = taken.min(keep.saturating_sub(read));
            if self.length.saturating_add(kept) > self.max {
                let most = self.max;
                let why = format!(
                    "all archives unpack to more than {most} bytes; --max-unpacked sets the bound"
                );
                error = Some(Exceeded(why).into());
                break;
            }
            (&*file)
                .write_all(&bytes[..usize::try_from(kept).unwrap_or(got)])
                .map_err(|e| io::Error::new(e.kind(), format!("the temporary file: {e}")))?;
            self.length += kept;
            read += taken;
            left -= taken;
            if got < want && error.is_none() {
                break;
            }
        }
        let range = Range::of_open(file, start, self.length - start);
        Ok(Kept { range, read, error })
    }

    /// How much of a member to keep that begins like this: a packed one cannot be judged by its beginning.
    fn keep(&self, name: &str, start: &[u8]) -> u64 {
        if is_packed(start) {
            return u64::MAX;
        }
        let sample = u64::try_from(SAMPLE_BYTES).unwrap_or(u64::MAX);
        (self.useful)(name, start).max(sample)
    }

    fn file(&mut self) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = tempfile::tempfile()
            .map_err(|e| io::Error::new(e.kind(), format!("no temporary file: {e}")))?;
        let file = Arc::new(file);
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }
}

/// Fills `buffer` as far as the reader has bytes; what came before a fault is kept.
pub(super) fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (length, Some(e)),
        }
    }
    (length, None)
}
