//! What strangers put into archives to reach out of them is refused and listed, and the rest is read.

use std::fs;

use tar::EntryType;

use super::pack::{DEFLATED, ZipMember, tar_member, tar_of, zip_of};
use super::{line, refused};
use crate::product::{Folder, gzip};

const LOG: &[u8] = b"n1/clickhouse-server.log";

fn hostile_tar() -> Vec<u8> {
    let text = line(1).into_bytes();
    let of = |name: &[u8], kind| tar_member(name, kind, b"");
    let mut directory = tar_member(b"n1/", EntryType::Directory, b"");
    directory.extend(tar_member(b"../../evil.log", EntryType::Regular, &text));
    tar_of(&[
        directory,
        tar_member(b"/etc/evil.log", EntryType::Regular, &text),
        tar_member(b"n1/../../up.log", EntryType::Regular, &text),
        of(b"n1/link.log", EntryType::Symlink),
        of(b"n1/hard.log", EntryType::Link),
        of(b"n1/pipe.log", EntryType::Fifo),
        of(b"n1/disk.log", EntryType::Block),
        of(b"n1/tty.log", EntryType::Char),
        tar_member(LOG, EntryType::Regular, &text),
    ])
}

const REFUSED: &[(&str, &str)] = &[
    ("evil.log", "its name leads out of the archive, not read"),
    ("evil.log", "its name is absolute, not read"),
    ("disk.log", "a device, not opened"),
    ("hard.log", "a link, not followed"),
    ("link.log", "a link, not followed"),
    ("pipe.log", "a pipe, not opened"),
    ("tty.log", "a device, not opened"),
    ("up.log", "its name leads out of the archive, not read"),
];

fn sorted<'r>(mut list: Vec<(&'r str, &'r str)>) -> Vec<(&'r str, &'r str)> {
    list.sort_unstable();
    list
}

#[test]
fn what_leads_out_of_a_tar_is_refused_and_the_rest_is_read() {
    for (name, bytes) in [("a.tar", hostile_tar()), ("a.tgz", gzip(&hostile_tar()))] {
        let outer = Folder::new();
        outer.put(&format!("x/y/z/{name}"), bytes);
        let report = outer.report();
        assert_eq!(report.records.total, 1, "{name}");
        assert_eq!(sorted(refused(&report)), sorted(REFUSED.to_vec()), "{name}");
        assert!(
            !report.complete,
            "a file with a forbidden name may be a log"
        );
        let left: Vec<_> = fs::read_dir(outer.path())
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        assert_eq!(left, ["x"], "nothing is written");
    }
}

#[test]
fn what_leads_out_of_a_zip_is_refused_and_the_rest_is_read() {
    let text = line(1).into_bytes();
    let member = |name: &[u8], mode| ZipMember {
        mode,
        ..ZipMember::new(name, DEFLATED, &text)
    };
    let report = Folder::with(
        "a.zip",
        zip_of(&[
            member(b"../../evil.log", 0o100_644),
            member(b"/etc/evil.log", 0o100_644),
            member(b"..\\..\\back.log", 0o100_644),
            member(b"C:\\drive.log", 0o100_644),
            member(b"n1/link.log", 0o120_777),
            member(b"n1/pipe.log", 0o010_644),
            member(b"n1/disk.log", 0o060_644),
            member(LOG, 0o100_644),
        ]),
    )
    .report();
    assert_eq!(report.records.total, 1);
    let expected = [
        ("evil.log", "its name leads out of the archive, not read"),
        ("evil.log", "its name is absolute, not read"),
        ("back.log", "its name leads out of the archive, not read"),
        ("drive.log", "its name is absolute, not read"),
        ("link.log", "a link, not followed"),
        ("pipe.log", "a pipe, not opened"),
        ("disk.log", "a device, not opened"),
    ];
    assert_eq!(sorted(refused(&report)), sorted(expected.to_vec()));
}

#[test]
fn links_alone_leave_a_report_complete() {
    let link = tar_member(b"n1/link.log", EntryType::Symlink, b"");
    let log = tar_member(LOG, EntryType::Regular, line(1).as_bytes());
    let report = Folder::with("a.tar", tar_of(&[link, log])).report();
    assert_eq!((report.records.total, report.complete), (1, true));
    assert_eq!(refused(&report).len(), 1);
}

