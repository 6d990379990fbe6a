//! What `casdiag rules lint` and `casdiag rules test` say to the author of a rules file: each fault, where it stands, what to write.

use crate::product::{Folder, Ran, base, casdiag, record};

/// `casdiag rules COMMAND` over a file.
fn rules(command: &str, text: &str) -> Ran {
    let folder = Folder::with("mine.toml", text);
    let file = folder.path().join("mine.toml");
    casdiag(&["rules", command, "--rules", file.to_str().unwrap()])
}

/// A signal with a derived field, and a rule over it; each argument stands in a line of its own, 10 to 13.
fn rule(counts: &str, when: &str, title: &str, more: &str) -> String {
    format!(
        "[[signal]]\nid = \"mine\"\nwhat = \"A change failed.\"\ntemplates = [\"change of {{what:word}} failed\"]\n\
         derived = [{{ field = \"kind\", from = \"what\", classes = [[\"schema\", \"^table\"]] }}]\n\
         [[rule]]\nid = \"my-rule\"\ntitle = \"t\"\ncategory = \"c\"\n{counts}\nwhen = {when}\n{more}\nmechanism = \"m\"\n\
         [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"{title}\"\n"
    )
}

const COUNTS: &str = "counts.failed = { signal = \"mine\" }";
const ONCE: &str = "{ count = \"failed\", at-least = 1 }";

/// That lint refuses each text at a line, with words.
fn refused(cases: &[(String, usize, &str)]) {
    for (text, line, says) in cases {
        let ran = rules("lint", text);
        assert_eq!(ran.code, Some(2), "{text}\n{ran:?}");
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
        let place = format!("mine.toml:{line}:");
        assert!(ran.err.contains(&place), "{place} {says}: {}", ran.err);
    }
}

#[test]
fn a_title_with_a_broken_brace_bracket_or_word_is_refused_where_it_stands() {
    let title = |title: &str| rule(COUNTS, ONCE, title, "");
    let cases = [
        ("seen at {reporters", "is not closed by `}`"),
        ("seen at {reporters by {nodes}", "is not closed by `}`"),
        ("seen at reporters}", "nothing opens the brace"),
        ("{failed|time}", "{failed|time} has not two words\n"),
        ("{failed|time|times|x}", "has not two words"),
        ("{failed|time|}", "has not two words"),
        ("{fialed|time|times}", "the title names \"fialed\""),
        ("seen [{failed} of it", "a bracket is not closed"),
        ("seen {failed} of it]", "has no other one"),
    ];
    let cases: Vec<_> = cases.map(|(text, says)| (title(text), 17, says)).into();
    refused(&cases);
    // A share has no one and no several.
    let share = "shares.part = { count = \"failed\", of = [\"failed\"] }";
    let share = rule(COUNTS, ONCE, "at {part|node|nodes}", share);
    refused(&[(share, 17, "\"part\" is no count")]);
    // What a finding is not may name counts as well.
    let not = rule(COUNTS, ONCE, "t", "not-this = [\"not {failed|one}\"]");
    refused(&[(not, 12, "has not two words")]);
    for sound in [
        "{failed|time|times} at {reporters}",
        "{reporters|has|have} failed",
        "seen[, {failed} times]",
    ] {
        assert_eq!(rules("lint", &title(sound)).code, Some(1), "{sound}");
    }
}

