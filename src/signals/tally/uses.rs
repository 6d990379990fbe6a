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
    /// Whether any of them counts queries.
    pub per_query: bool,
    /// The stalls.
    pub stalls: Vec<usize>,
    /// The sides of pairs.
    pub sides: Vec<usize>,
    /// What opens or closes something that a node awaits.
    pub awaited: Vec<usize>,
    /// What says that a part did not come, or brings one.
    pub arrivals: Vec<ArrivalUse>,
    /// Whether any of these asks for the table that a record is about.
    pub of_table: bool,
}

/// What a signal's records say of parts that did not come at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalUse {
    /// The index of what rules ask for.
    pub arrival: usize,
    /// The field that names the part; none where they name none.
    pub field: Option<usize>,
    /// What they say of it.
    pub says: Arrives,
}

/// What a record says of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrives {
    /// It did not come.
    Fails,
    /// It came, or is here.
    Comes,
    /// Its fetch begins.
    Begins,
    /// It was fetched, and put aside.
    Aside,
    /// It came, and is to come again.
    Leaves,
    /// It is the range of parts that are dropped.
    Drops,
    /// Some parts of its table are wanted no more.
    Clears,
}

/// Parts that did not come at first, as a rule asks for them: who says what of them, by which field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalWatch {
    /// The signals of the records, the fields that name the part, and what they say.
    pub sides: Vec<(u16, Option<usize>, Arrives)>,
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
                let uses = &mut uses[usize::from(signal)];
                uses.counters.push(at);
                uses.per_query |= counter.per_query;
            }
        }
        for (at, stall) in stalls.iter().enumerate() {
            let uses = &mut uses[usize::from(stall.signal)];
            uses.stalls.push(at);
            uses.of_table |= stall.of_table;
        }
        for (at, side) in sides.iter().enumerate() {
            uses[usize::from(side.signal)].sides.push(at);
        }
        for (at, side) in awaited.iter().enumerate() {
            uses[usize::from(side.signal)].awaited.push(at);
        }
        for (arrival, watch) in arrivals.iter().enumerate() {
            for &(signal, field, says) in &watch.sides {
                uses[usize::from(signal)].arrivals.push(ArrivalUse {
                    arrival,
                    field,
                    says,
                });
            }
        }
        for uses in &mut uses {
            uses.of_table |= !(uses.awaited.is_empty() && uses.arrivals.is_empty());
        }
        uses
    }
}
