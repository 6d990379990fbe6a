//! The standard input, kept in a temporary file: what it is shows only when its beginning and its end can both be read.

use std::io;
use std::sync::Arc;

use super::archives::keep;
use super::content::Member;
use super::walk::{Found, Refused};
use super::{Artifact, Bounds, Content};

/// Takes all of the standard input, within the bound on unpacked bytes.
pub(super) fn take(bounds: Bounds, found: &mut Found) {
    match keep(&mut io::stdin().lock(), bounds) {
        Ok((range, fault)) => found.artifacts.push(Artifact {
            path: "-".to_owned(),
            relative: "stdin".to_owned(),
            whole: "stdin".to_owned(),
            bytes: range.length,
            content: Content::Member(Arc::new(Member {
                range,
                method: None,
                check: None,
                fault,
                is_beginning: false,
            })),
            bounds,
        }),
        Err(error) => found.refused.push(Refused {
            path: "-".to_owned(),
            why: format!("not read: {error}"),
            partial: true,
        }),
    }
}
