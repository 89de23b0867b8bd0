//! Tests which files a walk finds in a folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::UNIX_EPOCH;

use super::*;
use crate::files::testing::pipe;

mod generated;

const OPTIONS: WalkOptions =
    WalkOptions { max_file_mb: 1, follow_links: false, text_extensions: TextExtensions::NONE };

/// Creates a directory with these files; a final `/` makes a directory, ` -> ` a link.
fn tree(entries: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in entries {
        let (name, target) = entry.split_once(" -> ").unwrap_or((entry, ""));
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            "" if name.ends_with('/') => fs::create_dir_all(&path).unwrap(),
            "" => fs::write(&path, name).unwrap(),
            target => symlink(target, &path).unwrap(),
        }
    }
    dir
}

fn listed(dir: &Path, roots: &[&str], options: &WalkOptions) -> Vec<String> {
    let starts: Vec<Start> = roots.iter().map(|root| Start::named(&dir.join(root))).collect();
    let shown = |path: &Path| path.strip_prefix(dir).unwrap().display().to_string();
    walk(&starts, options)
        .map(|item| match item {
            Ok(FoundFile { path, is_named: true, .. }) => format!("{} (named)", shown(&path)),
            Ok(FoundFile { path, .. }) => shown(&path),
            Err(Error::TooLarge { path, .. }) => format!("{} (too large)", shown(&path)),
            Err(Error::PathNotFound { path }) => format!("{} (not found)", shown(&path)),
            Err(error) => error.to_string(),
        })
        .collect()
}

#[track_caller]
fn check(entries: &[&str], roots: &[&str], expected: &[&str]) {
    let dir = tree(entries);
    assert_eq!(listed(dir.path(), roots, &OPTIONS), expected);
}

#[track_caller]
fn check_following(entries: &[&str], roots: &[&str], expected: &[&str]) {
    let dir = tree(entries);
    let options = WalkOptions { follow_links: true, ..OPTIONS };
    assert_eq!(listed(dir.path(), roots, &options), expected);
}

