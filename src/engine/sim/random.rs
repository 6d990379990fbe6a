//! Random numbers that are the same on every machine: splitmix64, one stream per purpose, integers only.

/// The golden ratio's bits, which splitmix64 adds for each number.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// One of the splitmix64 family's well known mixers: the number that follows the state `x`.
///
/// The soak harness of the content-addressed pool uses the same function, so its operations can be derived again.
pub fn splitmix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The larger half of a product of 128 bits.
fn high(a: u64, b: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)) >> 64).unwrap_or(u64::MAX)
}

/// A stream of numbers for one purpose.
///
/// Each purpose has its own, so that a fault that is turned on draws nothing from the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of `seed` for the purpose called `purpose`.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let mut state = splitmix64(seed);
        for byte in purpose.bytes() {
            state = splitmix64(state ^ u64::from(byte));
        }
        Self { state }
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        let drawn = splitmix64(self.state);
        self.state = self.state.wrapping_add(GAMMA);
        drawn
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        high(self.draw(), bound)
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from).saturating_add(1))
    }

    /// Whether something happens that happens in `share` of 1000 cases.
    ///
    /// Draws only if that is in doubt: a fault that is off does not move the stream.
    pub fn happens(&mut self, share: u16) -> bool {
        match share {
            0 => false,
            1000.. => true,
            _ => self.below(1000) < u64::from(share),
        }
    }

    /// A waiting time until the next event of a Poisson process with this mean, in the unit of the mean.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let logarithm = minus_ln(self.draw());
        u64::try_from((u128::from(mean) * u128::from(logarithm)) >> 32).unwrap_or(u64::MAX)
    }

    /// A value of a log-normal distribution; `sigma` is the deviation of its logarithm in thousandths.
    pub fn log_normal(&mut self, median: u64, sigma: u32) -> u64 {
        // The sum of twelve numbers from -1/2 to 1/2 has the variance 1 and is near enough to normal within 4 deviations.
        let sum: i64 = (0..12)
            .map(|_| i64::from(u32::MAX / 2) - draw32(self))
            .sum();
        let exponent = i128::from(sum) * i128::from(sigma) / 1000;
        u64::try_from((i128::from(median) * exp(exponent)) >> 32).unwrap_or(u64::MAX)
    }
}

fn draw32(stream: &mut Stream) -> i64 {
    i64::try_from(stream.draw() >> 32).unwrap_or(0)
}

/// The natural logarithm of 2 in units of 2^-32.
const LN_2: u64 = 2_977_044_472;

/// `-ln(x / 2^64)` in units of 2^-32, by squaring: floating point logarithms differ between machines.
fn minus_ln(x: u64) -> u64 {
    let x = x.max(1);
    let zeros = x.leading_zeros();
    // Normalized to [1, 2) with 63 bits behind the point.
    let mut mantissa = u128::from(x << zeros);
    let mut fraction = 0_u64;
    for _ in 0..32 {
        mantissa = (mantissa * mantissa) >> 63;
        fraction <<= 1;
        if mantissa >> 64 != 0 {
            fraction |= 1;
            mantissa >>= 1;
        }
    }
    let log2 = (u64::from(63 - zeros) << 32) + fraction;
    let minus_log2 = (64_u64 << 32) - log2;
    u64::try_from((u128::from(minus_log2) * u128::from(LN_2)) >> 32).unwrap_or(u64::MAX)
}

/// `e^x` of a number in units of 2^-32, in the same unit.
fn exp(x: i128) -> i128 {
    let one = 1_i128 << 32;
    // Halved until the series converges at once, then squared back.
    let mut halvings = 0;
    let mut small = x;
    while small.abs() > one / 4 {
        small /= 2;
        halvings += 1;
    }
    let mut term = one;
    let mut sum = one;
    for n in 1..10 {
        term = ((term * small) >> 32) / n;
        sum += term;
    }
    for _ in 0..halvings {
        sum = (sum * sum) >> 32;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixer_gives_the_published_numbers() {
        // The reference implementation's first three outputs for the seed 1234567, from its own test vector.
        let mut state = 1_234_567_u64;
        let mut next = || {
            let number = splitmix64(state);
            state = state.wrapping_add(GAMMA);
            number
        };
        assert_eq!(next(), 6_457_827_717_110_365_317);
        assert_eq!(next(), 3_203_168_211_198_807_973);
        assert_eq!(next(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn purposes_do_not_share_numbers_and_a_fault_that_is_off_draws_none() {
        let mut one = Stream::new(1, "load");
        let mut other = Stream::new(1, "faults");
        assert_ne!(one.draw(), other.draw());
        let before = other.clone();
        assert!(!other.happens(0));
        assert!(other.happens(1000));
        assert_eq!(other, before);
    }

    #[test]
    fn distributions_have_their_means() {
        let mut stream = Stream::new(7, "test");
        let n = 100_000_u64;
        let exponential: u64 = (0..n).map(|_| stream.exponential(1_000_000)).sum();
        assert!((990_000..1_010_000).contains(&(exponential / n)));
        let uniform: u64 = (0..n).map(|_| stream.between(5, 15)).sum();
        assert!((990..1010).contains(&(uniform * 100 / n)));
        let mut values: Vec<u64> = (0..n).map(|_| stream.log_normal(1_000_000, 500)).collect();
        values.sort_unstable();
        // The median, and the point one deviation above it: e^0.5 = 1.6487.
        assert!((985_000..1_015_000).contains(&values[50_000]));
        assert!((1_615_000..1_685_000).contains(&values[84_134]));
    }

    #[test]
    fn logarithm_and_exponential_agree_with_the_machine() {
        let unit = f64::from(1_u32 << 31) * 2.0;
        for x in [0.001_f64, 0.1, 0.5, 0.9, 0.999] {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a comparison to a millionth"
            )]
            {
                let ours = minus_ln((x * unit * unit) as u64) as f64 / unit;
                assert!((ours + x.ln()).abs() < 1e-6, "{x}: {ours}");
                let ours = exp((x * 3.0 * unit) as i128) as f64 / unit;
                assert!((ours / (x * 3.0).exp() - 1.0).abs() < 1e-6, "{x}: {ours}");
            }
        }
    }
}
