//! What holds for any bytes read as a segment.

use casdiag::parsers::wal::{Context, Format, SegmentName};
use casdiag::vocab::Lsn;

/// Reads the bytes as a segment: frames do not overlap, and none ends behind the bytes.
pub fn read(format: &Format, bytes: &[u8], is_last: bool, is_compressed: bool) {
    let name = SegmentName {
        lsn: Some(Lsn(1)),
        is_compressed,
        ..SegmentName::default()
    };
    let context = Context {
        name,
        size: bytes.len() as u64,
        is_last,
        chain: Some(0x1234_5678),
        key: Some([7; 32]),
        carry: None,
    };
    let mut end = 0;
    let mut frames = 0;
    let scan = format.read(&mut &*bytes, &context, &mut |frame| {
        assert!(frame.offset >= end && frame.size > 0);
        assert!(frame.payload.len() as u64 <= frame.size);
        end = frame.offset + frame.size;
        frames += 1;
    });
    assert_eq!(scan.frames, frames);
    assert!(frames == 0 || scan.end_offset >= end);
    assert!(is_compressed || scan.end_offset <= bytes.len() as u64);
}
