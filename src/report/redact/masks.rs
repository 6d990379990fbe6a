//! Which text has which mask, and where texts to mask stand in a line.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Part, is_data_part, is_hash, part, path_at};
use super::queries::query_start;
use super::recognise::{
    address, canonical, credentials, hosts_in, is_address, is_name, is_sibling_of, mail,
    masked_by_miner, quoted, secret, shape, words_of,
};
use super::words::{is_file_end, is_folder};

/// The shortest text that is masked wherever it stands: a shorter one is masked in its field and in quotes.
const LITERAL_MIN: usize = 3;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Host,
    Path,
    /// Numbers, parts, tables, and words of the rule base.
    Kept,
    /// Whatever the log says.
    Text,
}

/// The masks given so far. What is given first has the lower number; texts come in the report's order.
#[derive(Debug, Default)]
pub(super) struct Masks {
    hosts: BTreeMap<String, String>,
    /// The same with small letters: logs write a name either way.
    hosts_folded: BTreeMap<String, String>,
    /// What the names of nodes look like, less their numbers.
    shapes: BTreeSet<String>,
    addresses: BTreeMap<String, String>,
    queries: BTreeMap<String, String>,
    literals: BTreeMap<String, String>,
    mails: BTreeMap<String, String>,
    folders: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
    /// Names with characters that names of hosts do not have, by their first characters.
    odd: BTreeMap<String, Vec<String>>,
    /// Versions, parts and tables: they look like addresses or literals and are none.
    kept: BTreeSet<String>,
    /// Values of fields that hold hosts.
    named: BTreeSet<String>,
    /// Words of the rule base, which are no secrets.
    words: BTreeSet<String>,
}

/// The mask of a text, made where there is none.
fn mask(masks: &mut BTreeMap<String, String>, kind: &str, text: &str) -> String {
    let next = masks.len() + 1;
    masks
        .entry(text.to_owned())
        .or_insert_with(|| format!("{kind}-{next}"))
        .clone()
}

/// A UUID or the hash of a content, and no number that somebody wrote.
fn is_long_hash(text: &str) -> bool {
    text.len() >= 16 && is_hash(text)
}

impl Masks {
    /// Notes a node, whatever it is called.
    pub(super) fn node(&mut self, name: &str) {
        if is_address(name) {
            return;
        }
        if name.contains(|c: char| c.is_alphabetic()) {
            self.shapes.insert(shape(name));
        }
        if !name.chars().all(is_name) {
            self.note_odd(name);
        }
        let made = mask(&mut self.hosts, "host", name);
        self.hosts_folded.entry(name.to_lowercase()).or_insert(made);
    }

    fn note_odd(&mut self, text: &str) {
        let beginning = text.chars().take(LITERAL_MIN).collect::<String>();
        let list = self.odd.entry(beginning).or_default();
        if !list.iter().any(|it| it == text) {
            list.push(text.to_owned());
            // The longest is tried first.
            list.sort_by_key(|it| std::cmp::Reverse(it.len()));
        }
    }

