//! A node: its steps in the order of time, and the counts that it keeps of them.

use std::path::Path;

use super::draft::{Draft, Kind, SplitMix64, iso_time};
use super::files::{Stream, line_feeds};
use super::{
    ERR, FINISHED, MAIN, NODES, NodeTruth, PACE, Plan, REF_CATALOG, REFUSALS, S3, SPAN, UNPROVEN,
};

/// Where the copy of a record in one of the two logs ends early.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    None,
    MainInMessage,
    ErrInStack,
}

pub(super) struct Node {
    pub(super) index: usize,
    pub(super) new_era: bool,
    pub(super) version: &'static str,
    pub(super) rng: SplitMix64,
    pub(super) truth: NodeTruth,
    pub(super) main: Stream,
    pub(super) err: Stream,
    pub(super) stamp: u64,
    pub(super) stamp_range: (u64, u64),
    pub(super) build: u64,
    pub(super) queue: u64,
    pub(super) steps: Steps,
}

/// What a node writes, beside the lines of its start.
pub(super) struct Steps {
    pub(super) quotas: Vec<(Kind, u64)>,
    /// Refusals that only the err.log has, before its main log begins.
    pub(super) refusals_before: u64,
    /// The last exception, cut in one of the two logs.
    pub(super) cut: Option<Kind>,
}

impl Node {
    pub(super) fn new(plan: &Plan, folder: &Path, index: usize) -> Self {
        let name = NODES[index];
        std::fs::create_dir_all(folder.join(name)).expect("the folder is writable");
        let scale = u64::from(plan.scale);
        Self {
            index,
            new_era: plan.new_era,
            version: if plan.new_era {
                "26.6.4.20001.altinityantalya"
            } else {
                "26.6.2.20001.altinityantalya"
            },
            rng: SplitMix64(plan.seed ^ (u64::try_from(index).expect("a small number") << 56)),
            truth: NodeTruth {
                name,
                ..NodeTruth::default()
            },
            main: Stream::new(
                folder,
                format!("{name}/clickhouse-server.log"),
                MAIN[index],
                false,
            ),
            err: Stream::new(
                folder,
                format!("{name}/clickhouse-server.err.log"),
                ERR[index],
                index == 1,
            ),
            stamp: SPAN[index].0,
            stamp_range: (u64::MAX, 0),
            build: 1000,
            queue: 100,
            steps: steps(index, scale, plan.new_era),
        }
    }

    pub(super) fn run(mut self) -> NodeTruth {
        if self.index == 1 {
            self.run_before_main_log();
        } else {
            self.start();
        }
        let total: u64 = self.steps.quotas.iter().map(|&(_, n)| n).sum();
        let (from, to) = (self.stamp, SPAN[self.index].1);
        let from = if self.index == 1 {
            from + 900_000
        } else {
            from
        };
        for step in 0..total {
            self.main.rotate(step * 1000 / total);
            self.err.rotate(step * 1000 / total);
            self.advance(from, to, step, total);
            let kind = self.draw(total - step);
            self.record(kind, Cut::None);
        }
        self.main.rotate(1000);
        self.err.rotate(1000);
        self.end();
        let Self {
            mut truth,
            main,
            err,
            stamp_range,
            ..
        } = self;
        (truth.first, truth.last) = (iso_time(stamp_range.0), iso_time(stamp_range.1));
        truth.files = main.finish();
        truth.files.extend(err.finish());
        truth
    }

    /// The err.log of this node reaches further back than its main log, whose older pieces are gone.
    pub(super) fn run_before_main_log(&mut self) {
        let from = self.stamp;
        let kinds = [Kind::Network, Kind::Transient, Kind::LedgerWarning];
        let count = self.steps.refusals_before + 3;
        for step in 0..count {
            self.advance(from, from + 2_460_000_000, step, count);
            // In the new era a refusal is not in the err.log, so none is placed here.
            let kind = usize::try_from(step)
                .ok()
                .and_then(|step| kinds.get(step))
                .copied()
                .unwrap_or(Kind::Refusal);
            let draft = self.draft(kind);
            self.count(kind, &draft);
            self.truth.err_only += 1;
            self.err
                .put(&draft.text(self.stamp), draft.grep_lines, false);
        }
    }

