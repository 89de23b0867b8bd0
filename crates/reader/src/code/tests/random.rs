//! Tests that any text and any damaged source keeps everything.

use proptest::prelude::*;

use super::*;

const BASH: &str = "#!/bin/sh\n# ä\nf() {\n  cat <<E | tr a b\n$(x \"${y}\")\nE\n}\nfunction g { :; }\n\
    case $1 in a) f ;; *) g;; esac\n";
const GO: &str = "// P.\npackage p\n\ntype (\n\t// S ü\n\tS[T any] struct{ a, b int }\n)\n\n/* c */\n\
    func (s *S[T]) M(x ...T) (a int, err error) {\n\tswitch x {\n\tcase `1\n`:\n\t}\n\treturn\n}\n";

const SOURCES: [&str; 18] = [
    PYTHON,
    BASH,
    GO,
    languages::JAVASCRIPT,
    languages::TYPESCRIPT,
    languages::RUST,
    languages::C,
    languages::CPP,
    languages::JAVA,
    more_languages::RUBY,
    more_languages::PHP,
    more_languages::CSHARP,
    more_languages::LUA,
    more_languages::CSS,
    more_languages::HCL,
    lines::KOTLIN,
    lines::SQL,
    lines::LISP,
];

fn any_language() -> impl Strategy<Value = Language> {
    proptest::sample::select(&Language::ALL[..])
}

proptest! {
    #[test]
    fn any_text_keeps_everything(text in "\\PC{0,300}", language in any_language()) {
        assert_sound(&text, language);
    }

    #[test]
    fn damaged_source_keeps_everything(
        pieces in proptest::collection::vec((0..SOURCES.len(), 0_usize..300, 0_usize..300), 1..12),
        language in any_language(),
    ) {
        let mut text = String::new();
        for (source, start, len) in pieces {
            let source = SOURCES[source];
            text.extend(source.chars().skip(start % source.len()).take(len));
        }
        assert_sound(&text, language);
    }

    #[test]
    fn long_source_keeps_everything(
        lines in proptest::collection::vec("(    ){0,3}(def f|class A|if x|f\\(\\)|func f\\(|\\}|\\{|#|\"\"\"|x = [äb]{20,60}|)[:{]?", 0..150),
        language in any_language(),
    ) {
        assert_sound(&lines.join("\n"), language);
    }
}
