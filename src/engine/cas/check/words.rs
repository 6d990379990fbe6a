//! The steps of a small world in plain words.

use super::super::gc::Life;
use super::super::ledger::{Act, Answer, Item};
use super::super::world::{Outcome, Step, World};
use super::small::{Event, State};

/// A way through the search, one sentence a step; what changes nothing that matters is left out.
pub(super) fn tell(path: Vec<(State, Option<Event>)>) -> Vec<String> {
    let mut told = Vec::new();
    for (state, event) in path {
        if let Some(event) = event {
            told.extend(sentence(&state.world, event));
        }
    }
    told
}

fn server(node: usize) -> &'static str {
    if node == 0 {
        "the source"
    } else {
        "the receiver"
    }
}

fn part(number: usize) -> &'static str {
    if number == 0 {
        "the part"
    } else {
        "the covering part"
    }
}

fn sentence(world: &World, event: Event) -> Option<String> {
    match event {
        Event::Cover => Some(
            "the source merges the part into one that covers it, and writes that reference"
                .to_owned(),
        ),
        Event::Evict(node) => Some(format!("{}'s ledger is evicted", server(node))),
        Event::Restart(node) => Some(format!("{} is killed and starts again", server(node))),
        Event::Step(step, outcome) => step_sentence(world, step, outcome),
    }
}

fn step_sentence(world: &World, step: Step, outcome: Outcome) -> Option<String> {
    let task = |ticket: super::super::Ticket| {
        let slots = world.nodes.get(ticket.node).map(|it| &it.slots);
        slots.and_then(|it| it.get(ticket.slot)).copied().flatten()
    };
    let name = |ticket| task(ticket).map_or("the part", |it| part(it.part));
    let lost = outcome != Outcome::Done;
    let text = match step {
        Step::LogAnswered { lane, epoch } => return log(world, lane, epoch, outcome),
        Step::FrontierAnswered { lane, .. } if lost => format!(
            "{} cannot publish its frontier: its ledger needs recovery",
            server(lane)
        ),
        Step::Resolved { lane, .. } => {
            format!("{} finds the open append durable after all", server(lane))
        }
        Step::Recovered { lane, .. } => format!("{} recovers its ledger", server(lane)),
        Step::Due { .. } => "the receiver tries the entry again".to_owned(),
        Step::Offer(_) if lost => "the request for an offer is lost".to_owned(),
        Step::Offer(ticket) => format!("the source offers a relink of {}", name(ticket)),
        Step::Offered(_) if lost => "the offer is lost".to_owned(),
        Step::Confirm(_) if lost => "the confirm is lost".to_owned(),
        Step::Confirm(ticket) => confirm(world, ticket),
        Step::Confirmed(_) if lost => "the answer is lost".to_owned(),
        Step::Confirmed(ticket) => {
            let is_yes = task(ticket).is_some_and(|it| it.answer == Some(Answer::Yes));
            let next = if is_yes { "promote" } else { "abort" };
            format!("the receiver has the answer and begins to {next}")
        }
        Step::BytesAsked(_) if lost => "the request for bytes is lost".to_owned(),
        Step::BytesAsked(ticket) => format!("the receiver asks for the bytes of {}", name(ticket)),
        Step::BytesArrived(_) => "the bytes arrive".to_owned(),
        Step::GcRead { lane: 1 } => return round(world),
        Step::GcDelete if deletes(world) => "the collector deletes the blob".to_owned(),
        Step::GcDelete
        | Step::GcRead { .. }
        | Step::GcDecide
        | Step::Clean { .. }
        | Step::Pull { .. }
        | Step::Offered(_)
        | Step::FrontierAnswered { .. }
        | Step::Carve { .. }
        | Step::HandlerFree { .. }
        | Step::Merged(_)
        | Step::Rescan { .. }
        | Step::Renew { .. }
        | Step::Renewed { .. }
        | Step::Claim { .. }
        | Step::Claimed { .. }
        | Step::CatalogRead { .. }
        | Step::CatalogWrite { .. }
        | Step::CatalogAgain { .. }
        | Step::Reopen { .. } => return None,
    };
    Some(text)
}

fn deletes(world: &World) -> bool {
    let doomed = |it: &super::super::Blob| matches!(it.life, Life::Doomed(_));
    world.blobs.iter().any(doomed)
}

/// What a round will make of the part's blob, once it has read the last namespace.
fn round(world: &World) -> Option<String> {
    let receiver = world.lanes.get(1);
    let is_seen =
        world.gc.seen.contains(&0) || receiver.is_some_and(|it| it.stream.owners.contains_key(&0));
    if is_seen {
        return None;
    }
    let number = world.gc.round + 1;
    let next = match world.blobs.first()?.life {
        Life::Live => "sees no reference to the blob: it is condemned",
        Life::Condemned => "sees none either: it graduates",
        Life::Pending(_) | Life::Doomed(_) => "sees none again: it is about to be deleted",
        Life::Unseen => return None,
    };
    Some(format!("round {number} of the collector {next}"))
}

fn log(world: &World, lane: usize, epoch: u32, outcome: Outcome) -> Option<String> {
    let flight = world
        .lanes
        .get(lane)
        .and_then(|it| it.stream.flight.as_ref());
    let items = flight
        .filter(|it| it.0 == epoch)
        .map_or(&[][..], |it| &it.1);
    // That the covering part is written was said when the merge began.
    let is_cover = items.iter().all(|it| matches!(it.act, Act::Create(_)));
    if is_cover && outcome == Outcome::Done {
        return None;
    }
    let acts: Vec<String> = items.iter().map(act).collect();
    let what = format!("{}'s {}", server(lane), acts.join(" and "));
    let text = match outcome {
        Outcome::Done => format!("{what} is durable, and not yet installed"),
        Outcome::Failed => format!("{what} is refused"),
        Outcome::Open(true) => format!("{what} is durable, and the answer is lost"),
        Outcome::Open(false) => format!("{what} is lost on its way, and so is the answer"),
    };
    Some(text)
}

fn act(item: &Item) -> String {
    let what = match item.act {
        Act::Create(_) => "reference",
        Act::Stage(_) => "own reference (+1)",
        Act::Promote => "promotion",
        Act::Unstage => "removal of its +1",
        Act::Remove => "removal of the reference",
    };
    format!("{what} of {}", part(item.part))
}

fn confirm(world: &World, ticket: super::super::Ticket) -> String {
    let slots = world.nodes.get(ticket.node).map(|it| &it.slots);
    let task = slots.and_then(|it| it.get(ticket.slot)).copied().flatten();
    let Some((task, offered)) = task.and_then(|it| it.offered.map(|offered| (it, offered))) else {
        return "a confirm arrives for a fetch that is over".to_owned();
    };
    match world.answer(task.source, task.part, offered) {
        Answer::Yes => format!("the source answers yes for {}", part(task.part)),
        Answer::No(why) => format!("the source answers no: {}", why.word()),
        Answer::Unknown(why) => format!("the source answers unknown: {}", why.word()),
    }
}
