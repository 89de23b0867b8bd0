//! Tests the gateway protocol: outline, show, open and sources, and what they refuse.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use crate::skills::{GUIDE, PARTS, Skills, texts};

#[test]
fn outline_lists_headings_by_file_and_level() {
    let skills = Skills::new();
    skills.write("AAA.md", "# First by its name\n");
    let output = skills.ok(&["outline", "tide-guide"]);
    insta::assert_snapshot!(output.stdout, @r"
    AAA.md
      # First by its name

    SKILL.md
      # Tide Guide
        ## Reading
          ### At Night
        ## Repair

    references/parts.md
      # Parts
        ## Floats
    ");
    let output = skills.ok(&["outline", "tide-guide", "--level", "1"]);
    insta::assert_snapshot!(output.stdout, @r"
    AAA.md
      # First by its name

    SKILL.md
      # Tide Guide

    references/parts.md
      # Parts
    ");
    let outline = skills.json(&["outline", "tide-guide", "--level", "2"]);
    assert_eq!(
        texts(&outline, "heading"),
        ["First by its name", "Tide Guide", "Reading", "Repair", "Parts", "Floats"]
    );
    assert_eq!(outline[2]["level"], 2);
    let keys: Vec<&String> = outline[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["level", "heading", "file"]);
}

#[test]
fn text_that_only_looks_like_a_heading_is_not_one() {
    let skills = Skills::empty();
    skills.write(
        "SKILL.md",
        "---\nname: tide-guide\n# no\n---\n```\n# no\n```\n<!--\n# no\n-->\n# Yes\n\nAlso\n----\n    # no\n",
    );
    assert_eq!(skills.ok(&["outline", "tide-guide"]).stdout, "SKILL.md\n  # Yes\n    ## Also\n");
}

#[test]
fn show_returns_the_lines_of_a_section() {
    let skills = Skills::built();
    let show = |args: &[&str]| skills.ok(&[&["show", "tide-guide", "--section"], args].concat());
    assert_eq!(
        show(&["reading"]).stdout,
        "## Reading\n\nStand where the scale is level with your eyes.\n\n### At Night\n\nTake the \
         lamp.\n\n"
    );
    assert_eq!(show(&["  AT night "]).stdout, "### At Night\n\nTake the lamp.\n\n");
    assert_eq!(show(&["Floats"]).stdout, "## Floats\r\n\r\nThree of them\n");
    assert_eq!(show(&["Reading — what a stub says of it"]).stdout, show(&["Reading"]).stdout);
    assert_eq!(
        show(&["Reading", "--max-lines", "3"]).stdout,
        "## Reading\n\nStand where the scale is level with your eyes.\n... (5 more lines)\n"
    );
    assert_eq!(show(&["At Night", "--max-lines", "4"]).stdout, show(&["At Night"]).stdout);
    let shown = skills.json(&["show", "tide-guide", "--section", "floats", "--max-lines", "1"]);
    let expected = serde_json::json!({
        "file": "references/parts.md", "heading": "Floats", "level": 2, "start_line": 5,
        "end_line": 8, "text": "## Floats\r\n", "truncated": true,
    });
    assert_eq!(shown, expected);
}

#[test]
fn the_first_of_several_matches_is_shown_with_a_warning() {
    let skills = Skills::new();
    skills.write("references/more.md", "# Reading\nmore\n");
    skills.ok(&["build", "tide-guide"]);
    let output = skills.ok(&["show", "tide-guide", "--section", "reading"]);
    assert!(output.stdout.starts_with("## Reading\n"));
    assert_eq!(output.stderr, "warning[W001]: multiple matches for 'reading'; showing first\n");
    let file = ["show", "tide-guide", "--section", "reading", "--file", "references/more.md"];
    let output = skills.ok(&file);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("# Reading\nmore\n", ""));
    let (_, args, _) = skills.last_access();
    assert_eq!(
        args,
        "{\"file\":\"references/more.md\",\"max_lines\":null,\"section\":\"reading\"}"
    );
    skills.check_error(
        &["show", "tide-guide", "--section", "x", "--file", "../x.md"],
        "error[E012]: path escapes skill root: '../x.md'",
    );
}

#[test]
fn a_missing_section_comes_with_suggestions() {
    let skills = Skills::built();
    let output = skills.run(&["show", "tide-guide", "--section", "Re"]).expect(1);
    assert_eq!(
        output.stderr,
        "error[E020]: section not found: 'Re'\n\nDid you mean one of these?\n  - Reading \
         (SKILL.md)\n  - Repair (SKILL.md)\n"
    );
    let output = skills.run(&["show", "tide-guide", "--section", "NIGHT"]).expect(1);
    assert!(output.stderr.ends_with("\n  - At Night (SKILL.md)\n"), "{}", output.stderr);
    let output = skills.run(&["show", "tide-guide", "--section", "zeppelin"]).expect(1);
    assert_eq!(output.stderr, "error[E020]: section not found: 'zeppelin'\n");
    let (_, args, error) = skills.last_access();
    assert_eq!(args, "{\"file\":null,\"max_lines\":null,\"section\":\"zeppelin\"}");
    assert_eq!(error, "error[E020]: section not found: 'zeppelin'");
}

#[test]
fn open_returns_the_bytes_of_any_file() {
    let skills = Skills::new();
    let binary: Vec<u8> = (0..=255).collect();
    skills.write("assets/logo.bin", &binary);
    skills.write("assets/empty", "");
    let bytes =
        |args: &[&str]| skills.command(&[&["open", "tide-guide"], args].concat()).output().unwrap();
    assert_eq!(bytes(&["assets/logo.bin"]).stdout, binary);
    assert_eq!(bytes(&["assets/empty"]).stdout, b"");
    assert_eq!(bytes(&["references/parts.md"]).stdout, PARTS.as_bytes());
    assert_eq!(bytes(&["references/../SKILL.md"]).stdout, GUIDE.as_bytes());
    let cut = bytes(&["references/parts.md", "--max-lines", "2"]).stdout;
    assert_eq!(cut, b"# Parts\r\n\r\n... (5 more lines)\n");
    let opened = skills.json(&["open", "tide-guide", "ferry.txt"]);
    let expected = serde_json::json!({
        "file": "ferry.txt", "text": "The ferry leaves at nine.\n", "truncated": false,
    });
    assert_eq!(opened, expected);
    let opened = skills.json(&["open", "tide-guide", "assets/logo.bin"]);
    let data = opened["data"].as_str().unwrap();
    assert!(data.starts_with("AAECAwQF") && data.ends_with("+/w=="), "{data}");
    assert!(opened.get("text").is_none());
    let (command, args, _) = skills.last_access();
    assert_eq!(
        (command.as_str(), args.as_str()),
        ("open", "{\"max_lines\":null,\"path\":\"assets/logo.bin\"}")
    );
}

#[cfg(unix)]
#[test]
fn no_path_leads_out() {
    let skills = Skills::new();
    skills.env.write("secret.txt", "secret");
    skills.env.write("project/.skillc/skills/other/SKILL.md", "---\nname: other\n---\n");
    for (target, link) in
        [("/etc", "etc"), ("../../../../secret.txt", "out"), ("..", "up"), ("SKILL.md", "in")]
    {
        symlink(target, skills.path(link)).unwrap();
    }
    let outside = skills.env.path("secret.txt").display().to_string();
    for path in [
        "../other/SKILL.md",
        "..",
        "/etc/passwd",
        &outside,
        "etc/passwd",
        "etc/missing",
        "out",
        "up/other/SKILL.md",
        "references/../../other/SKILL.md",
        "../missing",
        "C:\\Windows",
        "\\\\server\\share",
        "..\\other\\SKILL.md",
    ] {
        let expected = format!("error[E012]: path escapes skill root: '{path}'");
        skills.check_error(&["open", "tide-guide", path], &expected);
        skills.check_error(&["sources", "tide-guide", "--dir", path], &expected);
    }
    assert_eq!(skills.ok(&["open", "tide-guide", "in"]).stdout, GUIDE);
    let file = |path: &str| format!("error[E021]: file not found: '{path}'");
    for path in ["missing.md", "references", "", "SKILL.md/x", "ferry.txt/.."] {
        skills.check_error(&["open", "tide-guide", path], &file(path));
    }
    // Opening a pipe would block.
    let pipe = skills.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    skills.check_error(&["open", "tide-guide", "pipe"], &file("pipe"));
    skills.check_error(
        &["sources", "tide-guide", "--dir", "missing"],
        "error[E022]: directory not found: 'missing'",
    );
    skills.check_error(
        &["sources", "tide-guide", "--dir", "ferry.txt"],
        "error[E022]: directory not found: 'ferry.txt'",
    );
}

#[test]
fn an_index_that_names_outside_files_exposes_nothing() {
    let skills = Skills::built();
    skills.env.write("project/.skillc/skills/secret.md", "# Secret\n");
    let forged =
        "UPDATE headings SET file = '../secret.md', text = 'Secret', start_line = 1, end_line = 2";
    rusqlite::Connection::open(skills.index()).unwrap().execute_batch(forged).unwrap();
    let output = skills.run(&["show", "tide-guide", "--section", "Secret"]).expect(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error[E012]"), "{}", output.stderr);
}

#[test]
fn sources_are_a_tree() {
    let skills = Skills::new();
    for path in
        ["references/deep/a.md", "references/deep/b.txt", "scripts/run.sh", "Zoo.md", ".git/config"]
    {
        skills.write(path, "");
    }
    let tree = |args: &[&str]| skills.ok(&[&["sources", "tide-guide"], args].concat()).stdout;
    insta::assert_snapshot!(tree(&[]), @r"
    tide-guide/
    ├── references/
    │   ├── deep/
    │   │   ├── a.md
    │   │   └── b.txt
    │   └── parts.md
    ├── scripts/
    │   └── run.sh
    ├── SKILL.md
    ├── Zoo.md
    └── ferry.txt
    ");
    insta::assert_snapshot!(tree(&["--depth", "2"]), @r"
    tide-guide/
    ├── references/
    │   ├── deep/ (2 files)
    │   └── parts.md
    ├── scripts/
    │   └── run.sh
    ├── SKILL.md
    ├── Zoo.md
    └── ferry.txt
    ");
    insta::assert_snapshot!(tree(&["--limit", "3"]), @r"
    tide-guide/
    ├── references/
    │   ├── deep/
    │   │   ├── a.md
    ... (7 more)
    ");
    insta::assert_snapshot!(tree(&["--pattern", "*.txt", "--dir", "references", "--depth", "1"]), @r"
    references/
    └── deep/ (1 files)
    ");
    let sources = skills.json(&["sources", "tide-guide", "--depth", "1"]);
    assert_eq!(
        texts(&sources, "path"),
        ["references", "scripts", "SKILL.md", "Zoo.md", "ferry.txt"]
    );
    assert_eq!(texts(&sources, "type"), ["dir", "dir", "file", "file", "file"]);
    let sources = skills.json(&["sources", "tide-guide", "--dir", "references"]);
    assert_eq!(texts(&sources, "path")[0], "references/deep");
    let (_, args, _) = skills.last_access();
    assert_eq!(args, "{\"depth\":null,\"dir\":\"references\",\"limit\":100,\"pattern\":null}");
}

#[test]
fn a_hundred_entries_are_listed_by_default() {
    let skills = Skills::new();
    for number in 0..150 {
        skills.write(&format!("assets/{number:03}.svg"), "");
    }
    assert_eq!(skills.json(&["sources", "tide-guide"]).as_array().unwrap().len(), 100);
    assert!(skills.ok(&["sources", "tide-guide"]).stdout.ends_with("\n... (55 more)\n"));
    let all = skills.json(&["sources", "tide-guide", "-l", "1000"]);
    assert_eq!(all.as_array().unwrap().len(), 155);
}

#[test]
fn reading_only_needs_a_directory_with_a_skill_file() {
    let skills = Skills::empty();
    skills.env.write("project/loose/SKILL.md", "# Loose\nno front matter\n");
    skills.env.write("project/loose/a.txt", "text\n");
    assert_eq!(skills.ok(&["outline", "loose"]).stdout, "SKILL.md\n  # Loose\n");
    assert_eq!(skills.ok(&["open", "./loose/", "a.txt"]).stdout, "text\n");
    assert_eq!(skills.ok(&["sources", "loose"]).stdout, "loose/\n├── SKILL.md\n└── a.txt\n");
    // It cannot be built, so it is shown without an index.
    let shown = skills.ok(&["show", "loose", "--section", "loose"]).stdout;
    assert_eq!(shown, "# Loose\nno front matter\n");
    skills.check_error(
        &["build", "loose"],
        "error[E011]: missing frontmatter field 'name' in SKILL.md",
    );
}

#[test]
fn a_skill_is_found_by_path_then_project_then_home() {
    let skills = Skills::new();
    let title = |name: &str| format!("---\nname: x\ndescription: d\n---\n# {name}\n");
    skills.env.write(".skillc/skills/x/SKILL.md", title("Home"));
    let outline = |dir: &str, skill: &str| skills.run_in(dir, &["outline", skill]);
    let shown = |dir: &str, skill: &str| outline(dir, skill).expect(0).stdout;
    assert_eq!(shown("project", "x"), "SKILL.md\n  # Home\n");
    skills.env.write("project/.skillc/skills/x/SKILL.md", title("Project"));
    assert_eq!(shown("project/deep/down", "x"), "SKILL.md\n  # Project\n");
    skills.env.write("project/x/SKILL.md", title("Path"));
    assert_eq!(shown("project", "x"), "SKILL.md\n  # Path\n");
    assert_eq!(shown("project/deep", "x"), "SKILL.md\n  # Project\n");
    // The home directory is never a project, whatever files it has.
    assert_eq!(shown("elsewhere", "x"), "SKILL.md\n  # Home\n");
    let output = outline("elsewhere", "tide-guide").expect(1);
    assert!(output.stderr.starts_with("error[E001]: skill 'tide-guide' not found\n"));
    skills.env.write("project/y/README.md", "");
    skills.check_error(&["outline", "y"], "error[E010]: not a valid skill: 'y' (missing SKILL.md)");
    // The global store moves as a whole.
    skills.env.write("moved/.skillc/skills/z/SKILL.md", title("Moved"));
    let moved = skills.env.path("moved");
    let mut command = skills.command(&["outline", "z"]);
    let output = skills.env.finish(command.env("SKILLC_HOME", moved)).expect(0);
    assert_eq!(output.stdout, "SKILL.md\n  # Moved\n");
}

#[test]
fn errors_for_programs_are_one_object() {
    let skills = Skills::built();
    for (args, code) in [
        (&["open", "tide-guide", "missing"][..], "E021"),
        (&["show", "tide-guide", "--section", "zeppelin"], "E020"),
        (&["outline", "nowhere"], "E001"),
        (&["search", "tide-guide", ""], "E004"),
        (&["search", "tide-guide"], "E100"),
    ] {
        let output = skills.run(&[args, &["--format", "json"]].concat()).expect(1);
        assert_eq!(output.stdout, "");
        let error = output.json_error();
        let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "code", "fix"]);
        assert_eq!(error["code"], code);
        let line = error["error"].as_str().unwrap();
        assert!(line.starts_with(&format!("error[{code}]: ")), "{line}");
    }
}

#[test]
fn errors_of_the_system_are_e999() {
    let skills = Skills::new();
    // A directory cannot be created at the path of a file.
    skills.env.write("project/.skillc/runtime", "a file");
    let output = skills.run(&["build", "tide-guide"]).expect(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error[E999]: cannot access "), "{}", output.stderr);
    assert_eq!(skills.run(&["build", "tide-guide", "-o", "json"]).json_error()["code"], "E999");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// For any files: what outline prints can be shown, and what search and sources return can be
    /// opened.
    #[test]
    fn whatever_is_listed_can_be_read(
        pages in proptest::collection::vec(
            (
                "[a-zA-Z0-9 ._-]{1,8}",
                proptest::collection::vec(
                    prop_oneof![
                        3 => "#{1,6} [ a-zA-Zäß*`_<&;—\\[\\]()\"'$-]{0,12}",
                        1 => "[ a-z]{0,9}",
                        1 => Just("===".to_owned()), 1 => Just("---".to_owned()),
                        1 => Just("```".to_owned()), 1 => Just("> ## quoted".to_owned()),
                        1 => Just("1. # listed".to_owned()), 1 => Just("# a — b".to_owned()),
                        1 => Just("## &#10;&#27;[2J".to_owned()),
                    ],
                    0..12,
                ),
                prop_oneof![Just("\n"), Just("\r\n")],
                any::<bool>(),
            ),
            1..4,
        ),
    ) {
        let skills = Skills::new();
        for (idx, (name, lines, end, has_mark)) in pages.iter().enumerate() {
            let mark = if *has_mark { "\u{feff}" } else { "" };
            skills.write(&format!("p{idx}/{name}.md"), mark.to_owned() + &lines.join(end));
        }
        skills.ok(&["build", "tide-guide"]);
        let outline = skills.json(&["outline", "tide-guide"]);
        let headings = texts(&outline, "heading");
        for (heading, file) in headings.iter().zip(texts(&outline, "file")) {
            let args = ["show", "tide-guide", "--section", heading, "--file", &file];
            let shown = skills.json(&args);
            // The protocol cuts a query at an em dash, so another heading may come first.
            let cut = heading.split(" — ").next().unwrap().trim().to_lowercase();
            let is_own = shown["heading"].as_str() == Some(heading);
            let same = |text: &str| text.to_lowercase() == heading.to_lowercase() || text.to_lowercase() == cut;
            prop_assert!(is_own || same(shown["heading"].as_str().unwrap()), "{heading}: {shown}");
            let first = shown["text"].as_str().unwrap().lines().next().unwrap_or_default().to_owned();
            let start = shown["start_line"].as_u64().unwrap();
            let opened = skills.json(&["open", "tide-guide", &file]);
            let text = opened["text"].as_str().unwrap().trim_start_matches('\u{feff}');
            let line = text.lines().nth(usize::try_from(start).unwrap() - 1).unwrap();
            prop_assert_eq!(first, line);
        }
        let sources = skills.json(&["sources", "tide-guide"]);
        for (path, kind) in texts(&sources, "path").into_iter().zip(texts(&sources, "type")) {
            if kind == "file" {
                let opened = skills.command(&["open", "tide-guide", &path]).output().unwrap();
                prop_assert!(opened.status.success(), "{path}");
                prop_assert_eq!(opened.stdout, fs::read(skills.path(&path)).unwrap());
            }
        }
        for word in ["a", "gauge", "md"] {
            let answer = skills.json(&["search", "tide-guide", word, "--limit", "100"]);
            for file in texts(&answer["results"], "file") {
                skills.ok(&["open", "tide-guide", &file]);
            }
        }
    }
}
