//! Whether a signal would have been seen on a node, had it occurred.

use crate::parsers::Format;
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
    match signal.format {
        Format::ClickHouse | Format::Stderr | Format::CoreDump => node.seen.has(Format::ClickHouse),
        Format::Controller | Format::Soak | Format::Table => node.seen.has(signal.format),
    }
}

/// Why `signal` could not have been seen on `node`; `None` if it could.
pub fn obstacle(signal: &Signal, node: &NodeTally) -> Option<String> {
    if let Some(row) = &signal.row {
        let missing = !node.exported.has(&row.table);
        return missing.then(|| format!("no export of its system.{} is here", row.table));
    }
    if node.seen.has_nothing_of(signal.format) {
        let name = signal.format.spec().name;
        return Some(format!("no {name} record of it lies in the time asked for"));
    }
    match signal.format {
        Format::Stderr => {
            let missing = !node.seen.has(Format::Stderr);
            missing.then(|| "the server's standard error is not here".to_owned())
        }
        Format::CoreDump => Some("the folder that cores are written to is not here".to_owned()),
        Format::Controller | Format::Soak | Format::Table => {
            let missing = !node.seen.has(signal.format);
            missing.then(|| format!("no {} of it is here", signal.format.spec().name))
        }
        Format::ClickHouse => {
            let loudest = Level::ALL.into_iter().find(|level| signal.admits(*level))?;
            if !node.seen.has(Format::ClickHouse) {
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
