//! What text alone shows to be an address, a host, a mail address, a literal or a secret.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::words;

/// Whether a name of a host may hold it, or a name in a log that is like one.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// The words of a text, as names have them.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_name(c));
    words
        .map(|it| it.trim_matches(['.', '-', '_']))
        .filter(|it| !it.is_empty())
}

/// A name with its numbers taken out.
pub(super) fn shape(name: &str) -> String {
    let mut made = String::new();
    for c in name.chars() {
        if !c.is_ascii_digit() {
            made.extend(c.to_lowercase());
        } else if !made.ends_with('#') {
            made.push('#');
        }
    }
    made
}

/// Whether a name differs only in its numbers from one of the shapes: `ctrl-3` beside `ctrl-1`.
pub(super) fn is_sibling_of(name: &str, shapes: &BTreeSet<String>) -> bool {
    name.contains(|c: char| c.is_ascii_digit()) && shapes.contains(&shape(name))
}

/// Whether a whole text is an address.
pub(super) fn is_address(text: &str) -> bool {
    let text = text.trim_start_matches('[').trim_end_matches(']');
    text.parse::<IpAddr>().is_ok() || is_mac(text)
}

/// The one way to write an address: an IPv4 address is the same inside an IPv6 address.
pub(super) fn canonical(text: &str) -> String {
    match text.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().to_string(),
        Err(_) => text.to_ascii_lowercase(),
    }
}

fn is_mac(text: &str) -> bool {
    let groups = text.split(':');
    text.len() == 17
        && groups.clone().count() == 6
        && groups.into_iter().all(|it| it.len() == 2)
        && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b':')
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// The address at the beginning of a text.
pub(super) fn address(rest: &str, before: Option<char>) -> Option<&str> {
    if matches!(before, Some('.' | ':' | '_')) && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_part = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let after = rest[end..].chars().next();
    let token = rest[..end].trim_end_matches(['.', ':']);
    let cut = token.len() < end;
    let ends_word = cut || !after.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let has_digit = token.contains(|c: char| c.is_ascii_hexdigit());
    let is_six =
        before != Some(':') && has_digit && (token.parse::<Ipv6Addr>().is_ok() || is_mac(token));
    if is_six && ends_word {
        return Some(token);
    }
    let four = token.split(':').next().unwrap_or_default();
    let has_port = four.len() < token.len();
    let is_four = before != Some('.') && four.parse::<Ipv4Addr>().is_ok();
    (is_four && (ends_word || has_port)).then_some(four)
}

/// Hosts that a text shows: behind `://`, names of a domain, names before a port, names with a number at their end.
pub(super) fn hosts_in(text: &str, is_log: bool) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let rest = &text[at + mark.len()..];
        let rest = credentials(&text[at..])
            .map_or(rest, |user| rest.get(user.len() + 1..).unwrap_or_default());
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        found.push(rest[..end].trim_end_matches(['.', '-']));
    }
    let mut at = 0;
    let mut lead = "";
    for word in text.split(|c: char| !is_name(c)) {
        let before = text[..at].chars().next_back();
        let after = &text[at + word.len()..];
        at += word.len() + after.chars().next().map_or(0, char::len_utf8);
        let name = word.trim_matches(['.', '-', '_']);
        let follows =
            words::is_before_host(lead) && matches!(before, Some(' ' | '=' | ':' | '(' | '['));
        let is_assigned = follows && before == Some('=');
        let is_host = is_qualified(name)
            || is_before_port(after) && is_named_like_host(name, before, follows)
            || is_log
                && !is_dotted(name)
                && (is_numbered(name) || follows && is_counted(name) || is_assigned);
        if is_host && !words::is_no_host(name) {
            found.push(name);
        }
        if !name.is_empty() {
            lead = name;
        }
    }
    found.retain(|name| name.contains(|c: char| c.is_ascii_alphabetic()));
    found
}

fn is_dotted(name: &str) -> bool {
    name.contains('.')
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| words::is_file_end(end))
}

/// `db7.prod.example.org`, `minio.local`: labels as hosts have them, the last of letters.
fn is_qualified(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let last = labels.last().copied().unwrap_or_default();
    let first = labels.first().copied().unwrap_or_default();
    let is_lower = !name.contains(|c: char| c.is_ascii_uppercase());
    let is_known = words::is_domain(last);
    labels.len() >= 2
        && (is_known || is_lower && labels.len() >= 3)
        && labels.iter().all(is_label)
        && first.contains(|c: char| c.is_ascii_alphabetic())
        && last.len() >= 2
        && last.bytes().all(|b| b.is_ascii_alphabetic())
        && !is_file(name)
}

