//! Decides which remembered files and folders are followed: those that the user named or was shown.
//!
//! A database cannot decide this, because someone else may have written it. The user's decisions are
//! remembered outside ([`AllowedPaths`]); the paths, links and options in the database only count where they
//! agree with these.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::document::DocType;
use crate::documents::remembered::{AddedFolder, PathStamp};
use crate::text::paths;

/// Which of the files and folders that a database remembers are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowedPaths {
    /// All of them: kb makes the database for itself.
    Everything,
    /// None of them: the user has not allowed the use of the database.
    Nothing,
    /// Those in the list.
    Listed(AllowedPaths),
}

/// Folders and files that the user named or was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedPaths {
    /// The folders by their paths.
    pub folders: BTreeMap<String, AllowedFolder>,
    /// The files that were named themselves by their paths, and where these led without links.
    pub files: BTreeMap<String, String>,
}

/// The options of an allowed folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFolder {
    /// Where its path led, without links.
    pub real_path: String,
    /// The type of its files.
    pub doc_type: Option<DocType>,
    /// The programming language of its files.
    pub language: Option<String>,
    /// Whether links in it are followed.
    pub follows_links: bool,
}

impl AllowedFolder {
    /// Returns the options of a folder, whose path leads to `real_path`.
    pub fn of(root: &AddedFolder, real_path: String) -> Self {
        let language = root.language.clone();
        let (doc_type, follows_links) = (root.doc_type, root.follows_links);
        Self { real_path, doc_type, language, follows_links }
    }

    /// Whether a folder of the database has these options. Tags only label what is found.
    fn agrees(&self, root: &AddedFolder) -> bool {
        *self == Self::of(root, self.real_path.clone())
    }
}

impl AllowedPaths {
    /// Adds what the user names, with the options of both where a folder is known already.
    pub fn merge(&mut self, other: Self) {
        for (path, new) in other.folders {
            let known = self.folders.remove(&path);
            let merged = AllowedFolder {
                doc_type: new.doc_type.or(known.as_ref().and_then(|known| known.doc_type)),
                follows_links: new.follows_links
                    || known.as_ref().is_some_and(|known| known.follows_links),
                language: new.language.or(known.and_then(|known| known.language)),
                real_path: new.real_path,
            };
            self.folders.insert(path, merged);
        }
        self.files.extend(other.files);
    }

    /// Adds what the user was shown, with exactly these options.
    pub fn replace(&mut self, other: Self) {
        self.folders.extend(other.folders);
        self.files.extend(other.files);
    }
}

impl FollowedPaths {
    /// Returns the folders that are followed, with the links of the list.
    pub(super) fn roots(&self, all: Vec<AddedFolder>) -> Vec<AddedFolder> {
        let allowed = match self {
            Self::Everything => return all,
            Self::Nothing => return Vec::new(),
            Self::Listed(allowed) => allowed,
        };
        let followed = all.into_iter().filter_map(|root| {
            let folder = allowed.folders.get(&root.path).filter(|folder| folder.agrees(&root))?;
            Some(AddedFolder { real_path: Some(folder.real_path.clone()), ..root })
        });
        followed.collect()
    }
}

/// Lets the files through that are followed.
pub(super) struct FollowedFilter<'a> {
    followed: &'a FollowedPaths,
    folders: Vec<PathBuf>,
}

impl<'a> FollowedFilter<'a> {
    /// Takes the folders of [`FollowedPaths::roots`].
    pub(super) fn new(followed: &'a FollowedPaths, roots: &[AddedFolder]) -> Self {
        Self { followed, folders: roots.iter().map(|root| paths::path_of(&root.path)).collect() }
    }

    /// Returns a remembered file with where its path may lead; `None` if it is not followed.
    pub(super) fn stamp(&self, stamp: PathStamp) -> Option<PathStamp> {
        let FollowedPaths::Listed(allowed) = self.followed else {
            return self.has(&stamp.path).then_some(stamp);
        };
        let real_path = allowed.files.get(paths::split_member(&stamp.path).0).cloned();
        let is_followed = real_path.is_some() || self.is_in_folder(&stamp.path);
        is_followed.then_some(PathStamp { real_path, ..stamp })
    }

    /// Whether a file is followed.
    pub(super) fn has(&self, path: &str) -> bool {
        match self.followed {
            FollowedPaths::Everything => true,
            FollowedPaths::Nothing => false,
            FollowedPaths::Listed(allowed) => {
                allowed.files.contains_key(paths::split_member(path).0) || self.is_in_folder(path)
            }
        }
    }

    fn is_in_folder(&self, path: &str) -> bool {
        is_below(&paths::path_of(path), &self.folders)
    }
}

