//! What each fix would have made of a storm, and the shortest way to its first refusal.

use super::fit::Found;
use super::storm::Storm;
use super::{FixRow, Verdict};
use crate::engine::cas::{Note, Run, Sink, Variant, What, Why, World, host};

/// How long a run goes on without a load, to see whether what is left arrives: a minute more than entries wait.
const REST_S: u64 = 360;

/// A first refusal that comes later, in seconds, is not traced.
const TRACE_S: u64 = 1_800;

/// Takes back what a run cannot say of changes, and says why: where it is not the incident, what a change makes of it says
/// nothing of the incident; and where it meets the measure of a cure without any change, in the first row, nothing is left
/// for a change to cure.
pub(super) fn judge(verdict: Verdict, rows: &mut [FixRow]) -> Option<String> {
    let is_well = rows.first().is_some_and(|it| it.cures == Some(true));
    let each = [
        (
            verdict == Verdict::Not,
            "the run does not reproduce the incident",
        ),
        (
            is_well,
            "the run without any change already meets the measure of a cure",
        ),
    ];
    let reasons: Vec<&str> = each.iter().filter(|it| it.0).map(|it| it.1).collect();
    if rows.is_empty() || reasons.is_empty() {
        return None;
    }
    for row in rows {
        row.cures = None;
    }
    Some(reasons.join(", and "))
}

impl Storm<'_> {
    /// The same load under each protocol, and a rest for what is left; the first is the one that it had.
    pub(super) fn fixes(&self, found: &Found) -> Vec<FixRow> {
        let own = self.variant.name();
        let fixes: &[&str] = if self.loads.is_some() {
            &["A", "B", "C1", "C3", "D", "E", "A+C3"]
        } else {
            &["A", "B", "D", "E"]
        };
        let mut names = vec![own.clone()];
        names.extend(fixes.iter().map(|fix| format!("{own}+{fix}")));
        if own != "v2" {
            names.push("v2".to_owned());
        }
        // Where it is open how many ledgers were in memory, a fix must do in all cases.
        let mut points = vec![found.best];
        if self.loads.is_some() && self.tables > 1 {
            points.extend(found.at_ends.iter().filter(|it| it[1] != found.best[1]));
        }
        let mut rows = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let Ok(variant) = Variant::parse(name) else {
                continue;
            };
            let tried = points.iter().filter_map(|it| self.tried(*it, variant));
            let tried: Vec<(bool, String)> = tried.collect();
            let mut outcomes = tried.iter().zip(&points).map(|((_, outcome), point)| {
                if points.len() == 1 {
                    return outcome.clone();
                }
                let [_, resident] = point;
                format!("{resident} of {} ledgers in memory: {outcome}", self.tables)
            });
            rows.push(FixRow {
                fix: if place == 0 {
                    format!("as it was ({name})")
                } else {
                    name.clone()
                },
                cures: Some(!tried.is_empty() && tried.iter().all(|it| it.0)),
                outcome: outcomes.by_ref().collect::<Vec<_>>().join("; "),
            });
        }
        rows
    }

    /// What a variant makes of it, and whether it is gone: hardly anything is missing when the load ends, and nothing later.
    fn tried(&self, point: [u64; 2], variant: Variant) -> Option<(bool, String)> {
        let is_read = self.loads.is_some();
        let scenario = self.scenario(point, if is_read { REST_S } else { 120 })?;
        let mut run = Run::new(&scenario, variant, 1, None);
        run.run_until(self.seconds * 1_000_000);
        let refused = run.tally.total(What::Refused, None);
        let finished = run.tally.total(What::Finished, None);
        let missing: usize = run.world.nodes.iter().map(|it| it.queue.len()).sum();
        run.finish();
        let converged = run.world.has_converged();
        let waiting = match missing {
            1 => "1 entry waits".to_owned(),
            many => format!("{many} entries wait"),
        };
        let end = match (converged, is_read) {
            (true, false) => "two minutes later everything arrives".to_owned(),
            (false, false) => "two minutes later parts are missing".to_owned(),
            (true, true) => format!("{waiting} when the load ends, none later"),
            (false, true) => {
                format!("{waiting} when the load ends, and some for good")
            }
        };
        // One in a hundred parts is under way at any time, of a small load three.
        let few = !is_read || missing <= 3.max(run.world.parts.len() / 100);
        Some((
            converged && few,
            format!("{refused} refused, {finished} finished; {end}"),
        ))
    }

    /// The first refusal, from the request to the next try.
    pub(super) fn trace(&self, point: [u64; 2]) -> Vec<String> {
        let Some(scenario) = self.scenario(point, 0) else {
            return Vec::new();
        };
        let mut notes: Vec<(u64, Note)> = Vec::new();
        let mut refused = None;
        let mut keep = |now, note: &Note, _: &World| {
            if refused.is_none() && notes.len() < 100_000 {
                notes.push((now, *note));
                if note.what == What::Refused {
                    refused = Some(note.part);
                }
            }
        };
        let sink: Sink<'_> = &mut keep;
        let mut run = Run::new(&scenario, self.variant, 1, Some(sink));
        run.run_until(self.seconds.min(TRACE_S) * 1_000_000);
        drop(run);
        let Some(part) = refused else {
            return Vec::new();
        };
        let told = notes.iter().filter(|it| it.1.part == part);
        let told = told.filter_map(|(at, note)| {
            let (node, ms) = (host(note.node), at / 1000);
            let what = words(note)?;
            Some(format!("{ms} ms, {node}: {what}"))
        });
        told.collect()
    }
}

