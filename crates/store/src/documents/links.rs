//! Reads what resolves links between notes: the names of documents, and the notes that may have links. Only links in
//! front matter are stored, with the document; no target is.

use std::collections::BTreeMap;

use rusqlite::named_params;

use super::stored::DocumentName;
use crate::Store;
use crate::db::sql;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::keyword::expr::quote;

/// The path that is shown comes first.
const LINK_NAMES: &str = "
    SELECT
        documents.id,
        title,
        coalesce(path, source_path),
        iif(instr(metadata, '\"aliases\"'), metadata ->> '$.aliases', NULL)
    FROM documents
    LEFT JOIN document_paths ON document_id = documents.id
    ORDER BY documents.id, path IS NOT source_path, path";

const FRONT_LINKS: &str = "
    SELECT id, links
    FROM (
        SELECT id, metadata ->> '$.links' AS links
        FROM documents
        WHERE doc_type = 'markdown' AND instr(metadata, '\"links\"')
    )
    WHERE links IS NOT NULL
    ORDER BY id";

macro_rules! select_linking {
    ($from:literal) => {
        concat!(
            "SELECT DISTINCT documents.id FROM ",
            $from,
            " CROSS JOIN documents ON documents.id = chunks.document_id
            WHERE (instr(chunks.text, '[[') OR instr(chunks.text, ']('))
                AND documents.metadata ->> '$.format' IN ('markdown', 'note')
            ORDER BY documents.id"
        )
    };
}

const LINKING: &str = select_linking!("chunks");

const LINKING_TO: &str = select_linking!(
    "(SELECT rowid AS id FROM chunks_fts WHERE chunks_fts MATCH :wanted)
    CROSS JOIN chunks USING (id)"
);

impl Store {
    /// Returns all documents by id, once for each path, with the other names that their front matter gives them.
    pub fn link_names(&self) -> Result<Vec<(DocumentName, Vec<String>)>> {
        self.read(|db| {
            sql::rows(db, LINK_NAMES, [], |row| {
                let aliases: Option<String> = row.get(3)?;
                let aliases = aliases.and_then(|json| serde_json::from_str(&json).ok());
                let (id, title, path) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((DocumentName { id, title, path }, aliases.unwrap_or_default()))
            })
        })
    }

    /// Returns the links in front matter with their lines, by document.
    pub fn front_links(&self) -> Result<BTreeMap<DocumentId, Vec<(u32, String)>>> {
        self.read(|db| {
            sql::rows(db, FRONT_LINKS, [], |row| {
                let json: String = row.get(1)?;
                Ok((row.get(0)?, serde_json::from_str(&json).unwrap_or_default()))
            })
        })
    }

    /// Returns the Markdown and notes that may have a link in their text, by id; with `names`, those with one of these
    /// in a passage with a link.
    pub fn linking(&self, names: Option<&[String]>) -> Result<Vec<DocumentId>> {
        self.read(|db| match names {
            None => sql::rows(db, LINKING, [], |row| row.get(0)),
            Some(names) => {
                let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
                let wanted = format!("{{text}} : ({})", names.join(" OR "));
                let params = named_params! { ":wanted": wanted };
                sql::rows(db, LINKING_TO, params, |row| row.get(0))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Metadata;
    use crate::testing::{TestDb, document};

    #[test]
    fn notes_that_may_link_are_found_by_the_words_of_their_links() {
        let mut db = TestDb::new();
        let a = db.add("/a.md", &["none", "see [[Old harbour]]"], &[]);
        let b = db.add("/b.md", &["see [it](old%20harbour.md)"], &[]);
        db.add("/c.md", &["the old harbour"], &[]);
        let found = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            db.store.linking(Some(&names)).unwrap()
        };
        assert_eq!(found(&["OLD HARBOUR"]), [a]);
        assert_eq!(found(&["no \"one\"", "old%20harbour"]), [b]);
        assert_eq!(found(&["🌲"]), []);
        assert_eq!(db.store.linking(None).unwrap(), [a, b]);
    }

    #[test]
    fn links_in_front_matter_are_read() {
        let mut db = TestDb::new();
        let mut add = |path: &str, metadata: Metadata| {
            let new = crate::NewDocument { metadata, ..document(path, &[], &[]) };
            db.store.replace(&new, &[], &[], &|_| true).unwrap().document_id()
        };
        let links = vec![(2, "[[\"a\"]]".to_owned())];
        let id = add("/a.md", Metadata { links: links.clone(), ..Metadata::default() });
        add("/b.md", Metadata { headings: vec![(1, "links".into())], ..Metadata::default() });
        assert_eq!(db.store.front_links().unwrap().into_iter().collect::<Vec<_>>(), [(id, links)]);
    }

    #[test]
    fn a_document_has_a_name_for_each_path() {
        let mut db = TestDb::new();
        let mut new = document("/b.md", &["text"], &[]);
        new.metadata = Metadata { aliases: vec!["Bee".into()], ..Metadata::default() };
        let id = db.put(&new, &["text"], &[]).document_id();
        db.put(&document("/a.md", &["text"], &[]), &["text"], &["/b.md"]);
        let names = db.store.link_names().unwrap();
        let paths: Vec<_> = names.iter().map(|(name, _)| name.path.as_deref()).collect();
        assert_eq!(paths, [Some("/b.md"), Some("/a.md")]);
        assert!(names.iter().all(|(name, aliases)| name.id == id && aliases == &["Bee"]));
    }
}
