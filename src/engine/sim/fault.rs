//! Faults as windows of time: what they hit, and what becomes of it.

use super::random::Stream;
use super::schedule::Micros;

/// What a fault does to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// No answer until the attempt times out; whether it took effect is open.
    Timeout,
    /// Refused at once, with no effect.
    Refused,
    /// Told to come later (HTTP 429 or `SlowDown`), with no effect.
    Throttled,
    /// Takes ten times as long.
    Slow,
}

/// A time during which a share of what goes to a target goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<T> {
    /// The first moment.
    pub from: Micros,
    /// The first moment after it.
    pub to: Micros,
    /// What it hits.
    pub target: T,
    /// How many of 1000 it hits.
    pub share: u16,
    /// What it does.
    pub effect: Effect,
}

impl<T> Window<T> {
    /// The effect on something that `is_hit` says it could hit, at `now`.
    pub fn hit(
        &self,
        now: Micros,
        stream: &mut Stream,
        is_hit: impl FnOnce(&T) -> bool,
    ) -> Option<Effect> {
        let open = (self.from..self.to).contains(&now) && is_hit(&self.target);
        (open && stream.happens(self.share)).then_some(self.effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_hits_its_target_while_it_is_open() {
        let window = Window {
            from: 10,
            to: 20,
            target: 'a',
            share: 1000,
            effect: Effect::Refused,
        };
        let mut stream = Stream::new(1, "faults");
        let mut at = |now, target| window.hit(now, &mut stream, |it| *it == target);
        assert_eq!(at(9, 'a'), None);
        assert_eq!(at(10, 'a'), Some(Effect::Refused));
        assert_eq!(at(10, 'b'), None);
        assert_eq!(at(20, 'a'), None);
    }

    #[test]
    fn a_share_is_met() {
        let window = Window {
            from: 0,
            to: 1,
            target: (),
            share: 250,
            effect: Effect::Timeout,
        };
        let mut stream = Stream::new(1, "faults");
        let hits = (0..10_000).filter(|_| window.hit(0, &mut stream, |()| true).is_some());
        assert!((2300..2700).contains(&hits.count()));
    }
}
