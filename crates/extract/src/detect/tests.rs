//! Checks which format each name and each beginning of a file leads to.

mod documents;
mod options;

use super::*;

const PNG_HEAD: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";

/// Returns the format's name, `ignored`, or the error's code and message.
fn outcome(name: &str, head: &[u8], is_named: bool, wanted: TypeOverride) -> String {
    match detect(Path::new(name), head, is_named, wanted, &TextExtensions::new([".CONF", "md"])) {
        Ok(Some(format)) => format.as_str().to_owned(),
        Ok(None) => "ignored".to_owned(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

#[track_caller]
fn check(name: &str, head: &[u8], expected: &str) {
    assert_eq!(outcome(name, head, true, TypeOverride::default()), expected, "{name} named");
    let found = outcome(name, head, false, TypeOverride::default());
    let is_unsupported = ["unsupported_format", "empty_file"]
        .iter()
        .any(|code| expected.starts_with(code) && !name.ends_with(".pdf"));
    assert_eq!(found, if is_unsupported { "ignored" } else { expected }, "{name} found");
}

#[track_caller]
fn check_wanted(doc_type: Option<DocType>, language: Option<Language>, rows: &[[&str; 4]]) {
    let wanted = TypeOverride::new(doc_type, language).unwrap();
    for [name, head, named, found] in rows {
        assert_eq!(outcome(name, head.as_bytes(), true, wanted), *named, "{name} named");
        assert_eq!(outcome(name, head.as_bytes(), false, wanted), *found, "{name} found");
    }
}

#[test]
fn the_extension_decides() {
    for (name, expected) in [
        ("/a/x.md", "markdown"),
        ("x.MARKDOWN", "markdown"),
        ("x.mdx", "markdown"),
        ("x.txt", "text"),
        ("x.py", "python"),
        ("x.pyi", "python"),
        ("x.sh", "bash"),
        ("x.bash", "bash"),
        ("x.tar.go", "go"),
        ("x.jsx", "javascript"),
        ("x.tsx", "typescript"),
        ("x.d.ts", "typescript"),
        ("x.rs", "rust"),
        ("x.c", "c"),
        ("x.h", "c"),
        ("X.CPP", "cpp"),
        ("X.java", "java"),
        ("x.rb", "ruby"),
        ("x.R", "r"),
        ("x.kt", "kotlin"),
        ("x.tf", "hcl"),
        ("x.S", "assembly"),
        ("x.sql", "sql"),
    ] {
        check(name, b"words", expected);
    }
    check("x.pdf", b"%PDF-1.4\n", "pdf");
    check("X.PDF", b"%PDF-1.4\n", "pdf");
}

#[test]
fn the_content_of_a_header_decides_between_c_and_cpp() {
    check("x.h", b"#include <stdio.h>\nstruct a;\n/* the class of a */\n", "c");
    for line in ["namespace a {", "  template<class T>", "class A;", "#include <vector>"] {
        check("x.h", format!("#pragma once\n{line}\n").as_bytes(), "cpp");
    }
    check_wanted(None, Some(Language::C), &[["x.h", "class A;", "c", "c"]]);
}

#[test]
fn the_content_decides_where_other_languages_share_an_extension() {
    check("x.m", b"% About.\nfunction y = f(x)\n", "matlab");
    check("x.m", b"// About.\n#import <A/A.h>\n@implementation B\n", "objectivec");
    check("x.h", b"#import <A/A.h>\n@interface B : C\n", "objectivec");
    check("x.pl", b"use strict;\nprint 1;\n", "perl");
    check("x.pl", b":- use_module(library(lists)).\n", "prolog");
}

#[test]
fn well_known_names_need_no_extension() {
    for (name, expected) in [
        ("a/Makefile", "make"),
        ("GNUmakefile", "make"),
        ("Makefile.am", "make"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        ("Gemfile", "ruby"),
        ("Jenkinsfile", "groovy"),
        ("BUILD.bazel", "starlark"),
        ("README", "text"),
        ("LICENSE", "text"),
        ("LICENSE-MIT", "text"),
        ("LICENSE-APACHE-2.0", "text"),
        ("COPYING.LESSER", "text"),
        ("README.source", "text"),
        ("README.md", "markdown"),
        ("readme.py", "python"),
    ] {
        check(name, b"words", expected);
    }
    // Not every file with such a name is a text.
    check("install", b"#!/bin/sh\n", "bash");
    let unsupported = "unsupported_format: unsupported file type: ";
    check("install", b"\x7FELF\x02\x01\x01\0", &format!("{unsupported}install (an ELF program)"));
    check(
        "CHANGES.gz",
        b"\x1F\x8B\x08\0\0\0\0\0\0\x03",
        &format!("{unsupported}CHANGES.gz (gzip data)"),
    );
    check("Makefile.o", b"words", &format!("{unsupported}Makefile.o"));
    check("README.xyz", b"words", &format!("{unsupported}README.xyz"));
    check("README.md~", b"words", &format!("{unsupported}README.md~"));
}

#[test]
fn minified_javascript_is_not_read() {
    let unsupported = "unsupported_format: unsupported file type: ";
    check("x.min.js", b"a=1", &format!("{unsupported}x.min.js"));
    check("x.min.css", b"a{}", &format!("{unsupported}x.min.css"));
    check("min.js", b"a=1", "javascript");
    check_wanted(
        None,
        Some(Language::JavaScript),
        &[["x.min.js", "a", "javascript", "javascript"]],
    );
}

#[test]
fn the_first_line_decides_without_an_extension() {
    check("run", b"#!/bin/bash\n", "bash");
    check("run", b"#! /bin/sh -e\n", "bash");
    check("run", b"#!/usr/bin/env python3.11\r\nx", "python");
    check("run", b"#!/usr/bin/env -S LC_ALL=C dash -e", "bash");
    check("python3.11-config", b"#!/bin/sh\n", "bash");
    check("run", b"#!/usr/bin/env node\n", "javascript");
    check("run", b"#!/usr/bin/perl\n", "perl");
    check("run", b"#!/usr/bin/qore\n", "unsupported_format: unsupported file type: run");
    check("run", b"#!\n", "unsupported_format: unsupported file type: run");
    check("x.cgi", b"#!/bin/sh\n", "unsupported_format: unsupported file type: x.cgi");
    check("x.md", b"#!/bin/sh\n", "markdown");
}

#[test]
fn a_pdf_is_recognised_by_its_header() {
    check("report", b"%PDF-1.7\n", "pdf");
    check("report.download", b"\r\n%PDF-1.7\n", "pdf");
    check("report.bin", b"\0\x01junk\n%PDF-1.7\n", "pdf");
    check("junk.pdf", b"junk\n%PDF-1.7\n", "pdf");
    check("notes.pl", b"my $s = \"%PDF-\";", "perl");
    check("about.md", b"The header is `%PDF-1.4`.", "markdown");
}

#[test]
fn a_file_that_is_not_the_pdf_its_name_claims_is_reported() {
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.pdf", b"\n<!DOCTYPE HTML>", &format!("{wrong}HTML"));
    check("x.pdf", b"Not found", &format!("{wrong}plain text"));
    check("x.pdf", PNG_HEAD, &format!("{wrong}a PNG image"));
    check("x.pdf", b"\0\0\x80damaged", "pdf");
    check("x.pdf", b"", "empty_file: nothing to index: x.pdf is empty");
}

#[test]
fn text_in_other_markup_is_recognised() {
    for (name, format) in [
        ("x.rst", "rst"),
        ("x.adoc", "asciidoc"),
        ("x.org", "org"),
        ("x.tex", "latex"),
        ("x.man", "man"),
        ("x.wiki", "text"),
        ("x.vtt", "subtitles"),
        ("x.SRT", "subtitles"),
    ] {
        check(name, b"words", format);
    }
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.rst", PNG_HEAD, &format!("{wrong}a PNG image"));
}

#[test]
fn a_manual_page_is_recognised_by_its_name_and_its_first_line() {
    check("ls.1", b".TH LS 1\n", "man");
    check("ls.1", b"'\\\" t\n", "man");
    check("perl.3pm", b".\\\" Generated\n", "man");
    check("mdoc.7", b".Dd $Mdocdate$\n", "man");
    let unsupported = "unsupported_format: unsupported file type: ";
    check("libz.so.1", b"words", &format!("{unsupported}libz.so.1"));
    check("kb.log.1", b"2024-05-01 .TH", &format!("{unsupported}kb.log.1"));
    check_wanted(Some(DocType::Markdown), None, &[["ls.1", ".TH LS 1", "man", "man"]]);
}

#[test]
fn data_is_recognised() {
    for (name, format) in [
        ("x.csv", "csv"),
        ("x.TSV", "tsv"),
        ("x.json", "json"),
        ("x.geojson", "json"),
        ("x.ndjson", "jsonl"),
        ("x.yml", "yaml"),
        ("Cargo.toml", "toml"),
        ("feed.rss", "xml"),
        ("run.log", "log"),
    ] {
        check(name, b"words", format);
    }
    check("x.xml", b"<?xml version='1.0'?>", "xml");
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.csv", PNG_HEAD, &format!("{wrong}a PNG image"));
    check_wanted(Some(DocType::Markdown), None, &[["x.json", "{}", "json", "json"]]);
    check_wanted(Some(DocType::Note), None, &[["x.json", "{}", "note", "note"]]);
}

#[test]
fn what_programs_write_for_programs_is_not_read() {
    let unsupported = "unsupported_format: unsupported file type: ";
    for name in ["package-lock.json", "pnpm-lock.yaml", "data.min.json"] {
        check(name, b"{}", &format!("{unsupported}{name}"));
    }
    assert_eq!(kind(Path::new("/a/package-lock.json")), "package-lock.json");
}

#[test]
fn further_extensions_are_plain_text() {
    check("x.conf", b"words", "text");
    check("X.CONF", b"words", "text");
    // An extension that has a format keeps it.
    check("x.md", b"words", "markdown");
    check("x.conf", b"\0\x01\x02\x03", "not_text: it is not text");
    check("x.ini", b"words", "unsupported_format: unsupported file type: x.ini");
}

#[test]
fn a_matching_type_changes_nothing() {
    check_wanted(
        Some(DocType::Markdown),
        None,
        &[["x.html", "<p>words", "html", "html"], ["x.xml", "<a/>", "xml", "xml"]],
    );
}

#[test]
fn a_file_that_is_not_the_text_its_name_claims_is_reported() {
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check("x.md", PNG_HEAD, &format!("{wrong}a PNG image"));
    check("x.md", b"%PDF-1.4\n", &format!("{wrong}PDF"));
    check("x.py", b"\x7FELF\x02\x01\x01\0", &format!("{wrong}an ELF program"));
    check("x.txt", b"PK\x03\x04\x14\0\x06\0word/document.xml", &format!("{wrong}a ZIP archive"));
    check("x.txt", b"PK\x03\x04\x14\0\x06\0a.txt", &format!("{wrong}a ZIP archive"));
    check("x.sh", b"\x1F\x8B\x08\0\0\0\0\0\0\x03", &format!("{wrong}gzip data"));
    check("x.md", b"\0\x01\x02\x03", "not_text: it is not text");
    check("x.md", b"\x01\x02ab\x03\x04", "not_text: it is not text");
}

#[test]
fn text_is_recognised_in_any_encoding_and_with_any_beginning() {
    for head in [
        &b"BM25 ranks"[..],
        b"MZ is a name",
        b"<!DOCTYPE html>\n# Title",
        b"\xFF\xFEa\0b\0",
        b"\xFE\xFF\0a\0b",
        b"\xEF\xBB\xBF# T",
        b"caf\xE9",
        b"\x1B[31mred\x1B[0m \x0C",
        b"BZhong",
    ] {
        check("x.md", head, "markdown");
    }
}

#[test]
fn unsupported_files_are_ignored_in_directories_and_refused_when_named() {
    let unsupported = "unsupported_format: unsupported file type: ";
    check("x.xhtml", b"<html>", &format!("{unsupported}x.xhtml (HTML)"));
    check("x.gif", b"GIF89a\x01\0\x01\0", &format!("{unsupported}x.gif (a GIF image)"));
    check("x.xyz", b"Title", &format!("{unsupported}x.xyz"));
    check("x", b"Title", &format!("{unsupported}x"));
}

#[test]
fn empty_files_are_ignored_in_directories() {
    check("__init__.py", b"", "empty_file: nothing to index: __init__.py is empty");
}

#[test]
fn lines_for_editors_name_the_language_when_the_extension_does_not() {
    for (name, text, expected) in [
        ("tide", "# Completion   -*- shell-script -*-\n", "bash"),
        ("tide", "#\n# -*- mode: perl; indent: 2 -*-\n", "perl"),
        ("tide", "a\n\n# ex: ts=4 sw=4 et filetype=sh\n", "bash"),
        ("tide.inc", "/* vim: set ft=c : */\n", "c"),
        ("tide", "# vim: ft=python\n", "python"),
        ("tide", ".. -*- rst -*-\n", "rst"),
        ("tide.md", "# -*- python -*-\n", "markdown"),
        ("tide", "regex: ft=sh\n", "unsupported_format: unsupported file type: tide"),
        ("tide", "-*- coding: utf-8 -*-\n", "unsupported_format: unsupported file type: tide"),
        ("tide", "-*- pdf -*-\n", "unsupported_format: unsupported file type: tide"),
    ] {
        check(name, text.as_bytes(), expected);
    }
}

#[test]
fn a_compressed_file_is_what_its_content_is() {
    check("git.1.gz", b".TH GIT 1\n", "man");
    check("changelog.Debian.gz", b"tide (1.0)\n", "text");
    check("notes.md.xz", b"# Tides\n", "markdown");
    check("run.sh.BZ2", b"echo\n", "bash");
    let further = &TextExtensions::NONE;
    for (name, expected) in [("a.1.gz", true), ("a.md.zst", true), ("a.tar.gz", false)] {
        assert_eq!(may_be_read(Path::new(name), further), expected, "{name}");
    }
    assert!(is_compressed(Path::new("a.gz"), b"\x1F\x8B\x08\0"));
    assert!(!is_compressed(Path::new("a.md"), b"\x1F\x8B\x08\0"));
    assert!(!is_compressed(Path::new("a.gz"), b"words"));
}
