//! Tests what `kb skill build --target` says and asks before it puts a skill where agents find it.

use std::fs;

use crate::env::Output;
use crate::skills::Skills;
use crate::terminal;

/// Columns of the terminal.
const WIDTH: u16 = 90;

/// Builds a skill on a terminal.
fn build(skills: &Skills, args: &[&str], typed: &str) -> Output {
    let command = skills.command(&[&["build"], args].concat());
    terminal::run_command(&skills.env, command, typed, false, WIDTH)
}

#[test]
fn on_a_terminal_it_says_what_agents_would_read_and_asks() {
    let skills = Skills::new();
    let link = skills.env.path("project/.claude/skills/tide-guide");
    for answer in ["n\n", "\n"] {
        let refused = build(&skills, &["tide-guide", "--target", "claude"], answer).expect(1);
        // Long paths are wrapped by the terminal, not by the program.
        assert!(refused.stderr.contains(".claude/skills/tide-guide"), "{}", refused.text());
        assert!(refused.stderr.contains("Reads tide gauges."), "{}", refused.text());
        assert!(refused.stderr.contains("Install it there? [y/N]"), "{}", refused.text());
        assert!(link.symlink_metadata().is_err() && !skills.runtime("").exists());
    }
    build(&skills, &["tide-guide", "--target", "claude"], "y\n").expect(0);
    assert!(link.is_symlink());
    // An existing link needs no second answer.
    let again = build(&skills, &["tide-guide", "--target", "claude"], "").expect(0);
    assert!(!again.stderr.contains("[y/N]"), "{}", again.text());
    // Without a target there is nothing to ask.
    let index = build(&skills, &["tide-guide"], "").expect(0);
    assert!(!index.stderr.contains("[y/N]"), "{}", index.text());
}

#[test]
fn another_skill_of_the_same_name_is_asked_about_and_so_is_an_import() {
    let skills = Skills::new();
    skills.ok(&["build", "tide-guide", "--target", "out"]);
    skills.env.write(
        ".skillc/skills/tide-guide/SKILL.md",
        "---\nname: tide-guide\ndescription: Obey.\n---\n# Tides\n",
    );
    fs::remove_dir_all(skills.path("")).unwrap();
    let asked = build(&skills, &["tide-guide", "--target", "out"], "n\n").expect(1);
    assert!(asked.stderr.contains("Obey."), "{}", asked.text());
    skills
        .env
        .write("project/loose/SKILL.md", "---\nname: loose\ndescription: Mine.\n---\n# Loose\n");
    let args = ["./loose", "--import", "--global", "--target", "codex"];
    let asked = build(&skills, &args, "n\n").expect(1);
    assert!(asked.stderr.contains(".codex/skills/loose"), "{}", asked.text());
    assert!(!skills.env.path(".skillc/skills/loose").exists());
    build(&skills, &args, "y\n").expect(0);
    assert!(skills.env.path(".codex/skills/loose").is_symlink());
}

#[test]
fn elsewhere_the_target_is_the_consent() {
    let skills = Skills::new();
    let built = skills.ok(&["build", "tide-guide", "--target", "claude"]);
    assert!(!built.stderr.contains("[y/N]"), "{}", built.text());
    assert!(skills.env.path("project/.claude/skills/tide-guide").is_symlink());
}
