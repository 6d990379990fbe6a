//! Numbers, times and names as people read them.

use std::collections::BTreeMap;

use crate::analysis::SEGMENT;
use crate::report::model::{Evidence, FindingWindow, Report, Role};
use crate::vocab::LevelClass;

/// A count with thousands separators.
pub(super) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Where a record stands; in a file without lines, at which byte.
pub(super) fn cited_at(evidence: &Evidence) -> String {
    match evidence.line {
        0 => format!("{}, offset {}", evidence.path, evidence.offset),
        line => format!("{}:{line}", evidence.path),
    }
}

/// Which records were asked for, if not all.
pub(super) fn asked_for(report: &Report) -> Option<String> {
    let whole = |stamp: &String| stamp.trim_end_matches(".000000").to_owned();
    match (
        report.since.as_ref().map(whole),
        report.until.as_ref().map(whole),
    ) {
        (None, None) => None,
        (Some(since), None) => Some(format!("only records from {since} on")),
        (None, Some(until)) => Some(format!("only records before {until}")),
        (Some(since), Some(until)) => {
            Some(format!("only records from {since} on and before {until}"))
        }
    }
}

/// That errors are left unexplained, if any are: where nothing is found, this is the most that is known.
pub(super) fn unexplained(report: &Report) -> Option<String> {
    let coverage = &report.coverage;
    let left = coverage.error_records.saturating_sub(coverage.explained);
    let fatal = coverage
        .unexplained
        .iter()
        .any(|it| it.level.class() == LevelClass::Fatal);
    let (one, many) = if fatal {
        ("Error or Fatal record", "Error and Fatal records")
    } else {
        ("Error record", "Error records")
    };
    (left > 0).then(|| format!("{} unexplained", counted(left, one, many)))
}

/// What was counted and not told apart, because a node has more values of a field than `--max-subjects`.
pub(super) fn beyond_cap(report: &Report) -> Option<String> {
    let mut sums: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for row in &report.signals {
        for (field, count) in &row.beyond_cap {
            *sums.entry((&row.signal, field)).or_default() += count;
        }
    }
    let parts: Vec<String> = sums
        .iter()
        .map(|((signal, field), count)| format!("{} of {signal} by {field}", thousands(*count)))
        .collect();
    let told = names(&parts, 3);
    (!parts.is_empty())
        .then(|| format!("{told}: counted, but not told apart, nor named in findings"))
}

/// That a machine tells of processes that it killed or lost, and what follows it in a sentence; empty where none does. No rule
/// reads what machines tell, so where none fired this must stand before it.
pub(super) fn killed_beside(report: &Report) -> String {
    const KILLED: [&str; 3] = ["out-of-memory", "killed", "server-died"];
    let events = report.tests.events.iter();
    let mut killed = events.filter(|event| KILLED.contains(&event.kind.as_str()));
    let Some(first) = killed.next() else {
        return String::new();
    };
    let of = match first.subject.as_str() {
        "" => String::new(),
        subject => format!(" of {subject}"),
    };
    let more = u64::try_from(killed.count()).unwrap_or(u64::MAX);
    let (more, are) = match more {
        0 => (String::new(), "is"),
        more => (format!(" and {}", counted(more, "more", "more")), "are"),
    };
    format!("{}{of}{more} {are} told beside the logs; ", first.kind)
}

/// The headline where no rule fired.
pub(super) fn nothing_found(report: &Report) -> String {
    let killed = killed_beside(report);
    if report.records.total > 0 {
        return match unexplained(report) {
            Some(errors) => format!("{killed}no finding; {errors}"),
            None if killed.is_empty() => "nothing found".to_owned(),
            None => format!("{killed}no finding"),
        };
    }
    let recognised = report
        .inputs
        .iter()
        .filter(|it| !["unknown", "refused", SEGMENT].contains(&it.format.as_str()));
    let recognised = u64::try_from(recognised.count()).unwrap_or(u64::MAX);
    let is_bounded = report.since.is_some() || report.until.is_some();
    if is_bounded && recognised > 0 {
        let files = counted(recognised, "file", "files");
        format!(
            "no record in the time asked for: {files} recognised, none of their records lies in it"
        )
    } else if !report.tests.runs.is_empty() {
        // Beside tests that fail, "nothing found" would be read as all being well.
        "no finding: no server's log is here, the tests alone say what happened".to_owned()
    } else if !killed.is_empty() {
        format!("{killed}no log record in what was given")
    } else if is_empty(report) {
        "nothing recognised: no log record in what was given".to_owned()
    } else {
        "nothing found; no log record in what was given".to_owned()
    }
}

/// Whether there was nothing to judge: no record, no write-ahead log, no run of tests.
pub(super) fn is_empty(report: &Report) -> bool {
    report.records.total == 0 && report.wal.is_empty() && report.tests.runs.is_empty()
}

/// A difference with thousands separators.
pub(super) fn difference(count: i64) -> String {
    let sign = if count < 0 { "-" } else { "" };
    format!("{sign}{}", thousands(count.unsigned_abs()))
}

/// A count and its noun.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(count),
        if count == 1 { one } else { many }
    )
}

/// A list's length.
pub(super) fn length<T>(list: &[T]) -> u64 {
    u64::try_from(list.len()).unwrap_or(u64::MAX)
}

/// A part of a whole in percent, rounded down: `100.0 %` is all of it.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "none to explain".to_owned();
    }
    let permille = u128::from(part) * 1000 / u128::from(whole);
    format!("{}.{} %", permille / 10, permille % 10)
}

