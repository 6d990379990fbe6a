//! What one step writes, and the record it makes before it has a stamp.

/// What one step of the plan writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Refusal,
    /// The same refusal twice, to the byte.
    RefusalTwice,
    Unproven,
    UnprovenTwice,
    Finished,
    CatalogAttempt,
    CatalogException,
    OtherS3,
    EmptyMultipart,
    WriteNotCommitted,
    Transient,
    Network,
    NoActiveReplica,
    HttpReset,
    Echo,
    MonitoringQuery,
    QuotingError,
    RetryWarning,
    LedgerWarning,
    Notice,
    Filler,
}

/// Steele, Lea and Flood's generator: a few lines, and the same bytes on every machine.
pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let n = u64::try_from(of.len()).expect("a length fits");
        of[usize::try_from(self.below(n)).expect("an index fits")]
    }

    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }
}

/// A record before it has a stamp.
pub(super) struct Draft {
    pub(super) thread: u64,
    pub(super) query: String,
    pub(super) level: &'static str,
    pub(super) logger: String,
    /// Continuation lines after line feeds; no line feed at the end.
    pub(super) message: String,
    pub(super) code: Option<u32>,
    pub(super) nested: Option<u32>,
    pub(super) grep_lines: u64,
    /// Source and part of a refusal.
    pub(super) refusal: Option<(&'static str, &'static str)>,
    /// The part of a finished relink.
    pub(super) finished: Option<&'static str>,
}

impl Draft {
    pub(super) fn new(
        thread: u64,
        level: &'static str,
        logger: impl Into<String>,
        message: String,
    ) -> Self {
        Self {
            thread,
            query: String::new(),
            level,
            logger: logger.into(),
            message,
            code: None,
            nested: None,
            grep_lines: 0,
            refusal: None,
            finished: None,
        }
    }

    pub(super) fn query(mut self, query: String) -> Self {
        self.query = query;
        self
    }

    pub(super) fn code(mut self, code: u32) -> Self {
        self.code = Some(code);
        self
    }

    pub(super) fn nested(mut self, code: u32) -> Self {
        self.nested = Some(code);
        self
    }

    pub(super) fn grep_lines(mut self, lines: u64) -> Self {
        self.grep_lines = lines;
        self
    }

    pub(super) fn in_err_log(&self) -> bool {
        matches!(self.level, "Error" | "Warning" | "Notice")
    }

    pub(super) fn text(&self, stamp: u64) -> String {
        let Self {
            thread,
            query,
            level,
            logger,
            message,
            ..
        } = self;
        format!(
            "{} [ {thread} ] {{{query}}} <{level}> {logger}: {message}",
            head_time(stamp)
        )
    }
}

pub(super) fn head_time(stamp: u64) -> String {
    let (day, time) = (1 + stamp / 86_400_000_000, stamp % 86_400_000_000);
    let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
    format!(
        "2026.09.{day:02} {:02}:{:02}:{:02}.{micros:06}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

pub(super) fn iso_time(stamp: u64) -> String {
    head_time(stamp).replacen('.', "-", 2).replacen(' ', "T", 1)
}
