//! What stands between braces and brackets in a title, and in what a finding is not.

use toml::Spanned;

use super::origin::LoadError;
use super::scope::RuleScope;

/// What is wrong with a text, and what to write instead.
type Wrong = (String, String);

impl RuleScope<'_, '_> {
    /// Checks that every brace and bracket is closed, and that what stands between braces is known and has its words.
    pub(super) fn check_words(&self, text: &Spanned<String>) -> Result<(), LoadError> {
        let located = |(message, hint): Wrong| self.origin.fault(text.span(), message, hint);
        check_brackets(text.get_ref()).map_err(located)?;
        let mut rest = text.get_ref().as_str();
        while let Some(at) = rest.find(['{', '}']) {
            let tail = &rest[at..];
            let shown: String = tail.chars().take(20).collect();
            let Some(inner) = tail.strip_prefix('{') else {
                let message = format!("nothing opens the brace before {:?}", &tail[1..]);
                return Err(located((message, "write {NAME}".to_owned())));
            };
            let end = inner.find(['{', '}']);
            let Some(end) = end.filter(|&end| inner[end..].starts_with('}')) else {
                let message = format!("the brace that begins with {shown:?} is not closed by `}}`");
                return Err(located((
                    message,
                    "write {NAME} or {NAME|one|many}".to_owned(),
                )));
            };
            self.check_name(&inner[..end]).map_err(located)?;
            rest = &inner[end + 1..];
        }
        Ok(())
    }

    /// Checks what stands between two braces.
    fn check_name(&self, inner: &str) -> Result<(), Wrong> {
        let mut parts = inner.split('|');
        let name = parts.next().unwrap_or_default();
        let words: Vec<&str> = parts.collect();
        let is_counted = self.counts.iter().any(|(count, _)| count == name)
            || self.declared.facts.contains_key(name);
        let is_list = matches!(name, "nodes" | "reporters" | "accused" | "unseen");
        let is_share = self.declared.shares.contains_key(name);
        if !(is_counted || is_list || is_share) {
            let counts = self.counts.iter().map(|(name, _)| name.as_str());
            let shares = self.declared.shares.keys().map(String::as_str);
            let facts = self.declared.facts.keys().map(String::as_str);
            let known: Vec<&str> = counts.chain(shares).chain(facts).collect();
            let message = format!("the title names {name:?}, which the rule does not count");
            let known = known.join(", ");
            let hint = format!("expected nodes, reporters, accused, unseen, or one of {known}");
            return Err((message, hint));
        }
        let form = format!("write {{{name}|one|many}}, with the word for one and that for several");
        match words[..] {
            [] => Ok(()),
            [_, _] if is_share => {
                let message = format!("{name:?} is no count, so that no word can agree with it");
                Err((message, format!("write {{{name}}}")))
            }
            [one, many] if !one.is_empty() && !many.is_empty() => Ok(()),
            [..] => {
                let message = format!("{{{inner}}} has not two words");
                Err((message, form))
            }
        }
    }
}

/// Checks that every bracket is closed before the next one opens.
fn check_brackets(text: &str) -> Result<(), Wrong> {
    let mut open = false;
    for (at, bracket) in text.match_indices(['[', ']']) {
        if open == (bracket == "[") {
            let shown: String = text[at..].chars().take(20).collect();
            let message = format!("the bracket at {shown:?} has no other one");
            return Err((message, BRACKETS.to_owned()));
        }
        open = !open;
    }
    if open {
        return Err(("a bracket is not closed".to_owned(), BRACKETS.to_owned()));
    }
    Ok(())
}

const BRACKETS: &str = "[...] is left out where a count in it is 0 or a fact is not there, and holds no other brackets";
