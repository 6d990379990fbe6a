//! What counts the records of one signal.

use super::{AwaitedSide, Counter, PairedSide, StallWatch};
use crate::signals::{Signal, TallyKind};

/// What counts the records of one signal, by index.
#[derive(Debug, Default, Clone)]
pub struct Uses {
    /// The fields whose values are counted.
    pub values: Vec<usize>,
    /// The counters.
    pub counters: Vec<usize>,
    /// The stalls.
    pub stalls: Vec<usize>,
    /// The sides of pairs.
    pub sides: Vec<usize>,
    /// What opens or closes something that a node awaits.
    pub awaited: Vec<usize>,
    /// What says that a part did not come, or brings one.
    pub arrivals: Vec<ArrivalUse>,
}

/// What a signal's records say of parts that did not come at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalUse {
    /// The index of what rules ask for.
    pub arrival: usize,
    /// The field that names the part.
    pub field: usize,
    /// What they say of it.
    pub says: Arrives,
}

/// What a record says of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrives {
    /// It did not come.
    Fails,
    /// It came.
    Comes,
    /// It came, and is to come again.
    Leaves,
}

/// Parts that did not come at first, as a rule asks for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalWatch {
    /// The signal of the records that say that one did not come, and the field that names it.
    pub failed: (u16, usize),
    /// The same of the records that bring one.
    pub came: Vec<(u16, usize)>,
    /// The same of the records after which one is to come again.
    pub lost: Vec<(u16, usize)>,
}

impl Uses {
    /// By signal.
    pub fn of_all(
        signals: &[Signal],
        counters: &[Counter],
        stalls: &[StallWatch],
        sides: &[PairedSide],
        awaited: &[AwaitedSide],
        arrivals: &[ArrivalWatch],
    ) -> Vec<Self> {
        let of_signal = |signal: &Signal| {
            let fields = signal.fields.iter().enumerate();
            let counted = fields.filter(|(_, field)| field.tally != TallyKind::Not);
            Self {
                values: counted.map(|(at, _)| at).collect(),
                ..Self::default()
            }
        };
        let mut uses: Vec<Self> = signals.iter().map(of_signal).collect();
        for (at, counter) in counters.iter().enumerate() {
            if let Some(signal) = counter.signal {
                uses[usize::from(signal)].counters.push(at);
            }
        }
        for (at, stall) in stalls.iter().enumerate() {
            uses[usize::from(stall.signal)].stalls.push(at);
        }
        for (at, side) in sides.iter().enumerate() {
            uses[usize::from(side.signal)].sides.push(at);
        }
        for (at, side) in awaited.iter().enumerate() {
            uses[usize::from(side.signal)].awaited.push(at);
        }
        for (arrival, watch) in arrivals.iter().enumerate() {
            let mut uses_of = |(signal, field): (u16, usize), says| {
                uses[usize::from(signal)].arrivals.push(ArrivalUse {
                    arrival,
                    field,
                    says,
                });
            };
            let came = watch.came.iter().map(|it| (*it, Arrives::Comes));
            let lost = watch.lost.iter().map(|it| (*it, Arrives::Leaves));
            for (side, says) in came.chain(lost).chain([(watch.failed, Arrives::Fails)]) {
                uses_of(side, says);
            }
        }
        uses
    }
}
