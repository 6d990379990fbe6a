//! Generated files and marked parts of the documents are what the program would write now, and the examples in the
//! documents work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use casdiag::{pipeline, rules};

/// The documents with marked parts.
const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/counting.md",
    "docs/rules-format.md",
    "docs/engine.md",
];

/// What to do about a stale file.
const REMEDY: &str = "run scripts/refresh, and review what it changes";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text_of(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the program prints when it is run at the root of the project.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_casdiag"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the program was built with the tests");
    assert!(
        output.status.success(),
        "casdiag {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Fails with the first line that differs: whole files are too long for a message.
fn assert_fresh(path: &str, found: &str, wanted: &str) {
    if found == wanted {
        return;
    }
    let differs = found
        .lines()
        .zip(wanted.lines())
        .position(|(found, wanted)| found != wanted);
    let at = differs.unwrap_or_else(|| found.lines().count().min(wanted.lines().count()));
    panic!(
        "{path} is not what would be generated now; {REMEDY}.\nline {}:\n  there: {:?}\n  now:   {:?}",
        at + 1,
        found.lines().nth(at),
        wanted.lines().nth(at)
    );
}

#[test]
fn generated_pages_are_fresh() {
    for (path, arguments) in [
        ("docs/rules.md", &["rules", "page"][..]),
        ("docs/report.schema.json", &["schema"]),
    ] {
        assert_fresh(path, &text_of(path), &printed(arguments));
    }
}

#[test]
fn every_sample_has_its_reports_and_they_are_fresh() {
    let folders = |path: &str| {
        let entries = fs::read_dir(root().join(path)).unwrap();
        let folders = entries
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir());
        let mut names: Vec<String> = folders
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let samples = folders("samples/incidents");
    assert_eq!(
        folders("reports"),
        samples,
        "one folder per sample; {REMEDY}"
    );
    let out = tempfile::tempdir().unwrap();
    for name in samples {
        let folder = out.path().join(&name);
        printed(&[
            "analyze",
            &format!("samples/incidents/{name}"),
            "--fail-on",
            "never",
            "--quiet",
            "--out",
            folder.to_str().unwrap(),
        ]);
        // Of tables the text is kept: Parquet has the same rows.
        let now: Vec<String> = files(&folder)
            .into_iter()
            .filter(|file| !file.ends_with(".parquet"))
            .collect();
        let kept = root().join("reports").join(&name);
        assert_eq!(files(&kept), now, "reports/{name}; {REMEDY}");
        for file in now {
            let path = format!("reports/{name}/{file}");
            assert_fresh(&path, &text_of(&path), &text_of(folder.join(file)));
        }
    }
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = self::files(&path).into_iter();
            files.extend(inner.map(|it| format!("{name}/{it}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    files
}

#[test]
fn marked_parts_of_the_documents_are_fresh() {
    let mut seen = 0;
    for document in DOCUMENTS {
        let text = text_of(document);
        let mut rest = text.as_str();
        while let Some((_, tail)) = rest.split_once("<!-- ") {
            let (marker, tail) = tail.split_once(" -->\n").unwrap();
            rest = tail;
            let Some((kind, command)) = marker.split_once(" of: casdiag ") else {
                continue;
            };
            let arguments: Vec<&str> = command.split_whitespace().collect();
            let now = printed(&arguments);
            let wanted = match kind {
                "table" => format!("\n{now}\n"),
                "output" => format!("\n```text\n{now}```\n\n"),
                other => panic!("{document}: no part is called {other:?}"),
            };
            let (found, after) = tail.split_once("<!-- end -->").unwrap();
            assert_fresh(&format!("{document}, part `{command}`"), found, &wanted);
            rest = after;
            seen += 1;
        }
    }
    assert!(seen > 0, "the documents have marked parts");
}

/// The blocks of a document between fences with the given info string.
fn blocks(text: &str, info: &str) -> Vec<String> {
    let parts = text.split("\n```");
    parts
        .filter_map(|part| part.strip_prefix(&format!("{info}\n")))
        .map(|block| format!("{block}\n"))
        .collect()
}

#[test]
fn every_rules_file_in_the_documents_loads_is_sound_and_passes_its_samples() {
    for document in ["README.md", "docs/rules-format.md"] {
        let examples = blocks(&text_of(document), "toml rules");
        assert!(!examples.is_empty(), "{document} has an example");
        for example in examples {
            let base = rules::load(&[(document.to_owned(), example.clone())])
                .unwrap_or_else(|fault| panic!("{document}: {fault}"));
            let own: Vec<String> = example
                .lines()
                .filter_map(|line| line.strip_prefix("id = \""))
                .map(|id| id.trim_end_matches('"').to_owned())
                .collect();
            let faults: Vec<_> = rules::lint(&base)
                .into_iter()
                .filter(|fault| own.contains(&fault.owner))
                .collect();
            assert!(faults.is_empty(), "{document}: {faults:?}");
            // What leaves findings out is no claim that a sample could show.
            let is_entry = |id: &String| {
                let mut entries = base.declared.ignore.iter();
                entries.any(|entry| entry.id.get_ref() == id)
            };
            let samples: Vec<_> = rules::samples(&base)
                .into_iter()
                .filter(|sample| own.contains(&sample.owner))
                .collect();
            assert!(
                own.iter()
                    .filter(|id| !is_entry(id))
                    .all(|id| samples.iter().any(|sample| sample.owner == *id)),
                "{document}: every declaration has a sample"
            );
            for sample in samples {
                let fault = pipeline::try_sample(&sample, &base).unwrap();
                assert_eq!(
                    fault, None,
                    "{document}, {} ({})",
                    sample.owner, sample.name
                );
            }
        }
    }
}

#[test]
fn the_scenario_in_the_document_runs() {
    let examples = blocks(&text_of("docs/engine.md"), "toml scenario");
    assert_eq!(examples.len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, &examples[0]).unwrap();
    let out = printed(&["replay", path.to_str().unwrap()]);
    assert!(out.contains("relinks finished"), "{out}");
}

/// Keys that a struct of `schema.rs` reads from the file, as they are written there.
fn schema_keys(source: &str) -> Vec<String> {
    let mut renamed = None;
    let mut keys = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some((_, name)) = line.split_once("rename = \"") {
            renamed = name.split('"').next().map(str::to_owned);
        } else if let Some((name, _)) = line
            .strip_prefix("pub ")
            .and_then(|field| field.split_once(": "))
        {
            keys.push(renamed.take().unwrap_or_else(|| name.replace('_', "-")));
        }
    }
    keys
}

#[test]
fn the_reference_of_the_rules_file_names_every_key() {
    let reference = text_of("docs/rules-format.md");
    let files = [
        "src/rules/schema/mod.rs",
        "src/rules/schema/balance.rs",
        "src/rules/schema/format.rs",
        "src/rules/schema/row.rs",
        "src/rules/schema/sample.rs",
        "src/rules/schema/strip.rs",
    ];
    let missing: Vec<String> = files
        .into_iter()
        .flat_map(|file| schema_keys(&text_of(file)))
        .filter(|key| {
            let spellings = [format!("`{key}`"), format!("[{key}]")];
            !spellings.iter().any(|it| reference.contains(it))
        })
        .collect();
    assert!(
        missing.is_empty(),
        "docs/rules-format.md does not explain {missing:?}"
    );
}
