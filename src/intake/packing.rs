//! Packed bytes: told by how they begin, unpacked within bounds.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use deflate64::Deflate64Decoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use liblzma::bufread::XzDecoder;
use lz4_flex::frame::FrameDecoder;

use super::bounds::Bounds;

/// How many bytes tell a packing.
pub(super) const MAGIC_BYTES: usize = 10;

/// The memory that an xz may ask for: `xz -9` asks for 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// The window that a zstd may ask for, as a power of two: `--ultra -22` and `--long` ask for 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Bytes that are unpacked further: a file, or what another unpacker gives.
pub(super) type Packed = Box<dyn BufRead + Send>;

/// How an artifact is packed, told by its first bytes and not by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Plain,
    /// gzip, of one or more members.
    Gzip,
    /// Zstandard, of one or more frames.
    Zstd,
    /// xz, of one or more streams.
    Xz,
    /// LZ4, of one or more frames.
    Lz4,
    /// bzip2, of one or more streams.
    Bzip2,
    /// Deflate without a frame of its own: inside a zip.
    Deflate,
    /// Deflate64, which Windows writes into zips of large files.
    Deflate64,
}

impl Encoding {
    /// Tells a packing by at least [`MAGIC_BYTES`] bytes, or by all there are.
    pub(super) fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, 0x08, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // A frame to skip: pzstd begins with one.
            [kind, 0x2a, 0x4d, 0x18, ..] if kind >> 4 == 5 => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x04, 0x22, 0x4d, 0x18, ..] | [0x02, 0x21, 0x4c, 0x18, ..] => Self::Lz4,
            [b'B', b'Z', b'h', b'1'..=b'9', mark @ ..]
                if mark.starts_with(b"1AY&SY")
                    || mark.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90]) =>
            {
                Self::Bzip2
            }
            _ => Self::Plain,
        }
    }

    /// Unpacks `packed`.
    pub(super) fn unpack(self, packed: Packed) -> io::Result<Box<dyn Read + Send>> {
        let unpacker: Box<dyn Read + Send> = match self {
            Self::Plain => return Ok(Box::new(packed)),
            Self::Gzip => return Ok(Box::new(Inflated::gzip(packed))),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
            Self::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(
                    XZ_MEMORY,
                    liblzma::stream::CONCATENATED,
                )?;
                Box::new(XzDecoder::new_stream(packed, stream))
            }
            Self::Lz4 => Box::new(Lz4Frames(FrameDecoder::new(Watched {
                packed,
                ended: false,
            }))),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
            Self::Deflate => return Ok(Box::new(Inflated::bare(packed))),
            Self::Deflate64 => Box::new(Deflate64Decoder::with_buffer(packed)),
        };
        // zstd gives a whole block of 128 KiB or nothing of it.
        let most = if self == Self::Zstd { 4 * SIP } else { SIP };
        Ok(Box::new(Sips { unpacker, most }))
    }
}

/// How much is unpacked at once.
pub(super) const SIP: usize = 4 * 1024;

/// An unpacker that is asked for little at a time: it gives nothing of the stretch in which it finds a fault.
struct Sips {
    unpacker: Box<dyn Read + Send>,
    /// How much it is asked for.
    most: usize,
}

impl Read for Sips {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.most);
        self.unpacker.read(&mut buffer[..length])
    }
}

/// Deflated bytes, bare or as members of a gzip. What stands before a fault is given before the fault is.
struct Inflated {
    packed: Packed,
    inflate: Decompress,
    /// Whether members may follow one another.
    is_gzip: bool,
    /// Whether a member has begun and not ended.
    within: bool,
    ended: bool,
    fault: Option<io::Error>,
}

impl Inflated {
    /// How far back a deflated text may refer, as a power of two: as far as any.
    const WINDOW_BITS: u8 = 15;
    /// How much is unpacked at once: each time the window is copied, and bounds are looked at.
    const GULP: usize = 256 * 1024;

    fn gzip(packed: Packed) -> Self {
        Self {
            packed,
            inflate: Decompress::new_gzip(Self::WINDOW_BITS),
            is_gzip: true,
            within: false,
            ended: false,
            fault: None,
        }
    }

