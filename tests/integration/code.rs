//! Tests how source code is split: definitions, their comments, and the code between them.

use crate::contract::{Chunk, Info, read};
use crate::env::TestEnv;

/// Adds one file, with settings, and returns its chunks with their texts and contexts.
fn chunks(vars: &[(&str, &str)], name: &str, content: &str) -> Vec<(Chunk, String, String)> {
    let mut env = TestEnv::new();
    for (name, value) in vars {
        env.set(name, value);
    }
    env.write(name, content);
    env.ok(&["add", name]);
    let info: Info = read(&env.ok(&["info", "1", "--format", "json"]));
    let texts = env.sql_column("SELECT text FROM chunks ORDER BY chunk_index");
    let contexts = env.sql_column("SELECT context FROM chunks ORDER BY chunk_index");
    assert!(texts.len() == info.chunks.len() && !texts.is_empty());
    info.chunks.into_iter().zip(texts).zip(contexts).map(|((a, b), c)| (a, b, c)).collect()
}

fn symbols(chunks: &[(Chunk, String, String)]) -> Vec<Option<&str>> {
    chunks.iter().map(|chunk| chunk.0.symbol.as_deref()).collect()
}

/// Returns the text of the single chunk of a symbol.
#[track_caller]
fn text<'a>(chunks: &'a [(Chunk, String, String)], symbol: &str) -> &'a str {
    let mut found = chunks.iter().filter(|chunk| chunk.0.symbol.as_deref() == Some(symbol));
    let (Some(one), None) = (found.next(), found.next()) else {
        panic!("{symbol}: {:?}", symbols(chunks));
    };
    &one.1
}

/// Returns twelve lines, which make a definition large enough for a separate chunk.
fn body(indent: &str) -> String {
    (0..12)
        .map(|number| format!("{indent}value_{number} = compute(value_{number}, {number})\n"))
        .collect()
}

fn python() -> String {
    let (four, eight) = (body("    "), body("        "));
    format!(
        "\"\"\"Reads gauges.\"\"\"\n\nimport math\n\nLIMIT = 5\n\n\n\
         @cached\ndef first(value_0):\n    \"\"\"The first.\"\"\"\n{four}\n\
         print('between')\nTABLE = [{LIST}]\n\n\
         class Gauge:\n    \"\"\"A gauge on the pier.\"\"\"\n\n\
         \x20   def read(self):\n{eight}\n    def write(self):\n{eight}\n\
         # Says hello.\nasync def last():\n{four}"
    )
}

/// Top-level code too long to be merged with a neighbour.
const LIST: &str = "1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020";

#[test]
fn methods_of_languages_with_and_without_a_grammar_are_chunks() {
    let body = body("      ");
    let ruby = format!(
        "# Reads gauges.\nclass Gauge\n  def read(port)\n{body}  end\n\n  def write(port)\n{body}  end\nend\n"
    );
    let read = chunks(&[], "gauge.rb", &ruby);
    // Without its grammar, the language is divided by its words.
    let symbol = if cfg!(feature = "grammars") { "Gauge::read" } else { "Gauge.read" };
    assert!(text(&read, symbol).trim_start().starts_with("def read(port)"));
    assert!(read.iter().any(|chunk| chunk.2.contains("class Gauge\nReads gauges.")), "{read:?}");
    let swift = format!(
        "// Reads gauges.\nclass Gauge {{\n  func read(port: Int) {{\n{body}  }}\n\n  func write() {{\n{body}  }}\n}}\n"
    );
    let read = chunks(&[], "gauge.swift", &swift);
    assert!(text(&read, "Gauge.read").trim_start().starts_with("func read(port: Int)"));
    assert!(read.iter().any(|chunk| chunk.2.contains("class Gauge\nReads gauges.")), "{read:?}");
}

