//! The faults of phases 2 and 3: which, when and for how long, as the harness draws them, and what they do here.

use std::io::{self, Write};

use super::driver::{Driver, Soak, Verdict};
use crate::engine::cas::scenario::Deed;
use crate::engine::cas::{Object, Target as Hit};
use crate::engine::sim::{Effect, Micros, SECOND, Window, splitmix64};

/// Spreads the numbers of faults, as the harness does.
const SPREAD: u64 = 0x9E37_79B1;

/// How long a restart takes, in seconds.
const RESTART_S: u64 = 5;

/// What a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The first server.
    Ch1,
    /// The second.
    Ch2,
    /// Both.
    Both,
    /// The object store.
    Rustfs,
}

impl Target {
    /// As the harness prints it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ch1 => "ch1",
            Self::Ch2 => "ch2",
            Self::Both => "both",
            Self::Rustfs => "rustfs",
        }
    }

    fn servers(self) -> &'static [usize] {
        match self {
            Self::Ch1 => &[0],
            Self::Ch2 => &[1],
            Self::Both => &[0, 1],
            Self::Rustfs => &[],
        }
    }
}

/// What happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Killed, and started at the end.
    Kill,
    /// Stopped and started at once.
    Restart,
    /// Held still, and let go at the end.
    Pause,
    /// The same for longer than a mount lease holds.
    FreezeLong,
}

impl Action {
    /// As the harness prints it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Restart => "restart",
            Self::Pause => "pause",
            Self::FreezeLong => "freeze_long",
        }
    }
}

/// A fault of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Its number, from 0.
    pub number: u64,
    /// When it begins, in seconds.
    pub at_s: u64,
    /// What it hits.
    pub target: Target,
    /// What happens.
    pub action: Action,
    /// How long, in seconds.
    pub seconds: u64,
}

impl Plan {
    fn end_s(&self) -> u64 {
        self.at_s + self.seconds
    }
}

/// The faults of a seed that begin within so many seconds; one begins when the one before is over.
pub fn schedule(seed: u64, mean_s: u64, within_s: u64) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    let mut at_s = 0;
    for number in 0.. {
        let r = splitmix64(seed ^ u64::wrapping_mul(number, SPREAD));
        at_s += mean_s.max(1) * (30 + r % 140) / 100;
        let begins = plans.last().map_or(0, Plan::end_s).max(at_s);
        if begins >= within_s {
            break;
        }
        plans.push(plan(number, begins, splitmix64(r)));
    }
    plans
}

fn plan(number: u64, at_s: u64, r: u64) -> Plan {
    if (r >> 9).is_multiple_of(6) {
        let is_second = (r >> 13) & 1 == 1;
        return Plan {
            number,
            at_s,
            target: if is_second { Target::Ch2 } else { Target::Ch1 },
            action: Action::FreezeLong,
            seconds: 60 + (r >> 17) % 31,
        };
    }
    let target = match (r >> 3) % 4 {
        0 => Target::Ch1,
        1 => Target::Ch2,
        2 => Target::Both,
        _ => Target::Rustfs,
    };
    let action = match (r >> 7) % 3 {
        0 if target == Target::Rustfs => Action::Restart,
        0 => Action::Kill,
        1 => Action::Restart,
        _ => Action::Pause,
    };
    Plan {
        number,
        at_s,
        target,
        action,
        seconds: 5 + (r >> 11) % 56,
    }
}

/// The faults of a soak: those of phase 3 begin with its stage of chaos and end with the one after it.
pub(super) fn planned(soak: &Soak, seed: u64) -> Vec<Plan> {
    if soak.phase < 2 || soak.no_chaos {
        return Vec::new();
    }
    let seed = soak.chaos_seed.unwrap_or(seed);
    let (from, to) = if soak.phase == 3 {
        super::stages::armed(soak.duration_s)
    } else {
        (0, soak.duration_s)
    };
    let mut plans = schedule(seed, soak.chaos_interval, to - from);
    for plan in &mut plans {
        plan.at_s += from;
    }
    plans
}

