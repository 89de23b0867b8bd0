//! Defines what the nodes of a syntax tree mean.

use tree_sitter::Node;

/// What a node of the syntax tree means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A named definition that is kept together: a function, a method.
    Function,
    /// A function if it has a `body`; without one it stays with the code around it.
    Method,
    /// A named definition whose `body` contains methods; without a body only its name is used.
    Class,
    /// Declares one or more types; their methods are elsewhere and name the type as `receiver`.
    Types,
    /// One named type.
    Type,
    /// Surrounds the definition it contains: decorators, `export`, `template`.
    Wrapper,
    /// Gives a name to its `value` (or `right`); `values` defines what the value means.
    Binding,
    /// A comment or an attribute. If it ends on the line above a definition, it belongs to the
    /// definition.
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

/// The properties of a language that differ between languages.
pub(super) struct Grammar {
    /// The parsers in this build, in order. The first one that parses a file without errors is used, else the one
    /// with the fewest errors.
    pub(super) parsers: &'static [fn() -> tree_sitter::Language],
    /// Kinds of node with a role.
    pub(super) roles: &'static [(&'static str, Role)],
    /// Kinds of value that make their binding a definition.
    pub(super) values: &'static [(&'static str, Role)],
    /// The first statement, if it documents the whole file.
    pub(super) preamble: Option<Preamble>,
    /// Kinds of node that are never separated from the code before them.
    pub(super) glued: &'static [&'static str],
    /// An operator; thousands of them in one statement use too much memory in the parser.
    pub(super) costly_chain: Option<char>,
    /// Separates the parts of a qualified name.
    pub(super) separator: &'static str,
    /// Which definitions after a type stay together with it.
    pub(super) grouping: Grouping,
}

/// How the methods of a type that are outside its declaration are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grouping {
    /// There are none.
    None,
    /// Methods name their receiver, and functions that return the type may be among them.
    Receivers,
    /// Blocks that have the name of the type.
    Blocks,
    /// Functions whose names are qualified by the type.
    QualifiedNames,
}

/// How many nested wrappers are unwrapped: `export`, `declare` and more.
const MAX_WRAPPERS: usize = 8;

impl Grammar {
    /// Returns the role of a node.
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

    /// Returns the definition in a wrapper, if there is one.
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

    /// Returns the role of a binding: the role of its value, or of an argument in a value on
    /// several lines, as in `const Item = memo((props) => { … })`.
    fn bound(&self, binding: Node<'_>) -> Option<Role> {
        let value =
            ["value", "right"].iter().find_map(|field| binding.child_by_field_name(field))?;
        if let Some(role) = find(self.values, value.kind()) {
            return Some(role);
        }
        let arguments = value.child_by_field_name("arguments")?;
        if arguments.start_position().row == arguments.end_position().row {
            return None;
        }
        let mut cursor = arguments.walk();
        let mut arguments = arguments.named_children(&mut cursor);
        arguments.find_map(|argument| find(self.values, argument.kind())).map(|_| Role::Function)
    }
}

fn find(table: &[(&str, Role)], kind: &str) -> Option<Role> {
    table.iter().find(|(known, _)| *known == kind).map(|(_, role)| *role)
}
