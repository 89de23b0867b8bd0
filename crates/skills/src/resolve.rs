//! Finds the skill that an argument refers to: a path, the name that a skill declares, or the name
//! of its directory.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::files::write;
use crate::place::{self, Skill};
use crate::registry::{self, FoundSkill, SkillRoot};
use crate::text::paths;

/// Finds the skill that an argument refers to.
///
/// A path takes precedence over names. A name is looked for in the places that `kb skill list` reads,
/// in their order: first the names that skills declare, then the names of directories.
pub fn resolve(caller: &Caller, typed: &str) -> Result<Skill> {
    let mut found_dir: Option<String> = None;
    if !typed.is_empty() {
        let path = paths::clean(&caller.cwd.join(paths::path_of(typed)));
        if place::is_skill(&path) {
            return place::at_path(caller, typed, &path);
        }
        if path.is_dir() {
            found_dir = Some(typed.to_owned());
        }
    }
    if is_name(typed) {
        let roots = registry::roots(caller, None);
        for root in &roots {
            if root.dir.join(typed).symlink_metadata().is_err() {
                // A killed import may have moved the skill aside; this moves it back.
                write::collect(&root.dir);
            }
        }
        if let Some(path) = declared(caller, &roots, typed)? {
            return place::at_path(caller, typed, &path);
        }
        for root in &roots {
            let path = root.dir.join(typed);
            if place::is_skill(&path) {
                return place::at_path(caller, typed, &path);
            }
            if path.is_dir() && found_dir.is_none() {
                found_dir = Some(paths::path_text(&path));
            }
        }
    }
    Err(match found_dir {
        Some(path) => Diagnostic::NotASkill(path),
        None => Diagnostic::SkillNotFound(typed.to_owned()),
    }
    .into())
}

/// Returns the directory of the skill that declares a name, in the first place that has one.
fn declared(caller: &Caller, roots: &[SkillRoot], name: &str) -> Result<Option<PathBuf>> {
    for root in roots {
        let skills = registry::skills_of(caller, root).into_iter();
        let mut found: Vec<FoundSkill> = skills.filter(|skill| skill.row.name == name).collect();
        found.sort_by(|one, other| one.dir.cmp(&other.dir));
        let dirs: Vec<String> = found.iter().map(|skill| paths::path_text(&skill.dir)).collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(Some(only.dir.clone())),
            _ => {
                let message = format!("several skills are named {name}: {}", dirs.join(", "));
                let hint = Some("give the path of one, or change the name in a SKILL.md".into());
                return Err(Diagnostic::InvalidOption { message, hint }.into());
            }
        }
    }
    Ok(None)
}

