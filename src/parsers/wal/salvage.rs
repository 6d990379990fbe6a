//! The end of a scan at a frame that is wrong: is it a tear, with nothing behind it, or damage in the midst of good records?
//!
//! A tear is what a crash leaves, and a server cuts it off. A frame of which only the length is wrong looks the same from the front:
//! both run past the end of the file. So the bytes behind are searched for a record that verifies.

use crate::vocab::Lsn;

use super::window::{Window, is_zero};
use super::{Behind, Fault, FaultKind, Scan, Tail};

/// Bytes behind a fault that are tried as the beginning of a frame.
const SEARCH_BYTES: u64 = 1024 * 1024;
/// Bytes that are checksummed in trying: a hostile file can make every offset look like a frame of a megabyte.
const SEARCH_WORK: u64 = 64 * 1024 * 1024;
/// The longest record that is looked for: random bytes read as a length are mostly longer.
pub(super) const FOUND_BYTES_MAX: usize = 1024 * 1024;
/// How far above the last good position a found record may be; what is further is taken for chance.
const LSN_LEAP_MAX: u64 = 1 << 32;
/// A disk writes whole sectors: one of them all zero within a frame means that the frame was never completely written.
pub(super) const SECTOR: usize = 512;

/// The shortest run of zero bytes, up to a sector's edge, that is taken for a part that was never written.
pub(super) const ZEROS_MIN: usize = 16;

/// A frame that ends a scan.
pub(super) struct Stop {
    /// Where it begins.
    pub(super) offset: u64,
    /// Bytes of it that cannot hold another frame's beginning.
    pub(super) skip: usize,
    /// What it is if verified records stand behind it.
    pub(super) followed: FaultKind,
    /// What it is if none do.
    pub(super) last: FaultKind,
    /// What was seen, for people.
    pub(super) detail: String,
}

impl Stop {
    /// A frame that is not there to its end.
    pub(super) fn torn(offset: u64, skip: usize, detail: String) -> Self {
        Self {
            offset,
            skip,
            followed: FaultKind::Corrupt,
            last: FaultKind::Torn,
            detail,
        }
    }

    /// Bytes that cannot be a frame.
    pub(super) fn corrupt(offset: u64, skip: usize, detail: String) -> Self {
        Self {
            offset,
            skip,
            followed: FaultKind::Corrupt,
            last: FaultKind::Corrupt,
            detail,
        }
    }

    /// A whole frame whose checksum is not its content's; `part` as in [`has_unwritten_sector`].
    pub(super) fn checksum(
        offset: u64,
        skip: usize,
        bytes: &[u8],
        part: usize,
        detail: String,
    ) -> Self {
        let is_torn = has_unwritten_sector(bytes, offset, part);
        Self {
            offset,
            skip,
            followed: FaultKind::Checksum,
            last: if is_torn {
                FaultKind::Torn
            } else {
                FaultKind::Checksum
            },
            detail,
        }
    }
}

/// How to try for a frame behind the fault.
pub(super) struct Search<'p> {
    /// Frames begin at multiples of this.
    pub(super) align: usize,
    /// The last good position before the fault.
    pub(super) after: Option<Lsn>,
    /// Looks for a verified frame at the window's offset, without moving it, and pays for the bytes that it checksums.
    pub(super) probe: &'p mut dyn FnMut(&mut Window<'_>, &mut Budget) -> Option<Found>,
}

/// A verified frame.
pub(super) struct Found {
    /// Bytes up to the next frame.
    pub(super) size: usize,
    /// Its position, if it is a record of the log and has one.
    pub(super) lsn: Option<Lsn>,
    /// Records of the log in it: of consecutive positions, if there are several.
    pub(super) records: u64,
}

/// Work left in a search.
pub(super) struct Budget(u64);

impl Budget {
    /// Pays for checksumming so many bytes, unless that is more than is left.
    pub(super) fn pay(&mut self, bytes: usize) -> bool {
        let cost = bytes as u64;
        let can_pay = cost <= self.0;
        self.0 = self.0.saturating_sub(cost);
        can_pay
    }
}

