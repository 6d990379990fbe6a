//! `casdiag explain` on the rule base's own samples: of every rule a line that counts and one that does not.

use std::collections::BTreeSet;

use casdiag::rules::{SampleKind, samples};

use crate::product::{Folder, Ran, base, casdiag};

/// `explain RULE FILE:LINE FOLDER`.
fn explain(rule: &str, folder: &Folder, path: &str, line: usize) -> Ran {
    let place = format!("{}:{line}", folder.path().join(path).display());
    casdiag(&["explain", rule, &place, folder.path().to_str().unwrap()])
}

/// The signals that a rule counts or watches.
fn signals_of(rule: &str) -> BTreeSet<&'static str> {
    let (_, declared) = base().rule(rule).unwrap();
    let counts = declared
        .counts
        .values()
        .filter_map(|count| Some(count.signal.as_ref()?.get_ref()));
    let stalls = declared.stalls.values().map(|stall| stall.signal.get_ref());
    counts.chain(stalls).map(String::as_str).collect()
}

/// What every explanation of a rule has: the rule, its title, all its signals, and a state before each line of the tree.
fn is_whole(rule: &str, ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{rule}: {}", ran.err);
    let (_, declared) = base().rule(rule).unwrap();
    assert!(
        ran.out
            .starts_with(&format!("{rule}: {}\n", declared.title)),
        "{}",
        ran.out
    );
    for signal in signals_of(rule) {
        let named = [
            format!("  yes, as {signal}\n"),
            format!("  not as {signal}\n"),
        ];
        assert!(
            named.iter().any(|line| ran.out.contains(line)),
            "{rule} {signal}: {}",
            ran.out
        );
    }
    let trees: Vec<&str> = ran.out.split("\nIt ").skip(1).collect();
    assert!(!trees.is_empty(), "{rule}: {}", ran.out);
    for tree in trees {
        let lines: Vec<&str> = tree
            .lines()
            .skip(2)
            .filter(|line| !line.is_empty())
            .collect();
        assert!(!lines.is_empty(), "{rule}: {tree}");
        for line in lines {
            let states = ["  passed ", "  failed ", "  unknown "];
            assert!(
                states.iter().any(|state| line.starts_with(state)),
                "{rule}: {line}"
            );
        }
    }
}

/// Whether the rule fires over a node or run of the explanation, told by its first state as well.
fn fires(ran: &Ran) -> bool {
    let mut fires = false;
    for tree in ran.out.split("\nIt ").skip(1) {
        let first = tree.lines().skip(2).find(|line| !line.is_empty()).unwrap();
        let told = tree.starts_with("fires over ");
        assert_eq!(told, first.starts_with("  passed "), "{tree}");
        assert!(told || tree.starts_with("keeps silent over "), "{tree}");
        fires |= told;
    }
    fires
}

#[test]
fn every_sample_of_every_rule_is_explained_as_it_is_judged() {
    let mut seen: BTreeSet<(String, bool)> = BTreeSet::new();
    let mut counted = BTreeSet::new();
    for sample in samples(base()) {
        let wanted = match sample.kind {
            SampleKind::Fires(_) => true,
            SampleKind::Silent => false,
            SampleKind::Matches(_) | SampleKind::MatchesNot => continue,
        };
        let rule = sample.owner.as_str();
        seen.insert((rule.to_owned(), wanted));
        // A problem of a WAL that a sample declares is on no disk.
        if !sample.wal.is_empty() {
            continue;
        }
        let folder = Folder::new();
        for (path, text) in &sample.files {
            folder.put(path, text);
        }
        // The first lines are enough: what follows repeats them. One of a firing sample must count.
        let places = sample.files.iter().flat_map(|(path, text)| {
            let lines = text.lines().count().min(4);
            (1..=lines).map(move |line| (path.as_str(), line))
        });
        let mut any = false;
        for (path, line) in places {
            let ran = explain(rule, &folder, path, line);
            // A silent sample may be a file that is no log to any rule.
            if !wanted && ran.err.contains("the file is of no known format") {
                continue;
            }
            is_whole(rule, &ran);
            assert_eq!(fires(&ran), wanted, "{rule}, {}: {}", sample.name, ran.out);
            any |= ran.out.contains("  yes, as ");
            if any || !wanted {
                break;
            }
        }
        if any {
            counted.insert(rule.to_owned());
        }
        assert!(any || !wanted, "{rule}, {}: no line counts", sample.name);
    }
    for rule in &base().declared.rule {
        let id = rule.id.get_ref();
        assert!(
            seen.contains(&(id.clone(), true)),
            "{id} has no sample that fires"
        );
        assert!(
            seen.contains(&(id.clone(), false)),
            "{id} has no silent sample"
        );
        let is_of_records = !signals_of(id).is_empty();
        assert!(
            counted.contains(id) || !is_of_records,
            "{id}: no line of a sample counts"
        );
    }
}

#[test]
fn a_line_that_fits_says_what_passed_and_one_that_does_not_says_what_failed() {
    let refused = |thread: &str, text: &str| {
        format!(
            "2026.11.29 16:29:56.593522 [ {thread} ] {{}} <Error> shop.orders (StorageReplicatedMergeTree): {text}\n"
        )
    };
    let positive = refused(
        "6",
        "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = Connection refused",
    );
    let negative = refused(
        "6",
        "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Code: 999, e.displayText() = Coordination::Exception: Session expired (Session expired), e.what() = Coordination::Exception",
    );
    let folder = Folder::with("n2/clickhouse-server.log", positive + &negative);
    let path = "n2/clickhouse-server.log";
    let yes = explain("fetch-storm", &folder, path, 1).out;
    assert!(yes.contains("yes, as queue-entry-failed"), "{yes}");
    assert!(!yes.contains("      failed "), "{yes}");
    let no = explain("fetch-storm", &folder, path, 2).out;
    assert!(no.contains("not as queue-entry-failed"), "{no}");
    let code = no
        .lines()
        .find(|line| line.starts_with("      failed "))
        .unwrap();
    assert!(code.contains("999"), "{no}");
    assert!(no.contains("keeps silent over node n2"), "{no}");
    assert!(
        no.contains("failed") && no.contains("at least 5 within 600.0 s"),
        "{no}"
    );
}

