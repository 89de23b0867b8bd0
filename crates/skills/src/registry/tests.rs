//! Tests the loader on directories of every kind, and reading from the table.

use std::cell::RefCell;
use std::fs;

use super::super::testing::World;
use super::*;

/// A registry next to a world.
struct Registry {
    world: World,
    store: Store,
    lines: RefCell<Vec<String>>,
}

impl Registry {
    fn new() -> Self {
        let world = World::new();
        let store = Store::open(&world.path("kb.db")).unwrap();
        Self { world, store, lines: RefCell::default() }
    }

    /// Writes a skill below `.agents/skills`, given its front matter.
    fn agent_skill(&self, dir: &str, head: &str) {
        let text = format!("---\n{head}---\n# Body of {dir}\n");
        self.world.write(&format!("project/.agents/skills/{dir}/SKILL.md"), text);
    }

    fn load_from(&mut self, named: Option<&str>) -> Result<LoadReport> {
        self.lines.borrow_mut().clear();
        let roots = roots(&self.world.caller, named.map(Path::new));
        let lines = &self.lines;
        let mut log = |line: &str| lines.borrow_mut().push(line.to_owned());
        Ok(load(&self.world.caller, Some(&mut self.store), &roots, &mut log)?.0)
    }

    /// Loads and compares the counters: loaded, skipped, pruned, on disk.
    #[track_caller]
    fn check(&mut self, expected: [usize; 4]) {
        let report = self.load_from(None).unwrap();
        let found = [report.loaded, report.skipped, report.pruned, report.total_on_disk];
        assert_eq!(found, expected, "{:?}", self.lines);
        assert_eq!(report.loaded + report.skipped, report.total_on_disk);
        assert_eq!(self.store.skills().unwrap().len(), report.loaded);
        assert_eq!(self.lines.borrow().len(), report.skipped);
    }

    fn row(&self, name: &str) -> SkillRow {
        get_skill(&self.store, name).unwrap().unwrap()
    }

    /// Names of the skills that pass a filter.
    fn names(&self, search: &str, capability: &str) -> Vec<String> {
        let filter = SkillFilter {
            search: Some(search.to_owned()),
            capability: Some(capability.to_owned()),
        };
        let skills = list_skills(&self.store, &filter).unwrap();
        skills.into_iter().map(|skill| skill.name).collect()
    }
}

#[test]
fn every_field_is_kept() {
    let mut registry = Registry::new();
    registry.agent_skill(
        "deploy",
        "name: deploy\ndescription: Ships it\nversion: 1.10\nentrypoint: run.sh\n\
         capabilities: [read, spawn]\ngreekLetter: ε\nstatus: active\nround: 7\n",
    );
    registry.check([1, 0, 0, 1]);
    assert_eq!(
        registry.row("deploy"),
        SkillRow {
            name: "deploy".into(),
            description: "Ships it".into(),
            version: Some("1.10".into()),
            entrypoint: Some("run.sh".into()),
            capabilities: vec!["read".into(), "spawn".into()],
            greek_letter: Some("ε".into()),
            body: "# Body of deploy\n".into(),
            source_path: ".agents/skills/deploy/SKILL.md".into(),
            frontmatter_json: "{\"name\":\"deploy\",\"description\":\"Ships it\",\"version\":1.1,\
                \"entrypoint\":\"run.sh\",\"capabilities\":[\"read\",\"spawn\"],\
                \"greekLetter\":\"ε\",\"status\":\"active\",\"round\":7}"
                .into(),
            loaded_at: "2026-01-02T03:04:05Z".into(),
        }
    );
}

#[test]
fn missing_fields_are_null_or_empty() {
    let mut registry = Registry::new();
    registry.agent_skill("a", "name: ab\ndescription: d\ncapabilities:\nversion: ~\n");
    registry.check([1, 0, 0, 1]);
    let row = registry.row("ab");
    assert_eq!((row.version, row.entrypoint, row.greek_letter), (None, None, None));
    assert!(row.capabilities.is_empty());
}

