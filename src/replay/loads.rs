//! What writes, where every server's records are here: what came and what is missing says how many parts there were.

use super::storm::Records;
use super::{Fact, HANDFUL, fact};
use crate::time::Timestamp;

/// Stretches of equal length into which the time is cut.
const STRETCHES: u64 = 12;
/// Fewer parts than this say nothing of when they come.
const PACED_MIN: u64 = 100;
/// The longest wait of an entry that attaches, unless the configuration says otherwise, in milliseconds.
const CAP_MS: u64 = 300_000;
/// The same where entries are seen to wait for up to a minute and none longer. An entry waits for 2 ms to the power of its tries,
/// so after fifteen it is 33 s and after sixteen it would be 66 s: a wait between them is one that the configuration cuts.
const CAP_SHORT_MS: u64 = 60_000;
/// More parts of a partition than these came by several attaches.
const PARTS_MAX: u64 = 8;
/// The longest time between two writes that a scenario takes, in microseconds.
const EVERY_MAX: u64 = 3_600_000_000;

/// The load of a storm, by server in their order.
pub(super) struct Loads {
    /// What was fetched in the end.
    pub(super) finished: Vec<u64>,
    /// What was refused and had not come when the logs ended.
    pub(super) missing: Vec<u64>,
    /// Parts that it writes, in thousandths: what the others fetch.
    writes: Vec<u64>,
    /// Relinks finished in each stretch.
    course: Vec<u64>,
    /// Refusals of all by third of the time.
    pub(super) thirds: [u64; 3],
    /// Whether the entries attach partitions.
    attaches: bool,
    /// What the retried entries were: to attach, to fetch.
    kinds: (u64, u64),
    /// Requests for the catalog that failed.
    pub(super) catalog: Vec<u64>,
    /// From when to when they did, in seconds since the beginning.
    catalog_at: (u64, u64),
    /// The longest wait of an entry that attaches, in milliseconds.
    pub(super) cap_ms: u64,
    /// What the records show of waits.
    pub(super) waits: Waits,
    /// Parts that one attach brings; nothing where the records do not say.
    parts: Option<u64>,
    /// Parts that were refused, and the partitions that they are of, those of each server for themselves.
    families: (u64, u64),
    /// What was refused and came, and how often that was, by server.
    pub(super) came: Vec<(u64, u64)>,
    /// Parts that were refused, by server.
    pub(super) things: Vec<u64>,
    /// Relinks finished by third of the time.
    pub(super) finished_thirds: [u64; 3],
}

/// Records of entries that wait for another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waits {
    /// All of them.
    pub(super) all: u64,
    /// Those for more than 33 s and up to a minute.
    pub(super) minute: u64,
    /// Those for longer.
    pub(super) longer: u64,
}

impl Waits {
    /// Whether they show that no entry waits for more than a minute.
    fn is_short(self) -> bool {
        self.minute >= HANDFUL && self.longer == 0
    }

    /// The longest wait that they leave possible, in milliseconds.
    fn cap_ms(self) -> u64 {
        if self.is_short() {
            CAP_SHORT_MS
        } else {
            CAP_MS
        }
    }
}

/// What was refused to each server and what of it came, by server in their order; `families` over all of them.
#[derive(Default)]
struct Asked {
    missing: Vec<u64>,
    things: Vec<u64>,
    came: Vec<(u64, u64)>,
    families: (u64, u64),
}

impl Asked {
    /// Reads it; nothing where too many were refused to tell them apart.
    fn read(records: Records<'_>, nodes: &[String]) -> Option<Self> {
        let mut asked = Self::default();
        for node in nodes {
            let row = records.awaited(node);
            let missing = row.map_or(Some(0), |it| (it.beyond_cap == 0).then_some(it.open))?;
            asked.missing.push(missing);
            asked.things.push(row.map_or(0, |it| it.things));
            asked
                .came
                .push(row.map_or((0, 0), |it| (it.came, it.brought)));
            asked.families.0 += row.map_or(0, |it| it.things);
            asked.families.1 += row.map_or(0, |it| it.families);
        }
        Some(asked)
    }
}

