//! A scenario's expectations, measured.

use std::collections::BTreeMap;

use super::expect::{Expect, Measure, measure};
use super::run::Run;
use super::scenario::Scenario;
use super::soak::{Driver, Verdict};
use super::variant::{UnknownVariant, Variant};
use crate::engine::sim::SECOND;

/// An expectation and what was seen.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What must come out.
    pub expect: Expect,
    /// The protocol under which it was measured.
    pub variant: Variant,
    /// One value for each seed.
    pub values: Vec<u64>,
}

impl Seen {
    /// Whether it came out.
    pub fn fits(&self) -> bool {
        self.expect.fits(&self.values)
    }
}

/// Measures every expectation of a scenario over its seeds.
pub fn trial(scenario: &Scenario) -> Result<Vec<Seen>, UnknownVariant> {
    let mut seen = Vec::new();
    for expect in &scenario.expect {
        let variant = match &expect.variant {
            Some(name) => Variant::parse(name)?,
            None => scenario.protocol(),
        };
        seen.push(Seen {
            expect: expect.clone(),
            variant,
            values: Vec::new(),
        });
    }
    let mut by_variant: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, one) in seen.iter().enumerate() {
        by_variant
            .entry(one.variant.name())
            .or_default()
            .push(place);
    }
    for places in by_variant.values_mut() {
        let end = |place: &usize| {
            let expect = seen.get(*place).map(|it| it.expect.to_s);
            expect.flatten().unwrap_or(scenario.until_s)
        };
        places.sort_by_key(end);
        for seed in scenario.seed..scenario.seed + scenario.seeds {
            let variant = places
                .first()
                .and_then(|it| seen.get(*it))
                .map(|it| it.variant);
            let Some(variant) = variant else {
                continue;
            };
            if let Some(soak) = &scenario.soak {
                let mut driver = Driver::new(scenario, soak, variant, seed, None);
                // A sink takes everything.
                let passed = driver.finish(&mut std::io::sink());
                let passed = matches!(passed, Ok(Verdict::Ok));
                for place in places.iter() {
                    if let Some(one) = seen.get_mut(*place) {
                        let value = if one.expect.measure == Measure::SoakPassed {
                            u64::from(passed)
                        } else if let Some(ops) = one.expect.after_ops {
                            driver.refused_after(ops, one.expect.node)
                        } else {
                            measure(&one.expect, &driver.run)
                        };
                        one.values.push(value);
                    }
                }
                continue;
            }
            let mut run = Run::new(scenario, variant, seed, None);
            for place in places.iter() {
                let Some(one) = seen.get_mut(*place) else {
                    continue;
                };
                let to_s = one.expect.to_s.unwrap_or(scenario.until_s);
                run.run_until(to_s * SECOND);
                one.values.push(measure(&one.expect, &run));
            }
        }
    }
    Ok(seen)
}
