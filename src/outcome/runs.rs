//! Sources of one run: which rows tell of the same run, and where they disagree.

use std::collections::{BTreeMap, BTreeSet};

use crate::parsers::ci::{self, Class, Form, TestRun, Total};

use super::Row;
use super::faults::{Fault, faults};

/// A run of tests.
#[derive(Debug)]
pub struct JoinedRun {
    /// `T1`, `T2`, ...
    pub id: String,
    /// The rows that tell of it; the first speaks for it.
    pub rows: Vec<usize>,
    /// Where they disagree.
    pub disagreements: Vec<Disagreement>,
    /// What says that it failed, by the source, although no listed test would explain it.
    pub faults: Vec<Fault>,
}

/// Two sources of one run that say different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// What about.
    pub what: String,
    /// The path of the source that speaks for the run, and what it says.
    pub left: (String, String),
    /// The other source.
    pub right: (String, String),
}

/// Joins rows that tell of the same run. Those that tell more come first, and the first of a run speaks for it.
pub(super) fn joined(rows: &[Row]) -> Vec<JoinedRun> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let detail = |at: &usize| rows[*at].run.form.spec().map_or(0, |spec| spec.detail);
    order.sort_by_key(|at| {
        (
            std::cmp::Reverse(detail(at)),
            !rows[*at].run.is_complete(),
            *at,
        )
    });
    let is_code = |at: &usize| rows[*at].run.form == Form::ExitCode;
    let (codes, order): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_code);
    let mut runs: Vec<JoinedRun> = Vec::new();
    for at in order {
        let same = runs.iter_mut().find(|run| {
            run.rows
                .iter()
                .all(|known| is_same(&rows[*known], &rows[at]))
        });
        if let Some(run) = same {
            run.rows.push(at);
        } else {
            runs.push(JoinedRun::of(at));
        }
    }
    join_codes(rows, &codes, &mut runs);
    runs.sort_by_key(|run| run.rows.iter().min().copied());
    for (run, number) in runs.iter_mut().zip(1..) {
        run.id = format!("T{number}");
        run.faults = faults(run.rows.iter().map(|at| &rows[*at]));
        let (first, others) = run
            .rows
            .split_first()
            .map_or((0, &[][..]), |(first, others)| (*first, others));
        run.disagreements = own_disagreements(&rows[first]);
        run.disagreements.extend(
            others
                .iter()
                .flat_map(|other| compared(&rows[first], &rows[*other])),
        );
    }
    runs
}

impl JoinedRun {
    /// A run that one row tells of.
    fn of(row: usize) -> Self {
        Self {
            id: String::new(),
            rows: vec![row],
            disagreements: Vec::new(),
            faults: Vec::new(),
        }
    }
}

/// Gives exit codes that are kept in files to the runs that they are of: a code names no run, so it is that of the only one in
/// its folder. Where there are several or none, a code of 0 tells nothing, and any other is a run that failed.
fn join_codes(rows: &[Row], codes: &[usize], runs: &mut Vec<JoinedRun>) {
    let tested = runs.len();
    for &at in codes {
        let folder = folder(&rows[at].path);
        let is_there = |run: &&mut JoinedRun| {
            let mut paths = run.rows.iter().map(|row| rows[*row].path.as_str());
            paths.any(|path| self::folder(path) == folder)
        };
        let mut there = runs[..tested].iter_mut().filter(is_there);
        match (there.next(), there.next()) {
            (Some(run), None) if rows[at].run.exit_code.is_some() => run.rows.push(at),
            _ if rows[at].run.exit_code == Some(0) => {}
            _ => runs.push(JoinedRun::of(at)),
        }
    }
}

/// The folder or the archive that a file lies in.
fn folder(path: &str) -> &str {
    path.rfind(['/', '!']).map_or("", |at| &path[..at])
}

/// Whether two rows tell of one run.
fn is_same(left: &Row, right: &Row) -> bool {
    let (a, b) = (&left.run, &right.run);
    let is_kin = a.form == b.form
        || is_testflows(a.form) && is_testflows(b.form)
        || is_pytest(a) && is_pytest(b)
        || is_nextest(a) && is_nextest(b)
        || is_google(a) && is_google(b)
        || is_soak(a.form) && is_soak(b.form);
    // What stands twice in one source is one run only if it is told alike: a session may be cut where the one before it was not.
    let is_again = left.path == right.path && a.form == b.form;
    if is_again && a.is_complete() != b.is_complete() {
        return false;
    }
    if !is_kin || !may_share_a_name(a, b) || !may_share_a_job(a, b) || is_another_time(a, b) {
        return false;
    }
    let has_same_totals =
        shared(a, b).next().is_some() && shared(a, b).all(|(left, right)| left == right);
    if is_testflows(a.form) {
        let has_same_leaves = !a.leaves.is_empty() && names(a) == names(b);
        return has_same_totals || has_same_leaves || is_beside(&left.path, &right.path);
    }
    if is_soak(a.form) {
        return is_beside(&left.path, &right.path) && leaves(a) == leaves(b);
    }
    // Shards of one suite have the same name and other tests. An unexpected pass is a pass in some reports, so units are
    // compared and not their results.
    let units = |run: &TestRun| run.totals.iter().map(|total| total.units).sum::<u64>();
    let has_same_totals = if a.form == b.form {
        has_same_totals
    } else {
        units(a) == units(b)
    };
    has_same_totals && leaves(a) == leaves(b)
}

