//! Searching bytes: for a text, for many at once, for the ends of lines.
//!
//! What other crates offer for many texts or lines is made for one answer after another: each answer costs a call, and the search
//! begins anew behind it. Logs are full of answers: a line ends every 200 bytes, and most messages hold a text that is looked for. So
//! [`LineEnds`] and [`Windows`] find all of a stretch at once, with vector instructions that read 32 bytes (AVX2). On machines
//! without them the same answers come from `memchr` and `aho-corasick`.

mod byte_set;
mod line_ends;
mod literal;
mod literals;
#[cfg(target_arch = "x86_64")]
mod vectors;
mod windows;
mod word;

pub use byte_set::ByteSet;
pub use line_ends::LineEnds;
pub use literal::Literal;
pub use literals::Literals;
pub use windows::{WINDOW, Windows};
pub(crate) use word::{WORD, begins_with, first, is_between, pairs, places, short_number, word};

/// How many bytes one instruction reads.
const LANES: usize = 32;
