//! Records of one form, one after the other: the walk that the layouts with a checksum per record share.

use crate::vocab::{Lsn, several};

use super::salvage::{self, Budget, Found, Search, Stop};
use super::window::Window;
use super::{Body, Context, Frame, Scan};

/// How the records of a layout are told apart.
pub(super) struct Form {
    /// Records begin at multiples of this.
    pub(super) align: usize,
    /// What stands at the window's offset; verifies a record, without moving.
    pub(super) measure: fn(&mut Window<'_>) -> Step,
    /// What a verified record's bytes say.
    pub(super) frame: for<'b> fn(u64, &'b [u8]) -> Frame<'b>,
    /// Looks for a verified record where none has to be.
    pub(super) probe: fn(&mut Window<'_>, &mut Budget) -> Option<Found>,
}

/// What stands at an offset.
pub(super) enum Step {
    /// A verified record of so many bytes, padding included.
    Frame(usize),
    /// The end of the file.
    End,
    /// The end mark.
    Zeros,
    /// A record that is wrong.
    Stop(Stop),
}

impl Step {
    /// A record that is not there to its end.
    pub(super) fn torn(offset: u64, skip: usize, detail: String) -> Self {
        Self::Stop(Stop::torn(offset, skip, detail))
    }

    /// Bytes that cannot be a record.
    pub(super) fn corrupt(offset: u64, skip: usize, detail: String) -> Self {
        Self::Stop(Stop::corrupt(offset, skip, detail))
    }

    /// A record whose head is there and whose end is behind the end of the file.
    pub(super) fn past_end(offset: u64, skip: usize, size: usize, there: usize) -> Self {
        let detail = format!(
            "a record of {size} bytes runs past the end of the file, {} there",
            several(there, "byte is", "bytes are")
        );
        Self::torn(offset, skip, detail)
    }

    /// A record whose head is not there to its end.
    pub(super) fn head_only(offset: u64, skip: usize, there: usize) -> Self {
        Self::torn(offset, skip, only(there, "record"))
    }
}

/// Hands on every record from the window's offset to the end of the segment, or to the first one that is wrong; says whether the
/// segment ended at an end mark, and at which offset.
pub(super) fn walk(
    form: &Form,
    window: &mut Window<'_>,
    context: &Context,
    scan: &mut Scan,
    sink: &mut dyn FnMut(&Frame<'_>),
) -> Option<u64> {
    let mut last = context.name.lsn.map(Lsn::before);
    let (mark, stop) = loop {
        let offset = window.offset();
        match (form.measure)(window) {
            Step::Frame(size) => {
                let frame = (form.frame)(offset, &window.peek(size)[..size]);
                if let Body::Entry { lsn, .. } = frame.body {
                    last = Some(lsn);
                }
                sink(&frame);
                scan.count(&frame);
                window.advance(size);
            }
            Step::End => return None,
            Step::Zeros => break (Some(offset), None),
            Step::Stop(stop) => break (None, Some(stop)),
        }
    };
    let mut probe = form.probe;
    let search = Search {
        align: form.align,
        after: last,
        probe: &mut probe,
    };
    match stop {
        Some(stop) => salvage::stop(window, scan, stop, search),
        None => salvage::end_mark(window, scan, Some(search)),
    }
    mark
}

/// `only 7 bytes of a record are there`.
pub(super) fn only(there: usize, what: &str) -> String {
    let (bytes, are) = if there == 1 {
        ("byte", "is")
    } else {
        ("bytes", "are")
    };
    format!("only {there} {bytes} of a {what} {are} there")
}
