//! Defines the table of languages with a grammar, one row per language.

use super::grammar::{Grammar, Grouping, Preamble, Role};
use crate::document::Language;

impl Grammar {
    /// Returns the grammar of a language; `None` if it is read by lines, because there is none or it is not in this
    /// build.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        let grammar = match language {
            // Starlark is a part of Python.
            Language::Python | Language::Starlark => &PYTHON,
            Language::Bash => &BASH,
            Language::Go => &GO,
            Language::JavaScript => &JAVASCRIPT,
            Language::TypeScript => &TYPESCRIPT,
            Language::Rust => &RUST,
            Language::C => &C,
            // Its additions to C++ are errors in single statements.
            Language::Cpp | Language::Cuda => &CPP,
            Language::Java => &JAVA,
            Language::Ruby => &RUBY,
            Language::Php => &PHP,
            Language::CSharp => &CSHARP,
            Language::Lua => &LUA,
            Language::Css => &CSS,
            Language::Hcl => &HCL,
            _ => return None,
        };
        (!grammar.parsers.is_empty()).then_some(grammar)
    }
}

/// What most grammars have in common.
const PLAIN: Grammar = Grammar {
    parsers: &[],
    roles: &[],
    values: &[],
    preamble: None,
    glued: &[],
    costly_chain: None,
    separator: ".",
    grouping: Grouping::None,
};