#[test]
fn python_functions_classes_and_methods_are_chunks() {
    let chunks = chunks(&[], "gauges.py", &python());
    assert!(text(&chunks, "first").starts_with("@cached\ndef first("));
    assert!(text(&chunks, "Gauge.read").trim_start().starts_with("def read(self)"));
    assert!(text(&chunks, "Gauge.write").trim_start().starts_with("def write(self)"));
    assert!(text(&chunks, "last").starts_with("# Says hello.\nasync def last("));
    assert!(symbols(&chunks).contains(&Some("Gauge")), "{:?}", symbols(&chunks));
    // Code between definitions is a chunk without a symbol.
    let between: Vec<&str> = chunks
        .iter()
        .filter(|chunk| chunk.0.symbol.is_none())
        .map(|chunk| chunk.1.as_str())
        .collect();
    assert!(
        between.iter().any(|text| text.contains("import math") && text.contains("LIMIT = 5")),
        "{between:?}"
    );
    assert!(
        between.iter().any(|text| text.contains("print('between')") && text.contains("TABLE")),
        "{between:?}"
    );
}

#[test]
fn a_method_is_read_with_its_class_and_the_docstring() {
    let is_in_context = |vars: &[(&str, &str)]| {
        let chunks = chunks(vars, "gauges.py", &python());
        let read = chunks
            .into_iter()
            .find(|chunk| chunk.0.symbol.as_deref() == Some("Gauge.read"))
            .unwrap();
        assert!(!read.1.contains("A gauge on the pier."), "{}", read.1);
        assert!(read.2.starts_with("gauges"), "{}", read.2);
        read.2.contains("class Gauge") && read.2.contains("A gauge on the pier.")
    };
    assert!(is_in_context(&[]));
    assert!(!is_in_context(&[("KB_CHUNKING_CODE_INCLUDE_CONTEXT", "false")]));
}

#[test]
fn bash_functions_are_chunks_in_both_forms() {
    let body: String = (0..9)
        .map(|number| format!("    echo \"line {number} ${{x{number}:-{{}}}}\" >>\"$LOG\"\n"))
        .collect();
    let source = format!(
        "#!/bin/bash\nset -e\n\n# Says what went wrong.\n# And ends.\nfail() {{\n{body}}}\n\n\
         function report {{\n{body}}}\n\nfunction both() {{\n{body}}}\n\nfail now\nreport \"$@\"\n"
    );
    let chunks = chunks(&[], "script.sh", &source);
    let fail = text(&chunks, "fail");
    assert!(
        fail.starts_with("# Says what went wrong.\n# And ends.\nfail() {") && fail.ends_with('}'),
        "{fail}"
    );
    assert!(text(&chunks, "report").starts_with("function report {"));
    assert!(text(&chunks, "both").starts_with("function both() {"));
    assert!(chunks.iter().any(|chunk| chunk.0.symbol.is_none() && chunk.1.contains("fail now")));
}

#[test]
fn a_go_type_is_one_chunk_with_the_methods_that_follow() {
    let lines = |num: usize| -> String {
        (0..num).map(|line| format!("\tg.value{line} = compute(g.value{line}, {line})\n")).collect()
    };
    let source = |num_lines: usize| {
        let (body, free) = (lines(num_lines), lines(9));
        format!(
            "package gauge\n\nimport \"fmt\"\n\n// Gauge measures.\ntype Gauge struct {{\n\tvalue0 int\n}}\n\n\
             func NewGauge() (*Gauge, error) {{\n\treturn nil, nil\n}}\n\n\
             // Read reads.\nfunc (g *Gauge) Read() {{\n{body}}}\n\nfunc (g *Gauge) Write() {{\n{body}}}\n\n\
             // Free stands alone.\nfunc Free() {{\n{free}}}\n\n\
             func (g *Gauge) Close() {{\n{free}}}\n"
        )
    };
    // Whatever fits is one chunk: the type, its comment, its constructor and its methods up to the
    // next function.
    let chunks_of_short = chunks(&[], "gauge.go", &source(2));
    let gauge = text(&chunks_of_short, "Gauge");
    assert!(gauge.starts_with("// Gauge measures.\ntype Gauge struct {"), "{gauge}");
    assert!(gauge.contains("func NewGauge() (*Gauge, error)"), "{gauge}");
    assert!(gauge.contains("// Read reads.\nfunc (g *Gauge) Read()"), "{gauge}");
    assert!(gauge.contains("func (g *Gauge) Write()") && !gauge.contains("Free"), "{gauge}");
    assert!(text(&chunks_of_short, "Free").starts_with("// Free stands alone.\nfunc Free()"));

    // A group that is too long is packed like any other: the parts that fit are in the chunk of the type.
    let chunks_of_long = chunks(&[], "gauge.go", &source(14));
    let gauge = text(&chunks_of_long, "Gauge");
    assert!(gauge.contains("type Gauge struct {") && gauge.contains("NewGauge()"), "{gauge}");
    assert!(!gauge.contains("Read()") && !gauge.contains("Write()"), "{gauge}");

    // Methods elsewhere, or in a later chunk, have the type's first line and comment as context.
    for (chunks, symbol) in [
        (&chunks_of_short, "Gauge.Close"),
        (&chunks_of_long, "Gauge.Read"),
        (&chunks_of_long, "Gauge.Write"),
    ] {
        assert!(!text(chunks, symbol).contains("type Gauge"), "{symbol}");
        for (_, _, context) in
            chunks.iter().filter(|chunk| chunk.0.symbol.as_deref() == Some(symbol))
        {
            assert!(context.contains("type Gauge struct"), "{symbol}: {context}");
            assert!(context.contains("Gauge measures."), "{symbol}: {context}");
        }
    }
}

