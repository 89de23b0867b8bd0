//! A syntax tree in, the stretches of source that belong to one definition, or to none, out.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::cut::{WHOLE_BYTES, begins_line};
use super::grammar::{Grammar, Preamble, Role};
use super::words;

/// Words that only close what was opened before the last definition.
const CLOSING_WORDS: &[&str] = &["fi", "done", "esac"];

/// How a line ends that opens what the next definition stands in.
const OPENING_ENDS: &[&str] = &[":", "{", "(", "then", "do"];

/// Between the heads of classes and what is in them.
const HEAD_SEPARATOR: &str = " > ";

/// A stretch of source. Regions come in order, do not overlap and leave out nothing but white
/// space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Region {
    /// Where it is: whole lines, unless two definitions share one.
    pub(super) bytes: Range<usize>,
    /// Qualified name of what it defines, or of the class whose own statements it holds.
    pub(super) symbol: Option<String>,
    /// What it is read with: enclosing classes and the documentation of the innermost.
    pub(super) context: Option<String>,
    /// What its later pieces are read with: the same and its own head.
    pub(super) later_context: Option<String>,
    /// Whether it is more than the end of what holds the region before it.
    pub(super) starts_section: bool,
}

/// A class or type as its methods see it.
#[derive(Debug, Clone)]
struct Owner {
    symbol: String,
    head: String,
    docs: Option<String>,
}

/// A class that was entered.
struct Scope {
    owner: Owner,
    end: usize,
    /// Whether its head is still to come.
    is_new: bool,
}

/// Comments on consecutive lines.
struct CommentRun {
    start: usize,
    next_row: usize,
}

struct Outline<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Up to here everything is in a region.
    at: usize,
    regions: Vec<Region>,
    scopes: Vec<Scope>,
    comments: Option<CommentRun>,
    is_preamble_over: bool,
    /// A class whose scope was opened by its wrapper.
    opened_id: Option<usize>,
    /// Types whose methods are written outside of them, by name.
    types: HashMap<&'a str, Owner>,
    /// Where the methods end that directly follow a type, by the type's node.
    methods_end: HashMap<usize, usize>,
}

/// Parts a source into regions.
pub(super) fn regions(tree: &Tree, text: &str, grammar: &Grammar) -> Vec<Region> {
    let mut outline = Outline {
        text,
        grammar,
        at: 0,
        regions: Vec::new(),
        scopes: Vec::new(),
        comments: None,
        is_preamble_over: false,
        opened_id: None,
        types: HashMap::new(),
        methods_end: HashMap::new(),
    };
    outline.find_types(tree.root_node());
    let mut cursor = tree.walk();
    if !cursor.goto_first_child() {
        return outline.finish();
    }
    // Not recursive: a source may nest deeper than the stack.
    loop {
        if outline.enter(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return outline.finish();
            }
        }
    }
}

impl<'a> Outline<'a> {
    /// Takes a node and returns whether its children are to be looked at.
    fn enter(&mut self, node: Node<'_>) -> bool {
        self.leave_scopes(node.start_byte());
        if node.end_byte() <= self.at || self.opened_id == Some(node.id()) {
            // Part of a region already, or a class that is being read.
            return node.end_byte() > self.at;
        }
        let role = self.grammar.role(node.kind());
        if role == Some(Role::Comment) {
            self.note_comment(node);
            return false;
        }
        let is_first = node.is_named() && !std::mem::replace(&mut self.is_preamble_over, true);
        if is_first && self.is_preamble(node) {
            let end = self.end_of_line(node.end_byte());
            self.push_at(0, end, Region { starts_section: true, ..Region::default() });
            return false;
        }
        match role {
            Some(Role::Wrapper) => match node.child_by_field_name("definition") {
                Some(definition) => self.define(node, definition),
                None => true,
            },
            Some(_) => self.define(node, node),
            None => true,
        }
    }

    /// Whether the first statement is the file's documentation or has it directly above.
    fn is_preamble(&self, node: Node<'_>) -> bool {
        let is_it = |it: &Preamble| match it {
            Preamble::String(kind) => {
                node.kind() == *kind && node.child(0).is_some_and(|it| it.kind() == "string")
            }
            Preamble::Commented(kind) => node.kind() == *kind && self.has_comments(node),
        };
        self.grammar.preamble.as_ref().is_some_and(is_it)
    }

