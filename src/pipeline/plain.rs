//! What a plain search for a listed signal's text finds in the files themselves, whatever of them is read as records: copies that
//! are not read a second time, rows of tables and results of tests hold it too.

use std::io::BufReader;

use memchr::memmem::Finder;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::inputs::Looked;
use crate::parsers::ci::Lines;
use crate::rules::RuleBase;
use crate::signals::Template;

/// How much of a file is unpacked at once.
const GULP: usize = 256 * 1024;

/// How many lines of each known artifact hold the text of a signal. What cannot be read is told where it is read for its records.
pub(super) fn lines_found(
    pool: &ThreadPool,
    looked: &Looked,
    signal: u16,
    rules: &RuleBase,
) -> Vec<(usize, u64)> {
    let templates = rules.signals.signal(signal).templates.iter();
    let texts: Vec<Finder<'_>> = templates
        .filter_map(Template::key)
        .map(Finder::new)
        .collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let count = |artifact: usize| {
        let found = looked.open_tests(artifact).map(|reader| {
            let mut reader = BufReader::with_capacity(GULP, reader);
            let mut lines = Lines::new(&mut reader);
            let mut found = 0;
            while let Some(line) = lines.next_line() {
                found += u64::from(texts.iter().any(|text| text.find(line.bytes).is_some()));
            }
            found
        });
        (artifact, found.unwrap_or(0))
    };
    let artifacts = looked.texts();
    pool.install(|| artifacts.into_par_iter().map(count).collect())
}
