//! Tests the registry, building and maintaining skills, and the program under the name `skc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use kb_base::text::paths::path_text;

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::skills::{Skills, texts};
use crate::sources::sources;

fn agent_skill(skills: &Skills, name: &str, rest: &str) {
    let text = format!("---\nname: {name}\n{rest}---\n# {name}\n");
    skills.env.write(&format!("project/.agents/skills/{name}/SKILL.md"), text);
}

#[test]
fn the_list_shows_what_is_on_disk_now() {
    let skills = Skills::new();
    agent_skill(
        &skills,
        "deploy",
        "description: Ships it\nversion: 1.10\ncapabilities: [spawn]\ngreekLetter: ε\n",
    );
    agent_skill(&skills, "broken", "description: a: b\n");
    skills
        .env
        .write(".skillc/skills/mine/SKILL.md", "---\nname: mine\ndescription: Of the user\n---\n");
    let output = skills.ok(&["list", "--format", "json"]);
    let path = skills.env.path("project/.agents/skills/broken/SKILL.md");
    let skipped = format!("[kb] skill skipped: {}: ", path.display());
    assert!(
        output.stderr.starts_with(&skipped) && output.stderr.lines().count() == 1,
        "{}",
        output.stderr
    );
    let list = output.json();
    let keys: Vec<&String> = list.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["skills", "total_count", "total", "filtered"]);
    assert_eq!(
        (&list["total_count"], &list["total"], &list["filtered"]),
        (&3.into(), &3.into(), &3.into())
    );
    assert_eq!(texts(&list["skills"], "name"), ["deploy", "mine", "tide-guide"]);
    assert_eq!(texts(&list["skills"], "scope"), ["project", "global", "project"]);
    assert_eq!(texts(&list["skills"], "status"), ["not-built"; 3]);
    assert_eq!(
        texts(&list["skills"], "path"),
        [
            ".agents/skills/deploy/SKILL.md",
            ".skillc/skills/mine/SKILL.md",
            ".skillc/skills/tide-guide/SKILL.md"
        ]
    );
    let deploy = &list["skills"][0];
    let dir = skills.env.path("project/.agents/skills/deploy");
    let runtime = skills.env.path("project/.skillc/runtime/deploy");
    assert_eq!(
        *deploy,
        serde_json::json!({
            "name": "deploy", "version": "1.10", "description": "Ships it", "capabilities": ["spawn"],
            "greek_letter": "ε", "path": ".agents/skills/deploy/SKILL.md", "scope": "project",
            "status": "not-built", "source_path": dir.to_str(), "runtime_path": runtime.to_str(),
        })
    );
    // The table in kb.db is the same.
    assert_eq!(
        skills.env.sql_column("SELECT name FROM skills ORDER BY name"),
        ["deploy", "mine", "tide-guide"]
    );
    fs::remove_dir_all(skills.env.path("project/.agents")).unwrap();
    assert_eq!(texts(&skills.json(&["list"])["skills"], "name"), ["mine", "tide-guide"]);
    assert_eq!(
        skills.env.sql_column("SELECT name FROM skills ORDER BY name"),
        ["mine", "tide-guide"]
    );
}

#[test]
fn capabilities_are_stored_as_a_json_array() {
    let skills = Skills::new();
    agent_skill(&skills, "deploy", "description: Ships it\ncapabilities: [spawn, \"a\\\"b\"]\n");
    agent_skill(&skills, "plain", "description: Has none\n");
    skills.ok(&["list"]);
    let stored =
        skills.env.sql_column("SELECT name || ' ' || capabilities FROM skills ORDER BY name");
    assert_eq!(stored, ["deploy [\"spawn\",\"a\\\"b\"]", "plain []", "tide-guide []"]);
}

#[test]
fn the_list_can_be_filtered() {
    let skills = Skills::built();
    agent_skill(&skills, "alpha", "description: Überall\ncapabilities: [read, write]\n");
    agent_skill(&skills, "beta", "description: Calls alpha\ncapabilities: [readwrite]\n");
    let names = |args: &[&str]| {
        let list = skills.json(&[&["list"], args].concat());
        assert_eq!(list["total"], 3);
        assert_eq!(list["filtered"], list["total_count"]);
        texts(&list["skills"], "name").join(" ")
    };
    assert_eq!(names(&[]), "alpha beta tide-guide");
    assert_eq!(names(&["--search", "ALPHA"]), "alpha beta");
    assert_eq!(names(&["--search", "über"]), "alpha");
    assert_eq!(names(&["--capability", "read"]), "alpha");
    assert_eq!(names(&["--search", "alpha", "--capability", "readwrite"]), "beta");
    assert_eq!(names(&["--search", "", "--capability", ""]), "alpha beta tide-guide");
    assert_eq!(names(&["--scope", "global"]), "");
    assert_eq!(names(&["--scope", "project", "--status", "normal"]), "tide-guide");
    assert_eq!(names(&["--status", "not-built"]), "alpha beta");
    assert_eq!(names(&["--pattern", "*a"]), "alpha beta");
    let limited = skills.json(&["list", "-l", "1"]);
    assert_eq!(
        (texts(&limited["skills"], "name").join(" "), &limited["filtered"]),
        ("alpha".into(), &3.into())
    );
    skills.write("new.md", "# New\n");
    assert_eq!(names(&["--status", "normal"]), "tide-guide");
    assert_eq!(names(&["--status", "normal", "--check-obsolete"]), "");
    assert_eq!(names(&["--status", "obsolete"]), "tide-guide");
    skills.check_error(
        &["list", "--pattern", "["],
        "error[E100]: invalid option: 'pattern [: unclosed character class; missing ']''",
    );
}

