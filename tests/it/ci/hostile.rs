//! Every form against bytes of any kind: none may fail, hang, or lose what can be read.

use std::io::BufReader;

use casdiag::parsers::ci::{FORMS, Form, How, Line, Moment, Place, read_lines, sniff_file};
use proptest::prelude::*;

use super::case;

/// What is read by a form that did not claim it.
fn read_as_everything(bytes: &[u8]) {
    for spec in FORMS {
        let reading = spec.read(&mut BufReader::new(bytes));
        for run in &reading.runs {
            for leaf in &run.leaves {
                assert!(
                    leaf.message.len() <= casdiag::parsers::ci::MESSAGE_BYTES_MAX,
                    "{}",
                    spec.name
                );
            }
        }
    }
}

/// Every file of the cases.
fn samples() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for folder in ["github", "pytest", "rust", "others", "soak", "machine"] {
        for entry in std::fs::read_dir(case(folder)).unwrap() {
            let path = entry.unwrap().path();
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn every_file_may_be_read_as_every_form() {
    for (_, bytes) in samples() {
        read_as_everything(&bytes);
    }
}

#[test]
fn every_form_has_a_name_of_its_own_and_a_sample_that_it_claims_first() {
    let mut names: Vec<&str> = FORMS.iter().map(|spec| spec.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FORMS.len());
    let mut claimed: Vec<Form> = samples()
        .iter()
        .filter_map(|(_, bytes)| casdiag::parsers::ci::sniff(&bytes[..bytes.len().min(64 << 10)]))
        .map(|spec| spec.form)
        .collect();
    claimed.sort();
    claimed.dedup();
    // An exit code is told by the name of its file.
    claimed.extend(sniff_file("a/exitcode.txt", b"1\n").map(|spec| spec.form));
    let elsewhere = [Form::TestFlowsRaw, Form::TestFlowsText, Form::TestFlowsPage];
    for spec in FORMS.iter().filter(|spec| !elsewhere.contains(&spec.form)) {
        assert!(claimed.contains(&spec.form), "{}", spec.name);
    }
}

#[test]
fn a_file_cut_anywhere_is_read_to_where_it_ends() {
    for (name, bytes) in samples() {
        let Some(spec) = casdiag::parsers::ci::sniff(&bytes[..bytes.len().min(64 << 10)]) else {
            continue;
        };
        let step = (bytes.len() / 40).max(1);
        for end in (0..bytes.len()).step_by(step) {
            let reading = spec.read(&mut BufReader::new(&bytes[..end]));
            assert!(
                reading.error.is_none() || spec.name == "container-inspect",
                "{name} cut at {end}"
            );
        }
    }
}

#[test]
fn a_line_without_end_and_a_flood_of_one_line_cost_little() {
    let long = vec![b'='; 20 << 20];
    read_as_everything(&long);
    let flood = b"[soak.run] checkpoint at executed=1\n[gw0] [ 1%] FAILED a.py::b\n_____ a _____\nrunning 1 test\n".repeat(20_000);
    read_as_everything(&flood);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        read_as_everything(&bytes);
    }

    #[test]
    fn damaged_files_are_read(at in 0_usize..1000, place in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let samples = samples();
        let (_, bytes) = &samples[at % samples.len()];
        let mut bytes = bytes.clone();
        if !bytes.is_empty() {
            let index = place.index(bytes.len());
            bytes[index] = byte;
            bytes.truncate(cut.index(bytes.len()) + 1);
        }
        read_as_everything(&bytes);
    }
}

#[test]
fn lines_with_stamps_before_1970_and_none_are_lines() {
    for spec in FORMS {
        if let How::Lines(new) = spec.how {
            let mut reader = new();
            for printed in [None, Moment::from_epoch(-1e9)] {
                reader.line(&Line {
                    bytes: b"\xff\xfe",
                    place: Place::default(),
                    printed,
                    is_cut: true,
                });
            }
            drop(reader.finish());
            drop(read_lines(new(), &mut BufReader::new(&b""[..])));
        }
    }
}