#[test]
fn loading_twice_changes_nothing() {
    let mut registry = Registry::new();
    registry.agent_skill("a", "name: ab\ndescription: d\n");
    registry.agent_skill("b", "name: broken\n");
    registry.check([1, 1, 0, 2]);
    let rows = registry.store.skills().unwrap();
    registry.world.caller.timestamp = "2030-01-01T00:00:00Z".into();
    registry.check([1, 1, 0, 2]);
    assert_eq!(registry.store.skills().unwrap(), rows);
}

#[test]
fn a_changed_skill_is_updated_in_place() {
    let mut registry = Registry::new();
    registry.agent_skill("a", "name: ab\ndescription: old\n");
    registry.check([1, 0, 0, 1]);
    registry.agent_skill("a", "name: ab\ndescription: new\n");
    registry.check([1, 0, 0, 1]);
    assert_eq!(registry.row("ab").description, "new");
}

#[test]
fn only_visible_direct_subdirectories_are_loaded() {
    let mut registry = Registry::new();
    registry.agent_skill("good", "name: good\ndescription: d\n");
    registry.agent_skill(".hidden", "name: hidden\ndescription: d\n");
    registry.agent_skill("good/scripts/deep", "name: deep\ndescription: d\n");
    registry.world.write("project/.agents/skills/README.md", "no directory");
    registry.world.write("project/.agents/skills/empty/notes.md", "no SKILL.md");
    registry.world.write("project/.claude/skills/x/SKILL.md", "---\nname: mirror\n---\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("good", registry.world.path("project/.agents/skills/link")).unwrap();
    registry.check([1, 0, 0, 1]);
}

#[test]
fn each_bad_file_is_one_log_line_and_the_rest_loads() {
    let mut registry = Registry::new();
    registry.agent_skill("good", "name: good\ndescription: d\n");
    let cases: [(&str, &str, &str); 12] = [
        ("b01", "---\ndescription: a: b\n---\n", "invalid frontmatter YAML"),
        ("b02", "# no front matter\n", "file does not start with ---"),
        ("b03", "---\nname: b03\n", "no closing ---"),
        ("b04", "---\nname: b04\n---\n", "missing frontmatter field 'description'"),
        ("b05", "---\ndescription: d\n---\n", "missing frontmatter field 'name'"),
        ("b06", "---\nname: b06\ndescription: ' '\n---\n", "field 'description'"),
        ("b07", "---\nname: Big Name\ndescription: d\n---\n", "other characters"),
        ("b08", "---\nname: -x\ndescription: d\n---\n", "begins or ends with a hyphen"),
        ("b09", "---\nname: b09\ndescription: d\ncapabilities: read\n---\n", "is not a list"),
        ("b10", "---\nname: b10\ndescription: d\ngreekLetter: ω\n---\n", "is not one of αβ"),
        ("b11", "---\nname: b11\ndescription: d\nversion: [1]\n---\n", "version is not text"),
        ("b12", "\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}", "it is not text"),
    ];
    for (dir, text, _) in cases {
        registry.world.write(&format!("project/.agents/skills/{dir}/SKILL.md"), text);
    }
    // The loader treats read errors the same way.
    fs::create_dir_all(registry.world.path("project/.agents/skills/b13/SKILL.md")).unwrap();
    #[cfg(unix)]
    {
        fs::create_dir_all(registry.world.path("project/.agents/skills/b14")).unwrap();
        let link = registry.world.path("project/.agents/skills/b14/SKILL.md");
        std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    }
    registry.check([1, 14, 0, 15]);
    let lines = registry.lines.borrow();
    for ((dir, _, message), line) in cases.iter().zip(lines.iter()) {
        let path = registry.world.path(&format!("project/.agents/skills/{dir}/SKILL.md"));
        let start = format!("[kb] skill skipped: {}: ", path.display());
        assert!(line.starts_with(&start) && line.contains(message), "{line}");
        assert!(!line.contains('\n'));
    }
}

#[test]
fn a_broken_or_missing_skill_loses_its_row() {
    let mut registry = Registry::new();
    for name in ["aa", "bb", "cc"] {
        registry.agent_skill(name, &format!("name: {name}\ndescription: d\n"));
    }
    registry.check([3, 0, 0, 3]);
    registry.agent_skill("bb", "name: bb\n");
    fs::remove_dir_all(registry.world.path("project/.agents/skills/cc")).unwrap();
    registry.check([1, 1, 2, 2]);
    assert!(get_skill(&registry.store, "bb").unwrap().is_none());
    fs::remove_dir_all(registry.world.path("project/.agents")).unwrap();
    registry.check([0, 0, 1, 0]);
}

#[test]
fn a_missing_named_root_is_one_log_line_and_prunes_nothing() {
    let mut registry = Registry::new();
    registry.agent_skill("aa", "name: aa\ndescription: d\n");
    registry.check([1, 0, 0, 1]);
    assert_eq!(registry.load_from(Some("nowhere")).unwrap(), LoadReport::default());
    assert_eq!(registry.lines.borrow().len(), 1);
    assert!(registry.lines.borrow()[0].contains("skills root missing"));
    assert_eq!(registry.store.skills().unwrap().len(), 1);
}

#[test]
fn a_root_that_cannot_be_read_ends_the_pass() {
    let mut registry = Registry::new();
    registry.world.write("project/.agents/skills", "a file");
    assert!(matches!(registry.load_from(None), Err(Error::Io { .. })));
}

#[test]
fn a_named_root_is_relative_to_the_working_directory_and_used_alone() {
    let mut registry = Registry::new();
    registry.agent_skill("aa", "name: aa\ndescription: d\n");
    registry.world.skill("project/own/bb");
    let report = registry.load_from(Some("own")).unwrap();
    assert_eq!((report.loaded, report.total_on_disk), (1, 1));
    assert_eq!(registry.row("bb").source_path, "own/bb/SKILL.md");
    let elsewhere = registry.world.path("elsewhere");
    registry.world.skill("elsewhere/cc");
    registry.load_from(elsewhere.to_str()).unwrap();
    let path = elsewhere.join("cc/SKILL.md").display().to_string();
    assert_eq!(registry.row("cc").source_path, path);
}

#[test]
fn stores_come_before_the_directory_of_agents_and_the_project_wins() {
    let mut registry = Registry::new();
    registry.world.skill("home/.skillc/skills/xx");
    registry.world.skill("home/.skillc/skills/gg");
    registry.world.skill("project/.skillc/skills/xx");
    registry.world.skill("project/.skillc/skills/yy");
    registry.world.skill("project/.agents/skills/yy");
    registry.check([3, 2, 0, 5]);
    assert_eq!(registry.row("xx").source_path, ".skillc/skills/xx/SKILL.md");
    assert_eq!(registry.row("yy").source_path, ".skillc/skills/yy/SKILL.md");
    assert_eq!(registry.row("gg").source_path, ".skillc/skills/gg/SKILL.md");
    let lines = registry.lines.borrow();
    assert!(lines[0].contains("home/.skillc/skills/xx/SKILL.md: "), "{lines:?}");
    assert!(lines[1].contains("project/.agents/skills/yy/SKILL.md: "), "{lines:?}");
}

#[cfg(unix)]
#[test]
fn a_link_in_a_store_is_a_skill() {
    let mut registry = Registry::new();
    registry.world.skill("elsewhere/xx");
    fs::create_dir_all(registry.world.path("project/.skillc/skills")).unwrap();
    let link = registry.world.path("project/.skillc/skills/xx");
    std::os::unix::fs::symlink(registry.world.path("elsewhere/xx"), link).unwrap();
    registry.check([1, 0, 0, 1]);
}

#[test]
fn two_skills_of_one_name_are_one_row() {
    let mut registry = Registry::new();
    registry.agent_skill("b", "name: same\ndescription: of b\n");
    registry.agent_skill("a", "name: same\ndescription: of a\n");
    registry.check([1, 1, 0, 2]);
    assert_eq!(registry.row("same").description, "of a");
}

#[test]
fn names_valid_by_either_rule_load() {
    let mut registry = Registry::new();
    for (dir, name) in [("a", "x"), ("b", "7-zip"), ("c", "a--b"), ("d", "a-")] {
        registry.agent_skill(dir, &format!("name: {name}\ndescription: d\n"));
    }
    registry.check([4, 0, 0, 4]);
}

/// A registry with four skills to filter.
fn filled() -> Registry {
    let mut registry = Registry::new();
    for (name, rest) in [
        ("alpha", "description: Überall nützlich\ncapabilities: [read, write]\n"),
        ("beta", "description: 100% of a_b \\ \"quoted\"\ncapabilities: [readwrite]\n"),
        ("gamma", "description: Calls alpha\ncapabilities: [Read]\n"),
        ("delta", "description: nothing\n"),
    ] {
        registry.agent_skill(name, &format!("name: {name}\n{rest}"));
    }
    registry.check([4, 0, 0, 4]);
    registry
}

#[test]
fn without_a_filter_all_skills_are_listed_in_order() {
    let registry = filled();
    let all = ["alpha", "beta", "delta", "gamma"];
    assert_eq!(registry.names("", ""), all);
    let rows = list_skills(&registry.store, &SkillFilter::default()).unwrap();
    assert_eq!(rows.len(), 4);
}

#[test]
fn the_search_text_matches_names_and_descriptions_ignoring_case() {
    let registry = filled();
    assert_eq!(registry.names("ALPHA", ""), ["alpha", "gamma"]);
    assert_eq!(registry.names("ÜBER", ""), ["alpha"]);
    assert_eq!(registry.names("noth", ""), ["delta"]);
    assert!(registry.names("nowhere", "").is_empty());
}

#[test]
fn a_capability_matches_as_a_full_word_with_its_case() {
    let registry = filled();
    assert_eq!(registry.names("", "read"), ["alpha"]);
    assert_eq!(registry.names("", "Read"), ["gamma"]);
    assert_eq!(registry.names("", "readwrite"), ["beta"]);
    assert!(registry.names("", "rea").is_empty());
}

#[test]
fn both_filters_must_match() {
    let registry = filled();
    assert_eq!(registry.names("alpha", "Read"), ["gamma"]);
    assert!(registry.names("beta", "read").is_empty());
}

#[test]
fn pattern_characters_are_literal() {
    let registry = filled();
    for (search, expected) in
        [("100%", 1), ("%", 1), ("a_b", 1), ("_", 1), ("\\", 1), ("\"", 1), ("a%b", 0), ("'", 0)]
    {
        assert_eq!(registry.names(search, "").len(), expected, "{search}");
    }
    for capability in ["%", "_", "\"", "\\", "\",\"", "'"] {
        assert!(registry.names("", capability).is_empty(), "{capability}");
    }
}

#[test]
fn a_skill_is_found_only_by_its_full_name() {
    let registry = filled();
    assert_eq!(registry.row("alpha").name, "alpha");
    for name in ["", " ", "alph", "ALPHA", "nowhere"] {
        assert!(get_skill(&registry.store, name).unwrap().is_none(), "{name:?}");
    }
}

#[test]
fn a_summary_is_one_line() {
    let report = LoadReport { loaded: 3, skipped: 2, pruned: 1, total_on_disk: 5 };
    assert_eq!(report.summary(), "[kb] skills loaded: 3, skipped: 2, pruned: 1");
}
