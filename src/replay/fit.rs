//! A bounded search for two numbers that the records do not show.

/// A candidate: both numbers.
pub(super) type Point = [u64; 2];

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The best candidate.
    pub(super) best: Point,
    /// The smallest and largest of each number among those that fit as well.
    pub(super) ranges: [(u64, u64); 2],
}

/// Scores that differ by less than this, in thousandths, fit as well.
const AS_WELL: u64 = 50;

/// Searches between the bounds, which are positive: on a grid of equal ratios first, then around the best one in
/// smaller and smaller steps. The score of a candidate is its distance in thousandths.
pub(super) fn search(
    bounds: [(u64, u64); 2],
    grid: u32,
    mut score: impl FnMut(Point) -> u64,
) -> Found {
    let mut tried: Vec<(Point, u64)> = Vec::new();
    let mut best: (Point, u64) = ([bounds[0].0, bounds[1].0], u64::MAX);
    let mut attempt = |point: Point, best: &mut (Point, u64)| {
        let point = [0, 1].map(|it: usize| point[it].clamp(bounds[it].0, bounds[it].1));
        if tried.iter().any(|it| it.0 == point) {
            return;
        }
        let reached = score(point);
        tried.push((point, reached));
        if reached < best.1 {
            *best = (point, reached);
        }
    };
    for first in 0..grid {
        for second in 0..grid {
            let at = |it: usize, step: u32| between(bounds[it], step, grid);
            attempt([at(0, first), at(1, second)], &mut best);
        }
    }
    // Steps of 60, 30, 15, 7 and 4 per cent.
    for step in [60, 30, 15, 7, 4] {
        for _ in 0..3 {
            let [a, b] = best.0;
            let before = best.1;
            for point in [
                [a + a * step / 100, b],
                [a * 100 / (100 + step), b],
                [a, b + b * step / 100],
                [a, b * 100 / (100 + step)],
            ] {
                attempt(point, &mut best);
            }
            if best.1 == before {
                break;
            }
        }
    }
    let limit = best.1.saturating_add(AS_WELL);
    let range = |place: usize| {
        let near = tried.iter().filter(|it| it.1 <= limit);
        let values: Vec<u64> = near.map(|it| it.0[place]).collect();
        let (least, most) = (values.iter().min(), values.iter().max());
        let own = best.0[place];
        (least.copied().unwrap_or(own), most.copied().unwrap_or(own))
    };
    Found {
        best: best.0,
        ranges: [range(0), range(1)],
    }
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
        let hidden = [730_u64, 41_000_u64];
        let apart = |a: u64, b: u64| a.abs_diff(b) * 1000 / a.max(b);
        let found = search([(10, 10_000), (1_000, 1_000_000)], 6, |it| {
            apart(it[0], hidden[0]) + apart(it[1], hidden[1])
        });
        let each = found.best.iter().zip(hidden).zip(found.ranges);
        for ((best, hidden), (least, most)) in each {
            assert!(apart(*best, hidden) < 60, "{found:?}");
            assert!((least..=most).contains(best), "{found:?}");
        }
    }
}
