//! Builds the index of a skill when its files have changed, and opens it only if it is current.
//!
//! An index is used only if it was made from this directory and these exact bytes, with this schema
//! or a newer one and the requested tokenizer. Any mismatch is an error for a reader and a reason
//! to rebuild for the builder.

use std::thread;

use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::folder::{self, Lock};
use crate::page;
use crate::place::Skill;
use crate::skill_files::{self, FINE_TICK, SkillContents, SourceHash};
use crate::store::skills::index::{
    FtsTokenizer, IndexDraft, IndexMeta, IndexedFile, IndexedHeading, SCHEMA_VERSION, SkillIndex,
};
use crate::text::headings::Heading;
use crate::text::paths::canonical;

/// The result of building an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltIndex {
    /// Hash over the files it was made from.
    pub source_hash: String,
    /// Whether the index was written; a current index is left alone.
    pub is_new: bool,
}

/// Opens the index of a skill for a query. For a caller that updates indexes, a missing, corrupt or stale one is
/// built first, if it can be written.
pub fn open(caller: &Caller, skill: &Skill) -> Result<SkillIndex> {
    match current(caller, skill) {
        Err(Error::Skill(Diagnostic::IndexUnusable(_)))
            if caller.updates_index && build(caller, skill).is_ok() =>
        {
            current(caller, skill)
        }
        opened => opened,
    }
}

/// Opens an index that matches the files of its skill.
fn current(caller: &Caller, skill: &Skill) -> Result<SkillIndex> {
    let index = SkillIndex::open(&skill.index_path()).ok_or_else(|| unusable(skill))?;
    if index.meta.skill_path != skill.skill_path() {
        return Err(Diagnostic::IndexCollision(skill.hash16()).into());
    }
    let is_current = index.meta.schema_version >= SCHEMA_VERSION
        && index.meta.tokenizer == caller.tokenizer.or_available().as_str()
        && index.meta.source_hash
            == skill_files::source_hash(
                &skill_files::list(&skill.dir)?.files,
                &index.known_files(),
            )?;
    if is_current { Ok(index) } else { Err(unusable(skill)) }
}

/// Returns the error for an index that a reader cannot use.
pub fn unusable(skill: &Skill) -> Error {
    Diagnostic::IndexUnusable(skill.typed.clone()).into()
}

/// Waits until no other process builds a skill, and then holds it: one builds, and the others find what it has built. If the
/// directory cannot be locked, nothing breaks: drafts have unique names, and the last one to be renamed stays.
pub(super) fn hold(skill: &Skill) -> Result<Option<Lock>> {
    Ok(folder::lock_folder(&skill.make_meta_dir()?))
}

/// Brings the index of a skill up to date with its files.
pub fn build(caller: &Caller, skill: &Skill) -> Result<BuiltIndex> {
    let lock = hold(skill)?;
    build_held(caller, skill, lock.as_ref())
}

/// Brings the index of a skill, which [`hold`] has locked, up to date with its files.
pub(super) fn build_held(
    caller: &Caller,
    skill: &Skill,
    lock: Option<&Lock>,
) -> Result<BuiltIndex> {
    let path = skill.index_path();
    if lock.is_some() {
        IndexDraft::remove_abandoned(&path);
    }
    let tokenizer = caller.tokenizer.or_available();
    let mut now = caller.now;
    let mut listing = skill_files::list(&skill.dir)?;
    if let Some(index) = SkillIndex::open(&path) {
        // The name of an index has only the first digits of a hash, so two skills could share it.
        if index.meta.skill_path != skill.skill_path() {
            return Err(Diagnostic::IndexCollision(skill.hash16()).into());
        }
        let source_hash = skill_files::source_hash(&listing.files, &index.known_files())?;
        if is_same(&index.meta, &source_hash, tokenizer) && index.is_readable() {
            return Ok(BuiltIndex { source_hash, is_new: false });
        }
    }
    if !listing.files.iter().all(|file| file.is_settled(now)) {
        // A file just written could be written again without a visible change of its times. One
        // tick later its times would change, and later checks need not read the file.
        thread::sleep(FINE_TICK);
        now += FINE_TICK;
        listing = skill_files::list(&skill.dir)?;
    }
    let draft = IndexDraft::begin(&path, tokenizer)?;
    let mut hash = SourceHash::default();
    for file in &listing.files {
        let bytes = file.read()?;
        let sha256 = skill_files::file_hash(&bytes);
        hash.add(&file.path, &sha256);
        add_file(&draft, &file.path, &bytes)?;
        draft.add_known_file(&IndexedFile {
            path: file.path.clone(),
            size_bytes: file.size_bytes,
            mtime_ns: file.mtime_ns,
            ctime_ns: file.ctime_ns,
            is_settled: file.is_settled(now),
            sha256,
        })?;
    }
    let source_hash = hash.finish();
    draft.finish(&source_hash, &skill.skill_path(), &caller.timestamp)?;
    Ok(BuiltIndex { source_hash, is_new: true })
}

