//! Plain text: its headings divide it and name its passages, and lines that only look like headings do not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kb_base::document::BlockKind;
use kb_extract::plain;

use crate::env::TestEnv;
use crate::left_out::left_out;

/// The number of real texts that are read.
const NUM_TEXTS: usize = 500;

/// Most of them from one folder, so that one manual does not decide.
const MOST_OF_FOLDER: usize = 150;

#[test]
fn the_passages_of_a_text_have_its_headings() {
    let env = TestEnv::new();
    let filler = "The station keeps its records in a shed above the landing, and they are copied each week. ";
    let text = format!(
        "Gauge manual\n============\n\n{0}\n\n1. Reading\n\n{0}\n\n2. Cleaning\n\nScrub the float.\n{0}\n\n# draft\nKNOWN FAULTS\n",
        filler.repeat(4)
    );
    env.write("docs/manual.txt", &text);
    env.ok(&["add", "docs"]);
    let found = env.json(&["search", "scrub the float", "--top=1"]);
    let source = &found["results"][0]["source"];
    assert_eq!(
        (&source["title"], &source["section"]),
        (&"Gauge manual".into(), &"2. Cleaning".into())
    );
    assert_eq!(source["start_line"], 10, "{found}");
    let outline = env.ok(&["outline", "1"]).stdout;
    assert!(outline.contains("1. Reading") && !outline.contains("KNOWN FAULTS"), "{outline}");
    assert!(env.ok(&["show", "1", "--section=1. Reading"]).stdout.contains("1. Reading"));
}

/// Returns the texts below a folder, in order.
fn texts(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let (folders, files): (Vec<_>, Vec<_>) =
        paths.into_iter().filter(|path| !path.is_symlink()).partition(|path| path.is_dir());
    let is_text = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".txt")
            || ["README", "README.Debian", "NEWS", "TODO", "AUTHORS", "FAQ"].contains(&&*name)
    };
    let files = files.into_iter().filter(is_text).take(MOST_OF_FOLDER);
    files.chain(folders.iter().flat_map(|folder| texts(folder))).collect()
}

/// The signs of false headings here are others than those that the reader looks for: long ones, one after a few lines each, and
/// the same again and again. A person found four false ones in 853 headings of 696 texts; these signs find one.
#[test]
fn few_lines_of_real_texts_are_headings_by_mistake() {
    let folders = ["/usr/share/doc", "/usr/share/vim", "/usr/share/perl", "/usr/share/gnupg"];
    let paths: Vec<PathBuf> = folders.iter().flat_map(|folder| texts(Path::new(folder))).collect();
    if paths.len() < NUM_TEXTS {
        left_out("texts", &format!("{} of {NUM_TEXTS} real texts", NUM_TEXTS - paths.len()));
    }
    let (mut num_headings, mut suspects) = (0, Vec::new());
    let (mut num_notes, mut num_titles) = (0, 0);
    for path in &paths {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let document = plain::extract(&text);
        let headings: Vec<&str> = document
            .blocks
            .iter()
            .filter(|block| block.kind == BlockKind::Heading)
            .map(|block| text[block.bytes.clone()].trim_matches(['=', '-', '\n', ' ']))
            .collect();
        num_headings += headings.len();
        let num_lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        let is_dense = num_lines > 12 && headings.len() * 4 > num_lines;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for heading in headings {
            let count = counts.entry(heading).or_default();
            *count += 1;
            if *count > 6 || heading.split_whitespace().count() > 10 {
                suspects.push(format!("{}: {heading}", path.display()));
            }
        }
        // A list of addresses may have a heading over each, so this sign counts once.
        if is_dense {
            suspects.push(format!("{}: a heading after a few lines each", path.display()));
        }
        // Each of these notes begins with an underlined title.
        if path.starts_with("/usr/share/doc/git/RelNotes") {
            num_notes += 1;
            num_titles += usize::from(document.title.is_some());
        }
    }
    assert!(suspects.len() * 100 <= num_headings, "of {num_headings}: {suspects:#?}");
    assert!(num_titles * 100 >= num_notes * 95, "{num_titles} of {num_notes}");
}
