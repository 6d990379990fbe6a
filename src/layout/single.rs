//! One segment file by itself: its layout and an open reader, for looking at its records.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::parsers::wal::{Context, Format, LAYOUTS};

use super::folder::Choice;
use super::source::{Source, open_file};

/// A segment ready to read.
pub struct Single {
    /// How to read it.
    pub format: Format,
    /// What its name and its file say.
    pub context: Context,
    /// Its bytes, up to the size it had when it was opened.
    pub reader: Take<File>,
}

/// Why a segment cannot be looked at.
#[derive(Debug, Error)]
pub enum SingleError {
    /// It cannot be opened.
    #[error("cannot open {path}")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Neither name nor content are those of a known layout.
    #[error("{path} has no known layout; name one with --layout")]
    Unknown {
        /// Which.
        path: PathBuf,
    },
}

/// Opens one segment, with the layout that was asked for, the one its content begins as, or the one that only its name has.
pub fn single(path: &Path, choice: &Choice) -> Result<Single, SingleError> {
    let failed = |source| SingleError::Open {
        path: path.to_path_buf(),
        source,
    };
    let (file, size) = open_file(path).map_err(failed)?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let format = match choice {
        Choice::Known(layout) => Format::Known(layout),
        Choice::Declared(declared) => Format::Declared(Box::new(declared.declaration.clone())),
        Choice::Detect => {
            let source = Source::File(path.to_path_buf());
            let head = source.head().map_err(failed)?;
            let named = || {
                LAYOUTS
                    .iter()
                    .filter(|layout| (layout.name)(&name).is_some())
            };
            let by_content = named().find(|layout| (layout.sniff)(&head));
            let layout = by_content.or_else(|| named().find(|layout| layout.is_name_enough));
            layout
                .map(Format::Known)
                .ok_or_else(|| SingleError::Unknown {
                    path: path.to_path_buf(),
                })?
        }
    };
    let mut named = format.name(&name).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = fs::canonicalize(folder).unwrap_or(folder.to_path_buf());
    let mut log = None;
    if let Format::Known(layout) = &format {
        log = (layout.log)(&folder).map(|(_, log)| log);
        let head = Source::File(path.to_path_buf()).head().map_err(failed)?;
        if let Some(spacing) = (layout.spacing)(&head) {
            named = (layout.spaced)(named, spacing);
        }
    }
    let context = Context {
        name: named,
        size,
        is_last: true,
        key: format.key(log.as_deref(), named),
        ..Context::default()
    };
    Ok(Single {
        format,
        context,
        reader: file.take(size),
    })
}
