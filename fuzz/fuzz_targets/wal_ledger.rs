//! Any bytes as the pages of the file beside the segments of the layout `raft-wal`, behind two meta pages that are in order.
#![no_main]

use casdiag::parsers::wal::LAYOUTS;
use libfuzzer_sys::fuzz_target;

const PAGE: usize = 4096;

/// A meta page that names the root page.
fn meta(number: u64, root: u64) -> Vec<u8> {
    let mut fields = Vec::new();
    for field in [0xed0c_daed_u32, 2, 4096, 0] {
        fields.extend(field.to_le_bytes());
    }
    for field in [root, 0, 2, 9, number] {
        fields.extend(field.to_le_bytes());
    }
    // FNV-1a.
    let sum = fields.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut page = number.to_le_bytes().to_vec();
    page.extend([4, 0, 0, 0, 0, 0, 0, 0]);
    page.extend(fields);
    page.extend(sum.to_le_bytes());
    page.resize(PAGE, 0);
    page
}

// The first byte says which page is the root; what follows are the pages from the third on.
fuzz_target!(|bytes: &[u8]| {
    let Some((&root, pages)) = bytes.split_first() else {
        return;
    };
    let mut file = [meta(0, root.into()), meta(1, root.into())].concat();
    file.extend(pages);
    file.resize(file.len().next_multiple_of(PAGE), 0);
    let ledgers = LAYOUTS.iter().filter_map(|layout| layout.ledger);
    let (_, read) = ledgers.last().expect("a layout with a ledger");
    if let Some(extents) = read(&file) {
        // Each one takes more than a byte of the file to be named.
        assert!(extents.len() < file.len());
    }
});
