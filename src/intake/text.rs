//! Small texts read whole, within a bound.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::Error;

/// The largest text that is read whole: a rules file, a layout.
pub const TEXT_BYTES_MAX: u64 = 16 << 20;

/// Reads a text of at most [`TEXT_BYTES_MAX`] bytes.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let root = |source| Error::Root {
        path: path.to_path_buf(),
        source,
    };
    let mut text = Vec::new();
    let file = File::open(path).map_err(root)?;
    file.take(TEXT_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(root)?;
    let fits = u64::try_from(text.len()).is_ok_and(|length| length <= TEXT_BYTES_MAX);
    let refused = || Error::Text {
        path: path.to_path_buf(),
        max: TEXT_BYTES_MAX,
    };
    String::from_utf8(text)
        .ok()
        .filter(|_| fits)
        .ok_or_else(refused)
}
