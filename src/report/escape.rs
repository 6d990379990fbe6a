//! Makes text that comes from strangers' logs inert in the outputs: it cannot move a cursor, reorder or hide what is
//! read, open markup, or command a GitHub runner. Every output puts foreign text through one of these, each string once.
//!
//! A runner obeys `::name::` at the start of a line, even after blanks, and `##[name]` anywhere in a line
//! (`ActionCommand.cs`); an agent of Azure Pipelines obeys `##vso[name]` there. So indenting is not enough: all are broken
//! where they stand.

use std::borrow::Cow;
use std::fmt::Write;

use super::figures::thousands;

/// One line of plain text: what is invisible is written out (`\x1b`, `\u{202e}`, `\n`), the rest stays as it is.
///
/// A backslash of the text itself stays single: this is for reading, `report.json` has the exact bytes.
pub fn terminal(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    let mut after_blank = true;
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let commands = is_bracketed_command(rest) || after_blank && rest.starts_with("::");
        if commands || is_hidden(c) {
            push_written_out(&mut inert, c);
        } else {
            inert.push(c);
        }
        after_blank = c.is_whitespace();
    }
    inert
}

/// Characters of one text in a page or an issue; what is longer is cut and said to be.
const TEXT_MAX: usize = 700;

/// Characters of a paragraph of an issue, which holds prose of a rule with the texts in it.
const PARAGRAPH_MAX: usize = 4_000;

/// A text that is no longer than texts may be, with how much is left out.
pub(super) fn capped(text: &str) -> Cow<'_, str> {
    capped_to(TEXT_MAX, text)
}

fn capped_to(chars_max: usize, text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => {
            let (head, tail) = text.split_at(end);
            let left = u64::try_from(tail.chars().count()).unwrap_or(u64::MAX);
            Cow::Owned(format!("{head}… ({} more)", thousands(left)))
        }
        None => Cow::Borrowed(text),
    }
}

/// Text of an HTML element or of a quoted attribute: one line, in which nothing is markup.
pub fn html(text: &str) -> String {
    let plain = terminal(text);
    let mut inert = String::with_capacity(plain.len() + plain.len() / 16);
    for c in plain.chars() {
        match c {
            '&' => inert.push_str("&amp;"),
            '<' => inert.push_str("&lt;"),
            '>' => inert.push_str("&gt;"),
            '"' => inert.push_str("&quot;"),
            '\'' => inert.push_str("&#39;"),
            c => inert.push(c),
        }
    }
    inert
}

/// The text of a JSON document for a `script` element: it cannot end the element nor begin a comment in it.
pub fn html_json(json: &str) -> String {
    json.replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
}

/// One line of Markdown text in which nothing is markup, cut where it is very long; fits a table cell as well.
pub fn markdown_inline(text: &str) -> String {
    let plain = terminal(&capped(text));
    let mut inert = String::with_capacity(plain.len());
    push_inline(&mut inert, &plain, true);
    inert
}

/// Prose of a rule as one line of Markdown: a line break is a blank, and pairs of single backticks stay code spans,
/// inside which nothing is markup either. Not for table cells, where a bar in a code span would end the cell.
pub fn markdown_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect();
    markdown_with_spans(&capped_to(PARAGRAPH_MAX, &lines.join(" ")))
}

/// Prose of a rule as Markdown paragraphs, each as [`markdown_line`]: an empty line parts them.
pub fn markdown_prose(text: &str) -> String {
    let mut paragraphs = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            lines.push(line.trim());
        } else if !lines.is_empty() {
            paragraphs.push(markdown_line(&lines.join("\n")));
            lines.clear();
        }
    }
    paragraphs.join("\n\n")
}

/// A code span. Not for table cells, where a bar would end the cell.
pub fn markdown_span(text: &str) -> String {
    let plain = terminal(&capped(text));
    let ticks = "`".repeat(longest_run_of_backticks(&plain) + 1);
    // A blank on both sides is stripped by the reader; without it a backtick of the text would join the delimiter.
    let pad = if plain.starts_with('`') || plain.ends_with('`') || plain.is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{plain}{pad}{ticks}")
}

