//! Conditions that always or never hold, or say what nothing reads, are refused: their author meant something else.

use toml::Spanned;

use super::origin::LoadError;
use super::scope::RuleScope;
use crate::rules::schema::{ConditionDecl, Scope};
use crate::scan::GAP;
use crate::time::SECOND;

/// What a condition is of, which of the keys beside it are given, and which of them it reads.
fn kinds(declared: &ConditionDecl) -> [(bool, &'static [&'static str]); 12] {
    [
        (declared.all.is_some(), &[]),
        (declared.any.is_some(), &[]),
        (declared.none.is_some(), &[]),
        (
            declared.count.is_some(),
            &["at-least", "at-most", "within", "on-nodes"],
        ),
        (
            declared.share.is_some(),
            &["of", "share-at-least", "share-below"],
        ),
        (declared.stall.is_some(), &["at-least", "lasting"]),
        (declared.together.is_some(), &["within"]),
        (declared.alone.is_some(), &[]),
        (declared.sequence.is_some(), &["within", "skew"]),
        (declared.silence.is_some(), &["then", "within", "without"]),
        (declared.arrived.is_some(), &[]),
        (declared.observable.is_some(), &[]),
    ]
}

fn given(declared: &ConditionDecl) -> Vec<&'static str> {
    let keys = [
        ("at-least", declared.at_least.is_some()),
        ("at-most", declared.at_most.is_some()),
        ("within", declared.within.is_some()),
        ("on-nodes", declared.on_nodes.is_some()),
        ("lasting", declared.lasting.is_some()),
        ("skew", declared.skew.is_some()),
        ("then", declared.then.is_some()),
        ("without", declared.without.is_some()),
        ("of", declared.of.is_some()),
        ("share-at-least", declared.share_at_least.is_some()),
        ("share-below", declared.share_below.is_some()),
    ];
    let given = keys.into_iter().filter(|(_, given)| *given);
    given.map(|(key, _)| key).collect()
}

impl RuleScope<'_, '_> {
    /// Checks that a condition is of one kind, says nothing that this kind does not read, and can hold and not hold.
    pub(super) fn check_condition(&self, declared: &ConditionDecl) -> Result<(), LoadError> {
        let mut kinds = kinds(declared)
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, reads)| reads);
        let (Some(reads), None) = (kinds.next(), kinds.next()) else {
            return Err(self.not_one_kind());
        };
        let span = span(declared).unwrap_or_else(|| self.declared.id.span());
        let refuse =
            |message: String, hint: &str| Err(self.origin.fault(span.clone(), message, hint));
        if let Some(key) = given(declared).into_iter().find(|key| !reads.contains(key)) {
            let hint = if reads.is_empty() {
                "this kind of condition has no other keys".to_owned()
            } else {
                format!("it reads {}", reads.join(", "))
            };
            return refuse(format!("this kind of condition does not read {key}"), &hint);
        }
        if let (Some(low), Some(high)) = (declared.at_least, declared.at_most)
            && low > high
        {
            let message = format!("no count is at least {low} and at most {high}");
            return refuse(message, "at-least must not be above at-most");
        }
        if declared.at_most.is_some() && declared.on_nodes.is_some() {
            let message = "on-nodes asks how many nodes have at least so many, and at-most is over all of them";
            return refuse(
                message.to_owned(),
                "give at-least without at-most, or leave on-nodes out",
            );
        }
        if let (Some(low), Some(high)) = (declared.share_at_least, declared.share_below)
            && low >= high
        {
            let message = format!("no share is at least {low} and below {high}");
            return refuse(message, "share-at-least must be below share-below");
        }
        let needs_several = declared.together.is_some()
            || declared.alone.is_some()
            || declared.on_nodes.is_some_and(|nodes| nodes > 1);
        if needs_several && self.declared.per == Scope::Node {
            let message = "this needs several nodes, and a rule with per = \"node\" looks at one";
            return refuse(message.to_owned(), "leave per out, or ask for one node");
        }
        Ok(())
    }

    /// Checks that a silence is long enough to be seen.
    pub(super) fn check_silence(
        &self,
        lasting: i64,
        written: &Spanned<String>,
    ) -> Result<(), LoadError> {
        if lasting >= GAP {
            return Ok(());
        }
        let message = format!(
            "a silence of {:?} is not seen, so that this asks for a longer one",
            written.get_ref()
        );
        let hint = format!("write \"{}s\" or more", GAP / SECOND);
        Err(self.origin.fault(written.span(), message, hint))
    }
}

/// Where the condition names what it is of.
fn span(declared: &ConditionDecl) -> Option<std::ops::Range<usize>> {
    let names = [
        &declared.count,
        &declared.share,
        &declared.stall,
        &declared.together,
        &declared.silence,
        &declared.arrived,
        &declared.observable,
    ];
    let lists = [&declared.alone, &declared.sequence];
    let listed = lists.into_iter().flatten().flatten();
    let name = names.into_iter().flatten().chain(listed).next();
    name.map(Spanned::span)
}
