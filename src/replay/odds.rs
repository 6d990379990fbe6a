//! What the records of a storm show that no run of the model is like, whatever is fitted: so that a distance between the two is
//! not taken for a fault of a number.

use super::loads::Loads;
use super::{Fact, HANDFUL, fact};

/// A name that comes so many times in two comes again.
const TWICE_TIMES: u64 = 3;
/// Records of entries that wait from which on one that waits long would be among them.
const WAITS_MIN: u64 = 100;
/// Tries after which an entry waits for more than 33 s.
const TRIES_LONG: u64 = 16;
/// So many standard deviations are chance.
const DEVIATIONS: u64 = 3;

/// What stands against any run of a load, from what was refused to each server.
pub(super) fn at_odds(loads: &Loads, nodes: &[String], refused: &[u64]) -> Vec<Fact> {
    let mut odds = Vec::new();
    odds.extend(again(loads));
    if !odds.is_empty() {
        odds.extend(by_shares(loads, nodes, refused));
    }
    odds.extend(even(loads));
    odds.extend(waits(loads, refused));
    odds
}

/// Parts that came more than once.
fn again(loads: &Loads) -> Option<Fact> {
    let (came, brought) = loads
        .came
        .iter()
        .fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    if came < HANDFUL || brought * 2 < came * TWICE_TIMES {
        return None;
    }
    let value = format!("{brought} relinks finished of {came} parts by table and name");
    let from = "a part comes once in the model, as a table has it once; here names come again and again, so that a part counts as missing for how its last try went";
    Some(fact("parts that came again", value, from))
}

/// Whether the shares of the two kinds of records alone say how many parts are missing on each server.
fn by_shares(loads: &Loads, nodes: &[String], refused: &[u64]) -> Option<Fact> {
    let mut each = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let (things, missing) = (*loads.things.get(place)?, *loads.missing.get(place)?);
        let (refused, brought) = (*refused.get(place)?, loads.came.get(place)?.1);
        let expected = expected(things, refused, brought)?;
        if !is_chance((things, missing), (refused, brought)) {
            return None;
        }
        each.push(format!("{node} {expected} ({missing} here)"));
    }
    let from = "the last record of a part is a refusal as often as any record is one, within chance: what is missing on a server follows from that, and no order of events is needed for it";
    Some(fact(
        "parts missing by the shares of records alone",
        each.join(", "),
        from,
    ))
}

/// How many of so many things end with a refusal, if it is drawn.
fn expected(things: u64, refused: u64, brought: u64) -> Option<u64> {
    let all = refused + brought;
    (2 * things * refused + all).checked_div(2 * all)
}

/// Whether so many of the things can end with a refusal if that is drawn: within three standard deviations.
fn is_chance((things, missing): (u64, u64), (refused, brought): (u64, u64)) -> bool {
    let wide = |it: u64| u128::from(it);
    let all = wide(refused + brought);
    // All of it as many times as there are records, so that nothing is divided.
    let apart = (wide(missing) * all).abs_diff(wide(things) * wide(refused));
    apart * apart <= wide(DEVIATIONS * DEVIATIONS) * wide(things) * wide(refused) * wide(brought)
}

/// Refusals that keep pace with what comes.
fn even(loads: &Loads) -> Option<Fact> {
    let (refused, finished) = (loads.thirds, loads.finished_thirds);
    if !is_even(refused, finished) {
        return None;
    }
    let tenths = |it: usize| refused[it] * 10 / finished[it].max(1);
    let each = [0, 1, 2].map(|it| format!("{}.{}", tenths(it) / 10, tenths(it) % 10));
    let [first, second, last] = finished;
    let from = format!(
        "while {first}, {second} and {last} finish: as many when little comes as when much. In a run a lane is the busier the more comes, so it has hardly any at the beginning and most at the end"
    );
    Some(fact(
        "refusals for each finished relink, by third of the time",
        each.join(", "),
        &from,
    ))
}

/// Whether there are as many refusals for each finished relink at all times, while what comes more than doubles.
fn is_even(refused: [u64; 3], finished: [u64; 3]) -> bool {
    let thirds = || refused.into_iter().zip(finished);
    let (least, most) = (finished.iter().min(), finished.iter().max());
    let grows = least
        .zip(most)
        .is_some_and(|(least, most)| *least >= HANDFUL && *most >= 2 * least);
    // Of any two thirds, one has at most half as much again: cross products, so that nothing is divided.
    let close = thirds().all(|(a, b)| thirds().all(|(c, d)| a * d * 2 <= c * b * 3));
    grows && close
}

/// Entries that were tried often and never waited long.
fn waits(loads: &Loads, refused: &[u64]) -> Option<Fact> {
    let waits = loads.waits;
    let (refused, things) = (
        refused.iter().sum::<u64>(),
        loads.things.iter().sum::<u64>(),
    );
    if waits.all < WAITS_MIN
        || waits.minute + waits.longer > 0
        || refused < TRIES_LONG * things.max(1)
    {
        return None;
    }
    let value = format!("none of {} over 33 s", waits.all);
    let from = format!(
        "{refused} refusals are of {things} parts, and an entry that was tried {TRIES_LONG} times waits for longer: in a run those that are missing do"
    );
    Some(fact("waits for another try", value, &from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_told_from_what_is_not() {
        // 128 things, of whose records 4,529 of 5,449 are refusals: 128 * 4529 / 5449 = 106.4, and the deviation is
        // sqrt(128 * 0.831 * 0.169) = 4.2.
        let of = (4_529, 920);
        assert_eq!(expected(128, of.0, of.1), Some(106));
        for (missing, drawn) in [
            (93, false),
            (94, true),
            (103, true),
            (119, true),
            (120, false),
        ] {
            assert_eq!(is_chance((128, missing), of), drawn, "{missing}");
        }
        assert_eq!(expected(128, 0, 0), None);
    }

    #[test]
    fn refusals_that_keep_pace_are_told_from_a_storm() {
        assert!(is_even([2_131, 9_017, 5_941], [225, 1_144, 734]));
        // One that builds up; one whose load is the same all the time.
        assert!(!is_even([100, 9_000, 12_000], [225, 1_144, 734]));
        assert!(!is_even([2_000, 2_100, 1_900], [225, 230, 220]));
        assert!(!is_even([20, 90, 40], [4, 19, 9]));
    }
}
