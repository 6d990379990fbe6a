//! How far a job came, by what its runner prints and those who hand out jobs.

use super::super::model::{Event, Incomplete, RemarkKind, TestRun};
use super::actions::step;

/// What a line says of the job itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It waits for a runner.
    Waits,
    /// A runner is to run it.
    Taken,
    /// The first line of its runner: such a log is that of a whole job, or of what set it up.
    Head,
    /// Its last step.
    End,
}

impl Told {
    pub(super) fn of(text: &str) -> Option<Self> {
        const LINES: [(&str, Told); 4] = [
            ("Waiting for a runner to pick up this job", Told::Waits),
            ("Job is about to start running on", Told::Taken),
            ("Current runner version:", Told::Head),
            ("Cleaning up orphan processes", Told::End),
        ];
        let mut lines = LINES.iter();
        lines
            .find(|(start, _)| text.starts_with(start))
            .map(|(_, told)| *told)
    }
}

/// How far a job came. The parts of its log need not stand in the order of time.
#[derive(Debug, Default)]
pub(super) struct Course {
    waits: Option<Event>,
    head: Option<Event>,
    is_taken: bool,
    is_ended: bool,
    /// Whether a step began after it was set up: a file may hold its set-up alone.
    pub(super) has_steps: bool,
}

impl Course {
    pub(super) fn take(&mut self, told: Told, line: Event) {
        match told {
            Told::Waits => self.waits = Some(line),
            Told::Taken => self.is_taken = true,
            Told::Head => self.head = Some(line),
            Told::End => self.is_ended = true,
        }
    }

    /// The job as a run, if it never ran; or, where its log should hold all of it, if that breaks off and no run says so.
    pub(super) fn finish(self, runs: &[TestRun], is_whole: bool) -> Option<TestRun> {
        if self.is_taken || self.head.is_some() {
            let is_told = |run: &TestRun| !run.is_complete() || fails(run);
            let breaks_off = is_whole && self.has_steps && !self.is_ended;
            let head = self.head.filter(|_| breaks_off)?;
            return (!runs.iter().any(is_told)).then(|| step(&head, Some(Incomplete::NoEnd)));
        }
        let waits = self.waits?;
        let mut run = step(&waits, Some(Incomplete::NoResult));
        let text = "all of the job: no runner took it";
        run.remark(RemarkKind::LeavesOut, text, waits.place);
        Some(run)
    }
}

/// Whether a step's title names an action, as `actions/checkout@v4` and `./.github/actions/setup` do.
pub(super) fn names_action(title: &str) -> bool {
    let is_path = title.starts_with("./") || title.contains('@');
    is_path && title.contains('/') && !title.contains(char::is_whitespace)
}

/// Whether a run tells of a failure itself.
pub(super) fn fails(run: &TestRun) -> bool {
    run.failing_leaves() > 0 || run.exit_code.is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_named_by_its_repository_or_its_folder() {
        for (title, is_action) in [
            ("actions/checkout@v4", true),
            (
                "docker/login-action@74a5d142397b4f367a81961eba4e8cd7edddf772",
                true,
            ),
            ("./.github/actions/setup", true),
            ("make test", false),
            ("./run.sh --all", false),
            ("tests", false),
        ] {
            assert_eq!(names_action(title), is_action, "{title}");
        }
    }
}