    /// Notes a host that a text names; one that is known by other letters is the same.
    fn host(&mut self, name: &str) -> String {
        let name = match name.rsplit_once(':') {
            Some((head, port))
                if !head.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) =>
            {
                head
            }
            _ => name,
        };
        if is_address(name) || name.is_empty() {
            return String::new();
        }
        let folded = name.to_lowercase();
        if let Some(known) = self
            .hosts
            .get(name)
            .or_else(|| self.hosts_folded.get(&folded))
        {
            return known.clone();
        }
        let made = mask(&mut self.hosts, "host", name);
        self.hosts_folded.insert(folded, made.clone());
        made
    }

    /// Notes what is neither an address nor a literal.
    pub(super) fn keep(&mut self, text: &str) {
        self.kept.insert(text.to_owned());
    }

    /// Notes the words of a text as those of the rule base.
    pub(super) fn words(&mut self, text: &str) {
        self.words.extend(words_of(text).map(str::to_lowercase));
    }

    /// Notes a value of a field.
    pub(super) fn field(&mut self, value: &str, holds: Holds) {
        match holds {
            Holds::Host => {
                self.host(value);
                self.named.insert(value.to_owned());
            }
            Holds::Path => self.learn_path(value),
            Holds::Kept => self.keep(value),
            Holds::Text if self.is_plain(value) => {}
            Holds::Text => self.literal(value),
        }
    }

    /// Whether a value says nothing that a rule does not say, or is a name of the software.
    fn is_plain(&self, value: &str) -> bool {
        let is_symbol = value.contains("::") && !value.contains(['\'', '"', '@', '/']);
        is_symbol || self.kept.contains(value) || words_of(value).all(|it| self.is_word(it))
    }

    fn is_word(&self, word: &str) -> bool {
        let is_number = word
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'+'));
        let is_stable = is_data_part(word) || is_hash(word) || part(word) == Part::Kept;
        let is_said = self.kept.contains(word) || self.words.contains(&word.to_lowercase());
        !self.hosts.contains_key(word) && (is_number && !is_address(word) || is_stable || is_said)
    }

    fn literal(&mut self, text: &str) {
        if !self.is_maskable(text) {
            return;
        }
        if text.chars().count() >= LITERAL_MIN && !text.chars().all(is_name) {
            self.note_odd(text);
        }
        mask(&mut self.literals, "literal", text);
    }

    /// Whether a text is a literal at all, and not a host, an address, or what stays.
    fn is_maskable(&self, text: &str) -> bool {
        !text.trim().is_empty()
            && !masked_by_miner(text)
            && !self.kept.contains(text)
            && !self.hosts.contains_key(text)
            && !is_address(text)
            && !is_data_part(text)
            && !is_long_hash(text)
    }

    /// Notes what a text shows to be a host or a literal.
    pub(super) fn learn(&mut self, text: &str, is_log: bool) {
        let head = query_start(text)
            .filter(|_| is_log)
            .map_or(text, |at| &text[..at]);
        for host in hosts_in(head, is_log) {
            let is_kept = self.kept.contains(host) || self.words.contains(&host.to_lowercase());
            if !is_kept && !is_data_part(host) && !is_hash(host) && !is_folder(host) {
                self.host(host);
            }
        }
        for word in words_of(head) {
            let is_sibling = is_sibling_of(word, &self.shapes);
            if is_sibling && !self.kept.contains(word) && !is_data_part(word) {
                self.host(word);
            }
        }
        if is_log {
            self.learn_literals(head);
        }
    }

    /// Notes what is quoted, and secrets behind their keys.
    fn learn_literals(&mut self, text: &str) {
        let mut before = None;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let mut length = c.len_utf8();
            if !before.is_some_and(char::is_alphanumeric) {
                let quoted = quoted(rest);
                let found = quoted
                    .map(|(inner, _)| inner)
                    .or_else(|| secret(rest).map(|(_, it)| it));
                if let Some(found) =
                    found.filter(|it| it.chars().count() > LITERAL_MIN && !self.is_word(it))
                {
                    self.literal(found);
                }
                // What ends a quotation begins none.
                length = quoted.map_or(length, |(_, whole)| whole.len());
            }
            let (taken, tail) = rest.split_at(length);
            before = taken.chars().next_back();
            rest = tail;
        }
    }

    /// Notes what a path is made of.
    pub(super) fn learn_path(&mut self, text: &str) {
        drop(self.path(text));
    }

    /// A node's name, or a run and a node.
    pub(super) fn name(&mut self, text: &str) -> String {
        if let Some(mask) = self.hosts.get(text) {
            return mask.clone();
        }
        match text.rsplit_once('/') {
            Some((run, node)) => format!("{}/{}", self.path(run), self.name(node)),
            None => self.sentence(text),
        }
    }

    /// A value of a field, or what else a finding is about: masked as a whole unless it is known to be harmless.
    pub(super) fn value(&mut self, text: &str) -> String {
        if self.kept.contains(text) {
            return text.to_owned();
        }
        if let Some(mask) = self.literals.get(text).or_else(|| self.hosts.get(text)) {
            return mask.clone();
        }
        if text.contains('/') && path_at(text, None).is_some_and(|it| it.len() == text.len()) {
            return self.path(text);
        }
        if self.named.contains(text) || is_address(text) || self.is_plain(text) {
            return self.log(text);
        }
        mask(&mut self.literals, "literal", text)
    }

    /// A path, part by part.
    pub(super) fn path(&mut self, text: &str) -> String {
        let separator = |c: char| matches!(c, '/' | '\\');
        let last = text.rfind(separator).map_or(0, |at| at + 1);
        let mut made = String::with_capacity(text.len());
        let mut at = 0;
        for piece in text.split_inclusive(separator) {
            let name = piece.trim_end_matches(separator);
            made.push_str(&self.part(name, at >= last));
            made.push_str(&piece[name.len()..]);
            at += piece.len();
        }
        made
    }

    fn part(&mut self, text: &str, is_last: bool) -> String {
        if let Some(mask) = self.hosts.get(text) {
            return mask.clone();
        }
        let Part::Named(stem, ends) = part(text) else {
            return text.to_owned();
        };
        if self.kept.contains(stem) {
            return text.to_owned();
        }
        let known = self
            .hosts
            .get(stem)
            .or_else(|| self.hosts_folded.get(&stem.to_lowercase()));
        let mask = match known {
            Some(mask) => mask.clone(),
            None if is_address(stem) => mask(&mut self.addresses, "addr", &canonical(stem)),
            None if is_sibling_of(stem, &self.shapes) => self.host(stem),
            None if is_last && !ends.is_empty() => mask(&mut self.files, "file", stem),
            None => mask(&mut self.folders, "dir", stem),
        };
        mask + ends
    }

    /// A sentence: hosts, addresses, paths, and known literals.
    pub(super) fn sentence(&mut self, text: &str) -> String {
        self.scan(text, false)
    }

    /// Text of a log: from where a query begins all of it is masked, before that every quoted text and every secret.
    pub(super) fn log(&mut self, text: &str) -> String {
        let (head, query) = query_start(text).map_or((text, ""), |at| text.split_at(at));
        let mut made = self.scan(head, true);
        if !query.is_empty() {
            made.push_str(&mask(&mut self.queries, "query", query));
        }
        made
    }

    fn scan(&mut self, text: &str, is_log: bool) -> String {
        let mut made = String::with_capacity(text.len());
        let mut before = None;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let found = self.at(rest, before, is_log);
            let length = found.as_ref().map_or(c.len_utf8(), |(length, _)| *length);
            let (taken, tail) = rest.split_at(length);
            match found {
                Some((_, mask)) => made.push_str(&mask),
                None => made.push_str(taken),
            }
            before = taken.chars().next_back();
            rest = tail;
        }
        made
    }

    /// What stands at the beginning of a text and is to be masked: its length, and what it becomes.
    fn at(&mut self, rest: &str, before: Option<char>, is_log: bool) -> Option<(usize, String)> {
        if let Some(user) = credentials(rest) {
            let mask = mask(&mut self.literals, "literal", user);
            return Some(("://".len() + user.len(), format!("://{mask}")));
        }
        if let Some(query) = rest
            .strip_prefix('?')
            .filter(|_| before.is_some_and(|c| !c.is_whitespace()))
        {
            let end = query
                .find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ')'))
                .unwrap_or(query.len());
            if query[..end].contains('=') {
                let mask = mask(&mut self.literals, "literal", &query[..end]);
                return Some((1 + end, format!("?{mask}")));
            }
        }
        if before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        if let Some(found) = mail(rest) {
            return Some((found.len(), mask(&mut self.mails, "mail", found)));
        }
        if let Some((inner, whole)) = quoted(rest) {
            let is_literal = is_log || self.literals.contains_key(inner);
            if is_literal {
                // What stays as a literal may still hold a name; what ends the quotation begins none.
                let inside = if self.is_maskable(inner) {
                    self.within_quotes(inner)
                } else {
                    self.scan(inner, is_log)
                };
                return Some((whole.len(), whole.replacen(inner, &inside, 1)));
            }
        }
        if is_log && let Some((lead, value)) = secret(rest) {
            // Behind a blank it may be any word of a sentence.
            let is_prose = lead.trim_end().ends_with(char::is_alphanumeric);
            if self.is_maskable(value) && !(is_prose && self.is_word(value)) {
                let mask = mask(&mut self.literals, "literal", value);
                return Some((lead.len() + value.len(), format!("{lead}{mask}")));
            }
        }
        if let Some(found) = address(rest, before).filter(|it| !self.kept.contains(*it)) {
            let mask = mask(&mut self.addresses, "addr", &canonical(found));
            return Some((found.len(), mask));
        }
        if let Some(found) = path_at(rest, before) {
            return Some((found.len(), self.path(found)));
        }
        self.known_at(rest)
    }

    /// What a quoted text becomes: a path or a name is masked as it is without quotes.
    fn within_quotes(&mut self, inner: &str) -> String {
        if path_at(inner, None).is_some_and(|it| it.len() == inner.len()) {
            return self.path(inner);
        }
        if let Some(mask) = self.hosts_folded.get(&inner.to_lowercase()) {
            return mask.clone();
        }
        mask(&mut self.literals, "literal", inner)
    }

    /// The longest known host, literal or part of a path that ends with a word.
    fn known_at(&self, rest: &str) -> Option<(usize, String)> {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let token = &rest[..end];
        let ends = token.char_indices().filter_map(|(at, c)| {
            let end = at + c.len_utf8();
            let after = rest[end..].chars().next();
            (!after.is_some_and(char::is_alphanumeric)).then_some(end)
        });
        let ends: Vec<usize> = ends.collect();
        let beside_separator = rest[end..].starts_with('/');
        let found = ends.into_iter().rev().find_map(|end| {
            let name = &token[..end];
            let folder = if beside_separator {
                self.folders.get(name)
            } else {
                None
            };
            let behind = rest[end..]
                .strip_prefix('.')
                .and_then(|it| words_of(it).next());
            let is_file =
                behind.is_some_and(|it| is_file_end(it.split('.').next().unwrap_or_default()));
            let file = if is_file { self.files.get(name) } else { None };
            Some((end, self.known(name).or(folder).or(file)?.clone()))
        });
        found.or_else(|| self.odd_at(rest))
    }

    fn known(&self, name: &str) -> Option<&String> {
        // A name without a letter would mask numbers.
        let is_named = name.contains(|c: char| c.is_alphabetic());
        let host = || {
            self.hosts
                .get(name)
                .or_else(|| self.hosts_folded.get(&name.to_lowercase()))
        };
        let literal = || {
            self.literals
                .get(name)
                .filter(|_| name.chars().count() >= LITERAL_MIN)
        };
        host().or_else(literal).filter(|_| is_named)
    }

    fn odd_at(&self, rest: &str) -> Option<(usize, String)> {
        let beginning: String = rest.chars().take(LITERAL_MIN).collect();
        let list = self.odd.get(&beginning)?;
        let name = list.iter().find(|name| rest.starts_with(name.as_str()))?;
        let mask = self.hosts.get(name).or_else(|| self.literals.get(name))?;
        Some((name.len(), mask.clone()))
    }
}
