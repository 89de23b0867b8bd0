//! Tests what is left out because programs generated it.

use super::*;

#[test]
fn what_programs_generated_is_left_out_where_its_name_or_its_neighbours_say_so() {
    let entries = [
        "app/Cargo.toml",
        "app/build/letter.md",
        "app/target/debug/a.md",
        "cache/CACHEDIR.TAG",
        "cache/a.md",
        "env/lib/site-packages/a.md",
        "env/pyvenv.cfg",
        "go/go.mod",
        "go/vendor/a.md",
        "tagged/CACHEDIR.TAG",
        "tagged/a.md",
        "web/Cargo.lock",
        "web/a.min.js",
        "web/build/a.md",
        "web/dist/a.md",
        "web/node_modules/x/a.md",
        "web/package.json",
        "web/vendor/letter.md",
    ];
    let dir = tree(&entries);
    fs::write(
        dir.path().join("tagged/CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55\n# made by a program\n",
    )
    .unwrap();
    let kept = [
        "app/Cargo.toml", "app/build/letter.md", "cache/CACHEDIR.TAG", "cache/a.md", "go/go.mod",
        "web/package.json", "web/vendor/letter.md",
    ];
    assert_eq!(listed(dir.path(), &[""], &OPTIONS), kept);
    let mut all = OPTIONS;
    all.text_extensions.includes_generated = true;
    assert_eq!(listed(dir.path(), &[""], &all), entries);
    // A folder that the user names is read, and so is what a rule of the user names.
    let named = listed(dir.path(), &["web/node_modules", "env"], &OPTIONS);
    assert_eq!(named, ["web/node_modules/x/a.md", "env/pyvenv.cfg"]);
    fs::write(dir.path().join("web/.kbignore"), "!dist/\n").unwrap();
    let kept = listed(dir.path(), &["web"], &OPTIONS);
    assert_eq!(kept, ["web/dist/a.md", "web/package.json", "web/vendor/letter.md"]);
}

#[test]
fn second_checkouts_are_left_out_and_submodules_are_read() {
    let dir = tree(&[
        "app/a.md", "app/wt/a.md", "app/lib/a.md", "bare/main/a.md", "other/a.md", "lost/a.md",
    ]);
    let elsewhere = tree(&["a.md"]);
    let point = |name: &str, target: &str| {
        fs::write(dir.path().join(name).join(".git"), format!("gitdir: {target}\n")).unwrap();
    };
    let (here, there) = (dir.path().display(), elsewhere.path().display());
    point("app/wt", &format!("{here}/app/.git/worktrees/wt"));
    point("app/lib", "../.git/modules/lib");
    point("bare/main", &format!("{here}/bare/.git/worktrees/main"));
    point("other", &format!("{there}/.git/worktrees/other"));
    point("lost", "/not/on/this/machine/.git/worktrees/lost");
    fs::create_dir(dir.path().join("bare/.git")).unwrap();
    fs::write(dir.path().join("bare/.git/config"), "[core]\n\tbare = true\n").unwrap();
    let kept = ["app/a.md", "app/lib/a.md", "bare/main/a.md", "other/a.md"];
    assert_eq!(listed(dir.path(), &[""], &OPTIONS), kept);
    assert_eq!(listed(dir.path(), &["app/wt"], &OPTIONS), ["app/wt/a.md"]);
}
