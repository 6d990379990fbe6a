//! What does not change during a run: the nodes, the defects that are there, and what is assumed of the reported system.

use serde::Deserialize;
use thiserror::Error;

/// A defect: of the reported system, or one that shows whether a check finds anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Defect {
    /// Replicated writes are accepted before recovery. Mended: the write returns busy.
    PreRecoveryWrite,
    /// Catch-up entries and snapshots are taken in and answered before recovery. Mended: dropped in silence.
    PreRecoveryIntake,
    /// The position of a NACK overrides what the standby reports. Mended: the lower of the two.
    JoinOverridesReport,
    /// A stream that finds nothing says that it was sent. Mended: it counts and warns.
    SilentEmptyStream,
    /// Nothing reported, but broken on purpose: a vote is given whatever the candidate's log has.
    BlindVotes,
    /// Broken on purpose: a primary greets nobody, so nobody gets anything.
    NoHello,
}

impl Defect {
    /// Those of the report, with their names.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::PreRecoveryWrite, "pre-recovery-write"),
        (Self::PreRecoveryIntake, "pre-recovery-intake"),
        (Self::JoinOverridesReport, "join-overrides-report"),
        (Self::SilentEmptyStream, "silent-empty-stream"),
    ];

    /// What is broken on purpose: a check that does not find it says nothing.
    pub const ON_PURPOSE: [(Self, &'static str); 2] = [
        (Self::BlindVotes, "blind-votes"),
        (Self::NoHello, "no-hello"),
    ];

    fn named() -> impl Iterator<Item = (Self, &'static str)> {
        Self::ALL.into_iter().chain(Self::ON_PURPOSE)
    }
}

/// The defects that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variant(u8);

/// A variant that is not known.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "no variant or defect of the controllers is called {0}; there are reported (all defects), fixed (none), pre-recovery-write, pre-recovery-intake, join-overrides-report, silent-empty-stream, and broken on purpose: blind-votes, no-hello"
)]
pub struct UnknownVariant(String);

impl Variant {
    /// Every defect of the report.
    pub const REPORTED: Self = Self(0b1111);
    /// None.
    pub const FIXED: Self = Self(0);

    /// Every combination of the report's defects, from all to none.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..16).rev().map(Self)
    }

    /// Reads `reported`, `fixed`, or the defects that are there, joined by `+`.
    pub fn parse(text: &str) -> Result<Self, UnknownVariant> {
        match text {
            "reported" => return Ok(Self::REPORTED),
            "fixed" => return Ok(Self::FIXED),
            _ => {}
        }
        let mut bits = 0;
        for word in text.split('+').map(str::trim) {
            let known = Defect::named().find(|it| it.1 == word);
            let (defect, _) = known.ok_or_else(|| UnknownVariant(word.to_owned()))?;
            bits |= 1 << defect as u8;
        }
        Ok(Self(bits))
    }

    /// The same without the defects that are named, joined by `+`.
    pub fn mended(self, text: &str) -> Result<Self, UnknownVariant> {
        Ok(Self(self.0 & !Self::parse(text)?.0))
    }

    /// Whether a defect is there.
    pub fn has(self, defect: Defect) -> bool {
        self.0 & (1 << defect as u8) != 0
    }

    /// Its name, as [`Self::parse`] reads it.
    pub fn name(self) -> String {
        match self {
            Self::REPORTED => "reported".to_owned(),
            Self::FIXED => "fixed".to_owned(),
            _ => {
                let there = Defect::named().filter(|it| self.has(it.0));
                let names: Vec<&str> = there.map(|it| it.1).collect();
                names.join("+")
            }
        }
    }
}

/// How recovery finds the end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The last record in the order of the names.
    Names,
    /// The highest position without a hole below it.
    Positions,
}

/// When a standby that is behind is first streamed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// When it registers, before its answer to the live append.
    AtRegistration,
    /// At the next tick, after a NACK of the live append.
    AtTick,
}

/// Which position the line about a stream shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The one that the stream starts from.
    Start,
    /// The standby's report.
    Report,
}

/// What a heartbeat to a standby in catch-up names as the entry before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heartbeat {
    /// The standby's report.
    Report,
    /// The entry before the next one to send.
    Next,
}

/// What the report leaves unsaid and its picture needs.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in a scenario"
)]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Assumptions {
    /// Records after which a segment is closed; 0: a segment is one life of the process.
    pub segment_records: u64,
    /// Segments that one dispatch streams.
    pub batches: u64,
    /// How recovery finds the end.
    pub recovery: Recovery,
    /// Which position the line shows.
    pub shown: Shown,
    /// Whether entries are sent live to a standby when it registers.
    pub live_at_registration: bool,
    /// When the first stream is sent.
    pub dispatch: Dispatch,
    /// Whether a standby in catch-up gets no live appends.
    pub suppresses_live: bool,
    /// What a heartbeat in catch-up names.
    pub heartbeat: Heartbeat,
    /// Whether a primary tells its commit position with every append and heartbeat; otherwise only with entries.
    pub tells_commit: bool,
    /// Whether the next batch goes to the log only when the one before is committed.
    pub one_batch: bool,
    /// Whether drops before recovery are told once per process.
    pub drops_once: bool,
    /// Whether configuration records are pushed to a standby that was level before its process ended, without a check of the log.
    pub pushes: bool,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self {
            segment_records: 0,
            batches: 1,
            recovery: Recovery::Names,
            shown: Shown::Start,
            live_at_registration: true,
            dispatch: Dispatch::AtRegistration,
            suppresses_live: true,
            heartbeat: Heartbeat::Report,
            tells_commit: true,
            one_batch: true,
            drops_once: true,
            pushes: false,
        }
    }
}

/// What does not change during a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Controllers.
    pub nodes: usize,
    /// The defects that are there.
    pub variant: Variant,
    /// What is assumed.
    pub assumptions: Assumptions,
}

impl Setup {
    /// Votes and copies that decide.
    pub fn majority(&self) -> usize {
        self.nodes / 2 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        assert_eq!(Variant::all().count(), 16);
        for variant in Variant::all() {
            assert_eq!(Variant::parse(&variant.name()), Ok(variant));
        }
        let mended = Variant::REPORTED.mended("pre-recovery-write").unwrap();
        assert!(!mended.has(Defect::PreRecoveryWrite) && mended.has(Defect::SilentEmptyStream));
        assert!(Variant::parse("v1").is_err());
        let broken = Variant::parse("no-hello+blind-votes").unwrap();
        assert_eq!(broken.name(), "blind-votes+no-hello");
        assert!(!Variant::all().any(|it| it == broken));
    }
}
