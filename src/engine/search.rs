//! A search through every order of events of a small world, within bounds and limits that it states.
//!
//! It knows no system: a small world says what can happen next and what is asked of each state. Whether everything
//! within the bounds was seen is said with what was found.

use std::hash::Hash;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use stateright::{Checker, Expectation, HasDiscoveries, Model, Property};

/// A search ends after this, finished or not.
pub const TIME_MAX: Duration = Duration::from_mins(10);

/// Where a search ends though it has not seen everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps tried, seen states among them.
    pub states: usize,
    /// How long it lasts, with the ways that it then looks for.
    pub time: Duration,
    /// Threads that search.
    pub threads: usize,
}

impl Limits {
    /// So many states within [`TIME_MAX`].
    pub fn new(states: usize, threads: usize) -> Self {
        Self {
            states,
            time: TIME_MAX,
            threads,
        }
    }
}

/// What a search found of one promise or one possibility.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What is asked.
    pub what: &'static str,
    /// Whether it must always hold; otherwise it is a possibility.
    pub is_promise: bool,
    /// A way to a state that breaks the promise or shows the possibility, in words.
    pub trace: Option<Vec<String>>,
    /// Whether no way within the bounds is shorter; a search that came to a limit may not know.
    pub is_shortest: bool,
}

/// What a search found.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// The protocol, or the defects that are there.
    pub variant: String,
    /// Different states seen.
    pub states: usize,
    /// The longest way to one of them.
    pub depth: usize,
    /// How far the search goes, in words.
    pub bounds: String,
    /// Whether all states within the bounds were seen: no limit ended the search.
    pub is_complete: bool,
    /// Promises and possibilities.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Whether no promise was seen broken.
    pub fn is_sound(&self) -> bool {
        self.findings
            .iter()
            .all(|it| !it.is_promise || it.trace.is_none())
    }

    /// Prints it for people.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{}: {} states, at most {} steps deep; {}",
            self.variant, self.states, self.depth, self.bounds
        )?;
        if !self.is_complete {
            writeln!(out, "Not all states within these bounds were seen.")?;
        }
        for finding in &self.findings {
            let word = match (finding.is_promise, &finding.trace) {
                (true, None) => "none found within these bounds that breaks",
                (true, Some(_)) => "BROKEN",
                (false, None) => "never seen",
                (false, Some(_)) => "possible",
            };
            writeln!(out, "\n{word}: {}", finding.what)?;
            if finding.trace.is_some() && !finding.is_shortest {
                writeln!(out, "  (there may be a shorter way)")?;
            }
            for (place, step) in finding.trace.iter().flatten().enumerate() {
                writeln!(out, "  {:>2}. {step}", place + 1)?;
            }
        }
        Ok(())
    }
}

/// Prints one search, or several as one array, for machines.
pub fn write_json<T: Serialize + ?Sized>(checked: &T, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, checked)?;
    writeln!(out)
}

/// A world whose every order of events is tried.
pub(super) trait SmallWorld:
    Model<State: Clone + Send + Sync + PartialEq + Hash, Action: Clone + Send + Sync + PartialEq>
    + Clone
    + Send
    + Sync
    + 'static
{
    /// The protocol, or the defects that are there.
    fn variant(&self) -> String;

    /// What there is and how far the search goes.
    fn words(&self) -> String;

    /// A way through the search in words.
    fn tell(path: Vec<(Self::State, Option<Self::Action>)>) -> Vec<String>;
}

/// Searches until all states within the bounds are seen, or a limit is reached.
pub(super) fn search<W: SmallWorld>(world: &W, limits: Limits) -> Checked {
    within(limits.time, |watch| {
        let checker = run(world, None, limits, watch);
        let properties = world.properties();
        // A question without a place was not asked.
        let is_asked = properties.len() <= QUESTIONS;
        let is_complete = is_asked && !watch.is_over() && checker.state_count() < limits.states;
        let mut findings = Vec::new();
        for (place, property) in properties.iter().enumerate() {
            let mut finding = Finding {
                what: property.name,
                is_promise: property.expectation == Expectation::Always,
                trace: None,
                is_shortest: false,
            };
            if let Some(found) = checker.discovery(property.name) {
                let shortest = way(world, place, limits, watch);
                finding.is_shortest = shortest.is_some();
                finding.trace = shortest.or_else(|| Some(W::tell(found.into_vec())));
            }
            findings.push(finding);
        }
        Checked {
            variant: world.variant(),
            states: checker.unique_state_count(),
            depth: checker.max_depth(),
            bounds: world.words(),
            is_complete,
            findings,
        }
    })
}

