//! Entries of what is ignored, checked: each has a reason, a day and one target.

use super::origin::{LoadError, Origin};
use super::signal::nearest;
use crate::rules::IgnoreRule;
use crate::rules::schema::{IgnoreDecl, RuleDecl};
use crate::search::Literal;
use crate::time::read_bound;

/// The shortest text that tells records apart.
const TEXT_MIN: usize = 4;

/// How many texts are looked for, each in every Error record.
const TEXTS_MAX: usize = 1_000;

/// Checks an entry; its text is added to `texts`.
pub(super) fn compile_ignore(
    at: usize,
    declared: &IgnoreDecl,
    origin: Origin<'_>,
    rules: &[RuleDecl],
    texts: &mut Vec<Literal>,
) -> Result<IgnoreRule, LoadError> {
    if declared.reason.get_ref().trim().is_empty() {
        let hint = "say why it may be ignored, for whoever reads the report";
        return Err(origin.fault(declared.reason.span(), "an empty reason", hint));
    }
    let day = declared.expires.get_ref();
    // A bound of a day alone: an hour would promise more than logs without a zone can keep.
    let until = read_bound(day).filter(|_| day.len() == "2027-01-31".len());
    let Some(until) = until else {
        let hint = "write a day, e.g. 2027-01-31: from it on the entry ignores nothing";
        return Err(origin.fault(declared.expires.span(), format!("{day:?} is no day"), hint));
    };
    match (&declared.rule, &declared.text) {
        (Some(rule), None) => {
            let ids: Vec<&str> = rules.iter().map(|it| it.id.get_ref().as_str()).collect();
            if !ids.contains(&rule.get_ref().as_str()) {
                let message = format!("there is no rule {:?}", rule.get_ref());
                return Err(origin.fault(rule.span(), message, nearest(rule.get_ref(), &ids)));
            }
        }
        (None, Some(text)) if text.get_ref().len() < TEXT_MIN => {
            let hint = format!("it must have {TEXT_MIN} bytes");
            return Err(origin.fault(text.span(), "a text that is in too many records", hint));
        }
        (None, Some(text)) if texts.len() == TEXTS_MAX => {
            let message = format!("more than {TEXTS_MAX} texts are left out");
            return Err(origin.fault(text.span(), message, "leave out those that are over"));
        }
        (None, Some(_)) => {}
        (None, None) | (Some(_), Some(_)) => {
            let message = format!("{} ignores nothing, or two things", declared.id.get_ref());
            let hint = "name a rule, or a text that unexplained records hold";
            return Err(origin.fault(declared.id.span(), message, hint));
        }
    }
    let text = declared.text.as_ref().and_then(|text| {
        let index = u16::try_from(texts.len()).ok()?;
        texts.push(Literal::new(text.get_ref()));
        Some(index)
    });
    Ok(IgnoreRule {
        declared: at,
        text,
        until,
    })
}
