//! What `casdiag replay --out` keeps of a run: its summary, its numbers, and the picture of rates and queues over time.

use std::fs;
use std::path::Path;

use super::Failure;
use crate::engine::cas::{Course, RunSummary, STEP_S, Scenario};
use crate::report::{RunLine, RunPanel, RunPicture, run_page};

/// A measure of the picture: its title, whether its steps add up, and where it is.
type Measure = (&'static str, bool, fn(&Course) -> &Vec<u64>);

/// What is drawn, one below the other.
const MEASURES: [Measure; 3] = [
    ("Relinks refused in 10 s", true, |it| &it.refused),
    ("Relinks finished in 10 s", true, |it| &it.finished),
    ("Length of the queue", false, |it| &it.queue),
];

/// Writes the files and gives their names.
pub(super) fn keep(
    summary: &RunSummary,
    scenario: &Scenario,
    said: &str,
    dir: &Path,
) -> Result<Vec<&'static str>, Failure> {
    fs::create_dir_all(dir)?;
    let mut json = Vec::new();
    summary.write_json(&mut json)?;
    let picture = picture(summary, scenario).draw();
    let title = heading(summary);
    let page = run_page(&title, &summary.what, picture.as_deref(), said);
    let mut kept = vec!["replay.txt", "replay.json", "replay.html"];
    fs::write(dir.join("replay.txt"), said)?;
    fs::write(dir.join("replay.json"), json)?;
    fs::write(dir.join("replay.html"), page)?;
    if let Some(picture) = picture {
        fs::write(dir.join("replay.svg"), picture)?;
        kept.push("replay.svg");
    }
    Ok(kept)
}

fn heading(summary: &RunSummary) -> String {
    format!(
        "{} under {}, seed {}",
        summary.scenario, summary.variant, summary.seed
    )
}

fn picture(summary: &RunSummary, scenario: &Scenario) -> RunPicture {
    let panel = |(title, adds_up, pick): Measure| RunPanel {
        title: title.to_owned(),
        adds_up,
        lines: summary
            .nodes
            .iter()
            .map(|node| RunLine {
                name: node.node.clone(),
                values: pick(&node.course).clone(),
            })
            .collect(),
    };
    RunPicture {
        title: heading(summary),
        what: summary.what.clone(),
        step_s: STEP_S,
        panels: MEASURES.map(panel).into(),
        faults: scenario
            .fault
            .iter()
            .map(|it| (it.from_s.min(summary.seconds), it.to_s.min(summary.seconds)))
            .collect(),
        deeds: scenario
            .act
            .iter()
            .filter(|it| it.at_s <= summary.seconds)
            .map(|it| it.at_s)
            .collect(),
    }
}
