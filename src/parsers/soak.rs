//! What the soak harness of a content-addressed cluster prints, line by line:
//!
//! ```text
//! [soak.run] checkpoint OK: now=... fsck reachable=... dangling=0 stale_edge=0 dryrun_count=0
//! TRANSPORT FAILURE: [Errno 54] Connection reset by peer
//! ```
//!
//! Its lines have no stamps and are no log records; signals match them so that what a test saw stands beside what the
//! servers logged. Its totals and its failure.json are not read here.

use super::{Absence, Spec, line_record, sample_lines};

/// The output of the harness.
pub(super) static SPEC: Spec = Spec {
    absence: Absence::OfFile("no soak-output of it is here"),
    sample_path: "soak.log",
    ..Spec::lines("soak-output", is_head, line_record, claims)
};

/// Beginnings that only this harness prints.
const BEGINNINGS: &[&[u8]] = &[
    b"[soak.run] ",
    b"TRANSPORT FAILURE: ",
    b"CHECKPOINT FAILURE: ",
    b"WORKLOAD FAILURE: ",
];

fn is_head(line: &[u8]) -> bool {
    !line.is_empty()
}

fn claims(sample: &[u8]) -> usize {
    let claimed = |line: &&[u8]| BEGINNINGS.iter().any(|start| line.starts_with(start));
    sample_lines(sample).filter(claimed).count()
}
