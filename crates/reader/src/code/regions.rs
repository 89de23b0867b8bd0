//! Collects the regions of a source in order, and fills the gaps between definitions.

use std::ops::Range;

use crate::document::CHAIN_SEPARATOR;

use super::types::Owner;

/// Words that only close a construct opened before the last definition.
const CLOSING_WORDS: &[&str] = &["fi", "done", "esac", "end"];

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
pub(super) struct OpenClass {
    pub(super) owner: Owner,
    /// Where it ends.
    pub(super) end: usize,
    /// Whether its head still has to become a region.
    pub(super) is_new: bool,
}

/// The regions up to a position, and the classes around it.
pub(super) struct Regions<'a> {
    text: &'a str,
    /// The end of the last region.
    pub(super) at: usize,
    found: Vec<Region>,
    pub(super) scopes: Vec<OpenClass>,
}

impl<'a> Regions<'a> {
    /// Begins a source.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, found: Vec::new(), scopes: Vec::new() }
    }

    /// Begins to visit the body of a class that starts at a position.
    pub(super) fn enter(&mut self, start: usize, owner: Owner, end: usize) {
        self.fill_gap(start);
        self.at = self.at.max(start);
        self.scopes.push(OpenClass { owner, end, is_new: true });
    }

    /// Returns the qualified name of a definition in the innermost class.
    pub(super) fn symbol<'b>(
        &'b self,
        names: impl Iterator<Item = &'b str>,
        separator: &str,
    ) -> String {
        let scope = self.scopes.last().map(|scope| scope.owner.symbol.as_str());
        scope.into_iter().chain(names).collect::<Vec<_>>().join(separator)
    }

    /// Ends the classes that end at or before a position.
    pub(super) fn leave_scopes(&mut self, at: usize) {
        while let Some(end) = self.scopes.last().map(|scope| scope.end).filter(|end| *end <= at) {
            self.fill_gap(end);
            self.scopes.pop();
        }
    }

    /// Returns the regions of the complete source.
    pub(super) fn finish(mut self) -> Vec<Region> {
        self.leave_scopes(self.text.len());
        self.fill_gap(self.text.len());
        self.found
    }

    /// Makes a region of everything up to `end` that is not in a region yet.
    pub(super) fn fill_gap(&mut self, end: usize) {
        if end <= self.at || self.text[self.at..end].trim_start().is_empty() {
            self.at = self.at.max(end);
            return;
        }
        let region = if self.scopes.last().is_some_and(|scope| scope.is_new) {
            self.class_head()
        } else if is_closing(&self.text[self.at..end]) && !self.found.is_empty() {
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

    /// Returns a region that continues the last section: it only closes the code around it.
    fn rest_of_last(&self) -> Region {
        let Some(last) = self.found.last() else { return Region::default() };
        let context = last.later_context.clone();
        let symbol = last.symbol.clone();
        Region { symbol, context: context.clone(), later_context: context, ..Region::default() }
    }

    /// Adds the region of a definition, and before it the code that is not in a region yet.
    pub(super) fn push(&mut self, start: usize, end: usize, region: Region) {
        let gap = self.text[self.at..start.max(self.at)].trim();
        let is_new_class = self.scopes.last().is_some_and(|scope| scope.is_new);
        let start = if is_opening(gap) && !is_new_class { self.at } else { start };
        let num_regions = self.found.len();
        self.fill_gap(start);
        if !region.starts_section {
            // Comments between the definitions of a group do not end it.
            self.found[num_regions..].iter_mut().for_each(|gap| gap.starts_section = false);
        }
        self.push_at(start.max(self.at), end, region);
    }

    /// Adds a region.
    pub(super) fn push_at(&mut self, start: usize, end: usize, region: Region) {
        if start >= end {
            return;
        }
        self.found.push(Region { bytes: start..end, ..region });
        self.at = end;
    }

    /// Joins the enclosing classes, then `head`, then the documentation of the innermost class, in
    /// order of importance to a reader.
    pub(super) fn context(&self, owner: Option<&Owner>, head: Option<&str>) -> Option<String> {
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