/// The shortest way to an answer, in words; none if there is none within the bounds and limits.
pub(super) fn shortest<W: SmallWorld>(
    world: &W,
    what: &str,
    limits: Limits,
) -> Option<Vec<String>> {
    let place = world.properties().iter().position(|it| it.name == what)?;
    within(limits.time, |watch| way(world, place, limits, watch))
}

/// A search with several questions keeps the last way that it finds; one with a single question and a single thread
/// ends at the first, which is the shortest.
fn way<W: SmallWorld>(
    world: &W,
    place: usize,
    limits: Limits,
    watch: &Arc<Watch>,
) -> Option<Vec<String>> {
    let limits = Limits {
        threads: 1,
        ..limits
    };
    let checker = run(world, Some(place), limits, watch);
    let what = world.properties().get(place)?.name;
    let path = checker.discovery(what)?;
    Some(W::tell(path.into_vec()))
}

fn run<W: SmallWorld>(
    world: &W,
    only: Option<usize>,
    limits: Limits,
    watch: &Arc<Watch>,
) -> impl Checker<Watched<W>> + use<W> {
    let watched = Watched {
        properties: world.properties(),
        world: world.clone(),
        only,
        watch: Arc::clone(watch),
    };
    let builder = watched
        .checker()
        .threads(limits.threads.max(1))
        .target_state_count(limits.states.max(1));
    let builder = match only {
        Some(_) => builder.finish_when(HasDiscoveries::Any),
        None => builder,
    };
    watch.is_searching.store(true, Ordering::SeqCst);
    let checker = builder.spawn_bfs().join();
    watch.is_searching.store(false, Ordering::SeqCst);
    checker
}

/// Whether a search goes on, and whether its time is over.
///
/// The checker has a time-out of its own, which a thread that never asks for more work does not see.
#[derive(Debug, Default)]
struct Watch {
    is_searching: AtomicBool,
    is_over: AtomicBool,
}

impl Watch {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// Whether nothing more is to be tried. A way that was found is walked again afterwards, whatever the time.
    fn ends(&self) -> bool {
        self.is_over() && self.is_searching.load(Ordering::SeqCst)
    }
}

/// Does some work that is told when its time is over.
fn within<T>(time: Duration, work: impl FnOnce(&Arc<Watch>) -> T) -> T {
    let watch = Arc::new(Watch::default());
    watch.is_over.store(time.is_zero(), Ordering::SeqCst);
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let watched = Arc::clone(&watch);
        scope.spawn(move || {
            if ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                watched.is_over.store(true, Ordering::SeqCst);
            }
        });
        let result = work(&watch);
        drop(done);
        result
    })
}

/// A small world with some of its questions, in which nothing happens any more when the time is over.
struct Watched<W: Model> {
    world: W,
    properties: Vec<Property<W>>,
    /// The only question that is asked; all if none is named.
    only: Option<usize>,
    watch: Arc<Watch>,
}

impl<W: SmallWorld> Model for Watched<W> {
    type State = W::State;
    type Action = W::Action;

    fn init_states(&self) -> Vec<W::State> {
        self.world.init_states()
    }

    fn actions(&self, state: &W::State, actions: &mut Vec<W::Action>) {
        if !self.watch.ends() {
            self.world.actions(state, actions);
        }
    }

    fn next_state(&self, last: &W::State, action: W::Action) -> Option<W::State> {
        self.world.next_state(last, action)
    }