#[test]
fn a_named_root_is_used_alone() {
    let skills = Skills::new();
    skills.env.write("elsewhere/one/SKILL.md", "---\nname: one\ndescription: d\n---\n");
    let names = |args: &[&str]| {
        texts(&skills.json(&[&["list"], args].concat())["skills"], "name").join(" ")
    };
    assert_eq!(names(&["--skills-root", "../elsewhere"]), "one");
    let root = skills.env.path("elsewhere");
    let mut command = skills.command(&["list", "--format", "json"]);
    let output = skills.env.finish(command.env("KB_SKILLS_ROOT", root));
    assert_eq!(texts(&output.expect(0).json()["skills"], "name"), ["one"]);
    let output = skills.ok(&["list", "--skills-root", "nowhere", "--format", "json"]);
    assert!(output.stderr.starts_with("[kb] skills root missing"), "{}", output.stderr);
    assert_eq!(output.json()["total"], 0);
    assert_eq!(skills.env.sql_column("SELECT name FROM skills"), ["one"], "nothing is pruned");
}

#[test]
fn without_skills_the_list_is_empty_and_silent() {
    let skills = Skills::empty();
    let output = skills.ok(&["list", "--format", "json"]);
    assert_eq!(output.stderr, "");
    assert_eq!(
        output.json(),
        serde_json::json!({ "skills": [], "total_count": 0, "total": 0, "filtered": 0 })
    );
    assert!(skills.ok(&["list"]).stdout.starts_with("No skills found."));
}

#[test]
fn people_see_a_table() {
    let skills = Skills::built();
    insta::assert_snapshot!(skills.ok(&["list"]).text(), @r"
    SKILL       SCOPE    STATUS  DESCRIPTION
    tide-guide  project  normal  Reads tide gauges. Use when a gauge is to be read or repaire…
    ");
    insta::assert_snapshot!(skills.ok(&["list", "-v"]).text(), @r"
    SKILL       SCOPE    STATUS  SOURCE
    tide-guide  project  normal  [HOME]/project/.skillc/skills/tide-guide
    --- stderr
    [kb] skills loaded: 1, skipped: 0, pruned: 0
    ");
}

#[test]
fn a_database_that_cannot_be_used_ends_the_list() {
    let skills = Skills::new();
    skills.env.write(".kb/kb.db", b"no database".repeat(500));
    let output = skills.run(&["list"]).expect(2);
    assert!(output.stderr.starts_with("error[E999]: the database "), "{}", output.stderr);
}

#[test]
fn building_reports_what_it_made_and_where() {
    let skills = Skills::new();
    insta::assert_snapshot!(skills.ok(&["build", "tide-guide"]).text(), @r"
    Built tide-guide (project)
      Source:  [HOME]/project/.skillc/skills/tide-guide
      Runtime: [HOME]/project/.skillc/runtime/tide-guide
      Index:   new
    ");
    let built = skills.json(&["build", "tide-guide"]);
    assert_eq!((&built["skill"], &built["rebuilt"]), (&"tide-guide".into(), &false.into()));
    let mut names: Vec<String> = files_below(&skills.runtime(""));
    names.sort();
    let index = skills.index().file_name().unwrap().to_str().unwrap().to_owned();
    let meta = |name: &str| format!(".skillc-meta/{name}");
    // Windows locks only files, and the folder was held.
    let lock = cfg!(windows).then(|| meta("kb.lock"));
    let others = [meta("logs.db"), meta("manifest.json"), meta(&index), "SKILL.md".into()];
    assert_eq!(names, lock.into_iter().chain(others).collect::<Vec<_>>());
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(skills.runtime(".skillc-meta/manifest.json")).unwrap())
            .unwrap();
    assert_eq!((&manifest["skill"], &manifest["version"]), (&"tide-guide".into(), &1.into()));
    assert_eq!(manifest["source_hash"], built["source_hash"]);
    assert!(manifest["built_at"].as_str().unwrap().ends_with('Z'));
    let stub = fs::read_to_string(skills.runtime("SKILL.md")).unwrap();
    assert!(
        stub.starts_with("---\nname: \"tide-guide\"\n")
            && stub.contains("`kb skill outline tide-guide`")
    );
    assert!(!stub.contains("twice a day") && !stub.contains(skills.env.path("").to_str().unwrap()));
}

/// Returns the files below a directory, relative to it.
fn files_below(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path_text(path.strip_prefix(dir).unwrap()));
            }
        }
    }
    found
}

