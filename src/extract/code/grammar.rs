//! Says what a node of a syntax tree is to kb, by the table of languages.

use tree_sitter::Node;

use super::languages;
use crate::document::Language;

/// What a node of the syntax tree is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Has a name and is kept together: a function, a method.
    Function,
    /// A function where it has a `body`; without one it stays with what is around it.
    Method,
    /// Has a name and a `body` whose functions are its methods; without a body it is only named.
    Class,
    /// Declares one type or several; methods are written elsewhere and name it as `receiver`.
    Types,
    /// One type, with a name.
    Type,
    /// Puts something around the definition it holds: decorators, `export`, `template`.
    Wrapper,
    /// Gives a name to its `value` (or `right`), which counts as what `values` says it is.
    Binding,
    /// A comment or an attribute; one that ends on the line above a definition belongs to it.
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
    /// The grammar, or several: the first that reads a file without an error is taken, else the one
    /// with the least of them.
    pub(super) parsers: &'static [fn() -> tree_sitter::Language],
    /// Kinds of node that play a role.
    pub(super) roles: &'static [(&'static str, Role)],
    /// Kinds of value that make a definition of their binding.
    pub(super) values: &'static [(&'static str, Role)],
    /// The first statement where it speaks for the whole file.
    pub(super) preamble: Option<Preamble>,
    /// Kinds of node that are never parted from what stands before them.
    pub(super) glued: &'static [&'static str],
    /// An operator of which the parser cannot stand thousands in one statement.
    pub(super) costly_chain: Option<char>,
    /// What stands between the parts of a qualified name.
    pub(super) separator: &'static str,
}

/// Wrappers within each other that are looked through: `export`, `declare` and one more.
const MAX_WRAPPERS: usize = 8;

impl Grammar {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::Python => &languages::PYTHON,
            Language::Bash => &languages::BASH,
            Language::Go => &languages::GO,
            Language::JavaScript => &languages::JAVASCRIPT,
            Language::TypeScript => &languages::TYPESCRIPT,
            Language::Rust => &languages::RUST,
            Language::C => &languages::C,
            Language::Cpp => &languages::CPP,
            Language::Java => &languages::JAVA,
        }
    }

    /// Returns what a node is.
    pub(super) fn role(&self, node: Node<'_>) -> Option<Role> {
        match find(self.roles, node.kind())? {
            Role::Class | Role::Method if node.child_by_field_name("body").is_none() => None,
            Role::Binding => self.bound(node),
            role => Some(role),
        }
    }

    pub(super) fn is_comment(&self, kind: &str) -> bool {
        find(self.roles, kind) == Some(Role::Comment)
    }

    pub(super) fn has_role(&self, wanted: Role) -> bool {
        self.roles.iter().any(|(_, role)| *role == wanted)
    }

    /// Returns the definition a wrapper holds, if it holds one.
    pub(super) fn wrapped<'tree>(&self, wrapper: Node<'tree>) -> Option<Node<'tree>> {
        let mut wrapper = wrapper;
        for _ in 0..MAX_WRAPPERS {
            let mut inner = None;
            let mut cursor = wrapper.walk();
            for child in wrapper.named_children(&mut cursor) {
                match self.role(child) {
                    Some(Role::Wrapper) => inner = inner.or(Some(child)),
                    Some(Role::Comment) | None => {}
                    Some(_) => return Some(child),
                }
            }
            wrapper = inner?;
        }
        None
    }

    /// Returns what a binding defines: its value, or what its value is made of on further lines, as
    /// in `const Item = memo((props) => { … })`.
    fn bound(&self, binding: Node<'_>) -> Option<Role> {
        let value = ["value", "right"].iter().find_map(|it| binding.child_by_field_name(it))?;
        if let Some(role) = find(self.values, value.kind()) {
            return Some(role);
        }
        let arguments = value.child_by_field_name("arguments")?;
        if arguments.start_position().row == arguments.end_position().row {
            return None;
        }
        let mut cursor = arguments.walk();
        let mut arguments = arguments.named_children(&mut cursor);
        arguments.find_map(|it| find(self.values, it.kind())).map(|_| Role::Function)
    }
}

fn find(table: &[(&str, Role)], kind: &str) -> Option<Role> {
    table.iter().find(|(known, _)| *known == kind).map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind that a new version of a grammar renames would silently never be found again.
    #[test]
    fn every_kind_in_the_table_is_one_of_its_grammar() {
        for language in Language::ALL {
            let grammar = Grammar::of(language);
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
