//! Defines the table of words that begin definitions, by language.

use super::Definitions;
use crate::document::Language;

const SLASHES: &[&str] = &["//", "/*", "*", "@", "#["];
const HASH: &[&str] = &["#", "@"];
const DASHES: &[&str] = &["--", "/*"];
const SEMICOLON: &[&str] = &[";"];
const PERCENT: &[&str] = &["%"];
const PARENTHESIS: &[&str] = &["(*", "//", "[<"];
const QUOTE: &[&str] = &["\"", "'", "rem "];

const KOTLIN: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "open",
    "abstract",
    "final",
    "override",
    "suspend",
    "inline",
    "tailrec",
    "operator",
    "infix",
    "external",
    "data",
    "sealed",
    "enum",
    "inner",
    "value",
    "annotation",
    "companion",
    "expect",
    "actual",
    "fun",
];
const SWIFT: &[&str] = &[
    "public",
    "private",
    "fileprivate",
    "internal",
    "open",
    "static",
    "final",
    "override",
    "mutating",
    "nonmutating",
    "convenience",
    "required",
    "indirect",
    "nonisolated",
    "package",
];
const SCALA: &[&str] = &[
    "private",
    "protected",
    "final",
    "override",
    "implicit",
    "lazy",
    "abstract",
    "sealed",
    "case",
    "inline",
    "given",
];
const SQL: &[&str] = &[
    "or",
    "replace",
    "temp",
    "temporary",
    "unlogged",
    "external",
    "global",
    "local",
    "unique",
    "materialized",
    "recursive",
    "table",
    "view",
    "function",
    "procedure",
    "proc",
    "trigger",
    "index",
    "type",
    "schema",
    "sequence",
    "package",
    "body",
    "policy",
    "domain",
    "aggregate",
    "concurrently",
    "clustered",
    "nonclustered",
    "if",
    "not",
    "exists",
    "algorithm=undefined",
];
const JVM: &[&str] =
    &["public", "private", "protected", "static", "final", "abstract", "sealed", "base", "void"];
const BASIC: &[&str] = &[
    "public",
    "private",
    "protected",
    "friend",
    "shared",
    "overrides",
    "overridable",
    "mustinherit",
    "notinheritable",
    "partial",
    "async",
    "static",
];
const FORTRAN: &[&str] = &[
    "pure",
    "elemental",
    "recursive",
    "impure",
    "module",
    "integer",
    "real",
    "logical",
    "complex",
    "double",
    "precision",
];
const PLAIN: Definitions = Definitions {
    containers: &[],
    functions: &[],
    modifiers: &[],
    after_name: None,
    comments: SLASHES,
    separator: ".",
};

