//! How long something takes.

use serde::{Deserialize, Serialize};

use super::random::Stream;
use super::schedule::{MINUTE, Micros};

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

/// The longest time that a scenario may ask for: an hour.
pub const TIME_MAX: Micros = 60 * MINUTE;

/// The largest deviation of a logarithm, in thousandths: one time in six is then twenty times the median or longer.
const SIGMA_MAX: u32 = 3_000;

impl Latency {
    /// What is wrong with it as part of a scenario, if anything is. `least` is for something that is done again after
    /// each such time: its middle may not be shorter, or nothing else ever happens.
    pub fn problem(&self, least: Micros) -> Option<String> {
        let most = match self {
            Self::Fixed(time) | Self::Exponential(time) => *time,
            Self::Uniform(from, to) if from > to => {
                return Some(format!("uniform goes from {from} to {to}, which is less"));
            }
            Self::Uniform(_, to) => *to,
            Self::LogNormal(_, sigma) if *sigma > SIGMA_MAX => {
                return Some(format!(
                    "the deviation of log-normal must be from 0 to {SIGMA_MAX}"
                ));
            }
            Self::LogNormal(median, _) => *median,
            Self::Sampled(values) => match values.iter().max() {
                Some(most) => *most,
                None => return Some("sampled has no value".to_owned()),
            },
        };
        if most > TIME_MAX {
            return Some(format!("{most} is more than {TIME_MAX}, which is an hour"));
        }
        let middle = self.middle();
        (middle < least).then(|| format!("{middle} in the middle is less than {least}"))
    }

    /// The mean, or of log-normal times the median.
    fn middle(&self) -> Micros {
        match self {
            Self::Fixed(time) | Self::Exponential(time) | Self::LogNormal(time, _) => *time,
            Self::Uniform(from, to) => from / 2 + to / 2,
            Self::Sampled(values) => {
                let sum: u128 = values.iter().map(|it| u128::from(*it)).sum();
                let mean = sum / (values.len().max(1) as u128);
                Micros::try_from(mean).unwrap_or(Micros::MAX)
            }
        }
    }

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
    #[test]
    fn what_no_run_ends_with_is_refused() {
        let hour = 3_600_000_000;
        for (latency, says) in [
            (Latency::Fixed(hour + 1), "which is an hour"),
            (Latency::Uniform(9, 8), "uniform goes from 9 to 8"),
            (Latency::LogNormal(1_000, 3_001), "from 0 to 3000"),
            (Latency::Sampled(vec![]), "has no value"),
            (Latency::Sampled(vec![1_000, hour + 1]), "which is an hour"),
            (Latency::Exponential(0), "0 in the middle is less than 1000"),
            (Latency::Uniform(0, 1_998), "999 in the middle"),
            (Latency::Sampled(vec![0, 0, 2_997]), "999 in the middle"),
        ] {
            let problem = latency.problem(1_000).unwrap();
            assert!(problem.contains(says), "{problem}");
        }
        assert_eq!(Latency::Exponential(0).problem(0), None);
        assert_eq!(Latency::Uniform(1_000, hour).problem(1_000), None);
    }
}