#[test]
fn building_leaves_the_source_as_it_is() {
    let skills = Skills::new();
    let state = || {
        let mut files = files_below(&skills.path(""));
        files.sort();
        let read = |file: &String| {
            let path = skills.path(file);
            (file.clone(), fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
        };
        files.iter().map(read).collect::<Vec<_>>()
    };
    let before = state();
    skills.ok(&["build", "tide-guide"]);
    skills.ok(&["search", "tide-guide", "gauge"]);
    assert_eq!(state(), before);
}

#[test]
fn skills_that_cannot_be_built_are_reported() {
    let skills = Skills::new();
    for (head, field) in [
        ("---\ndescription: d\n---\n", "name"),
        ("---\nname: x\n---\n", "description"),
        ("---\nname: x\ndescription: ''\n---\n", "description"),
        ("# no front matter\n", "name"),
    ] {
        skills.write("SKILL.md", head);
        let expected = format!("error[E011]: missing frontmatter field '{field}' in SKILL.md");
        skills.check_error(&["build", "tide-guide"], &expected);
    }
    skills.write("SKILL.md", crate::skills::GUIDE);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", skills.path("broken")).unwrap();
        std::os::unix::fs::symlink("SKILL.md", skills.path("inside")).unwrap();
        skills.ok(&["build", "tide-guide"]);
        std::os::unix::fs::symlink("/etc", skills.path("references/out")).unwrap();
        skills.check_error(
            &["build", "tide-guide"],
            "error[E012]: path escapes skill root: 'references/out'",
        );
    }
    fs::create_dir(skills.env.path("project/empty")).unwrap();
    skills.check_error(
        &["build", "empty"],
        "error[E010]: not a valid skill: 'empty' (missing SKILL.md)",
    );
    skills.check_error(&["build", "nowhere"], "error[E001]: skill 'nowhere' not found");
}

#[test]
fn a_build_result_never_replaces_a_source() {
    let skills = Skills::new();
    let source = skills.env.path("project/.skillc/skills/tide-guide/SKILL.md");
    let text = fs::read_to_string(&source).unwrap();
    skills.ok(&["build", "tide-guide", "--target", "claude"]);
    let stub = skills.env.path("project/.skillc/runtime/tide-guide/SKILL.md");
    let built = fs::read_to_string(&stub).unwrap();
    for args in [
        &["build", ".claude/skills/tide-guide"][..],
        &["build", ".claude/skills/tide-guide", "--import", "--force"],
        &["build", "tide-guide", "--target", ""],
    ] {
        let refused = skills.run(args).expect(1).stderr;
        assert!(refused.contains("E100"), "{args:?}: {refused}");
    }
    assert_eq!(fs::read_to_string(&source).unwrap(), text);
    assert_eq!(fs::read_to_string(&stub).unwrap(), built);
}

#[test]
fn building_repairs_an_index_that_lost_a_table() {
    for table in ["sections", "headings"] {
        let skills = Skills::built();
        let db = rusqlite::Connection::open(skills.index()).unwrap();
        db.execute_batch(&format!("DROP TABLE {table}")).unwrap();
        drop(db);
        let built = skills.ok(&["build", "tide-guide"]).stdout;
        assert!(built.contains("Index:   new"), "{table}: {built}");
        skills.ok(&["show", "tide-guide", "--section", "Reading"]);
        assert!(skills.ok(&["build", "tide-guide"]).stdout.contains("up to date"));
    }
}

#[cfg(unix)]
#[test]
fn file_names_do_not_control_the_terminal() {
    let skills = Skills::new();
    skills.env.write("project/odd/SKILL.md", "---\nname: odd\ndescription: d\n---\n# Odd\n");
    skills.env.write("project/odd/a\u{1b}[31mb\nSKILL2.md.md", "# Head\n\ntide gauge\n");
    skills.ok(&["build", "odd"]);
    for args in [&["sources", "odd"][..], &["outline", "odd"], &["search", "odd", "gauge"]] {
        let shown = skills.ok(args).stdout;
        assert!(!shown.contains('\u{1b}'), "{args:?}: {shown:?}");
        assert!(shown.contains("a\u{fffd}[31mb\u{fffd}SKILL2.md.md"), "{args:?}: {shown:?}");
    }
}

#[test]
fn a_directory_outside_stores_is_built_in_place_or_imported() {
    let skills = Skills::new();
    skills
        .env
        .write("project/loose/SKILL.md", "---\nname: loose\ndescription: d\n---\n# Loose\nwords\n");
    skills.env.write("project/loose/refs/a.md", "# A\n");
    skills.env.write("project/loose/.git/config", "not copied");
    skills.ok(&["build", "loose"]);
    skills.ok(&["search", "loose", "words"]);
    assert!(!skills.env.path("project/.skillc/skills/loose").exists());
    let output = skills.ok(&["build", "./loose", "--import"]);
    assert!(output.stdout.starts_with("Imported ./loose → "), "{}", output.stdout);
    assert_eq!(files_below(&skills.env.path("project/.skillc/skills/loose")).len(), 2);
    skills.env.write("project/loose/refs/b.md", "# B\n");
    skills.check_error(
        &["build", "./loose", "--import"],
        "error[E050]: skill 'loose' already exists",
    );
    let built = skills.json(&["build", "./loose", "--import", "--force"]);
    assert_eq!(built["imported_from"], "./loose");
    assert_eq!(files_below(&skills.env.path("project/.skillc/skills/loose")).len(), 3);
    let entries = fs::read_dir(skills.env.path("project/.skillc/skills")).unwrap();
    assert_eq!(entries.count(), 2, "nothing is left over");
    skills.ok(&["build", "./loose", "--import", "--global"]);
    assert!(skills.env.path(".skillc/skills/loose/SKILL.md").exists());
    assert!(skills.env.path(".skillc/runtime/loose/SKILL.md").exists());
}

