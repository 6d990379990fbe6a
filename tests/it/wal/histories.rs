//! What a healthy etcd member can write, step by step: appends, rewritten tails, snapshots, new files. None of it is a problem.

use casdiag::vocab::Lsn;
use proptest::prelude::*;

use super::writer::Etcd;
use super::{Folder, check, kinds, only};

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Entries of the current term.
    Append(u64),
    /// A new leader overwrites so many uncommitted entries with one of its own.
    Rewrite(u64),
    /// The commit position moves up by so many.
    Commit(u64),
    /// The member takes a snapshot of what is committed.
    Snapshot,
    /// The leader sends a snapshot so far above the last entry.
    Install(u64),
    /// The file is full.
    Cut,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1_u64..6).prop_map(Step::Append),
        2 => (1_u64..5).prop_map(Step::Rewrite),
        3 => (0_u64..6).prop_map(Step::Commit),
        1 => Just(Step::Snapshot),
        1 => (1_u64..30).prop_map(Step::Install),
        2 => Just(Step::Cut),
    ];
    proptest::collection::vec(step, 1..40)
}

/// A member's log under way.
struct Member {
    file: Etcd,
    files: Vec<(String, Vec<u8>)>,
    name: String,
    /// The last position written, which the next file is called after.
    written: u64,
    last: u64,
    commit: u64,
    term: u64,
    /// The terms of entries and snapshots.
    terms: std::collections::BTreeMap<u64, u64>,
}

impl Member {
    fn new() -> Self {
        let mut file = Etcd::file(0, 0xc1);
        file.snapshot(0, 0);
        let name = format!("{:016x}-{:016x}.wal", 0, 0);
        Self {
            file,
            files: Vec::new(),
            name,
            written: 0,
            last: 0,
            commit: 0,
            term: 1,
            terms: std::collections::BTreeMap::new(),
        }
    }

    fn entry(&mut self, lsn: u64) {
        self.file.entry(lsn, self.term);
        self.terms.insert(lsn, self.term);
        (self.last, self.written) = (lsn, lsn);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Append(count) => (0..count).for_each(|_| self.entry(self.last + 1)),
            Step::Rewrite(count) => {
                self.term += 1;
                let first = (self.last + 1).saturating_sub(count).max(self.commit + 1);
                self.terms.split_off(&first);
                self.entry(first);
            }
            Step::Commit(count) => {
                self.commit = (self.commit + count).min(self.last);
                self.file.state(self.term, self.commit);
            }
            Step::Snapshot => {
                if let Some(&term) = self.terms.get(&self.commit) {
                    self.file.snapshot(self.commit, term);
                    self.written = self.written.max(self.commit);
                }
            }
            Step::Install(above) => {
                let lsn = self.last + above;
                self.file.snapshot(lsn, self.term);
                self.terms.insert(lsn, self.term);
                self.written = self.written.max(lsn);
                (self.last, self.commit) = (lsn, lsn);
                self.file.state(self.term, self.commit);
            }
            Step::Cut => {
                let seq = self.files.len() + 1;
                let name = format!("{seq:016x}-{:016x}.wal", self.written + 1);
                let mut next = Etcd::file(self.file.crc, 0xc1);
                next.state(self.term, self.commit);
                let full = std::mem::replace(&mut self.file, next);
                self.files
                    .push((std::mem::replace(&mut self.name, name), full.bytes));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_a_healthy_member_writes_is_clean_however_much_of_its_head_is_purged(steps in steps(), purged in 0_usize..3) {
        let mut member = Member::new();
        for step in &steps {
            member.step(*step);
        }
        let (last, bytes) = (member.last, member.file.bytes.clone());
        member.files.push((member.name.clone(), bytes));
        let folder = Folder::new();
        let kept = member.files.len().saturating_sub(purged).max(1);
        for (name, bytes) in &member.files[member.files.len() - kept..] {
            folder.write(&format!("m/member/wal/{name}"), bytes);
        }
        let inspection = check(folder.path());
        let wal = only(&inspection);
        prop_assert_eq!(kinds(wal), [], "{:?}", wal.problems.iter().map(|it| (&it.detail, it.segment)).collect::<Vec<_>>());
        let has_entries = wal.segments.iter().any(|segment| segment.entries > 0);
        if has_entries && kept == member.files.len() {
            prop_assert_eq!(wal.end(), Some(Lsn(last)));
        }
    }
}
