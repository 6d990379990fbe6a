//! Blocks of Markdown, parted by empty lines. Takes Markdown: foreign text is inert before it comes here.

use crate::report::counts::Grid;
use crate::report::escape::markdown_inline;

/// Nodes with a column of their own; the others are summed up.
const COLUMNS_MAX: usize = 12;

/// A document in the making.
#[derive(Default)]
pub(in crate::report) struct Page {
    text: String,
}

impl Page {
    /// The document, with its final newline.
    pub(in crate::report) fn text(&self) -> &str {
        &self.text
    }

    /// Adds the title.
    pub(in crate::report) fn title(&mut self, title: &str) {
        self.block(&format!("# {title}"));
    }

    /// Adds the heading of a section.
    pub(in crate::report) fn section(&mut self, heading: &str) {
        self.block(&format!("## {heading}"));
    }

    /// Adds the heading of a part of a section.
    pub(in crate::report) fn part(&mut self, heading: &str) {
        self.block(&format!("### {heading}"));
    }

    /// Adds a block.
    pub(in crate::report) fn block(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block.trim_end());
        self.text.push('\n');
    }

    /// Adds a list; nothing if it is empty.
    pub(in crate::report) fn list(&mut self, items: &[String]) {
        let lines: Vec<String> = items.iter().map(|it| format!("- {it}")).collect();
        if !lines.is_empty() {
            self.block(&lines.join("\n"));
        }
    }

    /// Adds a table; a column is aligned right where the header ends in a colon, as Markdown writes it.
    pub(in crate::report) fn table(&mut self, header: &[String], rows: &[Vec<String>]) {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let names: Vec<String> = header
            .iter()
            .map(|it| it.trim_end_matches(':').to_owned())
            .collect();
        let rules: Vec<String> = header
            .iter()
            .map(|it| if it.ends_with(':') { "---:" } else { "---" }.to_owned())
            .collect();
        let lines: Vec<String> = [line(&names), line(&rules)]
            .into_iter()
            .chain(rows.iter().map(|it| line(it)))
            .collect();
        self.block(&lines.join("\n"));
    }

    /// Adds counts by node, with totals if there are several nodes.
    pub(in crate::report) fn grid(&mut self, what: &str, grid: &Grid) {
        let grid = grid.narrowed(COLUMNS_MAX);
        let with_total = grid.columns.len() > 1;
        let mut header = vec![what.to_owned()];
        header.extend(
            grid.columns
                .iter()
                .map(|it| format!("{}:", markdown_inline(it))),
        );
        let mut rows = Vec::new();
        for row in &grid.rows {
            let label = markdown_inline(&row.label);
            let mut cells = vec![if row.is_part {
                format!("&nbsp;&nbsp;{label}")
            } else {
                label
            }];
            cells.extend(row.cells.iter().map(|it| it.text()));
            if with_total {
                cells.push(row.total_text());
            }
            rows.push(cells);
        }
        if with_total {
            header.push("total:".to_owned());
        }
        self.table(&header, &rows);
    }

    /// Says how many of a list are left out; nothing if none is.
    pub(in crate::report) fn left_out(&mut self, all: usize, shown_max: usize, what: &str) {
        if all > shown_max {
            self.block(&format!(
                "({} more {what}: see --format json)",
                all - shown_max
            ));
        }
    }
}
