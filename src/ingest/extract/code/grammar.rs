//! A language in, its grammar and the names of its nodes out: one table row per language.

use crate::document::Language;

/// What a node of the syntax tree is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Has a `name` and is kept together: a function, a method.
    Function,
    /// Has a `name` and a `body` whose functions are its methods.
    Class,
    /// Declares one type or several; methods are written elsewhere and name it as `receiver`.
    Types,
    /// One type, with a `name`.
    Type,
    /// Puts something before the definition it holds as `definition`: decorators.
    Wrapper,
    /// A comment; one that ends on the line above a definition belongs to it.
    Comment,
}

/// The first statement of a file, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preamble {
    /// Documentation if it is a string.
    String(&'static str),
    /// Documented if a comment is directly above.
    Commented(&'static str),
}

/// What has to be known about a language; the rest is the same for all.
pub(super) struct Grammar {
    /// The grammar.
    pub(super) parser: fn() -> tree_sitter::Language,
    /// Kinds of node that play a role.
    pub(super) roles: &'static [(&'static str, Role)],
    /// The first statement where it speaks for the whole file.
    pub(super) preamble: Option<Preamble>,
    /// Kinds of node that are never parted from what stands before them.
    pub(super) glued: &'static [&'static str],
    /// An operator of which the parser cannot stand thousands in one statement.
    pub(super) costly_chain: Option<char>,
}

static PYTHON: Grammar = Grammar {
    parser: || tree_sitter_python::LANGUAGE.into(),
    roles: &[
        ("function_definition", Role::Function),
        ("class_definition", Role::Class),
        ("decorated_definition", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    preamble: Some(Preamble::String("expression_statement")),
    glued: &["block", "string_content", "string_end"],
    costly_chain: None,
};

static BASH: Grammar = Grammar {
    parser: || tree_sitter_bash::LANGUAGE.into(),
    roles: &[("function_definition", Role::Function), ("comment", Role::Comment)],
    preamble: None,
    glued: &["compound_statement", "do_group", "heredoc_body", "heredoc_content", "heredoc_end"],
    costly_chain: Some('|'),
};

static GO: Grammar = Grammar {
    parser: || tree_sitter_go::LANGUAGE.into(),
    roles: &[
        ("function_declaration", Role::Function),
        ("method_declaration", Role::Function),
        ("type_declaration", Role::Types),
        ("type_spec", Role::Type),
        ("type_alias", Role::Type),
        ("comment", Role::Comment),
    ],
    preamble: Some(Preamble::Commented("package_clause")),
    glued: &["block", "statement_list"],
    costly_chain: None,
};

impl Grammar {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::Python => &PYTHON,
            Language::Bash => &BASH,
            Language::Go => &GO,
        }
    }

    pub(super) fn role(&self, kind: &str) -> Option<Role> {
        self.roles.iter().find(|(known, _)| *known == kind).map(|(_, role)| *role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind that a new version of a grammar renames would silently never be found again.
    #[test]
    fn every_kind_in_the_table_is_one_of_its_grammar() {
        for language in Language::ALL {
            let grammar = Grammar::of(language);
            let parser = (grammar.parser)();
            let roles = grammar.roles.iter().map(|(kind, _)| *kind);
            for kind in roles.chain(grammar.glued.iter().copied()) {
                assert_ne!(parser.id_for_node_kind(kind, true), 0, "{language}: {kind}");
            }
        }
    }
}
