//! pytest: what it prints, and its report log. Its XML is read like that of others.

mod lines;
pub(super) mod log;
mod session;
pub(super) mod text;

/// The id of a test as the XML of pytest has it: module, classes and function separated by dots.
fn dotted(id: &str) -> String {
    let (names, parameters) = id.split_at(id.find('[').unwrap_or(id.len()));
    let (file, rest) = names.split_once("::").unwrap_or((names, ""));
    let Some(module) = file.strip_suffix(".py") else {
        return id.to_owned();
    };
    let module = module.replace(['/', '\\'], ".");
    let rest = rest.replace("::", ".");
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{module}{dot}{rest}{parameters}")
}
