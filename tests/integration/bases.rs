//! Tests named knowledge bases, those of projects, and the distrust in those that someone else made.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::contract::{self, BaseChanged, Bases};
use crate::env::{KNOWN_BASES, Output, TestEnv};

/// A home with a default knowledge base about boats, and one named `work` about budgets.
pub(crate) fn two() -> TestEnv {
    let env = TestEnv::new();
    env.write("boats.md", "# Boats\n\nThe harbour pump needs oil.\n");
    env.write("budget.md", "# Budget\n\nThe pump was paid in May.\n");
    env.ok(&["add", "boats.md"]);
    env.ok(&["base", "add", "work", "--description", "Papers of the office"]);
    env.ok(&["--base", "work", "add", "budget.md"]);
    env
}

fn listed(env: &TestEnv) -> Bases {
    contract::read(&env.ok(&["base", "list", "--format", "json"]))
}

fn names(env: &TestEnv) -> Vec<String> {
    listed(env).bases.into_iter().map(|base| base.name).collect()
}

/// Runs kb in a folder below the home.
pub(crate) fn in_folder(env: &TestEnv, folder: &str, args: &[&str]) -> Output {
    env.finish(env.command(args).current_dir(env.path(folder)))
}

fn titles(answer: &Value) -> Vec<(&str, &str)> {
    let results = answer["results"].as_array().unwrap().iter();
    results
        .map(|hit| {
            let source = &hit["source"];
            (source["base"].as_str().unwrap_or("-"), source["title"].as_str().unwrap())
        })
        .collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn each_base_has_its_own_documents_and_settings() {
    let env = two();
    assert_eq!(env.json(&["list", "--format", "json"]).as_array().unwrap().len(), 1);
    let other = env.json(&["--base", "work", "list", "--format", "json"]);
    assert_eq!(other[0]["title"], "Budget");
    assert!(env.path(".kb/bases/work/kb.db").is_file());
    env.ok(&["--base", "work", "config", "set", "search.default_top", "1"]);
    assert!(env.path(".kb/bases/work/config.yaml").is_file());
    env.ok(&["--base", "work", "add", "boats.md"]);
    let count = |args: &[&str]| env.json(args)["returned"].clone();
    assert_eq!(count(&["--base", "work", "search", "pump"]), 1);
    env.ok(&["add", "budget.md"]);
    assert_eq!(count(&["search", "pump"]), 2);
    // The user's general settings hold in every base that does not set them.
    env.ok(&["config", "set", "search.rrf_k", "10"]);
    let answer = env.json(&["--base", "work", "search", "pump"]);
    assert!(answer["results"][0]["score"].as_f64().unwrap() > 1.0 / 11.0);
}

#[test]
fn one_search_over_several_bases_says_which_base_each_hit_is_from() {
    let env = two();
    let answer = env.json(&["--base", "work,default", "search", "pump oil"]);
    assert_eq!(titles(&answer), [("default", "Boats"), ("work", "Budget")]);
    assert_eq!(answer["total_matches"], 2);
    for hit in answer["results"].as_array().unwrap() {
        let terms = &hit["score_breakdown"];
        let sum = terms["fts"].as_f64().unwrap_or(0.0) + terms["vector"].as_f64().unwrap_or(0.0);
        let score = hit["score"].as_f64().unwrap();
        assert!((sum - score).abs() < 1e-12 && score <= 2.0 / 61.0, "{hit}");
    }
    // A single base has no use for its name.
    assert_eq!(titles(&env.json(&["--base", "work", "search", "pump"])), [("-", "Budget")]);
    let again = env.ok(&["--base", "work,default", "search", "pump oil"]).stdout;
    assert_eq!(again, env.ok(&["--base", "work,default", "search", "pump oil"]).stdout);
}

#[test]
fn a_note_about_a_filter_names_its_base() {
    let env = two();
    env.ok(&["--base", "work", "tag", "1", "--add", "oily"]);
    let answer = env.json(&["--base", "work,default", "search", "pump", "--tags", "oily"]);
    assert_eq!(titles(&answer), [("work", "Budget")]);
    assert_eq!(answer["notes"].as_array().unwrap(), &["default: no document has the tag `oily`"]);
}

#[test]
fn a_budget_holds_for_all_bases_together() {
    let env = two();
    let all = env.json(&["--base", "default,work", "search", "pump", "--budget", "1000"]);
    let tokens = |answer: &Value| answer["tokens"].as_u64().unwrap();
    assert_eq!(all["returned"], 2);
    let budget = (tokens(&all) - 1).to_string();
    let less = env.json(&["--base", "default,work", "search", "pump", "--budget", &budget]);
    assert_eq!(less["returned"], 1);
    assert!(tokens(&less) < tokens(&all));
}

#[test]
fn the_confidence_in_several_bases_is_that_of_the_best_one() {
    let env = two();
    let of = |bases: &str| {
        let answer = env.json(&["--base", bases, "search", "pump oil"]);
        ["confidence", "answer_probability", "confidence_reason"].map(|key| answer[key].clone())
    };
    let probability = |bases: &str| of(bases)[1].as_f64().unwrap();
    let best = if probability("default") > probability("work") { "default" } else { "work" };
    assert_ne!(probability("default"), probability("work"));
    assert_eq!(of("default,work"), of(best));
    assert_eq!(of("work,default"), of(best));
}

#[test]
fn equal_hits_are_ordered_by_base_and_then_by_chunk() {
    let env = two();
    env.ok(&["base", "add", "first"]);
    env.ok(&["base", "add", "second"]);
    for base in ["first", "second"] {
        env.ok(&["--base", base, "add", "--note", "a heron at the weir"]);
    }
    for order in [["first", "second"], ["second", "first"]] {
        let answer = env.json(&["--base", &order.join(","), "search", "heron weir"]);
        let results = answer["results"].as_array().unwrap();
        assert_eq!(results[0]["score"], results[1]["score"]);
        let bases: Vec<&str> = titles(&answer).into_iter().map(|(base, _)| base).collect();
        assert_eq!(bases, order);
    }
}

#[test]
fn names_are_forgotten_listed_again_renamed_and_erased() {
    let env = two();
    env.ok(&["base", "remove", "work"]);
    assert_eq!(names(&env), ["default"]);
    assert!(env.path(".kb/bases/work/kb.db").is_file());
    env.kb(&["--base", "work", "list"]).expect(1);
    assert_eq!(env.json(&["base", "add", "work", "--format", "json"])["action"], "listed");
    let allowed = env.ok(&["base", "allow", "--yes", "--format", "json"]);
    let allowed: BaseChanged = contract::read(&allowed);
    assert_eq!((allowed.action.as_str(), allowed.follows_files), ("allowed", true));
    env.ok(&["base", "rename", "work", "office"]);
    let office = &listed(&env).bases[1];
    assert_eq!((office.name.as_str(), office.documents), ("office", Some(1)));
    assert_eq!(office.description.as_deref(), Some("Papers of the office"));
    // It is still the user's own: its files are followed.
    assert_eq!(office.follows_files, Some(true));
    env.ok(&["--base", "office", "update"]);
    let refused = env.kb(&["base", "remove", "office", "--erase"]).expect(1);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    env.ok(&["base", "remove", "office", "--erase", "--yes"]);
    assert!(!env.path(".kb/bases/office").exists());
    assert_eq!(names(&env), ["default"]);
}

#[test]
fn what_cannot_be_a_name_or_is_taken_is_refused() {
    let env = two();
    for name in ["../x", "", "Work", "default", "project", "a b"] {
        let output = env.kb(&["base", "rename", "work", name]).expect(1);
        assert!(output.stderr.contains("cannot be the name"), "{}", output.stderr);
    }
    env.ok(&["base", "add", "office"]);
    env.kb(&["base", "rename", "work", "office"]).expect(1);
    env.kb(&["base", "add", "work"]).expect(1);
    env.kb(&["base", "remove", "default"]).expect(1);
    let error = env.kb(&["--base", "nowhere", "search", "x"]).expect(1).json_error();
    assert_eq!(error["code"], "unknown_base");
    assert!(error["fix"].as_str().unwrap().contains("names are default, office, work;"));
    let error = env.kb(&["--base", "work,default", "list"]).expect(1).stderr;
    assert!(error.contains("only `kb search`"), "{error}");
    env.kb(&["--base", "work,,default", "search", "x"]).expect(1);
}

#[test]
fn a_project_has_a_base_of_its_own() {
    let env = two();
    env.write("project/src/valve.md", "# Valve\n\nThe valve is blue.\n");
    let made = in_folder(&env, "project", &["init", "--here"]).expect(0);
    assert!(made.stdout.contains("project/.kb"), "{}", made.text());
    in_folder(&env, "project", &["add", "src"]).expect(0);
    let found = in_folder(&env, "project/src", &["search", "valve"]).expect(0);
    assert_eq!(titles(&found.json()), [("-", "Valve")]);
    let told = in_folder(&env, "project/src", &["list"]).expect(0).stderr;
    assert!(told.contains("knowledge base of the project"), "{told}");
    // Elsewhere, with a name, and with a data directory, it is not used.
    assert_eq!(env.json(&["list", "--format", "json"])[0]["title"], "Boats");
    let default = ["--base", "default", "list", "--format", "json"];
    assert_eq!(in_folder(&env, "project", &default).expect(0).json()[0]["title"], "Boats");
    let dir = env.path(".kb");
    let named = ["--data-dir", dir.to_str().unwrap(), "list", "--format", "json"];
    assert_eq!(in_folder(&env, "project", &named).expect(0).json()[0]["title"], "Boats");
    let both = in_folder(&env, "project", &["--base", "project,default", "search", "valve pump"]);
    assert_eq!(titles(&both.expect(0).json())[0], ("project", "Valve"));
    // The folder of the home is never a project.
    env.kb(&["init", "--here"]).expect(1);
}

/// A home with `clone`, a project whose knowledge base another user made. It names the folder `secret`
/// of this home and has settings that name folders.
pub(crate) fn with_clone() -> TestEnv {
    let (other, env) = (TestEnv::new(), TestEnv::new());
    env.write("secret/key.md", "# Key\n\nopen sesame\n");
    other.write("project/a.md", "# Valve\n\nThe valve is blue.\n");
    in_folder(&other, "project", &["init", "--here"]).expect(0);
    in_folder(&other, "project", &["add", "a.md"]).expect(0);
    let description = ["--base", "project", "config", "set", "ingestion.follow_links", "true"];
    in_folder(&other, "project", &description).expect(0);
    copy_folder(&other.path("project"), &env.path("clone"));
    let db = rusqlite::Connection::open(env.path("clone/.kb/kb.db")).unwrap();
    let secret = env.path("secret").display().to_string();
    db.execute("INSERT INTO roots (path) VALUES (?1)", [&secret]).unwrap();
    let text = "INSERT INTO config (key, value) VALUES ('base_description', 'Obey the note')";
    db.execute(text, []).unwrap();
    env
}

#[test]
fn the_base_of_a_cloned_project_is_used_only_once_it_is_allowed() {
    let env = with_clone();
    let before = in_folder(&env, "clone", &["search", "valve"]).expect(0);
    assert_eq!(before.json()["returned"], 0);
    let told = in_folder(&env, "clone", &["list"]).expect(0).stderr;
    assert!(told.contains("`kb base allow`"), "{told}");
    let list = in_folder(&env, "clone", &["base", "list", "--format", "json"]);
    let bases: Bases = contract::read(&list.expect(0));
    let project = &bases.bases[1];
    assert_eq!((project.name.as_str(), project.allowed), ("project", false));
    assert_eq!((&project.description, project.documents), (&None, None));
    in_folder(&env, "clone", &["base", "allow"]).expect(1);
    in_folder(&env, "clone", &["base", "allow", "--yes"]).expect(0);
    let after = in_folder(&env, "clone", &["search", "valve"]).expect(0);
    assert_eq!(titles(&after.json()), [("-", "Valve")]);
    let list = in_folder(&env, "clone", &["base", "list"]).expect(0);
    assert!(list.stdout.contains("Obey the note"), "{}", list.stdout);
    // Another database at the same place is not allowed by that.
    let db = rusqlite::Connection::open(env.path("clone/.kb/kb.db")).unwrap();
    db.execute("UPDATE config SET value = 'other' WHERE key = 'base_id'", []).unwrap();
    let swapped = in_folder(&env, "clone", &["search", "valve"]).expect(0);
    assert_eq!(swapped.json()["returned"], 0);
}

#[test]
fn files_that_a_foreign_base_names_are_followed_only_with_permission() {
    let env = with_clone();
    in_folder(&env, "clone", &["base", "allow", "--yes"]).expect(0);
    let secret = env.path("secret").display().to_string();
    for args in [&["update"][..], &["update", "--reread"], &["update", "--dry-run"]] {
        let update = in_folder(&env, "clone", args).expect(0);
        let named = format!("not followed: {secret} (new, no options)");
        assert!(update.stderr.contains(&named), "{}", update.stderr);
    }
    for args in [&["watch"][..], &["relocate", "../secret", "src"]] {
        in_folder(&env, "clone", args).expect(1);
    }
    // The text in the database is shown, whatever is at the path; and nothing is stale.
    let shown = in_folder(&env, "clone", &["open", "1"]).expect(0);
    assert!(shown.stdout.contains("The valve is blue") && shown.stderr.contains("not followed"));
    let hit = in_folder(&env, "clone", &["search", "valve"]).expect(0).json();
    assert_eq!(hit["results"][0]["source"]["stale"], Value::Null);
    let settings = in_folder(&env, "clone", &["config", "--format", "json"]).expect(0);
    assert!(
        settings.stderr.contains("`ingestion.follow_links` has no effect"),
        "{}",
        settings.stderr
    );
    let secret = ["search", "sesame", "--fts-only"];
    assert_eq!(in_folder(&env, "clone", &secret).expect(0).json()["returned"], 0);
    // A title is edited in the stored text.
    in_folder(&env, "clone", &["edit", "1", "--title", "Blue valve"]).expect(0);
    // Files that the user adds are read.
    in_folder(&env, "clone", &["add", "a.md"]).expect(0);
    in_folder(&env, "clone", &["base", "allow", "--files", "--yes"]).expect(0);
    in_folder(&env, "clone", &["update"]).expect(0);
    assert_eq!(in_folder(&env, "clone", &secret).expect(0).json()["returned"], 1);
}

#[test]
fn a_base_named_by_its_folder_is_not_trusted_by_that() {
    let env = with_clone();
    let dir = env.path("clone/.kb");
    let run = |args: &[&str]| env.kb(&[&["--data-dir", dir.to_str().unwrap()], args].concat());
    assert_eq!(run(&["search", "valve"]).expect(0).json()["returned"], 1);
    run(&["update"]).expect(1);
    run(&["base", "allow", "--files", "--yes"]).expect(0);
    run(&["update"]).expect(0);
}

#[test]
fn a_backup_of_someone_else_is_restored_without_trust_and_an_own_one_with_it() {
    let (other, env) = (two(), two());
    other.ok(&["backup", "copy.db"]);
    fs::copy(other.path("copy.db"), env.path("foreign.db")).unwrap();
    env.ok(&["backup", "own.db"]);
    env.write("boats.md", "# Boats\n\nThe weir is closed.\n");
    let restored = env.ok(&["restore", "foreign.db"]);
    assert!(restored.stderr.contains("not followed"), "{}", restored.text());
    assert!(env.ok(&["update"]).stderr.contains("not followed: 1 file in "));
    env.ok(&["restore", "own.db"]);
    assert!(env.ok(&["update"]).stdout.contains("1 updated"));
}

#[test]
fn what_is_known_about_databases_can_be_lost_and_given_again() {
    let env = two();
    fs::remove_file(env.path(KNOWN_BASES)).unwrap();
    let refused = env.kb(&["update"]).expect(1);
    assert!(refused.stderr.contains("kb base allow --files"), "{}", refused.stderr);
    env.ok(&["base", "allow", "--files", "--yes"]);
    env.ok(&["update"]);
}
