//! A bounded search for two numbers that the records do not show.

/// A candidate: both numbers.
pub(super) type Point = [u64; 2];

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The least and the most of each number, which are positive.
    pub(super) ends: [(u64, u64); 2],
    /// How many of each the search begins with.
    pub(super) grid: [u32; 2],
    /// Around how many of the best of those it goes on.
    pub(super) starts: usize,
    /// Under how many seeds a candidate is run that looks better than all before. One that fits under a single seed may
    /// stand where chance decides.
    pub(super) seeds: u64,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The best candidate.
    pub(super) best: Point,
    /// Between what each number is: one step beyond the smallest and the largest that fit as well as chance allows.
    pub(super) ranges: [(u64, u64); 2],
    /// The best candidates among those whose second number is the least, and the most, where these differ.
    pub(super) at_ends: Vec<Point>,
    /// The counts of the best candidate under each seed: what chance makes of it.
    pub(super) runs: Vec<Vec<u64>>,
}

/// Scores that differ by less than this, in thousandths, fit as well.
const AS_WELL: u64 = 50;

/// Steps along the ridge of what fits, and across it, in per cent.
const STRIDE: u64 = 25;
const STEP: u64 = 6;
/// Steps across it to both sides that are looked at.
const ASIDE: usize = 6;

/// Seeds of runs of the best candidate: how far these are apart is what chance makes. A candidate fits if it does under any of
/// them, since one run of a storm that is near its threshold says little. The search itself uses the first.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=6;

/// Counts below this say nothing by their shares.
const FEW: u64 = 100;

/// Searches between the bounds: on a grid of equal ratios first, then around the best one in
/// smaller and smaller steps. `run` gives the counts of a candidate under a seed, in the order of those observed; nothing
/// where they are hopelessly far away.
pub(super) fn search(
    Bounds {
        ends: bounds,
        grid,
        starts,
        seeds,
    }: Bounds,
    observed: &[u64],
    mut run: impl FnMut(Point, u64) -> Option<Vec<u64>>,
) -> Found {
    let mut score = |point, seed| run(point, seed).map_or(u64::MAX, |it| distance(observed, &it));
    let mut tried: Vec<(Point, u64)> = Vec::new();
    let mut best: (Point, u64) = ([bounds[0].0, bounds[1].0], u64::MAX);
    let mut attempt = |point: Point, best: &mut (Point, u64), tried: &mut Vec<(Point, u64)>| {
        let point = [0, 1].map(|it: usize| point[it].clamp(bounds[it].0, bounds[it].1));
        if tried.iter().any(|it| it.0 == point) {
            return;
        }
        let mut reached = score(point, *SEEDS.start());
        if reached < best.1 {
            reached = over_seeds(reached, seeds, |seed| score(point, seed));
        }
        tried.push((point, reached));
        if reached < best.1 {
            *best = (point, reached);
        }
    };
    for first in 0..grid[0] {
        for second in 0..grid[1] {
            let at = |it: usize, step: u32| between(bounds[it], step, grid[it]);
            attempt([at(0, first), at(1, second)], &mut best, &mut tried);
        }
    }
    let mut ranked = tried.clone();
    ranked.sort_by_key(|it| it.1);
    for start in ranked.into_iter().take(starts) {
        let local = refine(start, &mut tried, &mut attempt);
        if local.1 < best.1 {
            best = local;
        }
    }
    let (best, best_score) = best;
    let at_ends = best_at_ends(&tried, bounds[1]);
    let runs: Vec<Vec<u64>> = SEEDS.filter_map(|seed| run(best, seed)).collect();
    let limit = best_score.max(by_chance(&runs)).saturating_add(AS_WELL);
    let mut score = |point, seed| run(point, seed).map_or(u64::MAX, |it| distance(observed, &it));
    let mut fits: Vec<Point> = tried
        .iter()
        .filter(|it| it.1 <= limit)
        .map(|it| it.0)
        .collect();
    fits.push(best);
    let mut fit = |point: Point| SEEDS.clone().any(|seed| score(point, seed) <= limit);
    widen(best, bounds[1], &mut fit, &mut fits);
    // What fits lies along a ridge, where more of one number stands for less of the other: it is followed both ways.
    for up in [false, true] {
        let mut at = farthest(&fits, 0, up);
        while let Some(first) = stepped(at[0], up, STRIDE, bounds[0]) {
            let Some(next) = beside(first, at[1], bounds[1], &mut fit) else {
                break;
            };
            fits.push(next);
            widen(next, bounds[1], &mut fit, &mut fits);
            at = next;
        }
    }
    let end = |place: usize, up: bool, step: u64| {
        let at = farthest(&fits, place, up)[place];
        stepped(at, up, step, bounds[place]).unwrap_or(at)
    };
    let ranges =
        [(0, STRIDE), (1, STEP)].map(|(it, step)| (end(it, false, step), end(it, true, step)));
    Found {
        best,
        ranges,
        at_ends,
        runs,
    }
}