impl Loads {
    /// Reads it; nothing where a server's records are not here, or would not show what was finished.
    pub(super) fn read(
        records: Records<'_>,
        nodes: &[String],
        seen: usize,
        (from, seconds): (Timestamp, u64),
    ) -> Option<Self> {
        let shows = |node: &String| records.shows("finished", node);
        if seen < nodes.len() || !nodes.iter().all(shows) {
            return None;
        }
        let of =
            |name: &str| -> Vec<u64> { nodes.iter().map(|it| records.count(name, it)).collect() };
        let finished = of("finished");
        let Asked {
            missing,
            things,
            came,
            families,
        } = Asked::read(records, nodes)?;
        let arrivals: Vec<u64> = finished.iter().zip(&missing).map(|(a, b)| a + b).collect();
        let writes = writes(&arrivals);
        if writes.iter().sum::<u64>() == 0 || finished.iter().sum::<u64>() == 0 {
            return None;
        }
        let axis = records.report.timeline.start.as_deref();
        let axis = Timestamp::from_iso(axis?)?;
        let begins = (from.0 - axis.0).div_euclid(1_000_000);
        let place = |at: i64| u64::try_from(at - begins).unwrap_or(0).min(seconds - 1);
        let over_time = |name: &str, pieces: u64| -> Vec<u64> {
            let mut counts = vec![0; usize::try_from(pieces).unwrap_or(1)];
            for (at, count) in nodes.iter().flat_map(|it| records.points(name, it)) {
                let piece = usize::try_from(place(*at) * pieces / seconds).unwrap_or(0);
                if let Some(sum) = counts.get_mut(piece) {
                    *sum += count;
                }
            }
            counts
        };
        let thirds = |name: &str| {
            let counts = over_time(name, 3);
            [0, 1, 2].map(|it| counts.get(it).copied().unwrap_or(0))
        };
        let catalog = of("catalog");
        let at = nodes.iter().flat_map(|it| records.points("catalog", it));
        let at: Vec<u64> = at.map(|it| place(it.0)).collect();
        let step = records.report.timeline.step_seconds;
        let catalog_at = (
            at.iter().min().copied().unwrap_or(0),
            (at.iter().max().copied().unwrap_or(0) + step).min(seconds),
        );
        let all = |name: &str| of(name).iter().sum::<u64>();
        let kinds = (all("attached"), all("fetched"));
        let waits = Waits {
            all: kinds.0 + kinds.1,
            minute: all("waited-minute"),
            longer: all("waited-minutes") + all("waited-long"),
        };
        Some(Self {
            course: over_time("finished", STRETCHES),
            thirds: thirds("refused"),
            finished_thirds: thirds("finished"),
            attaches: kinds.0 > kinds.1,
            cap_ms: waits.cap_ms(),
            waits,
            parts: parts_of_attach(families).filter(|_| kinds.0 > kinds.1),
            families,
            came,
            things,
            finished,
            missing,
            writes,
            kinds,
            catalog,
            catalog_at,
        })
    }

    /// Whether requests for the catalog failed.
    pub(super) fn fails(&self) -> bool {
        self.catalog.iter().any(|it| *it > 0)
    }

