//! Tests the forms of evidence: budgets, neighbours, formats, batches of queries, similar
//! documents; and documents without files.

use serde_json::{Value, json};

use crate::env::{CORPUS, TestEnv, with_stdin};

fn results(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap()
}

/// The sections of a report, which differ in their figures.
fn report() -> String {
    let months = (1..=60).map(|month: u32| {
        let (boats, tickets, storms) = (month % 37 + 20, month % 23 + 4, month % 4);
        let (paid, repairs) = (month % 53 * 97 + 1500, month % 41 * 31 + 200);
        format!(
            "\n## Month {month}\n\nIn month {month}, {boats} boats used the harbour and paid {paid} for the pier. \
             The tide gauge was read on {storms} days after storms; repairs of the pier cost {repairs}. The office \
             sold {tickets} season tickets to visitors, who came by the ferry of the morning.\n"
        )
    });
    format!("# Report of the harbour office\n{}", months.collect::<String>())
}

#[test]
fn further_passages_of_one_document_are_no_scraps() {
    let env = TestEnv::real();
    env.write("docs/report.md", report());
    env.write("docs/other.md", "# Boats\n\nHow many boats use a harbour in storms?\n");
    env.ok(&["add", "-q", "docs"]);
    for (query, num_passages) in
        [("what did repairs of the pier cost", 11), ("how much did boats pay for the pier", 10)]
    {
        let path = env.path("docs/report.md").display().to_string();
        let answer = env.json(&["search", query, "--path", &path, "--budget", "1000"]);
        // Nothing is left out because other documents have more weight.
        assert_eq!(results(&answer).len(), num_passages, "{query}");
        let chunks = results(&answer).iter().map(|passage| &passage["chunk_ids"]);
        let num_chunks: usize = chunks.map(|ids| ids.as_array().unwrap().len()).sum();
        assert!(num_chunks >= 10, "{query}: {num_chunks}");
    }
}

#[test]
fn a_budget_is_filled_and_never_exceeded() {
    let env = TestEnv::with_corpus();
    let plain = env.json(&["search", "frozen gauge", "--top", "100"]);
    for budget in [1, 40, 100, 300, 1000, 100_000] {
        for mode in [None, Some("--fts-only")] {
            let flag = format!("--budget={budget}");
            let args: Vec<&str> =
                ["search", "frozen gauge", &flag].into_iter().chain(mode).collect();
            let answer = env.json(&args);
            assert_eq!(answer["budget"], budget);
            let total = answer["tokens"].as_u64().unwrap();
            assert!(total <= budget, "{total} of {budget}");
            let parts = results(&answer).iter().map(|passage| passage["tokens"].as_u64().unwrap());
            assert_eq!(parts.sum::<u64>(), total);
            assert_eq!(answer["returned"], results(&answer).len());
            assert_eq!(results(&answer).is_empty(), budget < 24, "{answer}");
            // The fields that older programs read are unchanged.
            for passage in results(&answer) {
                for key in plain["results"][0].as_object().unwrap().keys() {
                    assert!(passage.get(key).is_some(), "{key}");
                }
                let ids = passage["chunk_ids"].as_array().unwrap();
                assert!(ids.contains(&passage["chunk_id"]), "{passage}");
            }
        }
    }
    // The budget fits everything: every chunk is in exactly one passage.
    let answer = env.json(&["search", "frozen gauge", "--budget=100000", "--path", CORPUS]);
    let mut ids: Vec<i64> = results(&answer)
        .iter()
        .flat_map(|passage| {
            passage["chunk_ids"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap())
        })
        .collect();
    let num_ids = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), num_ids);
    let handbook: Vec<&Value> =
        results(&answer).iter().filter(|result| result["source"]["document_id"] == 4).collect();
    assert_eq!(handbook.len(), 1, "neighbours are one passage");
    assert!(handbook[0]["text"].as_str().unwrap().contains("## Winter"));
    let one = env.json(&["search", "frozen gauge", "--budget=1000", "--top=1"]);
    assert_eq!(one["returned"], 1);
}