/// The score of a candidate over so many seeds on the average, of which the first gave this.
fn over_seeds(first: u64, seeds: u64, score: impl FnMut(u64) -> u64) -> u64 {
    let others = usize::try_from(seeds).unwrap_or(1).saturating_sub(1);
    let scores = SEEDS.skip(1).take(others).map(score);
    let sum = scores.fold(first, u64::saturating_add);
    if sum == u64::MAX {
        return sum;
    }
    sum / seeds.max(1)
}

/// Goes on from a candidate in smaller and smaller steps.
fn refine(
    start: (Point, u64),
    tried: &mut Vec<(Point, u64)>,
    attempt: &mut impl FnMut(Point, &mut (Point, u64), &mut Vec<(Point, u64)>),
) -> (Point, u64) {
    let mut local = start;
    for step in [60, 30, 15, 7, 4] {
        for _ in 0..3 {
            let before = local.1;
            for point in around(local.0, step) {
                attempt(point, &mut local, tried);
            }
            if local.1 == before {
                break;
            }
        }
    }
    local
}

/// The best of those whose second number is the least, and of those where it is the most.
fn best_at_ends(tried: &[(Point, u64)], (least, most): (u64, u64)) -> Vec<Point> {
    let ends = [least, most].into_iter().filter(|_| least < most);
    let best = ends.filter_map(|end| {
        let there = tried.iter().filter(|it| it.0[1] == end && it.1 < u64::MAX);
        there.min_by_key(|it| it.1).map(|it| it.0)
    });
    best.collect()
}

/// Beside a candidate: one number larger or smaller by so many per cent.
fn around([a, b]: Point, step: u64) -> [Point; 4] {
    [
        [a + a * step / 100, b],
        [a * 100 / (100 + step), b],
        [a, b + (b * step / 100).max(1)],
        [a, b * 100 / (100 + step)],
    ]
}

/// How far counts are from those observed, in thousandths: the square mean of the distances, as many times as there are. So
/// one that is far off weighs more than several that are a little.
fn distance(observed: &[u64], counts: &[u64]) -> u64 {
    let each = observed.iter().zip(counts);
    let squares = each.map(|(a, b)| (a.abs_diff(*b) * 1000 / *a.max(b).max(&FEW)).pow(2));
    let sum: u64 = squares.sum();
    (sum * observed.len() as u64).isqrt()
}

/// How far two runs of the same numbers are apart at most.
fn by_chance(runs: &[Vec<u64>]) -> u64 {
    let pairs = runs
        .iter()
        .enumerate()
        .flat_map(|(at, one)| runs[..at].iter().map(move |other| distance(one, other)));
    pairs.max().unwrap_or(0)
}

/// The candidate with the smallest or largest of one number.
fn farthest(fits: &[Point], place: usize, up: bool) -> Point {
    let each = fits.iter().copied();
    let found = if up {
        each.max_by_key(|it| it[place])
    } else {
        each.min_by_key(|it| it[place])
    };
    found.unwrap_or_default()
}

/// A number so many per cent further, or the bound; nothing beyond the bound.
fn stepped(at: u64, up: bool, step: u64, (low, high): (u64, u64)) -> Option<u64> {
    let next = if up {
        (at + (at * step / 100).max(1)).min(high)
    } else {
        (at * 100 / (100 + step)).max(low)
    };
    (next != at).then_some(next)
}

/// Adds what fits like a candidate and differs from it in the second number only: the ridge is broad.
fn widen(
    at: Point,
    bounds: (u64, u64),
    fit: &mut impl FnMut(Point) -> bool,
    fits: &mut Vec<Point>,
) {
    for up in [false, true] {
        let mut beside = at;
        while let Some(second) = stepped(beside[1], up, STEP, bounds) {
            beside[1] = second;
            if !fit(beside) {
                break;
            }
            fits.push(beside);
        }
    }
}

/// A candidate that fits and whose second number is near `around`.
fn beside(
    first: u64,
    around: u64,
    bounds: (u64, u64),
    fit: &mut impl FnMut(Point) -> bool,
) -> Option<Point> {
    let mut ends = [around, around];
    if fit([first, around]) {
        return Some([first, around]);
    }
    for _ in 0..ASIDE {
        for (end, up) in ends.iter_mut().zip([false, true]) {
            *end = stepped(*end, up, STEP, bounds).unwrap_or(*end);
            if fit([first, *end]) {
                return Some([first, *end]);
            }
        }
    }
    None
}