    /// What was read, and what is assumed.
    pub(super) fn tell(&self, nodes: &[String], read: &mut Vec<Fact>, assumed: &mut Vec<Fact>) {
        let listed = |counts: &[u64]| {
            let each = nodes.iter().zip(counts);
            let each: Vec<String> = each
                .map(|(node, count)| format!("{node} {count}"))
                .collect();
            each.join(", ")
        };
        let arrivals = self.finished.iter().zip(&self.missing);
        let arrivals: Vec<u64> = arrivals.map(|(a, b)| a + b).collect();
        let from = "relinks finished, and parts refused that had not come when the logs end: the sum goes into the run, the split comes out of it";
        read.push(fact("parts to fetch", listed(&arrivals), from));
        let writes: Vec<u64> = self.writes.iter().map(|it| it / 1000).collect();
        let from = "what the others fetch and it does not";
        read.push(fact("parts written", listed(&writes), from));
        self.tell_pace(read, assumed);
        let (attached, fetched) = self.kinds;
        let kind = if self.attaches {
            "REPLACE_RANGE: partitions are attached"
        } else {
            "GET_PART: parts are inserted"
        };
        if attached + fetched > 0 {
            let from = format!(
                "entries that wait for another try: {attached} to replace a range, {fetched} to get a part"
            );
            read.push(fact("entries", kind, &from));
        } else {
            assumed.push(fact("entries", kind, "no record of the queue says so"));
        }
        if self.fails() {
            let from = format!(
                "records, from second {} to second {}",
                self.catalog_at.0, self.catalog_at.1
            );
            let what = "requests for the catalog that failed";
            read.push(fact(what, listed(&self.catalog), &from));
        }
        let from =
            "one that nobody tried leaves no record: the run counts every part that has not come";
        assumed.push(fact("parts missing", "those that were refused", from));
        self.tell_attach(read, assumed);
    }

    /// Whether the records say when parts come.
    pub(super) fn is_paced(&self) -> bool {
        is_paced(&self.course)
    }

    /// When its parts come, as read or assumed.
    fn tell_pace(&self, read: &mut Vec<Fact>, assumed: &mut Vec<Fact>) {
        let what = "of 100 parts in each twelfth of the time";
        if self.is_paced() {
            let each = pace(&self.course).into_iter();
            let each: Vec<String> = each.map(|it| (it / 10_000).to_string()).collect();
            read.push(fact(what, each.join(" "), "the relinks finished over time"));
        } else {
            let finished: u64 = self.course.iter().sum();
            let from = format!(
                "{finished} finished, and fewer than {PACED_MIN} do not say when parts come"
            );
            assumed.push(fact(what, "as many in each", &from));
        }
    }

    /// How long its entries wait at most, and how many parts each brings.
    fn tell_attach(&self, read: &mut Vec<Fact>, assumed: &mut Vec<Fact>) {
        let cap = format!("{} s", self.cap_ms / 1000);
        let what = "the longest wait of an entry that attaches";
        let Waits { all, minute, .. } = self.waits;
        if self.waits.is_short() {
            let from = format!(
                "{minute} of {all} records of entries that wait are between 33 s and a minute, and none is longer"
            );
            read.push(fact(what, cap, &from));
        } else {
            assumed.push(fact(what, cap, "the servers' default"));
        }
        let (things, families) = self.families;
        let what = "parts of an attach";
        match self.parts {
            _ if !self.attaches => {}
            Some(parts) => {
                let from = format!(
                    "the names of the refused parts: {things} of {families} partitions of tables, and an attach brings a partition"
                );
                read.push(fact(what, parts, &from));
            }
            None => {
                let from = "the names of the refused parts do not say, for a partition was attached more than once, or no name is here";
                assumed.push(fact(what, 1, from));
            }
        }
    }

    /// The loads and faults of a scenario, in which so many of 1,000 requests for the catalog fail on each server.
    pub(super) fn text(&self, seconds: u64, shares: &[u64]) -> String {
        let kind = if self.attaches { "attach" } else { "insert" };
        let each = self.parts.unwrap_or(1);
        let (pace, mut pieces) = (pace(&self.course), Vec::new());
        for (node, parts) in self.writes.iter().enumerate() {
            for (stretch, share) in (0..).zip(&pace) {
                let (from, to) = (
                    seconds * stretch / STRETCHES,
                    seconds * (stretch + 1) / STRETCHES,
                );
                // Thousandths of parts, of a million shares: the product is the distance in microseconds.
                let weight = u128::from(parts * share);
                let span = u128::from(to - from) * 1_000_000;
                let every = (span * 1_000_000_000 * u128::from(each))
                    .checked_div(weight)
                    .unwrap_or(u128::MAX);
                let every = u64::try_from(every).unwrap_or(u64::MAX).max(1_000);
                if every > EVERY_MAX || to == from {
                    continue;
                }
                pieces.push(format!(
                    "[[load]]\nkind = \"{kind}\"\nnodes = [{node}]\nevery = {{ exponential = {every} }}\nfrom-s = {from}\nto-s = {to}\nparts = {each}\n"
                ));
            }
        }
        let (from, to) = self.catalog_at;
        for (node, share) in shares.iter().enumerate().filter(|it| *it.1 > 0) {
            pieces.push(format!(
                "[[fault]]\nobject = \"catalog\"\nnodes = [{node}]\nfrom-s = {from}\nto-s = {to}\nshare = {share}\neffect = \"timeout\"\n"
            ));
        }
        pieces.concat()
    }
}