/// Returns the names by which [`resolve`] finds skills, in alphabetical order.
pub fn names(caller: &Caller) -> Vec<String> {
    let mut names = BTreeSet::new();
    for root in registry::roots(caller, None) {
        names.extend(registry::skills_of(caller, &root).into_iter().map(|skill| skill.row.name));
        let entries = root.dir.read_dir().into_iter().flatten().flatten();
        let skills = entries.filter(|entry| place::is_skill(&entry.path()));
        names.extend(skills.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    }
    names.into_iter().collect()
}

/// Whether an argument can be the name of a directory in a store.
pub fn is_name(typed: &str) -> bool {
    let mut components = Path::new(typed).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(name)), None) if name == typed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::place::SkillScope;
    use crate::testing::World;

    #[track_caller]
    fn check(world: &World, typed: &str, dir: &str, scope: SkillScope, runtime: &str) {
        let skill = resolve(&world.caller, typed).unwrap();
        assert_eq!(skill.dir, world.path(dir), "{typed}");
        assert_eq!((skill.scope, skill.runtime), (scope, world.path(runtime)), "{typed}");
    }

    #[track_caller]
    fn check_error(world: &World, typed: &str, expected: &str) {
        let error = resolve(&world.caller, typed).unwrap_err();
        assert_eq!(format!("{} {error}", error.code()), expected);
    }

    #[test]
    fn a_path_overrides_the_projects_store_and_that_the_global_one() {
        let world = World::new();
        world.skill("home/.skillc/skills/x");
        check(&world, "x", "home/.skillc/skills/x", SkillScope::Global, "home/.skillc/runtime/x");
        world.skill("project/.skillc/skills/x");
        check(
            &world,
            "x",
            "project/.skillc/skills/x",
            SkillScope::Project,
            "project/.skillc/runtime/x",
        );
        world.skill("project/x");
        check(&world, "x", "project/x", SkillScope::Project, "project/.skillc/runtime/x");
        check(&world, "./x/../x/", "project/x", SkillScope::Project, "project/.skillc/runtime/x");
    }

    #[test]
    fn a_directory_without_skill_file_is_named_and_a_missing_one_is_not_found() {
        let world = World::new();
        check_error(&world, "x", "E001 skill 'x' not found");
        check_error(&world, "", "E001 skill '' not found");
        check_error(&world, "../x", "E001 skill '../x' not found");
        fs::create_dir_all(world.path("home/.skillc/skills/x")).unwrap();
        let path = world.path("home/.skillc/skills/x");
        check_error(
            &world,
            "x",
            &format!("E010 not a valid skill: '{}' (missing SKILL.md)", path.display()),
        );
        fs::create_dir(world.path("project/x")).unwrap();
        check_error(&world, "x", "E010 not a valid skill: 'x' (missing SKILL.md)");
        // A valid skill in a later store still wins.
        world.skill("home/.skillc/skills/x");
        check(&world, "x", "home/.skillc/skills/x", SkillScope::Global, "home/.skillc/runtime/x");
    }

    #[test]
    fn skills_of_the_registry_are_found_by_name_after_the_stores() {
        let world = World::new();
        world.skill("project/.agents/skills/x");
        check(
            &world,
            "x",
            "project/.agents/skills/x",
            SkillScope::Project,
            "project/.skillc/runtime/x",
        );
        world.skill("home/.skillc/skills/x");
        check(&world, "x", "home/.skillc/skills/x", SkillScope::Global, "home/.skillc/runtime/x");
    }

    #[test]
    fn a_skill_is_found_by_the_name_it_declares_and_by_that_of_its_directory() {
        let world = World::new();
        let text = |name: &str| format!("---\nname: {name}\ndescription: Use it.\n---\n");
        world.write("project/.skillc/skills/a/SKILL.md", text("bb"));
        for typed in ["a", "bb"] {
            let (dir, runtime) = ("project/.skillc/skills/a", "project/.skillc/runtime/a");
            check(&world, typed, dir, SkillScope::Project, runtime);
        }
        // The declared name overrides that of a directory in an earlier place.
        world.write("project/.skillc/skills/cc/SKILL.md", text("dd"));
        world.write("home/.skillc/skills/e/SKILL.md", text("cc"));
        check(&world, "cc", "home/.skillc/skills/e", SkillScope::Global, "home/.skillc/runtime/e");
        assert_eq!(names(&world.caller), ["a", "bb", "cc", "dd", "e"]);
    }

    #[test]
    fn a_name_that_two_skills_of_one_place_declare_is_ambiguous() {
        let world = World::new();
        for dir in ["a", "b"] {
            let text = "---\nname: cc\ndescription: Use it.\n---\n";
            world.write(&format!("project/.skillc/skills/{dir}/SKILL.md"), text);
        }
        let error = resolve(&world.caller, "cc").unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), "E100");
        assert!(text.contains("skills/a") && text.contains("skills/b"), "{text}");
        check(
            &world,
            "b",
            "project/.skillc/skills/b",
            SkillScope::Project,
            "project/.skillc/runtime/b",
        );
    }

    #[test]
    fn a_named_root_is_the_only_place() {
        let mut world = World::new();
        world.skill("project/.skillc/skills/x");
        world.skill("elsewhere/y");
        world.caller.named_root = Some(world.path("elsewhere"));
        check(&world, "y", "elsewhere/y", SkillScope::Project, "project/.skillc/runtime/y");
        check_error(&world, "x", "E001 skill 'x' not found");
    }

    #[test]
    fn no_name_leads_out_of_a_store() {
        let world = World::new();
        world.skill("home/.skillc/other/x");
        fs::create_dir_all(world.path("home/.skillc/skills")).unwrap();
        for typed in ["../other/x", "a/../../other/x", "..", "/"] {
            assert!(resolve(&world.caller, typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_path_outside_stores_uses_the_global_store_without_a_project() {
        let mut world = World::new();
        world.skill("elsewhere/x");
        world.caller.cwd = world.path("elsewhere");
        check(&world, "x", "elsewhere/x", SkillScope::Global, "home/.skillc/runtime/x");
        world.caller.cwd = world.path("elsewhere/x");
        check(&world, ".", "elsewhere/x", SkillScope::Global, "home/.skillc/runtime/x");
    }

    #[test]
    fn a_path_into_a_store_uses_the_runtime_directory_of_that_store() {
        let mut world = World::new();
        world.skill("home/.skillc/skills/x");
        world.skill("other/.skillc/skills/y");
        world.caller.cwd = world.path("project");
        let typed = world.path("home/.skillc/skills/x").display().to_string();
        check(
            &world,
            &typed,
            "home/.skillc/skills/x",
            SkillScope::Global,
            "home/.skillc/runtime/x",
        );
        check(
            &world,
            "../other/.skillc/skills/y",
            "other/.skillc/skills/y",
            SkillScope::Project,
            "other/.skillc/runtime/y",
        );
    }
}