#[test]
fn rules_of_a_repository_above_apply_and_the_nearer_ones_override() {
    let dir =
        tree(&["repo/.git/info/exclude", "repo/sub/docs/", "repo/other/", "repo/inner/.git/"]);
    for (name, text) in [
        ("repo/.gitignore", "*.log\n/a.md\n"),
        ("repo/sub/.gitignore", "!keep.log\n"),
        ("repo/.git/info/exclude", "*.tmp\n"),
        ("repo/sub/.kbignore", "!b.tmp\n*.pdf\n"),
        ("repo/sub/docs/.gitignore", "keep.log\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let verdict = |folder: &str, name: &str| {
        let folder = dir.path().join(folder);
        let mut problems = Vec::new();
        let rules = rules::IgnoreRules::above(&folder, &mut problems);
        assert!(problems.is_empty());
        rules.verdict(&folder.join(name), false)
    };
    use left_out::LeftOutReason::{Gitignore, Kbignore};
    use rules::IgnoreDecision::{In, None, Out};
    for (folder, name, expected) in [
        ("repo/sub/docs", "x.log", Out(Gitignore)),
        ("repo/sub/docs", "keep.log", In),
        ("repo/other", "keep.log", Out(Gitignore)),
        ("repo/sub/docs", "a.tmp", Out(Gitignore)),
        ("repo/sub/docs", "b.tmp", In),
        ("repo/sub/docs", "a.pdf", Out(Kbignore)),
        ("repo/sub/docs", "a.md", None),
        // The folder's own rules, and those above a repository, are not among them.
        ("repo", "a.md", None),
        ("repo/inner", "x.log", None),
    ] {
        assert_eq!(verdict(folder, name), expected, "{folder} {name}");
    }
}

#[test]
fn an_ignore_file_that_cannot_be_used_is_reported() {
    let dir = tree(&["a/x.md", "a/y.md"]);
    let ignore = dir.path().join("a/.kbignore");
    let lines = |count: usize| "# nothing\n".repeat(count) + "/x.md";
    for (text, expected) in [
        ("\u{feff}/x.md\r\n".to_owned(), &["a/y.md"][..]),
        (lines(10_000), &["a/y.md"]),
        (format!("{}\n/x.md", "y".repeat(4097)), &["a/y.md"]),
        ("[\n/x.md".to_owned(), &["a/y.md"]),
    ] {
        fs::write(&ignore, text).unwrap();
        assert_eq!(listed(dir.path(), &["a"], &OPTIONS), expected);
    }
    for (text, reason) in [
        (lines(10_001), "it has more than 10000 lines"),
        ("#".repeat(1_000_001), "it is longer than 1000000 bytes"),
    ] {
        fs::write(&ignore, text).unwrap();
        let found = listed(dir.path(), &["a"], &OPTIONS);
        assert_eq!(found.len(), 3);
        assert!(found.iter().any(|line| line.contains(reason)), "{found:?}");
    }
}

#[test]
fn roots_keep_their_order_and_files_are_sorted_below_them() {
    check(
        &["a/z.md", "a/B.md", "a/b/c.md", "a/b.md", "0/x.md", "a/é.md"],
        &["a", "0"],
        &["a/B.md", "a/b/c.md", "a/b.md", "a/z.md", "a/é.md", "0/x.md"],
    );
}

#[test]
fn an_empty_directory_has_no_files() {
    check(&["a/"], &["a"], &[]);
    check(&[], &[], &[]);
}

#[test]
fn hidden_files_are_skipped_unless_named() {
    let tree = ["a/.x.md", "a/.d/y.md", "a/z.md"];
    check(&tree, &["a"], &["a/z.md"]);
    check(&tree, &["a/.d", "a/.x.md"], &["a/.d/y.md", "a/.x.md (named)"]);
}

#[test]
fn ignore_rules_apply_outside_repositories_but_not_to_named_files() {
    let dir = tree(&["a/x.log", "a/x.md", "a/build/y.md", "a/draft.md", "a/sub/draft.md"]);
    fs::write(dir.path().join("a/.gitignore"), "*.log\nbuild/\n").unwrap();
    fs::write(dir.path().join("a/.kbignore"), "draft.md\n!/draft.md\n").unwrap();
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/draft.md", "a/x.md"]);
    assert_eq!(
        listed(dir.path(), &["a/x.log", "a/build"], &OPTIONS),
        ["a/x.log (named)", "a/build/y.md"]
    );
    // Rules from above apply only in a repository.
    assert_eq!(listed(dir.path(), &["a/sub"], &OPTIONS), ["a/sub/draft.md"]);
    fs::create_dir(dir.path().join("a/.git")).unwrap();
    assert!(listed(dir.path(), &["a/sub"], &OPTIONS).is_empty());
    fs::create_dir(dir.path().join("a/sub/.git")).unwrap();
    assert_eq!(listed(dir.path(), &["a/sub"], &OPTIONS), ["a/sub/draft.md"]);
}

#[test]
fn rules_of_an_added_folder_apply_to_a_walk_below_it() {
    let dir = tree(&["a/x.md", "a/sub/draft.md", "a/sub/x.md"]);
    fs::write(dir.path().join("a/.kbignore"), "draft.md\n").unwrap();
    let reach = Reach::below(&dir.path().join("a")).unwrap();
    let start = Start::known(&dir.path().join("a/sub"), reach);
    let found: Vec<_> = walk(&[start], &OPTIONS).map(|item| item.unwrap().path).collect();
    assert_eq!(found, [dir.path().join("a/sub/x.md")]);
}

#[test]
fn uncommitted_rules_of_a_repository_apply() {
    let dir = tree(&["a/.git/info/exclude", "a/x.md", "a/b/y.md", "a/b/z.md"]);
    fs::write(dir.path().join("a/.git/info/exclude"), "y.md\n").unwrap();
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/b/z.md", "a/x.md"]);
    assert_eq!(listed(dir.path(), &["a/b"], &OPTIONS), ["a/b/z.md"]);
}

#[test]
fn rules_apply_through_a_link_to_the_folder() {
    let dir = tree(&["r/.git/x", "r/a/b/draft.md", "r/a/b/x.md", "l -> r/a"]);
    fs::write(dir.path().join("r/.gitignore"), "/a/b/draft.md\n").unwrap();
    assert_eq!(listed(dir.path(), &["l"], &OPTIONS), ["l/b/x.md"]);
}

#[test]
fn a_rule_can_include_a_hidden_file() {
    let dir = tree(&["a/.x.md", "a/.y.md", "a/.d/z.md"]);
    fs::write(dir.path().join("a/.kbignore"), "!.x.md\n!.d\n").unwrap();
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/.d/z.md", "a/.x.md"]);
}

/// Finding F6: `kb add` waited forever.
#[test]
fn an_untrusted_ignore_file_is_skipped_and_reported() {
    let dir = tree(&["a/x.md", "a/p/y.md", "a/z/z.md", "a/o/o.md", "a/l/l.md", "a/i/x.md"]);
    let at = |name: &str| dir.path().join(name);
    pipe(&at("a/p/.gitignore"));
    pipe(&at("a/p/.kbignore"));
    symlink("/dev/zero", at("a/z/.gitignore")).unwrap();
    fs::File::create(at("a/o/.gitignore")).unwrap().set_len(4 << 30).unwrap();
    fs::write(at("a/l/.kbignore"), "*.md\n".repeat(20_000)).unwrap();
    // A link within the folder is fine.
    fs::write(at("a/rules"), "x.md\n").unwrap();
    symlink("../rules", at("a/i/.gitignore")).unwrap();
    let listing = listed(dir.path(), &["a"], &OPTIONS);
    let listing: Vec<String> =
        listing.iter().map(|line| line.replace(&dir.path().display().to_string(), "")).collect();
    insta::assert_snapshot!(listing.join("\n"), @"
        the rules in /a/l/.kbignore are not used: it has more than 10000 lines
        a/l/l.md
        the rules in /a/o/.gitignore are not used: it is longer than 1000000 bytes
        a/o/o.md
        the rules in /a/p/.kbignore are not used: it is not a file
        the rules in /a/p/.gitignore are not used: it is not a file
        a/p/y.md
        a/rules
        a/x.md
        the rules in /a/z/.gitignore are not used: it is a link that points outside the folder
        a/z/z.md
        ");
}

#[test]
fn a_folder_that_became_a_link_is_not_walked() {
    let dir = tree(&["a/x.md", "b/y.md"]);
    let reach = Reach::below(&dir.path().join("a")).unwrap();
    fs::rename(dir.path().join("a"), dir.path().join("c")).unwrap();
    symlink("b", dir.path().join("a")).unwrap();
    let found: Vec<_> = walk(&[Start::known(&dir.path().join("a"), reach)], &OPTIONS).collect();
    assert!(matches!(found.as_slice(), [Err(Error::LinkRefused { .. })]), "{found:?}");
}

#[test]
fn ignore_files_of_other_tools_and_bad_rules_change_nothing() {
    let dir = tree(&["a/x.md", "a/y.md"]);
    fs::write(dir.path().join("a/.ignore"), "*.md\n").unwrap();
    fs::write(dir.path().join("a/.gitignore"), "{a,b\n[z-\ny.md\n").unwrap();
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/x.md"]);
}

#[test]
fn a_missing_root_does_not_stop_the_rest() {
    check(
        &["a.md", "b.md"],
        &["a.md", "none", "a.md/none", "b.md"],
        &["a.md (named)", "none (not found)", "a.md/none (not found)", "b.md (named)"],
    );
}

#[test]
fn a_file_reached_twice_is_listed_once_and_stays_named() {
    check(
        &["a/b/x.md", "a/y.md"],
        &["a/b", "a", "a/./b/../y.md", "a/y.md"],
        &["a/b/x.md", "a/y.md (named)"],
    );
    check(&["a/x.md", "l -> a"], &["l", "a"], &["l/x.md"]);
}

#[test]
fn links_are_followed_only_on_request() {
    let tree = ["a/x.md", "a/l.md -> ../b/y.md", "a/d -> ../b", "b/y.md", "b/z.md"];
    check(&tree, &["a"], &["a/x.md"]);
    check_following(&tree, &["a"], &["a/d/y.md", "a/d/z.md", "a/x.md"]);
}

#[test]
fn a_link_named_itself_is_followed() {
    check(&["b/y.md", "l -> b"], &["l"], &["l/y.md"]);
    check(&["b/y.md", "l.md -> b/y.md"], &["l.md"], &["l.md (named)"]);
    check(&["l.md -> nowhere"], &["l.md"], &["l.md (not found)"]);
}

#[test]
fn loops_and_broken_links_do_not_stop_the_walk() {
    let tree = ["a/x.md", "a/d/up -> ..", "a/self -> self", "a/gone -> nowhere", "a/y.md"];
    check(&tree, &["a"], &["a/x.md", "a/y.md"]);
    let dir = self::tree(&tree);
    let options = WalkOptions { follow_links: true, ..OPTIONS };
    let listed = listed(dir.path(), &["a"], &options);
    let files: Vec<_> = listed.iter().filter(|line| line.ends_with(".md")).collect();
    assert_eq!(files, ["a/x.md", "a/y.md"]);
}

#[test]
fn files_over_the_limit_are_reported_if_they_would_have_been_read() {
    let dir = tree(&["a/big.md", "a/big.mp4", "a/fits.md", "big.mp4"]);
    for (name, size) in
        [("a/big.md", 1_000_001), ("a/big.mp4", 1_000_001), ("a/fits.md", 1_000_000)]
    {
        fs::File::options().write(true).open(dir.path().join(name)).unwrap().set_len(size).unwrap();
    }
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/big.md (too large)", "a/fits.md"]);
    assert_eq!(listed(dir.path(), &["a/big.mp4"], &OPTIONS), ["a/big.mp4 (too large)"]);
}

#[test]
fn special_files_are_skipped_and_refused_when_named() {
    let dir = tree(&["a/x.md"]);
    std::os::unix::net::UnixListener::bind(dir.path().join("a/socket.md")).unwrap();
    assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/x.md"]);
    let refused = walk(&[Start::named(&dir.path().join("a/socket.md"))], &OPTIONS).next();
    assert!(matches!(refused, Some(Err(Error::NotAFile { .. }))), "{refused:?}");
}

#[test]
fn the_size_and_time_of_a_file_are_reported() {
    let dir = tree(&["x.md"]);
    let path = dir.path().join("x.md");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(UNIX_EPOCH + std::time::Duration::from_nanos(1_500_000_007)).unwrap();
    let found = walk(&[Start::named(&path)], &OPTIONS).next().unwrap().unwrap();
    assert_eq!(found.stamp, Stamp { size_bytes: 4, mtime_ns: 1_500_000_007 });
    file.set_modified(UNIX_EPOCH - std::time::Duration::from_nanos(7)).unwrap();
    let found = walk(&[Start::named(&path)], &OPTIONS).next().unwrap().unwrap();
    assert_eq!(found.stamp.mtime_ns, -7);
}

/// The crate `ignore` opens ignore files whatever they are; its walker must find the same files as
/// this one.
#[test]
fn rules_mean_the_same_as_in_the_crate_ignore() {
    const NAMES: [&str; 8] = ["a", "b", "a.md", "b.md", ".c", ".c.md", "d e.md", "é.md"];
    const RULES: [&str; 16] = [
        "*.md", "!a.md", "/a.md", "a/", "!a/", "a/b", "**/b.md", "b/**", "[ab].md", "!.c",
        "!.c.md", "?.md", "# a", "\\!a", "a/**/b.md", "*",
    ];
    // A generator that returns the same numbers in each run.
    let mut state = 7_u64;
    let mut number = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..150 {
        let dir = tempfile::tempdir().unwrap();
        let mut folders = vec![dir.path().to_owned()];
        for _ in 0..30 {
            let path = folders[number(folders.len())].join(NAMES[number(NAMES.len())]);
            match number(3) {
                0 if fs::create_dir(&path).is_ok() => folders.push(path),
                0 => {}
                _ if path.is_dir() => {}
                _ => fs::write(&path, "x").unwrap(),
            }
        }
        for _ in 0..5 {
            let name = [".gitignore", ".kbignore"][number(2)];
            let rules: Vec<&str> = (0..3).map(|_| RULES[number(RULES.len())]).collect();
            let folder = &folders[number(folders.len())];
            fs::write(folder.join(name), rules.join("\n")).unwrap();
        }
        let elsewhere = ignore::WalkBuilder::new(dir.path())
            .require_git(false)
            .git_global(false)
            .ignore(false)
            .parents(false)
            .add_custom_ignore_filename(".kbignore")
            .sort_by_file_name(Ord::cmp)
            .build();
        let expected: Vec<PathBuf> = elsewhere
            .map(|entry| entry.unwrap().into_path())
            .filter(|path| path.is_file())
            .collect();
        let found = walk(&[Start::named(dir.path())], &OPTIONS);
        let found: Vec<PathBuf> = found.map(|found| found.unwrap().path).collect();
        assert_eq!(found, expected);
    }
}
