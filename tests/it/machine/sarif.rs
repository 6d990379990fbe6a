//! SARIF: every object has the properties that the published schema of version 2.1.0 gives it, and none beside.

use serde_json::Value;

use super::hostile;
use crate::product::{analyze, casdiag, repository};

/// What a property holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Flag,
    /// A whole number of at least this.
    Number(i64),
    One(&'static str),
    Many(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts by name.
    Texts,
    /// Anything at all.
    Bag,
}

use Holds::{Bag, Flag, Many, Number, One, Text, Texts, Word};

const LEVELS: &[&str] = &["none", "note", "warning", "error"];

/// A property of an object: its name, what it holds, whether it must be there.
type Property = (&'static str, Holds, bool);

/// Objects as the schema has them (`additionalProperties` is false for all), as far as the outputs use them.
const OBJECTS: &[(&str, &[Property])] = &[
    (
        "log",
        &[
            ("$schema", Text, false),
            ("version", Word(&["2.1.0"]), true),
            ("runs", Many("run"), true),
        ],
    ),
    (
        "run",
        &[
            ("tool", One("tool"), true),
            ("invocations", Many("invocation"), false),
            ("results", Many("result"), false),
        ],
    ),
    ("tool", &[("driver", One("toolComponent"), true)]),
    (
        "toolComponent",
        &[
            ("name", Text, true),
            ("version", Text, false),
            ("semanticVersion", Text, false),
            ("rules", Many("reportingDescriptor"), false),
        ],
    ),
    (
        "reportingDescriptor",
        &[
            ("id", Text, true),
            ("shortDescription", One("multiformatMessageString"), false),
            ("fullDescription", One("multiformatMessageString"), false),
            ("help", One("multiformatMessageString"), false),
            ("defaultConfiguration", One("reportingConfiguration"), false),
            ("properties", Bag, false),
        ],
    ),
    (
        "multiformatMessageString",
        &[("text", Text, true), ("markdown", Text, false)],
    ),
    ("reportingConfiguration", &[("level", Word(LEVELS), false)]),
    (
        "invocation",
        &[
            ("executionSuccessful", Flag, true),
            ("toolExecutionNotifications", Many("notification"), false),
        ],
    ),
    (
        "notification",
        &[
            ("level", Word(LEVELS), false),
            ("message", One("message"), true),
            ("locations", Many("location"), false),
        ],
    ),
    (
        "result",
        &[
            ("ruleId", Text, false),
            ("ruleIndex", Number(-1), false),
            ("level", Word(LEVELS), false),
            ("message", One("message"), true),
            ("locations", Many("location"), false),
            ("relatedLocations", Many("location"), false),
            ("partialFingerprints", Texts, false),
            ("properties", Bag, false),
        ],
    ),
    ("message", &[("text", Text, false)]),
    (
        "location",
        &[
            ("id", Number(-1), false),
            ("physicalLocation", One("physicalLocation"), false),
        ],
    ),
    (
        "physicalLocation",
        &[
            ("artifactLocation", One("artifactLocation"), false),
            ("region", One("region"), false),
        ],
    ),
    ("artifactLocation", &[("uri", Text, false)]),
    (
        "region",
        &[
            ("startLine", Number(1), false),
            ("byteOffset", Number(-1), false),
            ("byteLength", Number(0), false),
            ("snippet", One("artifactContent"), false),
        ],
    ),
    ("artifactContent", &[("text", Text, false)]),
];

/// What is wrong with a value that should be an object of that name, with the way to it.
fn faults(value: &Value, name: &str, way: &str, found: &mut Vec<String>) {
    let Some(object) = value.as_object() else {
        found.push(format!("{way}: no object but {value}"));
        return;
    };
    let (_, properties) = OBJECTS.iter().find(|(known, _)| *known == name).unwrap();
    for key in object.keys() {
        if !properties.iter().any(|(known, _, _)| known == key) {
            found.push(format!("{way}: {name} has no {key}"));
        }
    }
    for &(key, holds, required) in *properties {
        let way = format!("{way}.{key}");
        let Some(value) = object.get(key) else {
            if required {
                found.push(format!("{way}: missing"));
            }
            continue;
        };
        let is_right = match holds {
            Text => value.is_string(),
            Flag => value.is_boolean(),
            Number(least) => value.as_i64().is_some_and(|it| it >= least),
            Word(words) => value.as_str().is_some_and(|it| words.contains(&it)),
            Texts => value
                .as_object()
                .is_some_and(|it| it.values().all(Value::is_string)),
            Bag => value.is_object(),
            One(name) => {
                faults(value, name, &way, found);
                true
            }
            Many(name) => value.as_array().is_some_and(|values| {
                for (at, value) in values.iter().enumerate() {
                    faults(value, name, &format!("{way}[{at}]"), found);
                }
                true
            }),
        };
        if !is_right {
            found.push(format!("{way}: {value}"));
        }
    }
}

fn checked(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    let mut found = Vec::new();
    faults(&document, "log", "", &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let at = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            rules[at]["id"], result["ruleId"],
            "ruleIndex leads to the rule"
        );
    }
    document
}

#[test]
fn a_document_that_breaks_the_schema_is_found_out() {
    for (document, fault) in [
        (r#"{"version":"2.1.0"}"#, ".runs: missing"),
        (r#"{"version":"2.2.0","runs":[]}"#, r#".version: "2.2.0""#),
        (
            r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a"}},"results":[{"level":"fatal","message":{}}]}]}"#,
            r#".runs[0].results[0].level: "fatal""#,
        ),
        (
            r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"a","x":1}}}]}"#,
            ".runs[0].tool.driver: toolComponent has no x",
        ),
    ] {
        let mut found = Vec::new();
        faults(
            &serde_json::from_str(document).unwrap(),
            "log",
            "",
            &mut found,
        );
        assert_eq!(found, [fault]);
    }
}