#[test]
fn without_a_database_a_budget_is_still_answered_with_passages() {
    let env = TestEnv::without_model();
    let answer = env.json(&["search", "anything", "--budget", "100"]);
    assert_eq!((&answer["budget"], &answer["tokens"]), (&100.into(), &0.into()));
    assert!(results(&answer).is_empty());
}

#[test]
fn context_adds_the_chunks_around_a_hit() {
    let env = TestEnv::with_corpus();
    let args = ["search", "brine", "--fts-only", "--top=1"];
    let alone = env.json(&args);
    let hit = &alone["results"][0];
    assert!(hit.get("chunk_ids").is_none() && alone.get("tokens").is_none());
    let wider = env.json(&[&args[..], &["--context=1"]].concat());
    let passage = &wider["results"][0];
    assert_eq!(passage["chunk_id"], hit["chunk_id"]);
    assert_eq!(passage["chunk_ids"].as_array().unwrap().len(), 3);
    assert!(passage["text"].as_str().unwrap().contains(hit["text"].as_str().unwrap()));
    assert!(passage["source"]["start_line"].as_u64() < hit["source"]["start_line"].as_u64());
    assert!(passage["source"]["end_line"].as_u64() > hit["source"]["end_line"].as_u64());
    assert!(wider.get("budget").is_none() && wider["tokens"].as_u64().unwrap() > 0);
}

#[test]
fn results_are_printed_as_lines_locations_or_markdown() {
    let env = TestEnv::with_corpus();
    let search = |format: &str| env.ok(&["search", "ferry gauge", "--format", format]).stdout;
    let plain = env.json(&["search", "ferry gauge"]);
    let lines: Vec<Value> =
        search("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&lines, results(&plain));
    let paths = search("paths");
    let expected: Vec<String> = results(&plain)
        .iter()
        .map(|result| match (&result["source"]["path"], &result["source"]["at"]["line"]) {
            (Value::Null, _) => format!("kb://document/{}", result["source"]["document_id"]),
            (path, Value::Null) => path.as_str().unwrap().to_owned(),
            (path, line) => format!("{}:{line}", path.as_str().unwrap()),
        })
        .collect();
    assert_eq!(paths.lines().collect::<Vec<_>>(), expected);
    let markdown = search("md");
    assert_eq!(markdown.matches("**").count(), 2 * lines.len(), "{markdown}");
    assert!(markdown.contains("\n```go\n") && markdown.contains("\n> "), "{markdown}");
    let budget = env.ok(&["search", "ferry gauge", "--budget=200", "--format=human"]).stdout;
    assert!(budget.lines().next().unwrap().ends_with("of 200 tokens)"), "{budget}");
    let error = env.kb(&["search", "", "--format", "paths"]).expect(1);
    assert!(error.stderr.starts_with("error: the query is empty\n"), "{}", error.stderr);
    assert_eq!(
        env.kb(&["search", "", "--format=jsonl"]).expect(1).json_error()["code"],
        "empty_query"
    );
}

#[test]
fn a_batch_of_queries_is_answered_line_by_line_in_order() {
    let env = TestEnv::with_corpus();
    let lines = concat!(
        "frozen gauge\n\n",
        "{\"query\": \"ferry\", \"top\": 1, \"fts_only\": true}\r\n",
        "{\"query\": \"ferry\", \"limt\": 1}\n",
        "ferry -gauge\n",
        "-gauge\n",
        "{\"query\": \"gauge\", \"type\": \"pdf\", \"budget\": 200}",
    );
    let output = with_stdin(&env, &["search", "--batch", "-", "--top", "2"], lines).expect(0);
    let answers: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[0], env.json(&["search", "frozen gauge", "--top=2"]));
    assert_eq!(answers[1], env.json(&["search", "ferry", "--top=1", "--fts-only"]));
    assert_eq!(answers[2]["code"], "usage");
    assert!(answers[2]["error"].as_str().unwrap().contains("unknown field `limt`"));
    assert_eq!(answers[3]["query"], "ferry -gauge");
    assert_eq!(answers[4]["code"], "only_exclusions");
    assert_eq!(answers[5], env.json(&["search", "gauge", "--type=pdf", "--budget=200", "--top=2"]));
    // The same as text; each answer is below its line.
    let args = ["search", "--batch", "-", "--top", "2", "--format", "agent"];
    let output = with_stdin(&env, &args, lines).expect(0).stdout;
    let alone = env.ok(&["search", "frozen gauge", "--top=2", "--format=agent"]).stdout;
    let first = format!("# frozen gauge\n{alone}\n# {{\"query\": \"ferry\", \"top\": 1");
    assert!(output.starts_with(&first), "{output}");
    let failed = "\n# {\"query\": \"ferry\", \"limt\": 1}\nerror: the line is not a query: unknown field `limt`";
    assert!(output.contains(failed) && output.contains("\n\n# ferry -gauge\n"), "{output}");
    let args = ["search", "--batch", "-", "--format", "paths"];
    assert_eq!(with_stdin(&env, &args, lines).expect(1).json_error()["code"], "usage");
    let file = env.write("queries.txt", "{\"query\": 3}\n");
    let failed = env.kb(&["search", "--batch", file.to_str().unwrap()]).expect(1);
    assert_eq!(serde_json::from_str::<Value>(&failed.stdout).unwrap()["code"], "usage");
    assert_eq!(
        env.kb(&["search", "--batch", "missing"]).expect(1).json_error()["code"],
        "path_not_found"
    );
    env.kb(&["search", "words", "--batch", "-"]).expect(1);
    assert_eq!(with_stdin(&env, &["search", "--batch", "-"], "").expect(0).stdout, "");
}

