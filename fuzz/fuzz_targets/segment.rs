//! What holds for any bytes read as a segment.
#![allow(dead_code, reason = "each target uses one of these")]

use casdiag::parsers::wal::{Context, Format, LAYOUTS, SegmentName};

/// Reads the bytes as a segment of a built-in layout with the name of a file and of a log: as the only one, as one before others, with
/// and without what its name says of its place, and with a key that is sure and with one that is not.
pub fn known(id: &str, file: &str, log: Option<&str>, bytes: &[u8]) {
    let layout = LAYOUTS.iter().find(|layout| layout.id == id);
    let layout = layout.expect("a layout of this name");
    let mut name = (layout.name)(file).expect("a name that the layout has");
    if let Some(spacing) = (layout.spacing)(bytes) {
        name = (layout.spaced)(name, spacing);
    }
    let format = Format::Known(layout);
    let key = format.key(log, name);
    let anywhere = SegmentName {
        is_compressed: name.is_compressed,
        ..SegmentName::default()
    };
    for (name, is_sure) in [(name, true), (anywhere, false)] {
        let context = Context {
            name,
            size: bytes.len() as u64,
            is_last: is_sure,
            chain: is_sure.then_some(0x1234_5678),
            key,
            is_key_sure: is_sure,
            carry: None,
        };
        read(&format, bytes, &context);
    }
    (layout.sniff)(bytes);
}

/// Reads the bytes as a segment: frames do not overlap, and none ends behind the bytes.
pub fn read(format: &Format, bytes: &[u8], context: &Context) {
    let is_compressed = context.name.is_compressed;
    let mut end = 0;
    let mut frames = 0;
    let scan = format.read(&mut &*bytes, context, &mut |frame| {
        assert!(frame.offset >= end && frame.size > 0);
        assert!(frame.payload.len() as u64 <= frame.size);
        end = frame.offset + frame.size;
        frames += 1;
    });
    assert_eq!(scan.frames, frames);
    assert!(frames == 0 || scan.end_offset >= end);
    assert!(is_compressed || scan.end_offset <= bytes.len() as u64);
}