    /// Takes a definition; `outer` is the node with its decorators.
    fn define(&mut self, outer: Node<'_>, node: Node<'_>) -> bool {
        let role = self.grammar.role(node.kind());
        let specs = if role == Some(Role::Types) { self.specs(node) } else { Vec::new() };
        let Some(name) = specs.first().map_or_else(|| self.name(node), |(name, _)| Some(*name))
        else {
            return true;
        };
        let start = self.start_with_comments(outer);
        let mut end = self.end_of_line(outer.end_byte());
        let owner = receiver(self.text, node);
        let mut symbol = String::new();
        if let Some(scope) = self.scopes.last() {
            symbol = format!("{}.", scope.owner.symbol);
        }
        if let Some(owner) = owner {
            symbol = format!("{symbol}{owner}.");
        }
        symbol.push_str(name);

        let is_long = end.saturating_sub(start) > WHOLE_BYTES;
        match role {
            Some(Role::Class) if is_long => {
                let docs = words::docstring(self.text, node).or_else(|| {
                    words::comment_docs(&self.text[start..outer.start_byte().max(start)])
                });
                let head = words::head(self.text, node);
                self.fill_gap(start);
                self.at = self.at.max(start);
                let owner = Owner { symbol, head, docs };
                self.scopes.push(Scope { owner, end, is_new: true });
                self.opened_id = Some(node.id());
                return true;
            }
            Some(Role::Types) if is_long && specs.len() > 1 => return true,
            Some(Role::Types) => {
                let with_methods = self.methods_end.get(&node.id()).copied();
                let with_methods = with_methods.map(|it| self.end_of_line(it));
                end = with_methods.filter(|it| it - start <= WHOLE_BYTES).unwrap_or(end);
            }
            _ => {}
        }
        let head = words::head(self.text, node);
        let owner = owner.and_then(|name| self.types.get(name)).cloned();
        let region = Region {
            symbol: Some(symbol),
            context: self.context(owner.as_ref(), None),
            later_context: self.context(owner.as_ref(), Some(&head)),
            starts_section: true,
            ..Region::default()
        };
        self.push(start, end, region);
        false
    }

    /// Remembers which types there are and which are directly followed by their methods.
    fn find_types(&mut self, root: Node<'_>) {
        if !self.grammar.roles.iter().any(|(_, role)| *role == Role::Types) {
            return;
        }
        let text = self.text;
        let mut cursor = root.walk();
        let mut followed: Option<(&str, usize)> = None;
        for node in root.children(&mut cursor) {
            match self.grammar.role(node.kind()) {
                Some(Role::Comment) => self.note_comment(node),
                Some(Role::Types) => {
                    let docs_start = self.start_with_comments(node).min(node.start_byte());
                    let docs = words::comment_docs(&text[docs_start..node.start_byte()]);
                    let specs = self.specs(node);
                    followed = None;
                    for (name, spec) in &specs {
                        let is_only = specs.len() == 1;
                        let head = words::head(text, if is_only { node } else { *spec });
                        let docs = docs.clone().filter(|_| is_only);
                        let owner = Owner { symbol: (*name).to_owned(), head, docs };
                        self.types.entry(name).or_insert(owner);
                        followed = is_only.then(|| (*name, node.id()));
                    }
                }
                _ => match (followed, receiver(text, node)) {
                    (Some((name, type_id)), Some(owner)) if name == owner => {
                        self.methods_end.insert(type_id, node.end_byte());
                    }
                    // Line ends are nodes of some grammars.
                    _ if !node.is_named() => {}
                    _ => followed = None,
                },
            }
        }
        self.comments = None;
    }

