//! Intake: from paths to artifacts, from artifacts to record-aligned blocks. The only stage that opens files.
//!
//! It knows names, containers and sizes, and nothing of what records mean: where a block may be cut is told to it.

mod archives;
mod artifact;
mod beside;
mod blocks;
mod bounds;
mod content;
mod file_name;
mod given;
mod naming;
mod packing;
mod stdin;
mod text;
mod walk;

pub use archives::Useful;
pub use artifact::{Artifact, SAMPLE_BYTES};
pub use beside::{place_beside, place_tables};
pub use blocks::{Block, BlockReader, Limits};
pub use bounds::Bounds;
pub use content::{Content, Member, Window};
pub use file_name::{Role, Rotation, copied_from, split_name};
pub use given::{Names, NodeGlob, folder_of};
pub use naming::{Place, UNNAMED, place_all};
pub use packing::Encoding;
pub use text::{TEXT_BYTES_MAX, read_text};
pub use walk::{Found, Refused, is_stdin, walk};

use std::path::PathBuf;

/// What can go wrong before or while bytes are read. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path given on the command line does not exist or cannot be looked at.
    #[error("cannot read {}", path.display())]
    Root {
        /// The path as given.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be opened.
    #[error("cannot open {path}")]
    Open {
        /// The artifact's path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is read whole is larger than it may be, or no text.
    #[error("{}: not a text of at most {max} bytes", path.display())]
    Text {
        /// The path as given.
        path: PathBuf,
        /// The bound.
        max: u64,
    },
    /// Reading or unpacking stopped before the end.
    #[error("{path} cannot be read past byte {offset}")]
    Read {
        /// The artifact's path.
        path: String,
        /// How many unpacked bytes were read before.
        offset: u64,
        /// Why.
        source: std::io::Error,
    },
}
