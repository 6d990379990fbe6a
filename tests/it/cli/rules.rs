//! `casdiag rules`, and rules files of users.

use crate::product::{Folder, analyze, casdiag, record};

#[test]
fn a_broken_rules_file_is_shown_where_it_breaks() {
    let folder = Folder::new();
    let cases = [
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\nlevls = [\"error\"]\ntemplates = [\"abcdef\"]\n",
            ":4:1: unknown field `levls`, expected one of `id`, `what`, `format`, `levels`, `loggers`",
            "4 | levls = [\"error\"]\n  | ^^^^^\nhint: check the spelling",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\nlevels = [\"loud\"]\ntemplates = [\"abcdef\"]\n",
            ":4:11: unknown variant `loud`, expected one of `fatal`, `critical`, `error`",
            "4 | levels = [\"loud\"]\n  |           ^^^^^^\nhint: check the spelling",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\ntemplates = [\"ab {x:size} cdef\"]\n",
            ":4:14: unknown hole kind \"size\"; expected one of text, word, int, node",
            "  |              ^^^^^^",
        ),
        (
            "[[rule]]\nid = \"x\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"relink-refusd\" }\nwhen = { count = \"a\", at-least = 1 }\n\
             mechanism = \"m\"\n[[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n",
            ":5:23: there is no signal \"relink-refusd\"",
            "  |                       ^^^^^^^^^^^^^^^\nhint: expected one of relink-refused",
        ),
        (
            "[[strip]]\nname = \"x\"\nrows = [\n  { what = \"w\", count = { signal = \"append-okay\" } },\n]\n",
            ":4:36: there is no signal \"append-okay\"",
            "hint: expected one of append-rejected, append-ok",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\nmark = \"party\"\ntemplates = [\"abcdef\"]\n",
            ":4:8: unknown variant `party`, expected one of `start`, `restart`",
            "hint: check the spelling",
        ),
        (
            "[[signal]]\nid = \"Big\"\nwhat = \"w\"\ntemplates = [\"abcdef\"]\n",
            ":2:6: the id \"Big\" is not in kebab case",
            "hint: use lower-case letters",
        ),
        (
            "[[signal]]\nwhat = \"w\"\ntemplates = [\"abcdef\"]\n",
            "missing field `id`",
            "hint: add the field to this table",
        ),
        ("ä = \n", ":1:", "1 | ä ="),
        ("[[signal\n", ":1:", "1 | [[signal"),
    ];
    for (text, place, excerpt) in cases {
        let file = folder.put("mine.toml", text);
        let file = file.to_str().unwrap();
        for arguments in [
            &["rules", "lint", "--rules", file][..],
            &["analyze", file, "--rules", file],
        ] {
            let ran = casdiag(arguments);
            assert_eq!(ran.code, Some(2), "{text}");
            assert!(ran.err.contains(file), "{}", ran.err);
            assert!(ran.err.contains(place), "{place}: {}", ran.err);
            assert!(ran.err.contains(excerpt), "{excerpt}: {}", ran.err);
        }
    }
}

#[test]
fn what_would_be_taken_silently_is_an_error_with_its_place() {
    let signal = |what: &str| {
        format!("[[signal]]\nid = \"x\"\nwhat = \"{what}\"\ntemplates = [\"abcdef\"]\n")
    };
    let cases = [
        (
            signal("one") + &signal("two"),
            ":6:6: signal x stands in this file already, in line 2",
            "6 | id = \"x\"",
        ),
        (
            "[[code]]\ncode = 7\nname = \"A\"\n[[code]]\ncode = 7\nname = \"B\"\n".to_owned(),
            ":5:8: code 7 stands in this file already, in line 2",
            "5 | code = 7",
        ),
        (
            "[[clock]]\nwhat = \"w\"\nfirst = \"queue-entry-begun\"\nthen = \"part-sent\"\nkey = []\npeer = \"source\"\n"
                .to_owned(),
            ":5:7: no field says which records are a pair",
            "5 | key = []",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\ndialects = [\n  { formats = [], templates = [\"abcdef\"] },\n]\n"
                .to_owned(),
            ":5:15: the dialect has no formats",
            "5 |   { formats = []",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\ndialects = [\n  { formats = [\"nats\"], templates = [] },\n]\n"
                .to_owned(),
            ":5:37: the dialect has no templates",
            "5 |   { formats = [\"nats\"]",
        ),
    ];
    for (text, place, excerpt) in cases {
        let folder = Folder::with("mine.toml", &text);
        let file = folder.path().join("mine.toml");
        let ran = casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}");
        assert!(ran.err.contains(place), "{place}: {}", ran.err);
        assert!(ran.err.contains(excerpt), "{excerpt}: {}", ran.err);
    }
}

#[test]
fn a_user_adds_a_signal_and_a_rule_without_touching_the_program() {
    let rules = "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"debug\"]\ntemplates = [\"my own {what:word} words\"]\nby = [\"what\"]\n\
                 [[rule]]\nid = \"my-rule\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"mine\" }\nwhen = { count = \"a\", at-least = 2 }\nmechanism = \"m\"\n\
                 [[rule.verdict]]\nseverity = \"critical\"\nconfidence = \"certain\"\ntitle = \"{a} of mine\"\n";
    let folder = Folder::new();
    let line = record(
        "10:00:00.000000",
        "Debug",
        "a",
        "these are my own three words",
    );
    folder.put("logs/n1/clickhouse-server.log", line.repeat(3));
    let rules = folder.put("mine.toml", rules);
    let ran = analyze(
        &folder.path().join("logs"),
        &["--format", "json", "--rules", rules.to_str().unwrap()],
    );
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = ran.report();
    assert_eq!(report.findings[0].title, "3 of mine");
    // Built-in declarations are still there, and one of the same id is replaced.
    assert!(
        casdiag(&[
            "rules",
            "show",
            "code-210-storm",
            "--rules",
            rules.to_str().unwrap()
        ])
        .code
            == Some(0)
    );
}

#[test]
fn rules_are_listed_shown_tested_and_linted() {
    let list = casdiag(&["rules", "list"]);
    assert_eq!(list.code, Some(0));
    for id in [
        "code-210-storm",
        "unproven-confirms",
        "relink-refused",
        "relink-unproven",
    ] {
        assert!(list.out.contains(&format!("  {id} ")), "{id}: {}", list.out);
    }
    let show = casdiag(&["rules", "show", "unproven-confirms"]);
    assert_eq!(show.code, Some(0));
    assert!(
        show.out
            .contains("Sources do not prove that they hold what they offered"),
        "{}",
        show.out
    );
    let test = casdiag(&["rules", "test"]);
    assert_eq!(test.code, Some(0), "{}", test.out);
    assert!(
        test.out.trim_end().ends_with("passed, 0 failed"),
        "{}",
        test.out
    );
    let lint = casdiag(&["rules", "lint"]);
    assert_eq!((lint.code, lint.out.as_str()), (Some(0), "0 faults\n"));
}

#[test]
fn a_sample_that_fails_and_a_signal_without_sample_exit_with_1() {
    let folder = Folder::new();
    let text = "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"error\"]\ntemplates = [\"my own words\"]\nsamples = [{ line = \"2026.09.01 10:00:00.0 [ 7 ] {} <Debug> a: my own words\" }]\n";
    let file = folder.put("mine.toml", text);
    let test = casdiag(&["rules", "test", "--rules", file.to_str().unwrap()]);
    assert_eq!(test.code, Some(1));
    assert!(test.out.contains("FAILED mine"), "{}", test.out);
    let file = folder.put("mine.toml", "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"error\"]\ntemplates = [\"my own words\"]\n");
    let lint = casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]);
    assert_eq!(lint.code, Some(1));
    assert!(lint.out.contains("mine: "), "{}", lint.out);
}

#[test]
fn the_words_of_a_dialect_are_looked_for_in_records_of_its_formats_only() {
    let folder = Folder::new();
    let file = folder.put(
        "mine.toml",
        "[[signal]]\nid = \"mine\"\nwhat = \"w\"\ndialects = [\n\
         { formats = [\"clickhouse\"], templates = [\"my own words\"] },\n\
         { formats = [\"zookeeper\"], templates = [\"words of my own\"] },\n]\n",
    );
    let of_keeper = |text: &str| {
        format!(
            "2026-11-29 16:20:33,996 [myid:3] - INFO  [LearnerHandler-/127.0.0.1:40312:LearnerHandler@552] - {text}\n"
        )
    };
    let lines = [
        (record("10:00:00.000000", "Debug", "a", "my own words"), 1),
        (
            record("10:00:00.000000", "Debug", "a", "words of my own"),
            0,
        ),
        (of_keeper("words of my own"), 1),
        (of_keeper("my own words"), 0),
    ];
    for (number, (line, count)) in lines.into_iter().enumerate() {
        let log = folder.put(&format!("n{number}/a.log"), line);
        let (file, log) = (file.to_str().unwrap(), log.to_str().unwrap());
        let found = casdiag(&["lines", "mine", log, "--rules", file]);
        let lines = found.out.lines().filter(|line| line.starts_with(log));
        assert_eq!(lines.count(), count, "{number}: {found:?}");
    }
}

#[test]
fn a_rules_file_cannot_command_a_terminal() {
    let folder = Folder::new();
    let file = folder.put(
        "mine.toml",
        "[[signal]]\nid = \"mine\"\nwhat = \"\\u001b[31mred\\u202e\"\ntemplates = [\"abcdef\"]\n\
         [[rule]]\nid = \"evil\"\ntitle = \"\\u001b]0;x\\u0007\"\ncategory = \"\\u009b31m\"\nwhen = { count = \"a\", at-least = 1 }\n\
         mechanism = \"one\\n\\u001b[2J\"\ncounts.a = { signal = \"mine\" }\n\
         [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"\\u001b[1m]\"\n\
         [[rule.sample]]\nname = \"\\u001b[5m\"\nfires = \"low\"\n\
         [rule.sample.files.\"n1/clickhouse-server.log\"]\ntext = \"2026.09.01 10:00:00.000000 [ 1 ] {} <Debug> a: b\\n\"\n",
    );
    let log = folder.put(
        "n1/clickhouse-server.log",
        record("10:00:00.000000", "Debug", "a", "abcdef"),
    );
    let (file, line) = (file.to_str().unwrap(), format!("{}:1", log.display()));
    for arguments in [
        &["rules", "list"][..],
        &["rules", "show", "evil"],
        &["rules", "show", "mine"],
        &["rules", "table", "rules.md"],
        &["rules", "page"],
        &["rules", "lint"],
        &["rules", "test"],
        &["explain", "evil", &line],
    ] {
        let ran = casdiag(&[arguments, &["--rules", file]].concat());
        let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(
            !ran.out.contains(hidden) && !ran.err.contains(hidden),
            "{arguments:?}: {ran:?}"
        );
        assert!(
            ran.out.contains("\\x") || arguments[1] == "lint",
            "{arguments:?}: {ran:?}"
        );
    }
}

#[test]
fn a_rule_on_wals_that_asks_for_what_they_have_not_is_refused() {
    let rule = |count: &str, when: &str, more: &str| {
        format!(
            "[[rule]]\nid = \"x\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = {count}\nwhen = {when}\nmechanism = \"m\"\n{more}\
             [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n"
        )
    };
    let (wal, any) = (
        "{ wal = { problems = [\"misfiled\"] } }",
        "{ count = \"a\", at-least = 1 }",
    );
    let folder = Folder::new();
    for (text, message) in [
        (
            rule("{ wal = { problems = [\"misfild\"] } }", any, ""),
            "unknown variant `misfild`, expected one of `misfiled`",
        ),
        (
            rule("{ signal = \"wal-nack\", wal = {} }", any, ""),
            "is of nothing or of two things",
        ),
        (rule("{}", any, ""), "is of nothing or of two things"),
        (
            rule(wal, "{ count = \"a\", at-least = 1, within = \"1s\" }", ""),
            "have no time",
        ),
        (
            rule(wal, "{ sequence = [\"a\"], within = \"1s\" }", ""),
            "have no time",
        ),
        (
            rule(wal, any, "facts.f = { wal = \"a\", value = \"lsn\" }\n"),
            "a problem of a WAL has no \"lsn\"",
        ),
        (
            rule(
                "{ signal = \"wal-nack\" }",
                any,
                "facts.f = { wal = \"a\", value = \"first\" }\n",
            ),
            "counts no problems of WALs alone",
        ),
        (
            rule(
                wal,
                any,
                "[[rule.cause]]\nrule = \"catch-up-stall\"\nwal = \"streams\"\nlsn = \"f\"\nnode = \"f\"\n",
            ),
            "\"streams\" is no count of problems of WALs",
        ),
    ] {
        let file = folder.put("mine.toml", &text);
        let ran = casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}");
        assert!(ran.err.contains(message), "{message}: {}", ran.err);
    }
}

#[test]
fn a_cause_by_position_that_no_sample_shows_is_a_fault_of_the_base() {
    let rule = |samples: &str| {
        format!(
            "[[rule]]\nid = \"stuck\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = {{ signal = \"wal-stream\" }}\n\
             stalls.s = {{ signal = \"wal-stream\", still = [\"lsn\"] }}\nfacts.lsn = {{ stall = \"s\", value = \"lsn\" }}\n\
             facts.on = {{ stall = \"s\", value = \"node\" }}\nwhen = {{ count = \"a\", at-least = 1 }}\nmechanism = \"m\"\nnext-steps = [\"n\"]\n\
             [[rule.cause]]\nrule = \"misfiled-segment\"\nwal = \"misfiled\"\nlsn = \"lsn\"\nnode = \"on\"\n\
             [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n\
             [[rule.sample]]\nname = \"silent\"\n{samples}"
        )
    };
    let sample = |last: u64, follows: &str| {
        format!(
            "[[rule.sample]]\nname = \"up to {last}\"\nfires = \"low\"\nfollows-from = [{follows}]\n\
             [rule.sample.files.\"ctrl-2.log\"]\ntext = \"07:06:48,603 ctrl-2 HA repl: standby[0] lsn=340 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches\"\n\
             [[rule.sample.wal]]\nnode = \"ctrl-2\"\nproblem = \"misfiled\"\nsegment = \"s\"\nfirst = 300\nlast = {last}\n"
        )
    };
    let folder = Folder::new();
    let run = |command: &str, text: &str| {
        let file = folder.put("mine.toml", text);
        casdiag(&["rules", command, "--rules", file.to_str().unwrap()])
    };
    let cause = "\"misfiled-segment\"";
    let bare = sample(340, cause);
    let lint = run("lint", &rule(&bare));
    assert_eq!(lint.code, Some(1), "{}", lint.err);
    let fault = "has no sample that follows from misfiled-segment, or none beside its problem that does not";
    assert!(lint.out.contains(fault), "{}", lint.out);
    let both = rule(&(bare + &sample(339, "")));
    assert_eq!(run("lint", &both).code, Some(0));
    assert_eq!(run("test", &both).code, Some(0));
    // 340 does not lie in 300..339, and does in 300..340.
    for (last, follows) in [(339, cause), (340, "")] {
        let wrong = run("test", &rule(&sample(last, follows)));
        assert_eq!(wrong.code, Some(1));
        assert!(
            wrong.out.contains("the finding must follow from"),
            "{}",
            wrong.out
        );
    }
}

#[test]
fn a_profile_says_what_each_signal_and_rule_cost_and_changes_no_report() {
    let rules = "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"debug\"]\ntemplates = [\"my own {what:int} words\"]\n\
                 [[rule]]\nid = \"my-rule\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"mine\" }\nwhen = { count = \"a\", at-least = 1 }\nmechanism = \"m\"\n\
                 [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"{a} of mine\"\n";
    let folder = Folder::new();
    let lines: String = [
        "my own 3 words",
        "my own three words",
        "nothing",
        "my own 4 words",
    ]
    .iter()
    .map(|message| record("10:00:00.000000", "Debug", "a", message))
    .collect();
    folder.put("n1/clickhouse-server.log", &lines);
    let file = folder.put("mine.toml", rules);
    let rules = ["--rules", file.to_str().unwrap()];
    let plain = analyze(&folder.path().join("n1"), &rules);
    let profiled = analyze(
        &folder.path().join("n1"),
        &[&rules[..], &["--profile-rules"]].concat(),
    );
    assert_eq!((profiled.code, &profiled.out), (plain.code, &plain.out));
    let row = |name: &str| -> Vec<&str> {
        let line = profiled.err.lines().find(|line| line.starts_with(name));
        line.unwrap_or_default().split_whitespace().collect()
    };
    // Three lines hold " words", the longest text between holes; two have a number before it.
    assert_eq!(row("mine")[1..3], ["3", "2"]);
    let bytes: usize = ["my own 3 words", "my own three words", "my own 4 words"]
        .iter()
        .map(|message| message.len())
        .sum();
    assert_eq!(row("mine")[3], bytes.to_string());
    assert_eq!(row("my-rule")[1..3], ["1", "1"]);
    assert!(
        profiled
            .err
            .contains("search for texts: 4 records, 53 bytes,")
    );
}

#[test]
fn a_cause_whose_position_is_a_name_and_a_range_that_goes_back_are_refused() {
    let rule = |lsn: &str, node: &str, range: &str| {
        format!(
            "[[rule]]\nid = \"stuck\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = {{ signal = \"wal-stream\" }}\n\
             stalls.s = {{ signal = \"wal-stream\", still = [\"lsn\"] }}\nfacts.lsn = {{ stall = \"s\", value = \"lsn\" }}\n\
             facts.on = {{ stall = \"s\", value = \"node\" }}\nfacts.times = {{ stall = \"s\", value = \"repeats\" }}\n\
             when = {{ count = \"a\", at-least = 1 }}\nmechanism = \"m\"\n\
             [[rule.cause]]\nrule = \"misfiled-segment\"\nwal = \"misfiled\"\nlsn = \"{lsn}\"\nnode = \"{node}\"\n\
             [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n\
             [[rule.sample]]\nname = \"silent\"\n\
             [[rule.sample.wal]]\nnode = \"ctrl-2\"\nproblem = \"misfiled\"\nsegment = \"s\"\n{range}\n"
        )
    };
    let folder = Folder::new();
    let lint = |text: &str| {
        let file = folder.put("mine.toml", text);
        casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()])
    };
    let sound = "first = 300\nlast = 300";
    assert_ne!(lint(&rule("lsn", "on", sound)).code, Some(2));
    for (text, says) in [
        (rule("on", "on", sound), "the fact \"on\" is no position"),
        (
            rule("times", "on", sound),
            "the fact \"times\" is no position",
        ),
        (rule("lsn", "lsn", sound), "the fact \"lsn\" is a position"),
        (
            rule("lsn", "on", "first = 300\nlast = 299"),
            "299 is before 300",
        ),
        (
            rule("lsn", "on", "last = 299"),
            "a last position without a first one",
        ),
    ] {
        let ran = lint(&text);
        assert_eq!(ran.code, Some(2), "{text}");
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
}

#[test]
fn a_count_before_a_word_that_is_right_for_several_only_is_a_fault() {
    let rule = |title: &str| {
        format!(
            "[[rule]]\nid = \"mine\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = {{ signal = \"wal-nack\" }}\nwhen = {{ count = \"a\", at-least = 1 }}\n\
             mechanism = \"m\"\nnext-steps = [\"n\"]\n[[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"{title}\"\n\
             [[rule.sample]]\nname = \"s\"\n[[rule.sample]]\nname = \"f\"\nfires = \"low\"\n"
        )
    };
    let folder = Folder::new();
    let faults = |title: &str| {
        let file = folder.put("mine.toml", rule(title));
        casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]).out
    };
    assert!(faults("{a} nacks seen").contains("says \"{a} nacks\" also of one"));
    for sound in [
        "{a|nack|nacks} seen",
        "{a} seen",
        "{a} less",
        "{reporters} sends",
    ] {
        assert!(faults(sound).starts_with("0 faults"), "{sound}");
    }
}
