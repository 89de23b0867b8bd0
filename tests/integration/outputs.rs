//! Tests every command's output for people and for programs against the table in
//! `tests/OUTPUTS.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[cfg(unix)]
use crate::docs::in_shell;
use crate::env::TestEnv;
#[cfg(unix)]
use crate::schema;

/// A row of the table: command, line, output for people, output for programs.
fn rows() -> Vec<[String; 4]> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/OUTPUTS.md");
    let page = fs::read_to_string(page).unwrap().replace("\\|", "\u{0}");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells =
            row.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\u{0}', "|"));
        let cells: Vec<String> = cells.collect();
        cells.try_into().unwrap()
    })
    .collect()
}

/// Returns the names of the commands in the table, without their subcommands.
pub(crate) fn commands() -> BTreeSet<String> {
    let rows = rows().into_iter();
    rows.map(|row| code(&row[0]).split(' ').next().unwrap().to_owned()).collect()
}

/// Returns the words after `kb` of each line in the table that needs no shell and prints an answer of a command.
pub(crate) fn simple_lines() -> Vec<Vec<String>> {
    let is_simple = |row: &[String; 4]| {
        !row[1].contains(['"', '&', '|', '$']) && !row[0].contains(' ') && !row[3].contains(": ")
    };
    let rows = rows().into_iter().filter(is_simple);
    rows.map(|row| code(&row[1]).split(' ').skip(1).map(str::to_owned).collect()).collect()
}

/// Returns the text between backticks.
fn code(cell: &str) -> &str {
    cell.strip_prefix('`').unwrap().strip_suffix('`').unwrap()
}

#[test]
fn every_command_has_a_row() {
    let env = TestEnv::without_model();
    env.ok(&["man", "--dir", "man"]);
    let pages = fs::read_dir(env.path("man")).unwrap();
    let names = pages.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let commands: BTreeSet<String> = names
        .filter_map(|name| name.strip_prefix("kb-")?.strip_suffix(".1").map(str::to_owned))
        .collect();
    let rows = rows();
    let named: BTreeSet<String> = rows.iter().map(|row| code(&row[0]).replace(' ', "-")).collect();
    assert_eq!(named, commands);
    assert_eq!(named.len(), rows.len());
}

#[cfg(unix)]
#[test]
fn every_row_is_true() {
    let env = TestEnv::real_with_corpus();
    env.write("docs/new.md", "# New\n\nSomething new.\n");
    env.write(
        ".agents/skills/tides/SKILL.md",
        "---\nname: tides\ndescription: Reads tides. Use when a gauge is to be read.\n---\n\n\
         # Tides\n\n## Reading\n\nRead the gauge twice a day.\n",
    );
    for [command, line, for_people, for_programs] in rows() {
        let (line, for_people) = (code(&line).to_owned(), code(&for_people).to_owned());
        env.install_real_sample();
        // Only `kb search` prints for programs by default.
        let human = if code(&command) == "search" { " --format human" } else { "" };
        let output = in_shell(&env, &format!("{line}{human}"));
        assert_eq!(output.status, 0, "{line}: {}", output.text());
        assert!(output.text().contains(&for_people), "{line}: {}", output.text());
        if for_programs.starts_with("text: ") {
            continue;
        }
        if let Some(names) = for_programs.strip_prefix("lines: ") {
            let names: Vec<&str> = names.split(", ").map(code).collect();
            for line in output.stdout.lines() {
                schema::check_any(&names, &serde_json::from_str(line).unwrap());
            }
            continue;
        }
        env.install_real_sample();
        let output = in_shell(&env, &format!("{line} --format json"));
        assert_eq!(output.status, 0, "{line}: {}", output.text());
        schema::check(code(&for_programs), &output.json());
    }
}
