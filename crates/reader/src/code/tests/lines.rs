//! Tests languages without a grammar, which are read by lines and indentation.

use super::*;

/// Returns the symbols of the sections, `-` for those without.
fn symbols(text: &str, language: Language) -> String {
    assert_sound(text, language);
    let document = extract(text, language);
    let sections = document.blocks.iter().filter(|block| block.starts_section);
    let symbols = sections.map(|block| block.symbol.as_deref().unwrap_or("-"));
    symbols.collect::<Vec<_>>().join(" ")
}

#[test]
fn classes_and_methods_are_found_by_words_and_indentation() {
    let text = format!(
        "package org.tide\n\nimport java.io.File\n\n/** Reads gauges. */\n@Service\npublic open class Reader(\n    val port: Int,\n) : Base() {{\n    \
        private val x = 1\n\n    // Reads.\n    override suspend fun read(n: Int): List<String> {{\n{}    }}\n\n    \
        companion object {{\n        const val Y = 2\n    }}\n\n    fun <T> write(x: T) {{\n{}    }}\n}}\n\n\
        enum class Kind {{\n    A,\n}}\n\nfun main() {{\n    Reader(1)\n}}\nval last = 1\n",
        filler("        println(\"a statement of some length\")\n"),
        filler("        println(\"a statement of some length\")\n"),
    );
    let class = "public open class Reader( / Reads gauges.";
    check(
        Language::Kotlin,
        &text,
        &[
            "§ - | package org.tide … import java.io.File",
            "§ Reader | /** Reads gauges. */ … private val x = 1",
            &format!("§ Reader.read < {class} | // Reads. … }}"),
            &format!("§ Reader < {class} | companion object {{ … }}"),
            &format!("§ Reader.write < {class} | fun <T> write(x: T) {{ … }}"),
            "  Reader.write < public open class Reader( > fun <T> write(x: T) / Reads gauges. | }",
            "§ Kind | enum class Kind { … }",
            "§ main | fun main() { … }",
            "§ - | val last = 1",
        ],
    );
}

#[test]
fn definitions_of_many_languages_have_symbols() {
    for (language, text, expected) in [
        (
            Language::Swift,
            "import A\n\npublic final class B: C {\n  init(x: Int) {\n  }\n}\n\nclass func d() {\n}\n",
            "- B d",
        ),
        (
            Language::Sql,
            "-- Users.\nCREATE TABLE IF NOT EXISTS \"public\".\"users\" (\n  id int,\n  index (id)\n);\n\ncreate or replace function [f](x int) as $$\nBEGIN\n  return 1;\nEND;\n$$;\n\nselect 1;\n",
            "public.users f -",
        ),
        (
            Language::Perl,
            "package A;\nuse strict;\n\n# About.\nsub new {\n  1;\n}\nsub get { 1 }\n",
            "- new -",
        ),
        (
            Language::R,
            "x <- 1\n\nadd <- function(a, b) {\n  a + b\n}\n\nhalf = function(x)\n  x / 2\n",
            "- add half",
        ),
        (Language::Elixir, "defmodule A.B do\n  def c(x) do\n    x\n  end\nend\n", "A.B"),
        (Language::Scala, "case object A extends B {\n  def c = 1\n}\n", "A"),
        (
            Language::Haskell,
            "module A where\n\nimport B\n\n-- | Adds.\nadd :: Int -> Int\nadd x = x\n\ndata T\n  = A\n  | B\n",
            "- add T",
        ),
        (Language::Clojure, "(ns a)\n\n(defn- ^:private b\n  [x]\n  x)\n", "- b"),
        (Language::Scheme, "(define (f x)\n  x)\n", "f"),
        (
            Language::Vim,
            "\" About.\nfunction! s:Foo(x)\n  return 1\nendfunction\n\nset x\n",
            "s:Foo -",
        ),
        (Language::Julia, "function f!(x)\n  x\nend\n\nmutable struct P\n  x\nend\n", "f! P"),
        (
            Language::Matlab,
            "function y = twice(x)\n  y = 2 * x;\nend\n\nfunction show(x)\n  disp(x)\nend\n",
            "twice show",
        ),
        (Language::Fortran, "! About.\nPURE INTEGER FUNCTION f(x)\n  f = x\nEND FUNCTION f\n", "f"),
        (
            Language::CMake,
            "project(a)\n\nfunction(add_it name)\n  message(x)\nendfunction()\n",
            "- add_it",
        ),
        (
            Language::Make,
            "CC := gcc\n\n# Builds.\nall: a.o\n\t$(CC) a.o\n\n.PHONY: all\n",
            "- all -",
        ),
        (Language::PowerShell, "function Get-Tide($x) {\n  1\n}\n", "Get-Tide"),
        (
            Language::Zig,
            "const std = @import(\"std\");\n\npub const Point = struct {\n    x: i32,\n};\n\npub fn main() void {\n    a();\n}\n",
            "- Point main",
        ),
        (Language::Protobuf, "syntax = \"proto3\";\n\nmessage A {\n  int32 b = 1;\n}\n", "- A"),
        (Language::Tcl, "proc a::b {x} {\n  puts x\n}\n", "a::b"),
        (Language::VisualBasic, "Public Class A\n  Sub B()\n  End Sub\nEnd Class\n", "A"),
        (Language::Pascal, "procedure TFoo.Bar(x: Integer);\nbegin\n  x;\nend;\n", "TFoo.Bar"),
        (
            Language::Scss,
            "@use 'a';\n\n@mixin box($x) {\n  a: b;\n}\n\n.c {\n  d: e;\n}\n",
            "- box -",
        ),
        (Language::Zsh, "a() {\n  b\n}\n", "a"),
        (Language::Dockerfile, "FROM a\n\nRUN b\n", "-"),
    ] {
        assert_eq!(symbols(text, language), expected, "{language}");
    }
}

#[test]
fn long_code_is_cut_at_the_least_indentation_after_blank_lines() {
    let part = format!("block {{\n{}}}\n", filler("  a statement of some length;\n"));
    let text = format!("{part}{part}\n# about the last\n{part}");
    check(
        Language::Nix,
        &text,
        &["§ - | block { … }", "  - | block { … }", "  - | # about the last … }"],
    );
}

#[cfg(feature = "grammar-cpp")]
#[test]
fn languages_of_a_grammar_for_another_one_have_symbols() {
    let cuda = "#include <a.h>\n\n__global__ void add(float *x, int n) {\n  int i = threadIdx.x;\n}\n\n\
        void run() {\n  add<<<1, 256>>>(x, n);\n}\n";
    let found = symbols(cuda, Language::Cuda);
    assert!(found.contains("add") && found.contains("run"), "{found}");
    let starlark = "load(\"a\", \"b\")\n\ndef rule(x):\n    pass\n";
    assert_eq!(symbols(starlark, Language::Starlark), "- rule");
}

pub(super) const KOTLIN: &str = "@A\nopen class B(\n  val c: D,\n) : E {\n\n    /* ö */\n    fun f() = when (x) {\n    }\n}\n\nfun g() {}\n";
pub(super) const SQL: &str = "CREATE TABLE \"ä\".t (\n  a int -- b\n);\n\ncreate function f() as $$\nBEGIN\nEND;\n$$;\n\nselect 1\nFROM t;\n";
pub(super) const LISP: &str =
    ";;; a\n(defun ä (x)\n  \"d\"\n  (let ((y 1))\n    y))\n\n(setq b 'c)\n";
