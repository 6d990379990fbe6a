//! Test results among the inputs: read before the logs, so that records can be watched for what failing tests name.

use std::io::BufReader;
use std::sync::atomic::Ordering;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::Progress;
use super::inputs::Looked;
use crate::outcome::Source;
use crate::parsers::ci::Reading;
use crate::parsers::ci::jobs::files::join;

/// How much of a source is unpacked at once.
const GULP: usize = 256 * 1024;

/// Reads every source, several at once, in the order of the inputs.
pub(super) fn read(pool: &ThreadPool, looked: &Looked, progress: &Progress) -> Vec<Source> {
    let sources = looked.tests();
    let read = |(artifact, spec): &(usize, &'static crate::parsers::ci::Spec)| {
        let (artifact, (path, run, bytes)) = (*artifact, looked.place_of(*artifact));
        let reading = match looked.open_tests(artifact) {
            Ok(reader) => spec.read(&mut BufReader::with_capacity(GULP, reader)),
            Err(error) => Reading {
                error: Some(error),
                ..Reading::default()
            },
        };
        progress.done.fetch_add(bytes, Ordering::Relaxed);
        Source {
            artifact,
            path,
            run,
            reading,
        }
    };
    let mut sources: Vec<Source> = pool.install(|| sources.par_iter().map(read).collect());
    // Files of one job hold the same lines; each is to speak once.
    let mut files: Vec<(String, Reading)> = sources
        .iter_mut()
        .map(|source| (source.path.clone(), std::mem::take(&mut source.reading)))
        .collect();
    join(&mut files);
    for (source, (_, reading)) in sources.iter_mut().zip(files) {
        source.reading = reading;
    }
    sources
}
