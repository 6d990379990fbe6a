//! Texts that are printed without a report, masked as a report's are, or not at all.

use serde_json::Value;

use super::masks::Masks;
use super::{CONTINUED, Manner, learn, recognise, visit};
use crate::layout::Inspection;
use crate::report::model::Report;
use crate::rules::RuleBase;

/// How texts are printed: as they are, or masked.
#[derive(Debug, Default)]
pub struct Texts {
    masks: Option<Masks>,
}

impl Texts {
    /// Texts as they are.
    pub fn plain() -> Self {
        Self::default()
    }

    /// Masked texts: what the report and these further lines of logs show to be a host or a literal is one in all of them,
    /// but for the texts of the rule base.
    pub fn masked<'t>(
        report: &Report,
        base: &RuleBase,
        further: impl IntoIterator<Item = &'t str>,
    ) -> serde_json::Result<Self> {
        let (mut masks, _) = learnt(report)?;
        let signals = base.signals.signals().iter();
        for template in signals.flat_map(|signal| &signal.templates) {
            masks.keep(template.source());
        }
        for text in further {
            masks.learn(text, true);
        }
        Ok(Self { masks: Some(masks) })
    }

    /// A path.
    pub fn path(&mut self, text: &str) -> String {
        self.with(text, |masks| masks.path(text))
    }

    /// A node's name.
    pub fn name(&mut self, text: &str) -> String {
        self.with(text, |masks| masks.name(text))
    }

    /// A sentence of casdiag that is filled in.
    pub fn sentence(&mut self, text: &str) -> String {
        self.with(text, |masks| masks.sentence(text))
    }

    /// A record, or a part of one.
    pub fn log(&mut self, text: &str) -> String {
        self.with(text, |masks| {
            if recognise::begins_record(text) || !text.contains('\n') {
                masks.log(text)
            } else {
                CONTINUED.to_owned()
            }
        })
    }

    fn with(&mut self, text: &str, mask: impl FnOnce(&mut Masks) -> String) -> String {
        self.masks.as_mut().map_or_else(|| text.to_owned(), mask)
    }
}

/// The masks that a report gives, and the report as a value.
pub(super) fn learnt(report: &Report) -> serde_json::Result<(Masks, Value)> {
    let mut masks = Masks::default();
    learn::names(report, &mut masks);
    let value = serde_json::to_value(report)?;
    // What a text late in the report shows to be a host or a literal is one in the texts before it as well.
    visit(&value, "", Manner::Log, &mut |manner, text| match manner {
        Manner::Log | Manner::Beside => masks.learn(text, true),
        Manner::Sentence => masks.learn(text, false),
        Manner::Path => masks.learn_path(text),
        Manner::Ours
        | Manner::Ids
        | Manner::Name
        | Manner::Fields
        | Manner::Value
        | Manner::ByNode => {}
    });
    Ok((masks, value))
}

/// Masks paths, nodes and what segments call themselves in a check of WALs; positions and sizes stay.
pub fn redact_inspection(inspection: &mut Inspection) {
    let mut masks = Masks::default();
    for wal in &inspection.wals {
        masks.node(&wal.node);
        masks.learn_path(&wal.path);
    }
    for wal in &mut inspection.wals {
        wal.path = masks.path(&wal.path);
        wal.run = masks.path(&wal.run);
        wal.node = masks.name(&wal.node);
        wal.identity = wal.identity.as_ref().map(|it| masks.value(it));
        for segment in &mut wal.segments {
            segment.file = masks.path(&segment.file);
        }
        for problem in &mut wal.problems {
            problem.detail = masks.sentence(&problem.detail);
            problem.consequence = masks.sentence(&problem.consequence);
            problem.belongs_in = problem.belongs_in.as_ref().map(|it| masks.path(it));
        }
        for note in &mut wal.notes {
            note.why = masks.sentence(&note.why);
            note.segment = note.segment.as_ref().map(|it| masks.path(it));
        }
        for unread in &mut wal.unread {
            unread.path = masks.path(&unread.path);
            unread.detail = masks.sentence(&unread.detail);
        }
    }
    for unknown in &mut inspection.unknown {
        unknown.path = masks.path(&unknown.path);
        unknown.example = masks.path(&unknown.example);
    }
    for unread in &mut inspection.unread {
        unread.path = masks.path(&unread.path);
        unread.detail = masks.sentence(&unread.detail);
    }
    for comparison in &mut inspection.comparisons {
        comparison.identity = comparison.identity.as_ref().map(|it| masks.value(it));
        for reach in &mut comparison.nodes {
            reach.node = masks.name(&reach.node);
        }
        for forecast in &mut comparison.forecasts {
            forecast.primary = masks.name(&forecast.primary);
            forecast.standby = masks.name(&forecast.standby);
            forecast.held_by = forecast.held_by.as_ref().map(|it| masks.path(it));
        }
        for (_, a, b) in &mut comparison.differing {
            *a = masks.name(a);
            *b = masks.name(b);
        }
    }
}
