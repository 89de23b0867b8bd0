//! Makes blocks of the members of nested containers.
//!
//! A member that is long is cut at its own members, and so on; members that are short share a block.
//! Every character is in a block.

use std::ops::Range;

use crate::document::{Block, BlockKind};
use crate::extract::markdown;

/// A member up to this many bytes is not cut: it is less than one chunk, and is read together.
const WHOLE_BYTES: usize = 1024;

/// Members shorter than this share a block, without a heading: a chunk for each would say too little.
const SHORT_BYTES: usize = 256;

/// How deep containers are cut; those below belong to their member. Bounds the headings that are open at once.
const MAX_DEPTH: usize = 16;

/// Longest name of a member in a header chain, in characters: a key may be a text of any length.
const MAX_NAME_CHARS: usize = 80;

/// A place where a block may begin.
#[derive(Debug)]
struct DataMember {
    at: usize,
    /// Where its name is.
    name: Option<Range<usize>>,
    /// Its own members, if it is long.
    inner: Vec<Self>,
    is_short: bool,
}

/// The members of a container that is not closed yet.
#[derive(Debug, Default)]
struct OpenContainer {
    members: Vec<DataMember>,
    /// The last one, whose end is not known yet.
    last: Option<DataMember>,
}

/// Collects the members of a text, in order.
pub(super) struct Parts<'a> {
    text: &'a str,
    /// Returns the name that is at a place.
    to_name: &'a dyn Fn(Range<usize>) -> String,
    /// The outermost first; never empty.
    open: Vec<OpenContainer>,
    /// Containers that are open and too deep.
    num_deeper: usize,
}

impl<'a> Parts<'a> {
    /// Creates it; the outermost container is open.
    pub(super) fn new(text: &'a str, to_name: &'a dyn Fn(Range<usize>) -> String) -> Self {
        Self { text, to_name, open: vec![OpenContainer::default()], num_deeper: 0 }
    }

    /// Begins a member of the innermost container; the member before it ends.
    pub(super) fn member(&mut self, at: usize, name: Option<Range<usize>>) {
        if self.num_deeper > 0 {
            return;
        }
        let at = self.with_indent(at);
        let Some(container) = self.open.last_mut() else { return };
        container.end_member(at);
        container.last = Some(DataMember { at, name, inner: Vec::new(), is_short: false });
    }

    /// Begins the container that is the value of the last member.
    pub(super) fn open(&mut self) {
        let has_member = self.open.last().is_some_and(|container| container.last.is_some());
        if self.num_deeper > 0 || self.open.len() > MAX_DEPTH || !has_member {
            self.num_deeper += 1;
        } else {
            self.open.push(OpenContainer::default());
        }
    }

    /// Ends the innermost container; the outermost remains open.
    pub(super) fn close(&mut self, at: usize) {
        if self.num_deeper > 0 {
            self.num_deeper -= 1;
            return;
        }
        if self.open.len() < 2 {
            return;
        }
        let Some(mut container) = self.open.pop() else { return };
        container.end_member(at);
        if let Some(member) = self.open.last_mut().and_then(|outer| outer.last.as_mut()) {
            member.inner.append(&mut container.members);
        }
    }

    /// Returns the blocks of the whole text.
    pub(super) fn finish(mut self) -> Vec<Block> {
        let end = self.text.len();
        self.num_deeper = 0;
        while self.open.len() > 1 {
            self.close(end);
        }
        let mut outermost = self.open.pop().unwrap_or_default();
        outermost.end_member(end);
        let mut starts = Vec::new();
        self.flatten(&outermost.members, 0, &mut Vec::new(), &mut starts);
        if starts.is_empty() {
            starts.push((0, Vec::new()));
        }
        let ends: Vec<usize> = starts.iter().skip(1).map(|(at, _)| *at).chain([end]).collect();
        let mut blocks: Vec<Block> = Vec::with_capacity(starts.len());
        for ((start, headings), end) in starts.into_iter().zip(ends) {
            let bytes = start..start + self.text[start..end].trim_end().len();
            if bytes.is_empty() {
                continue;
            }
            let starts_section = blocks.last().is_none_or(|last| last.headings != headings);
            blocks.push(Block {
                bytes,
                kind: BlockKind::Code,
                headings,
                symbol: None,
                context: None,
                page: None,
                starts_section,
            });
        }
        blocks
    }

    /// Lists where blocks begin, with their header chains. The first member of a container begins
    /// where the container's own member does, so that the name before it stays with it.
    fn flatten(
        &self,
        members: &[DataMember],
        start: usize,
        chain: &mut Vec<String>,
        starts: &mut Vec<(usize, Vec<String>)>,
    ) {
        for (idx, member) in members.iter().enumerate() {
            let at = if idx == 0 { start } else { member.at };
            let name = member.name.clone().map(self.to_name).filter(|name| !name.is_empty());
            let is_named = name.is_some();
            chain.extend(name.map(|name| markdown::shorten(&name, MAX_NAME_CHARS)));
            if member.inner.is_empty() {
                starts.push((at, chain.clone()));
            } else {
                self.flatten(&member.inner, at, chain, starts);
            }
            chain.truncate(chain.len() - usize::from(is_named));
        }
    }

    /// Returns the beginning of the line, if there is only indentation before this place.
    fn with_indent(&self, at: usize) -> usize {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        if before.is_empty() || before.ends_with('\n') { before.len() } else { at }
    }
}

impl OpenContainer {
    /// Keeps the last member, which ends here, unless the block before it has room for it.
    fn end_member(&mut self, end: usize) {
        let Some(mut member) = self.last.take() else { return };
        let len = end.saturating_sub(member.at);
        if len <= WHOLE_BYTES {
            member.inner = Vec::new();
        }
        member.is_short = len < SHORT_BYTES;
        if !member.is_short {
            self.members.push(member);
            return;
        }
        let is_joined = self
            .members
            .last()
            .is_some_and(|last| last.is_short && member.at - last.at < SHORT_BYTES);
        if !is_joined {
            self.members.push(DataMember { name: None, ..member });
        }
    }
}