#[test]
fn fields_that_cannot_be_compared_are_refused_where_they_stand() {
    let with = |fields: &str| {
        let counts = format!("counts.failed = {{ signal = \"mine\", below = {fields} }}");
        let text = rule(&counts, ONCE, "t", "");
        let template = "change {at:int} of {size:int} of {what:word} at {peer:node} failed";
        text.replace("change of {what:word} failed", template)
    };
    let cases = [
        (r#"["at", "sise"]"#, "the signal mine has no field \"sise\""),
        (
            r#"["at", "at"]"#,
            "no number is smaller than itself: \"at\"",
        ),
        (
            r#"["at", "peer"]"#,
            "the field \"peer\" of mine is no number",
        ),
        (
            r#"["at"]"#,
            "two names in brackets are expected, and here are 1",
        ),
        (
            r#"["at", "size", "word"]"#,
            "two names in brackets are expected, and here are 3",
        ),
        (r#""at < size""#, "expected a list in brackets"),
    ];
    let cases: Vec<_> = cases.map(|(fields, says)| (with(fields), 10, says)).into();
    refused(&cases);
    assert_eq!(rules("lint", &with(r#"["at", "size"]"#)).code, Some(1));
}

#[test]
fn a_value_that_a_field_never_has_is_refused_with_those_that_it_has() {
    let with = |value: &str| {
        let counts =
            format!("counts.failed = {{ signal = \"mine\", where = {{ kind = {value} }} }}");
        rule(&counts, ONCE, "t", "")
    };
    for value in ["\"shema\"", "[\"schema\", \"shema\"]"] {
        let says = "the field kind of mine is never \"shema\"";
        refused(&[
            (with(value), 10, says),
            (with(value), 10, "hint: kind is one of schema, other"),
        ]);
    }
    refused(&[(with("[]"), 10, "the list is empty")]);
    for sound in ["\"schema\"", "\"other\"", "[\"schema\", \"other\"]"] {
        assert_eq!(rules("lint", &with(sound)).code, Some(1), "{sound}");
    }
}

#[test]
fn a_condition_that_always_or_never_holds_is_refused() {
    let when = |when: &str| rule(COUNTS, when, "t", "");
    let cases = [
        (
            "{ count = \"failed\", at-least = 5, at-most = 2 }",
            "no count is at least 5 and at most 2",
        ),
        (
            "{ count = \"failed\", at-least = 0 }",
            "at least 0 always holds",
        ),
        (
            "{ count = \"failed\", at-least = 1, on-nodes = 0 }",
            "at least 0 always holds",
        ),
        (
            "{ count = \"failed\", at-most = 1, on-nodes = 2 }",
            "at-most is over all of them",
        ),
        (
            "{ count = \"failed\", at-least = 1, lasting = \"5s\" }",
            "does not read lasting",
        ),
        (
            "{ share = \"failed\", of = [\"failed\"], share-at-least = 50 }",
            "50 is no bound of a share: it is above 0 and at most 1",
        ),
        (
            "{ share = \"failed\", of = [\"failed\"], share-below = 0.0 }",
            "0 is no bound of a share",
        ),
        (
            "{ share = \"failed\", of = [\"failed\"], share-at-least = 0.5, share-below = 0.5 }",
            "no share is at least 0.5 and below 0.5",
        ),
        (
            "{ silence = \"2s\", then = \"failed\", within = \"3s\" }",
            "a silence of \"2s\" is not seen",
        ),
        ("{ any = [] }", "is empty"),
    ];
    let cases: Vec<_> = cases.map(|(text, says)| (when(text), 11, says)).into();
    refused(&cases);
    let node = |when: &str| rule(COUNTS, when, "t", "per = \"node\"");
    refused(&[(
        node("{ count = \"failed\", at-least = 1, on-nodes = 2 }"),
        11,
        "this needs several nodes",
    )]);
    for sound in [
        "{ count = \"failed\", at-least = 2, at-most = 2 }",
        "{ share = \"failed\", of = [\"failed\"], share-at-least = 1 }",
        "{ silence = \"5s\", then = \"failed\", within = \"3s\" }",
    ] {
        assert_eq!(rules("lint", &when(sound)).code, Some(1), "{sound}");
    }
}

#[test]
fn a_signal_that_no_record_can_be_is_refused() {
    let signal = |key: &str| {
        format!(
            "[[signal]]\nid = \"mine\"\nwhat = \"A change failed.\"\ntemplates = [\"a change failed\"]\n{key}\n"
        )
    };
    let cases = [
        ("levels = []", "the list is empty, so that nothing fits"),
        ("codes = []", "the list is empty, so that nothing fits"),
        (
            "loggers = [\"*(R*x\"]",
            "\"*(R*x\" has a * that stands for itself",
        ),
        ("loggers = [\"*\"]", "\"*\" says nothing of a logger"),
        (
            "not-loggers = [\"a*b\"]",
            "\"a*b\" has a * that stands for itself",
        ),
    ];
    let cases: Vec<_> = cases.map(|(key, says)| (signal(key), 5, says)).into();
    refused(&cases);
    assert_eq!(
        rules("lint", &signal("loggers = [\"*(Rx)*\"]")).code,
        Some(1)
    );
}

#[test]
fn what_cannot_be_read_is_said_in_the_words_of_a_rules_file() {
    let ignore =
        "[[ignore]]\nid = \"x\"\nreason = \"r\"\ntext = \"some text\"\nexpires = 2027-01-01\n";
    let table = "[[signal]]\nid = \"x\"\nwhat = \"w\"\ntable = \"replication_queue\"\nwhere = { num_tries = 3 }\n";
    let cases = [
        (
            rule(
                "counts.failed = { signal = \"mine\", where = { what = 64 } }",
                ONCE,
                "t",
                "",
            ),
            10,
            "expected a text in quotes or a list of texts, found 64",
            "hint: write it in quotes: \"64\"",
        ),
        (
            ignore.to_owned(),
            5,
            "expected a text in quotes, found the date 2027-01-01",
            "hint: write it in quotes: \"2027-01-01\"",
        ),
        (
            rule(
                COUNTS,
                "{ count = \"failed\", at-least = 2, within = 60 }",
                "t",
                "",
            ),
            11,
            "expected a text in quotes, found 60",
            "hint: write a number and a unit in quotes: within = \"60s\"",
        ),
        (
            rule(COUNTS, "{ count = \"failed\", at-least = \"2\" }", "t", ""),
            11,
            "expected a whole number that is not negative, found \"2\"",
            "hint: write it without quotes: 2",
        ),
        (
            rule(COUNTS, ONCE, "t", "not-this = \"not that\""),
            12,
            "expected a list in brackets, found \"not that\"",
            "hint: write it in brackets: [\"not that\"]",
        ),
        (
            "[signal]\nid = \"x\"\nwhat = \"w\"\n".to_owned(),
            1,
            "expected a list in brackets, found a table",
            "hint: write [[signal]]",
        ),
        (
            table.to_owned(),
            5,
            "expected a text in quotes, a list of texts, or bounds as { at-least = 10 }, found 3",
            "hint: write it in quotes: \"3\"",
        ),
    ];
    for (text, line, says, hint) in cases {
        refused(&[(text.clone(), line, says), (text, line, hint)]);
    }
}

/// A signal at level Error with a logger, and a sample that is its line 7.
fn sampled(line: &str) -> String {
    format!(
        "[[signal]]\nid = \"mine\"\nwhat = \"A change failed.\"\nlevels = [\"error\"]\nloggers = [\"*(Changer)\"]\n\
         templates = [\"a change failed\"]\nsamples = [{{ line = {line:?} }}]\n"
    )
}

#[test]
fn a_logger_is_known_by_patterns_of_any_length() {
    for (pattern, logger) in [
        ("*(Changer)", "q.s (Changer)"),
        ("*(Data)", "q.s (94c6) (Data)"),
        ("*(Q)", "q.s (Q)"),
        ("*()", "run()"),
        ("x (Q)", "x (Q)"),
        ("(Q)", "(Q)"),
        ("(Changer)", "(Changer)"),
        ("a", "a"),
        ("abc", "abc"),
        ("abcd", "abcd"),
        ("*r)", "q.s (Changer)"),
        ("*(A (B)", "q.s (A (B)"),
        ("*(x) (B)", "q.s (x) (B)"),
        ("q.s*", "q.s (Changer)"),
    ] {
        let line = record("10:00:00.000000", "Error", logger, "a change failed");
        let text = sampled(line.trim_end()).replace("*(Changer)", pattern);
        let ran = rules("test", &text);
        assert_eq!(ran.code, Some(0), "{pattern} {logger}: {ran:?}");
    }
}

#[test]
fn a_sample_that_fails_says_where_it_stands_and_which_check_failed_first() {
    let line = |level: &str, logger: &str, text: &str| {
        sampled(record("10:00:00.000000", level, logger, text).trim_end())
    };
    let fits = "a change failed";
    for (text, why) in [
        (
            line("Debug", "q.s (Changer)", fits),
            "failed level is Error: the record's is Debug",
        ),
        (
            line("Error", "q.s", fits),
            "failed logger is *(Changer): the record's is \"q.s\"",
        ),
        (
            line("Error", "q.s (Changer)", "a change went well"),
            "failed the message fits a wording: \"a change failed\" is not where it must be",
        ),
        (
            sampled("a change failed"),
            "its text is no record; the signal's format is clickhouse",
        ),
    ] {
        let ran = rules("test", &text);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let failed = ran.out.lines().next().unwrap();
        assert!(failed.starts_with("FAILED mine (sample 1), "), "{failed}");
        let end = format!("mine.toml:7: the signal occurs 0 times, and must once: {why}");
        assert!(failed.ends_with(&end), "{end}: {failed}");
    }
    let sound = rules("test", &line("Error", "q.s (Changer)", fits));
    assert_eq!(sound.code, Some(0), "{sound:?}");
}

#[test]
fn a_sample_in_which_a_rule_keeps_silent_says_where_it_stands_and_which_condition_failed() {
    let sample = |text: &str| {
        let when = "{ any = [{ count = \"failed\", at-least = 3 }, { none = [{ count = \"failed\", at-least = 1 }] }] }";
        // The sample's name is line 19.
        rule(COUNTS, when, "t", "")
            + &format!(
                "[[rule.sample]]\nname = \"one\"\nfires = \"low\"\n[rule.sample.files.\"n1/clickhouse-server.log\"]\ntext = {text:?}\n"
            )
    };
    let one = record("10:00:00.000000", "Error", "q.s", "change of x failed");
    for (text, why) in [
        (
            one.as_str(),
            "failed failed (mine) at least 3: it is 1 (n1 1)",
        ),
        (
            "change of x failed",
            "the text of n1/clickhouse-server.log is no record",
        ),
    ] {
        let ran = rules("test", &sample(text));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let failed = ran.out.lines().next().unwrap();
        let end = format!("mine.toml:19: the rule keeps silent, and must fire with low: {why}");
        assert!(failed.starts_with("FAILED my-rule (one), "), "{failed}");
        assert!(failed.ends_with(&end), "{end}: {failed}");
    }
}

#[test]
fn lint_asks_for_what_the_reference_asks_and_counts_in_the_right_number() {
    let faults = |more: &str| rules("lint", &rule(COUNTS, ONCE, "t", more)).out;
    let wrong = faults("not-this = [\"a lost part\"]");
    let says = "my-rule: says in not-this \"a lost part\", which does not begin with not\n";
    assert!(wrong.contains(says), "{wrong}");
    let sound = faults("not-this = [\"not a lost part\"]");
    assert!(!sound.contains("not-this"), "{sound}");
    // A signal that is benign and has a sample that is none, and one template.
    let one = "[[signal]]\nid = \"mine\"\nwhat = \"w.\"\ntemplates = [\"abcdef\"]\nbenign = true\nnot = [\"x\"]\n";
    let ran = rules("lint", one);
    assert_eq!(ran.out, "mine: has no positive sample\n1 fault\n");
    let two = "[[signal]]\nid = \"mine\"\nwhat = \"w.\"\ntemplates = [\"abcdef\", \"ghijkl\"]\nbenign = true\nnot = [\"x\"]\n\
               samples = [{ line = \"x\" }]\n";
    assert_eq!(
        rules("lint", two).out,
        "mine: has 2 templates and only 1 positive sample\n1 fault\n"
    );
}

#[test]
fn an_id_of_another_kind_or_with_a_slip_is_told_from_one_that_is_not_there() {
    let text = rule(COUNTS, ONCE, "t", "");
    let folder = Folder::with("mine.toml", text);
    let log = folder.put("n1/a.log", record("10:00:00.000000", "Error", "a", "b"));
    let file = folder.path().join("mine.toml");
    let (file, log) = (file.to_str().unwrap(), log.to_str().unwrap());
    let line = format!("{log}:1");
    for (arguments, says) in [
        (
            ["explain", "mine", line.as_str()],
            "\"mine\" is a signal; the rule that counts it is my-rule",
        ),
        (
            ["lines", "my-rule", log],
            "\"my-rule\" is a rule; the signal that it counts is mine",
        ),
        (
            ["explain", "my-ruel", line.as_str()],
            "no rule is called \"my-ruel\", and my-rule is written almost so",
        ),
        (
            ["lines", "relink-refusd", log],
            "no signal is called \"relink-refusd\", and relink-refused is written almost so",
        ),
        (
            ["rules", "show", "code-21-storm"],
            "no rule or signal is called \"code-21-storm\", and code-210-storm is written almost so",
        ),
        (
            ["rules", "show", "nothing-of-the-kind"],
            "no rule or signal is called \"nothing-of-the-kind\"; `casdiag rules list` names them all",
        ),
    ] {
        let ran = casdiag(&[&arguments[..], &["--rules", file]].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
}

#[test]
fn a_class_that_is_no_regular_expression_is_refused_and_all_shipped_ones_are_sound() {
    let broken = rule(COUNTS, ONCE, "t", "").replace("^table", "^(table");
    refused(&[(broken, 5, "this regular expression cannot be used")]);
    let mut checked = 0;
    for signal in base().signals.signals() {
        for class in signal.derived.iter().flat_map(|it| &it.classes) {
            let sound = class.pattern.check();
            assert!(sound.is_ok(), "{} {}: {sound:?}", signal.id, class.value);
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[test]
fn a_fact_of_two_things_and_an_arrival_of_a_rule_without_any_are_refused_with_what_to_write() {
    let fact = |fact: &str| {
        let facts = format!("facts.gone = {fact}");
        rule(COUNTS, ONCE, "t", &facts)
    };
    refused(&[
        (
            fact(r#"{ arrival = "parts", count = "failed", value = "missing" }"#),
            12,
            "the fact \"gone\" has arrival and count, which exclude each other\n",
        ),
        (
            fact(r#"{ arrival = "parts", count = "failed", value = "missing" }"#),
            12,
            "hint: leave out arrival or count, or make it two facts",
        ),
        (
            fact(r#"{ stall = "still", arrival = "parts", value = "missing" }"#),
            12,
            "has stall and arrival, which exclude each other",
        ),
        (
            rule(COUNTS, r#"{ arrived = "parts" }"#, "t", ""),
            11,
            "hint: it has none: declare arrivals.parts = { ... }",
        ),
    ]);
}
