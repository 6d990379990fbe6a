//! A rule's condition tree over one run: what passed, what failed, what could not be told, and by which numbers.

use super::NodeFacts;
use super::condition::{Condition, CountTest, Scene};
use super::stalls::StallTest;
use super::times::TimeTest;
use super::{Rule, RuleBase, Verdict};
use crate::parsers::Format;
use crate::signals::tally::NodeTally;
use crate::signals::{Check, Subject};
use crate::time::SECOND;

/// A signal that the rule counts, the checks of the record against it, and which of the rule's counts take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The signal's id.
    pub signal: String,
    /// The checks, up to the first that fails.
    pub checks: Vec<Check>,
    /// The counts and stalls of the signal; none where a check failed.
    pub counts: Vec<Taken>,
}

/// Whether a count takes a record that is its signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The count's name.
    pub count: String,
    /// Whether its `where` holds; `None` where that takes another record to tell.
    pub holds: Option<bool>,
    /// What its `where` asks, and what the record has; empty where it asks nothing.
    pub text: String,
}

impl Traced {
    /// Whether the record counts: it is the signal, and some count takes it.
    pub fn counts(&self) -> bool {
        let is_signal = self.checks.iter().all(|check| check.passed);
        let is_left_out = !self.counts.is_empty();
        is_signal && !(is_left_out && self.counts.iter().all(|it| it.holds == Some(false)))
    }
}

/// Checks a record against every signal that a rule counts.
pub fn trace_record(
    base: &RuleBase,
    rule: &Rule,
    format: Format,
    subject: Subject<'_, '_>,
) -> Vec<Traced> {
    let counts = rule
        .counts
        .iter()
        .filter_map(|(_, counter)| base.counters[*counter].signal);
    let stalls = rule.stalls.iter();
    let stalls = stalls.map(|(_, test)| base.stalls[test.stall].signal);
    let mut signals: Vec<u16> = counts.chain(stalls).collect();
    signals.sort_unstable();
    signals.dedup();
    let trace = |&index: &u16| {
        let signal = base.signals.signal(index);
        let checks = trace_signal(base, index, format, subject);
        let values = checks
            .iter()
            .all(|check| check.passed)
            .then(|| signal.values(format, subject))
            .flatten();
        Traced {
            signal: signal.id.clone(),
            checks,
            counts: values.map_or_else(Vec::new, |values| taken(base, rule, index, &values)),
        }
    };
    signals.iter().map(trace).collect()
}

/// Checks a record against a signal.
pub fn trace_signal(
    base: &RuleBase,
    index: u16,
    format: Format,
    subject: Subject<'_, '_>,
) -> Vec<Check> {
    let signal = base.signals.signal(index);
    if signal.formats.contains(&format) {
        return signal.trace(format, subject);
    }
    let names = signal.formats.iter().map(|format| format.spec().name);
    let names: Vec<&str> = names.collect();
    let text = format!(
        "the file's format is {}: it is {}",
        names.join(" or "),
        format.spec().name
    );
    vec![Check {
        passed: false,
        text,
    }]
}

/// Which of a rule's counts and stalls of a signal take a record with these values.
fn taken(base: &RuleBase, rule: &Rule, index: u16, values: &[String]) -> Vec<Taken> {
    let signal = base.signals.signal(index);
    let counts = rule.counts.iter();
    let counts = counts.filter(|(_, counter)| base.counters[*counter].signal == Some(index));
    let counts = counts.map(|(name, counter)| {
        let filters = &base.counters[*counter].filters;
        let mut asked = Vec::new();
        let mut holds = Some(true);
        for (field, accepted) in filters {
            let (name, value) = (&signal.fields[*field].name, &values[*field]);
            let wanted = accepted.join(" or ");
            if signal.is_taken(*field) {
                asked.push(format!("{name} is {wanted}: another record tells it"));
                holds = holds.filter(|holds| !holds);
                continue;
            }
            asked.push(format!("{name} is {wanted}: the record's is {value:?}"));
            if !accepted.contains(value) {
                holds = Some(false);
            }
        }
        Taken {
            count: name.clone(),
            holds,
            text: asked.join(", "),
        }
    });
    let stalls = rule.stalls.iter();
    let stalls = stalls.filter(|(_, test)| base.stalls[test.stall].signal == index);
    let stalls = stalls.map(|(name, _)| Taken {
        count: name.clone(),
        holds: Some(true),
        text: String::new(),
    });
    counts.chain(stalls).collect()
}

/// A line of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// How deep it stands.
    pub depth: usize,
    /// Whether it holds.
    pub state: State,
    /// What is asked, and what is there.
    pub text: String,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not have been observed.
    Unknown,
}

impl From<Option<bool>> for State {
    fn from(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => Self::Holds,
            Some(false) => Self::Fails,
            None => Self::Unknown,
        }
    }
}

