//! A simulated run as a page: its picture, and what is said of it as text.

use crate::report::escape;

use super::page::digest;

/// The style of the page; colors follow the reader's surroundings, as those of the picture do.
const STYLE: &str = ":root{color-scheme:light dark}\
body{margin:0 auto;max-width:1140px;padding:24px 16px;font:15px/1.5 system-ui,sans-serif;\
background:light-dark(#f5f6f8,#0e1116);color:light-dark(#17202b,#dfe5ed)}\
h1{font-size:24px;margin:0 0 4px}p{margin:0 0 16px}\
svg{max-width:100%;height:auto;border:1px solid light-dark(#dde2e8,#2b333e);border-radius:8px}\
pre{overflow-x:auto;padding:16px;border-radius:8px;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace;\
background:light-dark(#ffffff,#161b22);border:1px solid light-dark(#dde2e8,#2b333e)}";

/// The page: a heading, a sentence, a picture that this program drew, and lines of text.
pub fn run_page(title: &str, what: &str, picture: Option<&str>, lines: &str) -> String {
    let picture = picture.unwrap_or_default();
    let inner = picture
        .split_once("<style>")
        .and_then(|(_, rest)| rest.split_once("</style>"));
    let inner = inner.map_or(String::new(), |(style, _)| format!(" '{}'", digest(style)));
    let svg = picture.find("<svg").and_then(|at| picture.get(at..));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'{inner}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · casdiag</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{}</p>\n{}\n<pre>",
        digest(STYLE),
        escape::html(&escape::capped(what)),
        svg.unwrap_or_default(),
        title = escape::html(&escape::capped(title)),
    );
    for line in lines.lines() {
        page.push_str(&escape::html(line));
        page.push('\n');
    }
    page.push_str("</pre>\n</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_the_picture_stays() {
        let page = run_page(
            "a <b>",
            "x & y",
            Some("<?xml?><svg><style>q{}</style></svg>"),
            "one\n<two>\n",
        );
        assert!(page.contains("<h1>a &lt;b&gt;</h1>"), "{page}");
        assert!(page.contains("x &amp; y"), "{page}");
        assert!(page.contains("one\n&lt;two&gt;\n"), "{page}");
        assert!(page.contains("<svg><style>q{}</style></svg>"), "{page}");
        assert!(!page.contains("<?xml"), "{page}");
    }
}
