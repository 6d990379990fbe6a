//! What the controllers would have left: their logs, the harness's output, and their segments.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::names::{Note, What, controller};
use super::run::Run;
use super::setup::Assumptions;
use crate::engine::sim::{MILLISECOND, Micros, SECOND};

/// Writes `ctrl-N.log`, `soak.log` and `data/ctrl-N/seg-*.wal` below a folder.
pub fn write_logs(run: &Run, dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let begins = run.scenario.time_of_day().unwrap_or(0);
    let nodes = run.scenario.nodes;
    let mut logs = Vec::new();
    for node in 0..nodes {
        let file = File::create(dir.join(format!("{}.log", controller(node))))?;
        logs.push(BufWriter::new(file));
    }
    for (at, note) in &run.events {
        let Some(text) = line(note, &run.scenario.assume) else {
            continue;
        };
        if let Some(log) = logs.get_mut(note.node) {
            let (stamp, name) = (stamp(begins + at), controller(note.node));
            writeln!(log, "{stamp} {name} {text}")?;
        }
    }
    for mut log in logs {
        log.flush()?;
    }
    if !run.lines.is_empty() {
        let mut text = String::new();
        for line in &run.lines {
            text.push_str(line);
            text.push('\n');
        }
        fs::write(dir.join("soak.log"), text)?;
    }
    for node in 0..nodes {
        let folder = dir.join("data").join(controller(node));
        fs::create_dir_all(&folder)?;
        for (name, bytes) in run.world.segments(node) {
            fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

/// A time of day as the controllers print it.
fn stamp(at: Micros) -> String {
    let seconds = at / SECOND % 86_400;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let millis = at % SECOND / MILLISECOND;
    format!("{hours:02}:{minutes:02}:{:02},{millis:03}", seconds % 60)
}

/// The text behind time and node; nothing where the real ones are silent.
fn line(note: &Note, assumptions: &Assumptions) -> Option<String> {
    let text = match note.what {
        What::Started { delay_ms } => format!(
            "main: starting xcecd_virtual (node_id={} start_delay_ms={delay_ms})",
            note.node + 1
        ),
        What::HelloTaken {
            from,
            term,
            applied,
        } => {
            let from = controller(from);
            format!(
                "repl: primary hello from {from} (term={term} applied_lsn={applied}) — accepted"
            )
        }
        What::CatchUp { first, last, term } => {
            format!("ha_apply_wal_catchup_entry: walCatchupEntry lsn={first}..{last} term={term}")
        }
        What::Dropped { is_first } if is_first || !assumptions.drops_once => {
            "INFO ha_apply_wal_catchup_entry: replication traffic dropped before recovery"
                .to_owned()
        }
        What::Busy { lsn } => {
            format!("WARN persist_wal_write_replicated: EBUSY before recovery (lsn={lsn})")
        }
        What::Recovered { current, segments } => format!(
            "cluster_init_phase2: persist_recover current_lsn={current} segments={segments}"
        ),
        What::Follower { term, last } => format!("HA raft: follower (term={term} last_lsn={last})"),
        What::AppendOk {
            term,
            prev,
            n,
            matched,
        } => consumed(term, prev, n, Some(matched)),
        What::AppendRejected { term, prev, n } => consumed(term, prev, n, None),
        What::Candidate { .. }
        | What::VoteGranted { .. }
        | What::Primary { .. }
        | What::SteppedDown { .. } => return election(note.what),
        What::Registered { .. }
        | What::Stream { .. }
        | What::Streamed { .. }
        | What::FoundNone { .. }
        | What::SnapshotSent { .. }
        | What::SnapshotTaken { .. }
        | What::Nack { .. } => return streaming(note.what),
        What::Ready { term, committed } => {
            format!("HA raft: ready (term={term} committed_lsn={committed})")
        }
        What::WaitExpired {
            lsn,
            committed,
            writable,
        } => format!(
            "commit: WAIT deadline expired without commit (lsn={lsn} committed_lsn={committed} writable_lsn={writable} timeout_ms=500)"
        ),
        What::Stopped => "main: stopped".to_owned(),
        // A killed process says nothing, and nobody logs what only the engine sees.
        What::Killed
        | What::Dropped { .. }
        | What::NotReady
        | What::Acknowledged { .. }
        | What::FalseAck { .. }
        | What::Lost { .. } => return None,
    };
    Some(text)
}

/// The text of an election.
fn election(what: What) -> Option<String> {
    if let What::Candidate { term } = what {
        return Some(format!(
            "HA raft: election timeout, candidate (term={term})"
        ));
    }
    if let What::VoteGranted { to, term, last } = what {
        let to = controller(to);
        return Some(format!(
            "HA raft: vote granted to {to} (term={term} last_lsn={last})"
        ));
    }
    if let What::Primary { term, votes, of } = what {
        return Some(format!("HA raft: primary (term={term} votes={votes}/{of})"));
    }
    if let What::SteppedDown { term } = what {
        return Some(format!("HA raft: stepped down (term={term})"));
    }
    None
}

/// What an append came to; `matched` is where the logs agree if it was taken.
fn consumed(term: u64, prev: u64, n: u64, matched: Option<u64>) -> String {
    let result = match matched {
        None => "success=0 match=0 (ae_reject_logmismatch)".to_owned(),
        Some(lsn) if n == 0 => format!("success=1 match={lsn} (nop heartbeat)"),
        Some(lsn) => format!("success=1 match={lsn}"),
    };
    format!("ha_consume_append_entries: leader_idx=-1 term={term} prevIdx={prev} n={n} -> {result}")
}

/// The text of whoever streams and whoever takes snapshots.
fn streaming(what: What) -> Option<String> {
    if let What::Registered { standby, report } = what {
        return Some(format!(
            "HA repl: standby[{standby}] registered (report_lsn={report})"
        ));
    }
    if let What::Stream {
        standby,
        lsn,
        ceiling,
        committed,
    } = what
    {
        return Some(format!(
            "HA repl: standby[{standby}] lsn={lsn} < stream_ceiling_lsn={ceiling} (committed_lsn={committed}) → stream WAL batches"
        ));
    }
    if let What::Streamed {
        from,
        to,
        entries,
        is_counted,
    } = what
    {
        let streamed =
            format!("ha_stream_wal_to_standby: streamed WAL [{from}+1..{to}] to standby");
        return Some(if is_counted {
            format!("{streamed} ({entries} entries)")
        } else {
            streamed
        });
    }
    if let What::FoundNone { from, to } = what {
        return Some(format!(
            "WARN ha_stream_wal_to_standby: found NO entries in [{from}+1..{to}]"
        ));
    }
    if let What::SnapshotSent { lsn } = what {
        return Some(format!("HA repl: snapshot sent (lsn={lsn})"));
    }
    if let What::SnapshotTaken { lsn, term } = what {
        return Some(format!(
            "ha_handle_snapshot_chunk: snapshot installed (lsn={lsn} term={term})"
        ));
    }
    if let What::Nack { lsn } = what {
        return Some(format!(
            "repl_ack_decode_and_dispatch: WAL NACK from standby lsn={lsn} success=0 — marking catch-up"
        ));
    }
    None
}
