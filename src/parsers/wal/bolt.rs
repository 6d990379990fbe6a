//! A bbolt file, as far as it takes to find every value in it: a tree of pages, little endian.
//!
//! ```text
//! page    u64 number  u16 kind  u16 elements  u32 further pages
//! branch  u32 position of the key  u32 its length  u64 page
//! leaf    u32 kind  u32 position of the key, from here  u32 its length  u32 length of the value
//! ```

use super::little;

const MAGIC: u64 = 0xed0c_daed;
const VERSION: u64 = 2;
/// Page header.
const HEADER: usize = 16;
/// An element of either kind of page.
const ELEMENT: usize = 16;
const BRANCH: u64 = 1;
const LEAF: u64 = 2;
/// The kind of an element whose value is a bucket.
const BUCKET: u64 = 1;
/// A bucket: its root page, a counter; with root 0 its page stands behind it.
const BUCKET_BYTES: usize = 16;
/// Pages, buckets and their elements that are looked into: a damaged file can point in circles, and one page names very many others.
const LOOKS_MAX: usize = 100_000;

/// All values, in the order of buckets and keys; nothing if it is no such file.
pub(super) fn values(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let (page_size, root) = meta(bytes)?;
    let mut values = Vec::new();
    let mut pending = vec![page(bytes, page_size, root)?];
    let mut looks = 0;
    let mut held = 0;
    while let Some(page) = pending.pop() {
        let kind = little(page.get(8..10)?);
        let count = usize::try_from(little(page.get(10..12)?)).ok()?;
        looks += 1 + count;
        if looks > LOOKS_MAX {
            return None;
        }
        for n in 0..count {
            let at = HEADER + n * ELEMENT;
            let element = page.get(at..at + ELEMENT)?;
            match kind {
                BRANCH => pending.push(self::page(bytes, page_size, little(&element[8..16]))?),
                LEAF => {
                    let value = value(page, at)?;
                    if little(&element[..4]) & BUCKET == 0 {
                        // Each value has bytes of its own.
                        held += value.len();
                        if held > bytes.len() {
                            return None;
                        }
                        values.push(value);
                        continue;
                    }
                    let root = little(value.get(..8)?);
                    pending.push(if root == 0 {
                        value.get(BUCKET_BYTES..)?
                    } else {
                        self::page(bytes, page_size, root)?
                    });
                }
                _ => return None,
            }
        }
    }
    Some(values)
}

/// The value of the element at a place in a page.
fn value(page: &[u8], at: usize) -> Option<&[u8]> {
    let number = |from: usize| usize::try_from(little(page.get(from..from + 4)?)).ok();
    let from = at
        .checked_add(number(at + 4)?)?
        .checked_add(number(at + 8)?)?;
    page.get(from..from.checked_add(number(at + 12)?)?)
}

/// Page size and root page by the newer of the two good meta pages.
fn meta(bytes: &[u8]) -> Option<(usize, u64)> {
    let size = little(bytes.get(HEADER + 8..HEADER + 12)?);
    let size = usize::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two() && (512..=65536).contains(size));
    // If the first meta page is damaged, only the usual page size is tried for the second.
    let size = size.unwrap_or(4096);
    let metas = [0, size].into_iter().filter_map(|from| {
        let meta = bytes.get(from + HEADER..from + HEADER + 64)?;
        let is_good = little(&meta[..4]) == MAGIC
            && little(&meta[4..8]) == VERSION
            && little(&meta[56..64]) == fnv(&meta[..56]);
        is_good.then(|| (little(&meta[48..56]), little(&meta[16..24])))
    });
    metas.max().map(|(_, root)| (size, root))
}

/// A page with those that belong to it.
fn page(bytes: &[u8], size: usize, number: u64) -> Option<&[u8]> {
    let from = usize::try_from(number).ok()?.checked_mul(size)?;
    let further = usize::try_from(little(
        bytes.get(from..from.checked_add(HEADER)?)?.get(12..16)?,
    ));
    let length = further.ok()?.checked_add(1)?.checked_mul(size)?;
    bytes.get(from..from.checked_add(length)?)
}

/// FNV-1a of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
