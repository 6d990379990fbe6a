//! What each group is among the others, and why, in words.

use super::cause::{How, Scene, Tie, causes};
use super::groups::{Group, Role};
use crate::parsers::ci::{Event, EventKind, Leaf};
use crate::rules::schema::FailureKind;
use crate::vocab::several;

/// Parts named of a tie.
const PARTS_MAX: usize = 4;

/// Says what a group is among the others.
pub(super) fn settle(
    scene: &Scene<'_>,
    group: &mut Group,
    cause: Option<usize>,
    primary: Option<usize>,
) {
    let Some(leaf) = group
        .leaves
        .first()
        .map(|(row, at)| &scene.rows[*row].run.leaves[*at])
    else {
        return;
    };
    let kind = scene.base.failure(leaf.exception.as_deref(), &leaf.message);
    let fate = kind.map(|kind| kind.kind);
    let what = kind.map(|kind| kind.what.trim_end_matches('.'));
    let is_waiting = matches!(fate, Some(FailureKind::Timeout | FailureKind::Connection));
    let Some(at) = cause else {
        let stopped = is_waiting.then(|| stop_before(scene, leaf)).flatten();
        group.role = match fate {
            _ if stopped.is_some() => Role::Collateral,
            Some(FailureKind::Infrastructure) => Role::Infrastructure,
            Some(FailureKind::Defect) => Role::Separate,
            Some(FailureKind::Timeout | FailureKind::Connection) | None => Role::Unknown,
        };
        group.why = untied(scene, what, stopped);
        if let Some(tie) = group.ties.first() {
            group.why = tied(tie, group.leaves.len());
        }
        say_what_is_not_said(group);
        return;
    };
    let finding = &scene.conclusions.findings[at];
    let is_main = primary.is_some_and(|primary| is_one_incident(scene, at, primary));
    // A finding may explain the one that a group is tied to.
    let own = group.ties.iter().find(|tie| tie.finding == finding.id);
    let tie = match (group.ties.first(), own) {
        (Some(first), Some(own)) if own.how <= first.how && own.leaves >= first.leaves => Some(own),
        (first, own) => first.or(own),
    };
    let is_ground = matches!(finding.category.as_str(), "infrastructure" | "resources");
    group.role = match (is_ground, is_main, tie.map(|tie| tie.how)) {
        (true, ..) => Role::Infrastructure,
        (false, true, Some(How::Parts)) => Role::Cause,
        (false, true, Some(How::Death)) => Role::Collateral,
        (false, true, _) if is_waiting => Role::Collateral,
        (false, true, _) => Role::Cause,
        (false, false, _) => Role::Separate,
    };
    let tied = tie.map_or_else(String::new, |tie| tied(tie, group.leaves.len()));
    let what = what.map_or_else(String::new, |what| format!("{what}. "));
    let explains = tie.filter(|tie| tie.finding != finding.id);
    let explains = explains.map_or_else(String::new, |tie| {
        let through = if tie.how == How::Parts {
            ": its records name the same parts"
        } else {
            ""
        };
        format!(". {} explains {}{through}", finding.id, tie.finding)
    });
    group.why = format!("{what}{tied}{explains}");
    say_what_is_not_said(group);
}

/// Leaves whose source has no message share a class at most, and need not be one failure.
fn say_what_is_not_said(group: &mut Group) {
    if group.signature.says_nothing() && group.leaves.len() > 1 {
        group.why.push_str(
            ". Their source names no more than this, so whether they are one failure is not known",
        );
    }
}

/// Whether two findings belong to one incident, or one explains the other by what the rules declare.
fn is_one_incident(scene: &Scene<'_>, a: usize, b: usize) -> bool {
    let findings = &scene.conclusions.findings;
    let both = |ids: &[String]| ids.contains(&findings[a].id) && ids.contains(&findings[b].id);
    a == b
        || causes(scene, a).contains(&b)
        || causes(scene, b).contains(&a)
        || scene
            .conclusions
            .incidents
            .iter()
            .any(|incident| both(&incident.findings))
}

/// What a source beside the tests says happened before a leaf ended and ends servers.
fn stop_before<'s>(scene: &'s Scene<'_>, leaf: &Leaf) -> Option<&'s Event> {
    let is_stop = |event: &Event| {
        matches!(
            event.kind,
            EventKind::ServerDied | EventKind::OutOfMemory | EventKind::Unreachable
        )
    };
    let mut events = scene
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| is_stop(event));
    events.find(|event| match (event.at, leaf.ended) {
        (Some(at), Some(ended)) => at.clock == ended.clock && at.at <= ended.at,
        _ => false,
    })
}

/// Why a group without a finding is what it is.
fn untied(scene: &Scene<'_>, what: Option<&str>, stopped: Option<&Event>) -> String {
    let what = what.map_or_else(String::new, |what| format!("{what}. "));
    if let Some(event) = stopped {
        return format!(
            "{what}Before it ended: {} ({})",
            event.text,
            event.kind.word()
        );
    }
    if scene.nodes.iter().all(|facts| facts.tally.records == 0) {
        return format!(
            "{what}No server's log is here, so what the servers did meanwhile is not known"
        );
    }
    format!("{what}No finding names its tables, its parts or its error's code")
}

/// What ties the leaves of a group to a finding, in words.
fn tied(tie: &Tie, leaves: usize) -> String {
    let leaves = several(leaves, "leaf", "leaves");
    let (id, of) = (&tie.finding, format!("{} of {leaves}", tie.leaves));
    let each = several(tie.records, "record", "records");
    let codes = tie.code.map_or_else(String::new, |code| code.to_string());
    match tie.how {
        How::Parts => {
            let parts = tie.by_part();
            let named: Vec<String> = parts
                .iter()
                .take(PARTS_MAX)
                .map(|(part, count)| format!("{part} {}", several(*count, "time", "times")))
                .collect();
            let more = parts.len().saturating_sub(PARTS_MAX);
            let more = if more > 0 {
                format!(", {}", several(more, "more part", "more parts"))
            } else {
                String::new()
            };
            format!(
                "The rows missing in {of} lie in partitions whose parts records of {id} name for these leaves' own tables: {}{more}",
                named.join(", ")
            )
        }
        How::Record => {
            format!("Records of {id} with Code {codes} name the tables of {of} (up to {each} each)")
        }
        How::Death => format!("{id}: the server died before {of} ended, and was gone"),
        How::Table if !tie.is_timed => format!(
            "Records of {id} name the tables of {of} (up to {each} each); when the leaves ran is not observable",
        ),
        How::Table => {
            format!("Records of {id} name the tables of {of} while they ran (up to {each} each)")
        }
        How::Code => {
            let alike = if tie.is_same_text {
                format!("is that of {id}, Code {codes}")
            } else {
                format!("has the Code {codes} of {id}, and the number is all they share")
            };
            let then = if tie.is_weak() {
                "; when the leaves ran is not observable, so nothing shows that it was then"
            } else {
                ""
            };
            format!("The error of {of} {alike}; no record names their tables{then}")
        }
    }
}
