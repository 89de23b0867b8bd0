//! Divides a syntax tree into regions that belong to one definition, or to none.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::document::CHAIN_SEPARATOR;

use super::comments::Comments;
use super::cut::MAX_UNCUT_BYTES;
use super::grammar::{Grammar, Grouping, Preamble, Role};
use super::types::{self, Owner, Types};
use super::{names, words};

/// Words that only close a construct opened before the last definition.
const CLOSING_WORDS: &[&str] = &["fi", "done", "esac"];

/// Endings of a line that opens the construct around the next definition.
const OPENING_ENDS: &[&str] = &[":", "{", "(", "then", "do"];

/// Beginnings of a preprocessor line that the next definition is under.
const OPENING_STARTS: &[&str] = &["#if", "#elif", "#else"];

/// A range of source. Regions are ordered and disjoint, and contain everything but white space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Region {
    /// Its range: complete lines, unless two definitions share a line.
    pub(super) bytes: Range<usize>,
    /// Qualified name of its definition, or of the class whose statements it contains.
    pub(super) symbol: Option<String>,
    /// Its context: the enclosing classes, and the documentation of the innermost one.
    pub(super) context: Option<String>,
    /// The context of its later pieces: the same, plus the head of the definition.
    pub(super) later_context: Option<String>,
    /// False if it is only the rest of the construct around the previous region.
    pub(super) starts_section: bool,
}

/// A class whose body is being visited.
struct Scope {
    owner: Owner,
    end: usize,
    /// Whether its head still has to become a region.
    is_new: bool,
}

