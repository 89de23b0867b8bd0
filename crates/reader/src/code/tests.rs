//! Tests how source code is split into blocks, in all languages.

use super::*;

mod groups;
mod languages;
mod lines;
mod more_languages;
mod random;

const PYTHON: &str = "\"\"\"Doc.\"\"\"\nimport os\n\n@dec\nclass A(B):\n    '''Döc.'''\n    x = [1,\n  2]\n\n    \
    # c\n    def m(self):\n        if x:\n            return f\"{x}\"\n\nasync def f(): pass\n";

/// Returns one line per block: `§` if a section begins, the symbol, the context after `<`, and the
/// block's first and last line.
fn outline(text: &str, language: Language) -> String {
    let document = extract(text, language);
    let lines = document.blocks.iter().map(|block| {
        let sign = if block.starts_section { '§' } else { ' ' };
        let symbol = block.symbol.as_deref().unwrap_or("-");
        let context =
            block.context.as_deref().map(|context| format!(" < {}", context.replace('\n', " / ")));
        let own = text[block.bytes.clone()].trim();
        let first = own.lines().next().unwrap_or_default();
        let last = own.lines().last().filter(|_| own.contains('\n')).map(str::trim);
        let last = last.map(|line| format!(" … {line}")).unwrap_or_default();
        format!("{sign} {symbol}{} | {first}{last}\n", context.unwrap_or_default())
    });
    lines.collect()
}

#[track_caller]
fn check(language: Language, text: &str, expected: &[&str]) {
    assert_sound(text, language);
    let outline = outline(text, language);
    assert_eq!(outline.lines().collect::<Vec<_>>(), expected);
}

/// Checks that blocks are ordered, disjoint, on character boundaries, and contain everything but
/// white space.
#[track_caller]
fn assert_sound(text: &str, language: Language) {
    let document = extract(text, language);
    let mut at = 0;
    for Block { bytes, .. } in &document.blocks {
        assert!(at <= bytes.start && bytes.start < bytes.end, "{bytes:?} after {at}");
        assert!(text[at..bytes.start].trim().is_empty(), "lost: {:?}", &text[at..bytes.start]);
        assert!(!text[bytes.clone()].trim().is_empty(), "blank: {bytes:?}");
        at = bytes.end;
    }
    assert!(text[at..].trim().is_empty(), "lost: {:?}", &text[at..]);
    assert!(document.blocks.first().is_none_or(|block| block.starts_section));
}

/// Returns enough copies of a statement that code with them is too long to stay in one piece.
fn filler(line: &str) -> String {
    line.repeat(cut::MAX_UNCUT_BYTES / 2 / line.len() + 1)
}

#[test]
fn python_preamble_functions_and_code_between_are_sections() {
    let text = "#!/usr/bin/env python3\n\"\"\"About.\"\"\"\nimport os\n\nA = 1\n\n\
        def f(x):\n    def g():\n        pass\n    return g\n\nprint(f(1))\n";
    check(
        Language::Python,
        text,
        &[
            "§ - | #!/usr/bin/env python3 … \"\"\"About.\"\"\"",
            "§ - | import os … A = 1",
            "§ f | def f(x): … return g",
            "§ - | print(f(1))",
        ],
    );
}

#[test]
fn comments_and_decorators_belong_to_the_definition_below() {
    let text = "x = 1  # no comment of f\n# about f\n# more\n@cached\n# why\n@traced(1)\n\
        async def f(): pass  # tail\n\n# apart\n\ndef g(): pass\n";
    check(
        Language::Python,
        text,
        &[
            "§ - | x = 1  # no comment of f",
            "§ f | # about f … async def f(): pass  # tail",
            "§ - | # apart",
            "§ g | def g(): pass",
        ],
    );
}

#[test]
fn a_small_class_is_one_block() {
    let text = "class A:\n    x = 1\n\n    def m(self): pass\n\n    class B: pass\n";
    check(Language::Python, text, &["§ A | class A: … class B: pass"]);
}

#[test]
fn a_large_class_is_split_into_head_and_methods() {
    let line = "        print('a statement of some length')\n";
    let text = format!(
        "# above\n@final\nclass A(Base,\n        key=1):\n    \"\"\"Keeps\n    things.\n\n    More.\"\"\"\n    x = 1\n\n    \
        # about m\n    def m(self):\n{}    y = 2\n    class B:\n        z = 3\n        def n(self):\n{}\n\
        def after(): pass\n",
        filler(line),
        filler(&format!("    {line}"))
    );
    check(
        Language::Python,
        &text,
        &[
            "§ A | # above … x = 1",
            "§ A.m < class A(Base, key=1) / Keeps things. | # about m … print('a statement of some length')",
            "§ A < class A(Base, key=1) / Keeps things. | y = 2",
            "§ A.B < class A(Base, key=1) / Keeps things. | class B: … print('a statement of some length')",
            "§ after | def after(): pass",
        ],
    );
}