#[test]
fn what_could_not_be_seen_is_unknown() {
    let folder = Folder::with("n1/clickhouse-server.err.log", super::log(&["10:00:00 a"]));
    let when = "{ all = [{ count = \"a\", at-least = 1 }, { count = \"c\", at-most = 0 }] }";
    let rules = super::signals() + &super::rule("asked", "", when);
    let rules = rules.replace("id = \"c\"\nwhat", "id = \"c\"\nlevels = [\"debug\"]\nwhat");
    let rules = Folder::with("tests.toml", rules);
    let log = folder.path().join("n1/clickhouse-server.err.log");
    let line = format!("{}:1", log.display());
    let rules = rules.path().join("tests.toml");
    let ran = casdiag(&[
        "explain",
        "asked",
        &line,
        "--rules",
        rules.to_str().unwrap(),
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let tree = ran.out.split("\nIt ").nth(1).unwrap();
    assert!(tree.starts_with("keeps silent over the run"), "{tree}");
    let states: Vec<&str> = tree
        .lines()
        .skip(2)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(states, ["unknown", "passed", "unknown"], "{tree}");
    assert!(
        tree.contains("c (c) at most 0: it is 0, but not every node's log would show it"),
        "{tree}"
    );
}

#[test]
fn explain_asks_only_what_can_be_answered() {
    let folder = Folder::with("n1/clickhouse-server.log", super::log(&["10:00:00 a"]));
    let file = folder.path().join("n1/clickhouse-server.log");
    let file = file.to_str().unwrap();
    for (rule, place) in [
        ("no-such-rule", format!("{file}:1")),
        ("fetch-storm", format!("{file}:2")),
        ("fetch-storm", format!("{file}:0")),
        ("fetch-storm", file.to_owned()),
        ("fetch-storm", format!("{file}.missing:1")),
    ] {
        let ran = casdiag(&["explain", rule, &place]);
        assert_eq!(ran.code, Some(2), "{rule} {place}: {ran:?}");
        assert!(!ran.err.is_empty());
    }
}

/// `explain asked FILE:1` of one Error record, by a rule on a signal with a derived field.
fn explain_one(signal: &str, counts: &str, logger: &str, message: &str) -> String {
    let record = crate::product::record("10:00:00.000000", "Error", logger, message);
    let folder = Folder::with("n1/clickhouse-server.log", record);
    let rules = format!(
        "[[signal]]\nid = \"mine\"\nwhat = \"w\"\n{signal}\n\
         derived = [{{ field = \"kind\", from = \"what\", classes = [[\"schema\", \"^table\"]] }}]\n\
         [[rule]]\nid = \"asked\"\ntitle = \"t\"\ncategory = \"c\"\nmechanism = \"m\"\n{counts}\n\
         when = {{ count = \"a\", at-least = 1 }}\n\
         [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n"
    );
    let rules = folder.put("mine.toml", rules);
    let line = format!("{}/n1/clickhouse-server.log:1", folder.path().display());
    let ran = casdiag(&[
        "explain",
        "asked",
        &line,
        "--rules",
        rules.to_str().unwrap(),
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out
}

#[test]
fn a_count_whose_where_does_not_hold_is_told_with_the_records_value() {
    let signal = "templates = [\"change of {what:word} failed\"]";
    let schema = "counts.a = { signal = \"mine\", where = { kind = \"schema\" } }\n";
    let other = "counts.b = { signal = \"mine\", where = { kind = [\"other\"] } }\n";
    let alone = explain_one(signal, schema, "l", "change of column failed");
    assert!(alone.contains("  not as mine\n"), "{alone}");
    let failed = "      failed where kind is schema: the record's is \"other\" (count a)\n";
    assert!(alone.contains(failed), "{alone}");
    let held = explain_one(signal, schema, "l", "change of table failed");
    assert!(held.contains("  yes, as mine\n"), "{held}");
    assert!(
        held.contains("      passed where kind is schema: the record's is \"schema\" (count a)\n"),
        "{held}"
    );
    // What one count leaves out another one may take.
    let both = explain_one(
        signal,
        &(schema.to_owned() + other),
        "l",
        "change of column failed",
    );
    assert!(both.contains("  yes, as mine\n"), "{both}");
    let left = "      left out by where kind is schema: the record's is \"other\" (count a)\n";
    assert!(both.contains(left), "{both}");
}

#[test]
fn a_wording_that_asks_for_the_loggers_text_is_told_so() {
    let counts = "counts.a = { signal = \"mine\" }\n";
    let signal = "templates = [\" (Changer): change of {what:word} failed\"]";
    let text = explain_one(signal, counts, "q.s (Changer)", "change of x failed");
    let missing = "is not where it must be; \"(Changer)\" stands in the logger, which `loggers` asks for, and the message begins after the logger's `: `";
    assert!(text.contains(missing), "{text}");
    let elsewhere = explain_one(signal, counts, "q.s", "change of x failed");
    assert!(
        elsewhere.contains("is not where it must be\n"),
        "{elsewhere}"
    );
}
