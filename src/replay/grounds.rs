//! What the comparisons of a run come to, and which of them it rests on.

use super::{Compared, Counts, TOLERANCE, Verdict};

/// Rows that a sentence names.
const NAMED_MAX: usize = 6;

/// The rows that count for the verdict, each with its distance.
fn counting(compared: &[Compared]) -> Vec<(&Compared, f64)> {
    let counts = |it: &&Compared| matches!(it.counts, Counts::Yes | Counts::Unfitted);
    let counting = compared.iter().filter(counts);
    counting
        .filter_map(|it| it.error.map(|error| (it, error)))
        .collect()
}

/// What the comparisons that count come to, after so many numbers were fitted: as few counts as numbers reproduce nothing.
pub(super) fn verdict(compared: &[Compared], fitted: usize) -> Verdict {
    let rows = counting(compared);
    let near = rows.iter().filter(|it| it.1 <= TOLERANCE).count();
    if near == rows.len() && near > fitted {
        Verdict::Reproduced
    } else if near * 2 >= rows.len() && near > 0 {
        Verdict::Partly
    } else {
        Verdict::Not
    }
}

/// Why the verdict is what it is: how many of the rows that count are within the tolerance, which are not, and what is asked.
pub(super) fn grounds(compared: &[Compared], fitted: usize) -> String {
    let rows = counting(compared);
    if rows.is_empty() {
        return "no row is of enough to count".to_owned();
    }
    let mut far: Vec<(&Compared, f64)> =
        rows.iter().filter(|it| it.1 > TOLERANCE).copied().collect();
    let (all, near) = (rows.len(), rows.len() - far.len());
    let rows = if all == 1 {
        "row that counts is"
    } else {
        "rows that count are"
    };
    let within = format!("{near} of {all} {rows} within {:.0} %", TOLERANCE * 100.0);
    let asked = match verdict(compared, fitted) {
        Verdict::Reproduced => return within,
        Verdict::Partly if far.is_empty() => {
            return format!("{within}, and it takes more of them than numbers fitted");
        }
        Verdict::Partly => ", not all",
        Verdict::Not | Verdict::NotRun => ", fewer than half",
    };
    far.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = far.iter().take(NAMED_MAX).map(|it| row(it.0));
    let mut named = named.collect::<Vec<_>>().join("; ");
    if far.len() > NAMED_MAX {
        let more = far.len() - NAMED_MAX;
        named = format!("{named}; and {more} more");
    }
    format!("{within}{asked}; too far off: {named}")
}

fn row(row: &Compared) -> String {
    let number = |it: Option<u64>| it.map_or_else(|| "none".to_owned(), |it| it.to_string());
    let (observed, predicted) = (number(row.observed), number(row.predicted));
    format!(
        "{} at {} {observed} observed, {predicted} predicted",
        row.what, row.node
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(what: &str, observed: u64, predicted: u64) -> Compared {
        Compared::of(what, "ch1", Some(observed), predicted)
    }

    #[test]
    fn rows_that_fail_are_named_the_farthest_first() {
        // 130 is 30 % off, 250 is 150 %; 119 is within a fifth.
        let rows = [
            count("refused", 100, 130),
            count("finished", 100, 250),
            count("unproven", 100, 119),
        ];
        assert_eq!(
            grounds(&rows, 1),
            "1 of 3 rows that count are within 20 %, fewer than half; too far off: finished at ch1 100 observed, 250 predicted; refused at ch1 100 observed, 130 predicted"
        );
        let half = [count("refused", 100, 130), count("finished", 100, 100)];
        assert!(grounds(&half, 0).starts_with("1 of 2 rows that count are within 20 %, not all"));
    }

    #[test]
    fn what_does_not_count_is_not_named() {
        let rows = [
            count("refused", 100, 90),
            count("finished", 100, 500).but(Counts::InTotal),
            count("missing", 5, 0).sifted(),
            count("catalog", 100, 0).given(),
        ];
        assert_eq!(grounds(&rows, 0), "1 of 1 row that counts is within 20 %");
        assert_eq!(
            grounds(&rows, 1),
            "1 of 1 row that counts is within 20 %, and it takes more of them than numbers fitted"
        );
        assert_eq!(grounds(&rows[1..], 0), "no row is of enough to count");
    }

    #[test]
    fn of_many_rows_the_rest_is_counted() {
        let rows: Vec<Compared> = (0..9).map(|it| count("refused", 100, 200 + it)).collect();
        assert!(grounds(&rows, 0).ends_with("; and 3 more"));
    }
}