    fn bare(packed: Packed) -> Self {
        Self {
            inflate: Decompress::new(false),
            is_gzip: false,
            within: true,
            ..Self::gzip(packed)
        }
    }

    /// Unpacks as much as one stretch of the packed bytes gives, which may be nothing.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let packed = self.packed.fill_buf()?;
        let is_last = packed.is_empty();
        if is_last && !self.within {
            self.ended = true;
            return Ok(0);
        }
        let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
        let flush = if is_last {
            FlushDecompress::Finish
        } else {
            FlushDecompress::None
        };
        let status = self.inflate.decompress(packed, buffer, flush);
        let taken = usize::try_from(self.inflate.total_in() - taken).unwrap_or(0);
        let given = usize::try_from(self.inflate.total_out() - given).unwrap_or(0);
        self.packed.consume(taken);
        self.within = true;
        match status {
            Ok(Status::StreamEnd) => {
                self.within = false;
                self.ended = !self.is_gzip;
                self.inflate.reset(true);
            }
            Ok(Status::Ok | Status::BufError) if taken == 0 && given == 0 => {
                let why = "the packed bytes end before what they pack";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
            Ok(Status::Ok | Status::BufError) => {}
            Err(fault) if given == 0 => return Err(fault.into()),
            Err(fault) => self.fault = Some(fault.into()),
        }
        Ok(given)
    }
}

impl Read for Inflated {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(fault) = self.fault.take() {
            self.ended = true;
            return Err(fault);
        }
        let length = buffer.len().min(Self::GULP);
        while !self.ended && length > 0 {
            let given = self.step(&mut buffer[..length])?;
            if given > 0 {
                return Ok(given);
            }
        }
        Ok(0)
    }
}

/// A reader that remembers whether it was read to its end.
struct Watched {
    packed: Packed,
    ended: bool,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(buffer)?;
        self.ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

/// Frames one after another. The decoder takes the end of its input for the end of a frame; this tells them apart.
struct Lz4Frames(FrameDecoder<Watched>);

impl Read for Lz4Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let watched = self.0.get_mut();
            if watched.ended {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the frame is not complete",
                ));
            }
            if watched.packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
        }
    }
}

/// Counts the bytes that unpackers took.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    pub(super) fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A packed input whose meter runs.
pub(super) struct Metered<R> {
    pub(super) inner: R,
    pub(super) meter: Meter,
}

impl<R: BufRead> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let bytes = u64::try_from(read).unwrap_or(0);
        self.meter.0.fetch_add(bytes, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Metered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let bytes = u64::try_from(amount).unwrap_or(0);
        self.meter.0.fetch_add(bytes, Ordering::Relaxed);
        self.inner.consume(amount);
    }
}

/// An unpacked input that stops at the bounds.
pub(super) struct Guarded<R> {
    pub(super) inner: R,
    pub(super) meter: Meter,
    pub(super) bounds: Bounds,
    pub(super) unpacked: u64,
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.unpacked += u64::try_from(read).unwrap_or(0);
        match self.bounds.exceeded(self.meter.read(), self.unpacked) {
            Some(exceeded) => Err(exceeded.into()),
            None => Ok(read),
        }
    }
}

/// A zip's member, whose checksum is looked at when it ends.
pub(super) struct Checked<R> {
    inner: R,
    crc: Crc,
    length: u64,
    expected: (u32, u64),
}

impl<R> Checked<R> {
    pub(super) fn new(inner: R, expected: (u32, u64)) -> Self {
        Self {
            inner,
            crc: Crc::new(),
            length: 0,
            expected,
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.length += u64::try_from(read).unwrap_or(0);
        if read == 0 && !buffer.is_empty() {
            let fault = |why| Err(io::Error::new(io::ErrorKind::InvalidData, why));
            if self.length != self.expected.1 {
                return fault("its length is not the one that its archive states");
            }
            if self.crc.sum() != self.expected.0 {
                return fault("its checksum is not the one that its archive states");
            }
        }
        Ok(read)
    }
}

/// A member that its archive holds only the beginning of.
pub(super) struct Torn<R> {
    pub(super) inner: R,
    pub(super) fault: String,
}

impl<R: Read> Read for Torn<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::other(self.fault.clone())),
            read => Ok(read),
        }
    }
}
