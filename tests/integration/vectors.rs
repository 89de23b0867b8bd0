//! Tests `kb embed`, which prints the vectors of texts as JSON lines.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::env::{Output, TestEnv, with_stdin};
use crate::word_model::word_env;

/// Parses one vector per line.
#[track_caller]
fn vectors(output: &Output) -> Vec<Vec<f32>> {
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
}

#[test]
fn a_text_becomes_one_line_of_numbers() {
    let env = TestEnv::real();
    let output = env.ok(&["embed", "how to install git"]);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.starts_with('[') && output.stdout.ends_with("]\n"));
    let found = vectors(&output);
    assert_eq!((found.len(), found[0].len()), (1, 384));
    assert!((cosine(&found[0], &found[0]) - 1.0).abs() < 1e-5);
    // The values of sentence-transformers, to the digits it prints in full precision.
    let full = env.kb_with(&[("KB_EMBEDDING_PRECISION", "fp32")], &["embed", "how to install git"]);
    let full = &vectors(&full.expect(0))[0];
    assert!(cosine(&found[0], full) > 0.98);
    assert!((full[0] - 0.026_270_82).abs() < 1e-4 && (full[1] + 0.074_794_32).abs() < 1e-4);
    assert!(!env.database().exists(), "no database is created");
    assert_eq!(env.ok(&["embed", "how to install git", "--format", "json"]).stdout, output.stdout);
}

#[test]
fn lines_of_stdin_are_embedded_in_order() {
    let env = word_env();
    let lines: Vec<String> = (0..600).map(|number| format!("tide gauge {number}")).collect();
    let typed = format!("frozen tide\r\n\n{}\nstorm", lines.join("\n"));
    let found = vectors(&with_stdin(&env, &["embed", "--stdin"], &typed).expect(0));
    assert_eq!(found.len(), 603);
    for (line, text) in
        [(0, "frozen tide"), (2, "tide gauge 0"), (400, "tide gauge 398"), (602, "storm")]
    {
        let alone = &vectors(&env.ok(&["embed", text]))[0];
        assert!(cosine(&found[line], alone) > 0.999_99, "{line}");
    }
    assert_eq!(with_stdin(&env, &["embed", "--stdin"], "").expect(0).stdout, "");
}

#[test]
fn an_answer_does_not_wait_for_the_next_line() {
    let env = word_env();
    let mut command = env.command(&["embed", "--stdin"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for text in ["tide\n", "storm\n"] {
        stdin.write_all(text.as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.starts_with('['), "{line}");
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn queries_and_passages_have_separate_prefixes() {
    let env = word_env();
    let prefixes =
        [("KB_EMBEDDING_QUERY_PREFIX", "storm anchor "), ("KB_EMBEDDING_PASSAGE_PREFIX", "apple ")];
    let embed = |args: &[&str]| {
        let data = [("KB_DATA_DIR", env.path("empty").to_str().unwrap().to_owned())];
        let model = [("KB_EMBEDDING_MODEL_DIR", env.path("tiny").to_str().unwrap().to_owned())];
        let mut command = env.command(args);
        let output = env.finish(command.envs(data).envs(model).envs(prefixes)).expect(0);
        vectors(&output).remove(0)
    };
    let plain = |text: &str| vectors(&env.ok(&["embed", text])).remove(0);
    assert!(cosine(&embed(&["embed", "tide", "--query"]), &plain("storm anchor tide")) > 0.999_99);
    assert!(cosine(&embed(&["embed", "tide"]), &plain("apple tide")) > 0.999_99);
}

#[test]
fn a_text_longer_than_the_model_reads_is_cut_with_a_notice() {
    let env = word_env();
    let long = "tide ".repeat(300);
    let warning = "is longer than the model's limit of 128 tokens; the rest is ignored\n";
    let output = env.ok(&["embed", &long]);
    assert_eq!(output.stderr, format!("warning: the text {warning}"));
    assert_eq!(output.stdout, env.ok(&["embed", &"tide ".repeat(126)]).stdout);
    let output = with_stdin(&env, &["embed", "--stdin"], &format!("tide\n{long}\n")).expect(0);
    assert_eq!(output.stderr, format!("warning: line 2 {warning}"));
    assert_eq!(vectors(&output).len(), 2);
}

/// Requires an empty stdout and an error object.
#[track_caller]
fn check_refused(output: &Output, code: &str, message: &str) {
    assert_eq!((output.status, output.stdout.as_str()), (1, ""), "{}", output.text());
    let error = output.json_error();
    assert_eq!(error["code"], code, "{error}");
    assert!(error["error"].as_str().unwrap().contains(message), "{error}");
}

#[test]
fn input_that_cannot_be_embedded_is_refused() {
    let env = word_env();
    check_refused(&env.kb(&["embed"]), "usage", "<TEXT>");
    check_refused(&env.kb(&["embed", "tide", "--stdin"]), "usage", "cannot be used with");
    check_refused(&env.kb(&["embed", "tide", "storm"]), "usage", "'storm'");
    check_refused(&env.kb(&["embed", " "]), "usage", "the text is empty");
    let other = [("KB_MODEL", "bge-small-en-v1.5")];
    check_refused(&env.kb_with(&other, &["embed", "tide"]), "model_mismatch", "DB uses 'tiny'");

    let mut command = env.command(&["embed", "--stdin"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"tide\n\xff\xfe\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let output = env.output(output.stdout, output.stderr, output.status).expect(1);
    assert_eq!(output.json_error()["error"], "line 2 of standard input is not UTF-8");

    let env = TestEnv::without_model();
    check_refused(&env.kb(&["embed", "tide"]), "not_installed", "is not installed");
    check_refused(&env.kb(&["embed", "--stdin"]), "not_installed", "is not installed");
}