/// A fenced code block of whole lines, with its final newline. The fence is longer than any run of backticks inside.
pub fn markdown_code(text: &str) -> String {
    let fence = "`".repeat((longest_run_of_backticks(text) + 1).max(3));
    let mut block = format!("{fence}\n");
    for line in text.lines() {
        block.push_str(&terminal(line));
        block.push('\n');
    }
    block.push_str(&fence);
    block.push('\n');
    block
}

/// Text of an XML element or of a quoted attribute: as in HTML, less the two characters that XML cannot hold.
pub fn xml(text: &str) -> String {
    html(text)
        .replace('\u{fffe}', r"\u{fffe}")
        .replace('\u{ffff}', r"\u{ffff}")
}

/// Text of several lines inside an XML element.
pub fn xml_lines(text: &str) -> String {
    text.lines().map(xml).collect::<Vec<_>>().join("\n")
}

/// A cell of a CSV: one line that no spreadsheet takes for a formula, of which those that begin like one get an
/// apostrophe in front.
pub fn csv(text: &str) -> String {
    let plain = terminal(text);
    // The wide forms count as well where the language of the spreadsheet has them.
    if plain.starts_with([
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]) {
        format!("'{plain}")
    } else {
        plain
    }
}

/// Plain text of a SARIF message, which reads `[text](target)` as a link and `{0}` as a placeholder.
pub fn sarif_message(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' | ']' | '\\' => inert.extend(['\\', c]),
            '{' | '}' => inert.extend([c, c]),
            c => inert.push(c),
        }
    }
    inert
}

/// The text of a GitHub workflow command, whose lines the runner shows as lines.
pub fn workflow_text(text: &str) -> String {
    let lines = text.lines().map(|line| terminal(line).replace('%', "%25"));
    lines.collect::<Vec<_>>().join("%0A")
}

/// The value of a property of a GitHub workflow command: it ends neither the value nor the properties.
pub fn workflow_property(text: &str) -> String {
    terminal(text)
        .replace('%', "%25")
        .replace(':', "%3A")
        .replace(',', "%2C")
}

/// Whether a character is invisible or changes how its neighbors are shown: controls, bidi marks, blanks of no width,
/// line separators, tags.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// `##[`, `##vso[`, or whatever other word a runner may come to know.
fn is_bracketed_command(rest: &str) -> bool {
    rest.strip_prefix("##").is_some_and(|name| {
        name.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .starts_with('[')
    })
}

fn push_written_out(inert: &mut String, c: char) {
    let written = match c {
        '\n' => inert.write_str("\\n"),
        '\r' => inert.write_str("\\r"),
        '\t' => inert.write_str("\\t"),
        '\0'..='\u{ff}' => write!(inert, "\\x{:02x}", u32::from(c)),
        _ => write!(inert, "\\u{{{:x}}}", u32::from(c)),
    };
    assert!(written.is_ok(), "writing into a String cannot fail");
}

fn push_inline(inert: &mut String, plain: &str, starts_line: bool) {
    let mut before = None;
    let mut number_so_far = starts_line;
    let mut chars = plain.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied();
        let starts = starts_line && before.is_none();
        let in_word =
            before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        let escaped = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '|' | '~' | '$' => true,
            '_' => !in_word,
            '&' => after.is_some_and(|it| it.is_alphanumeric() || it == '#'),
            '#' | '+' | '-' | '=' | '>' => starts,
            // `1.` would begin a list.
            '.' | ')' => number_so_far && before.is_some() && after.is_none_or(char::is_whitespace),
            _ => false,
        };
        if escaped {
            inert.push('\\');
        }
        inert.push(c);
        if c == '@'
            && !before.is_some_and(char::is_alphanumeric)
            && after.is_some_and(char::is_alphanumeric)
        {
            // GitHub looks for mentions in the rendered text, where a backslash is gone already.
            inert.push_str("<!-- -->");
        }
        number_so_far &= c.is_ascii_digit();
        before = Some(c);
    }
}

