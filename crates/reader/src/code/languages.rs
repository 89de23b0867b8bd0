//! Returns the grammar of a language: its parsers, and its row in the table of what their nodes mean.

use super::grammar::Grammar;
use crate::document::Language;
use crate::extract::built_in;

/// The table, which explains its fields.
const TABLE: &str = include_str!("grammars.toml");

/// The first line of a row.
const ROW: &str = "[[language]]\n";

impl Grammar {
    /// Returns the grammar of a language; `None` if it is read by lines, because there is none or it is not in this
    /// build. Only its row is parsed, because a process reads one document.
    pub(super) fn of(language: Language) -> Option<Self> {
        let word = format!("\"{language}\"");
        let row = TABLE
            .split(ROW)
            .find(|row| row.lines().next().is_some_and(|names| names.contains(word.as_str())))?;
        let mut grammar: Self = built_in::table(row);
        grammar.parsers = parsers(&grammar.names[0]);
        (!grammar.parsers.is_empty()).then_some(grammar)
    }
}

/// Returns the parsers of a row of the table that are in this build.
fn parsers(name: &str) -> &'static [fn() -> tree_sitter::Language] {
    match name {
        "python" => &[|| tree_sitter_python::LANGUAGE.into()],
        "bash" => &[|| tree_sitter_bash::LANGUAGE.into()],
        "go" => &[|| tree_sitter_go::LANGUAGE.into()],
        "javascript" => &[|| tree_sitter_javascript::LANGUAGE.into()],
        // The second parser reads JSX elements, the first reads casts of the form `<T>x`.
        #[cfg(feature = "grammar-typescript")]
        "typescript" => &[
            || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            || tree_sitter_typescript::LANGUAGE_TSX.into(),
        ],
        #[cfg(feature = "grammar-rust")]
        "rust" => &[|| tree_sitter_rust::LANGUAGE.into()],
        "c" => &[|| tree_sitter_c::LANGUAGE.into()],
        #[cfg(feature = "grammar-cpp")]
        "cpp" => &[|| tree_sitter_cpp::LANGUAGE.into()],
        "java" => &[|| tree_sitter_java::LANGUAGE.into()],
        #[cfg(feature = "grammar-ruby")]
        "ruby" => &[|| tree_sitter_ruby::LANGUAGE.into()],
        #[cfg(feature = "grammar-php")]
        "php" => &[|| tree_sitter_php::LANGUAGE_PHP.into()],
        #[cfg(feature = "grammar-csharp")]
        "csharp" => &[|| tree_sitter_c_sharp::LANGUAGE.into()],
        "lua" => &[|| tree_sitter_lua::LANGUAGE.into()],
        "css" => &[|| tree_sitter_css::LANGUAGE.into()],
        "hcl" => &[|| tree_sitter_hcl::LANGUAGE.into()],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If a new version of a grammar renamed a kind, that kind would never be found again.
    #[test]
    fn every_kind_in_the_table_exists_in_its_grammar() {
        for language in Language::ALL {
            let Some(grammar) = Grammar::of(language) else { continue };
            for parser in grammar.parsers {
                let parser = parser();
                let tables = grammar.roles.values().chain(grammar.values.values());
                for kind in tables.chain([&grammar.glued]).flatten() {
                    assert_ne!(parser.id_for_node_kind(kind, true), 0, "{language}: {kind}");
                }
            }
        }
    }
}
