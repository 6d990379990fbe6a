//! An ELF core: the image of a process that died. Only its header is read; that it is there is what counts.
//!
//! ```text
//! 7f 45 4c 46 02 01 01 ... 04 00    "\x7fELF", 64 bits, little endian, ..., type 4 = core
//! ```

use super::{Absence, Spec};
use crate::record::Record;

/// The image of a process that died.
pub(super) static SPEC: Spec = Spec {
    head_bytes: Some(HEAD_BYTES),
    beside: Some("clickhouse"),
    absence: Absence::Nothing("the folder that cores are written to is not here"),
    sample_path: "node/core",
    ..Spec::lines("core-dump", is_head, parse, claims)
};

/// The ELF header up to the file's type.
const HEAD_BYTES: u64 = 18;
const MAGIC: &[u8] = b"\x7fELF";
const TYPE_CORE: u16 = 4;

fn is_head(bytes: &[u8]) -> bool {
    let (Some(order), Some(&[a, b])) = (
        bytes.get(5),
        bytes.get(16..18).and_then(|two| two.first_chunk::<2>()),
    ) else {
        return false;
    };
    let kind = if *order == 2 {
        u16::from_be_bytes([a, b])
    } else {
        u16::from_le_bytes([a, b])
    };
    bytes.starts_with(MAGIC) && kind == TYPE_CORE
}

fn parse<'a>(line: &'a [u8], _rest: &'a [u8]) -> Option<Record<'a>> {
    is_head(line).then(|| Record::bare(b"ELF core", b""))
}

fn claims(sample: &[u8]) -> usize {
    if is_head(sample) { sample.len() } else { 0 }
}