/// A point of a grid with equal ratios, in integers: halving the interval of exponents as often as it takes.
fn between((low, high): (u64, u64), step: u32, grid: u32) -> u64 {
    if step == 0 || grid < 2 {
        return low;
    }
    if step + 1 >= grid {
        return high;
    }
    // The geometric mean of the ends, and then of one half.
    let (mut left, mut right) = (low, high);
    let (mut from, mut to) = (0, u64::from(grid - 1) << 16);
    let wanted = u64::from(step) << 16;
    while to - from > 1 {
        let middle = u64::midpoint(from, to);
        let mean = (u128::from(left) * u128::from(right)).isqrt();
        let mean = u64::try_from(mean).unwrap_or(u64::MAX);
        if middle > wanted {
            (to, right) = (middle, mean);
        } else {
            (from, left) = (middle, mean);
        }
        if right - left < 2 {
            break;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_equal_ratios() {
        let points: Vec<u64> = (0..5).map(|it| between((100, 1_000_000), it, 5)).collect();
        // 100, 1,000, 10,000, 100,000, 1,000,000 but for rounding.
        for (point, wanted) in points.iter().zip([100, 1_000, 10_000, 100_000, 1_000_000]) {
            assert!(point.abs_diff(wanted) * 20 <= wanted, "{points:?}");
        }
    }

    #[test]
    fn the_hidden_numbers_are_found_and_the_range_holds_them() {
        // Counts that show both numbers, each with a little chance of its seed.
        let counts =
            |it: Point, seed: u64| vec![it[0] * 100 + seed * it[0], it[1] + seed * it[1] / 100];
        let hidden = [730_u64, 41_000_u64];
        let bounds = Bounds {
            ends: [(10, 10_000), (1_000, 1_000_000)],
            grid: [6, 6],
            starts: 1,
            seeds: 1,
        };
        let found = search(bounds, &counts(hidden, 3), |it, seed| {
            Some(counts(it, seed))
        });
        let apart = |a: u64, b: u64| a.abs_diff(b) * 1000 / a.max(b);
        for ((best, hidden), (least, most)) in found.best.iter().zip(hidden).zip(found.ranges) {
            assert!(apart(*best, hidden) < 60, "{found:?}");
            assert!((least..=most).contains(&hidden), "{found:?}");
            assert!(most < 2 * least, "{found:?}");
        }
    }

    #[test]
    fn numbers_that_only_their_product_shows_have_a_range_that_says_so() {
        let product = |it: Point| Some(vec![it[0] * it[1] / 1000]);
        let observed = product([300, 20_000]).unwrap();
        let bounds = Bounds {
            ends: [(10, 10_000), (1_000, 1_000_000)],
            grid: [6, 6],
            starts: 1,
            seeds: 1,
        };
        let found = search(bounds, &observed, |it, _| product(it));
        let [(least, most), _] = found.ranges;
        assert!(least < 30 && most > 3_000, "{found:?}");
    }

    #[test]
    fn what_fits_under_one_seed_only_is_not_taken() {
        let bounds = Bounds {
            ends: [(10, 1_000), (1, 1)],
            grid: [8, 1],
            starts: 1,
            seeds: 3,
        };
        // From 500 on the first seed meets all of it and the others nothing; 200 is a tenth away under each.
        let run = |it: Point, seed: u64| match it[0] {
            500.. if seed == 1 => vec![1_000],
            500.. => vec![0],
            _ => vec![it[0] * 9 / 2],
        };
        let found = search(bounds, &[1_000], |it, seed| Some(run(it, seed)));
        assert!((190..250).contains(&found.best[0]), "{found:?}");
    }

    #[test]
    fn the_best_at_each_end_of_the_second_number_is_told() {
        let bounds = Bounds {
            ends: [(10, 1_000), (1, 8)],
            grid: [6, 6],
            starts: 1,
            seeds: 1,
        };
        // 600 stands for 100 of the first number where the second is 6, and for 600 where it is 1.
        let found = search(bounds, &[600, 600], |it, _| {
            Some(vec![it[0] * it[1], it[1] * 100])
        });
        assert_eq!(found.best[1], 6, "{found:?}");
        let [least, most] = found.at_ends[..] else {
            panic!("{found:?}");
        };
        assert_eq!((least[1], most[1]), (1, 8));
        assert!(least[0].abs_diff(600) < 250, "{found:?}");
    }
}
