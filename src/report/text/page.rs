//! Lines that fit the terminal, each cut to its width before it is colored.

use std::io::{self, Write};

use crate::report::Style;
use crate::report::figures::counted;
use crate::report::width;
use crate::vocab::Severity;

/// A narrower terminal gets lines that it has to wrap.
const WIDTH_MIN: usize = 40;

/// Blanks before the further lines of a title.
const TITLE_INDENT: usize = 4;

/// The column at which remarks begin, behind their labels.
const REMARK_INDENT: usize = 13;

/// How much of each kind of thing is shown.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Room {
    /// Lines of a finding's title.
    pub(in crate::report) title_lines: usize,
    /// Records cited of the worst finding.
    pub(in crate::report) evidence: usize,
    /// Signals in the counts table.
    pub(in crate::report) signals: usize,
    /// Unexplained templates named.
    pub(in crate::report) templates: usize,
    /// Problems of inputs named.
    pub(in crate::report) problems: usize,
    /// WALs with a row.
    pub(in crate::report) wals: usize,
    /// Problems of WALs told.
    pub(in crate::report) wal_problems: usize,
    /// Groups of failing tests, runs of tests, and disagreements told.
    pub(super) tests: usize,
    /// Findings told with evidence.
    pub(super) told: usize,
    /// Findings of which only a line is given.
    pub(super) mentioned: usize,
    /// Whether the positions of damaged WALs are drawn.
    pub(in crate::report) draws: bool,
}

impl Room {
    /// For a report of which everything fits.
    pub(in crate::report) const WIDE: Self = Self {
        title_lines: 2,
        evidence: 2,
        signals: 7,
        templates: 2,
        problems: 2,
        wals: 6,
        wal_problems: 3,
        tests: 4,
        told: 2,
        mentioned: 3,
        draws: true,
    };

    /// For one with something of every kind.
    pub(in crate::report) const NARROW: Self = Self {
        title_lines: 1,
        evidence: 1,
        signals: 5,
        templates: 1,
        problems: 1,
        wals: 2,
        wal_problems: 1,
        tests: 3,
        told: 2,
        mentioned: 3,
        draws: false,
    };

    /// For one with tests and logs that both have much to say: without the table of counts.
    pub(super) const NARROWEST: Self = Self {
        evidence: 0,
        signals: 0,
        tests: 3,
        told: 1,
        mentioned: 2,
        ..Self::NARROW
    };
}

/// Lines to print.
pub(in crate::report) struct Page {
    style: Style,
    room: Room,
    lines: Vec<String>,
    left_out: Vec<String>,
}

/// How a part of a line stands out.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) enum Paint {
    /// Of a severity.
    Severity(Severity),
    /// A heading.
    Bold,
    /// Less important.
    Dim,
}

impl Page {
    /// An empty page.
    pub(in crate::report) fn new(style: Style, room: Room) -> Self {
        Self {
            room,
            style: Style {
                width: style.width.max(WIDTH_MIN),
                ..style
            },
            lines: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Columns of a line.
    pub(in crate::report) fn width(&self) -> usize {
        self.style.width
    }

    /// How much is shown.
    pub(in crate::report) fn room(&self) -> Room {
        self.room
    }

    /// Lines so far.
    pub(in crate::report) fn height(&self) -> usize {
        self.lines.len()
    }

    /// Adds an empty line, unless there is one already.
    pub(in crate::report) fn gap(&mut self) {
        if self.lines.last().is_some_and(|it| !it.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Adds a line.
    pub(in crate::report) fn line(&mut self, text: &str) {
        self.lines
            .push(width::cut(text, self.width()).trim_end().to_owned());
    }

    /// Adds a line whose first `painted` bytes stand out.
    pub(in crate::report) fn painted_line(&mut self, text: &str, painted: usize, paint: Paint) {
        let line = width::cut(text, self.width());
        let line = line.trim_end();
        let (head, tail) = line.split_at_checked(painted).unwrap_or((line, ""));
        self.lines
            .push(format!("{}{tail}", self.colored(head, paint)));
    }

    /// Adds a text in at most `lines_max` lines; its first `painted` bytes stand out, further lines are indented.
    pub(in crate::report) fn painted(
        &mut self,
        text: &str,
        painted: usize,
        paint: Paint,
        lines_max: usize,
    ) {
        let lines = width::wrap(text, self.width() - TITLE_INDENT, lines_max);
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                self.painted_line(line, painted, paint);
            } else {
                self.line(&format!("{:TITLE_INDENT$}{line}", ""));
            }
        }
    }

    /// Adds a text behind an indent, in at most `lines_max` lines.
    pub(in crate::report) fn wrapped(&mut self, text: &str, indent: usize, lines_max: usize) {
        for line in width::wrap(text, self.width().saturating_sub(indent), lines_max) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Columns left to a remark behind its label.
    pub(in crate::report) fn remark_width(&self) -> usize {
        self.width().saturating_sub(REMARK_INDENT)
    }

    /// Adds a text of at most `lines_max` lines behind a label; without a label it continues the one above.
    pub(in crate::report) fn remark(&mut self, label: &str, text: &str, lines_max: usize) {
        let mut label = label;
        for line in width::wrap(text, self.remark_width(), lines_max) {
            self.painted_line(
                &format!("{label:REMARK_INDENT$}{line}"),
                label.len(),
                Paint::Bold,
            );
            label = "";
        }
    }

    /// Notes that so many things are not shown, if any.
    pub(in crate::report) fn leave_out(&mut self, count: usize, one: &str, many: &str) {
        if count > 0 {
            self.left_out
                .push(counted(u64::try_from(count).unwrap_or(u64::MAX), one, many));
        }
    }

    /// Adds how to see what is not shown.
    pub(in crate::report) fn say_what_is_left_out(&mut self) {
        if !self.left_out.is_empty() {
            let text = format!(
                "--format json, or markdown to read; left out here: {}",
                self.left_out.join(", ")
            );
            self.remark("in full", &text, 2);
        }
    }

    /// Writes the lines.
    pub(in crate::report) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in &self.lines {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn colored(&self, text: &str, paint: Paint) -> String {
        if !self.style.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Severity(Severity::Critical | Severity::High) => "1;31",
            Paint::Severity(Severity::Medium) => "1;33",
            Paint::Severity(Severity::Low) => "36",
            Paint::Severity(Severity::Info) | Paint::Dim => "2",
            Paint::Bold => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
