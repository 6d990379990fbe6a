//! Tables drawn for people: `Pretty`, `PrettyCompact`, `PrettySpace`, with box characters or ASCII, and `Markdown`.

use super::delimited::unescape;
use super::lines::{Lines, Place};
use super::row::{COLUMNS_MAX, Columns, Row, RowFault};
use super::vertical::is_null;

/// What may stand between two cells.
const BARS: [char; 3] = ['│', '┃', '|'];

/// What a line of a drawn frame is made of.
fn is_frame(c: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&c) && !BARS.contains(&c) || matches!(c, '+' | '-')
}

/// The line without the escape sequences that color it.
pub(super) fn plain(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    if !text.contains('\u{1b}') {
        return text.into_owned();
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        // `ESC [ ... letter`.
        for c in chars.by_ref() {
            if c.is_ascii_alphabetic() {
                break;
            }
        }
    }
    out
}

/// What a line draws.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Drawn {
    /// A heading that stands in the frame's upper edge: names.
    Edge(Vec<String>),
    /// An edge without names.
    Rule,
    /// Cells between bars.
    Cells,
    /// Nothing of a table.
    Other,
}

/// Tells what a line draws.
pub(super) fn drawn(line: &str) -> Drawn {
    let line = line.trim();
    let Some(first) = line.chars().next() else {
        return Drawn::Other;
    };
    if matches!(first, '┌' | '┏' | '├' | '┡' | '└' | '+' | '╞' | '┢') && line.chars().count() > 2
    {
        let names: Vec<String> = line
            .split(is_edge_joint)
            .map(|name| name.trim_matches(|c| is_frame(c) || c == ' ').to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        let is_closed = line.chars().last().is_some_and(is_frame);
        return match (names.is_empty(), is_closed) {
            (true, true) => Drawn::Rule,
            (false, true) => Drawn::Edge(names),
            (_, false) => Drawn::Other,
        };
    }
    let bars = line.chars().filter(|c| BARS.contains(c)).count();
    if bars >= 2 {
        Drawn::Cells
    } else {
        Drawn::Other
    }
}

/// Where two columns meet in an edge.
fn is_edge_joint(c: char) -> bool {
    matches!(
        c,
        '┬' | '┳' | '┌' | '┐' | '┏' | '┓' | '╇' | '┼' | '┴' | '┡' | '┩' | '+'
    )
}

/// Whether a line is the second one of a Markdown table.
pub(super) fn is_markdown_rule(line: &str) -> bool {
    let inner = line
        .trim()
        .strip_prefix('|')
        .and_then(|it| it.strip_suffix('|'));
    inner.is_some_and(|inner| {
        let parts = inner.split('|');
        parts.clone().count() > 0
            && parts.into_iter().all(|part| {
                let part = part.trim();
                part.contains('-') && part.chars().all(|c| matches!(c, '-' | ':'))
            })
    })
}

/// The text between the bars of a line, trimmed.
pub(super) fn between_bars(line: &str) -> Vec<&str> {
    let mut cells: Vec<&str> = line.split(BARS).collect();
    // What stands before the first bar is the row's number; behind the last one is nothing.
    cells.pop();
    if !cells.is_empty() {
        cells.remove(0);
    }
    cells
}

/// The characters at which an edge has joints.
fn joints(edge: &str) -> Vec<usize> {
    let chars = edge.chars().enumerate();
    let joints = chars.filter(|&(_, c)| is_edge_joint(c)).map(|(at, _)| at);
    joints.take(COLUMNS_MAX + 1).collect()
}

/// The text between the bars that stand below the frame's joints; nothing where one has no bar.
fn between_joints<'t>(line: &'t str, joints: &[usize]) -> Option<Vec<&'t str>> {
    let mut bars = Vec::new();
    let mut wanted = joints.iter().peekable();
    for (at, (byte, c)) in line.char_indices().enumerate() {
        if wanted.peek() == Some(&&at) {
            if !BARS.contains(&c) {
                return None;
            }
            bars.push((byte, byte + c.len_utf8()));
            wanted.next();
        }
    }
    let pairs = bars.windows(2).map(|pair| &line[pair[0].1..pair[1].0]);
    (wanted.next().is_none() && bars.len() > 1).then(|| pairs.collect())
}

