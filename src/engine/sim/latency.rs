//! How long something takes.

use serde::{Deserialize, Serialize};

use super::random::Stream;
use super::schedule::Micros;

/// A distribution of times; all numbers are microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Latency {
    /// Always the same.
    Fixed(Micros),
    /// Anything from the first to the second, evenly.
    Uniform(Micros, Micros),
    /// With this mean, like the gaps between independent arrivals.
    Exponential(Micros),
    /// Around a median, with the deviation of the logarithm in thousandths.
    LogNormal(Micros, u32),
    /// One of the observed values.
    Sampled(Vec<Micros>),
}

impl Latency {
    /// One time.
    pub fn draw(&self, stream: &mut Stream) -> Micros {
        match self {
            Self::Fixed(time) => *time,
            Self::Uniform(from, to) => stream.between(*from, *to),
            Self::Exponential(mean) => stream.exponential(*mean),
            Self::LogNormal(median, sigma) => stream.log_normal(*median, *sigma),
            Self::Sampled(values) => {
                let count = u64::try_from(values.len()).unwrap_or(u64::MAX);
                let index = usize::try_from(stream.below(count)).unwrap_or(0);
                values.get(index).copied().unwrap_or(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_within_what_is_described() {
        let mut stream = Stream::new(3, "latency");
        let sampled = Latency::Sampled(vec![7, 9]);
        let mut seen = [0, 0];
        for _ in 0..1000 {
            assert_eq!(Latency::Fixed(4).draw(&mut stream), 4);
            assert!((10..=20).contains(&Latency::Uniform(10, 20).draw(&mut stream)));
            match sampled.draw(&mut stream) {
                7 => seen[0] += 1,
                9 => seen[1] += 1,
                other => panic!("{other}"),
            }
        }
        assert!(seen[0] > 400 && seen[1] > 400, "{seen:?}");
        assert_eq!(Latency::Sampled(Vec::new()).draw(&mut stream), 0);
    }
}