/// Explains a rule over nodes of one run: its condition, then its verdicts up to the one that is given.
pub fn explain(base: &RuleBase, rule: &Rule, facts: &[&NodeFacts]) -> Vec<Explained> {
    let nodes: Vec<&NodeTally> = facts.iter().map(|facts| &facts.tally).collect();
    let scene = Scene {
        nodes: &nodes,
        counters: &base.counters,
        signals: &base.signals,
    };
    let teller = Teller { base, rule, scene };
    let mut lines = Vec::new();
    teller.tell(&rule.when, 0, &mut lines);
    if rule.when.holds(&scene) == Some(true) {
        for verdict in &rule.verdicts {
            let given = verdict
                .when
                .as_ref()
                .is_none_or(|when| when.holds(&scene) == Some(true));
            teller.verdict(verdict, given, &mut lines);
            if given {
                break;
            }
        }
    }
    lines
}

/// Why a rule keeps silent over nodes of one run: the first part of its condition that does not hold.
pub fn blame(base: &RuleBase, rule: &Rule, facts: &[&NodeFacts]) -> Option<String> {
    let nodes: Vec<&NodeTally> = facts.iter().map(|facts| &facts.tally).collect();
    let scene = Scene {
        nodes: &nodes,
        counters: &base.counters,
        signals: &base.signals,
    };
    let teller = Teller { base, rule, scene };
    let is_against = |it: &Condition| it.holds(&scene) != Some(true);
    is_against(&rule.when).then(|| teller.blamed(&rule.when))
}

struct Teller<'a> {
    base: &'a RuleBase,
    rule: &'a Rule,
    scene: Scene<'a>,
}

