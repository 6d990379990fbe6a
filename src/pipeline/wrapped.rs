//! The logs in wrapped files: which there are, of which format, and where each belongs.

use crate::intake::{Artifact, Place, SAMPLE_BYTES};
use crate::parsers::{Format, claimed, sniff};
use crate::wrappers::{Layer, Unwrapped, detect, survey};

/// One log of a wrapped file.
#[derive(Debug)]
pub(super) struct Wrapped {
    /// What stands around it.
    pub(super) layers: Vec<Layer>,
    /// Its format.
    pub(super) format: Format,
    /// The node that its wrapper or its own lines name.
    pub(super) node: Option<String>,
    /// What its log is called beside others of the file.
    name: String,
    /// Where it belongs.
    pub(super) place: Option<Place>,
}

/// How many lines of a text are of a known format.
fn claims(sample: &[u8], declared: &[Format]) -> usize {
    claimed(sample, declared).map_or(0, |(lines, _)| lines)
}

/// Whether a file that begins like this holds wrapped logs.
pub(super) fn is_wrapped(start: &[u8], declared: &[Format]) -> bool {
    !detect(start, &|text| claims(text, declared))
        .logs
        .is_empty()
}

/// The logs of a file if it is wrapped; `is_document` if only such a file is believed that is nothing else.
pub(super) fn logs(
    artifact: &Artifact,
    sample: &[u8],
    is_document: bool,
    declared: &[Format],
) -> Vec<Wrapped> {
    let claims = |text: &[u8]| claims(text, declared);
    let detected = detect(sample, &claims);
    if detected.logs.is_empty() || (is_document && !detected.is_most) {
        return Vec::new();
    }
    let mut logs = detected.logs;
    // The rest of the file may hold further logs.
    if sample.len() >= SAMPLE_BYTES
        && let Ok((reader, _)) = artifact.open()
    {
        logs = survey(reader, logs, &claims);
    }
    logs.into_iter()
        .filter_map(|log| wrapped(log, declared))
        .collect()
}

fn wrapped(log: Unwrapped, declared: &[Format]) -> Option<Wrapped> {
    let format = sniff(&log.sample, declared)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let key = log.key();
    let named = key
        .map(|key| text(&key.node))
        .filter(|node| !node.is_empty());
    Some(Wrapped {
        format,
        node: named.or_else(|| format.only_node(&log.sample)),
        name: key.map_or_else(String::new, |key| {
            format!("/{}/{}", text(&key.node), text(&key.part))
        }),
        place: None,
        layers: log.layers,
    })
}

impl Wrapped {
    /// Puts it in its place: logs that share a file do not join.
    pub(super) fn put(&mut self, mut place: Place) {
        place.log.push_str(&self.name);
        self.place = Some(place);
    }
}