/// Names that stand apart by three blanks or more, each with the characters that it covers: the heading of `PrettySpace`.
pub(super) fn spaced_names(line: &str) -> Vec<(String, usize, usize)> {
    let mut names = Vec::new();
    for (start, text) in tokens(line) {
        let is_name = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '(' | ')'));
        if !is_name {
            return Vec::new();
        }
        names.push((text.to_owned(), start, start + text.chars().count()));
    }
    names
}

/// The texts of a line that two blanks or more keep apart, and the character that each begins at.
fn tokens(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start: Option<(usize, usize)> = None;
    let mut end = 0;
    let mut blanks = 0;
    for (at, (byte, c)) in line.char_indices().enumerate() {
        if c == ' ' {
            blanks += 1;
            continue;
        }
        if blanks >= 2
            && let Some((from, first)) = start.take()
        {
            found.push((from, &line[first..end]));
        }
        start.get_or_insert((at, byte));
        blanks = 0;
        end = byte + c.len_utf8();
    }
    if let Some((from, first)) = start {
        found.push((from, &line[first..end]));
    }
    found
}

/// How the cells of a table are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawing {
    /// By bars.
    Bars,
    /// By bars, with escapes in the cells.
    Markdown,
    /// By blanks.
    Spaces,
}

/// Reads the rows of drawn tables.
pub(super) struct Pretty {
    drawing: Drawing,
    /// Whether columns are known and rows follow.
    in_table: bool,
    /// The characters that each name covers, with `Spaces`.
    spans: Vec<(usize, usize)>,
    /// The characters at which the frame has a joint: where a cell holds a bar, its place tells it from the frame's.
    joints: Vec<usize>,
    line: Vec<u8>,
}

impl Pretty {
    pub(super) fn new(drawing: Drawing) -> Self {
        Self {
            drawing,
            in_table: false,
            spans: Vec::new(),
            joints: Vec::new(),
            line: Vec::new(),
        }
    }

    /// Reads the next row, and on the way the headings.
    pub(super) fn next(&mut self, lines: &mut Lines, columns: &mut Columns, row: &mut Row) -> bool {
        row.clear();
        loop {
            self.line.clear();
            let Some(place) = lines.next(&mut self.line) else {
                return false;
            };
            let text = plain(&self.line);
            if self.is_heading(&text, columns) {
                continue;
            }
            if self.in_table && self.is_row(&text) {
                (row.line, row.offset) = (place.line, place.offset);
                self.row(text, place, lines, columns, row);
                return true;
            }
        }
    }

    fn is_row(&self, text: &str) -> bool {
        match self.drawing {
            Drawing::Bars => drawn(text) == Drawn::Cells,
            Drawing::Markdown => text.trim_start().starts_with('|') && !is_markdown_rule(text),
            Drawing::Spaces => !text.trim().is_empty(),
        }
    }

    /// Takes a line that names the columns, or that belongs to the frame.
    fn is_heading(&mut self, text: &str, columns: &mut Columns) -> bool {
        if self.drawing == Drawing::Spaces {
            if self.in_table {
                return false;
            }
            let names = spaced_names(text);
            self.in_table = names.len() > 1;
            self.spans = names.iter().map(|(_, from, to)| (*from, *to)).collect();
            *columns = Columns::new(names.into_iter().map(|(name, ..)| name));
            return true;
        }
        match drawn(text) {
            Drawn::Edge(names) => {
                self.joints = joints(text);
                *columns = Columns::new(names);
                self.in_table = true;
                true
            }
            Drawn::Rule => {
                let first = text.trim_start().chars().next();
                // A new frame: its names stand between the bars of the next line.
                if first == Some('┏') || (first == Some('+') && !self.in_table) {
                    self.in_table = false;
                    *columns = Columns::default();
                    self.joints = joints(text);
                }
                true
            }
            Drawn::Cells if !self.in_table => {
                let names = between_bars(text);
                let names = names.iter().map(|name| name.trim().to_owned());
                *columns = Columns::new(names);
                self.in_table = true;
                true
            }
            Drawn::Cells => is_markdown_rule(text) || is_names(text, columns),
            // What a client prints behind a table ends it.
            Drawn::Other => {
                self.in_table &= text.trim().is_empty() || self.drawing == Drawing::Bars;
                false
            }
        }
    }

