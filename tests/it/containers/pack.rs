//! Archives written by hand, so that they can be as broken and as hostile as a stranger's.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use tar::{EntryType, Header};

use crate::product::gzip;

/// Files with their names.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Every file below a folder, its path relative.
pub(super) fn tree(root: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// A way to pack a text, with the suffix that such files have.
pub(super) type Packing = (&'static str, fn(&[u8]) -> Vec<u8>);

/// Every packing of a single file.
pub(super) const PACKINGS: &[Packing] = &[
    ("gz", gzip),
    ("zst", zst),
    ("xz", xz),
    ("lz4", lz4),
    ("bz2", bz2),
];

pub(super) fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    packer.include_checksum(true).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut packer = liblzma::read::XzEncoder::new(bytes, 0);
    packer.read_to_end(&mut packed).unwrap();
    packed
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new()
        .content_checksum(true)
        .block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut packer = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut packer = bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast());
    packer.read_to_end(&mut packed).unwrap();
    packed
}

/// One member of a tar, padded.
pub(super) fn tar_member(name: &[u8], kind: EntryType, bytes: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    let mut out = header.as_bytes().to_vec();
    out.extend_from_slice(bytes);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

/// A tar of members.
pub(super) fn tar_of(members: &[Vec<u8>]) -> Vec<u8> {
    let mut out = members.concat();
    out.resize(out.len() + 1024, 0);
    out
}

/// A tar of files.
pub(super) fn tar(files: &Files) -> Vec<u8> {
    let members = files.iter();
    let members =
        members.map(|(name, bytes)| tar_member(name.as_bytes(), EntryType::Regular, bytes));
    tar_of(&members.collect::<Vec<_>>())
}

/// A member of a zip to be.
#[derive(Clone)]
pub(super) struct ZipMember {
    pub(super) name: Vec<u8>,
    pub(super) method: u16,
    pub(super) flags: u16,
    pub(super) mode: u32,
    pub(super) packed: Vec<u8>,
    pub(super) size: usize,
    pub(super) crc: u32,
}

pub(super) const STORED: u16 = 0;
pub(crate) const DEFLATED: u16 = 8;

impl ZipMember {
    pub(super) fn new(name: &[u8], method: u16, bytes: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let packed = match method {
            STORED => bytes.to_vec(),
            DEFLATED => {
                let mut packer =
                    flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
                packer.write_all(bytes).unwrap();
                packer.finish().unwrap()
            }
            12 => bz2(bytes),
            93 => zst(bytes),
            95 => xz(bytes),
            other => panic!("no method {other}"),
        };
        Self {
            name: name.to_vec(),
            method,
            flags: 0,
            mode: 0o100_644,
            packed,
            size: bytes.len(),
            crc: crc.sum(),
        }
    }

    /// Method, time, checksum, sizes and length of the name, as both headers state them.
    fn fields(&self, streamed: bool) -> Vec<u8> {
        let mut out = self.method.to_le_bytes().to_vec();
        out.extend([0, 0, 0x21, 0]);
        let [crc, packed, size] = if streamed {
            [0; 3]
        } else {
            [self.crc, int(self.packed.len()), int(self.size)]
        };
        for number in [crc, packed, size] {
            out.extend(number.to_le_bytes());
        }
        out.extend(short(self.name.len()).to_le_bytes());
        out
    }
}

fn int(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap()
}

/// A zip of members. A member with flag 8 states its sizes behind its bytes, as writers to a pipe do.
pub(super) fn zip_of(members: &[ZipMember]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let at = int(out.len());
        let streamed = member.flags & 8 != 0;
        out.extend(b"PK\x03\x04\x14\0");
        out.extend(member.flags.to_le_bytes());
        out.extend(member.fields(streamed));
        out.extend([0, 0]);
        out.extend(&member.name);
        out.extend(&member.packed);
        if streamed {
            out.extend(b"PK\x07\x08");
            for number in [member.crc, int(member.packed.len()), int(member.size)] {
                out.extend(number.to_le_bytes());
            }
        }
        directory.extend(b"PK\x01\x02\x14\x03\x14\0");
        directory.extend(member.flags.to_le_bytes());
        directory.extend(member.fields(false));
        directory.extend([0; 8]);
        directory.extend((member.mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&member.name);
    }
    let start = int(out.len());
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend(short(members.len()).to_le_bytes());
    }
    out.extend(int(directory.len()).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// A zip of files.
pub(crate) fn zip(files: &Files, method: u16) -> Vec<u8> {
    let members = files.iter();
    let members = members.map(|(name, bytes)| ZipMember::new(name.as_bytes(), method, bytes));
    zip_of(&members.collect::<Vec<_>>())
}
