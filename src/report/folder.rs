//! Writes every output into one folder, whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::report::model::Report;
use crate::report::tables::{FORMS, TABLES};
use crate::report::{PLOTS, REPORTS, Style};

/// Begins the names of what is in the making, so that what a killed run left behind is known and does not count.
const UNFINISHED: &str = ".casdiag-";

/// Begins the name of the folder in which outputs are made: one that a killed run left is removed.
const IN_THE_MAKING: &str = ".casdiag-unfinished-";

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
/// report does not have are removed, and others stay. All are made in a folder of their own below it and then renamed, so that
/// a killed run leaves no half file, nor some of them, and nothing that the next run would stumble over.
pub fn write_folder(report: &Report, dir: &Path, force: bool) -> Result<Vec<PathBuf>, Error> {
    let unusable = |source| Error::Folder {
        path: dir.to_owned(),
        source,
    };
    fs::create_dir_all(dir).map_err(unusable)?;
    // The work may have taken hours, in which another could fill it.
    check_folder(dir, force)?;
    remove_unfinished(dir).map_err(unusable)?;
    let made = tempfile::Builder::new()
        .prefix(IN_THE_MAKING)
        .tempdir_in(dir)
        .map_err(unusable)?;
    let mut outputs = Outputs {
        dir,
        made,
        files: Vec::with_capacity(REPORTS.len() + PLOTS.len()),
    };
    let style = Style {
        color: false,
        width: FILE_WIDTH,
    };
    for output in REPORTS {
        outputs.make(output.file, |out| (output.write)(report, &style, out))?;
    }
    let mut without = Vec::new();
    for plot in PLOTS {
        match (plot.draw)(report) {
            Some(svg) => outputs.make(plot.file, |out| out.write_all(svg.as_bytes()))?,
            None => without.push(plot.file),
        }
    }
    for table in TABLES {
        for form in FORMS {
            let file = format!("tables/{}.{}", table.name, form.extension);
            outputs.make(&file, |out| table.write(report, form, out))?;
        }
    }
    let paths = outputs.put()?;
    for file in without {
        remove(dir.join(file))?;
    }
    Ok(paths)
}

/// Removes what a killed run was making.
fn remove_unfinished(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let is_it = entry
            .file_name()
            .to_string_lossy()
            .starts_with(IN_THE_MAKING);
        // A link is no folder here, and what it leads to stays.
        if is_it && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
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

/// Outputs that are made in a folder of their own until all of them are.
struct Outputs<'d> {
    /// Where they are to lie.
    dir: &'d Path,
    /// Where they are made; it is removed with them if they are not put in their places.
    made: TempDir,
    /// Their names, which are paths below either.
    files: Vec<String>,
}

impl Outputs<'_> {
    /// Makes one.
    fn make(
        &mut self,
        file: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let path = self.made.path().join(file);
        let written = || -> io::Result<()> {
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            let mut out = BufWriter::new(fs::File::create_new(&path)?);
            write(&mut out)?;
            out.flush()
        };
        written().map_err(|source| Error::File {
            path: self.dir.join(file),
            source,
        })?;
        self.files.push(file.to_owned());
        Ok(())
    }

    /// Puts all in their places; their paths.
    fn put(self) -> Result<Vec<PathBuf>, Error> {
        let fault = |path: &Path, source| Error::File {
            path: path.to_owned(),
            source,
        };
        let paths: Vec<PathBuf> = self.files.iter().map(|it| self.dir.join(it)).collect();
        for path in &paths {
            let folder = path.parent().unwrap_or(self.dir);
            fs::create_dir_all(folder).map_err(|source| fault(path, source))?;
        }
        for (file, path) in self.files.iter().zip(&paths) {
            fs::rename(self.made.path().join(file), path).map_err(|source| fault(path, source))?;
        }
        Ok(paths)
    }
}
