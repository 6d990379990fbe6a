//! Whether a signal would have been seen on a node, had it occurred.

use crate::parsers::{Absence, Format};
use crate::signals::tally::NodeTally;
use crate::signals::{Signal, SignalSet};
use crate::vocab::Level;

/// What to collect where a signal says nothing better.
pub const COLLECT: &str = "the node's main log at its full level, with its rotated pieces";

/// Whether `node` runs what writes such signals at all: only then is their absence worth a word.
pub fn concerns(signal: &Signal, node: &NodeTally) -> bool {
    if let Some(row) = &signal.row {
        return node.exported.has(&row.table);
    }
    // A Keeper writes the format of a server and does nothing of what a server does.
    let is_servers = node.seen.keeper_alone && !signal.keeper;
    let written = |format: &Format| {
        if is_servers && *format == Format::CLICKHOUSE {
            return false;
        }
        let beside = format.spec().beside.and_then(Format::from_name);
        node.seen.has(beside.unwrap_or(*format))
    };
    signal.formats.iter().any(written)
}

/// Why a signal could not have been seen on `node`; `None` if it could.
pub fn obstacle(signals: &SignalSet, at: u16, node: &NodeTally) -> Option<String> {
    let signal = signals.signal(at);
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
        Absence::OfLevel if !node.seen.has(*format) => Some("no log of it is here".to_owned()),
        Absence::OfLevel if !node.seen.main && !node.seen.err && node.seen.excerpt => {
            Some("only some lines of its log are here".to_owned())
        }
        Absence::OfLevel => {
            let occurs = node.signals[usize::from(at)].all.count > 0;
            too_quiet(signal, node, occurs)
        }
    }
}

/// Why the logs of `node` may leave out records of `signal` for their level.
///
/// At which of its levels a record is logged depends on the server's version, and often on why it is logged, so that each of
/// them must be shown. An occurrence says that at this node it is a level that is shown.
fn too_quiet(signal: &Signal, node: &NodeTally, occurs: bool) -> Option<String> {
    if signal.is_of_any_level() {
        return None;
    }
    let shown = node.shown_level();
    let mut levels = Level::ALL.into_iter().filter(|it| signal.admits(*it));
    let is_shown_at_all = levels.clone().any(|level| level <= shown);
    let hidden = levels.find(|level| *level > shown)?;
    let why = if node.seen.main {
        format!("its log shows nothing below {shown:?}")
    } else {
        "only its err.log is here".to_owned()
    };
    match (is_shown_at_all, occurs) {
        (false, _) => Some(why),
        (true, true) => None,
        (true, false) => Some(format!("{why}, and it may be logged at {hidden:?}")),
    }
}