    fn within_boundary(&self, state: &W::State) -> bool {
        self.world.within_boundary(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let ask: [fn(&Self, &W::State) -> bool; QUESTIONS] = [
            asked::<W, 0>,
            asked::<W, 1>,
            asked::<W, 2>,
            asked::<W, 3>,
            asked::<W, 4>,
            asked::<W, 5>,
            asked::<W, 6>,
            asked::<W, 7>,
            asked::<W, 8>,
            asked::<W, 9>,
            asked::<W, 10>,
            asked::<W, 11>,
        ];
        let all = self.properties.iter().zip(ask).enumerate();
        let mut properties: Vec<Property<Self>> = all
            .filter(|(place, _)| self.only.is_none_or(|only| only == *place))
            .map(|(_, (property, condition))| Property {
                expectation: property.expectation.clone(),
                name: property.name,
                condition,
            })
            .collect();
        if self.only.is_none() {
            // The checker ends when every question has its answer; this one never has, so that every state is seen.
            properties.push(Property::<Self>::always("", |_, _| true));
        }
        properties
    }
}

/// Questions that a small world has at most.
const QUESTIONS: usize = 12;

/// The checker takes functions without a state, so a question is named by its place.
fn asked<W: SmallWorld, const PLACE: usize>(watched: &Watched<W>, state: &W::State) -> bool {
    watched
        .properties
        .get(PLACE)
        .is_none_or(|it| (it.condition)(&watched.world, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One and two are added to a number until it is past a limit.
    #[derive(Debug, Clone)]
    struct Adding {
        until: u64,
    }

    impl SmallWorld for Adding {
        fn variant(&self) -> String {
            "adding".to_owned()
        }

        fn words(&self) -> String {
            format!("up to {}", self.until)
        }

        fn tell(path: Vec<(u64, Option<u64>)>) -> Vec<String> {
            let steps = path.iter().filter_map(|it| it.1);
            steps.map(|it| format!("+{it}")).collect()
        }
    }

    impl Model for Adding {
        type State = u64;
        type Action = u64;

        fn init_states(&self) -> Vec<u64> {
            vec![0]
        }

        fn actions(&self, state: &u64, actions: &mut Vec<u64>) {
            if *state < self.until {
                actions.extend([1, 2]);
            }
        }

        fn next_state(&self, last: &u64, action: u64) -> Option<u64> {
            Some(last + action)
        }

        fn properties(&self) -> Vec<Property<Self>> {
            vec![
                Property::<Self>::always("below seven", |_, it| *it < 7),
                Property::<Self>::always("below a hundred", |_, it| *it < 100),
                Property::<Self>::sometimes("four", |_, it| *it == 4),
            ]
        }
    }

    fn limits(states: usize, time: Duration) -> Limits {
        Limits {
            time,
            ..Limits::new(states, 1)
        }
    }

    #[test]
    fn everything_within_the_bounds_is_seen_and_ways_are_shortest() {
        let checked = search(&Adding { until: 10 }, limits(1000, TIME_MAX));
        // Nine and two are eleven: the numbers from 0 to 11.
        assert_eq!((checked.states, checked.is_complete), (12, true));
        assert!(!checked.is_sound());
        let steps: Vec<Option<usize>> = checked
            .findings
            .iter()
            .map(|it| it.trace.as_ref().map(Vec::len))
            .collect();
        // Seven or eight take four steps, and four takes two.
        assert_eq!(steps, [Some(4), None, Some(2)]);
        assert!(checked.findings[0].is_shortest);
    }

    #[test]
    fn a_limit_that_was_reached_is_said() {
        let few = search(&Adding { until: 10 }, limits(5, TIME_MAX));
        assert!(!few.is_complete, "{few:?}");
        let late = search(&Adding { until: 10 }, limits(1000, Duration::ZERO));
        assert!(!late.is_complete && late.states < 12, "{late:?}");
        let mut said = Vec::new();
        late.write_text(&mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("Not all states within these bounds were seen."));
    }

    #[test]
    fn a_search_without_an_end_ends_with_its_time() {
        let endless = Adding { until: u64::MAX };
        let checked = search(&endless, limits(usize::MAX, Duration::from_millis(20)));
        assert!(!checked.is_complete, "{} states", checked.states);
    }
}