#[cfg(unix)]
#[test]
fn a_built_skill_is_deployed_to_agents_only_on_request() {
    let skills = Skills::built();
    assert!(!skills.env.path("project/.claude").exists() && !skills.env.path(".claude").exists());
    let output = skills.ok(&["build", "tide-guide", "--target", "claude,copilot,out"]);
    assert_eq!(output.stdout.matches("(symlink)").count(), 3, "{}", output.stdout);
    let runtime = skills.runtime("").canonicalize().unwrap();
    for place in [".claude/skills", ".github/skills", "out"] {
        let link = skills.env.path("project").join(place).join("tide-guide");
        assert!(link.is_symlink() && link.canonicalize().unwrap() == runtime, "{place}");
    }
    skills.ok(&["build", "tide-guide", "-t", "claude", "--copy"]);
    let copy = skills.env.path("project/.claude/skills/tide-guide");
    assert!(!copy.is_symlink());
    let mut names = files_below(&copy);
    names.sort();
    assert_eq!(names, [".skillc-meta/manifest.json", "SKILL.md"]);
    // Its own copy is replaced; anything else is kept.
    skills.ok(&["build", "tide-guide", "-t", "claude", "--copy"]);
    skills.env.write("project/.cursor/skills/tide-guide/notes.md", "mine");
    let output = skills.run(&["build", "tide-guide", "-t", "cursor"]).expect(1);
    assert!(
        output.stderr.starts_with("error[E100]: invalid option: 'target cursor: "),
        "{}",
        output.stderr
    );
    assert!(skills.env.path("project/.cursor/skills/tide-guide/notes.md").exists());
    // A skill of the user's is deployed below the home.
    skills.env.write(".skillc/skills/mine/SKILL.md", "---\nname: mine\ndescription: d\n---\n");
    skills.ok(&["build", "mine", "-t", "claude"]);
    assert!(skills.env.path(".claude/skills/mine").is_symlink());
}

#[test]
fn a_skill_becomes_part_of_the_knowledge_base() {
    let skills = Skills { env: TestEnv::new() };
    fs::create_dir_all(skills.env.path("project/.skillc")).unwrap();
    skills.write("SKILL.md", crate::skills::GUIDE);
    skills.write("references/parts.md", crate::skills::PARTS);
    skills.write("scripts/run.py", "print('not Markdown')\n");
    skills.write("empty.md", "");
    let built = skills.json(&["build", "tide-guide", "--ingest"]);
    let ingested = &built["ingested"];
    assert_eq!((&ingested["added"], &ingested["failed"]), (&2.into(), &0.into()));
    assert_eq!(ingested["tag"], "skill:tide-guide");
    skills.env.write("notes.md", "# Notes\n\nThe lamp is on the shelf.\n");
    skills.env.ok(&["add", "notes.md"]);
    let answer = skills.env.json(&["search", "where is the lamp"]);
    let paths: Vec<&str> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["source"]["path"].as_str().unwrap())
        .collect();
    assert!(
        paths.iter().any(|path| path.ends_with("notes.md"))
            && paths.iter().any(|path| path.ends_with("SKILL.md")),
        "{paths:?}"
    );
    let only = skills.env.json(&["search", "lamp", "--tags", "skill:tide-guide"]);
    assert_eq!(only["results"][0]["source"]["tags"], serde_json::json!(["skill:tide-guide"]));
    assert!(
        only["results"].as_array().unwrap().len() < answer["results"].as_array().unwrap().len()
    );
    let again = skills.json(&["build", "tide-guide", "--ingest"]);
    assert_eq!(
        (&again["ingested"]["added"], &again["ingested"]["skipped"]),
        (&0.into(), &2.into())
    );
}

