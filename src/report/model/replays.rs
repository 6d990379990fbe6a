//! The words of findings run again, the same in every output.

use serde_json::Value;

/// Whether a row of observed and predicted counts for the verdict, by the word that the row has, and what the word means.
const COUNTS: [(&str, &str); 5] = [
    ("yes", "for the verdict"),
    ("unfitted", "for the verdict, and nothing was fitted to it"),
    ("in-total", "only in the row of all servers"),
    ("given", "not: the run was made from it"),
    (
        "handful",
        "not: both numbers are below 20 and no further apart than chance makes of so few",
    ),
];

/// What is said of a change that cures, that does not, or of which that cannot be told.
pub fn cure(cures: Option<bool>) -> &'static str {
    match cures {
        Some(true) => "cures",
        Some(false) => "does not",
        None => "cannot be told",
    }
}

/// What is said above the changes: what would have helped, or why that cannot be told.
pub fn helped(untold: Option<&str>) -> String {
    let helped = "what would have helped here";
    match untold {
        None => helped.to_owned(),
        Some(why) => format!("{helped} cannot be told: {why}"),
    }
}

/// The words of these rows for whether they count, and what each means.
pub fn legend(compared: &[Value]) -> Vec<(String, &'static str)> {
    let has = |word: &str| compared.iter().any(|it| it["counts"] == word);
    let known = COUNTS.iter().filter(|it| has(it.0));
    known.map(|(word, means)| (shown(word), *means)).collect()
}

/// A text that begins a sentence.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A word of a list of words as people read it.
pub fn shown(word: &str) -> String {
    word.replace('-', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_words_of_the_rows_are_explained() {
        let rows = [json!({ "counts": "in-total" }), json!({ "counts": "yes" })];
        let words: Vec<String> = legend(&rows).into_iter().map(|it| it.0).collect();
        assert_eq!(words, ["yes", "in total"]);
    }
}
