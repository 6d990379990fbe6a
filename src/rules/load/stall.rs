//! The stalls of one rule compiled: which, how often, how long, and during which other one.

use toml::Spanned;

use super::origin::{LoadError, Origin, duration};
use super::rule::Counters;
use super::signal::{field_index, nearest};
use crate::rules::arrivals::ArrivalTest;
use crate::rules::schema::{ConditionDecl, DuringDecl, Pair, RuleDecl, StallDecl};
use crate::rules::stalls::{During, StallTest, Wait};

/// Compiles every stall with the bounds of the first condition that asks for it.
pub(super) fn compile_stalls(
    declared: &RuleDecl,
    arrivals: &[(String, ArrivalTest)],
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<Vec<(String, StallTest)>, LoadError> {
    let mut tests = Vec::new();
    for (name, stall) in &declared.stalls {
        let index = counters.stall(stall, origin)?;
        let mut test = StallTest {
            stall: index,
            repeats: 0,
            lasting: 0,
            during: None,
            wait: compile_wait(stall, index, arrivals, origin, counters)?,
        };
        let verdicts = declared.verdict.iter().filter_map(|it| it.when.as_ref());
        let mut conditions = std::iter::once(&declared.when).chain(verdicts);
        if let Some(condition) = conditions.find_map(|it| asking(it, name)) {
            (test.repeats, test.lasting) = bounds(condition, origin)?;
        }
        keep_facts(declared, name, index, counters);
        tests.push((name.clone(), test));
    }
    for (at, stall) in declared.stalls.values().enumerate() {
        if let Some(given) = &stall.during {
            let during = compile_during(given, at, &tests, origin, counters)?;
            tests[at].1.during = Some(Box::new(during));
        }
    }
    Ok(tests)
}

/// What a stall waits for: the part that tells its stretches apart.
fn compile_wait(
    declared: &StallDecl,
    stall: usize,
    arrivals: &[(String, ArrivalTest)],
    origin: Origin<'_>,
    counters: &Counters<'_>,
) -> Result<Option<Wait>, LoadError> {
    let (name, is_over) = match (&declared.until, &declared.over) {
        (None, None) => return Ok(None),
        (Some(name), None) => (name, false),
        (None, Some(name)) => (name, true),
        (Some(_), Some(name)) => {
            let message = "a stall whose part came did not last until it came";
            return Err(origin.fault(name.span(), message, "give until or over, not both"));
        }
    };
    let found = arrivals.iter().find(|(known, _)| known == name.get_ref());
    let Some((_, test)) = found else {
        let known: Vec<&str> = arrivals.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("the rule has no arrival {:?}", name.get_ref());
        return Err(origin.fault(name.span(), message, nearest(name.get_ref(), &known)));
    };
    let watch = &counters.stalls[stall];
    let mut key = watch.key.iter();
    let Some(&field) = key.find(|&&at| counters.is_part(watch.signal, at)) else {
        let message = "no part tells the stretches of this stall apart";
        let hint = "name a field that holds a part: key = [\"part\"]";
        return Err(origin.fault(name.span(), message, hint));
    };
    Ok(Some(Wait {
        arrival: test.arrival,
        field,
        is_over,
    }))
}

/// Keeps the fields of a stall that facts are taken from.
fn keep_facts(declared: &RuleDecl, name: &str, stall: usize, counters: &mut Counters<'_>) {
    let signal = &counters.signals[usize::from(counters.stalls[stall].signal)];
    let of_stall = declared.facts.values().filter(|fact| {
        let stall = fact.stall.as_ref();
        stall.is_some_and(|stall| stall.get_ref() == name)
    });
    let fields = of_stall.filter_map(|fact| signal.field(fact.value.get_ref()));
    for field in fields {
        counters.stalls[stall].keep(field);
    }
}

fn compile_during(
    given: &DuringDecl,
    at: usize,
    tests: &[(String, StallTest)],
    origin: Origin<'_>,
    counters: &mut Counters<'_>,
) -> Result<During, LoadError> {
    let name = given.stall.get_ref();
    let found = tests.iter().position(|(known, _)| known == name);
    // One that is itself tied could be tied to this one.
    let other = found.filter(|&other| other != at && tests[other].1.during.is_none());
    let Some(other) = other else {
        let known: Vec<&str> = tests.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("a stall cannot be during {name:?}");
        return Err(origin.fault(given.stall.span(), message, nearest(name, &known)));
    };
    let field = |stall: usize, name: &Spanned<String>| {
        let signal = counters.stalls[tests[stall].1.stall].signal;
        field_index(&counters.signals[usize::from(signal)], name, origin)
    };
    let below = match &given.below {
        Some(Pair([here, there])) => Some((field(at, here)?, field(other, there)?)),
        None => None,
    };
    if let Some((here, there)) = below {
        counters.stalls[tests[at].1.stall].keep(here);
        counters.stalls[tests[other].1.stall].keep(there);
    }
    Ok(During {
        other: tests[other].1.clone(),
        below,
    })
}

/// How often and how long a condition wants a stall.
pub(super) fn bounds(
    condition: &ConditionDecl,
    origin: Origin<'_>,
) -> Result<(u64, i64), LoadError> {
    let lasting = condition.lasting.as_ref();
    let lasting = lasting.map(|text| duration(origin, text)).transpose()?;
    Ok((condition.at_least.unwrap_or(2), lasting.unwrap_or(0)))
}

/// The first part of a condition that asks for a stall, and needs it to hold.
fn asking<'d>(condition: &'d ConditionDecl, name: &str) -> Option<&'d ConditionDecl> {
    let stall = condition.stall.as_ref();
    if stall.is_some_and(|stall| stall.get_ref() == name) {
        return Some(condition);
    }
    let parts = [&condition.all, &condition.any].into_iter().flatten();
    parts.flatten().find_map(|part| asking(part, name))
}
