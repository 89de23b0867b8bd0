//! Stores the skills found on disk in the registry's table.

pub mod index;
pub mod log;

use rusqlite::named_params;

use crate::db::row::StoredRow;
use crate::db::sql;
use crate::error::Result;

use super::Store;
use super::db::columns;

/// A skill in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRow {
    /// Unique.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// As written.
    pub version: Option<String>,
    /// The command to run.
    pub entrypoint: Option<String>,
    /// Keywords for its capabilities.
    pub capabilities: Vec<String>,
    /// A small Greek letter.
    pub greek_letter: Option<String>,
    /// SKILL.md without its front matter.
    pub body: String,
    /// Path of SKILL.md relative to the project, with `/`.
    pub source_path: String,
    /// The full front matter as a JSON object.
    pub frontmatter_json: String,
    /// When this content was first seen; RFC 3339, UTC.
    pub loaded_at: String,
}

/// An unchanged row is not written and keeps its time.
const PUT_SKILL: &str = "
    INSERT INTO skills (
        name, description, version, entrypoint, capabilities, greek_letter, body, source_path,
        frontmatter_json, loaded_at
    )
    VALUES (
        :name, :description, :version, :entrypoint, :capabilities, :greek_letter, :body,
        :source_path, :frontmatter_json, :loaded_at
    )
    ON CONFLICT (name) DO UPDATE SET
        description = excluded.description,
        version = excluded.version,
        entrypoint = excluded.entrypoint,
        capabilities = excluded.capabilities,
        greek_letter = excluded.greek_letter,
        body = excluded.body,
        source_path = excluded.source_path,
        frontmatter_json = excluded.frontmatter_json,
        loaded_at = excluded.loaded_at
    WHERE (description, version, entrypoint, capabilities, greek_letter, body, source_path,
            frontmatter_json)
        IS NOT (excluded.description, excluded.version, excluded.entrypoint,
            excluded.capabilities, excluded.greek_letter, excluded.body, excluded.source_path,
            excluded.frontmatter_json)";

const PRUNE_SKILLS: &str = "
    DELETE FROM skills
    WHERE name NOT IN (SELECT value FROM json_each(:kept))";

const SKILLS: &str = "SELECT * FROM skills ORDER BY name";

const SKILL: &str = "SELECT * FROM skills WHERE name = :name";

impl Store {
    /// Replaces the registry by these skills in one transaction, and returns the number of removed
    /// ones.
    pub fn replace_skills(&mut self, skills: &[SkillRow]) -> Result<usize> {
        self.write(|db| {
            let mut put = db.prepare_cached(PUT_SKILL)?;
            for skill in skills {
                put.execute(named_params! {
                    ":name": skill.name,
                    ":description": skill.description,
                    ":version": skill.version,
                    ":entrypoint": skill.entrypoint,
                    ":capabilities": columns::to_json(&skill.capabilities)?,
                    ":greek_letter": skill.greek_letter,
                    ":body": skill.body,
                    ":source_path": skill.source_path,
                    ":frontmatter_json": skill.frontmatter_json,
                    ":loaded_at": skill.loaded_at,
                })?;
            }
            let kept: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            let kept = columns::to_json(&kept)?;
            Ok(db.prepare_cached(PRUNE_SKILLS)?.execute(named_params! { ":kept": kept })?)
        })
    }

    /// Returns all skills in byte order of their names.
    pub fn skills(&self) -> Result<Vec<SkillRow>> {
        self.read(|db| sql::rows(db, SKILLS, [], skill))
    }

    /// Returns one skill; `None` if no skill has this name.
    pub fn skill(&self, name: &str) -> Result<Option<SkillRow>> {
        self.read(|db| sql::first_row(db, SKILL, named_params! { ":name": name }, skill))
    }
}