#[test]
fn accesses_are_counted() {
    let skills = Skills::built();
    skills.ok(&["show", "tide-guide", "--section", "Reading"]);
    skills.ok(&["open", "tide-guide", "ferry.txt"]);
    skills.run(&["open", "tide-guide", "missing"]).expect(1);
    skills.ok(&["search", "tide-guide", "gauge"]);
    skills.ok(&["outline", "tide-guide"]);
    skills.ok(&["lint", "tide-guide"]);
    let stats = |group: &str| skills.json(&["stats", "tide-guide", "--group-by", group]);
    let summary = stats("summary");
    let keys: Vec<&String> = summary.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["skill", "skill_path", "query", "filters", "period", "data"]);
    let expected = serde_json::json!({
        "total_accesses": 7, "unique_sections": 1, "unique_files": 2, "error_count": 1,
    });
    assert_eq!(summary["data"], expected);
    assert_eq!(
        summary["filters"],
        serde_json::json!({ "since": null, "until": null, "projects": [] })
    );
    assert!(
        summary["period"]["start"].as_str().unwrap() <= summary["period"]["end"].as_str().unwrap()
    );
    assert_eq!(
        stats("sections")["data"],
        serde_json::json!([{ "section": "Reading", "file": "SKILL.md", "count": 1 }])
    );
    assert_eq!(
        stats("files")["data"],
        serde_json::json!([{ "file": "SKILL.md", "count": 1 }, { "file": "ferry.txt", "count": 1 }])
    );
    let commands = &stats("commands")["data"];
    assert_eq!(
        (&commands["build"], &commands["open"], &commands["stats"]),
        (&1.into(), &2.into(), &3.into())
    );
    assert_eq!(
        stats("errors")["data"],
        serde_json::json!([{
            "target": "missing", "command": "open",
            "error": "error[E021]: file not found: 'missing'", "count": 1,
        }])
    );
    assert_eq!(stats("search")["data"], serde_json::json!([{ "query": "gauge", "count": 1 }]));
    assert_eq!(stats("projects")["data"][0]["count"], 13);
    skills.check_error(
        &["stats", "tide-guide", "--group-by", "searches"],
        "error[E030]: invalid query type: 'searches'",
    );
    skills.check_error(
        &["stats", "tide-guide", "--since", "soon"],
        "error[E031]: invalid filter: 'soon'",
    );
    let later = skills.json(&["stats", "tide-guide", "--since", "2999-01-01"]);
    assert_eq!(
        (&later["data"]["total_accesses"], &later["period"]["start"]),
        (&0.into(), &serde_json::Value::Null)
    );
    assert_eq!(later["filters"]["since"], "2999-01-01T00:00:00Z");
}

