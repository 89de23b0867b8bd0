//! Remembers which knowledge bases the user made or allowed, and which of their folders and files are
//! followed, in a file of the user outside of them all.
//!
//! A line `STATE ID PATH` is a knowledge base: a state of [`BaseTrust`], the random id in the database, and its
//! folder. A database with another id at the same path, or the same one at another path, is not known. Lines
//! after it that begin with a tab name what the user allowed, with tabs between the fields: `folder OPTIONS PATH
//! REAL` or `file PATH REAL`, without `REAL` if it is the path. A line that cannot be read allows nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{array, iter};

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::SymlinkPolicy;
use crate::files::{folder, open, write};
use crate::store::{AllowedFolder, AllowedPaths};
use crate::text::paths;

const FILE: &str = "known_bases";

/// Most bytes of the file; about a hundred thousand files that were named themselves.
const MAX_BYTES: u64 = 16 << 20;

/// Knowledge bases kept. Beyond it, those of missing folders are left out, because each opening of a database reads the
/// file.
const MAX_BASES: usize = 1000;

/// Whether the user allowed a knowledge base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseTrust {
    /// The user no longer lists it by its name; its id is `-`.
    Forgotten,
    /// The user made it or allowed its use. Only the paths that are listed with it are followed.
    Allowed,
    /// The user's kb made it, before folders were listed here.
    Own,
}

impl BaseTrust {
    /// The words in the file, the one that is written first. Older versions wrote `files` if all folders were to be
    /// followed without exception.
    const WORDS: [(&'static str, Self); 4] = [
        ("forgotten", Self::Forgotten),
        ("allowed", Self::Allowed),
        ("own", Self::Own),
        ("files", Self::Allowed),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, state)| *state == self).map_or("", |(word, _)| word)
    }
}

/// The id of lines about a folder rather than a database.
const NO_ID: &str = "-";

/// Stands for the id of a database that has none, as those of older versions.
const UNIDENTIFIED: &str = "none";

