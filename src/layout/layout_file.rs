//! The words of a `casdiag.layout/1` file, as they are written.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LayoutFile {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) file: String,
    #[serde(default)]
    pub(super) ignore: Vec<String>,
    #[serde(default)]
    pub(super) endian: EndianWord,
    #[serde(default = "one")]
    pub(super) align: usize,
    #[serde(default)]
    pub(super) end: Vec<EndWord>,
    #[serde(default)]
    pub(super) zero_tail: Option<WhereWord>,
    #[serde(default)]
    pub(super) torn_tail: Option<WhereWord>,
    #[serde(default)]
    pub(super) rewrite: RewriteWord,
    #[serde(default)]
    pub(super) lsn_step: Option<String>,
    #[serde(default)]
    pub(super) header: Vec<FieldEntry>,
    pub(super) record: Vec<FieldEntry>,
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldEntry {
    pub(super) field: String,
    pub(super) r#type: TypeWord,
    pub(super) size: Option<usize>,
    pub(super) measures: Option<MeasureWord>,
    pub(super) equals: Option<EqualsEntry>,
    pub(super) algorithm: Option<AlgorithmWord>,
    pub(super) covers: Option<CoversEntry>,
    pub(super) chain: Option<ChainWord>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum EqualsEntry {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum CoversEntry {
    Side(String),
    Fields(Vec<String>),
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EndianWord {
    #[default]
    Little,
    Big,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EndWord {
    Eof,
    ZeroLength,
    ZeroLsn,
    ZeroType,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WhereWord {
    Never,
    Last,
    IfNextContinues,
    Always,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RewriteWord {
    #[default]
    Never,
    HigherTerm,
    LastWins,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TypeWord {
    U8,
    U16,
    U24,
    U32,
    U40,
    U48,
    U56,
    U64,
    Uvarint,
    Bytes,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MeasureWord {
    Payload,
    Record,
    Rest,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AlgorithmWord {
    Crc32,
    Crc32c,
    Crc32cMasked,
    Adler32,
    Xxh3,
    Siphash24,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ChainWord {
    Segment,
    Log,
}