/// What happens to a part, in words.
fn words(note: &Note) -> Option<String> {
    let known = [
        (What::Written, "the part is written"),
        (What::Queued, "an entry asks for the part"),
        (What::Fetching, "it asks another server for the part"),
        (What::Offered, "the source offers a relink"),
        (What::Relinking, "its own reference is written"),
        (What::No, "the source is asked to confirm and says `no`"),
        (
            What::Refused,
            "the relink is given up, its reference removed, and the entry waits for another try",
        ),
    ];
    if note.what == What::Unknown {
        let reason = usize::try_from(note.a).ok().and_then(|it| Why::ALL.get(it));
        let reason = reason.map_or("it cannot tell", |it| it.word());
        return Some(format!(
            "the source is asked to confirm and says `unknown`: {reason}"
        ));
    }
    let (_, words) = known.iter().find(|it| it.0 == note.what)?;
    Some((*words).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cures: &[bool]) -> Vec<FixRow> {
        let row = |it: &bool| FixRow {
            fix: "a".to_owned(),
            cures: Some(*it),
            outcome: "b".to_owned(),
        };
        cures.iter().map(row).collect()
    }

    #[test]
    fn a_change_is_judged_only_by_a_run_that_is_the_incident_and_ends_badly_without_it() {
        for (verdict, baseline, told) in [
            (Verdict::Reproduced, false, true),
            (Verdict::Partly, false, true),
            (Verdict::Not, false, false),
            (Verdict::Reproduced, true, false),
            (Verdict::Partly, true, false),
            (Verdict::Not, true, false),
        ] {
            let mut rows = rows(&[baseline, true, false]);
            let untold = judge(verdict, &mut rows);
            assert_eq!(untold.is_none(), told, "{verdict:?} {baseline}");
            let cures: Vec<Option<bool>> = rows.iter().map(|it| it.cures).collect();
            let expected = if told {
                [Some(false), Some(true), Some(false)]
            } else {
                [None; 3]
            };
            assert_eq!(cures, expected, "{verdict:?} {baseline}");
            let reason = untold.unwrap_or_default();
            assert_eq!(reason.contains("not reproduce"), verdict == Verdict::Not);
            assert_eq!(reason.contains("without any change"), baseline);
        }
        assert_eq!(judge(Verdict::Not, &mut []), None);
    }
}
