//! Divides a syntax tree into the stretches that belong to one definition, or to none.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::document::CHAIN_SEPARATOR;

use super::comments::Comments;
use super::cut::WHOLE_BYTES;
use super::grammar::{Grammar, Preamble, Role};
use super::types::{self, Owner, Types};
use super::{names, words};

/// Words that only close what was opened before the last definition.
const CLOSING_WORDS: &[&str] = &["fi", "done", "esac"];

/// How a line ends that opens what the next definition stands in.
const OPENING_ENDS: &[&str] = &[":", "{", "(", "then", "do"];

/// How a line begins that the preprocessor reads and the next definition stands under.
const OPENING_STARTS: &[&str] = &["#if", "#elif", "#else"];

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

/// A class that was entered.
struct Scope {
    owner: Owner,
    end: usize,
    /// Whether its head is still to come.
    is_new: bool,
}

struct Outline<'a> {
    text: &'a str,
    grammar: &'a Grammar,
    /// Up to here everything is in a region.
    at: usize,
    regions: Vec<Region>,
    scopes: Vec<Scope>,
    comments: Comments,
    is_preamble_over: bool,
    /// A class whose scope was opened by its wrapper.
    opened_id: Option<usize>,
    types: Types<'a>,
}

/// Parts a source into regions.
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
    };
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
        let role = self.grammar.role(node);
        if role == Some(Role::Comment) {
            self.comments.note(self.text, node);
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

    /// Whether the first statement is the file's documentation or has it directly above.
    fn is_preamble(&self, node: Node<'_>) -> bool {
        let is_it = |it: &Preamble| match it {
            Preamble::String(kind) => {
                node.kind() == *kind && node.child(0).is_some_and(|it| it.kind() == "string")
            }
            Preamble::Commented(kind) => node.kind() == *kind && self.comments.are_above(node),
        };
        self.grammar.preamble.as_ref().is_some_and(is_it)
    }

    /// Takes a definition; `outer` is the node with what is around it.
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
        let mut end = self.end_of_line(outer.end_byte());
        let owner = types::receiver(self.text, node);
        let scope = self.scopes.last().map(|it| it.owner.symbol.as_str());
        let symbol: Vec<&str> = scope.into_iter().chain(owner).chain([name.as_str()]).collect();
        let symbol = symbol.join(self.grammar.separator);

        let is_long = end.saturating_sub(start) > WHOLE_BYTES;
        match role {
            Some(Role::Class) if is_long => {
                let docs = words::docstring(self.text, node)
                    .or_else(|| {
                        words::comment_docs(&self.text[start..outer.start_byte().max(start)])
                    })
                    // What implements a type is documented with the type.
                    .or_else(|| self.types.owner(&name).and_then(|it| it.docs.clone()));
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
                let with_methods = self.types.methods_end(node);
                let with_methods = with_methods.map(|it| self.end_of_line(it));
                end = with_methods
                    .filter(|it| it.saturating_sub(start) <= WHOLE_BYTES)
                    .unwrap_or(end);
            }
            _ => {}
        }
        let head = words::head(self.text, node);
        let owner = owner.and_then(|name| self.types.owner(name)).cloned();
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

    /// Where the line ends, if only what closes a statement, white space or a comment follows; else
    /// the place itself.
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
        let mut context = heads.join(CHAIN_SEPARATOR);
        if let Some(docs) = docs {
            context.push('\n');
            context.push_str(docs);
        }
        (!context.is_empty()).then_some(context)
    }
}

/// Whether a stretch between definitions only closes what is around the first.
fn is_closing(gap: &str) -> bool {
    gap.lines().all(|line| {
        let line = line.trim_start();
        // `} // namespace a`
        let is_closer = line.starts_with(['}', ')', ';']);
        let line = line.split("//").next().filter(|_| is_closer).unwrap_or(line);
        let words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
        let mut words = words.filter(|it| !it.is_empty());
        line.starts_with("#endif") || words.all(|it| CLOSING_WORDS.contains(&it))
    })
}

/// Whether a stretch between definitions is one line that opens what is around the second.
fn is_opening(gap: &str) -> bool {
    let is_it = OPENING_ENDS.iter().any(|it| gap.ends_with(it))
        || OPENING_STARTS.iter().any(|it| gap.starts_with(it));
    is_it && !gap.contains('\n')
}
