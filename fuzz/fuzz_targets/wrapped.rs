//! Any bytes as a file in one or two wrappers: unwrapped, with every record where it is said to be; and the logs that they
//! hold by themselves, read in one pass as each is read alone.
#![no_main]

use std::io::Cursor;

use casdiag::intake::Limits;
use casdiag::parsers::{Format, claimed};
use casdiag::wrappers::{Demux, Detected, Layer, Reading, StreamReader, WRAPPERS, detect, side_by_side};
use libfuzzer_sys::fuzz_target;

/// A beginning that tells what the keys of a JSON logger mean.
const LOGGER: &[u8] = br#"{"date_time":"1706029521.329019","thread_id":"539","level":"Error","query_id":"","logger_name":"a","message":"b"}"#;

const LIMITS: Limits = Limits {
    block_bytes: 256,
    record_bytes: 1024,
};

fn in_one_pass(file: &[u8], detected: &Detected) {
    let logs = &detected.logs;
    if logs.len() < 2 || !Demux::can_read(logs.iter().map(|log| log.layers.as_slice())) {
        return;
    }
    let paths: Vec<Vec<u8>> = logs.iter().filter_map(|log| log.path().map(<[u8]>::to_vec)).collect();
    let format = Format::from_name("clickhouse").expect("it is registered");
    let reading = |at: usize| Reading {
        layers: &logs[at].layers,
        is_head: Box::new(move |line| format.is_head(line)),
        is_reversed: false,
        paths: &paths,
        notes_foreign: at == 0,
        left_out: &[],
    };
    let input = || Box::new(Cursor::new(file.to_vec()));
    let mut demux = Demux::new(input(), (0..logs.len()).map(reading).collect(), LIMITS);
    for at in 0..logs.len() {
        let mut alone = StreamReader::new(input(), reading(at), side_by_side(logs.len(), LIMITS));
        loop {
            while !demux.is_ready(at) {
                demux.advance();
            }
            if demux.is_let_go(at) {
                break;
            }
            let (one, other) = (demux.next(at, Vec::new()), alone.next(Vec::new()));
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
            if one.is_none() {
                break;
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[outer, inner, mode], file)) = bytes.split_first_chunk::<3>() else {
        return;
    };
    let detected = detect(file, &|sample| claimed(sample, &[]).map_or(0, |(lines, _)| lines));
    in_one_pass(file, &detected);
    let layer = |number: u8| {
        let spec = &WRAPPERS[usize::from(number) % WRAPPERS.len()];
        Layer::of(spec, [LOGGER].into_iter()).expect("a logger's line tells its keys")
    };
    let layers = [layer(outer), layer(inner)];
    let format = Format::from_name("clickhouse").expect("it is registered");
    let reading = Reading {
        layers: &layers[..1 + usize::from(mode & 1)],
        is_head: Box::new(move |line| format.is_head(line)),
        is_reversed: mode & 2 != 0,
        paths: &[],
        notes_foreign: true,
        left_out: &[],
    };
    let limits = LIMITS;
    let mut reader = StreamReader::new(Box::new(Cursor::new(file.to_vec())), reading, limits);
    let mut lines = 0;
    while let Some(block) = reader.next(Vec::new()) {
        let origin = block.origin.expect("unwrapped text has its places");
        lines += origin.lines;
        assert!(origin.starts.windows(2).all(|pair| pair[0].at < pair[1].at));
        for start in &origin.starts {
            assert!((start.at as usize) < block.bytes.len());
            let at = usize::try_from(start.offset).expect("an offset in memory");
            let before = file[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(before + 1, start.line);
        }
    }
    assert!(lines <= file.iter().filter(|byte| **byte == b'\n').count() as u64 + 1 + file.len() as u64 / 1024);
});