#[test]
fn findings_are_results_at_a_line_with_their_rule() {
    let ran = analyze(
        &repository("samples/incidents/report-001"),
        &["--format", "sarif"],
    );
    assert_eq!(ran.code, Some(1));
    let document = checked(&ran.out);
    let run = &document["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let declared = repository("rules.toml");
    let declared = std::fs::read_to_string(declared).unwrap();
    assert_eq!(rules.len(), declared.matches("\n[[rule]]\n").count());
    let rule = rules
        .iter()
        .find(|it| it["id"] == "code-210-storm")
        .unwrap();
    assert_eq!(
        rule["shortDescription"]["text"],
        "A storm of refused relinks"
    );
    assert_eq!(rule["defaultConfiguration"]["level"], "error");
    for form in ["text", "markdown"] {
        let help = rule["help"][form].as_str().unwrap();
        assert!(help.contains("keep the sources' Debug logs"), "{help}");
    }
    let results = run["results"].as_array().unwrap();
    let storm = results
        .iter()
        .find(|it| it["ruleId"] == "code-210-storm")
        .unwrap();
    assert_eq!(storm["level"], "error");
    let place = &storm["locations"][0]["physicalLocation"];
    let uri = place["artifactLocation"]["uri"].as_str().unwrap();
    let path = uri.strip_prefix("file://").unwrap();
    let line = usize::try_from(place["region"]["startLine"].as_u64().unwrap()).unwrap();
    let log = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        log.lines().nth(line - 1),
        place["region"]["snippet"]["text"].as_str(),
        "the place is that of the record"
    );
    assert_eq!(storm["properties"]["confidence"], "certain");
    assert_eq!(storm["properties"]["counts"]["refused"], 41);
    assert_eq!(
        storm["properties"]["window"]["first"],
        "2026-09-01T23:28:20.817504+00:00"
    );
    let worst = |level| results.iter().filter(|it| it["level"] == level).count();
    assert_eq!(worst("error"), 2, "those that fail the command");
}

#[test]
fn a_segment_has_bytes_and_no_lines() {
    let ran = analyze(
        &repository("samples/incidents/report-003"),
        &["--format", "sarif"],
    );
    let document = checked(&ran.out);
    let results = document["runs"][0]["results"].as_array().unwrap();
    let misfiled = results
        .iter()
        .find(|it| it["ruleId"] == "misfiled-segment")
        .unwrap();
    let region = &misfiled["locations"][0]["physicalLocation"]["region"];
    assert!(region["byteOffset"].as_u64().unwrap() > 0, "{region}");
    assert_eq!(region.get("startLine"), None);
    let data = repository("samples/incidents/report-003/data");
    let (_, out) = {
        let ran = casdiag(&[
            "wal-layout-check",
            data.to_str().unwrap(),
            "--format",
            "sarif",
        ]);
        (ran.code, ran.out)
    };
    checked(&out);
}

#[test]
fn what_was_not_read_whole_is_told_and_strangers_text_is_inert() {
    let folder = hostile();
    folder.put("n2/clickhouse-server.log.0.gz", [0x1f, 0x8b, 0x08, 0, 1, 2]);
    let ran = analyze(folder.path(), &["--format", "sarif"]);
    let document = checked(&ran.out);
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert!(!told.is_empty());
    for text in [&ran.out, &ran.err] {
        crate::hostile::is_inert(text);
    }
    let result = &document["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(
        place
            .as_str()
            .unwrap()
            .ends_with("/n%2C1%25%3A%3Aerror%3A%3A%3Cb%3E/clickhouse-server.log"),
        "{place}"
    );
}