#[test]
fn nested_classes_qualify_their_methods() {
    let line = "            print('a statement of some length')\n";
    let text = format!(
        "class A:\n    class B:\n        def m(self):\n{}        def n(self):\n{}",
        filler(line),
        filler(line)
    );
    check(
        Language::Python,
        &text,
        &[
            "§ A | class A:",
            "§ A.B < class A | class B:",
            "§ A.B.m < class A > class B | def m(self): … print('a statement of some length')",
            "§ A.B.n < class A > class B | def n(self): … print('a statement of some length')",
        ],
    );
}

#[test]
fn definitions_under_a_condition_are_found() {
    let text = "import os\n\nif os:\n    def f(): pass\nelse:\n    def f(): return 1\n\
        try:\n    class A: pass\nexcept ImportError:\n    A = None\n";
    check(
        Language::Python,
        text,
        &[
            "§ - | import os … if os:",
            "§ f | def f(): pass",
            "§ f | else: … def f(): return 1",
            "§ A | try: … class A: pass",
            "§ - | except ImportError: … A = None",
        ],
    );
}

#[test]
fn a_long_function_is_cut_between_statements() {
    let line = "    print('a statement of some length')\n";
    let text = format!(
        "def f(a,\n      b) -> int:\n    \"\"\"Does.\"\"\"\n{}\n    # about the loop\n    for x in y:\n{}    return 1\n",
        filler(line),
        filler(&format!("    {line}"))
    );
    check(
        Language::Python,
        &text,
        &[
            "§ f | def f(a, … print('a statement of some length')",
            "  f < def f(a, b) -> int | # about the loop … return 1",
        ],
    );
}

#[test]
fn a_long_list_is_cut_between_elements() {
    let text = format!("A = [\n{}]\n", "    'an element of some length',\n".repeat(100));
    let document = extract(&text, Language::Python);
    assert!(document.blocks.len() > 10);
    assert!(document.blocks.iter().all(|block| block.bytes.len() <= cut::MAX_UNCUT_BYTES));
    assert_sound(&text, Language::Python);
}

#[test]
fn both_forms_of_bash_functions_are_found() {
    let text = "#!/bin/bash\nset -e\n\n# about a\na() {\n  cat <<END\n}\nb() {\nEND\n}\n\
        function b { :; }\nfunction c() ( : )\na::b-c() { :; }\n\nmain \"$@\"\n";
    check(
        Language::Bash,
        text,
        &[
            "§ - | #!/bin/bash … set -e",
            "§ a | # about a … }",
            "§ b | function b { :; }",
            "§ c | function c() ( : )",
            "§ a::b-c | a::b-c() { :; }",
            "§ - | main \"$@\"",
        ],
    );
}

#[test]
fn opening_and_closing_lines_stay_with_the_function() {
    let text = "if true; then\n  f() { :; }\nfi\ng() { :; }\n";
    check(
        Language::Bash,
        text,
        &["§ f | if true; then … f() { :; }", "  f < f() | fi", "§ g | g() { :; }"],
    );
}

#[test]
fn two_functions_may_share_a_line() {
    check(
        Language::Bash,
        "a() { :; }; b() { :; }\n",
        &["§ a | a() { :; }", "  a < a() | ;", "§ b | b() { :; }"],
    );
}

#[test]
fn a_script_without_functions_is_cut_at_blank_lines() {
    let paragraph = "echo 'a command of some length'\n".repeat(8);
    let text = format!("#!/bin/sh\n{paragraph}\n{paragraph}\n# last\n{paragraph}");
    check(
        Language::Bash,
        &text,
        &[
            "§ - | #!/bin/sh … echo 'a command of some length'",
            "  - | echo 'a command of some length' … echo 'a command of some length'",
            "  - | # last … echo 'a command of some length'",
        ],
    );
}

#[test]
fn here_documents_stay_with_their_command() {
    let text = format!("cat <<END\n{}END\necho done\n", "some words in it\n".repeat(60));
    check(Language::Bash, &text, &["§ - | cat <<END … END", "  - | echo done"]);
}

