//! What the report knows by itself: which names are nodes, what the fields of signals hold, which words are the rules'.

use super::masks::{Holds, Masks};
use crate::intake::UNNAMED;
use crate::report::model::Report;

/// Notes nodes, values of fields, and words that are no secrets.
pub(super) fn names(report: &Report, masks: &mut Masks) {
    for rule in &report.rules {
        for text in [&rule.title, &rule.mechanism, &rule.category] {
            masks.words(text);
        }
        for text in rule.not_this.iter().chain(&rule.next_steps) {
            masks.words(text);
        }
    }
    for row in &report.signals {
        masks.words(&row.what);
    }
    for facts in &report.environment {
        for version in facts.version.iter().flat_map(|it| it.split(", ")) {
            masks.keep(version);
        }
        facts.build.iter().for_each(|it| masks.keep(it));
    }
    let nodes = report
        .nodes
        .iter()
        .flat_map(|it| std::iter::once(&it.id).chain(&it.aliases));
    let inputs = report.inputs.iter().map(|it| &it.node);
    let wals = report.wal.iter().map(|it| &it.node);
    for name in nodes.chain(inputs).chain(wals) {
        if name != UNNAMED {
            masks.node(name);
        }
    }
    fields(report, masks);
}

/// Values of fields, by what their fields hold.
fn fields(report: &Report, masks: &mut Masks) {
    for row in &report.signals {
        let by = row.by.iter();
        let by = by.flat_map(|(field, values)| values.keys().map(move |it| (field, it)));
        let top = row.top.iter();
        let top = top.flat_map(|(field, values)| values.iter().map(move |(it, _)| (field, it)));
        for (field, value) in by.chain(top) {
            let holds = match row.holds.get(field).map(String::as_str) {
                Some("node" | "host") => Holds::Host,
                Some("part" | "table" | "int" | "uuid" | "class") => Holds::Kept,
                Some("key") => Holds::Path,
                // Of an earlier report nobody knows what its fields hold.
                _ => Holds::Text,
            };
            masks.field(value, holds);
        }
    }
}