#[test]
fn of_members_with_one_name_the_last_counts_as_it_would_when_unpacked() {
    let of = |text: String| tar_member(LOG, EntryType::Regular, text.as_bytes());
    let bytes = tar_of(&[of(line(1)), of(line(1) + &line(2))]);
    for bytes in [gzip(&bytes), bytes] {
        let report = Folder::with("a.tar", bytes).report();
        assert_eq!((report.records.total, report.complete), (2, true));
        assert_eq!(
            refused(&report)[0].1,
            "a later member has the same name, not read"
        );
    }
}

#[test]
fn encrypted_members_are_said_and_the_rest_is_read() {
    let text = line(1).into_bytes();
    let locked = ZipMember {
        flags: 1,
        ..ZipMember::new(b"n2/clickhouse-server.log", DEFLATED, &text)
    };
    let unknown = ZipMember {
        method: 98,
        ..ZipMember::new(b"n3/clickhouse-server.log", DEFLATED, &text)
    };
    let open = ZipMember::new(LOG, DEFLATED, &text);
    let report = Folder::with("a.zip", zip_of(&[locked, unknown, open])).report();
    assert_eq!((report.records.total, report.complete), (1, false));
    let whys: Vec<&str> = refused(&report).into_iter().map(|(_, why)| why).collect();
    assert_eq!(
        whys,
        ["encrypted, not read", "packed by a method that is not read"]
    );
}

#[test]
fn members_that_share_bytes_are_refused() {
    let text = line(1).into_bytes();
    let mut bytes = zip_of(&[
        ZipMember::new(LOG, DEFLATED, &text),
        ZipMember::new(b"n2/clickhouse-server.log", DEFLATED, &text),
    ]);
    // The second entry of the directory points to the first member.
    let entry = memchr::memmem::rfind(&bytes, b"PK\x01\x02").unwrap();
    bytes[entry + 42..entry + 46].fill(0);
    let report = Folder::with("a.zip", bytes).report();
    assert_eq!((report.records.total, report.complete), (1, false));
    assert_eq!(
        refused(&report)[0].1,
        "it overlaps another member, not read"
    );
}

#[test]
fn names_that_are_no_text_are_shown_replaced() {
    let name = b"n1/clickhouse-server-\xff.log";
    let text = line(1).into_bytes();
    let tar = tar_of(&[tar_member(name, EntryType::Regular, &text)]);
    let zip = zip_of(&[ZipMember::new(name, DEFLATED, &text)]);
    for bytes in [tar, zip] {
        let report = Folder::with("a", bytes).report();
        assert_eq!(report.records.total, 1);
        assert!(
            report.inputs[0]
                .path
                .ends_with("a!/n1/clickhouse-server-\u{fffd}.log")
        );
    }
}

#[test]
fn long_names_and_attributes_of_every_kind_of_tar_are_read() {
    let text = line(1).into_bytes();
    let long = format!("{}/n7/clickhouse-server.log", "d".repeat(150));
    let gnu = tar_member(
        b"././@LongLink",
        EntryType::GNULongName,
        format!("{long}\0").as_bytes(),
    );
    let pair = format!(" path={long}\n");
    let length = pair.len() + 3;
    let pax = tar_member(
        b"PaxHeaders/x",
        EntryType::XHeader,
        format!("{length}{pair}").as_bytes(),
    );
    let global = tar_member(
        b"pax_global_header",
        EntryType::XGlobalHeader,
        b"13 comment=x\n",
    );
    for extension in [gnu, pax] {
        let member = tar_member(b"short", EntryType::Regular, &text);
        let report = Folder::with("a.tar", tar_of(&[global.clone(), extension, member])).report();
        assert_eq!(report.inputs[0].node, "n7", "{:?}", report.inputs);
        assert_eq!((report.records.total, report.complete), (1, true));
    }
    let huge = tar_member(
        b"././@LongLink",
        EntryType::GNULongName,
        &vec![b'x'; 2 << 20],
    );
    let log = tar_member(LOG, EntryType::Regular, &text);
    let report = Folder::with("a.tar", tar_of(&[huge, log])).report();
    assert_eq!((report.records.total, report.complete), (1, false));
}