#[test]
fn other_languages_are_split_at_their_definitions() {
    for (name, language, content, symbol) in [
        (
            "a.js",
            "javascript",
            "/** Reads it. */\nexport const read = async (x) => {\n  return x;\n};\n",
            "read",
        ),
        (
            "a.tsx",
            "typescript",
            "/** Reads it. */\nexport function Page(p: P) {\n  return <b>{p.x}</b>;\n}\n",
            "Page",
        ),
        (
            "a.rs",
            "rust",
            "/// Reads it.\n#[inline]\npub fn read<T>(x: T) -> T {\n    x\n}\n",
            "read",
        ),
        ("a.c", "c", "/* Reads it. */\nstatic int *read(int x)\n{\n  return 0;\n}\n", "read"),
        (
            "a.hpp",
            "cpp",
            "// Reads it.\ntemplate <class T>\nT Gauge<T>::read() const {\n  return x;\n}\n",
            "Gauge::read",
        ),
        ("A.java", "java", "/** Reads it. */\n@Deprecated\nrecord Reader(int x) {\n}\n", "Reader"),
    ] {
        // Without the grammar of C++, a method that is defined outside of its class has no symbol.
        if name == "a.hpp" && !cfg!(feature = "grammars") {
            continue;
        }
        let found = chunks(&[], name, &format!("{content}\n"));
        let own = text(&found, symbol);
        assert!(own.contains("Reads it.") && own.ends_with(['}', ';']), "{name}: {own}");
        let mut env = TestEnv::new();
        env.set("KB_DEFAULT_FORMAT", "json");
        env.write(name, content);
        env.ok(&["add", name]);
        assert_eq!(env.sql::<String>("SELECT language FROM documents"), language);
    }
}

#[test]
fn code_without_definitions_is_split_into_windows() {
    let lines: String =
        (0..90).map(|number| format!("echo \"step {number} of the backup\"\n")).collect();
    for name in ["steps.sh", "steps.go", "steps.py"] {
        let chunks = chunks(&[], name, &lines);
        assert!(chunks.len() > 2, "{name}: {}", chunks.len());
        assert!(
            chunks.iter().all(|chunk| chunk.0.token_count <= 256 && chunk.0.symbol.is_none()),
            "{name}"
        );
        let all: String =
            chunks.iter().map(|chunk| chunk.1.as_str()).collect::<Vec<_>>().join("\n");
        assert!((0..90).all(|number| all.contains(&format!("\"step {number} of"))), "{name}");
    }
}

#[test]
fn strategy_and_size_are_settings() {
    let by_size = chunks(&[("KB_CHUNKING_CODE_MAX_TOKENS", "60")], "gauges.py", &python());
    assert!(by_size.len() > chunks(&[], "gauges.py", &python()).len());
    assert!(by_size.iter().all(|chunk| chunk.0.token_count <= 60 + 64 + 2));
    let fixed =
        [("KB_CHUNKING_CODE_STRATEGY", "fixed"), ("KB_CHUNKING_DEFAULTS_MAX_TOKENS", "100")];
    let windows = chunks(&fixed, "gauges.py", &python());
    assert!(windows.len() > 2 && windows.iter().all(|window| window.0.token_count <= 100 + 64 + 2));
}
