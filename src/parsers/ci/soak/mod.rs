//! The soak of a content-addressed cluster, and of an HA controller: their output, and the files that they leave.
//!
//! Here are the words that the harness uses in its output and in its `failure.json` alike.

pub(super) mod dump;
pub(super) mod ha;
pub(super) mod history;
pub(super) mod metrics;
pub(super) mod predown;
mod sqlite;
pub(super) mod text;

/// What the text of a failed connection says: the harness has one word for all of them, the text tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing listens.
    Refused,
    /// Something listens, and what is behind it dropped the connection.
    Reset,
    /// Nothing answers.
    TimedOut,
    Other,
}

impl Kind {
    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::TimedOut => "timed-out",
            Self::Other => "other",
        }
    }
}

/// Tells failures of the transport apart: by the error's number on Linux and on macOS, or by its words.
pub(crate) fn failure(text: &str) -> Kind {
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
    if has(&["[errno 111]", "[errno 61]", "connection refused"]) {
        Kind::Refused
    } else if has(&[
        "[errno 104]",
        "[errno 54]",
        "connection reset",
        "remote end closed",
    ]) {
        Kind::Reset
    } else if has(&["[errno 110]", "[errno 60]", "timed out", "timeout"]) {
        Kind::TimedOut
    } else {
        Kind::Other
    }
}

/// Pairs `key=value` between spaces.
pub(crate) fn key_values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(' ').filter_map(|word| word.split_once('='))
}

/// What a line says that a check of the storage found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fsck {
    pub(crate) dangling: Option<u64>,
    pub(crate) unreachable: Option<u64>,
    /// Whether the check was made at all.
    pub(crate) is_measured: bool,
}

/// Reads `fsck reachable=... unreachable=... dangling=... stale_edge=...`.
pub(crate) fn fsck(text: &str) -> Fsck {
    let number = |name: &str| {
        key_values(text)
            .find(|(key, _)| *key == name)
            .and_then(|(_, value)| value.trim_end_matches([';', ',']).parse().ok())
    };
    let dangling = number("dangling");
    Fsck {
        dangling,
        unreachable: number("unreachable"),
        is_measured: dangling.is_some() && !text.contains("not-measured"),
    }
}

/// The container that a node of the harness is: its operations name nodes by number.
pub(crate) fn node_of_target(target: u64) -> Option<&'static str> {
    match target {
        0 => Some("ch1"),
        1 => Some("ch2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_error_tells_what_the_transport_met() {
        assert_eq!(failure("[Errno 54] Connection reset by peer"), Kind::Reset);
        assert_eq!(
            failure("<urlopen error [Errno 111] Connection refused>"),
            Kind::Refused
        );
        assert_eq!(failure("[Errno 61] x"), Kind::Refused);
        assert_eq!(failure("timed out"), Kind::TimedOut);
        assert_eq!(failure("[Errno -2] Name or service not known"), Kind::Other);
    }

    #[test]
    fn what_was_not_measured_is_no_nought() {
        let found = fsck(
            "now=1 fsck reachable=9 unreachable=2 (fold backlog / AwaitingGc) dangling=0 stale_edge=0",
        );
        assert_eq!(
            (found.dangling, found.unreachable, found.is_measured),
            (Some(0), Some(2), true)
        );
        assert!(!fsck("fsck reachable=not-measured dangling=not-measured").is_measured);
    }
}
