//! Any bytes as a segment of a described layout, with and without header, checksum and length.
#![no_main]

mod segment;

use casdiag::parsers::wal::{
    Algorithm, Chain, Context, Covers, Declaration, EndMark, Endian, Field, FieldKind, Format,
    Measure, Pinned, Step,
};
use libfuzzer_sys::fuzz_target;

fn field(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        ..Field::default()
    }
}

fn declaration(bits: u8) -> Declaration {
    let measure = [Measure::Payload, Measure::Record, Measure::Rest][usize::from(bits & 3) % 3];
    let length = if bits & 4 == 0 {
        FieldKind::Uint(2)
    } else {
        FieldKind::Uvarint
    };
    let sum = Field {
        algorithm: Some(
            [
                Algorithm::Crc32,
                Algorithm::Crc32c,
                Algorithm::Xxh3,
                Algorithm::Siphash24,
            ][usize::from(bits >> 6)],
        ),
        covers: if bits & 8 == 0 {
            Covers::Before
        } else {
            Covers::Fields(vec![1, 2])
        },
        chain: if bits & 16 == 0 {
            Chain::None
        } else {
            Chain::Log
        },
        ..field("sum", FieldKind::Uint(1))
    };
    let magic = Field {
        equals: Some(Pinned::Bytes(b"ab".to_vec())),
        ..field("magic", FieldKind::Bytes(2))
    };
    Declaration {
        name: "fuzzed".to_owned(),
        file: Vec::new(),
        endian: if bits & 1 == 0 {
            Endian::Little
        } else {
            Endian::Big
        },
        align: if bits & 2 == 0 { 1 } else { 4 },
        end: if bits & 32 == 0 {
            vec![EndMark::ZeroLength]
        } else {
            vec![EndMark::ZeroLsn]
        },
        header: if bits & 4 == 0 {
            Vec::new()
        } else {
            vec![magic]
        },
        record: vec![
            Field {
                measures: Some(measure),
                ..field("length", length)
            },
            field("lsn", FieldKind::Uint(2)),
            field("payload", FieldKind::Payload),
            sum,
        ],
        step: if bits & 64 == 0 {
            Step::By(1)
        } else {
            Step::Bytes
        },
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&bits, bytes)) = bytes.split_first() else {
        return;
    };
    let context = Context {
        size: bytes.len() as u64,
        is_last: true,
        ..Context::default()
    };
    let declared = Box::new(declaration(bits));
    segment::read(&Format::Declared(declared), bytes, &context);
});
