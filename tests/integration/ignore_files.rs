//! Tests that ignore files are not trusted, as they come with a folder: none makes kb wait, grow or
//! leave the folder, and those above a folder apply only within its git repository.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::env::{Output, TestEnv};
use crate::patience::output_of;
use crate::word_model::word_env;

/// Runs the program, which must end and use less than four gigabytes.
#[cfg(unix)]
#[track_caller]
fn to_its_end(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let limit = rustix::process::Rlimit { current: Some(4 << 30), maximum: Some(4 << 30) };
    #[cfg(target_os = "linux")]
    rustix::process::prlimit(Some(pid), rustix::process::Resource::As, limit).unwrap();
    #[cfg(not(target_os = "linux"))]
    let _ = limit;
    let _ = child.stdin.take();
    output_of(env, child)
}

#[cfg(unix)]
fn make_pipe(env: &TestEnv, name: &str) {
    let made = Command::new("mkfifo").arg(env.path(name)).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}

/// Finding F6: pipes made kb wait for ever, and `/dev/zero` made it grow until it was killed.
#[cfg(unix)]
#[test]
fn an_ignore_file_that_is_not_a_file_is_skipped_and_reported() {
    for (name, make, reason) in [
        (".gitignore", make_pipe as fn(&TestEnv, &str), "it is not a file"),
        (".kbignore", make_pipe, "it is not a file"),
        (
            ".gitignore",
            |env: &TestEnv, name: &str| symlink("/dev/zero", env.path(name)).unwrap(),
            "it is a link that points outside the folder",
        ),
        (
            ".gitignore",
            |env: &TestEnv, name: &str| {
                fs::File::create(env.path(name)).unwrap().set_len(4 << 30).unwrap();
            },
            "it is longer than 1000000 bytes",
        ),
        (
            ".kbignore",
            |env: &TestEnv, name: &str| {
                env.write(name, "*a*b*c*d*\n".repeat(90_000));
            },
            "it has more than 10000 lines",
        ),
    ] {
        let env = word_env();
        env.write("odd/good.md", "# Good\n\nstorm anchor\n");
        let ignore = format!("odd/{name}");
        make(&env, &ignore);
        let line = format!("the rules in {} are not used: {reason}", env.path(&ignore).display());
        let output = to_its_end(&env, &["add", "odd"]).expect(0);
        assert!(output.stderr.contains("Added 1 document. 0 failed."), "{}", output.stderr);
        assert!(output.stderr.contains(&line), "{}", output.stderr);
        for args in [&["update", "--dry-run"][..], &["update"], &["add", "odd", "--format=json"]] {
            let output = to_its_end(&env, args).expect(0);
            assert!(output.stderr.contains(&line), "{args:?}: {}", output.stderr);
        }
        let report = to_its_end(&env, &["add", "odd", "--format=json"]).json();
        assert_eq!(report["warnings"][0]["code"], "ignore_file", "{report}");
        // The same where links are followed, because that is about documents.
        if reason != "it has more than 10000 lines" {
            let output = to_its_end(&env, &["add", "odd", "--follow"]).expect(0);
            assert!(output.stderr.contains("are not used"), "{}", output.stderr);
        }
        to_its_end(&env, &["status", "--scan"]).expect(0);
    }
}

/// Finding F6: another user's `/tmp/.gitignore` silently hid files, and a pipe there made kb wait.
#[cfg(unix)]
#[test]
fn ignore_files_above_a_folder_apply_only_in_a_repository() {
    let env = word_env();
    env.write("above/mine/a.md", "# One\n\nstorm anchor\n");
    env.write("above/.gitignore", "*\n");
    env.write("above/.kbignore", "*\n");
    let output = to_its_end(&env, &["add", "above/mine"]).expect(0);
    assert!(output.stderr.contains("Added 1 document."), "{}", output.stderr);
    env.write("above/mine/b.md", "# Two\n\nrope sail\n");
    assert!(to_its_end(&env, &["update"]).stdout.contains("1 added"));
    // They apply in a repository.
    fs::create_dir(env.path("above/.git")).unwrap();
    env.write("above/mine/c.md", "# Three\n\npaint pump\n");
    assert!(to_its_end(&env, &["update"]).stdout.contains("0 added"));
    // But only regular files do.
    for name in [".gitignore", ".kbignore"] {
        fs::remove_file(env.path("above").join(name)).unwrap();
        make_pipe(&env, &format!("above/{name}"));
    }
    let output = to_its_end(&env, &["update"]).expect(0);
    assert!(output.stdout.contains("1 added"), "{}", output.text());
    assert!(
        output.stderr.contains("above/.gitignore are not used: it is not a file"),
        "{}",
        output.text()
    );
    // Folders above a separate repository do not affect it.
    fs::create_dir(env.path("above/mine/.git")).unwrap();
    assert_eq!(to_its_end(&env, &["update"]).expect(0).stderr, "");
}

