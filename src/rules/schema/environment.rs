//! Where a server names itself, as read.

use serde::Deserialize;
use toml::Spanned;

/// Where the environment is read from: signal and field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EnvironmentDecl {
    /// The signal of a start.
    pub start: Spanned<String>,
    /// Its field with the version.
    pub version: Spanned<String>,
    /// Its field with the build.
    pub build: Spanned<String>,
    /// The signal of a start of the coordination service alone, if it writes the format of the servers.
    pub keeper: Option<Spanned<String>>,
    /// The signal that names the zone.
    pub zone: Spanned<String>,
    /// Its field.
    pub zone_field: Spanned<String>,
}
