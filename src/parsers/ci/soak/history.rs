//! The list of runs that a soak's folder keeps (`RUN_HISTORY.md`): a row for each run, so that a failure can be told from one
//! that comes and goes.
//!
//! ```text
//! | started | scenario | seed | scale | duration | status | git sha | run_dir | note |
//! ```

use crate::record::split_lines;
use std::collections::BTreeMap;

use super::super::model::{Check, KEPT_MAX, NAME_BYTES_MAX, Place, TestRun, Unstable, bounded};
use super::super::{Form, Line, LineReader, Reading};

const COLUMNS: &[&str] = &["started", "scenario", "seed", "status"];

pub(crate) fn claims(sample: &[u8]) -> bool {
    split_lines(sample)
        .filter(|line| line.contains(&b'|'))
        .any(|line| head(&String::from_utf8_lossy(line)).is_some())
}

pub(crate) fn reader() -> Box<dyn LineReader> {
    Box::new(History::default())
}

#[derive(Debug, Default)]
struct History {
    columns: Option<Vec<String>>,
    run: Option<TestRun>,
    /// Passed and failed runs by scenario and seed.
    by_name: BTreeMap<String, (u64, u64)>,
}

impl LineReader for History {
    fn line(&mut self, line: &Line<'_>) {
        if line.bytes.first() != Some(&b'|') {
            self.columns = None;
            return;
        }
        let text = line.text();
        if let Some(columns) = head(&text) {
            self.columns = Some(columns);
            self.run.get_or_insert_with(|| {
                let mut run = TestRun::new(Form::RunHistory);
                "run history".clone_into(&mut run.name);
                run.place = line.place;
                run
            });
            return;
        }
        let (Some(columns), Some(run)) = (&self.columns, &mut self.run) else {
            return;
        };
        let cells = cells(&text);
        if cells
            .iter()
            .all(|cell| cell.bytes().all(|b| matches!(b, b'-' | b':')))
        {
            return;
        }
        let cell = |name: &str| {
            let at = columns.iter().position(|it| it == name);
            at.and_then(|at| cells.get(at)).map_or("", |it| it.as_str())
        };
        let status = cell("status");
        if status.is_empty() {
            return;
        }
        run.count("run", &bounded(status, 100));
        let name = bounded(
            &format!("{} seed {}", cell("scenario"), cell("seed")),
            NAME_BYTES_MAX,
        );
        if self.by_name.len() < KEPT_MAX || self.by_name.contains_key(&name) {
            let counts = self.by_name.entry(name.clone()).or_default();
            counts.0 += u64::from(status == "pass");
            counts.1 += u64::from(status == "fail");
        }
        if run.checks.len() < KEPT_MAX {
            let detail = [
                cell("started"),
                cell("git sha"),
                cell("run_dir"),
                cell("note"),
            ];
            run.checks.push(Check {
                name,
                outcome: bounded(status, 100),
                detail: bounded(detail.join(" ").trim(), NAME_BYTES_MAX),
                place: line.place,
            });
        }
    }

    fn finish(self: Box<Self>) -> Reading {
        let Some(mut run) = self.run else {
            return Reading::default();
        };
        let is_unstable = |it: &(String, (u64, u64))| it.1.0 > 0 && it.1.1 > 0;
        let unstable = self.by_name.into_iter().filter(is_unstable);
        run.unstable = unstable
            .map(|(name, (passed, failed))| Unstable {
                name,
                passed,
                failed,
            })
            .collect();
        run.place = Place { ..run.place };
        Reading {
            runs: vec![run],
            ..Reading::default()
        }
    }
}

/// The names of the columns, if a line is the head of such a table.
fn head(line: &str) -> Option<Vec<String>> {
    let names = cells(line);
    let names: Vec<String> = names.iter().map(|it| it.to_ascii_lowercase()).collect();
    COLUMNS
        .iter()
        .all(|it| names.iter().any(|name| name == it))
        .then_some(names)
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner
        .split('|')
        .take(100)
        .map(|cell| cell.trim().to_owned())
        .collect()
}
