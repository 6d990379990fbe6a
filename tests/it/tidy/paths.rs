//! The names that a source file uses: imports, grouped or not, and paths in expressions; not what stands in comments
//! and strings.

use std::fs;

use super::collect;
use crate::product::repository;

/// A file of the product.
pub(super) struct Source {
    /// Below `src/`, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// Every file of the product.
pub(super) fn sources() -> Vec<Source> {
    let root = repository("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let read = |file: &std::path::PathBuf| {
        let path = file.strip_prefix(&root).unwrap().to_str().unwrap();
        Source::new(&path.replace('\\', "/"), &fs::read_to_string(file).unwrap())
    };
    files.iter().map(read).collect()
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// The first module of its path.
    pub(super) fn layer(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    pub(super) fn lines_before_tests(&self) -> usize {
        self.text
            .lines()
            .take_while(|line| *line != "#[cfg(test)]")
            .count()
    }

    /// The modules that `super` goes up through: `a/mod.rs` is one below the crate, `a/b.rs` two.
    fn depth(&self) -> usize {
        let folders = self.path.matches('/').count();
        if self.path.ends_with("mod.rs") {
            folders
        } else {
            folders + 1
        }
    }

    /// Every path that is used; what leads to the crate's root begins with `crate`.
    pub(super) fn paths(&self) -> Vec<Vec<String>> {
        let tokens = tokens(&self.text);
        let mut paths = Vec::new();
        let mut at = 0;
        // Inside `mod tests { ... }` one more `super` leads out.
        let mut inner: Vec<usize> = Vec::new();
        let mut braces = 0;
        while at < tokens.len() {
            let mut found = Vec::new();
            match tokens[at].as_str() {
                "{" => braces += 1,
                "}" => {
                    braces -= 1;
                    inner.retain(|depth| *depth <= braces);
                }
                "mod" if tokens.get(at + 2).is_some_and(|it| it == "{") => inner.push(braces + 1),
                // `+ use<T>` at the end of a type imports nothing.
                "use" if tokens.get(at + 1).is_none_or(|it| it != "<") => {
                    at = tree(&tokens, at + 1, &[], &mut found);
                }
                word if is_word(word) && (at == 0 || tokens[at - 1] != "::") => {
                    let end = straight(&tokens, at, &mut found);
                    at = end - 1;
                }
                _ => {}
            }
            let depth = self.depth() + inner.len();
            paths.extend(found.into_iter().map(|path| rooted(path, depth)));
            at += 1;
        }
        paths
    }
}

/// Writes `super::super::x` as `crate::x` where it leaves the layer, and `casdiag::x` as `crate::x`.
fn rooted(path: Vec<String>, depth: usize) -> Vec<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let crate_path = |rest: &[String]| {
        let mut path = vec!["crate".to_owned()];
        path.extend_from_slice(rest);
        path
    };
    if ups > 0 && ups >= depth {
        crate_path(&path[ups..])
    } else if path.first().is_some_and(|part| part == "casdiag") {
        crate_path(&path[1..])
    } else {
        path
    }
}

/// Reads the tree of an import from `at` on; gives where it ends.
fn tree(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    found: &mut Vec<Vec<String>>,
) -> usize {
    let mut path = before.to_vec();
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while at < tokens.len() && tokens[at] != "}" {
                    let from = at;
                    at = tree(tokens, at, &path, found);
                    assert!(at > from, "{:?} in the braces of an import", tokens[at]);
                    if tokens.get(at).is_some_and(|token| token == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            "::" => {}
            "as" => at += 1,
            "self" if !path.is_empty() => {}
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    found.push(path);
    at
}

/// Reads `a::b::c` from `at` on; gives where it ends. A single word is no path.
fn straight(tokens: &[String], mut at: usize, found: &mut Vec<Vec<String>>) -> usize {
    let mut path = vec![tokens[at].clone()];
    at += 1;
    while tokens.get(at).is_some_and(|token| token == "::")
        && tokens.get(at + 1).is_some_and(|token| is_word(token))
    {
        path.push(tokens[at + 1].clone());
        at += 2;
    }
    if path.len() > 1 {
        found.push(path);
    }
    at
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::` and single signs; comments, strings and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        if let Some(length) = skipped(rest) {
            at += length;
        } else if rest[0].is_alphanumeric() || rest[0] == '_' {
            let word: String = rest
                .iter()
                .take_while(|c| c.is_alphanumeric() || **c == '_')
                .collect();
            at += word.chars().count();
            tokens.push(word);
        } else if rest.starts_with(&[':', ':']) {
            tokens.push("::".to_owned());
            at += 2;
        } else {
            if !rest[0].is_whitespace() {
                tokens.push(rest[0].to_string());
            }
            at += 1;
        }
    }
    tokens
}

/// The length of the comment, string or character that `rest` begins with.
fn skipped(rest: &[char]) -> Option<usize> {
    let until = |end: &[char], from: usize| {
        let found = rest[from..]
            .windows(end.len())
            .position(|window| window == end);
        found.map_or(rest.len(), |found| from + found + end.len())
    };
    match rest {
        ['/', '/', ..] => Some(until(&['\n'], 2)),
        ['/', '*', ..] => Some(until(&['*', '/'], 2)),
        ['"', ..] => Some(string(rest, 0)),
        ['b', '"', ..] => Some(string(rest, 1)),
        ['r', '"' | '#', ..] => raw(rest, 1, until),
        ['b', 'r', '"' | '#', ..] => raw(rest, 2, until),
        ['\'', '\\', _, ..] => Some(until(&['\''], 3)),
        ['\'', _, '\'', ..] => Some(3),
        _ => None,
    }
}

/// The length of a string whose quote is at `quote`.
fn string(rest: &[char], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of a raw string whose hashes begin at `from`; `None` for a raw identifier.
fn raw(rest: &[char], from: usize, until: impl Fn(&[char], usize) -> usize) -> Option<usize> {
    let hashes = rest[from..].iter().take_while(|c| **c == '#').count();
    let mut end = vec!['"'];
    end.extend(std::iter::repeat_n('#', hashes));
    (rest.get(from + hashes) == Some(&'"')).then(|| until(&end, from + hashes + 1))
}
