//! How many columns of a terminal a text takes, and cutting and wrapping it to fit. Takes inert text (`escape`).

use comfy_table::Table;

/// Stands for what was cut away.
const ELLIPSIS: char = '…';

/// The columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text, or its beginning and an ellipsis, in at most `width` columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += columns_of(c);
        if used + 1 > width {
            break;
        }
        kept.push(c);
    }
    let mut kept = kept.trim_end().to_owned();
    kept.push(ELLIPSIS);
    kept
}

/// The text, or an ellipsis and its end, in at most `width` columns: for paths, whose end tells more.
pub(super) fn cut_start(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let mut from = text.len();
    for (at, c) in text.char_indices().rev() {
        used += columns_of(c);
        if used + 1 > width {
            break;
        }
        from = at;
    }
    format!("{ELLIPSIS}{}", text.get(from..).unwrap_or_default())
}

/// The text in at most `lines_max` lines of at most `width` columns, broken at blanks; the last is cut if it must be.
pub(super) fn wrap(text: &str, width: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.peek() {
        let is_last = lines.len() + 1 >= lines_max;
        if is_last || line.is_empty() || columns(&line) + 1 + columns(word) <= width {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
            words.next();
        } else {
            lines.push(cut(&line, width));
            line.clear();
        }
    }
    if !line.is_empty() {
        lines.push(cut(&line, width));
    }
    lines
}

fn columns_of(c: char) -> usize {
    // Up to the first combining mark every visible character takes one column.
    if c < '\u{300}' {
        return 1;
    }
    // A table's column is never narrower than one, so the character is measured behind another.
    let mut table = Table::new();
    table.add_row([format!("x{c}")]);
    let both = table
        .column_max_content_widths()
        .first()
        .copied()
        .map_or(1, usize::from);
    both.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("a表b"), 4);
        assert_eq!(columns("é"), 1);
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("…"), 1);
    }

    #[test]
    fn a_cut_text_fits_and_says_that_it_is_cut() {
        assert_eq!(cut("12345", 5), "12345");
        assert_eq!(cut("123456", 5), "1234…");
        assert_eq!(cut("表表表", 4), "表…");
        assert_eq!(cut("ab cdef", 4), "ab…");
        assert_eq!(cut_start("/a/b/c.log:12", 8), "….log:12");
        assert_eq!(cut_start("c.log:12", 8), "c.log:12");
        assert_eq!(cut("abc", 0), "…");
    }

    #[test]
    fn wrapping_breaks_at_blanks_and_cuts_the_last_line() {
        assert_eq!(wrap("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap("DB::Exception: x", 8, 3), ["DB::Exc…", "x"]);
        assert_eq!(wrap("", 8, 3), Vec::<String>::new());
    }
}
