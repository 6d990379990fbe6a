//! The harness's workers: inserts under way, and those that are tried again after a fault.

use super::driver::{Driver, SYNC, Verdict};
use super::ops::Op;
use crate::engine::sim::{MILLISECOND, Micros, SECOND};

/// Attempts of an insert in the phases with chaos: with their waits about 287 s.
const ATTEMPTS: u32 = 40;

/// The first wait between two attempts, doubled up to [`WAIT_MAX`].
const WAIT: Micros = 250 * MILLISECOND;

/// The longest.
const WAIT_MAX: Micros = 8 * SECOND;

/// An insert that a worker has not finished.
#[derive(Debug, Clone, Copy)]
pub(super) struct Insert {
    op: Op,
    node: usize,
    attempt: u32,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The server works on it as this job, in this epoch of its process.
    AtWork(u64, u32),
    /// It is sent again at this time.
    Waits(Micros),
}

/// Why an attempt failed, as the harness tells it.
enum Failed {
    Transport(&'static str),
    Refused,
}

impl Driver<'_> {
    /// Sends the rows of an operation.
    pub(super) fn insert(&mut self, op: Op) -> Result<(), Verdict> {
        let insert = Insert {
            op,
            node: op.target,
            attempt: 1,
            state: State::Waits(0),
        };
        self.send(insert)
    }

    fn send(&mut self, mut insert: Insert) -> Result<(), Verdict> {
        let is_up = self
            .run
            .world
            .nodes
            .get(insert.node)
            .is_some_and(|it| it.is_up);
        match self.run.client_insert(insert.node, insert.op.id) {
            Some(job) => {
                let epoch = self
                    .run
                    .world
                    .nodes
                    .get(insert.node)
                    .map_or(0, |it| it.epoch);
                insert.state = State::AtWork(job, epoch);
                self.inserts.push(insert);
                Ok(())
            }
            None if is_up => self.failed(insert, &Failed::Transport(RESET)),
            None => self.failed(insert, &Failed::Transport(REFUSED)),
        }
    }

    fn failed(&mut self, mut insert: Insert, failed: &Failed) -> Result<(), Verdict> {
        let (id, attempt) = (insert.op.id, insert.attempt);
        let verdict = match failed {
            Failed::Transport(text) => Verdict::Failed("TRANSPORT FAILURE", (*text).to_owned()),
            Failed::Refused => Verdict::Failed(
                "WORKLOAD FAILURE",
                format!("INSERT op_id={id}: {RETRY_LATER}"),
            ),
        };
        if !self.soak.is_resilient() || attempt >= ATTEMPTS {
            return Err(verdict);
        }
        let line = match failed {
            Failed::Transport(text) => {
                let error = if *text == RESET {
                    "ConnectionResetError"
                } else {
                    "ConnectionRefusedError"
                };
                format!(
                    "INSERT op_id={id} transport failure on Node(localhost:{}) (attempt {attempt}); rerouting/retrying. {error}: {text}",
                    8123 + insert.node
                )
            }
            Failed::Refused => format!(
                "INSERT op_id={id} hit retryable ABORTED (attempt {attempt}); retrying. {RETRY_LATER}"
            ),
        };
        self.said.push(line);
        let wait = WAIT_MAX.min(WAIT << (attempt - 1).min(16));
        insert.state = State::Waits(self.run.now() + wait);
        insert.attempt += 1;
        insert.node = 1 - insert.node.min(1);
        self.inserts.push(insert);
        Ok(())
    }

    /// Lets the system run until at most so many inserts are under way.
    pub(super) fn wait_for_workers(&mut self, most: usize) -> Result<(), Verdict> {
        let deadline = self.run.now() + SYNC;
        loop {
            self.collect()?;
            self.send_again()?;
            if self.inserts.len() <= most {
                return Ok(());
            }
            if !self.go_on(deadline) {
                let text = "timed out".to_owned();
                return Err(Verdict::Failed("TRANSPORT FAILURE", text));
            }
        }
    }

    /// Takes notice of inserts that have ended, and of servers that ended under them.
    fn collect(&mut self) -> Result<(), Verdict> {
        for (job, has_failed) in self.run.take_finished() {
            let is_it = |it: &Insert| matches!(it.state, State::AtWork(number, _) if number == job);
            let Some(place) = self.inserts.iter().position(is_it) else {
                continue;
            };
            let insert = self.inserts.remove(place);
            if has_failed {
                self.failed(insert, &Failed::Refused)?;
            } else {
                self.model.apply(insert.op);
            }
        }
        let nodes = &self.run.world.nodes;
        let is_cut = |it: &Insert| {
            let node = nodes.get(it.node);
            // A remount has told its waiters, so that only a process that ended leaves one behind.
            matches!(it.state, State::AtWork(_, epoch)
                if node.is_none_or(|node| !node.is_up || node.epoch != epoch))
        };
        let cut: Vec<Insert> = self
            .inserts
            .iter()
            .filter(|it| is_cut(it))
            .copied()
            .collect();
        for insert in cut {
            let State::AtWork(job, _) = insert.state else {
                continue;
            };
            self.run.forget_job(job);
            self.inserts
                .retain(|it| !matches!(it.state, State::AtWork(number, _) if number == job));
            self.failed(insert, &Failed::Transport(RESET))?;
        }
        Ok(())
    }

    fn send_again(&mut self) -> Result<(), Verdict> {
        let now = self.run.now();
        let is_due = |it: &Insert| matches!(it.state, State::Waits(at) if at <= now);
        while let Some(place) = self.inserts.iter().position(is_due) {
            let insert = self.inserts.remove(place);
            self.send(insert)?;
        }
        Ok(())
    }

    /// Lets one thing happen, or time pass until an insert is sent again. Whether there was time left.
    pub(super) fn go_on(&mut self, deadline: Micros) -> bool {
        if self.run.now() >= deadline {
            return false;
        }
        let waits = self.inserts.iter().filter_map(|it| match it.state {
            State::Waits(at) => Some(at),
            State::AtWork(..) => None,
        });
        let next = waits.min().unwrap_or(deadline).min(deadline);
        self.run.advance(next) || self.run.now() >= next
    }

    /// Waits until a server answers.
    pub(super) fn wait_for_a_server(&mut self) -> Result<(), Verdict> {
        self.wait_for_servers(1, "no node answers")
    }

    /// Waits until both servers answer and may write: what a checkpoint does first.
    pub(super) fn wait_for_health(&mut self) -> Result<(), Verdict> {
        let text = format!(
            "node(s) never returned healthy-with-tables-loaded within {}s after a fault window",
            SYNC / SECOND
        );
        self.wait_for_servers(2, &text)
    }

    fn wait_for_servers(&mut self, least: usize, text: &str) -> Result<(), Verdict> {
        let deadline = self.run.now() + SYNC;
        loop {
            let nodes = 0..self.run.world.nodes.len();
            let healthy = nodes.filter(|it| {
                let may = least < 2 || self.run.world.may_mutate(*it);
                may && self.run.answers(*it)
            });
            if healthy.count() >= least {
                return Ok(());
            }
            self.collect()?;
            self.send_again()?;
            if !self.go_on(deadline) {
                return Err(Verdict::Failed("CHECKPOINT FAILURE", text.to_owned()));
            }
        }
    }
}

const RESET: &str = "[Errno 104] Connection reset by peer";
const REFUSED: &str = "[Errno 111] Connection refused";
const RETRY_LATER: &str =
    "Code: 210. DB::Exception: CAS write could not be committed; retrying later. (NETWORK_ERROR)";
