//! Values that are read with a check of their own, so that a wrong one is said in words and with its place.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{CellBounds, CellDecl};

/// A value or several.
#[derive(Debug, Clone)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several, any of which is accepted.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn texts(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// Two names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<Spanned<String>>")]
pub struct Pair(pub [Spanned<String>; 2]);

impl TryFrom<Vec<Spanned<String>>> for Pair {
    type Error = String;

    fn try_from(names: Vec<Spanned<String>>) -> Result<Self, String> {
        let two = names.try_into().map(Self);
        two.map_err(|names: Vec<_>| {
            format!(
                "two names in brackets are expected, and here are {}",
                names.len()
            )
        })
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Texts)
    }
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes or a list of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMany, A::Error> {
        filled(SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
    }
}

impl<'de> Deserialize<'de> for CellDecl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Cell)
    }
}

struct Cell;

impl<'de> Visitor<'de> for Cell {
    type Value = CellDecl;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes, a list of texts, or bounds as { at-least = 10 }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CellDecl, E> {
        Texts.visit_str(text).map(CellDecl::Is)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<CellDecl, A::Error> {
        Texts.visit_seq(list).map(CellDecl::Is)
    }

    fn visit_map<A: MapAccess<'de>>(self, bounds: A) -> Result<CellDecl, A::Error> {
        CellBounds::deserialize(MapAccessDeserializer::new(bounds)).map(CellDecl::Bounds)
    }
}

/// A list that names something: an empty one would leave everything out, or, read as no list at all, nothing.
pub(super) fn filled<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::deserialize(from)?;
    if list.is_empty() {
        return Err(D::Error::custom(
            "the list is empty, so that nothing fits; leave the key out if anything may",
        ));
    }
    Ok(list)
}

/// The parts of a condition: without any it would always hold, or never.
pub(super) fn parts<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let list = Vec::deserialize(from)?;
    if list.is_empty() {
        return Err(D::Error::custom(
            "the list is empty, so that the condition always or never holds; say what it asks for",
        ));
    }
    Ok(Some(list))
}

/// Patterns of loggers, with `*` at their ends alone.
pub(super) fn loggers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let list: Vec<String> = filled(from)?;
    for pattern in &list {
        let inner = pattern.strip_prefix('*').unwrap_or(pattern);
        let inner = inner.strip_suffix('*').unwrap_or(inner);
        if inner.contains('*') {
            return Err(D::Error::custom(format!(
                "{pattern:?} has a * that stands for itself: it stands for anything at the beginning and at the end only"
            )));
        }
        if inner.is_empty() {
            return Err(D::Error::custom(format!(
                "{pattern:?} says nothing of a logger; leave it out"
            )));
        }
    }
    Ok(list)
}

/// How many at least: nothing is less than none.
pub(super) fn at_least<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match u64::deserialize(from)? {
        0 => Err(D::Error::custom(
            "at least 0 always holds; ask for 1 or more, or, where there must be none, for at-most = 0",
        )),
        count => Ok(Some(count)),
    }
}

/// A bound of a share that some shares keep and others do not.
pub(super) fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let share = f64::deserialize(from)?;
    if share > 0.0 && share <= 1.0 {
        return Ok(Some(share));
    }
    Err(D::Error::custom(format!(
        "{share} is no bound of a share: it is above 0 and at most 1, and a half is 0.5"
    )))
}