impl Driver<'_> {
    /// What the faults were drawn from.
    pub(super) fn chaos_seed(&self) -> Option<u64> {
        let has_chaos = self.soak.is_resilient() && !self.soak.no_chaos;
        has_chaos.then(|| self.soak.chaos_seed.unwrap_or(self.seed))
    }

    /// The fault that began last.
    pub(super) fn last_fault(&self) -> Option<Plan> {
        let last = self.begun.checked_sub(1)?;
        self.plans.get(last).copied()
    }

    /// Plans all faults.
    pub(super) fn arm(&mut self) {
        for plan in self.plans.clone() {
            let (from, to) = (plan.at_s * SECOND, plan.end_s() * SECOND);
            let (first, then, end) = match plan.action {
                Action::Kill => (Deed::Stop, Deed::Start, to),
                Action::Restart => (Deed::Stop, Deed::Start, from + RESTART_S * SECOND),
                Action::Pause | Action::FreezeLong => (Deed::Pause, Deed::Resume, to),
            };
            for node in plan.target.servers() {
                self.run.plan_act(from, first, *node);
                self.run.plan_act(end, then, *node);
            }
            if plan.target == Target::Rustfs {
                self.arm_store(from, end, plan.action);
            }
        }
    }

    fn arm_store(&mut self, from: Micros, to: Micros, action: Action) {
        let effect = if action == Action::Pause {
            Effect::Timeout
        } else {
            Effect::Refused
        };
        for object in [Object::Catalog, Object::Ckpt, Object::Log, Object::Mount] {
            self.run.plan_fault(Window {
                from,
                to,
                target: Hit {
                    object,
                    nodes: Vec::new(),
                },
                share: 1000,
                effect,
            });
        }
    }

    /// Tells which faults have begun and ended; after the last that has ended comes a checkpoint.
    pub(super) fn chaos_turn(
        &mut self,
        executed: u64,
        out: &mut dyn Write,
    ) -> io::Result<Result<(), Verdict>> {
        let now_s = self.run.now() / SECOND;
        let mut ended = 0;
        let mut last = None;
        for place in self.over..self.plans.len() {
            let Some(plan) = self.plans.get(place).copied() else {
                break;
            };
            let (target, action) = (plan.target.word(), plan.action.word());
            if place >= self.begun && now_s >= plan.at_s {
                self.begun = place + 1;
                self.said.push(format!(
                    "CHAOS firing fault #{} at t+{}s: {target} {action} dur={}s",
                    plan.number, plan.at_s, plan.seconds
                ));
            }
            if now_s < plan.end_s() {
                break;
            }
            self.over = place + 1;
            ended += 1;
            last = Some(plan);
            self.said.push(format!(
                "CHAOS fault window complete: {target} {action} -> requesting recovery checkpoint"
            ));
        }
        let Some(last) = last else {
            self.flush(out)?;
            return Ok(Ok(()));
        };
        self.said.push(format!(
            "RECOVERY: {ended} fault window(s) completed; last={}/{}/{}s \u{2014} recovery checkpoint",
            last.target.word(),
            last.action.word(),
            last.seconds
        ));
        let executed = (self.soak.phase < 3).then_some(executed);
        self.checkpoint("recovery checkpoint", executed, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault is what its bits say, taken apart by hand.
    #[test]
    fn faults_are_what_the_recipe_says() {
        // (r >> 9) % 6 = 1, (r >> 3) % 4 = 3, (r >> 7) % 3 = 0: the store cannot be killed, so it is restarted.
        let of = |r: u64| {
            let it = plan(0, 0, r);
            (it.target, it.action, it.seconds)
        };
        let r = (1 << 9) | (3 << 3);
        // (r >> 7) % 3 = 4 % 3 = 1 here: a restart by itself; the duration is 5 + 0.
        assert_eq!(of(r), (Target::Rustfs, Action::Restart, 5));
        // (r >> 7) = 9: 9 % 3 = 0 is a kill, (r >> 9) % 6 = 2, (r >> 3) % 4 = 0.
        assert_eq!(of(9 << 7), (Target::Ch1, Action::Kill, 5));
        assert_eq!(
            of((9 << 7) | (3 << 3)),
            (Target::Rustfs, Action::Restart, 5)
        );
        // (r >> 7) = 5: a pause; (r >> 9) % 6 = 1; (r >> 3) % 4 = 2.
        assert_eq!(of((5 << 7) | (2 << 3)), (Target::Both, Action::Pause, 5));
        // (r >> 9) = 48: a multiple of 6; (r >> 13) & 1 = 1; (r >> 17) % 31 = 0.
        assert_eq!(of(48 << 9), (Target::Ch2, Action::FreezeLong, 60));
    }

    #[test]
    fn faults_do_not_overlap_and_their_distances_are_drawn_around_the_mean() {
        let plans = schedule(7, 90, 200_000);
        assert!(plans.windows(2).all(|it| it[0].end_s() <= it[1].at_s));
        // 30 to 169 hundredths, 99.5 in the mean.
        let mean = plans.last().unwrap().at_s * 100 / (plans.len() as u64 * 90);
        assert!((90..=112).contains(&mean), "{mean}");
        let frozen = plans.iter().filter(|it| it.action == Action::FreezeLong);
        let share = frozen.count() * 60 / plans.len();
        assert!((7..=13).contains(&share), "{share} of 60, one in six");
    }
}
