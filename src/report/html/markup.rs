//! Writes HTML and SVG. The only way in for text is through `escape`, so no caller can forget it; what is not escaped is
//! written in this program: tags, names of attributes, assets.

use crate::report::escape;

/// Attributes of an element: name and value.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A page in the making.
#[derive(Default)]
pub(super) struct Markup {
    page: String,
}

impl Markup {
    /// The page so far.
    pub(super) fn page(&self) -> &str {
        &self.page
    }

    /// An element with what `inner` writes in it.
    pub(super) fn el(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inner: impl FnOnce(&mut Self),
    ) {
        self.void(tag, attributes);
        inner(self);
        self.page.push_str("</");
        self.page.push_str(tag);
        self.page.push('>');
        if is_block(tag) {
            self.page.push('\n');
        }
    }

    /// An element with a text in it.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.el(tag, attributes, |page| page.text(text));
    }

    /// An element with prose in it.
    pub(super) fn prose_in(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.el(tag, attributes, |page| page.prose(text));
    }

    /// An element that has no end, or only the start of one.
    pub(super) fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.page.push('<');
        self.page.push_str(tag);
        for (name, value) in attributes {
            debug_assert!(
                !name.starts_with("on") && !matches!(*name, "style" | "href" | "src" | "srcdoc"),
                "the policy of the page forbids {name}"
            );
            self.page.push(' ');
            self.page.push_str(name);
            if !value.is_empty() {
                self.page.push_str("=\"");
                if matches!(*name, "title" | "aria-label") {
                    self.page.push_str(&escape::html(&escape::capped(value)));
                } else {
                    self.page.push_str(&escape::html(value));
                }
                self.page.push('"');
            }
        }
        self.page.push('>');
    }

    /// A link to a place of this page; no link leads out of it.
    pub(super) fn link(
        &mut self,
        to: &str,
        attributes: Attributes<'_>,
        inner: impl FnOnce(&mut Self),
    ) {
        self.void("a", attributes);
        self.page.truncate(self.page.len() - 1);
        self.page.push_str(" href=\"#");
        self.page.push_str(&anchor(to));
        self.page.push_str("\">");
        inner(self);
        self.page.push_str("</a>");
    }

    /// Text, on one line.
    pub(super) fn text(&mut self, text: &str) {
        self.page.push_str(&escape::html(&escape::capped(text)));
    }

    /// Prose: what stands between a pair of backticks is code.
    pub(super) fn prose(&mut self, text: &str) {
        // Line breaks of the rules file are blanks.
        let text = text.replace('\n', " ");
        let pieces: Vec<&str> = text.split('`').collect();
        let is_paired = pieces.len() % 2 == 1;
        if !is_paired {
            self.text(&text);
            return;
        }
        for (at, piece) in pieces.iter().enumerate() {
            if at % 2 == 1 {
                self.leaf("code", &[], piece);
            } else {
                self.text(piece);
            }
        }
    }

    /// Paragraphs of prose: an empty line parts them.
    pub(super) fn paragraphs(&mut self, text: &str) {
        for paragraph in text.split("\n\n").filter(|it| !it.trim().is_empty()) {
            self.prose_in("p", &[], paragraph.trim());
        }
    }

    /// A file of this program, as it is.
    pub(super) fn asset(&mut self, text: &'static str) {
        self.page.push_str(text);
    }

    /// JSON for the script.
    pub(super) fn json(&mut self, json: &str) {
        self.page.push_str(&escape::html_json(json));
    }

    /// Writes items until there are `items_max` of them or they fill `bytes_max` bytes, and says how many are left out:
    /// no input makes a page longer than the sum of such bounds.
    pub(super) fn bounded<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        items_max: usize,
        bytes_max: usize,
        mut each: impl FnMut(&mut Self, T),
    ) -> usize {
        let begin = self.page.len();
        let mut left_out = 0;
        for (at, item) in items.into_iter().enumerate() {
            if left_out > 0 || at >= items_max {
                left_out += 1;
                continue;
            }
            let before = self.page.len();
            each(self, item);
            if self.page.len() - begin > bytes_max {
                self.page.truncate(before);
                left_out = 1;
            }
        }
        left_out
    }

    /// Says what a bound left out; nothing if it was nothing.
    pub(super) fn left_out(&mut self, count: usize, what: &str) {
        if count > 0 {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            let text = format!(
                "{} more {what}: see report.json",
                crate::report::figures::thousands(count)
            );
            self.leaf("p", &[("class", "more")], &text);
        }
    }

    /// A section with its heading.
    pub(super) fn section(&mut self, id: &str, heading: &str, inner: impl FnOnce(&mut Self)) {
        self.el("section", &[("id", id)], |page| {
            page.leaf("h2", &[], heading);
            inner(page);
        });
    }
}

/// A name that can be linked to, from any text.
pub(super) fn anchor(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    text.chars().take(80).map(safe).collect()
}

/// Whether a line may end behind an element without a blank showing.
fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "section"
            | "header"
            | "main"
            | "nav"
            | "footer"
            | "div"
            | "p"
            | "ul"
            | "ol"
            | "li"
            | "dl"
            | "dd"
            | "table"
            | "thead"
            | "tbody"
            | "tr"
            | "details"
            | "summary"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "script"
            | "style"
            | "title"
            | "head"
            | "body"
            | "svg"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_inert() {
        let mut page = Markup::default();
        page.leaf("b", &[("title", "\"><script>")], "</b><script>");
        page.link("x\" onclick=\"y", &[], |page| page.text("z"));
        assert_eq!(
            page.page(),
            "<b title=\"&quot;&gt;&lt;script&gt;\">&lt;/b&gt;&lt;script&gt;</b>\
             <a href=\"#x--onclick--y\">z</a>"
        );
    }

    #[test]
    fn a_bound_leaves_out_whole_items_and_counts_them() {
        let mut page = Markup::default();
        let left = page.bounded(["aa", "bb", "cc", "dd"], 10, 9, |page, it| {
            page.leaf("i", &[], it);
        });
        assert_eq!((page.page(), left), ("<i>aa</i>", 3));
        assert_eq!(page.bounded([1, 2, 3], 2, 999, |_, _| {}), 1);
    }

    #[test]
    fn prose_has_code_and_paragraphs() {
        let mut page = Markup::default();
        page.paragraphs("One\n`a<b`.\n\nodd ` tick");
        assert_eq!(
            page.page(),
            "<p>One <code>a&lt;b</code>.</p>\n<p>odd ` tick</p>\n"
        );
    }
}
