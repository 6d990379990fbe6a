//! The pieces that a rules file is read in.
//!
//! Every run begins with the half megabyte that is shipped. Read in one go, what is made of it on the way is larger than what
//! the allocator keeps, and the system hands it out page by page: piece by piece, the same memory does for each.

use super::BUILT_IN;

/// The pieces of a rules file in their order: of the one that is shipped each declaration with what is its own, of any other
/// all of it, since what is wrong with it is wrong with the whole.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    let is_cut = std::ptr::eq(text, BUILT_IN);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = is_cut.then(|| next_declaration(text)).flatten() else {
            return rest.take();
        };
        let (piece, behind) = text.split_at(at);
        rest = Some(behind);
        Some(piece)
    })
}

/// Where the next declaration begins behind the one that a text begins with.
fn next_declaration(text: &str) -> Option<usize> {
    const START: &str = "\n[[";
    let mut starts = text.match_indices(START).map(|(at, _)| at);
    // What has a dot is a part of the declaration before it.
    let at = starts.find(|at| {
        let name = text[at + START.len()..].split(']').next();
        name.is_some_and(|name| !name.contains('.'))
    });
    at.map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::check_distinct;
    use super::super::origin::Origin;
    use super::*;
    use crate::rules::load;
    use crate::rules::schema::File;

    #[test]
    fn the_pieces_of_the_shipped_file_hold_what_the_whole_does() {
        assert_eq!(pieces(BUILT_IN).collect::<String>(), BUILT_IN);
        let whole: File = toml::from_str(BUILT_IN).unwrap();
        let origin = Origin {
            name: "rules.toml",
            text: BUILT_IN,
            lines_before: 0,
            is_built_in: true,
            number: 0,
        };
        check_distinct(&whole, origin).unwrap();
        let base = load(&[]).unwrap();
        let without_places = |file: &File| {
            let places = regex::Regex::new(r"span: \d+\.\.\d+").unwrap();
            places.replace_all(&format!("{file:?}"), "").into_owned()
        };
        assert_eq!(without_places(&base.declared), without_places(&whole));
        let lines: Vec<&str> = BUILT_IN.lines().collect();
        for (at, signal) in base.declared.signal.iter().enumerate() {
            let place = base.places.in_signal(at, &signal.id.span());
            let line: usize = place.rsplit(':').next().unwrap().parse().unwrap();
            assert_eq!(lines[line - 1], format!("id = {:?}", signal.id.get_ref()));
        }
        for (at, rule) in base.declared.rule.iter().enumerate() {
            let place = base.places.in_rule(at, &rule.id.span());
            let line: usize = place.rsplit(':').next().unwrap().parse().unwrap();
            assert_eq!(lines[line - 1], format!("id = {:?}", rule.id.get_ref()));
        }
    }

    #[test]
    fn a_file_of_a_user_is_one_piece() {
        let text = "[[code]]\ncode = 1\n\n[[code]]\ncode = 2\n";
        assert_eq!(pieces(text).collect::<Vec<_>>(), [text]);
        assert_eq!(pieces("").collect::<Vec<_>>(), [""]);
    }
}
