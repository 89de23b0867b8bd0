//! Tests each rule on a skill that violates it, and on one that does not.

use super::super::resolve;
use super::super::testing::World;
use super::*;

const GOOD: &str = "---\nname: x\ndescription: Does it. Use when testing.\n---\n# X\n";

fn lint_of(world: &World, is_forced: bool) -> LintResult {
    lint(&resolve::resolve(&world.caller, "x").unwrap(), is_forced).unwrap()
}

/// Compares findings: place and rule.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let world = World::new();
    for (path, content) in files {
        world.write(&format!("project/.skillc/skills/x/{path}"), content);
    }
    let found: Vec<String> = lint_of(&world, false)
        .findings
        .into_iter()
        .map(|finding| {
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{}{line} {}", finding.file.unwrap_or_default(), finding.rule.id)
        })
        .collect();
    assert_eq!(found, expected, "{files:?}");
}

/// Compares the rules that a SKILL.md with this front matter violates.
#[track_caller]
fn check_head(head: &str, expected: &[&str]) {
    let world = World::new();
    world.write("project/.skillc/skills/x/SKILL.md", format!("---\n{head}---\n# X\n"));
    let found: Vec<_> =
        lint_of(&world, false).findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(found, expected, "{head}");
}

#[test]
fn a_good_skill_has_no_findings() {
    check(&[("SKILL.md", GOOD)], &[]);
}

#[test]
fn front_matter_must_be_there_and_be_yaml() {
    check(&[("SKILL.md", "# X\n")], &["SKILL.md:1 SKL100"]);
    check(&[("SKILL.md", "---\nname: x\n# X\n")], &["SKILL.md:1 SKL100"]);
    check(&[("SKILL.md", "---\na: [\n---\n# X\n")], &["SKILL.md:1 SKL100"]);
}

#[test]
fn names_are_checked() {
    let description = "description: Use when testing.\n";
    check_head(description, &["SKL101"]);
    check_head(&format!("name:\n{description}"), &["SKL101"]);
    check_head(&format!("name: y\n{description}"), &["SKL104", "SKL203"]);
    check_head(&format!("name: X_\n{description}"), &["SKL102", "SKL104", "SKL203"]);
    check_head(&format!("name: x-\n{description}"), &["SKL102", "SKL104", "SKL203"]);
    check_head(&format!("name: ''\n{description}"), &["SKL103", "SKL104"]);
    let long = "x".repeat(65);
    check_head(&format!("name: {long}\n{description}"), &["SKL103", "SKL104", "SKL203"]);
}

#[test]
fn descriptions_are_checked() {
    check_head("name: x\n", &["SKL105"]);
    check_head("name: x\ndescription: ' '\n", &["SKL106"]);
    check_head("name: x\ndescription: Does it.\n", &["SKL108"]);
    check_head("name: x\ndescription: TRIGGERS on tests.\n", &[]);
    let long = "use for ".repeat(150);
    check_head(&format!("name: x\ndescription: {long}\n"), &["SKL107"]);
}

#[test]
fn unknown_fields_and_capabilities_are_reported() {
    let head = "name: x\ndescription: Use when testing.\nallowed-tools: Bash\n";
    check_head(head, &[]);
    check_head(&format!("{head}license: MIT\n"), &["SKL109"]);
    check_head(&format!("{head}capabilities: [read, fly]\n"), &["SKL109", "SKL109"]);
    check_head(&format!("{head}capabilities: fly\n"), &["SKL109", "SKL109"]);
}

#[test]
fn structure_is_checked() {
    let text = format!("{GOOD}{}", "line\n".repeat(500));
    check(&[("SKILL.md", &text)], &["SKILL.md SKL201"]);
    let head = GOOD.trim_end_matches("# X\n");
    check(&[("SKILL.md", head)], &["SKILL.md SKL202"]);
    check(&[("SKILL.md", &format!("{head}# Other\n"))], &["SKILL.md:5 SKL203"]);
    check(&[("SKILL.md", &format!("{head}# All about X\n"))], &[]);
    check(&[("SKILL.md", &format!("{head}## A\n# X\n"))], &["SKILL.md:5 SKL204"]);
    check(&[("SKILL.md", &format!("{GOOD}### A\n## B\n### C\n# D\n"))], &["SKILL.md:6 SKL205"]);
    check(
        &[("SKILL.md", GOOD), ("README.md", "## A\n#### B\n"), (".hidden.md", "## A\n")],
        &["README.md:1 SKL204", "README.md:2 SKL205"],
    );
}

#[test]
fn links_must_lead_somewhere_within() {
    for (link, expected) in [
        ("b.md", None),
        ("./refs/../b.md", None),
        ("b.md#two-words", None),
        ("b.md#two-words-1", None),
        ("b.md#%C3%BCber-uns", None),
        ("b.md#snake_case", None),
        ("b.md#here", None),
        ("#x", None),
        ("refs", None),
        ("a%20b.txt", None),
        ("b.md?raw=1", None),
        ("https://example.org/x.md", None),
        ("mailto:x@example.org", None),
        ("/absolute.md", None),
        ("missing.md", Some("SKL301")),
        ("refs/missing.md#x", Some("SKL301")),
        ("#nope", Some("SKL302")),
        ("b.md#nope", Some("SKL302")),
        ("../other.md", Some("SKL303")),
        ("refs/../../other/missing.md", Some("SKL303")),
    ] {
        let text = format!("{GOOD}\n[b](b.md) [link]({link})\n");
        let expected: Vec<String> =
            expected.iter().map(|rule| format!("SKILL.md:7 {rule}")).collect();
        check(
            &[
                ("SKILL.md", &text),
                (
                    "b.md",
                    "# B\n## Two words\n## Two words\n## Über uns\n## snake_case\n<a id=\"here\">\n",
                ),
                ("refs/c.txt", ""),
                ("a b.txt", ""),
            ],
            &expected.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    check(&[("SKILL.md", &format!("{GOOD}`[no](missing.md)`\n\n    [no](missing.md)\n"))], &[]);
}

#[test]
fn files_must_be_reached_by_links() {
    let text = format!("{GOOD}[b](b.md)\n");
    check(
        &[
            ("SKILL.md", &text),
            ("b.md", "# B\n[c](refs/c.md)\n"),
            ("refs/c.md", "# C\n[back](../SKILL.md)\n"),
            ("d.md", "# D\n[e](e.md)\n"),
            ("e.md", "# E\n"),
            ("docs/License.md", "# L\n"),
            ("CHANGELOG.md", "# L\n"),
            (".github/x.md", "# X\n"),
            ("f.txt", ""),
        ],
        &["d.md SKL401", "e.md SKL401"],
    );
}

#[test]
fn build_results_are_skipped_unless_forced() {
    let world = World::new();
    world.write("project/.skillc/skills/x/SKILL.md", "# X\n");
    world.write("project/.skillc/skills/x/.skillc-meta/manifest.json", "{}");
    let linted = lint_of(&world, false);
    assert!(linted.is_skipped && linted.findings.is_empty());
    let linted = lint_of(&world, true);
    assert_eq!(
        linted.findings[0].text(),
        "warning[W300]: SKL001 skip-compiled: linting compiled skill; results may not be meaningful"
    );
    assert_eq!(linted.count(Severity::Error), 1);
    assert_eq!(
        linted.findings[1].text(),
        "SKILL.md:1: error[E300]: SKL100 frontmatter-valid: missing frontmatter: file does not \
         start with ---"
    );
}

#[test]
fn rules_are_sorted_and_unique() {
    let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted);
    assert_eq!(ids.len(), 20);
}