struct Outline<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// The end of the last region.
    at: usize,
    regions: Vec<Region>,
    scopes: Vec<Scope>,
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
    let mut outline = Outline {
        text,
        grammar,
        at: 0,
        regions: Vec::new(),
        scopes: Vec::new(),
        comments: Comments::default(),
        is_preamble_over: false,
        opened_id: None,
        types: Types::find(tree.root_node(), text, grammar),
        group: None,
    };
    let mut cursor = tree.walk();
    if !cursor.goto_first_child() {
        return outline.finish();
    }
    // Not recursive, as a source may be nested deeper than the stack allows.
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
    /// Visits a node and returns whether its children are to be visited.
    fn enter(&mut self, node: Node<'_>) -> bool {
        self.leave_scopes(node.start_byte());
        if node.end_byte() <= self.at || self.opened_id == Some(node.id()) {
            // Already part of a region, or a class that is being visited.
            return node.end_byte() > self.at;
        }
        let role = self.grammar.role(node);
        if role == Some(Role::Comment) {
            self.comments.add(self.text, node);
            return false;
        }
        let is_first = node.is_named() && !std::mem::replace(&mut self.is_preamble_over, true);
        if is_first && self.is_preamble(node) {
            let end = self.end_of_line(node.end_byte());
            self.push_at(0, end, Region { starts_section: true, ..Region::default() });
            return false;
        }
        match role {
            Some(Role::Wrapper) => match self.grammar.wrapped(node) {
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
        let matches = |preamble: &Preamble| match preamble {
            Preamble::String(kind) => {
                node.kind() == *kind && node.child(0).is_some_and(|child| child.kind() == "string")
            }
            Preamble::Commented(kind) => node.kind() == *kind && self.comments.end_above(node),
        };
        self.grammar.preamble.as_ref().is_some_and(matches)
    }

    /// Adds a definition; `outer` is the node including its wrapper.
    fn define(&mut self, outer: Node<'_>, node: Node<'_>) -> bool {
        let role = self.grammar.role(node);
        let specs =
            if role == Some(Role::Types) { types::specs(self.text, node) } else { Vec::new() };
        let name = match specs.first() {
            Some((name, _)) => Some((*name).to_owned()),
            // `typedef struct { … } name;`
            None => names::name(self.text, node).or_else(|| names::name(self.text, outer)),
        };
        let Some(name) = name else { return true };
        let start = self.comments.start_with(self.text, outer).max(self.at);
        let end = self.end_of_line(outer.end_byte());
        let owner = types::receiver(self.text, node);
        let scope = self.scopes.last().map(|scope| scope.owner.symbol.as_str());
        let symbol: Vec<&str> = scope.into_iter().chain(owner).chain([name.as_str()]).collect();
        let symbol = symbol.join(self.grammar.separator);

        let is_long = end.saturating_sub(start) > MAX_UNCUT_BYTES;
        match role {
            Some(Role::Class) if is_long => {
                let docs = words::docstring(self.text, node)
                    .or_else(|| {
                        words::comment_docs(&self.text[start..outer.start_byte().max(start)])
                    })
                    // The documentation of an implementation is the documentation of its type.
                    .or_else(|| self.types.owner(&name).and_then(|owner| owner.docs.clone()));
                let head = words::head(self.text, node);
                self.fill_gap(start);
                self.at = self.at.max(start);
                let owner = Owner { symbol, head, docs };
                self.group = None;
                self.scopes.push(Scope { owner, end, is_new: true });
                self.opened_id = Some(node.id());
                return true;
            }
            Some(Role::Types) if is_long && specs.len() > 1 => return true,
            _ => {}
        }
        let group = self.group_of(node, role, &symbol);
        let is_in_group = group.is_some() && group == self.group && self.is_only_comments(start);
        self.group = group;
        let head = words::head(self.text, node);
        let owner = owner.and_then(|name| self.types.owner(name)).cloned();
        let region = Region {
            symbol: Some(symbol),
            context: self.context(owner.as_ref(), None),
            later_context: self.context(owner.as_ref(), Some(&head)),
            starts_section: !is_in_group,
            ..Region::default()
        };
        self.push(start, end, region);
        false
    }

    /// Returns the qualified name of the type that a definition stays together with.
    fn group_of(&self, node: Node<'_>, role: Option<Role>, symbol: &str) -> Option<String> {
        let owner =
            || symbol.rsplit_once(self.grammar.separator).map(|(owner, _)| owner.to_owned());
        match (self.grammar.grouping, role) {
            (Grouping::None, _) => None,
            (_, Some(Role::Types | Role::Type | Role::Class)) => Some(symbol.to_owned()),
            (Grouping::Receivers, _) => {
                // Methods without their type above them are separate sections.
                let group = self.group.clone()?;
                let is_method = types::receiver(self.text, node) == Some(&group);
                (is_method || types::returns(self.text, node, &group)).then_some(group)
            }
            (Grouping::Blocks, _) => None,
            (Grouping::QualifiedNames, _) => {
                let name = names::name(self.text, node)?;
                name.contains(self.grammar.separator).then(owner)?
            }
        }
    }

    /// Whether there are only comments and white space between the last region and a position.
    fn is_only_comments(&self, start: usize) -> bool {
        let gap = &self.text[self.at.min(start)..start];
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

    fn leave_scopes(&mut self, at: usize) {
        while let Some(end) = self.scopes.last().map(|scope| scope.end).filter(|end| *end <= at) {
            self.fill_gap(end);
            self.scopes.pop();
        }
    }

    fn finish(mut self) -> Vec<Region> {
        self.leave_scopes(self.text.len());
        self.fill_gap(self.text.len());
        self.regions
    }

    /// Makes a region of everything up to `end` that is not in a region yet.
    fn fill_gap(&mut self, end: usize) {
        if end <= self.at || self.text[self.at..end].trim_start().is_empty() {
            self.at = self.at.max(end);
            return;
        }
        let region = if self.scopes.last().is_some_and(|scope| scope.is_new) {
            self.class_head()
        } else if is_closing(&self.text[self.at..end]) && !self.regions.is_empty() {
            self.rest_of_last()
        } else {
            let context = self.context(None, None);
            Region {
                symbol: self.scopes.last().map(|scope| scope.owner.symbol.clone()),
                context: context.clone(),
                later_context: context,
                starts_section: true,
                ..Region::default()
            }
        };
        self.push_at(self.at, end, region);
    }

    /// The context of a class head is what is around the class.
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
        let is_new_class = self.scopes.last().is_some_and(|scope| scope.is_new);
        let start = if is_opening(gap) && !is_new_class { self.at } else { start };
        let num_regions = self.regions.len();
        self.fill_gap(start);
        if !region.starts_section {
            // Comments between the definitions of a group do not end it.
            self.regions[num_regions..].iter_mut().for_each(|gap| gap.starts_section = false);
        }
        self.push_at(start.max(self.at), end, region);
    }

    fn push_at(&mut self, start: usize, end: usize, region: Region) {
        if start >= end {
            return;
        }
        self.regions.push(Region { bytes: start..end, ..region });
        self.at = end;
    }

    /// Joins the enclosing classes, then `head`, then the documentation of the innermost class, in
    /// order of importance to a reader.
    fn context(&self, owner: Option<&Owner>, head: Option<&str>) -> Option<String> {
        let scopes = self.scopes.iter().map(|scope| &scope.owner);
        let owners: Vec<&Owner> = scopes.chain(owner).collect();
        let docs = owners.last().and_then(|owner| owner.docs.as_deref());
        let heads: Vec<&str> = owners.iter().map(|owner| owner.head.as_str()).chain(head).collect();
        let mut context = heads.join(CHAIN_SEPARATOR);
        if let Some(docs) = docs {
            context.push('\n');
            context.push_str(docs);
        }
        (!context.is_empty()).then_some(context)
    }
}

/// Whether the text between two definitions only closes the construct around the first.
fn is_closing(gap: &str) -> bool {
    gap.lines().all(|line| {
        let line = line.trim_start();
        // `} // namespace a`
        let is_closer = line.starts_with(['}', ')', ';']);
        let line = line.split("//").next().filter(|_| is_closer).unwrap_or(line);
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words = words.filter(|word| !word.is_empty());
        line.starts_with("#endif") || words.all(|word| CLOSING_WORDS.contains(&word))
    })
}

/// Whether the text between two definitions is one line that opens the construct around the second.
fn is_opening(gap: &str) -> bool {
    let opens = OPENING_ENDS.iter().any(|end| gap.ends_with(end))
        || OPENING_STARTS.iter().any(|start| gap.starts_with(start));
    opens && !gap.contains('\n')
}
