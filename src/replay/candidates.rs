//! A server that stops answering beside a storm: what is suspected, and what can be said of it.

use super::storm::Records;
use super::{Candidate, Fact, Supported, fact};
use crate::engine::cas::{Tally, What};
use crate::report::model::Role;
use crate::report::model::tests::TestEvent;

/// HTTP handlers of a server, unless its configuration says otherwise.
const HANDLERS: u64 = 4096;
/// The fewest that anyone would run with: what one peer's fetches keep busy.
const HANDLERS_LEAST: u64 = 16;
/// Tries of a part from which on it is the tries that make a storm, and not the parts.
const AMPLIFIED: u64 = 2;

/// What is suspected of a storm beside which connections broke; nothing where none did. `handlers` says how many handlers
/// each server has at work at once in the run.
pub(super) fn candidates(
    records: Records<'_>,
    run: Option<&Tally>,
    handlers: impl FnOnce() -> Vec<u64>,
) -> Vec<Candidate> {
    let nodes = &records.finding.nodes;
    let resets: Vec<(String, u64)> = nodes
        .iter()
        .map(|node| (node.clone(), records.count("resets", node)))
        .filter(|it| it.1 > 0)
        .collect();
    if resets.is_empty() {
        return Vec::new();
    }
    let each = resets.iter().map(|(node, count)| format!("{node} {count}"));
    let each: Vec<String> = each.collect();
    let broken = fact(
        "connections that broke",
        each.join(", "),
        "the servers' records",
    );
    vec![
        saturation(&broken, run.map(|_| handlers())),
        amplification(records, run),
        memory(records),
    ]
}

/// Whether confirms and fetches keep every handler busy.
fn saturation(broken: &Fact, handlers: Option<Vec<u64>>) -> Candidate {
    let candidate = "HTTP handlers saturated by confirms and fetches".to_owned();
    let mut read = vec![broken.clone()];
    let Some(most) = handlers.and_then(|it| it.into_iter().max()) else {
        return Candidate {
            candidate,
            verdict: Supported::CannotTell,
            reason: "no run of this load ends, so nothing says how many handlers it takes"
                .to_owned(),
            read,
        };
    };
    let from = "the run, with as many handlers as it asks for";
    read.push(fact("handlers at work at once, at most", most, from));
    read.push(fact(
        "handlers of a server",
        HANDLERS,
        "the default; no record says it",
    ));
    let (verdict, reason) = if most < HANDLERS_LEAST {
        (
            Supported::Against,
            format!(
                "offers and confirms of such a storm keep at most {most} of a server's handlers busy at once: a pool that is full of them would be smaller than anyone's. What else may have held handlers is not in these records"
            ),
        )
    } else if most < HANDLERS {
        (
            Supported::CannotTell,
            format!(
                "offers and confirms keep up to {most} handlers busy: enough for a small pool, and its size is not in these records"
            ),
        )
    } else {
        (
            Supported::Supported,
            format!("offers and confirms ask for {most} handlers, more than there are by default"),
        )
    };
    Candidate {
        candidate,
        verdict,
        reason,
        read,
    }
}

/// Whether it is tries again that make the storm.
fn amplification(records: Records<'_>, run: Option<&Tally>) -> Candidate {
    let nodes = records.finding.nodes.iter();
    let (mut refused, mut parts, mut is_whole) = (0, 0, true);
    for node in nodes {
        refused += records.count("refused", node);
        if let Some(row) = records.awaited(node) {
            parts += row.things;
            is_whole &= row.beyond_cap == 0;
        }
    }
    let mut read = vec![
        fact("relinks refused", refused, "the receivers' records"),
        fact("different parts of them", parts, "the same records"),
    ];
    if let Some(run) = run {
        let predicted = run.total(What::Refused, None);
        let from = "the run: every refusal is tried again after a pause";
        read.push(fact("relinks refused in the run", predicted, from));
    }
    let candidate = "retry amplification".to_owned();
    let not_shown = "That it takes a server's HTTP down is not shown: larger storms ended without it, and nothing in these records ties the two";
    let (verdict, reason) = if parts == 0 || !is_whole {
        (
            Supported::CannotTell,
            "how many parts were tried is not known".to_owned(),
        )
    } else if refused >= AMPLIFIED * parts {
        let (whole, tenth) = (refused / parts, refused * 10 / parts % 10);
        (
            Supported::Supported,
            format!(
                "{refused} refusals are of {parts} parts, {whole}.{tenth} tries of each, and every try writes twice to the receiver's own table: the tries make the storm. {not_shown}"
            ),
        )
    } else {
        (
            Supported::Against,
            format!("{refused} refusals are of {parts} parts: few were tried twice"),
        )
    };
    Candidate {
        candidate,
        verdict,
        reason,
        read,
    }
}

/// Whether memory ran out.
fn memory(records: Records<'_>) -> Candidate {
    let nodes = &records.finding.nodes;
    let limits: u64 = nodes.iter().map(|it| records.count("memory", it)).sum();
    let mut read = vec![fact(
        "records of a limit on memory",
        limits,
        "the servers' records",
    )];
    let events = || records.report.tests.events.iter();
    let killed: Vec<&TestEvent> = events().filter(|it| it.kind == "out-of-memory").collect();
    let died: Vec<&TestEvent> = events()
        .filter(|it| it.kind == "killed" || it.kind == "server-died")
        .collect();
    let running: Vec<&TestEvent> = events()
        .filter(|it| it.kind == "container" && nodes.contains(&it.subject))
        .collect();
    for event in killed.iter().chain(&died).chain(&running) {
        let what = format!("{} {}", event.kind, event.subject);
        read.push(fact(&what, &event.text, &event.path));
    }
    let restarts = records.report.environment.iter();
    let restarts = restarts.filter(|it| it.run == records.finding.run && it.starts.len() > 1);
    let restarts = restarts.count();
    let reporters = records.report.nodes.iter();
    let reporters = reporters.filter(|it| it.role == Role::Reporter && it.records > 0);
    let from = format!("the starts in the records of {} servers", reporters.count());
    read.push(fact("servers that started again", restarts, &from));
    let (verdict, reason) = if let Some(event) = killed.first() {
        (
            Supported::Supported,
            format!(
                "{} ran out of memory, as {} says",
                event.subject, event.path
            ),
        )
    } else if limits > 0 {
        let reason = format!("{limits} records say that a limit on memory was reached");
        (Supported::Supported, reason)
    } else {
        let state = if running.is_empty() {
            "no state of a container is here"
        } else {
            "a container that is up says nothing of the process in it"
        };
        (
            Supported::CannotTell,
            format!(
                "nothing here shows it, and a server that the kernel kills writes nothing: {state}, and no log of the kernel. To tell, keep the kernel's log and what the container tool says of its end"
            ),
        )
    };
    Candidate {
        candidate: "memory, up to a kill by the kernel".to_owned(),
        verdict,
        reason,
        read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_are_judged_by_what_the_run_needs_of_them() {
        let broken = fact("connections that broke", "ch1 5", "");
        for (most, verdict) in [
            (Some(vec![3, 15]), Supported::Against),
            (Some(vec![16, 3]), Supported::CannotTell),
            (Some(vec![4_095]), Supported::CannotTell),
            (Some(vec![4_096]), Supported::Supported),
            (None, Supported::CannotTell),
        ] {
            assert_eq!(saturation(&broken, most).verdict, verdict);
        }
    }
}