    pub(super) fn start(&mut self) {
        let version = self.version;
        let lines = [
            (
                "Information",
                "Application",
                format!(
                    "Starting ClickHouse {version} (revision: 54510, git hash: 1f0c6f7a2b94e8d35f0a7c16b2e4d9835a7710ce, build id: 6D1E40C2B7F98A3355E0), PID 1"
                ),
            ),
            ("Information", "Application", "starting up".to_owned()),
            (
                "Trace",
                "Application",
                "Initialized DateLUT with time zone 'UTC'.".to_owned(),
            ),
            (
                "Information",
                "Application",
                "Ready for connections.".to_owned(),
            ),
        ];
        for (level, logger, message) in lines {
            self.stamp += 1000 + self.rng.below(90_000);
            self.emit(&Draft::new(1, level, logger, message), Cut::None);
        }
    }

    pub(super) fn end(&mut self) {
        let Some(kind) = self.steps.cut else { return };
        self.stamp += 5000;
        if self.index == 0 {
            self.record(kind, Cut::MainInMessage);
            return;
        }
        self.record(kind, Cut::ErrInStack);
        for _ in 0..3 {
            self.stamp += 1 + self.rng.below(70_000);
            self.record(Kind::Filler, Cut::None);
        }
    }

    pub(super) fn advance(&mut self, from: u64, to: u64, step: u64, total: u64) {
        const FINE: u64 = 1_000_000_000;
        let share = (step * FINE + self.rng.below(FINE)) / total;
        let segment = PACE
            .windows(2)
            .find(|pair| share < pair[1].0 * (FINE / 1000))
            .expect("a share is below one");
        let [(x0, y0), (x1, y1)] = [segment[0], segment[1]];
        let within =
            u128::from(share - x0 * (FINE / 1000)) * u128::from(y1 - y0) / u128::from(x1 - x0);
        let time = u128::from(y0 * (FINE / 1000)) + within;
        let offset = u64::try_from(u128::from(to - from) * time / u128::from(FINE))
            .expect("within the span");
        if self.rng.below(113) == 0 && step > 0 {
            // The time is taken before the lock of the file: small steps back are normal.
            self.stamp -= 1 + self.rng.below(900);
        } else {
            self.stamp = from + offset;
        }
    }

    /// Draws without replacement, so that every quota is met exactly at the end.
    pub(super) fn draw(&mut self, left: u64) -> Kind {
        let mut ticket = self.rng.below(left);
        for (kind, quota) in &mut self.steps.quotas {
            if ticket < *quota {
                *quota -= 1;
                return *kind;
            }
            ticket -= *quota;
        }
        unreachable!("tickets are as many as quotas")
    }

    pub(super) fn record(&mut self, kind: Kind, cut: Cut) {
        let draft = self.draft(kind);
        let times = if matches!(kind, Kind::RefusalTwice | Kind::UnprovenTwice) {
            2
        } else {
            1
        };
        for _ in 0..times {
            self.count(kind, &draft);
            self.write_out(&draft, cut);
        }
    }

    pub(super) fn emit(&mut self, draft: &Draft, cut: Cut) {
        self.count(Kind::Filler, draft);
        self.write_out(draft, cut);
    }

    pub(super) fn write_out(&mut self, draft: &Draft, cut: Cut) {
        let text = draft.text(self.stamp);
        let whole = draft.grep_lines;
        match cut {
            Cut::MainInMessage => {
                let end = text
                    .find("Code: ")
                    .expect("the record that is cut is an exception")
                    + 38;
                self.main.put(&text[..end], 0, true);
            }
            Cut::None | Cut::ErrInStack => self.main.put(&text, whole, false),
        }
        if draft.in_err_log() {
            match cut {
                Cut::ErrInStack => {
                    let end = text
                        .find("\n5. ")
                        .expect("the record that is cut has a stack trace")
                        + 24;
                    self.err.put(&text[..end], whole, true);
                }
                Cut::None | Cut::MainInMessage => self.err.put(&text, whole, false),
            }
        }
    }
}

