//! The frame of the page: its policy, style and script, the bar above, the contents beside, the foot.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::lanes::Lanes;
use super::markup::Markup;
use super::sheet::Sheet;
use super::verdict;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Nodes to choose from in the filter, and the bytes for them.
const NODES_MAX: usize = 200;
const NODE_BYTES: usize = 20_000;

/// The sections that a page may have, by id.
const SECTIONS: [(&str, &str); 17] = [
    ("verdict", "Verdict"),
    ("incidents", "Incidents"),
    ("diagnosis", "In order"),
    ("tests", "Tests"),
    ("timeline", "Timeline"),
    ("strips", "Answers"),
    ("findings", "Findings"),
    ("counts", "Counts"),
    ("wal", "Write-ahead logs"),
    ("replays", "Run again"),
    ("balances", "Balances"),
    ("unexplained", "Unexplained"),
    ("ignored", "Left out"),
    ("unseen", "Not observable"),
    ("counters", "Error counters"),
    ("signals", "Records"),
    ("inputs", "Inputs"),
];

/// The whole page around its sections.
pub(super) fn whole(sheet: &Sheet<'_>, lanes: &Lanes, body: &Markup) -> String {
    let mut head = Markup::default();
    head.asset("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(STYLE),
    );
    head.void(
        "meta",
        &[
            ("http-equiv", "Content-Security-Policy"),
            ("content", &policy),
        ],
    );
    head.void(
        "meta",
        &[
            ("name", "viewport"),
            ("content", "width=device-width, initial-scale=1"),
        ],
    );
    head.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
    head.leaf(
        "title",
        &[],
        &format!("{} · casdiag", verdict::title(sheet.report)),
    );
    head.el("style", &[], |head| head.asset(STYLE));
    head.asset("</head>\n<body>\n");
    head.link("main", &[("class", "skip")], |head| {
        head.text("Skip to the report");
    });
    bar(sheet, &mut head);
    head.asset("<div class=\"frame\">\n");
    contents(&mut head, body.page());
    head.asset("<main id=\"main\">\n");
    let mut foot = Markup::default();
    foot.asset("</main>\n</div>\n");
    footer(sheet, &mut foot);
    let axes = sheet.axes.all();
    if !axes.is_empty() {
        foot.el(
            "script",
            &[("type", "application/json"), ("id", "data")],
            |foot| {
                foot.json(&lanes.data(axes));
            },
        );
    }
    foot.el("script", &[], |foot| foot.asset(SCRIPT));
    foot.asset("</body>\n</html>\n");
    format!("{}{}{}", head.page(), living(body.page()), foot.page())
}

/// The body without links to what a bound left out, or what a kept report names and does not hold. In the body only tags
/// of this program have a quotation mark: foreign ones are escaped.
fn living(body: &str) -> String {
    let ids: BTreeSet<&str> = body
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let mut pieces = body.split(" href=\"#");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('"') {
            Some((id, rest)) if !ids.contains(id) => page.push_str(rest),
            _ => {
                page.push_str(" href=\"#");
                page.push_str(piece);
            }
        }
    }
    page
}

fn bar(sheet: &Sheet<'_>, page: &mut Markup) {
    page.el("header", &[("class", "bar")], |page| {
        page.el("div", &[("class", "brand")], |page| {
            page.leaf("b", &[], "casdiag");
            page.leaf("span", &[], "report");
        });
        page.el(
            "div",
            &[("class", "filter js"), ("role", "search")],
            |page| {
                let search = [
                    ("type", "search"),
                    ("id", "filter-text"),
                    ("placeholder", "Filter by text"),
                    ("aria-label", "Filter by text"),
                    ("aria-keyshortcuts", "/"),
                    ("autocomplete", "off"),
                    ("spellcheck", "false"),
                ];
                page.el("div", &[("class", "search")], |page| {
                    page.void("input", &search);
                    page.leaf("kbd", &[], "/");
                });
                page.el(
                    "select",
                    &[("id", "filter-node"), ("aria-label", "Node")],
                    |page| {
                        page.leaf("option", &[("value", "")], "All nodes");
                        let nodes = sheet.nodes.iter().enumerate();
                        page.bounded(nodes, NODES_MAX, NODE_BYTES, |page, (at, node)| {
                            page.leaf("option", &[("value", &at.to_string())], node);
                        });
                    },
                );
                page.el(
                    "select",
                    &[("id", "filter-severity"), ("aria-label", "Severity")],
                    |page| {
                        page.leaf("option", &[("value", "0")], "All severities");
                        for (value, text) in [
                            ("1", "low and worse"),
                            ("2", "medium and worse"),
                            ("3", "high and worse"),
                            ("4", "critical"),
                        ] {
                            page.leaf("option", &[("value", value)], text);
                        }
                    },
                );
                page.leaf("output", &[("id", "hits"), ("aria-live", "polite")], "");
            },
        );
        let theme = [
            ("type", "button"),
            ("id", "theme"),
            ("class", "tool js"),
            ("title", "Light or dark (t)"),
            ("aria-keyshortcuts", "t"),
        ];
        page.leaf("button", &theme, "Theme");
    });
}

/// Links to the sections that the page has.
fn contents(page: &mut Markup, body: &str) {
    page.el(
        "nav",
        &[("class", "contents"), ("aria-label", "Contents")],
        |page| {
            page.el("ul", &[], |page| {
                for (id, name) in SECTIONS {
                    if body.contains(&format!("<section id=\"{id}\">")) {
                        page.el("li", &[], |page| page.link(id, &[], |page| page.text(name)));
                    }
                }
            });
        },
    );
}

fn footer(sheet: &Sheet<'_>, page: &mut Markup) {
    let tool = &sheet.report.tool;
    page.el("footer", &[], |page| {
        page.el("p", &[], |page| {
            page.text(&format!("Written by {} {}. ", tool.name, tool.version));
            page.text("Every number on this page is one of report.json (");
            page.text(&sheet.report.schema);
            page.text("), which holds all that is left out here.");
        });
        page.el("p", &[("class", "keys js")], |page| {
            for (key, does) in [
                ("/", "filter"),
                ("Esc", "clear"),
                ("t", "theme"),
                ("e", "open or close all"),
                ("+ −", "zoom"),
                ("← →", "move"),
                ("0", "whole"),
                ("f", "findings"),
            ] {
                page.el("span", &[], |page| {
                    page.leaf("kbd", &[], key);
                    page.text(" ");
                    page.text(does);
                });
            }
        });
    });
}

/// What a policy calls a script or a style by.
pub(super) fn digest(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for nth in 0..4 {
            let digit = (group >> (18 - 6 * nth)) & 63;
            if nth <= chunk.len() {
                text.push(char::from(DIGITS[digit as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_what_openssl_says() {
        // printf abc | openssl dgst -sha256 -binary | base64
        assert_eq!(
            digest("abc"),
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        );
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(b"ab"), "YWI=");
        assert_eq!(base64(b"abc"), "YWJj");
    }
}
