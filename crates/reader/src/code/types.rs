//! Collects the types of a file that methods outside their type refer to.

use std::collections::HashMap;

use tree_sitter::Node;

use super::comments::Comments;
use super::grammar::{Grammar, NodeRole};
use super::words;

/// A class or type, as context for its methods.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    /// Its qualified name.
    pub(super) symbol: String,
    /// The beginning of its declaration.
    pub(super) head: String,
    /// The first paragraph of its documentation.
    pub(super) docs: Option<String>,
}

/// The types of a file, in languages where a method names its type as receiver.
#[derive(Default)]
pub(super) struct Types<'a> {
    owners: HashMap<&'a str, Owner>,
}

impl<'a> Types<'a> {
    /// Finds all types at the top level of a file.
    pub(super) fn find(root: Node<'_>, text: &'a str, grammar: &Grammar) -> Self {
        let mut types = Self::default();
        if !grammar.has_role(NodeRole::Types) && !grammar.has_role(NodeRole::Type) {
            return types;
        }
        let mut comments = Comments::default();
        let mut cursor = root.walk();
        // Unnamed nodes are line ends.
        for node in root.named_children(&mut cursor) {
            match grammar.role(node) {
                Some(NodeRole::Comment) => comments.add(text, node),
                Some(NodeRole::Types) => types.declare(text, node, &comments),
                Some(NodeRole::Type) => {
                    if let Some(name) = words::name(text, node) {
                        let docs = docs_above(text, node, &comments);
                        types.insert(name, words::head(text, node), docs);
                    }
                }
                _ => {}
            }
        }
        types
    }

    pub(super) fn owner(&self, name: &str) -> Option<&Owner> {
        self.owners.get(name)
    }

    /// Adds the declared types.
    fn declare(&mut self, text: &'a str, declaration: Node<'_>, comments: &Comments) {
        let specs = specs(text, declaration);
        if let [(name, _)] = specs[..] {
            let docs = docs_above(text, declaration, comments);
            self.insert(name, words::head(text, declaration), docs);
            return;
        }
        for (name, spec) in specs {
            self.insert(name, words::head(text, spec), None);
        }
    }

    fn insert(&mut self, name: &'a str, head: String, docs: Option<String>) {
        let symbol = name.to_owned();
        self.owners.entry(name).or_insert(Owner { symbol, head, docs });
    }
}

fn docs_above(text: &str, definition: Node<'_>, comments: &Comments) -> Option<String> {
    let start = comments.start_with(text, definition);
    words::comment_docs(&text[start..definition.start_byte()])
}

/// Returns the types of a declaration, with their names.
pub(super) fn specs<'a, 'tree>(
    text: &'a str,
    declaration: Node<'tree>,
) -> Vec<(&'a str, Node<'tree>)> {
    let mut cursor = declaration.walk();
    let specs = declaration.named_children(&mut cursor);
    specs.filter_map(|spec| Some((words::name(text, spec)?, spec))).collect()
}

/// Returns the type of a method: `Stack` in `func (s *Stack[T]) Push`.
pub(super) fn receiver<'a>(text: &'a str, method: Node<'_>) -> Option<&'a str> {
    let receiver = method.child_by_field_name("receiver")?;
    let mut cursor = receiver.walk();
    let parameter = receiver.named_children(&mut cursor).find(|child| child.kind() != "comment")?;
    let mut node = parameter.child_by_field_name("type")?;
    while node.kind() != "type_identifier" {
        node = node.named_child(0)?;
    }
    Some(&text[node.byte_range()])
}

/// Whether a function returns a type, or a pointer to it, alone or among other results: `Stack` in
/// `func New() (*Stack[int], error)`.
pub(super) fn returns(text: &str, function: Node<'_>, name: &str) -> bool {
    let Some(result) = function.child_by_field_name("result") else { return false };
    if result.kind() != "parameter_list" {
        return is_named(text, result, name);
    }
    let mut cursor = result.walk();
    let mut results = result.named_children(&mut cursor);
    results.any(|result| {
        result.child_by_field_name("type").is_some_and(|result| is_named(text, result, name))
    })
}

/// Whether a type is the named one, a pointer to it, or an instance of it.
fn is_named(text: &str, node: Node<'_>, name: &str) -> bool {
    let mut node = node;
    while matches!(node.kind(), "pointer_type" | "generic_type") {
        let Some(inner) = node.named_child(0) else { return false };
        node = inner;
    }
    node.kind() == "type_identifier" && &text[node.byte_range()] == name
}
