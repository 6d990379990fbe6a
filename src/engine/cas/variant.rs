//! Protocol versions, the fixes that were proposed, and broken ones that a check must catch.

use thiserror::Error;

/// Which state of a table's lane keeps a source from answering a confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A wedge, anything pending, or a leader at work: the whole table.
    V0,
    /// Any lane that is not Ready, anything pending, or a leader at work: the whole table.
    V1,
    /// Only a mutation that names the very reference, or a lane that cannot say.
    V2,
}

/// A change that was proposed or shipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fix {
    /// `unknown` is answered on the wire, and the receiver then takes the bytes.
    A,
    /// The receiver takes the bytes after any answer that is not yes.
    B,
    /// The table's runtime stays resident while an attach is under way.
    C1,
    /// The initiator of an attach writes the log entry when its lane is quiet.
    C3,
    /// A receiver pauses a source that did not prove several times in a row.
    D,
    /// A source waits a bounded time for its lane before it answers.
    E,
    /// Frontiers are published together instead of one per batch.
    CkptCoalesce,
}

impl Fix {
    /// All, with the names that a command line takes.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::A, "A"),
        (Self::B, "B"),
        (Self::C1, "C1"),
        (Self::C3, "C3"),
        (Self::D, "D"),
        (Self::E, "E"),
        (Self::CkptCoalesce, "ckpt-coalesce"),
    ];
}

/// A protocol with one guard left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Broken {
    /// Yes is answered from the committed row although a mutation names it.
    NaiveYes,
    /// The confirm is sent before the receiver's own reference is durable.
    PromoteBeforePlusOne,
    /// Bytes are taken although the promotion's outcome is open.
    BytesAfterUnresolved,
}

impl Broken {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::NaiveYes, "naive-yes"),
        (Self::PromoteBeforePlusOne, "promote-before-plus-one"),
        (Self::BytesAfterUnresolved, "bytes-after-unresolved"),
    ];
}

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The rule of the confirm.
    pub rule: Rule,
    fixes: u8,
    /// The guard that is left out, if any.
    pub broken: Option<Broken>,
}

/// A variant that is not known.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "no variant or fix is called {0}; there are v0, v1, v2, A, B, C1, C3, D, E, ckpt-coalesce, naive-yes, promote-before-plus-one, bytes-after-unresolved"
)]
pub struct UnknownVariant(String);

impl Variant {
    /// A rule without fixes.
    pub fn of(rule: Rule) -> Self {
        Self {
            rule,
            fixes: 0,
            broken: None,
        }
    }

    /// Reads names that are joined by `+`, such as `v1+A+C3`. A broken variant stands on v2 unless a rule is named.
    pub fn parse(text: &str) -> Result<Self, UnknownVariant> {
        let mut rule = None;
        let mut variant = Self::of(Rule::V1);
        for word in text.split('+').map(str::trim) {
            let fix = Fix::ALL.iter().find(|(_, name)| *name == word);
            let broken = Broken::ALL.iter().find(|(_, name)| *name == word);
            match (word, fix, broken) {
                ("v0", ..) => rule = Some(Rule::V0),
                ("v1", ..) => rule = Some(Rule::V1),
                ("v2", ..) => rule = Some(Rule::V2),
                (_, Some((fix, _)), _) => variant = variant.with(*fix),
                (_, _, Some((broken, _))) => variant.broken = Some(*broken),
                _ => return Err(UnknownVariant(word.to_owned())),
            }
        }
        let implied = if variant.broken.is_some() {
            Rule::V2
        } else {
            Rule::V1
        };
        variant.rule = rule.unwrap_or(implied);
        Ok(variant)
    }

    /// The same with a fix.
    #[must_use]
    pub fn with(mut self, fix: Fix) -> Self {
        self.fixes |= 1 << fix as u8;
        self
    }

    /// Whether it has a fix.
    pub fn has(self, fix: Fix) -> bool {
        self.fixes & (1 << fix as u8) != 0
    }

    /// Its name, as [`Self::parse`] reads it.
    pub fn name(self) -> String {
        let mut name = match self.rule {
            Rule::V0 => "v0",
            Rule::V1 => "v1",
            Rule::V2 => "v2",
        }
        .to_owned();
        let fixes = Fix::ALL.iter().filter(|(fix, _)| self.has(*fix));
        let broken = Broken::ALL
            .iter()
            .filter(|(it, _)| self.broken == Some(*it));
        for word in fixes.map(|it| it.1).chain(broken.map(|it| it.1)) {
            name.push('+');
            name.push_str(word);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, name) in [
            ("v0", "v0"),
            ("v1+C3+A", "v1+A+C3"),
            ("A", "v1+A"),
            ("naive-yes", "v2+naive-yes"),
            ("v1+naive-yes", "v1+naive-yes"),
            ("v2+ckpt-coalesce", "v2+ckpt-coalesce"),
        ] {
            assert_eq!(Variant::parse(text).unwrap().name(), name);
        }
        assert_eq!(Variant::parse("v3"), Err(UnknownVariant("v3".to_owned())));
    }
}
