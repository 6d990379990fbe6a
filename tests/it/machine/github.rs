//! Annotations: commands of casdiag's own and none of a stranger's, no more than are shown.

use super::hostile;
use crate::product::{Folder, analyze, repository};

/// The value of a property of a command, unescaped as the runner does it.
fn property(line: &str, key: &str) -> Option<String> {
    let (properties, _) = line
        .strip_prefix("::")?
        .split_once(' ')?
        .1
        .split_once("::")?;
    let value = properties
        .split(',')
        .find_map(|pair| pair.strip_prefix(&format!("{key}=")))?;
    let value = value.replace("%0D", "\r").replace("%0A", "\n");
    Some(
        value
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%"),
    )
}

#[test]
fn a_finding_is_an_annotation_of_its_level_at_its_line() {
    let ran = analyze(
        &repository("samples/incidents/report-001"),
        &["--format", "github"],
    );
    let lines: Vec<&str> = ran.out.lines().collect();
    let levels: Vec<&str> = lines
        .iter()
        .map(|it| it.trim_start_matches(':').split(' ').next().unwrap())
        .collect();
    assert_eq!(levels[..2], ["error", "error"]);
    assert!(levels[2..].iter().all(|it| *it != "error"), "{levels:?}");
    let title = property(lines[1], "title").unwrap();
    assert_eq!(title, "code-210-storm (high)");
    let path = property(lines[1], "file").unwrap();
    let line: usize = property(lines[1], "line").unwrap().parse().unwrap();
    let log = std::fs::read_to_string(path).unwrap();
    let cited = log.lines().nth(line - 1).unwrap();
    assert!(cited.contains("did not prove it still holds"), "{cited}");
    assert!(lines[1].contains("::41 relinks refused"), "{}", lines[1]);
}

#[test]
fn no_more_are_written_than_are_shown_and_the_rest_is_said() {
    // One node each that restarts its own: a finding per node of a rule of each level would do.
    let folder = Folder::new();
    let fatal = "2026.09.01 10:00:01.000000 [ 7 ] {} <Fatal> BaseDaemon: (version 26.9.2.1, build id: 7B1E) (from thread 38807) (no query) Received signal Aborted (6)\n";
    for node in 0..14 {
        folder.put(&format!("n{node:02}/clickhouse-server.log"), fatal);
    }
    let findings = analyze(folder.path(), &["--format", "json"])
        .report()
        .findings;
    let worst = findings
        .iter()
        .filter(|it| it.severity >= casdiag::vocab::Severity::High);
    let worst = worst.count();
    assert!(worst >= 14, "{worst}");
    let ran = analyze(folder.path(), &["--format", "github"]);
    let errors: Vec<&str> = ran
        .out
        .lines()
        .filter(|it| it.starts_with("::error "))
        .collect();
    assert_eq!(errors.len(), 10);
    let left = format!("::{} more of this level are in the report", worst - 9);
    assert!(errors[9].contains(&left), "{}", errors[9]);
}

#[test]
fn a_verdict_that_is_partial_is_a_warning() {
    let folder = Folder::with("n1/clickhouse-server.log.0.gz", [0x1f, 0x8b, 0x08, 0, 1, 2]);
    let ran = analyze(folder.path(), &["--format", "github"]);
    assert!(
        ran.out.starts_with("::warning title=casdiag%3A partial::"),
        "{}",
        ran.out
    );
    let clean = Folder::with(
        "n1/clickhouse-server.log",
        crate::product::record("10:00:00.000000", "Debug", "a", "b"),
    );
    assert_eq!(analyze(clean.path(), &["--format", "github"]).out, "");
}

#[test]
fn no_command_of_a_stranger_reaches_the_runner() {
    let folder = hostile();
    let ran = analyze(folder.path(), &["--format", "github"]);
    assert!(!ran.out.is_empty());
    for line in ran.out.lines() {
        let level = line.strip_prefix("::").and_then(|it| it.split(' ').next());
        assert!(
            matches!(level, Some("error" | "warning" | "notice")),
            "{line}"
        );
        let rest = line.trim_start_matches(':');
        let (properties, text) = rest.split_once("::").unwrap();
        assert!(
            !properties.contains("<b>,"),
            "a comma of a path ends no value: {line}"
        );
        assert!(
            property(line, "title").is_some_and(|it| it.ends_with(')')),
            "{line}"
        );
        assert!(!text.contains("##[") && !text.contains("##vso["), "{line}");
        assert!(
            !text.contains("%0A::") && !line.contains('\u{1b}'),
            "{line}"
        );
    }
    let first = ran.out.lines().next().unwrap();
    let file = property(first, "file").unwrap();
    assert!(
        file.ends_with(r"/n,1%::error::<b>/clickhouse-server.log"),
        "{file}"
    );
}
