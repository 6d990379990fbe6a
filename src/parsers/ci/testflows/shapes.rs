//! The shapes of lines in reports: results, lists, starts, unstable tests.

use super::seconds;
use crate::parsers::ci::model::Unstable;

/// Seconds, result, name and reason of a test in a list.
pub(super) type Listed<'l> = (Option<f64>, &'l str, &'l str, Option<&'l str>);

/// A line without the sequences that color it.
pub(super) fn plain(line: &str) -> String {
    if !line.contains('\u{1b}') {
        return line.to_owned();
    }
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let end = after
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    text + rest
}

/// `✘ 5m 30s    [  Fail  ] /path`: seconds, result, name.
pub(super) fn result(line: &str) -> Option<(Option<f64>, &str, &str)> {
    let rest = line.strip_prefix(['✔', '✘', '✄'])?.strip_prefix(' ')?;
    let (time, rest) = rest.split_once('[')?;
    let (word, name) = rest.split_once(']')?;
    let name = name.strip_prefix(' ')?.trim_end();
    let time = seconds(time);
    (time.is_some() && name.starts_with('/')).then(|| (time, word.trim(), name))
}

/// `✘ [ Fail ] '/path' ᐅ reason (5m 30s)`: seconds, result, name, reason.
pub(super) fn listed(line: &str) -> Option<Listed<'_>> {
    let rest = line.strip_prefix(['✔', '✘', '✄'])?.strip_prefix(" [ ")?;
    let (word, rest) = rest.split_once(" ] '")?;
    let (rest, time) = rest.rsplit_once(" (")?;
    let (name, reason) = match rest.rsplit_once("' ᐅ ") {
        Some((name, reason)) => (name, Some(reason)),
        None => (rest.strip_suffix('\'')?, None),
    };
    Some((
        seconds(time.trim_end().strip_suffix(')')?),
        word.trim(),
        name,
        reason,
    ))
}

/// `➤ Mar 14,2026 23:31:49 /path`.
pub(super) fn started(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('➤')?.trim_start();
    let at = rest.find(" /")?;
    let is_stamp =
        rest[..at].bytes().filter(u8::is_ascii_digit).count() >= 9 && rest[..at].contains(',');
    is_stamp.then(|| rest[at + 1..].trim_end())
}

/// `◔ [ 40.00% ] '/path' (3 ok, 2 failed)`.
pub(super) fn unstable(line: &str) -> Option<Unstable> {
    let rest = line
        .strip_prefix('◔')
        .or_else(|| line.strip_prefix('◕'))
        .or_else(|| line.strip_prefix('◑'))?;
    let (_, rest) = rest.split_once("% ] '")?;
    let (name, counts) = rest.rsplit_once("' (")?;
    let mut found = Unstable {
        name: name.to_owned(),
        passed: 0,
        failed: 0,
    };
    for count in counts.trim_end().strip_suffix(')')?.split(", ") {
        let (number, word) = count.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word {
            "ok" => found.passed += number,
            _ => found.failed += number,
        }
    }
    Some(found)
}

/// Whether a name is that of a try, which is in no list of failing tests.
pub(super) fn is_try(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(names_try)
}

/// Whether a name is that of something in a try, which is in no list of failing tests either.
pub(super) fn is_in_try(name: &str) -> bool {
    name.rsplit('/').skip(1).any(names_try)
}

fn names_try(part: &str) -> bool {
    let number = part.strip_prefix("try #");
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_report_are_told_apart() {
        let (time, word, name) =
            result("✘ 31s 12ms  [ Error  ] /alter/part level/create table").unwrap();
        assert_eq!(
            (time, word, name),
            (Some(31.012), "Error", "/alter/part level/create table")
        );
        let (_, word, name, reason) =
            listed("✘ [ XFail ] '/a/it's (b)' ᐅ https://x (2s 904ms)").unwrap();
        assert_eq!(
            (word, name, reason),
            ("XFail", "/a/it's (b)", Some("https://x"))
        );
        assert_eq!(
            started("➤  Mar 15,2026 0:09:43 /ledger/copy segment"),
            Some("/ledger/copy segment")
        );
        assert_eq!(result("✘ no time [ Fail ] /a"), None);
        let names = ["/a/try #0", "/a/try #0/b", "/a/try #x", "/a/b"];
        assert_eq!(names.map(is_try), [true, false, false, false]);
        assert_eq!(names.map(is_in_try), [false, true, false, false]);
        assert_eq!(
            plain("\u{1b}[31m✘\u{1b}[0m 1s [ Fail ] /a"),
            "✘ 1s [ Fail ] /a"
        );
    }
}
