//! What is said of an id that is not there: what else it is the id of, and what is written almost so.

use super::RuleBase;
use super::schema::RuleDecl;

/// What an id must be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A rule.
    Rule,
    /// A signal.
    Signal,
    /// Either.
    Either,
}

/// Ids that are named where none is right.
const NEAR_MAX: usize = 3;

/// Says that nothing of this kind is called `name`, and what to write instead.
pub fn unknown_name(base: &RuleBase, wanted: Wanted, name: &str) -> String {
    let declared = &base.declared;
    let rule = declared.rule.iter().find(|it| it.id.get_ref() == name);
    let is_signal = declared.signal.iter().any(|it| it.id.get_ref() == name);
    match (wanted, rule) {
        (Wanted::Rule, _) if is_signal => {
            let counting = declared
                .rule
                .iter()
                .filter(|rule| signals_of(rule).any(|signal| signal == name));
            let rules: Vec<&str> = counting.map(|rule| rule.id.get_ref().as_str()).collect();
            match rules[..] {
                [] => format!("{name:?} is a signal, and no rule counts it; name a rule"),
                [one] => format!("{name:?} is a signal; the rule that counts it is {one}"),
                [..] => format!(
                    "{name:?} is a signal; the rules that count it are {}",
                    rules.join(", ")
                ),
            }
        }
        (Wanted::Signal, Some(rule)) => {
            let mut signals: Vec<&str> = signals_of(rule).collect();
            signals.sort_unstable();
            signals.dedup();
            match signals[..] {
                [] => format!("{name:?} is a rule, and counts no signal; name a signal"),
                [one] => format!("{name:?} is a rule; the signal that it counts is {one}"),
                [..] => format!(
                    "{name:?} is a rule; the signals that it counts are {}",
                    signals.join(", ")
                ),
            }
        }
        (Wanted::Rule | Wanted::Signal | Wanted::Either, _) => nothing_like(base, wanted, name),
    }
}

fn nothing_like(base: &RuleBase, wanted: Wanted, name: &str) -> String {
    let rules = base.declared.rule.iter().map(|it| it.id.get_ref().as_str());
    let signals = base.declared.signal.iter();
    let signals = signals.map(|it| it.id.get_ref().as_str());
    let (what, known): (&str, Vec<&str>) = match wanted {
        Wanted::Rule => ("rule", rules.collect()),
        Wanted::Signal => ("signal", signals.collect()),
        Wanted::Either => ("rule or signal", rules.chain(signals).collect()),
    };
    let near = near(name, &known);
    let meant = if near.is_empty() {
        String::new()
    } else {
        format!(", and {} is written almost so", near.join(" or "))
    };
    format!("no {what} is called {name:?}{meant}; `casdiag rules list` names them all")
}

/// The signals that a rule counts or watches.
fn signals_of(rule: &RuleDecl) -> impl Iterator<Item = &str> {
    let counts = rule.counts.values().filter_map(|it| it.signal.as_ref());
    let stalls = rule.stalls.values().map(|it| &it.signal);
    counts.chain(stalls).map(|id| id.get_ref().as_str())
}

/// The ids that are fewest changes away, if those are few for the length of the name.
fn near<'n>(name: &str, known: &[&'n str]) -> Vec<&'n str> {
    let most = name.chars().count().div_ceil(4);
    let away = known.iter().map(|id| (changes(name, id), *id));
    let mut away: Vec<(usize, &str)> = away.filter(|(changes, _)| *changes <= most).collect();
    away.sort_unstable();
    away.dedup();
    let fewest = away.first().map_or(0, |(changes, _)| *changes);
    let nearest = away.iter().take_while(|(changes, _)| *changes == fewest);
    nearest.map(|(_, id)| *id).take(NEAR_MAX).collect()
}

/// How many letters must be put in, left out or replaced to make one of the other.
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{changes, near};

    #[test]
    fn changes_are_letters_put_in_left_out_or_replaced() {
        // The textbook's own example.
        assert_eq!(changes("kitten", "sitting"), 3);
        assert_eq!(changes("", "abc"), 3);
        assert_eq!(changes("same", "same"), 0);
    }

    #[test]
    fn what_is_far_away_is_not_near() {
        let known = ["relink-refused", "relink-unproven", "memory-limit"];
        assert_eq!(near("relink-refusd", &known), ["relink-refused"]);
        assert_eq!(near("nonsense", &known), Vec::<&str>::new());
    }
}
