//! Creates a minimal skill, or the store of a project.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::{private, write};
use crate::lint;
use crate::place::{self, SKILL_FILE, SkillScope};
use crate::text::fields;

/// The skill or store to create.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// Name of the skill; only a store is created if there is none.
    pub name: Option<String>,
    /// Uses the global store.
    pub is_global: bool,
}

/// The created skill or store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreatedSkill {
    /// Name of the skill; null if a store was created.
    pub name: Option<String>,
    /// `project` or `global`.
    pub scope: SkillScope,
    /// Where it is.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
}

/// Creates a skill, or the store of a project in the working directory.
pub fn init(caller: &Caller, options: &InitOptions) -> Result<CreatedSkill> {
    let (scope, root) = if options.is_global {
        (SkillScope::Global, caller.home.clone())
    } else {
        (SkillScope::Project, caller.cwd.clone())
    };
    let Some(name) = &options.name else {
        create_folder(&place::sources_of(&root.join(".skillc")))?;
        return Ok(CreatedSkill { name: None, scope, path: root });
    };
    if let Some(message) = lint::name_fault(name) {
        return Err(Diagnostic::InvalidOption { message, hint: None }.into());
    }
    // A project also applies to all directories below it, so its store may be above the working directory.
    let store = match caller.project_store() {
        Some(store) if !options.is_global => store,
        _ => root.join(".skillc"),
    };
    let path = place::sources_of(&store).join(name);
    let file = path.join(SKILL_FILE);
    if file.symlink_metadata().is_ok() {
        return Err(Diagnostic::SkillExists(name.clone()).into());
    }
    create_folder(&path)?;
    let text = format!(
        "---\nname: {name}\ndescription: \"TODO: Add skill description\"\n---\n\n# {}\n",
        title(name)
    );
    write::create_new(&file, text.as_bytes()).map_err(|source| Error::Io { path: file, source })?;
    Ok(CreatedSkill { name: Some(name.clone()), scope, path })
}

fn create_folder(path: &Path) -> Result<()> {
    private::create_folder(path).map_err(|source| Error::of_file(path, source))
}

/// Returns `my-skill` as `My Skill`.
fn title(name: &str) -> String {
    let words = name.split('-').filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::front_matter;
    use crate::testing::World;

    fn make(world: &World, name: Option<&str>, is_global: bool) -> Result<CreatedSkill> {
        init(&world.caller, &InitOptions { name: name.map(str::to_owned), is_global })
    }

    #[test]
    fn creating_a_store_twice_is_fine() {
        let mut world = World::new();
        world.caller.cwd = world.path("elsewhere");
        for _ in 0..2 {
            assert_eq!(make(&world, None, false).unwrap().path, world.path("elsewhere"));
            assert!(world.path("elsewhere/.skillc/skills").is_dir());
        }
    }

    #[test]
    fn a_new_skill_has_the_required_fields() {
        let world = World::new();
        let made = make(&world, Some("my-skill2"), false).unwrap();
        assert_eq!(made.path, world.path("project/.skillc/skills/my-skill2"));
        let text = fs::read_to_string(made.path.join(SKILL_FILE)).unwrap();
        let (fields, start) = front_matter::read(&text).unwrap();
        assert_eq!(fields.text("name").as_deref(), Some("my-skill2"));
        assert!(fields.text("description").unwrap().starts_with("TODO"));
        assert_eq!(text[start..].trim(), "# My Skill2");
        // The tests of the other program expect this text.
        let expected = "---\nname: my-skill2\ndescription: \"TODO: Add skill description\"\n---\n\n# My Skill2\n";
        assert_eq!(text, expected);
        assert_eq!(make(&world, Some("my-skill2"), false).unwrap_err().code(), "E050");
        let made = make(&world, Some("my-skill2"), true).unwrap();
        assert_eq!(made.path, world.path("home/.skillc/skills/my-skill2"));
    }

    #[test]
    fn an_invalid_name_creates_nothing() {
        let world = World::new();
        for name in ["", "../x", "a/b", "Big", "-x", "x-", "a b", &"x".repeat(65)] {
            assert_eq!(make(&world, Some(name), false).unwrap_err().code(), "E100", "{name}");
        }
        assert!(!world.path("project/.skillc/skills").exists());
    }
}
