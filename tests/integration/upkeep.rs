//! Tests `kb doctor` and `kb update`: damage is reported and repaired, changes are followed, and an
//! unmounted disk is never taken for a deletion.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use serde_json::Value;

use crate::contract::{Doctor, Update, read};
use crate::env::TestEnv;
use crate::word_model::{check_database, find, word_env};

/// Damages the database with plain SQLite.
fn damage(env: &TestEnv, sql: &str) {
    Connection::open(env.database()).unwrap().execute_batch(sql).unwrap();
}

/// Returns verdict and message of the checks of one name.
fn verdicts(report: &Value, name: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    checks
        .filter(|check| check["name"] == name)
        .map(|check| (text(&check["verdict"]), text(&check["message"])))
        .collect()
}

#[test]
fn a_sound_database_on_a_sound_machine_is_reported_as_sound() {
    let env = word_env();
    let human = env.ok(&["doctor"]);
    assert!(human.stdout.ends_with("Sound.\n"), "{}", human.text());
    for name in ["version", "files", "disk", "model", "runtime", "database"] {
        assert!(human.stdout.contains(&format!("ok        {name}")), "{name}: {}", human.stdout);
    }
    let before = fs::read(env.database()).unwrap();
    let exact: Doctor = read(&env.ok(&["doctor", "--format=json"]));
    assert!(exact.sound && exact.checks.iter().any(|check| check.name == "disk"));
    let report = env.json(&["doctor", "--fix", "--format=json"]);
    assert_eq!(
        (&report["sound"], &report["faults"], &report["repaired"]),
        (&true.into(), &0.into(), &0.into())
    );
    assert!(fs::read(env.database()).unwrap() == before, "a sound database is not changed");
    let verdict = &verdicts(&report, "database")[0].1;
    assert!(verdict.starts_with("sound: 3 documents, 3 chunks, 3 vectors"), "{verdict}");
}

#[test]
fn a_new_database_has_no_faults() {
    let env = TestEnv::with_corpus();
    fs::remove_dir_all(env.path(".kb")).unwrap();
    let output = env.ok(&["doctor"]);
    assert!(output.stdout.ends_with("Sound.\n"), "{}", output.stdout);
    assert!(output.stdout.contains("no database at "), "{}", output.stdout);
    assert!(!env.path(".kb").exists());
}

#[test]
fn damage_is_reported_and_repaired_with_fix() {
    for (sql, word) in [
        ("INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')", "keywords"),
        ("DELETE FROM chunks_sizes_blocks", "sizes"),
        ("UPDATE chunks SET passage_hash = x'00' WHERE id = 2", "passages"),
        ("INSERT INTO tags (name) VALUES ('loose')", "tags"),
        ("DELETE FROM document_paths", "paths"),
        ("DROP TRIGGER chunks_ai", "schema"),
        ("DELETE FROM chunks_vec_rowids WHERE rowid = 2", "vector_table"),
        ("UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(128 * 32 * 4)", "bad_vectors"),
        ("PRAGMA foreign_keys = OFF; DELETE FROM documents WHERE id = 3", "references"),
    ] {
        let env = word_env();
        damage(&env, sql);
        let output = env.kb(&["doctor", "--format=json"]).expect(1);
        assert_eq!(output.stderr, "");
        let found = verdicts(&output.json(), "database");
        let is_told = found.iter().any(|(verdict, message)| {
            verdict == "fault" && message.starts_with(&format!("{word}: "))
        });
        assert!(is_told, "{word}: {found:?}");
        let repaired = env.json(&["doctor", "--fix", "--format=json"]);
        assert_eq!(repaired["faults"], 0, "{word}: {repaired}");
        assert!(repaired["repaired"].as_u64().unwrap() > 0);
        assert_eq!(env.json(&["doctor", "--format=json"])["repaired"], 0);
        check_database(&env);
        assert_eq!(find(&env, &["frozen tide gauge"])[0], "Tides");
        assert_eq!(find(&env, &["apple pear oak", "--vec-only"])[0], "Cider");
    }
}

