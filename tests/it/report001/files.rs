//! One log of a node as files: rotated, packed, counted per piece.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{FileTruth, Pieces};

pub(super) enum Out {
    Plain(BufWriter<File>),
    Packed(Box<GzEncoder<BufWriter<File>>>),
}

impl Out {
    pub(super) fn create(path: &Path) -> Self {
        let file = BufWriter::new(File::create(path).expect("the folder is writable"));
        if path.extension().is_some_and(|extension| extension == "gz") {
            Self::Packed(Box::new(GzEncoder::new(file, Compression::new(5))))
        } else {
            Self::Plain(file)
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Packed(file) => file.write_all(bytes),
        }
        .expect("the disk has room");
    }

    pub(super) fn close(self) {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Packed(file) => file.finish().and_then(|mut file| file.flush()),
        }
        .expect("the disk has room");
    }
}

/// One log of a node: its pieces are opened in order of time.
pub(super) struct Stream {
    pub(super) folder: PathBuf,
    pub(super) path: String,
    pub(super) pieces: Pieces,
    pub(super) at: usize,
    /// The lines of the last piece end in CR LF.
    pub(super) last_is_crlf: bool,
    pub(super) out: Option<Out>,
    pub(super) truths: BTreeMap<String, FileTruth>,
}

impl Stream {
    pub(super) fn new(folder: &Path, path: String, pieces: Pieces, last_is_crlf: bool) -> Self {
        let mut stream = Self {
            folder: folder.to_path_buf(),
            path,
            pieces,
            at: 0,
            last_is_crlf,
            out: None,
            truths: BTreeMap::new(),
        };
        stream.open();
        stream
    }

    pub(super) fn piece(&self) -> String {
        format!("{}{}", self.path, self.pieces[self.at].0)
    }

    pub(super) fn open(&mut self) {
        let piece = self.piece();
        if let Some(out) = self.out.replace(Out::create(&self.folder.join(&piece))) {
            out.close();
        }
        self.truths.insert(piece, FileTruth::default());
    }

    /// Goes to the next piece where the plan says so; always between two records.
    pub(super) fn rotate(&mut self, per_mille: u64) {
        while per_mille >= self.pieces[self.at].1 {
            self.at += 1;
            self.open();
        }
    }

    pub(super) fn put(&mut self, text: &str, grep_lines: u64, torn: bool) {
        let mut bytes = if torn {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        if self.last_is_crlf && self.at + 1 == self.pieces.len() {
            bytes = bytes.replace('\n', "\r\n");
        }
        let piece = self.piece();
        let truth = self.truths.get_mut(&piece).expect("opened before");
        truth.records += 1;
        truth.continuation_lines += line_feeds(text);
        truth.bytes += u64::try_from(bytes.len()).expect("a length fits");
        truth.grep_lines += grep_lines;
        truth.torn |= torn;
        self.out
            .as_mut()
            .expect("opened before")
            .put(bytes.as_bytes());
    }

    pub(super) fn finish(mut self) -> BTreeMap<String, FileTruth> {
        if let Some(out) = self.out.take() {
            out.close();
        }
        self.truths
    }
}

pub(super) fn line_feeds(text: &str) -> u64 {
    u64::try_from(text.matches('\n').count()).expect("a count fits")
}
