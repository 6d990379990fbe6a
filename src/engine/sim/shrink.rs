//! The smallest part of a list that still fails.

/// Leaves items out, in halves, quarters and single ones, as long as what is left still `fails`.
///
/// The answer fails too and no single item can be left out of it; if the whole list does not fail it is given back.
pub fn smallest<T: Clone>(items: &[T], mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = items.to_vec();
    if !fails(&kept) {
        return kept;
    }
    let mut step = kept.len().div_ceil(2).max(1);
    loop {
        let mut from = 0;
        let mut shorter = false;
        while from < kept.len() {
            let to = (from + step).min(kept.len());
            let mut without = kept.clone();
            without.drain(from..to);
            if fails(&without) {
                kept = without;
                shorter = true;
            } else {
                from = to;
            }
        }
        if step == 1 && !shorter {
            return kept;
        }
        step = (step / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_left() {
        let items: Vec<u32> = (0..100).collect();
        let mut tries = 0;
        let left = smallest(&items, |part| {
            tries += 1;
            part.contains(&17) && part.contains(&63) && part.contains(&64)
        });
        assert_eq!(left, [17, 63, 64]);
        assert!(tries < 200, "{tries}");
    }

    #[test]
    fn what_does_not_fail_stays_as_it_is() {
        assert_eq!(smallest(&[1, 2], |_| false), [1, 2]);
        assert_eq!(smallest(&[1, 2], |_| true), [0; 0]);
    }
}
