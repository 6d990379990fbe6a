//! Counts as a line of characters.

/// From little to most; a step without anything is blank.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Counts as characters, the highest as high as a line.
pub fn spark(counts: &[u64]) -> String {
    let most = u128::from(counts.iter().copied().max().unwrap_or(0).max(1));
    let height = |count: &u64| {
        if *count == 0 {
            return ' ';
        }
        let place = (u128::from(*count) * HEIGHTS.len() as u128).div_ceil(most) - 1;
        let place = usize::try_from(place).unwrap_or(0);
        HEIGHTS.get(place).copied().unwrap_or('█')
    };
    counts.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_fills_its_line_and_one_record_shows() {
        assert_eq!(spark(&[0, 1, 50, 100, 1_000_000]), " ▁▁▁█");
        assert_eq!(spark(&[1, 2, 3, 4, 5, 6, 7, 8]), "▁▂▃▄▅▆▇█");
        assert_eq!(spark(&[7, 0, 7]), "█ █");
        assert_eq!(spark(&[]), "");
    }
}
