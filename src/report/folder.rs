//! Writes every output into one folder, whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::report::model::Report;
use crate::report::tables::{FORMS, TABLES};
use crate::report::{PLOTS, REPORTS, Style};

/// Begins the names of files in the making, so that those a killed run left behind are known and do not count.
const UNFINISHED: &str = ".casdiag-";

/// Columns of a summary that is kept in a file.
const FILE_WIDTH: usize = 120;

/// Why the outputs could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder holds something already.
    #[error("the output folder {} is not empty; name a new or empty folder, or pass --force to write into it", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder could not be made or listed.
    #[error("cannot use {} as the output folder", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A folder in the output folder leads somewhere else.
    #[error("{} is a link; remove it: nothing is written through links in the output folder", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file could not be written or put in its place.
    #[error("cannot write {}", path.display())]
    File {
        /// The file, by its final name.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Writes all [`REPORTS`], [`PLOTS`] and [`TABLES`] into a folder, which is made if it is missing, and returns their paths.
///
/// A folder with anything in it is refused unless `force`; then files of the same names are replaced, those that this
/// report does not have are removed, and others stay. Each file is written under another name and renamed, so that a
/// killed run leaves no half file.
pub fn write_folder(report: &Report, dir: &Path, force: bool) -> Result<Vec<PathBuf>, Error> {
    let unusable = |source| Error::Folder {
        path: dir.to_owned(),
        source,
    };
    fs::create_dir_all(dir).map_err(unusable)?;
    // The work may have taken hours, in which another could fill it.
    check_folder(dir, force)?;
    let style = Style {
        color: false,
        width: FILE_WIDTH,
    };
    let mut paths = Vec::with_capacity(REPORTS.len() + PLOTS.len());
    for output in REPORTS {
        paths.push(write_whole(dir, output.file, |out| {
            (output.write)(report, &style, out)
        })?);
    }
    for plot in PLOTS {
        match (plot.draw)(report) {
            Some(svg) => paths.push(write_whole(dir, plot.file, |out| {
                out.write_all(svg.as_bytes())
            })?),
            None => remove(dir.join(plot.file))?,
        }
    }
    for table in TABLES {
        for form in FORMS {
            let file = format!("tables/{}.{}", table.name, form.extension);
            paths.push(write_whole(dir, &file, |out| {
                table.write(report, form, out)
            })?);
        }
    }
    Ok(paths)
}

/// Removes an output of another report, so that nobody takes it for one of this.
fn remove(path: PathBuf) -> Result<(), Error> {
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::File { path, source })
        }
        _ => Ok(()),
    }
}

/// Whether [`write_folder`] would refuse a folder, asked before the work whose outcome it is to hold.
pub fn check_folder(dir: &Path, force: bool) -> Result<(), Error> {
    let unusable = |source| Error::Folder {
        path: dir.to_owned(),
        source,
    };
    if !force && dir.exists() && holds_anything(dir).map_err(unusable)? {
        return Err(Error::NotEmpty {
            path: dir.to_owned(),
        });
    }
    for plot in PLOTS {
        let path = dir.join(plot.file);
        let folder = path.parent().unwrap_or(dir);
        if folder != dir && folder.is_symlink() {
            return Err(Error::Link {
                path: folder.to_owned(),
            });
        }
    }
    Ok(())
}

fn holds_anything(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        if !entry?.file_name().to_string_lossy().starts_with(UNFINISHED) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_whole(
    dir: &Path,
    file: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, Error> {
    let path = dir.join(file);
    let folder = path.parent().unwrap_or(dir);
    let written = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let mut out = BufWriter::new(unfinished_file(folder)?);
        write(&mut out)?;
        out.flush()?;
        out.into_inner()?.persist(&path)?;
        Ok(())
    };
    match written() {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::File { path, source }),
    }
}

fn unfinished_file(dir: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        // A temporary file is private by default; a report is as readable as any new file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(dir)
}