#[test]
fn similar_documents_and_chunks_are_found_without_a_model() {
    let env = TestEnv::without_model();
    env.install_real_sample();
    let like = env.json(&["similar", "handb", "--format=json"]);
    let documents: Vec<i64> = results(&like)
        .iter()
        .map(|result| result["source"]["document_id"].as_i64().unwrap())
        .collect();
    assert_eq!(documents[0], 5, "the other page about the station");
    assert_eq!(documents.len(), 7);
    assert!(!documents.contains(&4));
    let cosines: Vec<f64> = results(&like)
        .iter()
        .map(|result| result["evidence"]["cosine"].as_f64().unwrap())
        .collect();
    assert!(cosines.is_sorted_by(|a, b| a >= b), "{cosines:?}");
    let hit = env.json(&["search", "mussels", "--fts-only", "--top=1"]);
    let id = hit["results"][0]["chunk_id"].to_string();
    let like =
        env.json(&["similar", "--chunk", &id, "--top=3", "--type=markdown", "--format=json"]);
    assert_eq!((like["returned"].as_u64(), &like["document_id"]), (Some(3), &Value::Null));
    assert!(
        results(&like).iter().all(|result| result["chunk_id"] != hit["results"][0]["chunk_id"])
    );
    assert!(results(&like).iter().all(|result| result["source"]["type"] == "markdown"));
    let human = env.ok(&["similar", "4", "--top", "1"]).stdout;
    assert!(human.starts_with("Similar: 1 passage\n\n1. ["), "{human}");
    assert_eq!(
        env.kb(&["similar", "--chunk=9999", "--format=json"]).expect(1).json_error()["code"],
        "unknown_chunk"
    );
}

#[test]
fn a_document_is_read_from_standard_input() {
    let env = TestEnv::new();
    let text = "# Ropes\n\nThe long rope is in the loft.\n";
    let args = ["add", "-", "--title", "Loft", "--tags", "a", "--format=json"];
    let report = with_stdin(&env, &args, text).expect(0).json();
    assert_eq!((&report["added"], &report["document_ids"]), (&json!(1), &json!([1])));
    let info = env.json(&["info", "1", "--format=json"]);
    assert_eq!((&info["title"], &info["type"]), (&json!("Loft"), &json!("markdown")));
    assert_eq!((&info["path"], &info["tags"]), (&Value::Null, &json!(["a"])));
    assert_eq!(with_stdin(&env, &args, text).expect(0).json()["skipped"], 1);
    with_stdin(&env, &["add", "-", "--language", "python"], "def f():\n    return 1\n").expect(0);
    assert_eq!(env.json(&["info", "2", "--format=json"])["language"], "python");
    assert!(with_stdin(&env, &["add", "-"], "").expect(1).stderr.starts_with("error: "));
}