/// Returns the id of a database in the file. The author of a database also chose its id.
pub(crate) fn id(found: Option<String>) -> String {
    let plain = found.filter(|id| {
        // Any other id could break the lines and fields of the file, so it counts as none.
        (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    plain.unwrap_or_else(|| UNIDENTIFIED.to_owned())
}

/// A knowledge base of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownBase {
    /// Whether the user allowed it.
    pub state: BaseTrust,
    /// Its folders and files that are followed.
    pub allowed: AllowedPaths,
    id: String,
    /// Without links, as the file has it.
    path: String,
}

/// The knowledge bases of the file.
#[derive(Debug, Clone, Default)]
pub struct KnownBases {
    bases: Vec<KnownBase>,
}

impl KnownBases {
    /// Reads the file; a missing one has no lines, and lines that cannot be read are left out: what they
    /// allowed must be allowed again.
    pub fn read(environment: &Environment) -> Result<Self> {
        Self::read_where(environment, |_| true)
    }

    /// Reads the file, with the allowed paths only of the knowledge bases in a folder: others may list thousands of
    /// files.
    pub fn read_of(environment: &Environment, dir: &Path) -> Result<Self> {
        let path = real(dir);
        Self::read_where(environment, |base| base.path == path)
    }

    fn read_where(
        environment: &Environment,
        is_wanted: impl Fn(&KnownBase) -> bool,
    ) -> Result<Self> {
        let bytes = open::read_if_there(&file(environment), SymlinkPolicy::Follow, MAX_BYTES)?;
        let text = String::from_utf8(bytes.unwrap_or_default())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let mut known = Self::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let entries = iter::from_fn(|| lines.next_if(|line| line.starts_with('\t')));
            let Some(mut base) = base(line) else {
                entries.for_each(drop);
                continue;
            };
            if is_wanted(&base) {
                base.allowed = read_entries(entries);
            } else {
                entries.for_each(drop);
            }
            known.bases.push(base);
        }
        Ok(known)
    }

    /// Returns the database with this id in a folder; `None` for a stranger's.
    pub fn base(&self, dir: &Path, id: &str) -> Option<&KnownBase> {
        let path = real(dir);
        self.bases.iter().find(|base| base.id == id && base.path == path)
    }

    /// The same, without a copy of its list.
    pub fn into_base(self, dir: &Path, id: &str) -> Option<KnownBase> {
        let path = real(dir);
        self.bases.into_iter().find(|base| base.id == id && base.path == path)
    }

    /// Whether anything is known about some database in a folder.
    pub fn has_folder(&self, dir: &Path) -> bool {
        let path = real(dir);
        self.bases.iter().any(|base| base.path == path && base.state != BaseTrust::Forgotten)
    }

    /// Whether the user no longer lists the knowledge base in a folder.
    pub fn is_forgotten(&self, dir: &Path) -> bool {
        self.base(dir, NO_ID).is_some()
    }

    /// Returns the database with this id in a folder, and makes it if it is not known.
    fn base_mut(&mut self, dir: &Path, id: &str, state: BaseTrust) -> &mut KnownBase {
        let path = real(dir);
        let at = self.bases.iter().position(|base| base.id == id && base.path == path);
        let at = at.unwrap_or(self.bases.len());
        if at == self.bases.len() {
            self.bases.push(KnownBase {
                state,
                allowed: AllowedPaths::default(),
                id: id.to_owned(),
                path,
            });
        }
        &mut self.bases[at]
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for KnownBase { state, allowed, id, path } in &self.bases {
            text += &format!("{} {id} {path}\n", state.word());
            for (path, folder) in &allowed.folders {
                let fields = ["folder", &options(folder), &field(path)].join("\t");
                text += &format!("\t{fields}{}\n", real_field(path, &folder.real_path));
            }
            for (path, real_path) in &allowed.files {
                text += &format!("\tfile\t{}{}\n", field(path), real_field(path, real_path));
            }
        }
        text
    }
}

/// Allows the use of the database with this id in a folder, and changes which of its paths are followed. Returns all
/// that is followed of it then.
pub fn allow(
    environment: &Environment,
    dir: &Path,
    id: &str,
    add: impl FnOnce(&mut AllowedPaths),
) -> Result<AllowedPaths> {
    let mut all = AllowedPaths::default();
    change(environment, |known| {
        let base = known.base_mut(dir, id, BaseTrust::Allowed);
        base.state = BaseTrust::Allowed;
        add(&mut base.allowed);
        all = base.allowed.clone();
    })?;
    Ok(all)
}

/// Says that a folder is no longer listed by its name, or that it is listed again.
pub fn set_forgotten(environment: &Environment, dir: &Path, is_forgotten: bool) -> Result<()> {
    change(environment, |known| {
        let path = real(dir);
        known.bases.retain(|base| base.id != NO_ID || base.path != path);
        if is_forgotten {
            known.base_mut(dir, NO_ID, BaseTrust::Forgotten);
        }
    })
}

/// Makes everything that is known about a folder also known about another one, to which it moves.
pub fn copy_folder(environment: &Environment, from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (real(from), real(to));
    change(environment, |known| {
        known.bases.retain(|base| base.path != to);
        let copies = known.bases.iter().filter(|base| base.path == from).cloned();
        let copies: Vec<KnownBase> =
            copies.map(|base| KnownBase { path: to.clone(), ..base }).collect();
        known.bases.extend(copies);
    })
}

/// Removes everything that is known about a folder.
pub fn drop_folder(environment: &Environment, dir: &Path) -> Result<()> {
    let path = real(dir);
    change(environment, |known| known.bases.retain(|base| base.path != path))
}

/// Changes the file while no other process does.
fn change(environment: &Environment, change: impl FnOnce(&mut KnownBases)) -> Result<()> {
    let file = file(environment);
    let io = |source| Error::of_file(&file, source);
    let _lock = folder::lock(&file.with_extension("lock")).map_err(io)?;
    let mut known = KnownBases::read(environment)?;
    let before = known.text();
    change(&mut known);
    if known.bases.len() > MAX_BASES {
        known.bases.retain(|base| paths::path_of(&base.path).exists());
    }
    let after = known.text();
    if after == before {
        return Ok(());
    }
    if after.len() as u64 > MAX_BYTES {
        return Err(Error::OverLimit { path: file, limit_bytes: MAX_BYTES });
    }
    write::replace_own(&file, after.as_bytes()).map_err(io)
}

fn file(environment: &Environment) -> PathBuf {
    let usual = environment.local_dir("XDG_STATE_HOME", ".local/state").join("kb");
    environment.path("KB_STATE_DIR").unwrap_or(usual).join(FILE)
}

fn base(line: &str) -> Option<KnownBase> {
    let mut words = line.splitn(3, ' ');
    let word = words.next()?;
    let (_, state) = BaseTrust::WORDS.into_iter().find(|(known, _)| *known == word)?;
    let (id, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some(KnownBase { state, allowed: AllowedPaths::default(), id, path })
}

/// Reads lines about folders and files. One with options that this version does not know allows nothing.
fn read_entries<'a>(lines: impl Iterator<Item = &'a str>) -> AllowedPaths {
    let (mut folders, mut files) = (BTreeMap::new(), Vec::new());
    for line in lines {
        let mut fields = line.split('\t').skip(1);
        match array::from_fn(|_| fields.next()) {
            [Some("folder"), Some(options), Some(path), real, None] => {
                let folder = read_options(options, plain(real.unwrap_or(path)));
                folders.extend(folder.map(|folder| (plain(path), folder)));
            }
            [Some("file"), Some(path), real, None, None] => {
                files.push((plain(path), plain(real.unwrap_or(path))));
            }
            _ => {}
        }
    }
    // The files are in order, so collecting them is faster than inserting them one by one.
    AllowedPaths { folders, files: files.into_iter().collect() }
}

/// Returns the options of a folder, separated by commas; `-` if there are none.
fn options(folder: &AllowedFolder) -> String {
    let doc_type = folder.doc_type.map(|doc_type| format!("type={}", doc_type.as_str()));
    let language = folder.language.as_ref().map(|language| format!("language={}", field(language)));
    let follow = folder.follows_links.then(|| "follow".to_owned());
    let options: Vec<String> = [doc_type, language, follow].into_iter().flatten().collect();
    if options.is_empty() { "-".to_owned() } else { options.join(",") }
}

fn read_options(text: &str, real_path: String) -> Option<AllowedFolder> {
    let mut folder =
        AllowedFolder { real_path, doc_type: None, language: None, follows_links: false };
    for option in text.split(',').filter(|option| *option != "-") {
        match option.split_once('=') {
            Some(("type", word)) => folder.doc_type = Some(word.parse().ok()?),
            Some(("language", word)) => folder.language = Some(plain(word)),
            None if option == "follow" => folder.follows_links = true,
            _ => return None,
        }
    }
    Some(folder)
}

/// Returns where a path leads as the last field of a line; empty if it is the path.
fn real_field(path: &str, real_path: &str) -> String {
    if path == real_path { String::new() } else { format!("\t{}", field(real_path)) }
}

/// Characters that separate lines, fields and options, and their escapes, which the text of a path never has.
const ESCAPES: [(char, &str); 4] =
    [('\n', "\\x0a"), ('\r', "\\x0d"), ('\t', "\\x09"), (',', "\\x2c")];

fn field(text: &str) -> String {
    ESCAPES.iter().fold(text.to_owned(), |text, (c, escape)| text.replace(*c, escape))
}

fn plain(field: &str) -> String {
    // This is nearly every path, and there may be a hundred thousand.
    if !field.contains('\\') {
        return field.to_owned();
    }
    ESCAPES.iter().fold(field.to_owned(), |text, (c, escape)| text.replace(escape, &c.to_string()))
}

/// Returns a folder without links, as the file has it.
fn real(dir: &Path) -> String {
    paths::path_text(&paths::resolved(dir)).replace('\n', "\\x0a")
}

#[cfg(test)]
mod tests;
