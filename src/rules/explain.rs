//! A rule's condition tree over one run: what passed, what failed, what could not be told, and by which numbers.

use super::NodeFacts;
use super::arrivals::ArrivalTest;
use super::condition::{Condition, CountTest, Scene};
use super::stalls::StallTest;
use super::times::TimeTest;
use super::{Rule, RuleBase, Verdict};
use crate::signals::tally::NodeTally;
use crate::time::SECOND;

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
            | Condition::Arrived(_)
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
            Condition::Arrived(test) => say(self.arrived(test)),
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

    fn arrived(&self, test: &ArrivalTest) -> String {
        let mut arrivals = self.rule.arrivals.iter();
        let named = arrivals.find(|(_, known)| known == test);
        let name = named.map_or("parts", |(name, _)| name);
        let all = test.over(&self.scene);
        format!(
            "all {name} that failed came in the end: of {} {} are missing, of {} it is not told",
            all.failed, all.missing, all.untold
        )
    }

    fn stall(&self, test: &StallTest) -> String {
        let name = |test: &StallTest| {
            let mut stalls = self.rule.stalls.iter();
            let is_it = |known: &StallTest| (known.stall, &known.wait) == (test.stall, &test.wait);
            let named = stalls.find(|(_, known)| is_it(known));
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
