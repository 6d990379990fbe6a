//! Whether the error that a test was told of is the error of a finding's records: one code has several meanings, which its text
//! tells apart.

use memchr::memmem;

use super::signature::normalized;
use crate::rules::{Finding, RuleBase};
use crate::signals::{At, Signal, Template};

/// How much an error and a finding that share a code have in common beyond it; the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kinship {
    /// The same text, or the same family of the code.
    Text,
    /// Nothing that can be compared: the number is all they share.
    Number,
}

/// The code of the server's error in a message: the first `Code: N` followed by `.` or `,`. Further ones are what that went back
/// to, and general.
pub(super) fn code(message: &str) -> Option<u32> {
    message.match_indices("Code: ").find_map(|(at, found)| {
        let rest = &message[at + found.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let ends = matches!(rest.as_bytes().get(digits), Some(b'.' | b','));
        rest[..digits].parse().ok().filter(|_| ends)
    })
}

/// What an error of a code has in common with a finding; nothing if the finding's records carry other codes, or the code with
/// another meaning.
pub(super) fn kinship(
    base: &RuleBase,
    finding: &Finding,
    code: u32,
    message: &str,
) -> Option<Kinship> {
    let signals = finding.grounds.iter().map(|at| base.signals.signal(*at));
    let with_code = signals.filter(|signal| signal.codes.contains(&code));
    with_code
        .filter_map(|signal| with_signal(base, finding, signal, (code, message)))
        .min()
}

fn with_signal(
    base: &RuleBase,
    finding: &Finding,
    signal: &Signal,
    (code, message): (u32, &str),
) -> Option<Kinship> {
    let keys = signal.templates.iter().filter_map(Template::key);
    // A signal of all records with a code has the number alone for its text.
    let mut keys = keys.filter(|key| !key.starts_with(b"Code: "));
    if keys.any(|key| memmem::find(message.as_bytes(), key).is_some()) {
        return Some(Kinship::Text);
    }
    let own = base.families.of(code, message.as_bytes());
    let is_told_by_text = |family: &u16| {
        let family = base.families.all().get(usize::from(*family));
        family.is_some_and(|family| !family.contains.is_empty())
    };
    let templates = signal.templates.iter();
    let of_signal = templates
        .filter_map(|template| base.families.of(code, template.source().as_bytes()))
        .find(is_told_by_text);
    if let Some(family) = of_signal {
        return (own == Some(family)).then_some(Kinship::Text);
    }
    // What a server's exception says is what its client is told.
    if signal.at == At::Exception && !signal.templates.is_empty() {
        return None;
    }
    let texts = || {
        finding
            .evidence
            .iter()
            .map(|(_, evidence)| evidence.text.as_str())
    };
    let is_of_family = own.filter(is_told_by_text).is_some_and(|own| {
        texts().any(|text| base.families.of(code, text.as_bytes()) == Some(own))
    });
    let told = said(message);
    let is_same = texts()
        .map(said)
        .any(|text| !text.is_empty() && text == told);
    Some(if is_of_family || is_same {
        Kinship::Text
    } else {
        Kinship::Number
    })
}

/// What the innermost exception of a text says, without what differs from run to run.
fn said(text: &str) -> String {
    let from = text
        .rfind("Exception: ")
        .map_or(text.len(), |at| at + "Exception: ".len());
    let end = text[from..]
        .find(['\n', '('])
        .map_or(text.len(), |end| from + end);
    normalized(text[from..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_code_of_a_message_is_its_code() {
        assert_eq!(
            code("Exitcode 49\n  Code: 49. DB::Exception: x: Code: 210. y"),
            Some(49)
        );
        assert_eq!(code("Code: 210, e.displayText()"), Some(210));
        assert_eq!(code("Code: 210 or so"), None);
    }

    #[test]
    fn the_innermost_exception_is_compared_without_what_varies() {
        assert_eq!(
            said(
                "executeQuery: Code: 60. DB::Exception: Received from a:9000. DB::Exception: Table t_00012345 does not exist. (UNKNOWN_TABLE)"
            ),
            "Table t_{n} does not exist."
        );
        assert_eq!(said("no exception"), "");
    }
}
