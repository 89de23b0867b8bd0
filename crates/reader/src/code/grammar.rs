//! Defines the meanings of the nodes of a syntax tree.

use std::collections::BTreeMap;

use serde::Deserialize;
use tree_sitter::Node;

/// Kinds of node by their meaning.
type Kinds = BTreeMap<NodeRole, Vec<String>>;

/// The meaning of a node of the syntax tree; the table explains each one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NodeRole {
    Function,
    Method,
    Class,
    Types,
    Type,
    Wrapper,
    Binding,
    Comment,
}

/// The first statement of a file, by its kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Preamble {
    /// Documentation if it is a string.
    String(String),
    /// Documented if a comment is directly above.
    Commented(String),
}

/// The properties of a language that differ between languages: a row of the table, which explains its fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grammar {
    /// The word of the language, and of others that are close to it.
    pub(super) names: Vec<String>,
    /// The parsers in this build, in order. The first one that parses a file without errors is used, else the one
    /// with the fewest errors.
    #[serde(skip)]
    pub(super) parsers: &'static [fn() -> tree_sitter::Language],
    pub(super) roles: Kinds,
    #[serde(default)]
    pub(super) values: Kinds,
    pub(super) preamble: Option<Preamble>,
    pub(super) glued: Vec<String>,
    pub(super) costly_chain: Option<char>,
    #[serde(default = "point")]
    pub(super) separator: String,
    #[serde(default)]
    pub(super) grouping: Grouping,
}

/// The usual separator of names.
pub(super) fn point() -> String {
    ".".to_owned()
}

/// How the methods of a type that are outside its declaration are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Grouping {
    /// There are none.
    #[default]
    None,
    /// Methods name their receiver, and functions that return the type may be among them.
    Receivers,
    /// Blocks that have the name of the type.
    Blocks,
    /// Functions whose names are qualified by the type.
    QualifiedNames,
}

/// How many nested wrappers are unwrapped: `export`, `declare` and more; bounds the work on a hostile tree.
const MAX_WRAPPERS: usize = 8;

impl Grammar {
    pub(super) fn role(&self, node: Node<'_>) -> Option<NodeRole> {
        match find(&self.roles, node.kind())? {
            NodeRole::Class | NodeRole::Method if node.child_by_field_name("body").is_none() => {
                None
            }
            NodeRole::Binding => self.bound(node),
            role => Some(role),
        }
    }

    pub(super) fn is_comment(&self, kind: &str) -> bool {
        find(&self.roles, kind) == Some(NodeRole::Comment)
    }

    pub(super) fn has_role(&self, wanted: NodeRole) -> bool {
        self.roles.contains_key(&wanted)
    }

    /// Returns the definition in a wrapper, if there is one.
    pub(super) fn wrapped<'tree>(&self, wrapper: Node<'tree>) -> Option<Node<'tree>> {
        let mut wrapper = wrapper;
        for _ in 0..MAX_WRAPPERS {
            let mut inner = None;
            let mut cursor = wrapper.walk();
            for child in wrapper.named_children(&mut cursor) {
                match self.role(child) {
                    Some(NodeRole::Wrapper) => inner = inner.or(Some(child)),
                    Some(NodeRole::Comment) | None => {}
                    Some(_) => return Some(child),
                }
            }
            wrapper = inner?;
        }
        None
    }

    /// Returns the role of a binding: the role of its value, or of an argument in a value on
    /// several lines, as in `const Item = memo((props) => { … })`.
    fn bound(&self, binding: Node<'_>) -> Option<NodeRole> {
        let value =
            ["value", "right"].iter().find_map(|field| binding.child_by_field_name(field))?;
        if let Some(role) = find(&self.values, value.kind()) {
            return Some(role);
        }
        let arguments = value.child_by_field_name("arguments")?;
        if arguments.start_position().row == arguments.end_position().row {
            return None;
        }
        let mut cursor = arguments.walk();
        let mut arguments = arguments.named_children(&mut cursor);
        arguments
            .find_map(|argument| find(&self.values, argument.kind()))
            .map(|_| NodeRole::Function)
    }
}

fn find(table: &Kinds, kind: &str) -> Option<NodeRole> {
    table.iter().find(|(_, kinds)| kinds.iter().any(|known| known == kind)).map(|(role, _)| *role)
}
