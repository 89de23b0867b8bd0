//! Writes the stub of a skill: a short SKILL.md that explains how to request sections and lists
//! them. It has only the headings, not the text below them.

use std::fmt::Write;

use crate::diagnostic::Program;
use crate::error::Result;
use crate::place::{SKILL_FILE, Skill};
use crate::skill_files::SkillContents;
use crate::text::headings::{self, Heading, MarkdownPage};
use crate::{front_matter, page};

/// Largest number of entries listed: of SKILL.md, and again of the other files. Including the
/// surrounding text, a stub stays below a hundred lines.
const MAX_ENTRIES: usize = 15;

/// Largest number of characters shown of a file's description.
const MAX_DESCRIPTION_CHARS: usize = 120;

/// Returns the text of a stub.
pub(super) fn stub(
    program: Program,
    skill: &Skill,
    description: &str,
    listing: &SkillContents,
) -> Result<String> {
    let name = &skill.name;
    let (command, tool) = (program.command(), program.tool_prefix());
    let mut text = format!(
        "---\n\
         name: {quoted_name}\n\
         description: {quoted_description}\n\
         ---\n\
         \n\
         # {name} (compiled)\n\
         \n\
         Do not read the source files of this skill directly: ask for the sections you need.\n\
         \n\
         ## Usage\n\
         \n\
         Prefer the MCP tools where they are available: `{tool}outline`, `{tool}show`, \
         `{tool}open`,\n\
         `{tool}sources`, `{tool}search`. Else use the command line:\n\
         \n\
         - `{command} outline {name}`: list the sections\n\
         - `{command} show {name} --section \"HEADING\"`: read one\n\
         - `{command} open {name} PATH`: read a file\n\
         - `{command} sources {name}`: list the files\n\
         - `{command} search {name} \"WORDS\"`: search\n\
         \n\
         ## Top Sections\n\
         \n",
        quoted_name = quoted(name),
        quoted_description = quoted(description),
    );
    let mut sections = Vec::new();
    let mut references = Vec::new();
    for file in listing.files.iter().filter(|file| page::is_markdown(&file.path)) {
        let Some(page) = page::read(&file.path, &file.read()?) else { continue };
        if file.path == SKILL_FILE {
            sections = page.headings().iter().filter_map(section).collect();
        } else {
            references.push(reference(&file.path, &page));
        }
    }
    list(&mut text, "", sections);
    if !references.is_empty() {
        text += "- References (query by title only)\n";
        list(&mut text, "  ", references);
    }
    Ok(text)
}

/// Returns the entry of a heading of SKILL.md; `None` for one that is too deep.
fn section(heading: &Heading) -> Option<String> {
    match heading.level {
        1 => Some(format!("- {}", heading.text)),
        2 => Some(format!("  - {}", heading.text)),
        _ => None,
    }
}

/// Returns the entry of another file: its title or path, and its description.
fn reference(path: &str, page: &MarkdownPage) -> String {
    let headings = page.headings();
    let title =
        headings.iter().find(|heading| heading.level == 1).map_or(path, |heading| &heading.text);
    let description =
        front_matter::read(&page.text).ok().and_then(|parsed| parsed.0.text("description"));
    match description.map(|text| headings::plain(&text)).filter(|text| !text.is_empty()) {
        Some(description) => format!("- {title} — {}", shorten(&description)),
        None => format!("- {title}"),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn list(text: &mut String, indent: &str, mut entries: Vec<String>) {
    let num_more = entries.len().saturating_sub(MAX_ENTRIES);
    entries.truncate(MAX_ENTRIES);
    for entry in entries {
        *text += &format!("{indent}{entry}\n");
    }
    if num_more > 0 {
        *text += &format!("{indent}... ({num_more} more)\n");
    }
}

/// Returns text as a YAML scalar on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted += "\\n",
            // YAML allows neither control characters nor its own line ends unescaped.
            letter
                if letter.is_control()
                    || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{FEFF}') =>
            {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::World;
    use crate::{resolve, skill_files};

    fn stub_of(world: &World, description: &str) -> String {
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        let listing = skill_files::list(&skill.dir).unwrap();
        stub(Program::Kb, &skill, description, &listing).unwrap()
    }

    fn top_sections(stub: &str) -> &str {
        stub.split_once("## Top Sections\n\n").unwrap().1
    }

    #[test]
    fn sections_and_references_are_listed_by_their_titles() {
        let world = World::new();
        for (path, content) in [
            ("SKILL.md", "# X\nsecret\n## One\n### Deep\n# Y\n## Two\n"),
            ("b.md", "---\ndescription: \"About\\n b\"\n---\n## Late\n# B\n"),
            ("a/c.md", "## No title\n"),
            ("notes.txt", "# not markdown"),
        ] {
            world.write(&format!("project/.skillc/skills/x/{path}"), content);
        }
        let stub = stub_of(&world, "What it is for");
        assert_eq!(
            top_sections(&stub),
            "- X\n  - One\n- Y\n  - Two\n- References (query by title only)\n  - a/c.md\n  \
             - B — About b\n"
        );
        assert!(!stub.contains("secret") && !stub.contains(world.path("").to_str().unwrap()));
        assert!(stub.contains("`kb skill show x --section \"HEADING\"`"));
    }

    #[test]
    fn a_large_skill_is_cut_with_a_notice() {
        let world = World::new();
        let headings: String =
            (0..40).map(|number| format!("# H{number}\n## S{number}\n")).collect();
        world.write("project/.skillc/skills/x/SKILL.md", headings);
        for number in 0..40 {
            let text = format!("---\ndescription: {}\n---\n# T{number}\n", "long ".repeat(100));
            world.write(&format!("project/.skillc/skills/x/{number:02}.md"), text);
        }
        let stub = stub_of(&world, "What it is for");
        assert!(stub.lines().count() <= 100);
        assert!(stub.contains("\n... (65 more)\n") && stub.contains("\n  ... (25 more)\n"));
        let longest =
            stub.lines().filter(|line| line.contains('—')).map(|line| line.chars().count());
        assert_eq!(longest.max(), Some("  - T10 — ".chars().count() + MAX_DESCRIPTION_CHARS + 1));
    }

    #[test]
    fn without_other_files_there_are_no_references() {
        let world = World::new();
        world.skill("project/.skillc/skills/x");
        assert_eq!(top_sections(&stub_of(&world, "d")), "- x\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn any_description_is_valid_yaml(description in "\\PC{0,40}|(?s).{0,40}") {
            let world = World::new();
            world.skill("project/.skillc/skills/x");
            let stub = stub_of(&world, &description);
            let (fields, _) = front_matter::read(&stub).unwrap();
            prop_assert_eq!(fields.text("description"), Some(description));
            prop_assert_eq!(fields.text("name"), Some("x".to_owned()));
        }
    }
}
