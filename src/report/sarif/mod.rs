//! SARIF 2.1.0: the frame that every document of results shares, and how its parts are written.
//!
//! A file is printed in CI logs as well, so it is written like `report.json`: nothing in it commands a runner.

mod findings;
mod tests;

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::report::{escape, json};

pub(super) use findings::write;

/// What one run of the program has to say.
pub(super) struct Log {
    /// Rules or kinds of problems, as `reportingDescriptor`s.
    pub(super) rules: Vec<Value>,
    /// As `result`s; `ruleIndex` counts in `rules`.
    pub(super) results: Vec<Value>,
    /// What could not be read, as `notification`s.
    pub(super) notifications: Vec<Value>,
    /// Whether everything recognised was read whole.
    pub(super) complete: bool,
}

impl Log {
    /// Writes the document with a final newline.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": env!("CARGO_PKG_NAME"),
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": self.rules,
                } },
                "invocations": [{
                    "executionSuccessful": self.complete,
                    "toolExecutionNotifications": self.notifications,
                }],
                "results": self.results,
            }],
        });
        json::write_inert(&document, out)
    }
}

/// A message. In SARIF brackets open a link and braces a placeholder, even in plain text.
pub(super) fn message(text: &str) -> Value {
    json!({ "text": escape::sarif_message(text) })
}

/// A place in a file; without a region the whole file.
pub(super) fn place(path: &str, region: Option<Value>) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(Path::new(path)) } });
    if let (Some(region), Some(place)) = (region, place.as_object_mut()) {
        place.insert("region".to_owned(), region);
    }
    place
}

/// A byte of a binary file.
pub(super) fn at_byte(offset: u64) -> Value {
    json!({ "byteOffset": offset, "byteLength": 0 })
}

/// That a file could not be read, or not whole.
pub(super) fn unread(path: &str, level: &str, text: &str) -> Value {
    json!({
        "level": level,
        "message": message(text),
        "locations": [{ "physicalLocation": place(path, None) }],
    })
}

/// A relative or absolute URI reference: everything but the plain characters of a path is escaped.
fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    let text = path.to_string_lossy();
    let escaped = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    std::iter::once(scheme.to_owned()).chain(escaped).collect()
}
