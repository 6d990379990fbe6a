//! Titles with their numbers: `{name}` replaced by a count, a share or a list of servers, `{name|copy|copies}` by a count
//! and what is counted, `{reporters|has|have}` by servers and a word that agrees with them.

use std::collections::BTreeMap;

use toml::Spanned;

/// Servers that a title names: the finding lists them all, and a title is one sentence.
const NAMES_MAX: usize = 6;

/// What a title may name.
pub(super) struct Words<'a> {
    pub(super) counts: &'a BTreeMap<String, u64>,
    pub(super) shares: &'a BTreeMap<String, f64>,
    pub(super) facts: &'a BTreeMap<String, String>,
    pub(super) nodes: &'a [String],
    pub(super) reporters: &'a [String],
    pub(super) accused: &'a [String],
    /// Nodes that could not be asked.
    pub(super) unseen: &'a [String],
}

impl Words<'_> {
    /// Replaces every `{name}`, and leaves out the parts in brackets that would speak of nothing.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, tail)) = rest.split_once('[') {
            let Some((part, after)) = tail.split_once(']') else {
                break;
            };
            out.push_str(&self.names(before));
            if !self.is_nothing(part) {
                out.push_str(&self.names(part));
            }
            rest = after;
        }
        out.push_str(&self.names(rest));
        out
    }

    /// The same for each of several texts.
    pub(super) fn fill_all(&self, templates: &[Spanned<String>]) -> Vec<String> {
        let texts = templates.iter().map(|it| self.fill(it.get_ref()));
        texts.collect()
    }

    /// Whether a part names a count that is zero, a fact that there is not, or nobody.
    fn is_nothing(&self, part: &str) -> bool {
        part.split('{').skip(1).any(|tail| {
            let name = tail.split(['}', '|']).next().unwrap_or_default();
            match name {
                "nodes" | "reporters" | "accused" => false,
                "unseen" => self.unseen.is_empty(),
                _ => match self.counts.get(name) {
                    Some(count) => *count == 0,
                    None => !self.shares.contains_key(name) && !self.facts.contains_key(name),
                },
            }
        })
    }

    fn names(&self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, tail)) = rest.split_once('{') {
            let Some((name, after)) = tail.split_once('}') else {
                break;
            };
            out.push_str(before);
            out.push_str(&self.word(name));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn word(&self, name: &str) -> String {
        if let Some((name, forms)) = name.split_once('|') {
            let fact = self.facts.get(name).map(String::as_str);
            let one = match self.names_of(name) {
                Some(names) => names.len() <= 1,
                None => self.counts.get(name) == Some(&1) || fact == Some("1"),
            };
            let (singular, plural) = forms.split_once('|').unwrap_or((forms, forms));
            return format!(
                "{} {}",
                self.word(name),
                if one { singular } else { plural }
            );
        }
        if let Some(names) = self.names_of(name) {
            return list(names);
        }
        match (self.counts.get(name), self.shares.get(name)) {
            (Some(count), _) => thousands(*count),
            (None, Some(share)) => format!("{:.1} %", share * 100.0),
            (None, None) => self
                .facts
                .get(name)
                .map_or_else(|| "n/o".to_owned(), Clone::clone),
        }
    }

    /// The servers that a word stands for.
    fn names_of(&self, word: &str) -> Option<&[String]> {
        match word {
            "nodes" => Some(self.nodes),
            "reporters" => Some(self.reporters),
            "accused" => Some(self.accused),
            "unseen" => Some(self.unseen),
            _ => None,
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "a server that no record names".to_owned(),
        [one] => one.clone(),
        [shown @ .., _] if names.len() > NAMES_MAX => {
            let shown = &shown[..NAMES_MAX];
            let more = u64::try_from(names.len() - NAMES_MAX).unwrap_or(u64::MAX);
            format!("{} and {} more", shown.join(", "), thousands(more))
        }
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// A count with a comma between groups of three digits.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_agree_with_counts_and_with_servers() {
        let counts = BTreeMap::from([("one".to_owned(), 1), ("two".to_owned(), 2)]);
        let both = ["r1".to_owned(), "r2".to_owned()];
        let says = |accused: &[String]| {
            let words = Words {
                counts: &counts,
                shares: &BTreeMap::new(),
                facts: &BTreeMap::new(),
                nodes: &[],
                reporters: &both[..1],
                accused,
                unseen: &[],
            };
            words.fill(
                "{one|try|tries}, {two|try|tries}: {accused|refuses|refuse} {reporters|it|them}",
            )
        };
        for (accused, says_so) in [
            (&[][..], "a server that no record names refuses"),
            (&both[1..], "r2 refuses"),
            (&both, "r1 and r2 refuse"),
        ] {
            let wanted = format!("1 try, 2 tries: {says_so} r1 it");
            assert_eq!(says(accused), wanted);
        }
    }
}