    /// The types a declaration declares.
    fn specs<'tree>(&self, declaration: Node<'tree>) -> Vec<(&'a str, Node<'tree>)> {
        let mut cursor = declaration.walk();
        let specs = declaration.named_children(&mut cursor);
        specs.filter_map(|spec| Some((self.name(spec)?, spec))).collect()
    }

    fn name(&self, node: Node<'_>) -> Option<&'a str> {
        let name = &self.text[node.child_by_field_name("name")?.byte_range()];
        (!name.is_empty()).then_some(name)
    }

    fn note_comment(&mut self, node: Node<'_>) {
        if !begins_line(self.text, node) {
            return;
        }
        let (row, next_row) = (node.start_position().row, node.end_position().row + 1);
        match &mut self.comments {
            Some(run) if run.next_row == row => run.next_row = next_row,
            comments => {
                let start = node.start_byte() - node.start_position().column;
                *comments = Some(CommentRun { start, next_row });
            }
        }
    }

    /// Whether comments end on the line above.
    fn has_comments(&self, node: Node<'_>) -> bool {
        let row = node.start_position().row;
        self.comments.as_ref().is_some_and(|it| it.next_row == row)
    }

    /// Where a definition begins: the first of the comments that end on the line above it.
    fn start_with_comments(&self, node: Node<'_>) -> usize {
        let start = match &self.comments {
            _ if !begins_line(self.text, node) => node.start_byte(),
            Some(run) if self.has_comments(node) => run.start,
            _ => node.start_byte() - node.start_position().column,
        };
        start.max(self.at)
    }

    /// Where the line ends, if only white space or a comment follows; else the place itself.
    fn end_of_line(&self, end: usize) -> usize {
        let after = self.text[end..].trim_start_matches([' ', '\t']);
        if after.is_empty() || after.starts_with(['\n', '#']) || after.starts_with("//") {
            let num_after = after.find('\n').unwrap_or(after.len());
            self.text.len() - after.len() + num_after
        } else {
            end
        }
    }

    fn leave_scopes(&mut self, at: usize) {
        while let Some(end) = self.scopes.last().map(|it| it.end).filter(|end| *end <= at) {
            self.fill_gap(end);
            self.scopes.pop();
        }
    }

    fn finish(mut self) -> Vec<Region> {
        self.leave_scopes(self.text.len());
        self.fill_gap(self.text.len());
        self.regions
    }

    /// Makes a region of everything up to `end` that is in none yet.
    fn fill_gap(&mut self, end: usize) {
        if end <= self.at || self.text[self.at..end].trim_start().is_empty() {
            self.at = self.at.max(end);
            return;
        }
        let region = if self.scopes.last().is_some_and(|it| it.is_new) {
            self.class_head()
        } else if is_closing(&self.text[self.at..end]) && !self.regions.is_empty() {
            self.rest_of_last()
        } else {
            let context = self.context(None, None);
            Region {
                symbol: self.scopes.last().map(|it| it.owner.symbol.clone()),
                context: context.clone(),
                later_context: context,
                starts_section: true,
                ..Region::default()
            }
        };
        self.push_at(self.at, end, region);
    }

    /// The head of the class that was just entered stands in what is around the class.
    fn class_head(&mut self) -> Region {
        let mut region = Region { starts_section: true, ..Region::default() };
        if let Some(mut scope) = self.scopes.pop() {
            scope.is_new = false;
            region.context = self.context(None, None);
            region.symbol = Some(scope.owner.symbol.clone());
            self.scopes.push(scope);
            region.later_context = self.context(None, None);
        }
        region
    }

    fn rest_of_last(&self) -> Region {
        let Some(last) = self.regions.last() else { return Region::default() };
        let context = last.later_context.clone();
        let symbol = last.symbol.clone();
        Region { symbol, context: context.clone(), later_context: context, ..Region::default() }
    }

    fn push(&mut self, start: usize, end: usize, region: Region) {
        let gap = self.text[self.at..start.max(self.at)].trim();
        let is_new_class = self.scopes.last().is_some_and(|it| it.is_new);
        let start = if is_opening(gap) && !is_new_class { self.at } else { start };
        self.fill_gap(start);
        self.push_at(start.max(self.at), end, region);
    }

    fn push_at(&mut self, start: usize, end: usize, region: Region) {
        if start >= end {
            return;
        }
        self.regions.push(Region { bytes: start..end, ..region });
        self.at = end;
    }

    /// The classes around, then `head`, then the documentation of the innermost class: in the
    /// order in which a reader would miss them.
    fn context(&self, owner: Option<&Owner>, head: Option<&str>) -> Option<String> {
        let scopes = self.scopes.iter().map(|it| &it.owner);
        let owners: Vec<&Owner> = scopes.chain(owner).collect();
        let docs = owners.last().and_then(|it| it.docs.as_deref());
        let heads: Vec<&str> = owners.iter().map(|it| it.head.as_str()).chain(head).collect();
        let mut context = heads.join(HEAD_SEPARATOR);
        if let Some(docs) = docs {
            context.push('\n');
            context.push_str(docs);
        }
        (!context.is_empty()).then_some(context)
    }
}

/// Whether a stretch between definitions only closes what is around the first.
fn is_closing(gap: &str) -> bool {
    let words = gap.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.filter(|it| !it.is_empty()).all(|it| CLOSING_WORDS.contains(&it))
}

/// Whether a stretch between definitions is one line that opens what is around the second.
fn is_opening(gap: &str) -> bool {
    !gap.contains('\n') && OPENING_ENDS.iter().any(|it| gap.ends_with(it))
}

/// The type a method is written for: `Stack` in `func (s *Stack[T]) Push`.
fn receiver<'a>(text: &'a str, method: Node<'_>) -> Option<&'a str> {
    let receiver = method.child_by_field_name("receiver")?;
    let mut cursor = receiver.walk();
    let parameter = receiver.named_children(&mut cursor).find(|it| it.kind() != "comment")?;
    let mut node = parameter.child_by_field_name("type")?;
    while node.kind() != "type_identifier" {
        node = node.named_child(0)?;
    }
    Some(&text[node.byte_range()])
}