fn markdown_with_spans(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let paired = pieces.len() % 2 == 1
        && pieces
            .iter()
            .skip(1)
            .step_by(2)
            .all(|it| !it.trim().is_empty());
    if !paired {
        let mut inert = String::with_capacity(text.len());
        push_inline(&mut inert, &terminal(text), true);
        return inert;
    }
    let mut inert = String::with_capacity(text.len());
    for (at, piece) in pieces.iter().enumerate() {
        if at % 2 == 1 {
            inert.push_str(&markdown_span(piece));
        } else {
            push_inline(&mut inert, &terminal(piece), at == 0);
        }
    }
    inert
}

fn longest_run_of_backticks(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_text_cannot_move_reorder_or_hide() {
        assert_eq!(terminal("a\x1b[2J\x1b]0;t\x07b"), r"a\x1b[2J\x1b]0;t\x07b");
        assert_eq!(terminal("\u{9b}31m red"), r"\x9b31m red");
        assert_eq!(
            terminal("user\u{202e}nimda\u{202c}"),
            r"user\u{202e}nimda\u{202c}"
        );
        assert_eq!(
            terminal("\u{2066}x\u{2069}\u{200e}\u{200f}"),
            r"\u{2066}x\u{2069}\u{200e}\u{200f}"
        );
        assert_eq!(
            terminal("z\u{200b}w\u{feff}\u{ad}"),
            r"z\u{200b}w\u{feff}\xad"
        );
        assert_eq!(terminal("a\r\nb\tc\0d\u{7f}"), r"a\r\nb\tc\x00d\x7f");
        assert_eq!(
            terminal("line\u{2028}sep \u{e0041}tag"),
            r"line\u{2028}sep \u{e0041}tag"
        );
        assert_eq!(terminal("Käse 表 🙂 C:\\dir"), "Käse 表 🙂 C:\\dir");
    }

    #[test]
    fn no_line_commands_a_runner() {
        assert_eq!(terminal("::error file=a::b"), r"\x3a:error file=a::b");
        assert_eq!(terminal("  ::add-mask::x"), r"  \x3a:add-mask::x");
        assert_eq!(terminal("wraps ::error::x"), r"wraps \x3a:error::x");
        assert_eq!(
            terminal("x ##[group]y ###[z]"),
            r"x \x23#[group]y #\x23#[z]"
        );
        assert_eq!(
            terminal("x ##vso[task.setvariable]y ##VSO[z] ##vso ##a b["),
            r"x \x23#vso[task.setvariable]y \x23#VSO[z] ##vso ##a b["
        );
        assert_eq!(terminal("DB::Exception"), "DB::Exception");
        assert_eq!(markdown_inline("##[error]x"), r"\\x23#\[error\]x");
        assert_eq!(
            markdown_code("::error::x\n  ::debug::y"),
            "```\n\\x3a:error::x\n  \\x3a:debug::y\n```\n"
        );
        assert_eq!(markdown_span("::error::x"), r"`\x3a:error::x`");
        assert_eq!(markdown_prose("see\n::error::x"), r"see \\x3a:error::x");
    }

    #[test]
    fn inline_text_is_never_markup() {
        assert_eq!(
            markdown_inline("<script>alert(1)</script>"),
            r"\<script>alert(1)\</script>"
        );
        assert_eq!(
            markdown_inline("a | b `c` *d* [x](http://e)"),
            r"a \| b \`c\` \*d\* \[x\](http://e)"
        );
        assert_eq!(
            markdown_inline("all_1_1_0 and _emph_"),
            r"all_1_1_0 and \_emph\_"
        );
        assert_eq!(markdown_inline("&lt; AT&T a & b"), r"\&lt; AT\&T a & b");
        assert_eq!(markdown_inline("# head"), r"\# head");
        assert_eq!(markdown_inline("- item"), r"\- item");
        assert_eq!(markdown_inline("> quote"), r"\> quote");
        assert_eq!(markdown_inline("12. item"), r"12\. item");
        assert_eq!(
            markdown_inline("12.5 s (3) a -> b #2219"),
            "12.5 s (3) a -> b #2219"
        );
        assert_eq!(
            markdown_inline("ping @admin, not a@b.c"),
            "ping @<!-- -->admin, not a@b.c"
        );
        assert_eq!(markdown_inline(r"\| ~~x~~ $y$"), r"\\\| \~\~x\~\~ \$y\$");
        assert_eq!(markdown_inline("two\nlines"), r"two\\nlines");
    }

    #[test]
    fn code_is_not_left_early() {
        assert_eq!(
            markdown_code("a ``` b\n````\nc"),
            "`````\na ``` b\n````\nc\n`````\n"
        );
        assert_eq!(markdown_code("\x1b[0m"), "```\n\\x1b[0m\n```\n");
        assert_eq!(markdown_span("a`b"), "``a`b``");
        assert_eq!(markdown_span("`"), "`` ` ``");
        assert_eq!(markdown_span(""), "`  `");
    }

    #[test]
    fn xml_holds_only_what_xml_may_hold() {
        assert_eq!(
            xml("<a b=\"'&\u{202e}\0\u{ffff}\n"),
            "&lt;a b=&quot;&#39;&amp;\\u{202e}\\x00\\u{ffff}\\n"
        );
        assert_eq!(xml("]]>"), "]]&gt;");
        assert_eq!(xml_lines("a\r\n::error::<"), "a\n\\x3a:error::&lt;");
    }

    #[test]
    fn no_cell_is_a_formula() {
        for (text, cell) in [
            ("=HYPERLINK(\"http://e\")", "'=HYPERLINK(\"http://e\")"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", r"\t=1"),
            ("\r=1", r"\r=1"),
            ("\n=1", r"\n=1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(csv(text), cell);
        }
    }

    #[test]
    fn a_message_of_sarif_has_no_link_and_no_placeholder() {
        assert_eq!(
            sarif_message(r"see [x](http://e) {0} \d"),
            r"see \[x\](http://e) {{0}} \\d"
        );
    }

    #[test]
    fn a_workflow_command_is_one_line_and_ends_where_it_should() {
        assert_eq!(
            workflow_text("100%\n::error::x\r\ny %0A"),
            r"100%25%0A\x3a:error::x%0Ay %250A"
        );
        assert_eq!(workflow_text("a\rb"), r"a\rb");
        assert_eq!(
            workflow_property("a,line=9::x%\n"),
            r"a%2Cline=9%3A%3Ax%25\n"
        );
    }

    #[test]
    fn html_has_no_markup_left() {
        assert_eq!(
            html("<a href='javascript:x' onclick=\"y\">&amp;\u{202e}\0"),
            "&lt;a href=&#39;javascript:x&#39; onclick=&quot;y&quot;&gt;&amp;amp;\\u{202e}\\x00"
        );
        assert_eq!(
            html_json(r#"["</script><!--"]"#),
            r#"["\u003c/script\u003e\u003c!--"]"#
        );
    }

    #[test]
    fn prose_keeps_paragraphs_and_paired_code() {
        assert_eq!(
            markdown_prose("One\n  line.\n\nTwo `a*b_c`.\n"),
            "One line.\n\nTwo `a*b_c`."
        );
        assert_eq!(markdown_line("One\n\n# two"), "One # two");
        assert_eq!(markdown_prose("odd ` tick"), r"odd \` tick");
        assert_eq!(markdown_prose("``double``"), r"\`\`double\`\`");
        assert_eq!(markdown_prose("`<b>` <b>"), r"`<b>` \<b>");
    }
}