impl Teller<'_> {
    /// The first single condition because of which one does not hold.
    fn blamed(&self, condition: &Condition) -> String {
        let holds = |part: &&Condition| part.holds(&self.scene);
        let part = match condition {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().find(|part| holds(part) != Some(true))
            }
            Condition::None(parts) => {
                let part = parts.iter().find(|part| holds(part) != Some(false));
                return part.map_or_else(String::new, |part| {
                    format!("none of these holds, and one does: {}", self.first(part))
                });
            }
            Condition::AtMost { .. }
            | Condition::Share { .. }
            | Condition::Count(_)
            | Condition::Time(_) => None,
        };
        part.map_or_else(|| self.first(condition), |part| self.blamed(part))
    }

    /// What is told of a condition first.
    fn first(&self, condition: &Condition) -> String {
        let mut lines = Vec::new();
        self.tell(condition, 0, &mut lines);
        let first = lines.into_iter().next();
        first.map_or_else(String::new, |line| line.text)
    }

    fn verdict(&self, verdict: &Verdict, given: bool, lines: &mut Vec<Explained>) {
        let text = format!(
            "verdict {} ({})",
            verdict.severity.word(),
            verdict.confidence.word()
        );
        let state = if given { State::Holds } else { State::Fails };
        lines.push(Explained {
            depth: 0,
            state,
            text,
        });
        if let Some(when) = &verdict.when {
            self.tell(when, 1, lines);
        }
    }

    fn tell(&self, condition: &Condition, depth: usize, lines: &mut Vec<Explained>) {
        let state = State::from(condition.holds(&self.scene));
        let mut say = |text: String| lines.push(Explained { depth, state, text });
        match condition {
            Condition::All(_) => say("all of these hold".to_owned()),
            Condition::Any(_) => say("any of these holds".to_owned()),
            Condition::None(_) => say("none of these holds".to_owned()),
            Condition::AtMost { counter, count } => {
                let seen = if state == State::Unknown {
                    ", but not every node's log would show it"
                } else {
                    ""
                };
                say(format!(
                    "{} at most {count}: it is {}{seen}",
                    self.count(*counter),
                    self.scene.sum(*counter)
                ));
            }
            Condition::Share {
                counter,
                of,
                at_least,
                below,
            } => say(self.share(*counter, of, *at_least, *below)),
            Condition::Count(test) => say(self.count_test(test)),
            Condition::Time(test) => say(self.time_test(test)),
        }
        if let Condition::All(parts) | Condition::Any(parts) | Condition::None(parts) = condition {
            for part in parts {
                self.tell(part, depth + 1, lines);
            }
        }
    }

    /// The rule's name for a counter, with its signal.
    fn count(&self, counter: usize) -> String {
        let named = self.rule.counts.iter().find(|(_, known)| *known == counter);
        let signal = self.base.counters[counter].signal;
        let what = signal.map_or("problems of WALs", |at| &self.base.signals.signal(at).id);
        named.map_or_else(|| what.to_owned(), |(name, _)| format!("{name} ({what})"))
    }

    fn by_node(&self, counter: usize) -> String {
        let counts = self
            .scene
            .nodes
            .iter()
            .map(|node| (&node.node, node.counters[counter].all.count));
        let told: Vec<String> = counts
            .filter(|(_, count)| *count > 0)
            .map(|(node, count)| format!("{node} {count}"))
            .collect();
        if told.is_empty() {
            "nowhere".to_owned()
        } else {
            told.join(", ")
        }
    }

    fn share(
        &self,
        counter: usize,
        of: &[usize],
        at_least: Option<f64>,
        below: Option<f64>,
    ) -> String {
        let whole: Vec<String> = of.iter().map(|&counter| self.count(counter)).collect();
        let bounds = [
            at_least.map(|b| format!("at least {:.0} %", b * 100.0)),
            below.map(|b| format!("below {:.0} %", b * 100.0)),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let value = self
            .scene
            .share(counter, of)
            .map_or("nothing to share".to_owned(), |share| {
                format!("it is {:.1} %", share * 100.0)
            });
        format!(
            "share of {} in {} {}: {value}",
            self.count(counter),
            whole.join(" + "),
            bounds.join(" and ")
        )
    }

    fn count_test(&self, test: &CountTest) -> String {
        match test {
            CountTest::AtLeast { counter, count } => {
                format!(
                    "{} at least {count}: it is {} ({})",
                    self.count(*counter),
                    self.scene.sum(*counter),
                    self.by_node(*counter)
                )
            }
            CountTest::OnNodes {
                counter,
                count,
                nodes,
            } => {
                format!(
                    "{} at least {count} on {}: it is {}",
                    self.count(*counter),
                    of_nodes(*nodes),
                    self.by_node(*counter)
                )
            }
            CountTest::Within {
                counter,
                window,
                nodes,
            } => {
                let window = self.base.counters[*counter].windows[*window];
                let name = self.count(*counter);
                let width = seconds(window.within);
                format!(
                    "{name} at least {} within {width} on {}: in all it is {}",
                    window.at_least,
                    of_nodes(*nodes),
                    self.by_node(*counter)
                )
            }
            CountTest::Alone { counters } => {
                let of = |&counter: &usize| {
                    format!("{} ({})", self.count(counter), self.by_node(counter))
                };
                let counts: Vec<String> = counters.iter().map(of).collect();
                format!(
                    "one node alone has any of {}, and the log of another covers that time",
                    counts.join(", ")
                )
            }
            CountTest::Observable { counter } => format!(
                "{} could have been seen on every node",
                self.count(*counter)
            ),
        }
    }

    fn time_test(&self, test: &TimeTest) -> String {
        match test {
            TimeTest::Stall(test) => self.stall(test),
            TimeTest::Together { counter, within } => {
                let (name, width) = (self.count(*counter), seconds(*within));
                let found = self.by_node(*counter);
                format!(
                    "{name} on every node whose log covers it, at least two, within {width}: in all it is {found}"
                )
            }
            TimeTest::Sequence {
                counters, within, ..
            } => {
                let names: Vec<String> = counters
                    .iter()
                    .map(|&counter| self.count(counter))
                    .collect();
                format!(
                    "{} in this order within {}",
                    names.join(", then "),
                    seconds(*within)
                )
            }
            TimeTest::Silence {
                lasting,
                then,
                within,
                ..
            } => {
                let gaps = self.scene.nodes.iter().flat_map(|node| &node.gaps);
                let longest = gaps.map(|(from, to)| to.0 - from.0).max();
                let found = longest.map_or("no log is silent for long".to_owned(), |gap| {
                    format!("the longest silence is {}", seconds(gap))
                });
                let (least, width, then) = (seconds(*lasting), seconds(*within), self.count(*then));
                format!("silence of at least {least}, then {then} within {width}: {found}")
            }
        }
    }

    fn stall(&self, test: &StallTest) -> String {
        let name = |test: &StallTest| {
            let mut stalls = self.rule.stalls.iter();
            let named = stalls.find(|(_, known)| known.stall == test.stall);
            named.map_or("the position", |(name, _)| name)
        };
        let any = StallTest {
            repeats: 0,
            lasting: 0,
            ..test.clone()
        };
        let nodes = self.scene.nodes;
        let longest = test.longest(nodes).or_else(|| any.longest(nodes));
        let found = longest.map_or("nothing repeats".to_owned(), |(node, stall)| {
            let (times, width) = (stall.repeats, seconds(stall.duration()));
            format!("the longest is {times} times over {width} at {}", node.node)
        });
        let during = test.during.as_ref().map(|during| name(&during.other));
        let during = during.map_or_else(String::new, |other| format!(" during {other}"));
        let (name, repeats, width) = (name(test), test.repeats, seconds(test.lasting));
        format!("{name} stands still at least {repeats} times over {width}{during}: {found}")
    }
}

/// A number of nodes in words.
fn of_nodes(count: u64) -> String {
    if count == 1 {
        "one node".to_owned()
    } else {
        format!("{count} nodes")
    }
}

/// Microseconds as seconds.
#[expect(clippy::cast_precision_loss, reason = "printed to a tenth of a second")]
fn seconds(micros: i64) -> String {
    format!("{:.1} s", micros as f64 / SECOND as f64)
}
