//! ARCHITECTURE.md against the tree: what it names exists, and every file of the product is named.

use std::fs;

use super::paths::sources;
use crate::product::repository;

fn architecture() -> String {
    fs::read_to_string(repository("ARCHITECTURE.md")).unwrap()
}

#[test]
fn every_path_that_the_architecture_names_exists() {
    let text = architecture();
    let named = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with("src/") || name.starts_with("tests/"));
    let missing: Vec<&str> = named.filter(|name| !repository(name).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_file_of_the_product_is_named_in_the_architecture() {
    let text = architecture();
    let unnamed: Vec<String> = sources()
        .into_iter()
        .map(|source| format!("src/{}", source.path))
        .filter(|path| !text.contains(path))
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}
