//! Finds the name of a definition.

use tree_sitter::Node;

/// How many wrappers a declarator may have: pointers, brackets, arrays; bounds the work on a hostile tree.
const MAX_DECLARATORS: usize = 40;

/// Fields that hold a definition's name, or lead to it.
const NAME_FIELDS: &[&str] = &["name", "declarator", "property", "left", "type"];

/// Returns the name of a definition; `None` if it has none.
///
/// The name of `impl Trait for Type` is its type, and the name of a C function is the name in its
/// declarator. Type arguments are left out: `Stack::push` for `Stack<T>::push`.
pub(super) fn name(text: &str, definition: Node<'_>) -> Option<String> {
    let named = NAME_FIELDS.iter().find_map(|field| definition.child_by_field_name(field));
    let Some(mut node) = named else { return without_field(text, definition) };
    for _ in 0..MAX_DECLARATORS {
        let inner = match node.kind() {
            "generic_type" | "reference_type" => node.child_by_field_name("type"),
            kind if kind.ends_with("_declarator") => {
                node.child_by_field_name("declarator").or_else(|| last_child(node))
            }
            _ => None,
        };
        let Some(inner) = inner else { break };
        node = inner;
    }
    let mut name = String::new();
    while node.kind() == "qualified_identifier" {
        if let Some(scope) = node.child_by_field_name("scope") {
            name.push_str(&plain(text, scope));
            name.push_str("::");
        }
        node = node.child_by_field_name("name")?;
    }
    name.push_str(&plain(text, node));
    (!name.is_empty()).then_some(name)
}

/// Returns the name of a definition whose name is not in a field.
fn without_field(text: &str, definition: Node<'_>) -> Option<String> {
    match definition.kind() {
        // HCL: `resource "type" "name" {`
        "block" => {
            let mut cursor = definition.walk();
            let labels = definition.named_children(&mut cursor);
            let labels = labels.take_while(|label| label.kind() != "block_start");
            let labels = labels.filter(|label| matches!(label.kind(), "identifier" | "string_lit"));
            let labels: Vec<String> = labels.map(|label| plain(text, label)).collect();
            (!labels.is_empty()).then(|| labels.join("."))
        }
        // Lua: the values of `a.b = function() … end`
        "expression_list" => Some(plain(text, definition.prev_named_sibling()?)),
        _ => None,
    }
}

/// Returns one part of a name without its arguments, quotes and line ends.
fn plain(text: &str, node: Node<'_>) -> String {
    let node = match node.kind() {
        "template_type" | "template_function" | "template_method" => {
            node.child_by_field_name("name").unwrap_or(node)
        }
        _ => node,
    };
    let text = &text[node.byte_range()];
    let bare = match node.kind() {
        // `operator bool() const`
        "operator_cast" => text.split('(').next().unwrap_or(text),
        _ => text.trim_matches(['"', '\'']),
    };
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let last = node.named_child_count().checked_sub(1)?;
    node.named_child(last.try_into().ok()?)
}