    fn row(
        &mut self,
        mut text: String,
        mut place: Place,
        lines: &mut Lines,
        columns: &Columns,
        row: &mut Row,
    ) {
        let count = columns.names().len();
        if self.drawing == Drawing::Bars {
            place.cut |= read_broken_row(&mut text, count, lines);
        }
        let mut cells = self.split(&text, count);
        if self.drawing != Drawing::Markdown {
            place.cut |= self.go_on(&mut cells, count, lines);
        }
        if place.cut {
            row.fail(RowFault::Long);
        }
        if cells.len() != count {
            row.fail(RowFault::Ragged);
        }
        for (column, cell) in cells.iter().enumerate().take(count) {
            let cell = cell.trim();
            if is_null(cell.as_bytes()) {
                continue;
            }
            if self.drawing == Drawing::Markdown {
                row.write(column, |out| unescape(cell.as_bytes(), out));
            } else {
                row.push(column, cell.as_bytes());
            }
        }
    }

    /// Joins the lines that a row with line ends in its values goes on over; whether it is too long.
    fn go_on(&self, cells: &mut [String], count: usize, lines: &mut Lines) -> bool {
        let mut bytes: usize = cells.iter().map(String::len).sum();
        loop {
            let mut more = Vec::new();
            let Some(next) = lines.next(&mut more) else {
                return false;
            };
            let parts = self.split(&plain(&more), count);
            let goes_on = parts.iter().any(|it| it.starts_with(['↳', '>']))
                && parts.len() == cells.len()
                && cells.iter().any(|it| it.ends_with(['↴', '\\']));
            if !goes_on {
                lines.give_back(more, next);
                return false;
            }
            bytes += more.len();
            if bytes > lines.bytes_max() {
                return true;
            }
            join(cells, &parts);
        }
    }

    /// The cells of a line.
    fn split(&self, text: &str, count: usize) -> Vec<String> {
        if self.drawing != Drawing::Spaces {
            let mut cells = between_bars(text);
            if cells.len() > count
                && let Some(placed) = between_joints(text, &self.joints)
            {
                cells = placed;
            }
            let cells = cells.iter().map(|cell| cell.trim().to_owned());
            return cells.take(COLUMNS_MAX).collect();
        }
        let mut cells = vec![String::new(); count];
        for (start, token) in tokens(text) {
            let end = start + token.chars().count();
            // The heading above it, or else the one to its left: a value may hold blanks.
            let is_below = |&(from, to): &(usize, usize)| from < end && start < to;
            let is_right_of = |&(_, to): &(usize, usize)| to <= start;
            // Left of the first heading stands the row's number.
            let is_number = token.ends_with('.') && start == 0;
            let column = self.spans.iter().position(is_below);
            let column = column.or_else(|| self.spans.iter().rposition(is_right_of));
            let Some(column) = column.filter(|_| !is_number) else {
                continue;
            };
            if !cells[column].is_empty() {
                cells[column].push_str("  ");
            }
            cells[column].push_str(token);
        }
        cells
    }
}

/// Reads on while a row has fewer bars than it must have: its values hold line ends, as they were drawn before such values
/// got lines of their own. Whether it is too long.
fn read_broken_row(text: &mut String, count: usize, lines: &mut Lines) -> bool {
    let bars = |line: &str| line.chars().filter(|c| BARS.contains(c)).count();
    let mut found = bars(text);
    let mut cut = false;
    while found <= count {
        let mut more = Vec::new();
        let Some(next) = lines.next(&mut more) else {
            break;
        };
        let line = plain(&more);
        if !matches!(drawn(&line), Drawn::Other | Drawn::Cells) {
            lines.give_back(more, next);
            break;
        }
        found += bars(&line);
        cut |= next.cut;
        if text.len() + line.len() > lines.bytes_max() {
            return true;
        }
        text.push('\n');
        text.push_str(&line);
    }
    cut
}

/// Whether a line repeats the names: some clients print them below a long table again.
fn is_names(text: &str, columns: &Columns) -> bool {
    let cells = between_bars(text);
    cells.len() == columns.names().len()
        && cells
            .iter()
            .zip(columns.names())
            .all(|(cell, name)| cell.trim() == name)
}

/// Adds the lines that go on to the cells that they go on with.
fn join(cells: &mut [String], parts: &[String]) {
    for (cell, part) in cells.iter_mut().zip(parts) {
        let Some(more) = part.strip_prefix(['↳', '>']) else {
            continue;
        };
        let length = cell.trim_end_matches(['↴', '\\']).trim_end().len();
        cell.truncate(length);
        cell.push('\n');
        cell.push_str(more);
    }
}