fn is_same(meta: &IndexMeta, source_hash: &str, tokenizer: FtsTokenizer) -> bool {
    meta.source_hash == source_hash
        && meta.schema_version == SCHEMA_VERSION
        && meta.tokenizer == tokenizer.as_str()
}

/// Adds the searchable sections of a file: one for each heading and one for the text before the
/// first heading, or the full text of a plain text file. Other kinds of file have none.
fn add_file(draft: &IndexDraft, path: &str, bytes: &[u8]) -> Result<()> {
    let (is_markdown, is_text) = (page::is_markdown(path), page::is_text(path));
    if !is_markdown && !is_text {
        return Ok(());
    }
    let Some(page) = page::read(path, bytes) else { return Ok(()) };
    let headings = if is_markdown { page.headings() } else { Vec::new() };
    let preamble = page.preamble(&headings).trim_end();
    if !preamble.trim().is_empty() || is_text {
        draft.add_section(path, "", preamble)?;
    }
    for heading in headings {
        let section = page.lines(heading.lines.clone()).trim_end();
        draft.add_section(path, &heading.text, section)?;
        draft.add_heading(&to_indexed(path, heading))?;
    }
    Ok(())
}

/// Returns a heading in the form an index stores.
pub(super) fn to_indexed(path: &str, heading: Heading) -> IndexedHeading {
    IndexedHeading {
        file: path.to_owned(),
        text: heading.text,
        level: heading.level,
        lines: line_number(heading.lines.start)..line_number(heading.lines.end),
    }
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Returns the first link of a skill that leads out of it; broken links are skipped.
pub fn escaping_link(skill: &Skill, listing: &SkillContents) -> Option<String> {
    let escaping = listing
        .links
        .iter()
        .find(|(_, link)| canonical(link).is_ok_and(|target| !target.starts_with(&skill.dir)));
    escaping.map(|(path, _)| path.clone())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::SystemTime;

    use super::*;
    use crate::resolve;
    use crate::testing::World;

    /// Makes a skill in the project's store and returns it.
    fn skill(world: &World) -> Skill {
        world.skill("project/.skillc/skills/x");
        resolve::resolve(&world.caller, "x").unwrap()
    }

    fn code(outcome: Result<SkillIndex>) -> &'static str {
        outcome.map_or_else(|error| error.code(), |_| "ok")
    }

    fn built_at(skill: &Skill) -> Option<SystemTime> {
        skill.index_path().metadata().ok()?.modified().ok()
    }

    #[test]
    fn an_index_is_used_only_if_it_matches_the_files() {
        let world = World::new();
        let skill = skill(&world);
        let check = |expected| assert_eq!(code(open(&world.caller, &skill)), expected);
        check("E002");
        assert!(build(&world.caller, &skill).unwrap().is_new);
        check("ok");
        for (path, content) in [("a.md", "# New"), ("SKILL.md", "other"), (".hidden", "")] {
            world.write(&format!("project/.skillc/skills/x/{path}"), content);
            check("E002");
            assert!(build(&world.caller, &skill).unwrap().is_new);
            check("ok");
        }
        fs::remove_file(skill.dir.join("a.md")).unwrap();
        check("E002");
    }

    #[test]
    fn a_caller_that_updates_indexes_always_finds_a_current_one() {
        let mut world = World::new();
        let skill = skill(&world);
        world.caller.updates_index = true;
        assert_eq!(code(open(&world.caller, &skill)), "ok");
        world.write("project/.skillc/skills/x/a.md", "# New");
        assert_eq!(code(open(&world.caller, &skill)), "ok");
        // Another directory's index is never replaced.
        fs::remove_dir_all(skill.meta_dir()).unwrap();
        fs::write(skill.meta_dir(), "a file where a directory would have to be").unwrap();
        assert_eq!(code(open(&world.caller, &skill)), "E002");
    }

    #[test]
    fn an_edit_is_noticed_even_if_length_and_time_are_set_back() {
        let world = World::new();
        let skill = skill(&world);
        world.write("project/.skillc/skills/x/a.md", "# one");
        build(&world.caller, &skill).unwrap();
        let path = skill.dir.join("a.md");
        let before = path.metadata().unwrap().modified().unwrap();
        fs::write(&path, "# two").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert_eq!(code(open(&world.caller, &skill)), "E002");
    }

    #[test]
    fn an_edit_in_the_same_instant_is_noticed() {
        let mut world = World::new();
        let skill = skill(&world);
        let path = skill.dir.join("a.md");
        for round in 0..10 {
            world.caller.now = SystemTime::now();
            fs::write(&path, format!("# {round:04}")).unwrap();
            assert!(build(&world.caller, &skill).unwrap().is_new);
            fs::write(&path, format!("# {:04}", 9999 - round)).unwrap();
            assert_eq!(code(open(&world.caller, &skill)), "E002", "round {round}");
        }
    }

    #[test]
    fn the_checks_run_in_order() {
        let world = World::new();
        let skill = skill(&world);
        build(&world.caller, &skill).unwrap();
        let path = skill.index_path();
        let set = |key: &str, value: &str| {
            let meta = SkillIndex::open(&path).unwrap().meta;
            let pick = |name: &str, old: String| if name == key { value.to_owned() } else { old };
            let draft = IndexDraft::begin(&path, FtsTokenizer::Porter).unwrap();
            let (hash, dir) =
                (pick("source_hash", meta.source_hash), pick("skill_path", meta.skill_path));
            draft.finish(&hash, &dir, "").unwrap();
        };
        set("source_hash", "other");
        assert_eq!(code(open(&world.caller, &skill)), "E002");
        // Stale and from another directory: the collision is reported.
        set("skill_path", "/elsewhere");
        assert_eq!(code(open(&world.caller, &skill)), "E003");
        let before = fs::read(&path).unwrap();
        assert_eq!(build(&world.caller, &skill).unwrap_err().code(), "E003");
        assert_eq!(fs::read(&path).unwrap(), before, "another directory's index is kept");
        // In a damaged index the owner cannot be read.
        fs::write(&path, "garbage").unwrap();
        assert_eq!(code(open(&world.caller, &skill)), "E002");
        assert_eq!(fs::read(&path).unwrap(), b"garbage", "a reader leaves it");
        assert!(build(&world.caller, &skill).unwrap().is_new);
        assert_eq!(code(open(&world.caller, &skill)), "ok");
    }

    #[test]
    fn a_current_index_is_not_built_again() {
        let mut world = World::new();
        let skill = skill(&world);
        build(&world.caller, &skill).unwrap();
        let (before, bytes) = (built_at(&skill), fs::read(skill.index_path()).unwrap());
        world.caller.timestamp = "2030-01-01T00:00:00Z".into();
        assert!(!build(&world.caller, &skill).unwrap().is_new);
        assert_eq!(built_at(&skill), before);
        assert_eq!(fs::read(skill.index_path()).unwrap(), bytes);
    }

    #[test]
    fn another_tokenizer_requires_a_rebuild() {
        let mut world = World::new();
        let skill = skill(&world);
        build(&world.caller, &skill).unwrap();
        world.caller.tokenizer = FtsTokenizer::Unicode61;
        assert_eq!(code(open(&world.caller, &skill)), "E002");
        assert!(build(&world.caller, &skill).unwrap().is_new);
        assert_eq!(open(&world.caller, &skill).unwrap().meta.tokenizer, "unicode61");
    }

    #[test]
    fn other_indexes_in_the_directory_are_left_alone() {
        let world = World::new();
        let skill = skill(&world);
        let other = skill.meta_dir().join("search-0000000000000000.db");
        fs::create_dir_all(skill.meta_dir()).unwrap();
        fs::write(&other, "another's").unwrap();
        build(&world.caller, &skill).unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"another's");
    }

    #[test]
    fn sections_are_the_headings_and_the_text_before_them() {
        let world = World::new();
        world.write(
            "project/.skillc/skills/x/SKILL.md",
            "---\nname: x\ndescription: hushhush\n---\nbefore\n# X\nabove\n## Y\nbelow\n",
        );
        for (path, content) in [
            ("notes.txt", "plain words"),
            ("code.py", "# unseen heading"),
            (".git/a.md", "# unseen"),
            ("bare.md", "no heading"),
        ] {
            world.write(&format!("project/.skillc/skills/x/{path}"), content);
        }
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        build(&world.caller, &skill).unwrap();
        let index = open(&world.caller, &skill).unwrap();
        let found = |word: &str| -> Vec<(String, String)> {
            let hits = index.search(&format!("\"{word}\""), 10).unwrap();
            let mut hits: Vec<_> = hits.into_iter().map(|hit| (hit.file, hit.section)).collect();
            hits.sort();
            hits
        };
        let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        assert_eq!(found("below"), own(&[("SKILL.md", "X"), ("SKILL.md", "Y")]));
        assert_eq!(found("above"), own(&[("SKILL.md", "X")]));
        assert_eq!(found("before"), own(&[("SKILL.md", "")]));
        assert_eq!(found("words"), own(&[("notes.txt", "")]));
        assert_eq!(found("heading"), own(&[("bare.md", "")]));
        assert_eq!(found("unseen"), own(&[]));
        assert_eq!(found("hushhush"), own(&[]));
    }

    #[cfg(unix)]
    #[test]
    fn only_links_that_lead_out_escape() {
        let world = World::new();
        let skill = skill(&world);
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, skill.dir.join(name)).unwrap();
        };
        let escaping = || escaping_link(&skill, &skill_files::list(&skill.dir).unwrap());
        link("SKILL.md", "inside.md");
        link("nowhere", "broken");
        assert_eq!(escaping(), None);
        fs::create_dir(skill.dir.join("refs")).unwrap();
        link("/etc", "refs/out");
        assert_eq!(escaping().as_deref(), Some("refs/out"));
    }
}