/// Returns how definitions begin in a language; nothing is known of most.
pub(in crate::code) fn of(language: Language) -> Definitions {
    use Language as L;
    let row = |comments, containers, functions, modifiers| Definitions {
        containers,
        functions,
        modifiers,
        comments,
        ..PLAIN
    };
    let commented = |comments| Definitions { comments, ..PLAIN };
    match language {
        L::Kotlin => {
            row(SLASHES, &["class", "interface", "object"], &["fun", "constructor"], KOTLIN)
        }
        L::Swift => row(
            SLASHES,
            &["class", "struct", "enum", "protocol", "extension", "actor"],
            &["func", "init", "subscript"],
            SWIFT,
        ),
        L::Scala => row(SLASHES, &["class", "object", "trait", "enum"], &["def"], SCALA),
        L::Sql => row(DASHES, &[], &["create"], SQL),
        L::Perl => Definitions { separator: "::", ..row(HASH, &[], &["sub"], &[]) },
        L::R => row(HASH, &[], &["function"], &[]),
        L::PowerShell => row(HASH, &["class", "enum"], &["function", "filter"], &[]),
        L::Dart => row(SLASHES, &["class", "mixin", "extension", "enum"], &[], JVM),
        L::Groovy => row(SLASHES, &["class", "interface", "trait", "enum"], &["def", "task"], JVM),
        L::D => row(SLASHES, &["class", "struct", "interface", "template", "enum"], &[], JVM),
        L::Elixir => row(
            HASH,
            &["defmodule", "defprotocol", "defimpl"],
            &["def", "defp", "defmacro", "defmacrop"],
            &[],
        ),
        L::Crystal => {
            row(HASH, &["class", "module", "struct", "enum", "lib"], &["def", "macro"], JVM)
        }
        L::Haskell => Definitions {
            after_name: Some("::"),
            ..row(DASHES, &["class"], &["data", "newtype", "type"], &[])
        },
        L::Elm => {
            Definitions { after_name: Some(":"), ..row(DASHES, &[], &["type", "alias"], &[]) }
        }
        L::OCaml => {
            row(PARENTHESIS, &["module", "class"], &["let", "and", "type"], &["rec", "type", "sig"])
        }
        L::FSharp => row(
            PARENTHESIS,
            &["module", "type"],
            &["let", "member", "override", "and"],
            &["rec", "inline", "private", "static", "mutable"],
        ),
        L::Clojure => row(
            SEMICOLON,
            &[],
            &[
                "(defn",
                "(defn-",
                "(defmacro",
                "(defprotocol",
                "(defrecord",
                "(defmulti",
                "(defmethod",
                "(def",
            ],
            &[],
        ),
        L::Lisp | L::EmacsLisp => row(
            SEMICOLON,
            &[],
            &[
                "(defun",
                "(defmacro",
                "(defclass",
                "(defmethod",
                "(defgeneric",
                "(defvar",
                "(defparameter",
                "(defstruct",
                "(defcustom",
                "(cl-defun",
            ],
            &[],
        ),
        L::Scheme | L::Racket => {
            row(SEMICOLON, &[], &["(define", "(define-syntax", "(struct"], &[])
        }
        L::Vim => row(QUOTE, &[], &["function", "function!", "func", "func!", "def"], &["export"]),
        L::Nim => row(HASH, &[], &["proc", "func", "method", "iterator", "template", "macro"], &[]),
        L::Julia => row(HASH, &[], &["function", "macro", "struct"], &["mutable", "abstract"]),
        L::Fortran => {
            row(&["!", "c "], &["program"], &["subroutine", "function", "module"], FORTRAN)
        }
        L::Pascal => row(
            &["//", "{", "(*"],
            &[],
            &["procedure", "function", "constructor", "destructor"],
            &["class"],
        ),
        L::VisualBasic => row(
            QUOTE,
            &["class", "module", "structure", "interface"],
            &["sub", "function", "property"],
            BASIC,
        ),
        L::Protobuf => row(SLASHES, &["message", "service", "enum"], &["rpc"], &[]),
        L::Thrift => row(SLASHES, &[], &["struct", "service", "enum", "union", "exception"], &[]),
        L::GraphQl => row(
            &["#", "\"\"\""],
            &[],
            &["type", "interface", "input", "enum", "union", "query", "mutation", "fragment"],
            &["extend"],
        ),
        L::Tcl => row(HASH, &["namespace"], &["proc"], &["eval"]),
        L::Awk | L::Fish => row(HASH, &[], &["function"], &[]),
        L::Zsh => Definitions { after_name: Some("()"), ..row(HASH, &[], &["function"], &[]) },
        L::CMake => row(HASH, &[], &["function(", "macro("], &[]),
        L::Make => Definitions { after_name: Some(":"), ..row(HASH, &[], &["define"], &[]) },
        L::Matlab => row(PERCENT, &["classdef"], &["function"], &[]),
        L::SystemVerilog => row(
            SLASHES,
            &["module", "interface", "package", "class"],
            &["task"],
            &["automatic", "virtual"],
        ),
        L::Vhdl => row(
            DASHES,
            &["architecture", "package"],
            &["entity", "function", "procedure"],
            &["body"],
        ),
        L::Solidity => row(
            SLASHES,
            &["contract", "library", "interface"],
            &["function", "struct", "enum", "modifier", "constructor"],
            &["abstract"],
        ),
        L::Zig => row(
            SLASHES,
            &["struct", "enum", "union"],
            &["fn"],
            &["pub", "export", "inline", "const"],
        ),
        L::Scss => row(SLASHES, &[], &["@mixin", "@function"], &[]),
        L::GdScript => row(HASH, &["class"], &["func"], &["static"]),
        L::Wgsl => row(SLASHES, &[], &["fn", "struct"], &[]),
        L::Glsl | L::Hlsl => row(SLASHES, &[], &["struct"], &[]),
        L::Ada => row(DASHES, &["package"], &["procedure", "function", "task"], &["body", "type"]),
        L::CoffeeScript => row(HASH, &["class"], &[], &["export", "default"]),
        L::Dockerfile | L::Nix | L::Sed => commented(HASH),
        L::Erlang | L::Prolog => commented(PERCENT),
        L::Batch => commented(&["::", "rem ", "@rem "]),
        L::Assembly => commented(&[";", "#", "//", "/*", "*", "@"]),
        _ => PLAIN,
    }
}