/// Updating part of a folder applies the rules of the full folder.
#[test]
fn updating_part_of_a_folder_applies_the_rules_of_the_folder() {
    let env = word_env();
    env.write("whole/part/a.md", "# One\n\nstorm anchor\n");
    env.write("whole/part/draft.md", "# Draft\n\nrope sail\n");
    env.write("whole/.kbignore", "draft.md\n");
    env.ok(&["add", "whole"]);
    let output = env.ok(&["update", "whole/part"]);
    assert!(output.stdout.contains("0 added"), "{}", output.text());
}

/// Finding F14: `kb add /proc/kmsg --type note` waited for the next kernel message.
#[cfg(unix)]
#[test]
fn a_view_of_the_running_system_is_not_a_document() {
    let env = word_env();
    for name in ["/proc/kmsg", "/proc/self/status", "/proc/self/maps"] {
        if !fs::exists(name).unwrap() {
            continue;
        }
        let output = to_its_end(&env, &["add", name, "--type=note"]).expect(1);
        assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    }
}

#[test]
fn ordinary_folders_with_the_names_of_generated_ones_are_read() {
    let env = word_env();
    for folder in ["build", "vendor", "dist", "target"] {
        env.write(
            &format!("papers/{folder}/letter.md"),
            format!("# A letter\n\nzephyrine {folder}\n"),
        );
        env.write(&format!("papers/{folder}/2024/contract.txt"), format!("contract of {folder}\n"));
    }
    let added = env.ok(&["add", "papers"]).stderr;
    assert!(added.contains("Added 8 documents.") && !added.contains("Left out"), "{added}");
}

#[test]
fn what_programs_made_is_left_out_named_and_read_on_request() {
    let env = word_env();
    for name in ["a.md", "node_modules/x/b.md", "web/node_modules/c.md", "lib/yarn.lock"] {
        env.write(&format!("project/{name}"), format!("# {name}\n\nzephyrine {name}\n"));
    }
    let added = env.ok(&["add", "project"]).stderr;
    let named = "3 ignored: 2 node_modules, 1 yarn.lock; `kb files --ignored` lists them. `--include-ignored` reads generated files.";
    assert!(added.contains("Added 1 document.") && added.contains(named), "{added}");
    let ignored = env.ok(&["files", "--ignored"]).stdout;
    assert_eq!(ignored.matches("generated").count(), 3, "{ignored}");
    let added = env.ok(&["add", "project", "--include-ignored"]).stderr;
    assert!(added.contains("Added 2 documents."), "{added}");
    // Indexed files are kept and updated.
    env.write("project/node_modules/x/b.md", "# Other\n\nzephyrine anchor\n");
    env.write("project/node_modules/x/new.md", "# New\n\nzephyrine\n");
    let updated = env.ok(&["update", "--prune", "--force"]).stdout;
    assert!(updated.contains("0 added, 1 updated") && updated.contains("0 removed"), "{updated}");
    assert_eq!(env.json(&["list", "--path=project", "--format=json"]).as_array().unwrap().len(), 3);
    env.ok(&["config", "set", "ingestion.include_ignored", "true"]);
    assert!(env.ok(&["update"]).stdout.contains("1 added"));
    env.write("project/web/tide.min.json", "{\"name\": \"tide\"}");
    assert!(env.ok(&["add", "project"]).stderr.contains("Added 1 document."));
    let plan = env.ok(&["add", "project", "--dry-run"]).stdout;
    assert!(!plan.contains("LARGEST FOLDERS"), "nothing is to be read: {plan}");
}

/// The rule looks at the content, so a bundle may have any name.
#[test]
fn bundles_are_left_out_by_content_and_data_for_people_is_read() {
    let env = word_env();
    let bundle = "function a(e,t){return e.b&&t.c?e.b(t):new d(e,t)}".repeat(200);
    env.write("site/vendor-CLZY7.js", &bundle);
    env.write("site/kept.js", bundle.replace("a(", "k("));
    env.write("site/.kbignore", "!kept.js\n");
    let message = r#"{"role":"user","content":"When does the zephyrine ferry leave?"},"#;
    env.write("site/chat.json", format!("[{}null]", message.repeat(99)));
    let plan = env.ok(&["add", "site", "--dry-run", "--format=json"]).stdout;
    assert!(plan.contains("generated"), "{plan}");
    let added = env.ok(&["add", "site"]).stderr;
    let named = "1 ignored: 1 .js; `kb files --ignored` lists it. `--include-ignored` reads generated files.";
    assert!(added.contains("Added 2 documents.") && added.contains(named), "{added}");
    let ignored = env.ok(&["files", "--ignored"]).stdout;
    assert!(ignored.contains("vendor-CLZY7.js") && ignored.contains("generated"), "{ignored}");
    // A file that the user names is read, and is then kept.
    assert!(env.ok(&["add", "site/vendor-CLZY7.js"]).stderr.contains("Added 1 document."));
    env.write("site/vendor-CLZY7.js", format!("{bundle}f(1)"));
    let updated = env.ok(&["update"]).stdout;
    assert!(updated.contains("1 updated") && updated.contains("0 removed"), "{updated}");
}