#[test]
fn a_skill_that_was_never_used_has_zeros() {
    let skills = Skills::new();
    let stats = skills.json(&["stats", "tide-guide"]);
    assert_eq!(stats["data"]["total_accesses"], 0);
    assert_eq!(stats["period"], serde_json::json!({ "start": null, "end": null }));
    insta::assert_snapshot!(Skills::new().ok(&["stats", "tide-guide"]).text(), @r"
    Skill: tide-guide
    Path: [HOME]/project/.skillc/skills/tide-guide
    Query: summary
    Filters: since=<none>, until=<none>, projects=<none>
    Period: start=<none>, end=<none>
    Total accesses: 0
    Unique sections: 0
    Unique files: 0
    Error count: 0
    ");
}

#[test]
fn an_unwritable_log_fails_no_command() {
    let skills = Skills::new();
    skills.env.write("project/.skillc/runtime", "no directory");
    let output = skills.ok(&["outline", "tide-guide"]);
    assert_eq!(output.stderr, "");
    let fallback = skills.env.path("project/.skillc/logs/tide-guide/.skillc-meta/logs.db");
    assert_eq!(skills.sql(&fallback, "SELECT command FROM access_log"), "outline");
    // After an hour it is mentioned, once.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 60 * 60);
    fs::File::options().write(true).open(&fallback).unwrap().set_modified(old).unwrap();
    let output = skills.ok(&["open", "tide-guide", "ferry.txt"]);
    assert_eq!(
        output.stderr,
        "warning[W003]: stale local logs for 'tide-guide'; run 'kb skill sync' to upload\n"
    );
    assert_eq!(output.stdout, "The ferry leaves at nine.\n");
    // It is synced as soon as the directory is writable.
    fs::remove_file(skills.env.path("project/.skillc/runtime")).unwrap();
    assert_eq!(skills.ok(&["sync", "--dry-run"]).stdout, "Would sync 2 entries for 'tide-guide'\n");
    let before = fs::read(&fallback).unwrap();
    assert_eq!(
        skills.ok(&["sync"]).stdout,
        "Synced 2 entries for 'tide-guide' (local logs removed)\n"
    );
    assert!(!skills.env.path("project/.skillc/logs").exists());
    // Only new entries are counted.
    skills.env.write("project/.skillc/logs/tide-guide/.skillc-meta/logs.db", before);
    assert_eq!(
        skills.ok(&["sync"]).stdout,
        "Synced 0 entries for 'tide-guide' (local logs removed)\n"
    );
    assert_eq!(skills.ok(&["sync"]).stdout, "No local logs to sync\n");
    skills.check_error(&["sync", "tide-guide"], "error[E040]: no local logs found");
    assert_eq!(skills.json(&["stats", "tide-guide"])["data"]["total_accesses"], 2);
    // No log can be written at all.
    fs::remove_dir_all(skills.env.path("project/.skillc/runtime")).unwrap();
    skills.env.write("project/.skillc/runtime", "no directory");
    skills.env.write("project/.skillc/logs", "no directory");
    let output = skills.ok(&["outline", "tide-guide"]);
    assert_eq!(
        output.stderr,
        "warning[W002]: logging disabled; run 'kb skill sync' after session to merge logs\n"
    );
    assert!(output.stdout.starts_with("SKILL.md\n"));
}

#[test]
fn a_sync_that_fails_for_one_skill_continues() {
    let skills = Skills::new();
    let garbage = "not a database, and long enough not to be an empty one";
    skills.env.write("project/.skillc/logs/zzz/.skillc-meta/logs.db", garbage);
    skills.env.write("project/.skillc/runtime", "no directory");
    skills.ok(&["outline", "tide-guide"]);
    let output = skills.run(&["sync"]).expect(1);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert!(lines[0].starts_with("error[E041]: sync destination not writable: '"), "{lines:?}");
    assert!(lines[1].starts_with("error[E042]: sync source not readable: '"), "{lines:?}");
}

#[test]
fn lint_reports_findings() {
    let skills = Skills::new();
    let output = skills.ok(&["lint", "tide-guide"]);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("Lint passed: no issues found\n", "")
    );
    skills.write("old.md", "## Old\n[x](missing.md)\n");
    let output = skills.run(&["lint", "tide-guide"]).expect(1);
    insta::assert_snapshot!(output.text(), @r"
    Lint complete: 1 error(s), 2 warning(s)
    --- stderr
    old.md: warning[W300]: SKL401 no-orphans: orphaned file: 'old.md'
    old.md:1: warning[W300]: SKL204 heading-first-h1: first heading is H2, expected H1
    old.md:2: error[E300]: SKL301 link-file-exists: link target not found: 'missing.md'
    --- status 1
    ");
    let linted = skills.run(&["lint", "tide-guide", "--format", "json"]).expect(1).json();
    assert_eq!(
        (&linted["errors"], &linted["warnings"], &linted["skipped"]),
        (&1.into(), &2.into(), &false.into())
    );
    assert_eq!(texts(&linted["diagnostics"], "rule"), ["SKL401", "SKL204", "SKL301"]);
    skills.ok(&["build", "tide-guide"]);
    let output = skills.ok(&["lint", ".skillc/runtime/tide-guide"]);
    assert_eq!(output.stdout, "info: skipping compiled skill 'tide-guide'\n");
}

#[test]
fn init_makes_a_skill_that_works() {
    let skills = Skills::empty();
    let output = skills.ok(&["init", "new-skill"]);
    let path = skills.env.path("project/.skillc/skills/new-skill");
    assert_eq!(output.stdout, format!("Created project skill 'new-skill' at {}\n", path.display()));
    skills.ok(&["lint", "new-skill"]);
    skills.ok(&["build", "new-skill"]);
    assert_eq!(skills.ok(&["outline", "new-skill"]).stdout, "SKILL.md\n  # New Skill\n");
    skills.check_error(&["init", "new-skill"], "error[E050]: skill 'new-skill' already exists");
    let output = skills.run(&["init", "../escape"]).expect(1);
    assert!(
        output.stderr.starts_with("error[E100]: invalid option: 'name '../escape'"),
        "{}",
        output.stderr
    );
    assert!(!skills.env.path("project/.skillc/escape").exists());
    let made = skills.json(&["init", "mine", "--global"]);
    let path = skills.env.path(".skillc/skills/mine");
    assert_eq!(
        made,
        serde_json::json!({ "name": "mine", "scope": "global", "path": path.to_str() })
    );
    for _ in 0..2 {
        skills.run_in("fresh", &["init"]).expect(0);
        assert!(skills.env.path("fresh/.skillc/skills").is_dir());
    }
}

#[test]
fn the_program_is_skc_under_its_other_name() {
    let skills = Skills::new();
    let output = skills.skc(&["search", "tide-guide", "gauge"]).expect(1);
    assert_eq!(
        output.stderr,
        "error[E002]: search index unusable; run 'skc build tide-guide' to rebuild\n"
    );
    let output = skills.skc(&["build", "tide-guide"]).expect(0);
    assert!(output.stdout.starts_with("Built tide-guide (project)\n"), "{}", output.stdout);
    let stub = fs::read_to_string(skills.runtime("SKILL.md")).unwrap();
    assert!(stub.contains("`skc show tide-guide --section"), "{stub}");
    assert!(stub.contains("`skc_outline`") && !stub.contains("`skill_"), "{stub}");
    let empty = Skills::empty().skc(&["list"]).expect(0);
    assert_eq!(empty.stdout, "No skills found. `skc init NAME` creates one.\n");
    let theirs = skills.skc(&["search", "tide-guide", "gauge", "-o", "json"]).expect(0);
    assert_eq!(theirs.stdout, skills.ok(&["search", "tide-guide", "gauge", "-o", "json"]).stdout);
    for args in [
        &["list", "--scope", "all", "--status", "all", "-l", "5", "-p", "*", "--check-obsolete"][..],
        &["outline", "tide-guide", "--level", "2"],
        &["show", "tide-guide", "--section", "Reading", "--file", "SKILL.md", "--max-lines", "2"],
        &["open", "tide-guide", "SKILL.md", "--max-lines", "2"],
        &["sources", "tide-guide", "--depth", "1", "--dir", "references", "-l", "9", "-p", "*"],
        &["stats", "tide-guide", "--group-by", "search", "--since", "2020-01-01", "--project", "."],
        &["lint", "tide-guide", "--force"],
        &["-v", "sync", "--dry-run"],
        &["init"],
        &["--help"],
        &["show", "--help"],
        &["--version"],
    ] {
        skills.skc(args).expect(0);
    }
    assert!(skills.skc(&["--help"]).stdout.contains("Usage: skc "));
    assert!(skills.skc(&["--version"]).stdout.starts_with("skc "));
    // Errors are lines for everyone: skc's scripts expect that.
    let output = skills.skc(&["open", "tide-guide", "missing", "--max-lines", "1"]).expect(1);
    assert_eq!(output.stderr, "error[E021]: file not found: 'missing'\n");
    let output = skills.skc(&["search", "nowhere", "x", "--format", "json"]).expect(1);
    assert_eq!(output.stderr, "error[E001]: skill 'nowhere' not found\n");
}

#[test]
fn verbose_prints_where_things_are() {
    let skills = Skills::new();
    insta::assert_snapshot!(skills.ok(&["-v", "outline", "tide-guide", "--level", "1"]).text(), @r"
    SKILL.md
      # Tide Guide

    references/parts.md
      # Parts
    --- stderr
    source: [HOME]/project/.skillc/skills/tide-guide
    runtime: [HOME]/project/.skillc/runtime/tide-guide
    ");
}

#[test]
fn kbs_own_skill_file_is_a_good_skill() {
    let skills = Skills::empty();
    skills.ok(&["install", "--target", ".skillc/skills"]);
    // Without the version, which lint does not know.
    let page =
        |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    skills.env.write("project/.skillc/skills/kb/SKILL.md", page("SKILL.md"));
    let output = skills.ok(&["lint", "kb"]);
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("Lint passed: no issues found\n", "")
    );
    skills.ok(&["build", "kb"]);
    let answer = skills.json(&["search", "kb", "score threshold"]);
    assert!(!answer["results"].as_array().unwrap().is_empty());
    // Its references are those of the repository.
    for name in ["commands", "json", "skills"] {
        let path = format!("references/{name}.md");
        assert_eq!(skills.ok(&["open", "kb", &path]).stdout, page(&path));
    }
    for heading in texts(&skills.json(&["outline", "kb"]), "heading") {
        let shown = skills.ok(&["show", "kb", "--section", &heading]).stdout;
        assert!(shown.lines().next().unwrap().ends_with(&heading), "{heading}");
    }
    assert_eq!(texts(&skills.json(&["list"])["skills"], "name"), ["kb"]);
}

#[cfg(unix)]
#[test]
fn the_makefile_makes_the_link() {
    let makefile = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Makefile")).unwrap();
    let install = makefile.split("\ninstall: ").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(install.contains("ln -sf kb ") && install.contains("/skc"), "{install}");
    // A link of that name is the program.
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("skc");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kb"), &link).unwrap();
    let output = Command::new(link).arg("--version").env_clear().output().unwrap();
    assert!(output.stdout.starts_with(b"skc "));
}

#[test]
fn no_skill_command_uses_the_network() {
    let skills = Skills::built();
    for args in [&["list"][..], &["search", "tide-guide", "gauge"], &["stats", "tide-guide"]] {
        skills.ok(args);
    }
    assert!(!skills.env.asked_python());
}

/// Every skill in the data next to this checkout: 36 from three public collections.
#[test]
fn all_real_skills_load_build_outline_and_search() {
    let what = "all_real_skills_load_build_outline_and_search";
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archives = manifest_dir.ancestors().map(|folder| folder.join("shared/data/skills.tar.zst"));
    let Some(archive) = archives.into_iter().find(|path| path.exists()) else {
        return left_out("skills", what);
    };
    let skills = Skills::empty();
    let dir = skills.env.path("project");
    let unpack =
        Command::new("tar").arg("--zstd").arg("-xf").arg(archive).arg("-C").arg(&dir).output();
    if !unpack.is_ok_and(|status| status.status.success()) {
        return left_out("tar", what);
    }
    let mut num_skills = 0;
    for origin in fs::read_dir(dir.join("skills/files")).unwrap() {
        let origin = origin.unwrap().path();
        let root = origin.to_str().unwrap();
        let on_disk: Vec<_> = fs::read_dir(&origin)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("SKILL.md").exists())
            .collect();
        let output = skills.ok(&["list", "--skills-root", root, "--format", "json"]);
        assert_eq!(output.stderr, "", "none is broken");
        assert_eq!(output.json()["total"], on_disk.len());
        for path in on_disk {
            let path = path.to_str().unwrap();
            skills.ok(&["build", path]);
            let outline = skills.json(&["outline", path]);
            let headings = texts(&outline, "heading");
            assert!(!headings.is_empty(), "{path}");
            // The first heading that has a word in it is found, shown and opened.
            let heading = headings.iter().find(|heading| !heading.contains(" — ")).unwrap();
            skills.ok(&["show", path, "--section", heading]);
            let found = skills.json(&["search", path, "the", "--limit", "1000"]);
            let files = texts(&found["results"], "file");
            assert!(!files.is_empty(), "{path}");
            skills.ok(&["open", path, &files[0]]);
            num_skills += 1;
        }
    }
    assert_eq!(num_skills, 36);
}

