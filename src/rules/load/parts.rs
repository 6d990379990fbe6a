//! Reading a large file of declarations in parts, by a thread each: every run begins with the half megabyte that is built in.

use std::ops::Range;
use std::thread;

use toml::de::Error;

use super::super::schema::File;

/// How many parts a file is read in, and from which size on that pays.
const PARTS: usize = 4;
const BYTES_MIN: usize = 64 * 1024;

/// Reads the declarations of a file. Whatever is wrong with it is said of the file as a whole.
pub(super) fn read(text: &str) -> Result<File, Error> {
    in_parts(text).map_or_else(|| toml::from_str(text), Ok)
}

/// The declarations of a file that is large and without a fault in any of its parts.
fn in_parts(text: &str) -> Option<File> {
    if text.len() < BYTES_MIN {
        return None;
    }
    let parts = thread::scope(|scope| {
        let read = |part| scope.spawn(move || read_part(text, part));
        let reading: Vec<_> = ranges(text).into_iter().map(read).collect();
        let ended = reading.into_iter().map(|thread| thread.join().ok()?);
        ended.collect::<Option<Vec<File>>>()
    });
    parts?.into_iter().try_fold(File::default(), File::joined)
}

/// Where the parts of a text stand: each begins with a declaration of its own.
fn ranges(text: &str) -> Vec<Range<usize>> {
    let cut = |number: usize| {
        let from = text.floor_char_boundary(text.len() / PARTS * number);
        let at = text[from..].match_indices("\n[[").map(|(at, _)| from + at);
        // What has a dot goes on with the declaration before it.
        let mut alone = at.filter(|at| {
            let name = text[*at + "\n[[".len()..].split(']').next();
            name.is_some_and(|name| !name.contains('.'))
        });
        alone.next().map(|at| at + 1)
    };
    let mut starts: Vec<usize> = std::iter::once(0)
        .chain((1..PARTS).filter_map(cut))
        .collect();
    starts.dedup();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}

/// The declarations of a part. Blanks stand for what is before it, so that each has its place in the whole.
fn read_part(text: &str, part: Range<usize>) -> Option<File> {
    let mut blanked = " ".repeat(part.start);
    blanked.push_str(&text[part]);
    toml::from_str(&blanked).ok()
}

#[cfg(test)]
mod tests {
    use super::super::BUILT_IN;
    use super::*;

    #[test]
    fn the_parts_of_the_built_in_base_are_the_whole_with_every_place() {
        let whole: File = toml::from_str(BUILT_IN).unwrap();
        let parts = in_parts(BUILT_IN).unwrap();
        assert_eq!(ranges(BUILT_IN).len(), PARTS);
        assert_eq!(format!("{parts:?}"), format!("{whole:?}"));
    }

    #[test]
    fn a_fault_in_any_part_is_told_of_the_whole() {
        let at = BUILT_IN.rfind("\n[[rule]]").unwrap();
        let (before, behind) = BUILT_IN.split_at(at);
        let environment = &BUILT_IN[BUILT_IN.find("\n[environment]").unwrap()..];
        let environment = environment.split("\n\n").next().unwrap();
        for wrong in ["\nid = 1", "\n[[unknown]]", "\n\"\"\"", environment] {
            let text = format!("{before}{wrong}{behind}");
            let expected = toml::from_str::<File>(&text).unwrap_err();
            let told = read(&text).unwrap_err();
            assert_eq!(told.span(), expected.span(), "{wrong}");
            assert_eq!(told.message(), expected.message(), "{wrong}");
        }
    }

    #[test]
    fn a_text_without_declarations_has_one_part() {
        let text = "# é\n".repeat(BYTES_MIN);
        let whole = 0..text.len();
        assert_eq!(ranges(&text), std::slice::from_ref(&whole));
        assert!(read(&text).unwrap().rule.is_empty());
    }
}