/// Whether two sources of one form, which copies of one source would both be, say that they began at different times.
fn is_another_time(a: &TestRun, b: &TestRun) -> bool {
    let (Some(left), Some(right)) = (a.first, b.first) else {
        return false;
    };
    a.form == b.form && left.clock == right.clock && left.at != right.at
}

/// The failing leaves of a run, by what names them in all its reports.
fn leaves(run: &TestRun) -> BTreeSet<&str> {
    let leaves = run.leaves.iter();
    leaves
        .map(|leaf| match leaf.id.as_str() {
            "" => leaf.name.as_str(),
            id => id,
        })
        .collect()
}

/// The names of the failing leaves, which reports of one framework write alike.
fn names(run: &TestRun) -> BTreeSet<&str> {
    run.leaves.iter().map(|leaf| leaf.name.as_str()).collect()
}

/// Whether pytest ran it, whichever way it is told.
fn is_pytest(run: &TestRun) -> bool {
    let is_xml = run.form == Form::JUnit && run.name == "pytest";
    is_xml || matches!(run.form, Form::PytestText | Form::PytestLog)
}

/// Whether nextest ran it.
fn is_nextest(run: &TestRun) -> bool {
    let is_xml = run.form == Form::JUnit && run.name == "nextest-run";
    is_xml || run.form == Form::NextestText
}

/// Whether google test ran it.
fn is_google(run: &TestRun) -> bool {
    let is_xml = run.form == Form::JUnit && run.name == "AllTests";
    is_xml || matches!(run.form, Form::GoogleTest | Form::GoogleText)
}

fn is_soak(form: Form) -> bool {
    matches!(form, Form::SoakText | Form::SoakFailure)
}

fn is_testflows(form: Form) -> bool {
    matches!(
        form,
        Form::TestFlowsRaw | Form::TestFlowsText | Form::TestFlowsPage
    )
}

/// Whether the names do not tell the runs apart.
fn may_share_a_name(a: &TestRun, b: &TestRun) -> bool {
    let plain = |run: &TestRun| {
        ci::names::readable(&run.name)
            .trim_matches('/')
            .to_lowercase()
    };
    let (a, b) = (plain(a), plain(b));
    a.is_empty() || b.is_empty() || a == b
}

/// Whether the jobs that the sources name do not tell the runs apart.
fn may_share_a_job(a: &TestRun, b: &TestRun) -> bool {
    let loose = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .collect::<String>()
            .to_lowercase()
    };
    let job = |run: &TestRun| {
        let named = run
            .attributes
            .get("job.name")
            .or_else(|| run.attributes.get("job"));
        loose(named.map_or(&run.part, |name| name))
    };
    let (a, b) = (job(a), job(b));
    a.contains(&b) || b.contains(&a)
}

/// Whether one file lies in the folder of the other, or below it.
fn is_beside(a: &str, b: &str) -> bool {
    let folder = |path: &str| {
        path.rsplit_once('/').map_or(String::new(), |(folder, _)| {
            format!("{}/", folder.trim_end_matches('!'))
        })
    };
    let (a, b) = (folder(a), folder(b));
    a.starts_with(&b) || b.starts_with(&a)
}

/// The totals of a run: counted, or else as it states them.
fn totals(run: &TestRun) -> &[Total] {
    if run.stated.is_empty() {
        &run.totals
    } else {
        &run.stated
    }
}

/// Counts by what the words mean.
fn by_class(total: &Total) -> BTreeMap<Class, u64> {
    let mut counts = BTreeMap::new();
    for (word, count) in &total.by {
        *counts.entry(Class::of(word)).or_default() += count;
    }
    counts
}

/// The totals of the levels that both have.
fn shared<'t>(a: &'t TestRun, b: &'t TestRun) -> impl Iterator<Item = (&'t Total, &'t Total)> {
    let of = |level: &str| totals(b).iter().find(move |total| total.level == level);
    totals(a)
        .iter()
        .filter_map(move |left| Some((left, of(&left.level)?)))
}

