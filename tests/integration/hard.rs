//! The files that kb once read wrongly: words that their texts have, in this order, and words that they do not have.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::env::TestEnv;
use crate::left_out::left_out;

/// The name of a file, what is in its text, in this order, and what is not.
type Expected = (&'static str, &'static [&'static str], &'static [&'static str]);

const FILES: [Expected; 15] = [
    (
        "white-text-under-picture.pdf",
        &[
            "the quick heron landed on a wet meadow",
            "farmer saw it from his own old barn",
            "Antwerp",
        ],
        &["|"],
    ),
    (
        "links-table.html",
        &[
            "# Annual report",
            "## Item 15. Exhibits",
            "| 10.0 | Lease agreement with Abyss Group number alpha |",
            "| 10.7 | Lease agreement with Abyss Group number theta |",
            "## Signatures",
        ],
        &[],
    ),
    (
        "links-sources.html",
        &[
            "believe that the outlook",
            "[0] https://t.me/modmilby/20635",
            "[4] https://t.me/axios/20635",
        ],
        &[],
    ),
    (
        "links-further-reading.html",
        &["## Further reading", "- The rose book of gardening", "- The fern book of gardening"],
        &[],
    ),
    (
        "10k.html",
        &[
            "| Item 1A. | Risk Factors |",
            "| Item 15. | Exhibits and Financial Statement Schedules |",
            "ITEM 15. EXHIBITS AND FINANCIAL STATEMENT SCHEDULES",
            "| 3.3 | | Second Amended and Restated Bylaws | 8-K |",
            "| 10.2 | | Amendment to lease agreement with Abyss Group, LLC",
            "| 10.47 | | Settlement Agreement with former Chairman",
            "| 104 | | Cover Page Interactive Data File",
            "SIGNATURES",
        ],
        &[],
    ),
    (
        "10k-1p.html",
        &[
            "TRANSITION REPORT PURSUANT TO SECTION 13",
            "Galaxy Gaming, Inc.",
            "TABLE OF CONTENTS",
            "| Item 4. | Mine Safety Disclosures | 9 |",
            "| Item 9B. | Other Information | 35 |",
        ],
        &[],
    ),
    (
        "numbered-sources.html",
        &[
            "[32] https://t.me/wargonzo/9769; https://t.me/rybar/41972",
            "[51] https://www.rferl.org/a/ukraine-zaporizhzhia",
            "[79] https://t.me/m0sc0wcalling/16191",
        ],
        &[],
    ),
    (
        "blank-row-below-head.xlsx",
        &[
            "3.1 Operating segments",
            "| In millions of CHF | Sales (a) |",
            "| --- |",
            "| Zone NA | 12,553 | 2,713 |",
            "| Total | 46,293 |",
            "| Zone NA | 12,138 | 2,284 |",
        ],
        &["| Zone NA | 12,553 | 2,713 | 2,632 | (81) | (29) | (44) | (337) | | ---"],
    ),
    (
        "fake-bold.pdf",
        &["Fake Bold PDF Test Document", "Hello World", "BOLD TEXT SAMPLE", "The quick brown fox"],
        &["BBOOLLDD TT", "TTEEXXTT", "TTee", "DDee"],
    ),
    (
        "figures-in-columns.pdf",
        &["eastern mediterranean", "offshore Israel and Egypt", "2.5", "carbon intensity"],
        &[],
    ),
    (
        "rotated-statements.pdf",
        &[
            "CONSOLIDATED STATEMENTS OF EQUITY",
            "| | Shares | Amount | Shares | Amount | Capital | Loss | Equity |",
            "| Balance, June 30, 2015 | 1,240 | $ 12 | 799 | $ 8 | $ 13,427 |",
            "| Net income | - | - | - | - | - | 2,755 | 2,755 | 147 | 2,902 |",
            "| Balance, June 30, 2018 | 1,054 | $ 11 | 799 | $ 8 | $ 12,612 |",
        ],
        &["# Class A", "# Class B"],
    ),
    (
        "row-span.pdf",
        &[
            "| Plan Type | County | Plan Name | Totals |",
            "| GMC | Sacramento | Anthem Blue Cross | 164,380 |",
            "| COHS | Marin | Partnership Health Plan of CA | 36,006 |",
            "| COHS | Ventura | Gold Coast Health Plan | 202,217 |",
            "| All Models Total Enrollments | | | 10,132,875 |",
        ],
        &[],
    ),
    (
        "invoice-rows.pdf",
        &[
            "93B Sai Yu Chung Yuen Long",
            "# Rechnung",
            "1 1 Small Business StandardExchange 2010 3,89 3,89",
            "| Uferweg 40-42 |",
        ],
        &["# 1 1 Small", "# 93B", "# Dienst"],
    ),
    (
        "invoice-fiber.pdf",
        &[
            "| FO10479674 | 10577874 |",
            "# Facture n°562044387 du 02 Juillet 2015",
            "| Abonnements, forfaits et options | 24.99 | 5.00 | 29.99 |",
            "| Total facture | 24.99 | 5.00 | 29.99 |",
            "Somme à payer 29.99 € TTC",
        ],
        &["# Total", "# Somme"],
    ),
    (
        "labels-above-values.pdf",
        &[
            "| Invoice Date: | Due Date: | Reference: |",
            "| 03/20/2023 | 04/04/2023 | CUSTREF123 |",
            "| [FURN_7777] Office Chair | 1.00 Units | 70.00 |",
            "| Tax 15% on $ 112.90 | $ 16.94 |",
            "| Total | $ 279.84 |",
        ],
        &["Invoice Date: Due Date:"],
    ),
];

/// Joins lines, and blank cells of a table.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn files_that_were_read_wrongly_have_their_words_in_order() {
    let what = "files_that_were_read_wrongly_have_their_words_in_order";
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archives = manifest_dir.ancestors().map(|folder| folder.join("shared/data/hard.tar.zst"));
    let Some(archive) = archives.into_iter().find(|path| path.exists()) else {
        return left_out("hard", what);
    };
    let env = TestEnv::new();
    let folder = env.path("files");
    fs::create_dir(&folder).unwrap();
    let unpack =
        Command::new("tar").arg("--zstd").arg("-xf").arg(archive).arg("-C").arg(&folder).output();
    if !unpack.is_ok_and(|status| status.status.success()) {
        return left_out("tar", what);
    }
    env.ok(&["convert", "files/hard", "--output=out"]);
    for (name, words, others) in FILES {
        let text = fs::read_to_string(env.path(format!("out/{name}.md"))).unwrap();
        let text = on_one_line(&text);
        let mut rest = text.as_str();
        for part in words {
            let found = rest.find(part).unwrap_or_else(|| panic!("{name}: no {part:?} in {rest}"));
            rest = &rest[found + part.len()..];
        }
        for part in others {
            assert!(!text.contains(part), "{name}: {part:?} in {text}");
        }
    }
    // A row of data is never repeated as a head, and the head is, unless it is too long.
    let convert = ["convert", "--format=jsonl", "--chunks", "files/hard/blank-row-below-head.xlsx"];
    let lines = env.ok(&convert).stdout;
    let document: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    let chunks = document["chunks"].as_array().unwrap().iter().map(ToString::to_string);
    let chunks: Vec<String> = chunks.collect();
    let with = |words: &str| chunks.iter().filter(|chunk| chunk.contains(words)).count();
    assert_eq!(with("| Zone NA | 12,553 |"), 1, "{document}");
    let is_last = |chunk: &&String| chunk.contains("> Reconciliation") && chunk.contains("| ---");
    let last: Vec<&String> = chunks.iter().filter(is_last).collect();
    assert!(last.len() > 1, "{document}");
    for chunk in last {
        assert!(chunk.contains("| In millions of CHF | January"), "{chunk}");
    }
}
