//! The scenarios that come with the program; each is a file that can be copied and changed.

/// Names and texts, in the order in which they build on each other.
pub const BUILT_IN: &[(&str, &str)] = &[
    (
        "relink-smoke",
        include_str!("../../samples/scenarios/relink-smoke.toml"),
    ),
    (
        "soak-phase1",
        include_str!("../../samples/scenarios/soak-phase1.toml"),
    ),
    (
        "http-exhaustion",
        include_str!("../../samples/scenarios/http-exhaustion.toml"),
    ),
    (
        "threshold-below",
        include_str!("../../samples/scenarios/threshold-below.toml"),
    ),
    (
        "threshold-above",
        include_str!("../../samples/scenarios/threshold-above.toml"),
    ),
    (
        "threshold-slow-store",
        include_str!("../../samples/scenarios/threshold-slow-store.toml"),
    ),
    (
        "stop-fetches",
        include_str!("../../samples/scenarios/stop-fetches.toml"),
    ),
    (
        "gcs-livelock",
        include_str!("../../samples/scenarios/gcs-livelock.toml"),
    ),
    (
        "attach-partition",
        include_str!("../../samples/scenarios/attach-partition.toml"),
    ),
    (
        "backoff-inflation",
        include_str!("../../samples/scenarios/backoff-inflation.toml"),
    ),
    (
        "lease-loss",
        include_str!("../../samples/scenarios/lease-loss.toml"),
    ),
    (
        "silent-lease-expiry",
        include_str!("../../samples/scenarios/silent-lease-expiry.toml"),
    ),
    (
        "gc-fence-out",
        include_str!("../../samples/scenarios/gc-fence-out.toml"),
    ),
    (
        "version-mix",
        include_str!("../../samples/scenarios/version-mix.toml"),
    ),
    (
        "source-gone",
        include_str!("../../samples/scenarios/source-gone.toml"),
    ),
];

/// Scenarios of the controllers, likewise.
pub const CONTROLLERS: &[(&str, &str)] = &[(
    "wal-catch-up-stall",
    include_str!("../../samples/scenarios/controllers/wal-catch-up-stall.toml"),
)];