pub(super) fn steps(index: usize, scale: u64, new_era: bool) -> Steps {
    let few = |n: u64| (n / scale).max(2);
    let all = REFUSALS[index] / scale;
    let refusals_before = if index == 1 && !new_era { all / 16 } else { 0 };
    let cut = match index {
        1 => None,
        _ if new_era => Some(Kind::Network),
        _ => (all > 0).then_some(Kind::Refusal),
    };
    let refusals = all - refusals_before - u64::from(cut == Some(Kind::Refusal));
    let (unproven, s3) = (UNPROVEN[index] / scale, S3[index] / scale);
    let exceptions = s3 * 2 / 3;
    let (twice, unproven_twice) = (u64::from(refusals > 1), u64::from(unproven > 1));
    let quotas = vec![
        (Kind::Refusal, refusals - 2 * twice),
        (Kind::RefusalTwice, twice),
        (Kind::Unproven, unproven - 2 * unproven_twice),
        (Kind::UnprovenTwice, unproven_twice),
        (Kind::Finished, FINISHED[index] / scale),
        (
            Kind::CatalogAttempt,
            REF_CATALOG[index] / scale - exceptions,
        ),
        (Kind::CatalogException, exceptions),
        (Kind::OtherS3, s3 - exceptions),
        (Kind::EmptyMultipart, u64::from(index == 0)),
        (Kind::WriteNotCommitted, few(REFUSALS[index] / 60)),
        (Kind::Transient, few(REFUSALS[index] / 150)),
        (Kind::Network, few(REFUSALS[index] / 90)),
        (Kind::NoActiveReplica, few(REFUSALS[index] / 45)),
        (Kind::HttpReset, few(300)),
        (Kind::Echo, few(REFUSALS[index] / 30)),
        (Kind::MonitoringQuery, few(REFUSALS[index] / 120)),
        (Kind::QuotingError, 2),
        (Kind::RetryWarning, few(500)),
        (Kind::LedgerWarning, few(400)),
        (Kind::Notice, few(200)),
        (Kind::Filler, few(REFUSALS[index] * 3 / 2)),
    ];
    Steps {
        quotas,
        refusals_before,
        cut,
    }
}

impl Node {
    pub(super) fn count(&mut self, kind: Kind, draft: &Draft) {
        let truth = &mut self.truth;
        truth.records += 1;
        truth.continuation_lines += line_feeds(&draft.message);
        let level = match draft.level {
            "Error" => "error",
            "Warning" => "warning",
            "Notice" | "Information" => "info",
            "Debug" => "debug",
            _ => "trace",
        };
        *truth.levels.entry(level).or_default() += 1;
        if let Some(code) = draft.code {
            *truth.codes.entry(code).or_default() += 1;
        }
        if let Some(code) = draft.nested {
            *truth.codes_nested.entry(code).or_default() += 1;
        }
        self.stamp_range = (
            self.stamp_range.0.min(self.stamp),
            self.stamp_range.1.max(self.stamp),
        );
        let part = draft.refusal.map(|it| it.1).or(draft.finished);
        if let Some(part) = part {
            let table = draft.logger.split_once(' ').map_or("", |it| it.0);
            let key = (table.to_owned(), part);
            let now = (self.stamp, draft.refusal.is_some());
            if let Some(last) = truth.refused_last.get_mut(&key) {
                *last = now.max(*last);
            } else if now.1 {
                truth.refused_last.insert(key, now);
            }
        }
        let tally = match kind {
            Kind::Refusal | Kind::RefusalTwice => &mut truth.refusals,
            Kind::Unproven | Kind::UnprovenTwice => &mut truth.unproven_unknown,
            Kind::Finished => &mut truth.finished,
            Kind::CatalogAttempt => &mut truth.ref_catalog_attempts,
            Kind::CatalogException => &mut truth.ref_catalog_exceptions,
            Kind::OtherS3 => &mut truth.s3_errors,
            Kind::EmptyMultipart => &mut truth.empty_multipart,
            Kind::WriteNotCommitted => &mut truth.write_not_committed,
            Kind::Transient => &mut truth.transient_unavailable,
            Kind::Network => &mut truth.network_errors,
            Kind::NoActiveReplica => &mut truth.no_active_replica,
            Kind::HttpReset => &mut truth.http_resets,
            Kind::Echo => &mut truth.echoes,
            Kind::MonitoringQuery => &mut truth.monitoring_queries,
            Kind::QuotingError => &mut truth.quoting_errors,
            Kind::RetryWarning => &mut truth.retry_warnings,
            Kind::LedgerWarning => &mut truth.ledger_warnings,
            Kind::Notice => &mut truth.notices,
            Kind::Filler => return,
        };
        *tally += 1;
        if matches!(kind, Kind::CatalogAttempt | Kind::CatalogException) {
            truth.ref_catalog_errors += 1;
        }
        if kind == Kind::CatalogException {
            truth.s3_errors += 1;
        }
        if let Some((source, part)) = draft.refusal {
            *truth.refusals_by_source.entry(source).or_default() += 1;
            *truth.refusals_by_part.entry(part.to_owned()).or_default() += 1;
        }
    }
}