#[test]
fn kbs_own_skill_is_installed_for_an_agent_and_its_version_is_reported() {
    let env = TestEnv::without_model();
    let install = |args: &[&str]| env.kb(&[&["skill", "install"], args].concat());
    let done = install(&["--format=json"]).expect(0).json();
    let path = env.path(".claude/skills/kb/SKILL.md");
    assert_eq!(done["path"], path.to_str().unwrap());
    assert_eq!(
        (&done["version"], &done["written"]),
        (&env!("CARGO_PKG_VERSION").into(), &true.into())
    );
    assert_eq!(install(&["--format=json"]).expect(0).json()["written"], false);
    let skills = || env.json(&["status", "--format=json"])["agent_skills"].clone();
    assert_eq!(skills()[0]["current"], true);
    assert!(!env.ok(&["status"]).stdout.contains("kb skill install"));

    // A file of another version, or an edited one, is reported and replaced only on request.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\n---\n", "\n---\nMine.\n", 1)).unwrap();
    assert_eq!(skills()[0]["current"], false);
    let status = env.ok(&["status"]).stdout;
    assert!(status.contains("`kb skill install` replaces it"), "{status}");
    let refused = install(&["--format=json"]).expect(1).json_error();
    assert_eq!(
        (&refused["code"], &refused["fix"]),
        (&"E100".into(), &"`--yes` replaces it".into())
    );
    install(&["--yes"]).expect(0);
    assert_eq!(skills()[0]["current"], true);
    // A reference is as the skill itself; a missing one is written without a question.
    let reference = env.path(".claude/skills/kb/references/json.md");
    fs::write(&reference, "Mine.\n").unwrap();
    assert_eq!(skills()[0]["current"], false);
    let refused = install(&["--format=json"]).expect(1).json_error();
    let named = format!(" {}'", reference.display());
    assert!(refused["error"].as_str().unwrap().ends_with(&named), "{refused}");
    assert_eq!(fs::read_to_string(&reference).unwrap(), "Mine.\n");
    fs::remove_file(&reference).unwrap();
    assert_eq!(install(&["--format=json"]).expect(0).json()["written"], true);
    assert_eq!(skills()[0]["current"], true);

    // Other agents, and any directory; an installed skill is like any other.
    install(&["--target", "codex"]).expect(0);
    assert_eq!(skills().as_array().unwrap().len(), 2);
    let told = install(&["--target", "./agents"]).expect(0).stdout;
    assert!(told.contains("AGENTS.md") && told.contains("kb search"), "{told}");
    env.kb(&["skill", "lint", "agents/kb"]).expect(0);
    install(&["--target", "agents"]).expect(0);
    assert!(env.path(".agents/skills/kb/SKILL.md").exists());
    let refused = install(&["--target", "cluade"]).expect(1).stderr;
    assert!(
        refused.contains("unknown agent `cluade`") && refused.contains("./cluade"),
        "{refused}"
    );
}

