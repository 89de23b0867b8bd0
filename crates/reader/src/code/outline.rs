//! Divides a syntax tree into regions that belong to one definition, or to none.

use tree_sitter::{Node, Tree};

use super::comments::Comments;
use super::cut::MAX_UNCUT_BYTES;
use super::grammar::{Grammar, Grouping, NodeRole, Preamble};
use super::regions::{Region, Regions};
use super::types::{self, Owner, Types};
use super::{names, words};

struct OutlineVisit<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    regions: Regions<'a>,
    comments: Comments,
    is_preamble_over: bool,
    /// The node of a class whose scope was opened by its wrapper.
    opened_id: Option<usize>,
    types: Types<'a>,
    /// The qualified name of the type whose group the last definition belongs to.
    group: Option<String>,
}

/// Divides a source into regions.
pub(super) fn regions(tree: &Tree, text: &str, grammar: &Grammar) -> Vec<Region> {
    let mut outline = OutlineVisit {
        text,
        grammar,
        regions: Regions::new(text),
        comments: Comments::default(),
        is_preamble_over: false,
        opened_id: None,
        types: Types::find(tree.root_node(), text, grammar),
        group: None,
    };
    let mut cursor = tree.walk();
    if !cursor.goto_first_child() {
        return outline.regions.finish();
    }
    // Not recursive, as a source may be nested deeper than the stack allows.
    loop {
        if outline.enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return outline.regions.finish();
            }
        }
    }
}

impl<'a> OutlineVisit<'a> {
    /// Visits a node and returns whether its children are to be visited.
    fn enter(&mut self, node: Node<'_>) -> bool {
        self.regions.leave_scopes(node.start_byte());
        if node.end_byte() <= self.regions.at || self.opened_id == Some(node.id()) {
            // Already part of a region, or a class that is being visited.
            return node.end_byte() > self.regions.at;
        }
        let role = self.grammar.role(node);
        if role == Some(NodeRole::Comment) {
            self.comments.add(self.text, node);
            return false;
        }
        let is_first = node.is_named() && !std::mem::replace(&mut self.is_preamble_over, true);
        if is_first && self.is_preamble(node) {
            let end = self.end_of_line(node.end_byte());
            self.regions.push_at(0, end, Region { starts_section: true, ..Region::default() });
            return false;
        }
        match role {
            Some(NodeRole::Wrapper) => match self.grammar.wrapped(node) {
                Some(definition) if self.opened_id != Some(definition.id()) => {
                    self.define(node, definition)
                }
                _ => true,
            },
            Some(_) => self.define(node, node),
            None => true,
        }
    }

    /// Whether the first statement is the file's documentation, or is directly below it.
    fn is_preamble(&self, node: Node<'_>) -> bool {
        match &self.grammar.preamble {
            Some(Preamble::String(kind)) => {
                node.kind() == kind && node.child(0).is_some_and(|child| child.kind() == "string")
            }
            Some(Preamble::Commented(kind)) => node.kind() == kind && self.comments.end_above(node),
            None => false,
        }
    }

    /// Adds a definition; `outer` is the node including its wrapper.
    fn define(&mut self, outer: Node<'_>, node: Node<'_>) -> bool {
        let role = self.grammar.role(node);
        let specs =
            if role == Some(NodeRole::Types) { types::specs(self.text, node) } else { Vec::new() };
        let name = match specs.first() {
            Some((name, _)) => Some((*name).to_owned()),
            // `typedef struct { … } name;`
            None => names::name(self.text, node).or_else(|| names::name(self.text, outer)),
        };
        let Some(name) = name else { return true };
        let start = self.comments.start_with(self.text, outer).max(self.regions.at);
        let end = self.end_of_line(outer.end_byte());
        let owner = types::receiver(self.text, node);
        let names = owner.into_iter().chain([name.as_str()]);
        let symbol = self.regions.symbol(names, &self.grammar.separator);

        let is_long = end.saturating_sub(start) > MAX_UNCUT_BYTES;
        match role {
            Some(NodeRole::Class) if is_long => {
                let docs = words::docstring(self.text, node)
                    .or_else(|| {
                        words::comment_docs(&self.text[start..outer.start_byte().max(start)])
                    })
                    // The documentation of an implementation is the documentation of its type.
                    .or_else(|| self.types.owner(&name).and_then(|owner| owner.docs.clone()));
                let head = words::head(self.text, node);
                self.regions.enter(start, Owner { symbol, head, docs }, end);
                self.group = None;
                self.opened_id = Some(node.id());
                return true;
            }
            Some(NodeRole::Types) if is_long && specs.len() > 1 => return true,
            _ => {}
        }
        let group = self.group_of(node, role, &symbol);
        let is_in_group = group.is_some() && group == self.group && self.is_only_comments(start);
        self.group = group;
        let head = words::head(self.text, node);
        let owner = owner.and_then(|name| self.types.owner(name)).cloned();
        let region = Region {
            symbol: Some(symbol),
            context: self.regions.context(owner.as_ref(), None),
            later_context: self.regions.context(owner.as_ref(), Some(&head)),
            starts_section: !is_in_group,
            ..Region::default()
        };
        self.regions.push(start, end, region);
        false
    }

    /// Returns the qualified name of the type that a definition stays together with.
    fn group_of(&self, node: Node<'_>, role: Option<NodeRole>, symbol: &str) -> Option<String> {
        let separator = &*self.grammar.separator;
        match (self.grammar.grouping, role) {
            (Grouping::None, _) => None,
            (_, Some(NodeRole::Types | NodeRole::Type | NodeRole::Class)) => {
                Some(symbol.to_owned())
            }
            (Grouping::Receivers, _) => {
                // Methods without their type above them are separate sections.
                let group = self.group.clone()?;
                let is_method = types::receiver(self.text, node) == Some(&group);
                (is_method || types::returns(self.text, node, &group)).then_some(group)
            }
            (Grouping::Blocks, _) => None,
            (Grouping::QualifiedNames, _) => {
                let name = names::name(self.text, node)?;
                if !name.contains(separator) {
                    return None;
                }
                symbol.rsplit_once(separator).map(|(owner, _)| owner.to_owned())
            }
        }
    }

    /// Whether there are only comments and white space between the last region and a position.
    fn is_only_comments(&self, start: usize) -> bool {
        let gap = &self.text[self.regions.at.min(start)..start];
        gap.lines().map(str::trim_start).all(|line| {
            line.is_empty() || ["//", "/*", "*"].iter().any(|mark| line.starts_with(mark))
        })
    }

    /// Returns the end of the line, if only the end of a statement, white space or a comment
    /// follows; else the given position.
    fn end_of_line(&self, end: usize) -> usize {
        if self.text[..end].ends_with('\n') {
            return end;
        }
        let after = self.text[end..].trim_start_matches([' ', '\t']);
        let after = after.strip_prefix([';', ',']).unwrap_or(after);
        let after = after.trim_start_matches([' ', '\t']);
        if after.is_empty() || after.starts_with(['\n', '#']) || after.starts_with("//") {
            let num_after = after.find('\n').unwrap_or(after.len());
            self.text.len() - after.len() + num_after
        } else {
            end
        }
    }
}