#[test]
fn go_types_their_methods_and_constructors_are_one_section() {
    let text = "// Package x is.\npackage x\n\nimport \"fmt\"\n\n\
        // Stack is.\ntype Stack[T any] struct {\n\titems []T\n}\n\n\
        // Push it.\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\n\n\
        // New makes.\nfunc New[T any]() *Stack[T] { return nil }\n\n\
        func (Stack[T]) Len() int { return 0 }\n\nfunc (o Other) M() {}\n";
    check(
        Language::Go,
        text,
        &[
            "§ - | // Package x is. … package x",
            "§ - | import \"fmt\"",
            "§ Stack | // Stack is. … }",
            "  Stack.Push < type Stack[T any] struct / Stack is. | // Push it. … func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }",
            "  New | // New makes. … func New[T any]() *Stack[T] { return nil }",
            "  Stack.Len < type Stack[T any] struct / Stack is. | func (Stack[T]) Len() int { return 0 }",
            "§ Other.M | func (o Other) M() {}",
        ],
    );
}

#[test]
fn large_groups_of_types_are_split() {
    let text = format!(
        "package x\n\ntype (\n\t// A is.\n\tA struct {{\n{}\t}}\n\tB = string\n\tC struct {{\n{}\t}}\n)\n",
        filler("\t\tfield map[string]string\n"),
        filler("\t\tfield map[string]string\n")
    );
    check(
        Language::Go,
        &text,
        &[
            "§ - | package x … type (",
            "§ A | // A is. … }",
            "§ B | B = string",
            "§ C | C struct { … }",
            "  C < C struct | )",
        ],
    );
    let short = "package x\n\ntype (\n\tA int\n\tB = string\n)\n";
    check(Language::Go, short, &["§ - | package x", "§ A | type ( … )"]);
}

#[test]
fn go_code_between_functions_is_a_section() {
    let text = "package x\n\nconst A = 1\n\nfunc init() {}\n\nvar (\n\tb = 2\n)\n";
    check(
        Language::Go,
        text,
        &["§ - | package x … const A = 1", "§ init | func init() {}", "§ - | var ( … )"],
    );
}

#[test]
fn code_with_errors_is_still_split_into_definitions() {
    check(
        Language::Python,
        "def f(): pass\n\nthis is ( no python\n\nclass A: pass\n",
        &["§ f | def f(): pass", "§ - | this is ( no python", "§ A | class A: pass"],
    );
    let text = "package x\n\nfunc A() {}\n\n???\n\nfunc B() { if }\n\nfunc C() {}\n";
    let outline = outline(text, Language::Go);
    assert!(outline.contains("§ A |") && outline.contains("§ C |"), "{outline}");
    assert_sound(text, Language::Go);
}

#[test]
fn white_space_has_no_blocks() {
    for language in Language::ALL {
        check(language, "", &[]);
        check(language, " \n\n\t\n", &[]);
    }
}

#[test]
fn indentation_is_kept_and_blank_lines_are_dropped() {
    let text = "\n\n    x = 1\n    y = 2\n\n\n";
    let document = extract(text, Language::Python);
    assert_eq!(&text[document.blocks[0].bytes.clone()], "    x = 1\n    y = 2");
}

#[test]
fn the_parser_stops_at_its_time_limit() {
    let python = &Grammar::of(Language::Python).unwrap();
    assert!(parse(PYTHON, python, time_limit(PYTHON.len())).is_some());
    assert!(parse(PYTHON, python, Duration::ZERO).is_none());
}

#[test]
fn unparsed_code_is_split_at_blank_lines() {
    let text = format!("{}\n\n\n{}\n", "a | ".repeat(MAX_CHAIN + 1), "# b");
    assert_sound(&text, Language::Bash);
    assert_eq!(extract(&text, Language::Bash).blocks.len(), 2);
}

#[test]
fn an_endless_chain_is_not_parsed() {
    let bash = &Grammar::of(Language::Bash).unwrap();
    assert!(parse(&"a | ".repeat(MAX_CHAIN + 1), bash, Duration::MAX).is_none());
    assert!(parse(&"a |\n\n".repeat(MAX_CHAIN + 1), bash, Duration::MAX).is_none());
    assert!(parse(&"a | b\n".repeat(MAX_CHAIN + 1), bash, Duration::MAX).is_some());
}

#[test]
fn deep_nesting_does_not_overflow_a_small_stack() {
    let run = || {
        for open in ["(", "[", "{", "a+", "$(", "if x:\n", "f() {\n", "func() {"] {
            for language in Language::ALL {
                assert_sound(&open.repeat(1_250), language);
            }
        }
    };
    // A call per level would have 105 bytes, fewer than any has without optimisation.
    std::thread::Builder::new().stack_size(128 * 1024).spawn(run).unwrap().join().unwrap();
}