#[test]
fn statements_about_skills_are_constants() {
    let mut num_files = 0;
    for source in sources() {
        if !source.is_in(&["store/skills/mod.rs", "store/skills/log.rs", "store/skills/index"]) {
            continue;
        }
        num_files += 1;
        for (at, _) in source.code.match_indices("format!(") {
            let made = source.code[at..].split(';').next().unwrap();
            let words = ["SELECT", "INSERT", "UPDATE", "DELETE"];
            let is_sql = words.iter().any(|word| made.contains(word));
            assert!(!is_sql, "{} puts a statement together: {made}", source.path);
        }
    }
    assert!(num_files >= 3);
}

/// The codes of skill commands.
const SKILL_CODES: [&str; 23] = [
    "E001", "E002", "E003", "E004", "E010", "E011", "E012", "E020", "E021", "E022", "E030", "E031",
    "E040", "E041", "E042", "E050", "E100", "E300", "E999", "W001", "W002", "W003", "W300",
];

#[test]
fn codes_of_skill_commands_are_those_of_the_table() {
    let mut found = BTreeSet::new();
    for source in sources() {
        // `\u{E000}` is a character and no code.
        let code = source.code.replace("\\u{", "\\u");
        for word in code.split(|letter: char| !letter.is_ascii_alphanumeric()) {
            let is_code = word.len() == 4
                && word.starts_with(['E', 'W'])
                && word[1..].bytes().all(|digit| digit.is_ascii_digit());
            if is_code {
                found.insert(word.to_owned());
            }
        }
    }
    assert_eq!(found, SKILL_CODES.map(str::to_owned).into());
}