/// `:9000`, and no longer number.
fn is_before_port(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(':') else {
        return false;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (2..=5).contains(&digits)
        && !rest[digits..].starts_with(|c: char| is_name(c) && c != '.' || c == ':')
}

/// A word before a port is a host if it looks like one, or stands where hosts do: `size:10240` is none.
fn is_named_like_host(name: &str, before: Option<char>, follows: bool) -> bool {
    let looks = name.contains(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins
        && !name.contains('_')
        && !is_file(name)
        && (looks || follows || matches!(before, Some('(' | '/' | '@')))
}

/// `ctrl-3`, `ip-10-0-0-7`: small letters and a number of few digits behind a hyphen.
fn is_numbered(name: &str) -> bool {
    let Some((head, number)) = name.rsplit_once('-') else {
        return false;
    };
    let is_label = |it: &str| {
        !it.is_empty()
            && it
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    let is_number = (1..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    is_number && head.starts_with(|c: char| c.is_ascii_lowercase()) && head.split('-').all(is_label)
}

/// `ch3`, `db-east`: what is a host where one may stand.
fn is_counted(name: &str) -> bool {
    let has_end = name.ends_with(|c: char| c.is_ascii_digit());
    let is_small = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let letters = name.bytes().filter(u8::is_ascii_lowercase).count();
    is_small
        && letters > 1
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && (has_end || name.contains('-'))
}

/// What stands before the `@` of a URL, or what may be its beginning where the text is cut; the text begins with `://`.
pub(super) fn credentials(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("://")?;
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>'));
    let url = &rest[..end.unwrap_or(rest.len())];
    if let Some((user, _)) = url.rsplit_once('@') {
        return (!user.is_empty()).then_some(user);
    }
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    let (_, port) = authority.rsplit_once(':')?;
    let is_port = port.bytes().next().is_none_or(|b| b.is_ascii_digit());
    (!is_port && !authority.starts_with('[')).then_some(authority)
}

/// The mail address at the beginning of a text, or whatever else stands before an `@` and a name.
pub(super) fn mail(rest: &str) -> Option<&str> {
    let end = rest.find(|c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>' | '(' | ')' | ',')
    });
    let token = &rest[..end.unwrap_or(rest.len())];
    let at = token.rfind('@').filter(|at| *at > 0)?;
    let domain = &token[at + 1..];
    let end = domain.find(|c| !is_name(c)).unwrap_or(domain.len());
    let length = domain[..end].trim_end_matches(['.', '-']).len();
    let begins = token.starts_with(is_name);
    // A path behind it is that of a URL whose beginning a template has lost.
    let end = if domain[length..].contains('/') {
        token.len()
    } else {
        at + 1 + length
    };
    (begins && length > 0).then(|| &token[..end])
}

/// What is quoted, and the same with its quotes, if a text begins with one: to the quote that ends a word, or to the end.
pub(super) fn quoted(rest: &str) -> Option<(&str, &str)> {
    let quote = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let inner = &rest[1..];
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        let after = inner[at + c.len_utf8()..].chars().next();
        if c == quote && !is_escaped && !after.is_some_and(char::is_alphanumeric) {
            return (at > 0).then_some((&inner[..at], &rest[..at + 2]));
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (!inner.is_empty()).then_some((inner, rest))
}

/// Whether all of a text is what stands for values in a template.
pub(super) fn masked_by_miner(text: &str) -> bool {
    text.contains("{}") && !text.contains(char::is_alphanumeric)
}

/// A key of a secret with what is behind it, and its value, if a text begins with them: `user=x`, `password: x`, or the
/// id of a query in the head of a record.
pub(super) fn secret(rest: &str) -> Option<(&str, &str)> {
    let ends_value =
        |c: char| c.is_whitespace() || matches!(c, ',' | ')' | '}' | '\'' | '"' | '`' | '&' | '>');
    if let Some(inner) = rest.strip_prefix('{') {
        let (id, after) = inner.split_once('}')?;
        let is_id = after.starts_with(" <") && !id.is_empty() && !id.contains("::");
        return is_id.then(|| (&rest[..1], id));
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let (key, tail) = rest.split_at(end);
    if !words::is_before_secret(key) {
        return None;
    }
    let value = tail.trim_start_matches([' ', '=', ':']);
    let lead = &rest[..rest.len() - value.len()];
    let end = value.find(ends_value).unwrap_or(value.len());
    let value = value[..end].trim_end_matches(['.', ':']);
    let is_value = lead.len() > key.len() && !value.is_empty() && !value.contains("://");
    is_value.then_some((lead, value))
}

/// Whether a line looks like the head of a record: it begins with a date or a time of day.
pub(super) fn begins_record(line: &str) -> bool {
    let bytes = line.as_bytes();
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    match bytes.get(digits) {
        Some(b'.' | b'-') => digits == 4 && bytes.get(5).is_some_and(u8::is_ascii_digit),
        Some(b':') => digits == 2 && bytes.get(3).is_some_and(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_versions_times_and_names() {
        for (text, found) in [
            ("10.0.0.7:9000 x", Some("10.0.0.7")),
            ("10.0.0.7.", Some("10.0.0.7")),
            ("::1]:9000", Some("::1")),
            ("2001:db8::7, x", Some("2001:db8::7")),
            ("::ffff:10.1.2.3]", Some("::ffff:10.1.2.3")),
            ("00:1a:2b:3c:4d:5e", Some("00:1a:2b:3c:4d:5e")),
            ("26.6.4.20001", None),
            ("1.2.3.4.5", None),
            ("23:28:20.815597", None),
            ("DB::Exception", None),
            ("::", None),
            ("10.0.0.7x", None),
        ] {
            assert_eq!(address(text, None), found, "{text}");
        }
        assert_eq!(canonical("::ffff:10.1.2.3"), "10.1.2.3");
        assert_eq!(canonical("2001:DB8:0::7"), "2001:db8::7");
    }

    #[test]
    fn hosts_are_told_from_files_tables_and_sizes() {
        for (text, found) in [
            (
                "to http://user:pw@minio:9000/bucket",
                vec!["minio", "minio"],
            ),
            (
                "cannot resolve db7.prod.example.org.",
                vec!["db7.prod.example.org"],
            ),
            ("refused (keeper:9181), ch-2:9009", vec!["keeper", "ch-2"]),
            ("connect to minio:9000, leader=lion", vec!["minio", "lion"]),
            ("round 19: kill ctrl-3, expect failover", vec!["ctrl-3"]),
            ("fetch from ch3 failed, utf-8, on s3", vec!["ch3"]),
            (
                "DB7.EXAMPLE.COM and minio.local",
                vec!["DB7.EXAMPLE.COM", "minio.local"],
            ),
            ("StorageX.cpp:123 clickhouse-server.err.log:79", vec![]),
            ("size:10240 system.text_log at 10:00:01 a1:123456", vec![]),
        ] {
            assert_eq!(hosts_in(text, true), found, "{text}");
        }
    }

    #[test]
    fn credentials_end_at_the_last_at_sign_or_where_the_text_is_cut() {
        for (text, found) in [
            ("://u:p@h:1/x", Some("u:p")),
            ("://u:p/w@h:1/x", Some("u:p/w")),
            ("://u:p@ss@h", Some("u:p@ss")),
            ("://u:secr", Some("u:secr")),
            ("://u:{}", Some("u:{}")),
            ("://h:9000/x", None),
            ("://h/x", None),
            ("://[::1]:9000/x", None),
        ] {
            assert_eq!(credentials(text), found, "{text}");
        }
    }

    #[test]
    fn secrets_and_mail_addresses_are_found_with_their_keys() {
        assert_eq!(secret("user: alice, x"), Some(("user: ", "alice")));
        assert_eq!(secret("password=a;b"), Some(("password=", "a;b")));
        assert_eq!(secret("users of x"), None);
        assert_eq!(secret("{q-17} <Error> x"), Some(("{", "q-17")));
        assert_eq!(secret("{} <Error> x"), None);
        assert_eq!(mail("a.b@c.org, x"), Some("a.b@c.org"));
        assert_eq!(
            mail("opensesame@minio-prod:{}"),
            Some("opensesame@minio-prod")
        );
        assert_eq!(
            mail("pass@warehouse/backups:{} x"),
            Some("pass@warehouse/backups:{}")
        );
        assert_eq!(mail("a b@c"), None);
    }

    #[test]
    fn a_quote_is_no_apostrophe() {
        assert_eq!(quoted("'a b' c"), Some(("a b", "'a b'")));
        assert_eq!(quoted(r"'it\'s' c"), Some((r"it\'s", r"'it\'s'")));
        assert_eq!(quoted("'it's' c"), Some(("it's", "'it's'")));
        assert_eq!(quoted("'cut"), Some(("cut", "'cut")));
        assert_eq!(quoted("'' x"), None);
    }
}