/// What one source says against itself.
fn own_disagreements(row: &Row) -> Vec<Disagreement> {
    let run = &row.run;
    let mut found = exit_code(row, row);
    if let (Some(implied), Some(code)) = (run.implied_code, run.exit_code)
        && implied != code
    {
        found.push(disagreement(
            "exit code",
            row,
            format!("{implied} by what it printed"),
            row,
            format!("exit code {code}"),
        ));
    }
    for counted in &run.totals {
        let stated = run.stated.iter().find(|total| total.level == counted.level);
        if let Some(stated) = stated.filter(|stated| !says_the_same(stated, counted)) {
            found.push(disagreement(
                &counted.level,
                row,
                words(counted),
                row,
                format!("{} by its own sum", words(stated)),
            ));
        }
    }
    found
}

/// Whether two totals differ in nothing but in what they say that there is none of.
fn says_the_same(a: &Total, b: &Total) -> bool {
    let counts = |total: &Total| -> BTreeMap<String, u64> {
        let some = total.by.iter().filter(|(_, count)| **count > 0);
        some.map(|(word, count)| (word.clone(), *count)).collect()
    };
    a.units == b.units && counts(a) == counts(b)
}

/// What another source of the run says otherwise.
fn compared(left: &Row, right: &Row) -> Vec<Disagreement> {
    let mut found = Vec::new();
    // Tools have words of their own for what they tell of one run, but those of one framework do not differ.
    let is_one_tool = left.run.form == right.run.form || is_testflows(left.run.form);
    for (a, b) in shared(&left.run, &right.run) {
        if a != b && (is_one_tool || by_class(a) != by_class(b)) {
            found.push(disagreement(&a.level, left, words(a), right, words(b)));
        }
    }
    if let (Some(a), Some(b)) = (&left.run.result, &right.run.result)
        && a != b
    {
        found.push(disagreement(
            "result of the whole",
            left,
            a.clone(),
            right,
            b.clone(),
        ));
    }
    found.extend(exit_code(left, right));
    let lists_all = right.run.form != Form::TestFlowsPage && !right.run.failing.is_empty();
    let (a, b) = (left.run.failing_tests(), right.run.failing_tests());
    if lists_all && a != b {
        found.push(disagreement(
            "failing tests",
            left,
            a.to_string(),
            right,
            b.to_string(),
        ));
    }
    if let (Some(a), Some(b)) = (left.run.durations.first(), right.run.durations.first()) {
        // What people read is cut to two units: hours and minutes, minutes and seconds, seconds and milliseconds.
        let unit = if b.seconds >= 3600.0 { 60.0 } else { 1.0 };
        if (a.seconds - b.seconds).abs() > unit {
            found.push(disagreement(
                "duration",
                left,
                seconds(a.seconds),
                right,
                seconds(b.seconds),
            ));
        }
    }
    found
}

/// Whether the process that ran the tests ended as its result says, or else as its tests do.
fn exit_code(left: &Row, right: &Row) -> Vec<Disagreement> {
    let Some(code) = right.run.exit_code else {
        return Vec::new();
    };
    let run = &left.run;
    // What a word of its own means is not known, so no code contradicts it.
    let result = run.result.as_deref().map(|word| (word, Class::of(word)));
    let (agrees, says) = match result.filter(|(_, class)| *class != Class::Other) {
        Some((word, class)) => {
            let fails = matches!(class, Class::Failed | Class::Errored);
            (fails == (code != 0), format!("result {word}"))
        }
        None if std::ptr::eq(left, right) => return Vec::new(),
        None => match (run.exit_code, run.failing_leaves()) {
            (Some(own), _) => (own == code, format!("exit code {own}")),
            (None, 0) if run.totals.is_empty() && run.stated.is_empty() => return Vec::new(),
            (None, 0) => (code == 0, "no failing test".to_owned()),
            (None, _) => (code != 0, "failing tests".to_owned()),
        },
    };
    if agrees {
        return Vec::new();
    }
    vec![disagreement(
        "exit code",
        left,
        says,
        right,
        format!("exit code {code}"),
    )]
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.0} s")
}

fn disagreement(what: &str, left: &Row, says: String, right: &Row, other: String) -> Disagreement {
    Disagreement {
        what: what.to_owned(),
        left: (left.path.clone(), says),
        right: (right.path.clone(), other),
    }
}

/// `46 (20 OK, 19 Fail)`.
fn words(total: &Total) -> String {
    let by: Vec<String> = total
        .by
        .iter()
        .map(|(result, count)| format!("{count} {result}"))
        .collect();
    format!("{} ({})", total.units, by.join(", "))
}
