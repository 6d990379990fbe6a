//! Whether a signal would have been seen on a node, had it occurred.

use crate::parsers::{Absence, Format};
use crate::signals::Signal;
use crate::signals::tally::NodeTally;
use crate::vocab::Level;

/// What to collect where a signal says nothing better.
pub const COLLECT: &str = "the node's main log at its full level, with its rotated pieces";

/// Whether `node` runs what writes such signals at all: only then is their absence worth a word.
pub fn concerns(signal: &Signal, node: &NodeTally) -> bool {
    if let Some(row) = &signal.row {
        return node.exported.has(&row.table);
    }
    let written = |format: &Format| {
        let beside = format.spec().beside.and_then(Format::from_name);
        node.seen.has(beside.unwrap_or(*format))
    };
    signal.formats.iter().any(written)
}

/// Why `signal` could not have been seen on `node`; `None` if it could.
pub fn obstacle(signal: &Signal, node: &NodeTally) -> Option<String> {
    if let Some(row) = &signal.row {
        let missing = !node.exported.has(&row.table);
        return missing.then(|| format!("no export of its system.{} is here", row.table));
    }
    let here = signal.formats.iter().find(|format| node.seen.has(**format));
    let format = here.or_else(|| signal.formats.first())?;
    if node.seen.has_nothing_of(*format) {
        let name = format.spec().name;
        return Some(format!("no {name} record of it lies in the time asked for"));
    }
    match format.spec().absence {
        Absence::OfFile(missing) => (!node.seen.has(*format)).then(|| missing.to_owned()),
        Absence::Nothing(why) => Some(why.to_owned()),
        Absence::OfLevel => {
            let loudest = Level::ALL.into_iter().find(|level| signal.admits(*level))?;
            if !node.seen.has(*format) {
                return Some("no log of it is here".to_owned());
            }
            if !node.seen.main && !node.seen.err && node.seen.excerpt {
                return Some("only some lines of its log are here".to_owned());
            }
            if loudest <= Level::Warning {
                return None;
            }
            if !node.seen.main {
                return Some("only its err.log is here".to_owned());
            }
            let shown = node.log_level().unwrap_or(Level::Fatal);
            (shown < loudest).then(|| format!("its log shows nothing below {shown:?}"))
        }
    }
}