/// Ends the scan at a wrong frame, after searching what stands behind it.
pub(super) fn stop(window: &mut Window<'_>, scan: &mut Scan, stop: Stop, mut search: Search<'_>) {
    window.advance(stop.skip);
    let behind = search_behind(window, &mut search);
    note(scan, stop, behind);
}

/// As [`stop`] if verified records stand behind the frame. If none do, it is no frame of the log, and nothing is noted; says so.
pub(super) fn is_end(
    window: &mut Window<'_>,
    scan: &mut Scan,
    stop: Stop,
    mut search: Search<'_>,
) -> bool {
    window.advance(stop.skip);
    let behind = search_behind(window, &mut search);
    let is_end = behind.is_none();
    if !is_end {
        note(scan, stop, behind);
    }
    is_end
}

fn note(scan: &mut Scan, stop: Stop, behind: Option<Behind>) {
    let kind = if behind.is_some() {
        stop.followed
    } else {
        stop.last
    };
    scan.tail = if kind == FaultKind::Torn {
        Tail::Torn
    } else {
        Tail::Bad
    };
    scan.behind = behind;
    scan.chain = None;
    scan.faults.push(Fault {
        kind,
        offset: stop.offset,
        detail: stop.detail,
    });
}

/// Ends the scan at the end mark: zero bytes up to the end, or zero bytes and then something else.
pub(super) fn end_mark(window: &mut Window<'_>, scan: &mut Scan, search: Option<Search<'_>>) {
    let zeros = window.zeros();
    scan.tail = match zeros.data_at {
        None => Tail::Zeros(zeros.count),
        Some(at) => Tail::DataAfterZeros {
            zeros: zeros.count,
            at,
        },
    };
    if let (Some(_), Some(mut search)) = (zeros.data_at, search) {
        scan.behind = search_behind(window, &mut search);
    }
}

/// Verified records from the offset on.
fn search_behind(window: &mut Window<'_>, search: &mut Search<'_>) -> Option<Behind> {
    let mut behind: Option<Behind> = None;
    let mut searched = 0;
    let mut budget = Budget(SEARCH_WORK);
    while searched < SEARCH_BYTES && budget.0 > 0 && !window.peek(1).is_empty() {
        let offset = window.offset();
        let Some(found) = (search.probe)(window, &mut budget) else {
            window.advance(search.align);
            searched += search.align as u64;
            continue;
        };
        if found.records > 0 {
            let last = found
                .lsn
                .map(|lsn| Lsn(lsn.0.saturating_add(found.records - 1)));
            match &mut behind {
                Some(behind) => {
                    behind.records += found.records;
                    behind.range = behind
                        .range
                        .zip(last)
                        .map(|((first, _), last)| (first, last));
                }
                None if found.lsn.is_none_or(|lsn| is_plausible(lsn, search.after)) => {
                    behind = Some(Behind {
                        records: found.records,
                        range: found.lsn.zip(last),
                        offset,
                    });
                }
                None => {}
            }
        }
        // Only what is tried in vain counts: a chain of verified frames may be long.
        budget.0 = budget.0.saturating_add(found.size as u64).min(SEARCH_WORK);
        window.advance(found.size.max(1));
    }
    behind
}

fn is_plausible(lsn: Lsn, after: Option<Lsn>) -> bool {
    after.is_none_or(|after| {
        lsn.0.wrapping_sub(after.0) < LSN_LEAP_MAX || after.0.wrapping_sub(lsn.0) < LSN_LEAP_MAX
    })
}

/// Whether some disk sector of a frame was never written. The part of a sector that the frame covers counts if it has at least
/// `part` bytes: few zero bytes at an end are content as likely as not.
pub(super) fn has_unwritten_sector(bytes: &[u8], offset: u64, part: usize) -> bool {
    let mut rest = bytes;
    let mut at = offset;
    while !rest.is_empty() {
        let room = SECTOR - usize::try_from(at % SECTOR as u64).unwrap_or_default();
        let (sector, behind) = rest.split_at(room.min(rest.len()));
        if sector.len() >= part && is_zero(sector) {
            return true;
        }
        at += sector.len() as u64;
        rest = behind;
    }
    false
}