#[test]
fn a_note_is_changed_in_place() {
    let env = TestEnv::with_corpus();
    let before = env.json(&["info", "7", "--format=json"]);
    let args = ["add", "--note", "The charger is lost.", "--replace", "7", "--tags", "x"];
    let report = env.ok(&[&args[..], &["--format=json"]].concat()).json();
    assert_eq!((&report["updated"], &report["document_ids"]), (&json!(1), &json!([7])));
    let after = env.json(&["info", "7", "--format=json"]);
    assert_eq!(after["chunks"][0]["preview"], "The charger is lost.");
    assert_eq!((&after["created_at"], &after["title"]), (&before["created_at"], &json!("Charger")));
    assert_eq!(after["tags"], json!(["sample", "station", "x"]));
    let gone = env.json(&["search", "\"blue box\"", "--fts-only"]);
    assert_eq!(gone["total_matches"], 0);
    // A document with a file, a missing one, and a text that another note has.
    for (id, code) in [("4", "unknown_document"), ("99", "unknown_document"), ("8", "usage")] {
        let args = ["add", "--note", "The charger is lost.", "--replace", id, "--format=json"];
        assert_eq!(env.kb(&args).expect(1).json_error()["code"], code, "{id}");
    }
    let refused = env.kb(&["add", "--note", "The charger is lost.", "--replace", "4"]).expect(1);
    assert!(refused.stderr.starts_with("error: document 4 is not a note: "), "{}", refused.stderr);
    let kept = env.ok(&["add", "--note", "A new one."]).stderr;
    assert!(kept.ends_with("The note has id 9.\n"), "{kept}");
    env.kb(&["add", "file.md", "--replace", "7"]).expect(1);
}

#[test]
fn every_format_says_whether_the_hits_are_an_answer() {
    const VERDICT: &str = "Nothing here seems to answer this.\n";
    let env = TestEnv::with_corpus();
    for form in [&["--top=2"][..], &["--budget=200"], &["--context=1", "--top=1"]] {
        let args = [&["search", "zqxv wvutr plorf"], form].concat();
        let answer = env.json(&args);
        assert_eq!(answer["confidence"], "none", "{answer}");
        assert_ne!(answer["returned"], 0, "{answer}");
        let human = env.ok(&[&args[..], &["--format=human"]].concat());
        assert!(human.stdout.ends_with(VERDICT), "{}", human.stdout);
        for format in ["--format=md", "--format=agent"] {
            let output = env.ok(&[&args[..], &[format]].concat());
            let first = output.stdout.lines().next().unwrap_or_default();
            assert_eq!(format!("{first}\n"), VERDICT, "{format}");
        }
        for format in ["--format=paths", "--format=jsonl"] {
            let output = env.ok(&[&args[..], &[format]].concat());
            assert_eq!(output.stderr, VERDICT, "{format}");
            assert!(!output.stdout.contains(VERDICT), "{format}");
        }
    }
}

