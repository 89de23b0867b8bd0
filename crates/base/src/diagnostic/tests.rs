//! Tests that every code has its wording to the letter.

use super::*;

#[track_caller]
fn check(diagnostic: &Diagnostic, expected: &str) {
    assert_eq!(diagnostic.line(Program::Skc), expected);
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn similar(heading: &str, file: &str) -> SimilarHeading {
    SimilarHeading { heading: text(heading), file: text(file), line: 7 }
}

#[test]
fn every_code_has_its_verbatim_line() {
    use Diagnostic as D;
    check(&D::SkillNotFound(text("x")), "error[E001]: skill 'x' not found");
    check(
        &D::IndexUnusable(text("x")),
        "error[E002]: search index unusable; run 'skc build x' to rebuild",
    );
    check(
        &D::IndexCollision(text("0123456789abcdef")),
        "error[E003]: index hash collision; delete .skillc-meta/search-0123456789abcdef.db and \
         rebuild",
    );
    check(&D::EmptyQuery, "error[E004]: empty query");
    check(&D::NotASkill(text("p")), "error[E010]: not a valid skill: 'p' (missing SKILL.md)");
    check(&D::MissingField("name"), "error[E011]: missing frontmatter field 'name' in SKILL.md");
    check(
        &D::InvalidFrontMatter(text("invalid frontmatter YAML: m")),
        "error[E011]: invalid frontmatter YAML: m in SKILL.md",
    );
    check(&D::PathEscapes(text("../p")), "error[E012]: path escapes skill root: '../p'");
    check(
        &D::SectionNotFound { section: text("s"), similar: Vec::new() },
        "error[E020]: section not found: 's'",
    );
    check(
        &D::SectionNotFound {
            section: text("s"),
            similar: vec![similar("S1", "a.md"), similar("S2", "b.md")],
        },
        "error[E020]: section not found: 's'\n\nDid you mean one of these?\n  - S1 (a.md)\n  \
         - S2 (b.md)",
    );
    check(&D::FileNotFound(text("f")), "error[E021]: file not found: 'f'");
    check(&D::DirectoryNotFound(text("d")), "error[E022]: directory not found: 'd'");
    check(&D::InvalidQueryType(text("q")), "error[E030]: invalid query type: 'q'");
    check(&D::InvalidFilter(text("m")), "error[E031]: invalid filter: 'm'");
    check(&D::NoLocalLogs, "error[E040]: no local logs found");
    check(&D::SyncDestination(text("p")), "error[E041]: sync destination not writable: 'p'");
    check(&D::SyncSource(text("p")), "error[E042]: sync source not readable: 'p'");
    check(&D::SkillExists(text("x")), "error[E050]: skill 'x' already exists");
    let error = D::InvalidOption { message: text("m"), hint: None };
    check(&error, "error[E100]: invalid option: 'm'");
    check(&D::Internal(text("disk on fire")), "error[E999]: disk on fire");
}

#[test]
fn the_program_is_called_as_it_was_started() {
    let error = Diagnostic::IndexUnusable(text("x"));
    assert!(error.line(Program::Kb).contains("run 'kb skill build x' to rebuild"));
    assert!(
        Warning::LoggingDisabled.line(Program::Kb).contains("run 'kb skill sync' after session")
    );
}

#[test]
fn every_warning_has_its_verbatim_line() {
    for (warning, expected) in [
        (
            Warning::MultipleMatches(text("s")),
            "warning[W001]: multiple matches for 's'; showing first",
        ),
        (
            Warning::LoggingDisabled,
            "warning[W002]: logging disabled; run 'skc sync' after session to merge logs",
        ),
        (
            Warning::StaleLogs(text("x")),
            "warning[W003]: stale local logs for 'x'; run 'skc sync' to upload",
        ),
    ] {
        assert_eq!(warning.line(Program::Skc), expected);
    }
}
