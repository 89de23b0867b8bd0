//! Tests the files that skill commands leave: who may read them, what a kill leaves, which links
//! stay.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::skills::Skills;

/// Runs `kb skill` in the project under another umask.
#[track_caller]
fn run_under(skills: &Skills, umask: &str, args: &[&str]) {
    let mut command = skills.command(args);
    command.current_dir(skills.env.path("project"));
    skills.env.finish_under(umask, &command).expect(0);
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns everything below a folder, and the folder itself.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        at += 1;
        if path.is_dir() && !path.is_symlink() {
            found.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Makes a skill outside the stores.
fn loose(skills: &Skills, text: &str) {
    let text = format!("---\nname: loose\ndescription: d\n---\n# Loose\n{text}\n");
    skills.env.write("project/incoming/SKILL.md", text);
    skills.env.write("project/incoming/run.sh", "true\n");
    set_mode(&skills.env.path("project/incoming/run.sh"), 0o755);
}

#[test]
fn only_the_owner_can_read_stores_indexes_and_logs_whatever_the_umask() {
    for umask in ["022", "000"] {
        let skills = Skills::new();
        loose(&skills, "words");
        run_under(&skills, umask, &["build", "./incoming", "--import"]);
        run_under(&skills, umask, &["build", "./incoming", "--import", "--global"]);
        run_under(&skills, umask, &["init", "fresh"]);
        run_under(&skills, umask, &["search", "loose", "words"]);
        let made = ["runtime", "skills/loose", "skills/fresh"];
        let made = made.map(|name| skills.env.path("project/.skillc").join(name));
        for path in
            made.iter().chain([&skills.env.path(".skillc")]).flat_map(|path| all_below(path))
        {
            let is_private = mode(&path) & 0o077 == 0;
            assert!(is_private, "umask {umask}: {} is {:o}", path.display(), mode(&path));
        }
        let script = skills.env.path("project/.skillc/skills/loose/run.sh");
        assert_eq!(mode(&script), 0o700, "it can still be run");
        assert!(skills.env.path("project/.skillc/runtime/loose/.skillc-meta/logs.db").exists());
    }
}

#[test]
fn the_next_build_restricts_files_that_an_older_version_left_open() {
    let skills = Skills::built();
    skills.ok(&["search", "tide-guide", "gauge"]);
    let all = all_below(&skills.env.path("project/.skillc/runtime"));
    assert!(all.len() > 6, "{all:?}");
    for path in &all {
        set_mode(path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    skills.ok(&["build", "tide-guide"]);
    skills.ok(&["search", "tide-guide", "gauge"]);
    for path in &all {
        assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
    }
}

/// One of 500 kills lost the skill, and 111 left a draft for good.
#[test]
fn a_killed_import_never_loses_the_skill_and_the_next_one_cleans_up() {
    let skills = Skills::new();
    loose(&skills, "old");
    skills.ok(&["build", "./incoming", "--import"]);
    let sources = skills.env.path("project/.skillc/skills");
    let draft = |number: u32| sources.join(format!(".kb-draft-{number}-0123456789abcdef"));
    // Killed while it copied.
    fs::create_dir_all(draft(1).join("new")).unwrap();
    fs::write(draft(1).join("new/SKILL.md"), "half").unwrap();
    fs::write(draft(1).join("lock"), "").unwrap();
    // Killed before it had locked, or even created, the lock.
    fs::create_dir(draft(2)).unwrap();
    assert!(skills.ok(&["show", "loose", "--section", "Loose"]).stdout.contains("old"));
    loose(&skills, "new");
    skills.ok(&["build", "./incoming", "--import", "--force"]);
    assert_eq!(names(&sources), ["loose", "tide-guide"]);
    // Killed between renaming a file and removing the draft's folder: everything is current.
    let runtime = skills.env.path("project/.skillc/runtime/loose");
    let places = [&sources, &runtime, &runtime.join(".skillc-meta")];
    for folder in places {
        let draft = folder.join(".kb-draft-9-0123456789abcdef");
        fs::create_dir(&draft).unwrap();
        fs::write(draft.join("lock"), "").unwrap();
    }
    skills.ok(&["build", "loose"]);
    for folder in places {
        let has_draft = names(folder).iter().any(|name| name.starts_with(".kb-draft"));
        assert!(!has_draft, "{}", folder.display());
    }

    // Killed between two renames, where the file system cannot swap two names.
    fs::create_dir_all(draft(3).join("old")).unwrap();
    fs::write(draft(3).join("lock"), "").unwrap();
    fs::rename(sources.join("loose"), draft(3).join("old/loose")).unwrap();
    assert!(skills.ok(&["show", "loose", "--section", "Loose"]).stdout.contains("new"));
    assert_eq!(names(&sources), ["loose", "tide-guide"]);
}

#[test]
fn a_link_of_the_users_that_has_the_skills_name_stays() {
    let skills = Skills::built();
    skills.env.write("project/mine/SKILL.md", "mine");
    let place = skills.env.path("project/.claude/skills/tide-guide");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    for original in ["../../mine", "nowhere"] {
        let _ = fs::remove_file(&place);
        symlink(original, &place).unwrap();
        for more in [&[][..], &["--copy"]] {
            let args = [&["build", "tide-guide", "--target", "claude"], more].concat();
            let refused = skills.run(&args).expect(1).stderr;
            let message = format!("is a link to {original}, not to a built skill");
            assert!(refused.contains(&message), "{refused}");
        }
        assert_eq!(place.read_link().unwrap(), Path::new(original));
    }
    // A link that kb made before the project was moved still counts as kb's.
    fs::remove_file(&place).unwrap();
    symlink("/elsewhere/.skillc/runtime/tide-guide", &place).unwrap();
    skills.ok(&["build", "tide-guide", "--target", "claude"]);
    assert_eq!(place.canonicalize().unwrap(), skills.runtime("").canonicalize().unwrap());
    assert_eq!(names(place.parent().unwrap()), ["tide-guide"]);
}

#[test]
fn no_link_in_a_runtime_directory_makes_kb_write_elsewhere() {
    let skills = Skills::built();
    skills.ok(&["search", "tide-guide", "gauge"]);
    let own = [
        skills.index(),
        skills.runtime("SKILL.md"),
        skills.runtime(".skillc-meta/manifest.json"),
        skills.runtime(".skillc-meta/logs.db"),
    ];
    for (number, path) in own.iter().enumerate() {
        let mine = skills.env.write(&format!("mine/{number}"), "mine");
        fs::remove_file(path).unwrap();
        symlink(&mine, path).unwrap();
    }
    skills.ok(&["build", "tide-guide"]);
    skills.ok(&["search", "tide-guide", "gauge"]);
    for number in 0..own.len() {
        let mine = fs::read_to_string(skills.env.path(format!("mine/{number}"))).unwrap();
        assert_eq!(mine, "mine");
    }
}

#[test]
fn a_skill_whose_name_cannot_be_listed_is_not_imported() {
    let skills = Skills::empty();
    for (name, yaml) in
        [("-x", "'-x'"), ("a\u{1b}[31m", "\"a\\e[31m\""), ("a\nb", "\"a\\nb\""), ("A b", "A b")]
    {
        let text = format!("---\nname: {yaml}\ndescription: d\n---\n# Odd\n");
        skills.env.write("project/odd/SKILL.md", text);
        let refused = skills.run(&["build", "./odd", "--import"]).expect(1).stderr;
        assert!(refused.starts_with("error[E100]: "), "{name:?}: {refused}");
        assert!(!refused.contains('\u{1b}'), "{refused:?}");
        assert!(!skills.env.path("project/.skillc/skills").exists(), "{name:?}");
    }
    loose(&skills, "words");
    skills.ok(&["build", "./incoming", "--import"]);
    let list = skills.json(&["list"]);
    assert_eq!(crate::skills::texts(&list["skills"], "name"), ["loose"]);
}