/// A share that a rule computed.
pub(super) fn fraction(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1} %", share * 100.0)
    } else {
        "undefined".to_owned()
    }
}

/// A window as written in the logs; the date stands once if both ends share it.
pub(super) fn window(window: &FindingWindow) -> Option<String> {
    let span = span(window.first.as_deref(), window.last.as_deref());
    span.map(|span| worded(window, span))
}

/// A window without fractions of seconds.
pub(super) fn window_in_seconds(window: &FindingWindow) -> Option<String> {
    let first = window.first.as_deref().map(in_seconds);
    let last = window.last.as_deref().map(in_seconds);
    let span = span(first.as_deref(), last.as_deref());
    span.map(|span| worded(window, span))
}

/// Of counters it is only known when each last grew.
fn worded(window: &FindingWindow, span: String) -> String {
    if window.of_counters {
        format!("last counted {span}")
    } else {
        span
    }
}

/// What was read, in records and rows of tables, and of how many nodes.
pub(super) fn searched(report: &Report) -> String {
    let reporters = report.nodes.iter().filter(|it| it.role == Role::Reporter);
    let nodes = reporters.count().max(report.records.by_node.len());
    let tables = report.inputs.iter().filter_map(|it| it.table.as_ref());
    let rows: u64 = tables.map(|table| table.rows).sum();
    let records = counted(report.records.total, "record", "records");
    let rows = match rows {
        0 => String::new(),
        rows => format!(" and {}", counted(rows, "row of a table", "rows of tables")),
    };
    let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
    format!("{records}{rows} of {}", counted(nodes, "node", "nodes"))
}

/// A stamp as it stands in a sentence: a time of day without a date has no `T` before it.
pub(super) fn in_prose(stamp: &str) -> &str {
    stamp.strip_prefix('T').unwrap_or(stamp)
}

/// From a first to a last stamp, `None` if there is no stamp at all.
pub(super) fn span(first: Option<&str>, last: Option<&str>) -> Option<String> {
    let (Some(first), Some(last)) = (first.map(in_prose), last.map(in_prose)) else {
        return first.or(last).map(|it| in_prose(it).to_owned());
    };
    if first == last {
        return Some(first.to_owned());
    }
    let date = |stamp: &str| {
        stamp
            .find('T')
            .and_then(|at| stamp.get(..=at).map(str::to_owned))
    };
    let shown = match (date(first), date(last)) {
        (Some(from), Some(to)) if from == to => last.get(to.len()..).unwrap_or(last),
        _ => last,
    };
    Some(format!("{first} .. {shown}"))
}

/// Names in a row, at most `names_max` of them.
pub(super) fn names(names: &[String], names_max: usize) -> String {
    if names.is_empty() {
        return "nobody".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(names_max).map(String::as_str).collect();
    let more = names.len() - shown.len();
    let tail = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{tail}", shown.join(", "))
}

/// Things in a row of words: `F1, F2 and F3`.
pub(super) fn in_a_row(things: &[&str]) -> String {
    match things {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// A text as a sentence begins.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_uppercase(), chars.as_str())
    })
}

/// What something is not, as a rule says it: with its `not` or without.
pub(super) fn denied(text: &str) -> String {
    if text.starts_with("not ") {
        text.to_owned()
    } else {
        format!("not: {text}")
    }
}

fn in_seconds(stamp: &str) -> String {
    let Some(point) = stamp.find('.') else {
        return stamp.to_owned();
    };
    let (head, tail) = stamp.split_at(point);
    format!(
        "{head}{}",
        tail.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_from_the_right() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(45_294), "45,294");
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(difference(-133_253), "-133,253");
        assert_eq!(difference(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn a_share_is_whole_only_if_nothing_is_left() {
        assert_eq!(share(812, 830), "97.8 %");
        assert_eq!(share(9_999, 10_000), "99.9 %");
        assert_eq!(share(10_000, 10_000), "100.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
        assert_eq!(share(0, 0), "none to explain");
        assert_eq!(fraction(0.125), "12.5 %");
        assert_eq!(fraction(f64::NAN), "undefined");
    }

    #[test]
    fn a_span_says_a_shared_date_once() {
        let span = |first, last| span(Some(first), Some(last)).unwrap();
        assert_eq!(
            span("2026-09-01T23:28:20.8", "2026-09-01T23:59:01.1"),
            "2026-09-01T23:28:20.8 .. 23:59:01.1"
        );
        assert_eq!(
            span("2026-09-01T23:28:20", "2026-09-02T00:01:00"),
            "2026-09-01T23:28:20 .. 2026-09-02T00:01:00"
        );
        assert_eq!(
            span("T07:06:45.520000", "T07:07:47.044000"),
            "07:06:45.520000 .. 07:07:47.044000"
        );
        assert_eq!(span("T07:06:45", "T07:06:45"), "07:06:45");
        assert_eq!(
            in_seconds("2026-09-01T23:28:20.817504+02:00"),
            "2026-09-01T23:28:20+02:00"
        );
        assert_eq!(in_seconds("2026-09-01T23:28:20"), "2026-09-01T23:28:20");
    }

    #[test]
    fn what_is_denied_is_denied_once() {
        assert_eq!(denied("not a crash"), "not a crash");
        assert_eq!(denied("a crash"), "not: a crash");
    }

    #[test]
    fn names_past_the_limit_are_counted() {
        let list: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(names(&list, 3), "a, b, c");
        assert_eq!(names(&list, 2), "a, b and 1 more");
        assert_eq!(names(&[], 2), "nobody");
    }
}
