//! One segment file by itself: its layout and an open reader, for looking at its records.

use std::fs::{self, File};
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::parsers::wal::{Context, Format, LAYOUTS, SegmentName};

use super::folder::{Choice, beside};
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

/// Opens one segment, with the layout that was asked for, the one whose place it is in, the one its content begins as, the one that only
/// its name has, or the one of the segments beside it.
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
    let head = Source::File(path.to_path_buf()).head().map_err(failed)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let (format, named) = match choice {
        Choice::Known(layout) => (Format::Known(layout), None),
        Choice::Declared(declared) => {
            let declaration = Box::new(declared.declaration.clone());
            (Format::Declared(declaration), None)
        }
        Choice::Detect => {
            let unknown = || SingleError::Unknown {
                path: path.to_path_buf(),
            };
            detect(&folder, &name, &head).ok_or_else(unknown)?
        }
    };
    let mut named = named.or_else(|| format.name(&name)).unwrap_or_default();
    let mut log = None;
    if let Format::Known(layout) = &format {
        log = (layout.log)(&folder).map(|(_, log)| log);
        if let Some(spacing) = (layout.spacing)(&head).filter(|_| named.spacing.is_none()) {
            named = (layout.spaced)(named, spacing);
        }
    }
    let context = Context {
        name: named,
        size,
        is_last: true,
        key: format.key(log.as_deref(), named),
        is_key_sure: format.is_at_home(&folder),
        ..Context::default()
    };
    Ok(Single {
        format,
        context,
        reader: file.take(size),
    })
}

/// The layout of a file that nobody named one for; with what its name says, where that takes the segments beside it.
fn detect(folder: &Path, name: &str, head: &[u8]) -> Option<(Format, Option<SegmentName>)> {
    let named = || {
        LAYOUTS
            .iter()
            .filter(|layout| (layout.name)(name).is_some())
    };
    let layout = named()
        .find(|layout| (layout.is_home)(folder) == Some(true))
        .or_else(|| named().find(|layout| (layout.sniff)(head)))
        .or_else(|| named().find(|layout| layout.is_name_enough));
    match layout {
        Some(layout) => Some((Format::Known(layout), None)),
        // It is empty, or its beginning is damaged.
        None => beside(&folder.join(name)).map(|(format, name)| (format, Some(name))),
    }
}