/// What each server writes, in thousandths of parts, so that the others fetch what they do: each fetches whatever it did
/// not write.
fn writes(arrivals: &[u64]) -> Vec<u64> {
    let others = u64::try_from(arrivals.len().saturating_sub(1).max(1)).unwrap_or(1);
    let all = arrivals.iter().sum::<u64>() * 1000 / others;
    let own = arrivals.iter().map(|it| all.saturating_sub(it * 1000));
    let own: Vec<u64> = own.collect();
    // One that fetched more than all the others can have written leaves nothing to itself, and something too much to them.
    let sum = own.iter().sum::<u64>().max(1);
    own.iter().map(|it| it * all / sum).collect()
}

/// Parts that one attach brings, if it brings a whole partition: so many refused parts are of so many partitions.
fn parts_of_attach((things, families): (u64, u64)) -> Option<u64> {
    let rounded = (2 * things + families).checked_div(2 * families)?;
    (rounded <= PARTS_MAX).then_some(rounded.max(1))
}

/// Whether so many finished in each stretch say when parts come.
fn is_paced(course: &[u64]) -> bool {
    course.iter().sum::<u64>() >= PACED_MIN
}

/// Of 1,000,000 parts those of each stretch; as many in each where there are too few to say.
fn pace(course: &[u64]) -> Vec<u64> {
    let sum: u64 = course.iter().sum();
    let (is_paced, even) = (is_paced(course), 1_000_000 / STRETCHES);
    let share = |it: &u64| if is_paced { it * 1_000_000 / sum } else { even };
    course.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fetches_what_the_others_write() {
        // Three servers that write 10, 20 and 40 parts fetch 60, 50 and 30.
        assert_eq!(writes(&[60, 50, 30]), [10_000, 20_000, 40_000]);
        // Two: each writes what the other fetches.
        assert_eq!(writes(&[7, 9]), [9_000, 7_000]);
        // One fetched more than the others can have written: the sum stays.
        let own = writes(&[100, 10, 10]);
        assert_eq!((own[0], own[1], own[2]), (0, 30_000, 30_000));
    }

    #[test]
    fn an_attach_brings_a_partition() {
        // Sixteen parts of nine partitions in each of eight tables; a kept report that does not say.
        assert_eq!(parts_of_attach((128, 72)), Some(2));
        assert_eq!(parts_of_attach((100, 70)), Some(1));
        // Many attaches of one partition: nothing says how many.
        assert_eq!(parts_of_attach((5_000, 2)), None);
        assert_eq!(parts_of_attach((128, 0)), None);
    }

    #[test]
    fn only_waits_that_are_cut_show_a_shorter_limit() {
        let waits = |minute, longer| Waits {
            all: 2_000,
            minute,
            longer,
        };
        // Entries that were tried fifteen times wait for up to 33 s, whatever the limit is.
        assert!(!waits(0, 0).is_short());
        assert!(waits(400, 0).is_short());
        assert!(!waits(400, 1).is_short());
    }

    #[test]
    fn a_few_parts_are_spread_evenly() {
        assert_eq!(pace(&[99; 1])[0], 1_000_000 / STRETCHES);
        assert_eq!(pace(&[50, 150]), [250_000, 750_000]);
    }
}
