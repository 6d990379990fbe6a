//! The steps of a small world in plain words.

use super::super::names::{NodeId, controller};
use super::super::node::{AppendEntries, Message, Step};
use super::super::world::World;
use super::small::{Event, State};

/// A way through the search, one sentence a step.
pub(super) fn tell(path: Vec<(State, Option<Event>)>) -> Vec<String> {
    let told = path.into_iter();
    told.filter_map(|(state, event)| event.map(|it| sentence(&state.world, &it)))
        .collect()
}

fn sentence(world: &World, event: &Event) -> String {
    match event {
        Event::Step(step) => step_sentence(world, step),
        Event::Lose(step) => format!("lost: {}", step_sentence(world, step)),
        Event::Write(node) => format!("a client writes at {}", controller(*node)),
        Event::Kill(node, 0) => format!("{} is killed", controller(*node)),
        Event::Kill(node, kept) => format!(
            "{} is killed; {kept} bytes that were not durable survive",
            controller(*node)
        ),
        Event::Start(node) => format!(
            "{} starts: it accepts connections and has not recovered",
            controller(*node)
        ),
        Event::Elect(node) => format!("{} stands for election", controller(*node)),
        Event::Tick(node) => format!("{} takes its turn as primary", controller(*node)),
    }
}

fn step_sentence(world: &World, step: &Step) -> String {
    match step {
        Step::Deliver { from, to, message } => delivered(world, *from, *to, message),
        Step::Recover { node, .. } => {
            let disk = &world.nodes[*node].disk;
            let last = disk.recoverable(false).last;
            format!("{} recovers and finds {last} as its end", controller(*node))
        }
        Step::Synced { node, .. } => format!("the disk of {} has everything", controller(*node)),
        Step::Election { node, .. } => format!("{} stands for election", controller(*node)),
        Step::Tick { node, .. } => format!("{} takes its turn as primary", controller(*node)),
        Step::Deadline { node, lsn, .. } => {
            format!("{}'s write {lsn} is past its deadline", controller(*node))
        }
    }
}

fn range(entries: &AppendEntries) -> String {
    match (entries.entries.first(), entries.entries.last()) {
        (Some(first), Some(last)) if first.lsn < last.lsn => {
            format!("{} to {}", first.lsn, last.lsn)
        }
        (Some(first), _) => first.lsn.to_string(),
        (None, _) => "a heartbeat".to_owned(),
    }
}

fn delivered(world: &World, from: NodeId, to: NodeId, message: &Message) -> String {
    let (sender, receiver) = (controller(from), controller(to));
    let before = if world.nodes[to].is_recovered() {
        ""
    } else {
        ", which has not recovered"
    };
    let what = match message {
        Message::Hello { .. } => "the hello".to_owned(),
        Message::Welcome { report, .. } => format!("the answer that it has {report}"),
        Message::Append(entries) => format!("{} behind {}", range(entries), entries.prev),
        Message::Batch(entries) => {
            format!("a stream of {} behind {}", range(entries), entries.prev)
        }
        Message::Push { entry, .. } => format!("the record {}", entry.lsn),
        Message::Snapshot { lsn, .. } => format!("a snapshot up to {lsn}"),
        Message::Ack { lsn, .. } => format!("the ACK of {lsn}"),
        Message::Nack { prev, .. } => format!("the NACK of what follows {prev}"),
        Message::AskVote { term, .. } => format!("the request for a vote in term {term}"),
        Message::Vote { is_granted, .. } if *is_granted => "the vote".to_owned(),
        Message::Vote { .. } => "the refusal of a vote".to_owned(),
    };
    format!("{what} of {sender} arrives at {receiver}{before}")
}