#[test]
fn a_database_beyond_repair_ends_with_status_2_and_is_left_alone() {
    let env = word_env();
    let good = fs::read(env.database()).unwrap();
    let mut torn = good.clone();
    torn.truncate(good.len() / 2);
    for bytes in [torn, b"no database at all".repeat(300)] {
        fs::write(env.database(), &bytes).unwrap();
        for args in [&["doctor"][..], &["doctor", "--fix"]] {
            let output = env.kb(args).expect(2);
            assert!(output.stdout.contains("is corrupt"), "{}", output.text());
            assert!(output.stdout.contains("otherwise restore a copy"), "{}", output.text());
        }
        assert!(fs::read(env.database()).unwrap() == bytes);
    }
}

#[cfg(unix)]
#[test]
fn files_that_others_can_read_are_made_private() {
    let env = word_env();
    let mode =
        |name: &str| fs::metadata(env.path(".kb").join(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(env.path(".kb"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(env.database(), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(env.path(".kb/config.yaml"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = env.kb(&["doctor"]).expect(1);
    assert_eq!(output.stdout.matches("fault     files").count(), 3, "{}", output.stdout);
    let output = env.ok(&["doctor", "--fix"]);
    assert_eq!(output.stdout.matches("repaired  files").count(), 3, "{}", output.stdout);
    assert_eq!((mode(""), mode("kb.db"), mode("config.yaml")), (0o700, 0o600, 0o600));
}

#[test]
fn a_missing_or_damaged_model_is_reported() {
    let env = word_env();
    fs::write(env.path("tiny/tokenizer.json"), "{").unwrap();
    let output = env.kb(&["doctor"]);
    assert!(output.stdout.contains("fault     "), "{}", output.text());
    fs::remove_dir_all(env.path("tiny")).unwrap();
    let output = env.kb(&["doctor"]).expect(1);
    assert!(output.stdout.contains("fault     model"), "{}", output.text());
}

/// A home whose folder `notes` was added with a tag.
fn followed() -> TestEnv {
    let env = word_env();
    for (name, text) in [
        ("a.md", "# Storm\n\nanchor rope"),
        ("b.md", "# Sail\n\nsail signal"),
        ("c.md", "# Press\n\npress cellar"),
        ("sub/d.md", "# Log\n\nlog backup"),
    ] {
        env.write(&format!("notes/{name}"), text);
    }
    env.ok(&["add", "notes", "--tags", "kept"]);
    env
}

fn update(env: &TestEnv, args: &[&str]) -> Value {
    let exact: Update = read(&env.ok(&["update", "--dry-run", "--format=json"]));
    assert!(exact.dry_run);
    env.json(&[&["update", "--format=json"], args].concat())
}

#[test]
fn an_update_follows_new_changed_and_moved_files() {
    let env = followed();
    env.ok(&["tag", "4", "--remove", "kept", "--add", "mine"]);
    env.write("notes/a.md", "# Storm\n\nwinter paint");
    env.write("notes/new.md", "# Valve\n\nvalve engine");
    fs::rename(env.path("notes/b.md"), env.path("notes/moved.md")).unwrap();
    for args in [&["--dry-run"][..], &["--dry-run", "--prune"]] {
        let foreseen = update(&env, args);
        let counts = ["added", "updated", "moved"].map(|key| foreseen[key].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 1], "{foreseen}");
        assert!(env.json(&["list", "--format=json"]).as_array().unwrap().len() == 7);
    }
    let done = update(&env, &[]);
    let counts = ["added", "updated", "moved"].map(|key| done[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1], "{done}");
    let changed = env.json(&["info", "4", "--format=json"]);
    assert_eq!(changed["tags"], serde_json::json!(["mine"]), "what was taken stays away");
    let moved = env.json(&["info", "5", "--format=json"]);
    assert!(moved["path"].as_str().unwrap().ends_with("notes/moved.md"), "{moved}");
    assert_eq!(moved["tags"], serde_json::json!(["kept"]));
    let new = env.json(&["info", "8", "--format=json"]);
    assert_eq!(new["tags"], serde_json::json!(["kept"]), "what the folder was added with");
    assert_eq!(find(&env, &["winter paint"])[0], "Storm");
    let again = update(&env, &[]);
    let counts = ["added", "updated", "moved", "unchanged"].map(|key| again[key].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 0, 7], "{again}");
    check_database(&env);
}

#[test]
fn a_changed_file_that_is_now_ignored_is_read_once_more() {
    let env = followed();
    env.write("notes/.kbignore", "a.md\n");
    env.write("notes/a.md", "# Storm\n\nwinter paint");
    assert_eq!(update(&env, &[])["updated"], 1);
    assert_eq!(find(&env, &["winter paint"])[0], "Storm");
    assert_eq!(update(&env, &[])["updated"], 0);
}

#[test]
fn a_file_that_became_empty_is_reported() {
    let env = followed();
    env.write("notes/a.md", "");
    let report = update(&env, &[]);
    assert_eq!(report["failed"][0]["code"], "empty_file", "{report}");
    assert_eq!(find(&env, &["anchor rope"])[0], "Storm");
}

#[test]
fn a_file_replaced_by_a_folder_is_missing() {
    let env = followed();
    fs::remove_file(env.path("notes/a.md")).unwrap();
    fs::create_dir(env.path("notes/a.md")).unwrap();
    assert_eq!(update(&env, &[])["missing"].as_array().unwrap().len(), 1);
    let pruned = env.ok(&["update", "--prune"]).stdout;
    assert!(pruned.starts_with("removed: ") && pruned.contains("notes/a.md\n"), "{pruned}");
}

#[test]
fn a_type_given_by_the_user_also_holds_in_an_added_folder() {
    let env = followed();
    env.write("notes/plan.foo", "# Plan\n\nvalve engine");
    env.ok(&["add", "notes/plan.foo", "--type", "markdown"]);
    env.write("notes/plan.foo", "# Plan\n\nwinter paint, and more of it");
    assert_eq!(update(&env, &[])["updated"], 1);
    assert_eq!(find(&env, &["winter paint"])[0], "Plan");
    assert_eq!(update(&env, &[])["updated"], 0);
}

#[test]
fn a_file_with_the_bytes_of_another_has_changed() {
    let env = followed();
    fs::copy(env.path("notes/b.md"), env.path("notes/a.md")).unwrap();
    let report = update(&env, &[]);
    assert_eq!((&report["updated"], &report["unchanged"]), (&1.into(), &5.into()), "{report}");
}

#[test]
fn files_that_swap_names_keep_their_ids_and_tags() {
    let env = followed();
    let known = |env: &TestEnv| -> Vec<(i64, Value)> {
        let list = env.json(&["list", "--path", "notes", "--format", "json"]);
        let list = list.as_array().unwrap().iter();
        list.map(|document| (document["id"].as_i64().unwrap(), document["tags"].clone())).collect()
    };
    let [a, b, c] = ["a.md", "b.md", "c.md"].map(|name| env.path(format!("notes/{name}")));
    let id = |path: &std::path::Path| {
        env.json(&["info", path.to_str().unwrap(), "--format", "json"])["id"].clone()
    };
    let (first, second, third) = (id(&a), id(&b), id(&c));
    env.ok(&["tag", &first.to_string(), "--add", "first"]);
    env.ok(&["tag", &second.to_string(), "--add", "second"]);
    let before = known(&env);
    // a to b, b to c, c to a.
    let aside = env.path("aside");
    fs::rename(&c, &aside).unwrap();
    fs::rename(&b, &c).unwrap();
    fs::rename(&a, &b).unwrap();
    fs::rename(&aside, &a).unwrap();
    let report = update(&env, &[]);
    assert_eq!((&report["added"], &report["updated"]), (&0.into(), &2.into()), "{report}");
    assert_eq!(known(&env), before);
    assert_eq!([id(&a), id(&b), id(&c)], [third, first, second]);
    check_database(&env);
    assert_eq!(update(&env, &[])["updated"], 0);
}

#[test]
fn missing_files_are_reported_and_removed_only_on_request() {
    let env = followed();
    fs::remove_file(env.path("notes/c.md")).unwrap();
    let reported = update(&env, &[]);
    assert_eq!(reported["missing"][0]["document_id"], 6, "{reported}");
    assert_eq!(reported["removed"], serde_json::json!([]));
    env.ok(&["info", "6"]);
    assert_eq!(update(&env, &["--prune", "--dry-run"])["removed"], serde_json::json!([6]));
    env.ok(&["info", "6"]);
    assert_eq!(update(&env, &["--prune"])["removed"], serde_json::json!([6]));
    env.kb(&["info", "6"]).expect(1);
    check_database(&env);
}

#[test]
fn more_than_a_third_of_a_folder_is_removed_only_with_force() {
    let env = followed();
    fs::remove_file(env.path("notes/a.md")).unwrap();
    fs::remove_file(env.path("notes/c.md")).unwrap();
    let output = env.kb(&["update", "--prune"]).expect(1);
    assert!(
        output.stdout.contains("not removed: 2 of the 4 documents of ")
            && output.stdout.contains("`--force` removes them"),
        "{}",
        output.stdout
    );
    env.ok(&["info", "4"]);
    assert_eq!(update(&env, &["--prune", "--force"])["removed"], serde_json::json!([4, 6]));
}

#[test]
fn a_folder_whose_last_file_was_removed_or_moved_is_not_a_disk() {
    let env = TestEnv::new();
    for name in ["a/1.md", "a/2.md", "b/1.md", "c/1.md", "c/2.md", "c/3.md", "c/4.md"] {
        env.write(&format!("notes/{name}"), format!("# {name}\n\nWords of {name}.\n"));
    }
    env.ok(&["add", "notes"]);
    fs::create_dir(env.path("notes/d")).unwrap();
    fs::rename(env.path("notes/b/1.md"), env.path("notes/d/1.md")).unwrap();
    for name in ["a/1.md", "a/2.md"] {
        fs::remove_file(env.path(format!("notes/{name}"))).unwrap();
    }
    let counts = |report: &Value| {
        let len = |key: &str| report[key].as_array().unwrap().len();
        (report["moved"].as_u64().unwrap(), len("removed"), len("away"))
    };
    assert_eq!(counts(&update(&env, &["--prune", "--dry-run"])), (1, 2, 0));
    assert_eq!(counts(&update(&env, &["--prune"])), (1, 2, 0));
    // A file that an older kb recorded may be on a disk, until this kb has seen it.
    let forget = "UPDATE document_paths SET on_mount = NULL";
    rusqlite::Connection::open(env.database()).unwrap().execute(forget, []).unwrap();
    fs::rename(env.path("notes/d/1.md"), env.path("kept.md")).unwrap();
    for _ in 0..2 {
        let output = env.ok(&["update", "--prune", "--force"]).text();
        assert!(output.contains("`kb remove DIR` removes the documents of one."), "{output}");
        assert!(output.contains("0 missing, 0 removed."), "{output}");
    }
    fs::rename(env.path("kept.md"), env.path("notes/d/1.md")).unwrap();
    update(&env, &[]);
    fs::remove_file(env.path("notes/d/1.md")).unwrap();
    assert_eq!(counts(&update(&env, &["--prune"])), (0, 1, 0));
    // A file may move there and back at once.
    for (from, to) in [("c/1.md", "d/1.md"), ("d/1.md", "c/1.md")] {
        fs::rename(env.path(format!("notes/{from}")), env.path(format!("notes/{to}"))).unwrap();
        assert_eq!(counts(&update(&env, &[])), (1, 0, 0), "{from}");
    }
}

#[test]
fn an_unmounted_disk_is_not_a_deletion() {
    let env = followed();
    let num_documents = || env.json(&["list", "--format=json"]).as_array().unwrap().len();
    let unmount = |folder: &str| {
        let away = env.path(format!("{}-away", folder.replace('/', "-")));
        fs::rename(env.path(folder), &away).unwrap();
        away
    };
    // The mount point stays empty, or vanishes with the disk; it is the folder itself or one inside
    // it.
    for (folder, is_left) in
        [("notes", true), ("notes", false), ("notes/sub", true), ("docs", true), ("docs", false)]
    {
        if folder == "notes/sub" {
            // Seen as a disk in the added folder.
            let set = "UPDATE document_paths SET on_mount = 1 WHERE path LIKE '%/notes/sub/%'";
            rusqlite::Connection::open(env.database()).unwrap().execute(set, []).unwrap();
        }
        let away = unmount(folder);
        if is_left {
            fs::create_dir(env.path(folder)).unwrap();
        }
        let output = env.kb(&["update", "--prune", "--force"]).expect(0);
        assert!(
            output.stdout.contains("missing or empty, so nothing was removed: "),
            "{}",
            output.text()
        );
        assert_eq!(num_documents(), 7, "{folder}");
        if is_left {
            fs::remove_dir(env.path(folder)).unwrap();
        }
        fs::rename(away, env.path(folder)).unwrap();
        let back = update(&env, &["--prune", "--force"]);
        assert_eq!(
            (&back["removed"], &back["unchanged"]),
            (&serde_json::json!([]), &6.into()),
            "{back}"
        );
    }
    let output = env.kb(&["update", "nowhere"]).expect(1);
    assert!(output.stderr.contains("nowhere has not been added\n"), "{}", output.stderr);
}

#[test]
fn files_named_by_the_user_are_followed_with_their_type() {
    let env = word_env();
    let note = env.write("loose/remark.md", "# One\n\nstorm");
    env.write("loose/other.md", "# Other\n\noak");
    env.ok(&["add", "loose/remark.md", "--type", "note"]);
    env.ok(&["add", "loose/other.md"]);
    fs::write(&note, "# One\n\nstorm and rope").unwrap();
    assert_eq!(update(&env, &[])["updated"], 1);
    let info = env.json(&["info", "4", "--format=json"]);
    assert_eq!(info["type"], "note");
    fs::remove_file(&note).unwrap();
    assert_eq!(update(&env, &["loose"])["missing"][0]["document_id"], 4);
    check_database(&env);
}

#[test]
fn the_status_reports_what_is_out_of_date_on_request() {
    let env = followed();
    assert_eq!(env.json(&["status", "--format=json"])["out_of_date"], Value::Null);
    let fresh = env.ok(&["status", "--scan"]);
    assert!(fresh.stdout.ends_with("All files are unchanged.\n"), "{}", fresh.stdout);
    env.write("notes/a.md", "# Storm\n\nwinter paint");
    env.write("notes/new.md", "# Valve\n\nvalve engine");
    fs::remove_file(env.path("notes/c.md")).unwrap();
    let stale = env.json(&["status", "--scan", "--format=json"])["out_of_date"].clone();
    assert_eq!(
        stale,
        serde_json::json!({"changed": 1, "new": 1, "missing": 1, "folders_away": 0, "links_refused": 0, "failed": 0})
    );
    let human = env.ok(&["status", "--scan"]).stdout;
    assert!(
        human.contains(
            "Out of date: 1 changed, 1 new, 1 missing. `kb update` updates the database."
        ),
        "{human}"
    );
}

#[test]
fn without_added_documents_there_is_nothing_to_update() {
    let env = TestEnv::with_runtime();
    let output = env.ok(&["update"]);
    assert!(output.stdout.starts_with("Nothing has been added yet."), "{}", output.text());
    assert!(!env.path(".kb").exists());
}
