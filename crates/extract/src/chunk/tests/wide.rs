//! Tests chunks of tables that are too wide for one.

use super::*;

#[test]
fn a_wide_table_is_divided_by_columns_with_its_head_and_its_labels() {
    let cell = |row: usize, column: usize| match (row, column) {
        (0, 0) => "Station".to_owned(),
        (row, 0) => format!("Pier{row}"),
        (0, column) => format!("head{column}"),
        (row, column) => format!("v{row}x{column}"),
    };
    let row = |row: usize| {
        let cells: Vec<String> = (0..60).map(|column| cell(row, column)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = (1..6).map(row).collect();
    let text = format!("# Gauges\n\n{}|{}\n{rows}", row(0), " --- |".repeat(60));
    let document = markdown::extract(&text);
    let chunks = chunk(&document, "", &words, &options(Strategy::Structure, 80, 10));
    assert!(chunks.iter().all(|chunk| words(&chunk.text) <= 80));
    assert!(chunks[0].text.starts_with("# Gauges\n\n| Station | head1 |"));
    for (row, column) in [(1, 1), (1, 59), (3, 30), (5, 17), (5, 59)] {
        let found =
            chunks.iter().find(|chunk| chunk.text.contains(&format!(" {} ", cell(row, column))));
        let found = found.unwrap();
        let cells = |line: &str| {
            line.split(" | ")
                .map(|cell| cell.trim_matches(['|', ' ']).to_owned())
                .collect::<Vec<_>>()
        };
        let line = found
            .text
            .lines()
            .find(|line| line.contains(&format!(" {} ", cell(row, column))))
            .unwrap();
        let at = cells(line).iter().position(|found| *found == cell(row, column)).unwrap();
        assert_eq!(cells(line)[0], cell(row, 0));
        let head = found.text.lines().find(|line| line.starts_with("| Station")).unwrap();
        assert_eq!(cells(head)[at], cell(0, column));
        assert!(found.lines.unwrap().contains(u32::try_from(row).unwrap() + 4));
    }
}

#[test]
fn long_labels_and_heads_are_shortened_and_named() {
    let long = |word: &str| format!("{word} ").repeat(50);
    let text = format!(
        "# Gauges\n\n| Place | {} | Rest |\n| --- | --- | --- |\n| {} | 17 | {} |\n",
        long("head"),
        long("label"),
        long("text")
    );
    let document = markdown::extract(&text);
    let (chunks, warnings) =
        chunk_and_warn(&document, "", &words, &options(Strategy::Structure, 60, 10));
    assert!(chunks.iter().all(|chunk| words(&chunk.text) <= 60), "{chunks:#?}");
    let found = chunks.iter().find(|chunk| chunk.text.contains("| 17 |")).unwrap();
    assert!(found.text.contains("head…") && found.text.contains("label…"), "{}", found.text);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("`Place | head"), "{}", warnings[0]);
    for word in ["head", "label", "text"] {
        let num: usize = chunks.iter().map(|chunk| chunk.text.matches(word).count()).sum();
        assert!(num >= 50, "{word} {num}");
    }
}