pub(super) static PYTHON: Grammar = Grammar {
    parsers: &[|| tree_sitter_python::LANGUAGE.into()],
    roles: &[
        ("function_definition", Role::Function),
        ("class_definition", Role::Class),
        ("decorated_definition", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    preamble: Some(Preamble::String("expression_statement")),
    glued: &["block", "string_content", "string_end"],
    ..PLAIN
};

pub(super) static BASH: Grammar = Grammar {
    parsers: &[|| tree_sitter_bash::LANGUAGE.into()],
    roles: &[("function_definition", Role::Function), ("comment", Role::Comment)],
    glued: &["compound_statement", "do_group", "heredoc_body", "heredoc_content", "heredoc_end"],
    costly_chain: Some('|'),
    ..PLAIN
};

pub(super) static GO: Grammar = Grammar {
    parsers: &[|| tree_sitter_go::LANGUAGE.into()],
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
    grouping: Grouping::Receivers,
    ..PLAIN
};

/// The values in JavaScript and TypeScript that make a binding a definition.
const FUNCTION_VALUES: &[(&str, Role)] = &[
    ("arrow_function", Role::Function),
    ("function_expression", Role::Function),
    ("generator_function", Role::Function),
    ("class", Role::Class),
];

pub(super) static JAVASCRIPT: Grammar = Grammar {
    parsers: &[|| tree_sitter_javascript::LANGUAGE.into()],
    roles: &[
        ("function_declaration", Role::Function),
        ("generator_function_declaration", Role::Function),
        ("method_definition", Role::Function),
        ("class_declaration", Role::Class),
        ("field_definition", Role::Binding),
        ("variable_declarator", Role::Binding),
        ("assignment_expression", Role::Binding),
        ("lexical_declaration", Role::Wrapper),
        ("variable_declaration", Role::Wrapper),
        ("expression_statement", Role::Wrapper),
        ("export_statement", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    values: FUNCTION_VALUES,
    glued: &["statement_block", "class_body", "template_string"],
    ..PLAIN
};

pub(super) static TYPESCRIPT: Grammar = Grammar {
    // The second parser reads JSX elements, the first reads casts of the form `<T>x`.
    parsers: &[
        #[cfg(feature = "grammar-typescript")]
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        #[cfg(feature = "grammar-typescript")]
        || tree_sitter_typescript::LANGUAGE_TSX.into(),
    ],
    roles: &[
        ("function_declaration", Role::Function),
        ("generator_function_declaration", Role::Function),
        ("method_definition", Role::Function),
        ("class_declaration", Role::Class),
        ("abstract_class_declaration", Role::Class),
        ("interface_declaration", Role::Class),
        ("enum_declaration", Role::Class),
        ("internal_module", Role::Class),
        ("module", Role::Class),
        ("type_alias_declaration", Role::Type),
        ("public_field_definition", Role::Binding),
        ("variable_declarator", Role::Binding),
        ("assignment_expression", Role::Binding),
        ("lexical_declaration", Role::Wrapper),
        ("variable_declaration", Role::Wrapper),
        ("expression_statement", Role::Wrapper),
        ("export_statement", Role::Wrapper),
        ("ambient_declaration", Role::Wrapper),
        // Precedes a method.
        ("decorator", Role::Comment),
        ("comment", Role::Comment),
    ],
    values: FUNCTION_VALUES,
    glued: &["statement_block", "class_body", "interface_body", "enum_body", "template_string"],
    ..PLAIN
};

pub(super) static RUST: Grammar = Grammar {
    parsers: &[
        #[cfg(feature = "grammar-rust")]
        || tree_sitter_rust::LANGUAGE.into(),
    ],
    roles: &[
        ("function_item", Role::Function),
        ("macro_definition", Role::Function),
        ("impl_item", Role::Class),
        ("trait_item", Role::Class),
        ("mod_item", Role::Class),
        ("struct_item", Role::Type),
        ("enum_item", Role::Type),
        ("union_item", Role::Type),
        ("attribute_item", Role::Comment),
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
    ],
    glued: &[
        "block", "declaration_list", "field_declaration_list", "enum_variant_list", "match_block",
        "where_clause",
    ],
    separator: "::",
    grouping: Grouping::Blocks,
    ..PLAIN
};

pub(super) static C: Grammar = Grammar {
    parsers: &[|| tree_sitter_c::LANGUAGE.into()],
    roles: &[
        ("function_definition", Role::Function),
        ("struct_specifier", Role::Class),
        ("union_specifier", Role::Class),
        ("enum_specifier", Role::Class),
        ("declaration", Role::Wrapper),
        ("type_definition", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    glued: &["compound_statement", "field_declaration_list", "enumerator_list", "initializer_list"],
    separator: "::",
    ..PLAIN
};

pub(super) static CPP: Grammar = Grammar {
    parsers: &[
        #[cfg(feature = "grammar-cpp")]
        || tree_sitter_cpp::LANGUAGE.into(),
    ],
    roles: &[
        ("function_definition", Role::Method),
        ("class_specifier", Role::Class),
        ("struct_specifier", Role::Class),
        ("union_specifier", Role::Class),
        ("enum_specifier", Role::Class),
        ("namespace_definition", Role::Class),
        ("concept_definition", Role::Type),
        ("template_declaration", Role::Wrapper),
        ("declaration", Role::Wrapper),
        ("type_definition", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    glued: &[
        "compound_statement", "declaration_list", "field_declaration_list",
        "field_initializer_list", "enumerator_list", "initializer_list",
    ],
    separator: "::",
    grouping: Grouping::QualifiedNames,
    ..PLAIN
};

pub(super) static JAVA: Grammar = Grammar {
    parsers: &[|| tree_sitter_java::LANGUAGE.into()],
    roles: &[
        ("method_declaration", Role::Method),
        ("constructor_declaration", Role::Function),
        ("compact_constructor_declaration", Role::Function),
        ("class_declaration", Role::Class),
        ("interface_declaration", Role::Class),
        ("enum_declaration", Role::Class),
        ("record_declaration", Role::Class),
        ("annotation_type_declaration", Role::Class),
        ("line_comment", Role::Comment),
        ("block_comment", Role::Comment),
    ],
    glued: &["block", "constructor_body", "class_body", "interface_body", "enum_body"],
    ..PLAIN
};

pub(super) static RUBY: Grammar = Grammar {
    parsers: &[
        #[cfg(feature = "grammar-ruby")]
        || tree_sitter_ruby::LANGUAGE.into(),
    ],
    roles: &[
        ("method", Role::Function),
        ("singleton_method", Role::Function),
        ("class", Role::Class),
        ("module", Role::Class),
        ("comment", Role::Comment),
    ],
    glued: &["body_statement", "block_body", "heredoc_body", "string_content"],
    separator: "::",
    ..PLAIN
};

pub(super) static PHP: Grammar = Grammar {
    parsers: &[
        #[cfg(feature = "grammar-php")]
        || tree_sitter_php::LANGUAGE_PHP.into(),
    ],
    roles: &[
        ("function_definition", Role::Function),
        ("method_declaration", Role::Method),
        ("class_declaration", Role::Class),
        ("interface_declaration", Role::Class),
        ("trait_declaration", Role::Class),
        ("enum_declaration", Role::Class),
        ("namespace_definition", Role::Class),
        ("comment", Role::Comment),
    ],
    glued: &[
        "compound_statement", "declaration_list", "enum_declaration_list", "match_block",
        "switch_block", "heredoc_body", "nowdoc_body",
    ],
    separator: "::",
    ..PLAIN
};

pub(super) static CSHARP: Grammar = Grammar {
    parsers: &[
        #[cfg(feature = "grammar-csharp")]
        || tree_sitter_c_sharp::LANGUAGE.into(),
    ],
    roles: &[
        ("method_declaration", Role::Method),
        ("constructor_declaration", Role::Function),
        ("class_declaration", Role::Class),
        ("struct_declaration", Role::Class),
        ("interface_declaration", Role::Class),
        ("record_declaration", Role::Class),
        ("enum_declaration", Role::Class),
        ("namespace_declaration", Role::Class),
        ("comment", Role::Comment),
    ],
    glued: &[
        "block",
        "declaration_list",
        "enum_member_declaration_list",
        "accessor_list",
        "switch_body",
        "arrow_expression_clause",
        "raw_string_content",
    ],
    ..PLAIN
};

pub(super) static LUA: Grammar = Grammar {
    parsers: &[|| tree_sitter_lua::LANGUAGE.into()],
    roles: &[
        ("function_declaration", Role::Function),
        // `name = function() … end`, in a table or as a statement
        ("field", Role::Binding),
        ("expression_list", Role::Binding),
        ("assignment_statement", Role::Wrapper),
        ("variable_declaration", Role::Wrapper),
        ("comment", Role::Comment),
    ],
    values: &[("function_definition", Role::Function)],
    glued: &["block", "string_content"],
    ..PLAIN
};

/// Rules have no symbol: a section for each would be too short to be found.
pub(super) static CSS: Grammar = Grammar {
    parsers: &[|| tree_sitter_css::LANGUAGE.into()],
    roles: &[("comment", Role::Comment), ("js_comment", Role::Comment)],
    glued: &["block", "keyframe_block_list"],
    ..PLAIN
};

pub(super) static HCL: Grammar = Grammar {
    parsers: &[|| tree_sitter_hcl::LANGUAGE.into()],
    roles: &[("block", Role::Function), ("comment", Role::Comment)],
    glued: &["body", "block_end"],
    ..PLAIN
};

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
                let tables = grammar.roles.iter().chain(grammar.values).map(|(kind, _)| *kind);
                for kind in tables.chain(grammar.glued.iter().copied()) {
                    assert_ne!(parser.id_for_node_kind(kind, true), 0, "{language}: {kind}");
                }
            }
        }
    }
}