#[test]
fn people_see_how_many_near_duplicates_were_left_out() {
    let env = TestEnv::with_corpus();
    let text = "The zephyrine valve was greased in March, and the pump was painted again in April. \
        Whoever comes next should look at the rope, the lamp and both anchors before winter, \
        because salt water has reached them twice since the harbour wall was opened.";
    for name in ["one", "two", "three"] {
        env.write(&format!("notes/{name}.md"), format!("# Valves\n\n{text} Seen by {name}.\n"));
    }
    // In a few candidates, nothing is left out.
    for number in 0..300 {
        env.write(
            &format!("notes/{number}.md"),
            format!("# {number}\n\nThe valve of storm {number}.\n"),
        );
    }
    env.ok(&["add", "notes"]);
    let args = ["search", "zephyrine valve", "--top=3"];
    let answer = env.json(&args);
    assert_eq!(answer["results"][0]["copies"], 2, "{answer}");
    let human = env.ok(&[&args[..], &["--format=human"]].concat()).stdout;
    assert_eq!(human.matches("[2 near duplicates left out]").count(), 1, "{human}");
}

/// A report with a table that is longer than a chunk.
fn table() -> String {
    let rows = (1..=90).map(|row| format!("| station {row} | {} | {} |\n", row * 37, row * 11));
    let rows: String = rows.collect();
    format!(
        "# Yearly report\n\nThe stations sent their figures.\n\nTable 1: rain in mm\n\n\
         | station | rain | snow |\n| --- | --- | --- |\n{rows}\nThe office thanks all stations.\n"
    )
}

#[test]
fn a_table_is_whole_or_has_its_head_and_marks_in_every_form() {
    let env = TestEnv::real();
    env.write("docs/report.md", table());
    env.ok(&["add", "-q", "docs"]);
    let search = |budget: &str, format: &str| {
        env.ok(&["search", "rain of station 47", "--budget", budget, "--format", format]).stdout
    };
    for budget in ["300", "600", "4000"] {
        let json: Value = serde_json::from_str(&search(budget, "json")).unwrap();
        let texts: Vec<&str> =
            results(&json).iter().map(|passage| passage["text"].as_str().unwrap()).collect();
        let text = texts.join("\n");
        assert!(text.contains("| station | rain | snow |\n| --- | --- | --- |"), "{text}");
        assert!(text.contains("| station 47 | 1739 | 517 |"), "{text}");
        assert_eq!(text.matches("| station | rain |").count(), 1, "{text}");
        assert_eq!(text.contains(" rows\n"), budget != "4000", "{text}");
        assert!(text.contains("Table 1: rain in mm"), "{text}");
        for format in ["agent", "md"] {
            let printed = search(budget, format);
            assert!(printed.contains("| station 47 | 1739 | 517 |"), "{format}: {printed}");
        }
    }
    // `kb show` prints the head of the table once.
    let shown = env.ok(&["show", "1", "--format", "md"]).stdout;
    assert_eq!(shown.matches("| station | rain |").count(), 1, "{shown}");
}

#[test]
fn the_form_for_agents_names_each_document_once_and_keeps_to_the_budget() {
    let env = TestEnv::real();
    env.write("docs/report.md", report());
    env.ok(&["add", "-q", "docs"]);
    let path = env.path("docs/report.md").display().to_string();
    let tiny = env.ok(&["search", "cost of repairs", "--budget=20", "--format=agent"]).stdout;
    assert!(tiny.contains("no passage fits: a larger budget shows "), "{tiny}");
    for budget in [200_usize, 500, 1000, 2000] {
        for format in ["agent", "md"] {
            let printed = env
                .ok(&[
                    "search",
                    "what did repairs of the pier cost",
                    "--budget",
                    &budget.to_string(),
                    "--format",
                    format,
                ])
                .stdout;
            let num_tokens = kb_base::text::tokens::estimate(&printed);
            // A part of a passage has 16 tokens at least, and a citation. One in `md` names the path: the folder of this
            // test has a random name, of a few tokens more or fewer, so that a whole passage may not fit.
            let least_left = if format == "md" { 100 } else { 60 };
            let is_full = num_tokens + least_left.max(budget / 10) >= budget;
            assert!(num_tokens <= budget && is_full, "{num_tokens} of {budget}");
            if format == "agent" {
                let named = "**Report of the harbour office**, document 1\n";
                assert_eq!(printed.matches(named).count(), 1, "{printed}");
                assert!(!printed.contains(&path) && !printed.contains("chunk"), "{printed}");
            }
        }
    }
}