fn skill(row: &StoredRow<'_>) -> rusqlite::Result<SkillRow> {
    Ok(SkillRow {
        name: row.get("name")?,
        description: row.get("description")?,
        version: row.get("version")?,
        entrypoint: row.get("entrypoint")?,
        capabilities: columns::json_column(row, "capabilities")?,
        greek_letter: row.get("greek_letter")?,
        body: row.get("body")?,
        source_path: row.get("source_path")?,
        frontmatter_json: row.get("frontmatter_json")?,
        loaded_at: row.get("loaded_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::testing::TestDb;

    fn row(name: &str) -> SkillRow {
        SkillRow {
            name: name.to_owned(),
            description: "d".into(),
            version: Some("1.10".into()),
            entrypoint: None,
            capabilities: vec!["read".into(), "it's \"odd\"".into()],
            greek_letter: Some("ε".into()),
            body: "# X".into(),
            source_path: format!(".agents/skills/{name}/SKILL.md"),
            frontmatter_json: "{}".into(),
            loaded_at: "2026-01-02T03:04:05Z".into(),
        }
    }

    fn names(db: &TestDb) -> Vec<String> {
        db.store.skills().unwrap().into_iter().map(|skill| skill.name).collect()
    }

    #[test]
    fn rows_are_read_back_unchanged_in_byte_order() {
        let mut db = TestDb::new();
        assert_eq!(db.store.replace_skills(&[row("b"), row("a"), row("B")]).unwrap(), 0);
        assert_eq!(db.store.skills().unwrap(), [row("B"), row("a"), row("b")]);
        assert_eq!(db.store.skill("a").unwrap(), Some(row("a")));
        for name in ["", " ", "c", "%", "a'"] {
            assert_eq!(db.store.skill(name).unwrap(), None, "{name}");
        }
    }

    #[test]
    fn skills_not_found_again_are_pruned() {
        let mut db = TestDb::new();
        db.store.replace_skills(&[row("a"), row("b"), row("it's")]).unwrap();
        assert_eq!(db.store.replace_skills(&[row("b"), row("c")]).unwrap(), 2);
        assert_eq!(names(&db), ["b", "c"]);
        assert_eq!(db.store.replace_skills(&[]).unwrap(), 2);
        assert!(names(&db).is_empty());
    }

    #[test]
    fn a_row_keeps_its_time_until_its_content_changes() {
        let mut db = TestDb::new();
        db.store.replace_skills(&[row("a")]).unwrap();
        let later = SkillRow { loaded_at: "2027-01-01T00:00:00Z".into(), ..row("a") };
        db.store.replace_skills(std::slice::from_ref(&later)).unwrap();
        assert_eq!(db.store.skills().unwrap(), [row("a")]);
        let changed = SkillRow { version: None, ..later };
        db.store.replace_skills(std::slice::from_ref(&changed)).unwrap();
        assert_eq!(db.store.skills().unwrap(), [changed]);
    }

    #[test]
    fn a_failure_half_way_changes_nothing_and_is_reported() {
        let mut db = TestDb::new();
        db.store.replace_skills(&[row("a")]).unwrap();
        let trap = "CREATE TEMP TRIGGER trap BEFORE INSERT ON skills WHEN new.name = 'c'
            BEGIN SELECT RAISE(ABORT, 'trapped'); END";
        db.store.connection.execute_batch(trap).unwrap();
        let error = db.store.replace_skills(&[row("b"), row("c")]).unwrap_err();
        assert!(matches!(error, Error::Store(_)), "{error}");
        assert_eq!(names(&db), ["a"]);
        db.store.connection.execute_batch("DROP TABLE skills").unwrap();
        assert!(db.store.replace_skills(&[row("a")]).is_err());
        assert!(db.store.skills().is_err() && db.store.skill("a").is_err());
    }

    #[test]
    fn reading_writes_nothing() {
        let mut db = TestDb::new();
        db.store.replace_skills(&[row("a")]).unwrap();
        let reader = db.store.reader().unwrap();
        // A read-only connection can also read.
        assert_eq!(reader.skills().unwrap(), [row("a")]);
        assert_eq!(reader.skill("a").unwrap(), Some(row("a")));
    }

    #[test]
    fn the_table_has_the_documented_columns_and_no_references_to_it() {
        let db = TestDb::new();
        let text = |sql: &str| -> String {
            db.store.connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(
            text("SELECT group_concat(name) FROM pragma_table_info('skills')"),
            "name,description,version,entrypoint,capabilities,greek_letter,body,source_path,\
             frontmatter_json,loaded_at"
        );
        assert_eq!(text("SELECT name FROM pragma_table_info('skills') WHERE pk = 1"), "name");
        assert_eq!(
            text(
                "SELECT group_concat(name) FROM pragma_table_info('skills') WHERE \"notnull\" = 0"
            ),
            "version,entrypoint,greek_letter"
        );
        assert_eq!(
            text("SELECT dflt_value FROM pragma_table_info('skills') WHERE name = 'capabilities'"),
            "'[]'"
        );
        assert_eq!(text("SELECT name FROM pragma_index_info('idx_skills_greek')"), "greek_letter");
        let foreign =
            "SELECT count(*) || '' FROM sqlite_schema WHERE sql LIKE '%REFERENCES skills%'";
        assert_eq!(text(foreign), "0");
        assert!(db.store.skills().unwrap().is_empty(), "a migration writes no rows");
    }
}
