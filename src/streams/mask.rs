//! Templates mined from messages that no signal claims: what varies is replaced, what stays is the template.

/// The longest template kept, in bytes.
const TEMPLATE_BYTES: usize = 240;

/// Replaces numbers, hexadecimal runs, UUIDs, quoted texts, addresses and paths of a message by `{}`.
pub(super) fn template(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(&message[..message.len().min(4 * TEMPLATE_BYTES)]);
    let mut out = String::new();
    let mut word = String::new();
    let mut quote = None;
    for c in text.chars() {
        if out.len() >= TEMPLATE_BYTES {
            break;
        }
        if let Some(end) = quote {
            if c == end {
                quote = None;
                out.push_str("{}");
                out.push(c);
            }
            continue;
        }
        if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '%') {
            word.push(c);
            continue;
        }
        flush(&mut word, &mut out);
        // An apostrophe inside a word (`Couldn't`) opens nothing.
        let opens = matches!(c, '\'' | '"' | '`') && !out.ends_with(char::is_alphanumeric);
        quote = opens.then_some(if c == '`' && text.contains("`'") {
            '\''
        } else {
            c
        });
        out.push(if c.is_control() { ' ' } else { c });
    }
    if quote.is_some() {
        out.push_str("{}");
    }
    flush(&mut word, &mut out);
    out.replace("{} {}", "{}").replace("{}:{}", "{}")
}

/// Ends a word: one with digits that is not a plain name is a value.
fn flush(word: &mut String, out: &mut String) {
    let varies = word.chars().any(|c| c.is_ascii_digit()) || word.matches('/').count() > 1;
    if varies {
        let end = word.trim_end_matches('.').len();
        out.push_str("{}");
        out.push_str(&word[end..]);
    } else {
        out.push_str(word);
    }
    word.clear();
}

#[cfg(test)]
mod tests {
    use super::template;

    #[test]
    fn what_varies_is_replaced() {
        for (message, expected) in [
            (
                "Removing part 20260821_3_3_0 of 17 parts.",
                "Removing part {} of {} parts.",
            ),
            (
                "Couldn't start replication: Replica '/a/b' is active",
                "Couldn't start replication: Replica '{}' is active",
            ),
            (
                "Connection to 10.0.0.7:9000 (host-1) lost",
                "Connection to {} ({}) lost",
            ),
        ] {
            assert_eq!(template(message.as_bytes()), expected);
        }
    }
}