/// Whether a path is in one of the folders. One that leads out of them and back is not.
pub(super) fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    is_plain && folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathRole;
    use crate::ids::ChunkId;
    use crate::testing::{TestDb, stamp};

    fn root(path: &str, follows_links: bool) -> AddedFolder {
        AddedFolder {
            path: path.into(),
            tags: vec!["t".into()],
            doc_type: None,
            language: None,
            follows_links,
            real_path: Some("/as the database says".into()),
        }
    }

    fn listed(folders: &[AddedFolder], files: &[&str]) -> FollowedPaths {
        let folder = |root: &AddedFolder| {
            (root.path.clone(), AllowedFolder::of(root, format!("/real{}", root.path)))
        };
        let files = files.iter().map(|file| ((*file).to_owned(), format!("/real{file}")));
        FollowedPaths::Listed(AllowedPaths {
            folders: folders.iter().map(folder).collect(),
            files: files.collect(),
        })
    }

    /// Files and folders as `kb add` remembers them, and what the database adds by itself.
    fn database() -> (TestDb, Vec<ChunkId>) {
        let mut db = TestDb::new();
        for path in ["/docs/a.md", "/docs/../key", "/docsx/b.md", "/named.md", "/new/c.md", "/key"]
        {
            db.add(path, &[path], &[]);
        }
        let id = db.add("/box.zip//in.md", &["in"], &[]);
        db.store.remember_path(id, "hash of in", &stamp("/docs/in.md"), PathRole::Further).unwrap();
        for folder in [root("/docs", false), root("/new", false), root("/more", true)] {
            db.store.remember_root(&folder).unwrap();
        }
        let names = db.store.document_names().unwrap();
        let chunks = names.iter().flat_map(|name| db.store.chunks(name.id).unwrap());
        let chunks = chunks.map(|chunk| chunk.id).collect();
        (db, chunks)
    }

    #[track_caller]
    fn check(followed: FollowedPaths, folders: &[&str], files: &[&str], unfollowed: &[&str]) {
        let (mut db, chunks) = database();
        db.store.follow(followed);
        let store = db.store.reader().unwrap();
        let roots = store.roots().unwrap();
        assert!(roots.iter().map(|root| root.path.as_str()).eq(folders.iter().copied()));
        let known = store.known_files().unwrap();
        assert!(known.iter().map(|file| file.stamp.path.as_str()).eq(files.iter().copied()));
        let of_chunks = store.files_of_chunks(&chunks).unwrap();
        assert_eq!(of_chunks.iter().map(|found| found.stamps.len()).sum::<usize>(), files.len());
        for file in &known {
            assert_eq!(store.known_path(&file.stamp.path).unwrap().unwrap().stamp, file.stamp);
            let of_document = store.files_of_document(file.document_id).unwrap().unwrap();
            assert!(of_document.stamps.contains(&file.stamp));
        }
        assert_eq!(store.known_path("/key").unwrap().is_some(), files.contains(&"/key"));
        let left = store.unfollowed().unwrap();
        let left = left.folders.iter().map(|(root, _)| &root.path).chain(&left.files);
        assert_eq!(left.collect::<Vec<_>>(), unfollowed);
        // Documents and their paths for citations stay.
        assert_eq!(store.document_names().unwrap().len(), 7);
    }

    #[test]
    fn only_what_is_listed_with_the_same_options_is_followed() {
        let listed =
            listed(&[root("/docs", false), root("/more", false)], &["/named.md", "/box.zip"]);
        check(
            listed,
            &["/docs"],
            &["/box.zip//in.md", "/docs/a.md", "/docs/in.md", "/named.md"],
            &["/more", "/new", "/docs/../key", "/docsx/b.md", "/key"],
        );
    }

    #[test]
    fn without_permission_nothing_is_followed() {
        let all = [
            "/docs", "/more", "/new", "/box.zip//in.md", "/docs/../key", "/docsx/b.md", "/key",
            "/named.md",
        ];
        check(FollowedPaths::Nothing, &[], &[], &all);
        check(FollowedPaths::Listed(AllowedPaths::default()), &[], &[], &all);
    }

    #[test]
    fn the_list_says_where_paths_lead() {
        let (mut db, _) = database();
        db.store.follow(listed(&[root("/docs", false)], &["/named.md"]));
        let roots = db.store.roots().unwrap();
        assert_eq!(roots[0].real_path.as_deref(), Some("/real/docs"));
        let real = |path: &str| db.store.known_path(path).unwrap().unwrap().stamp.real_path;
        assert_eq!(real("/named.md").as_deref(), Some("/real/named.md"));
        assert_eq!(real("/docs/a.md"), None);
    }

    #[test]
    fn naming_a_folder_again_adds_options_and_seeing_it_replaces_them() {
        let allowed = |root: AddedFolder| match listed(&[root], &[]) {
            FollowedPaths::Listed(allowed) => allowed,
            _ => AllowedPaths::default(),
        };
        let mut all = allowed(root("/docs", true));
        all.merge(allowed(AddedFolder { doc_type: Some(DocType::Note), ..root("/docs", false) }));
        let merged = AddedFolder { doc_type: Some(DocType::Note), ..root("/docs", true) };
        assert_eq!(all, allowed(merged));
        all.replace(allowed(root("/docs", false)));
        assert_eq!(all, allowed(root("/docs", false)));
    }
}
