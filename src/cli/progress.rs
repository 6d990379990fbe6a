//! A progress bar on stderr, where a person watches and the work lasts.

use std::io::{self, IsTerminal};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::pipeline::Progress;

/// How long work runs before a bar appears, and how often it moves.
const TICK: Duration = Duration::from_millis(200);
/// Ticks before the bar appears.
const PATIENCE: u32 = 3;

/// Runs `work` while a bar shows its progress, if `wanted` and stderr is a terminal.
pub(super) fn watched<T>(wanted: bool, progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !wanted || !io::stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        scope.spawn(move || {
            let mut bar: Option<ProgressBar> = None;
            let mut unpacking: Option<ProgressBar> = None;
            let mut ticks = 0;
            while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                ticks += 1;
                let total = progress.total.load(Ordering::Relaxed);
                let unpacked = progress.unpacked.load(Ordering::Relaxed);
                if ticks >= PATIENCE && total == 0 && unpacked > 0 {
                    let spinner = unpacking.get_or_insert_with(|| {
                        ProgressBar::no_length().with_style(unpacking_style())
                    });
                    spinner.set_position(unpacked);
                }
                if total > 0
                    && let Some(spinner) = unpacking.take()
                {
                    spinner.finish_and_clear();
                }
                if ticks >= PATIENCE && total > 0 {
                    let bar =
                        bar.get_or_insert_with(|| ProgressBar::new(total).with_style(style()));
                    bar.set_position(progress.done.load(Ordering::Relaxed).min(total));
                }
            }
            for bar in bar.into_iter().chain(unpacking) {
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// While archives are unpacked nobody knows how much there is to come.
fn unpacking_style() -> ProgressStyle {
    let template = "unpacking archives, {pos} files so far, {elapsed}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn style() -> ProgressStyle {
    let template = "reading {wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
