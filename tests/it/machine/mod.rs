//! Outputs for machines: SARIF, `JUnit`, annotations of a workflow run, tables.

mod github;
mod junit;
mod redact;
mod redact_texts;
mod sarif;
mod tables;

use crate::product::{Folder, record};

/// A stranger's text: markup, links, placeholders, and whatever commands a terminal or a runner.
const HOSTILE: &str = "x]]><b a=\"'&[link](http://e){0}\x1b[2J\u{202e}::error file=a::b ##[error]c ##vso[d]e%0A::warning::f";

/// A node whose name and whose only log hold such a text: a storm of refusals by a source that is called so.
pub(crate) fn hostile() -> Folder {
    let refusal = format!(
        "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned {HOSTILE}"
    );
    let one = |second: u32| {
        let time = format!("10:00:{second:02}.000000");
        record(&time, "Error", "q.s", &refusal) + "::error::continued\n"
    };
    Folder::with(
        "n,1%::error::<b>/clickhouse-server.log",
        (0..20).map(one).collect::<String>(),
    )
}
