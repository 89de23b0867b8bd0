//! A page of FTS5's index: its terms, and where they occur. Pure; everything returns `None` for damage.

/// Bytes of a leaf before its content: two numbers of two bytes.
pub(super) const HEAD_LEN: usize = 4;

/// Returns the first term of a leaf, with its prefix, if the leaf has any; the outer `None` means
/// damage.
pub(crate) fn first_term(leaf: &[u8]) -> Option<Option<&[u8]>> {
    let mut leaf = Leaf::new(leaf)?;
    if leaf.term_starts.0.is_empty() {
        return Some(None);
    }
    let mut entry = Bytes(leaf.content.get(leaf.term_starts.length()?..)?);
    let len = entry.length()?;
    entry.take(len).map(Some)
}

/// The occurrences of a term on one leaf.
pub(super) struct LeafPostings<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether another term follows, so that the list does not continue on the next leaf.
    pub(super) is_last: bool,
}

/// A page of the index: the rest of the previous leaf's last term, then terms.
pub(super) struct Leaf<'a> {
    /// The content without the footer.
    content: &'a [u8],
    /// The offset of each term in the content, as differences.
    term_starts: Bytes<'a>,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let content_len = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        let (content, term_starts) = bytes.split_at_checked(content_len)?;
        Some(Self { content, term_starts: Bytes(term_starts) })
    }

    /// Finds the occurrences of a term; the outer `None` means damage.
    pub(super) fn find(self, wanted: &[u8]) -> Option<Option<LeafPostings<'a>>> {
        let mut terms = self.terms();
        while terms.advance()? {
            if terms.term == wanted {
                return terms.postings().map(Some);
            }
        }
        Some(None)
    }

    /// Returns the first term that is not before another; the outer `None` means damage.
    pub(super) fn first_term_from(self, from: &[u8]) -> Option<Option<Vec<u8>>> {
        let mut terms = self.terms();
        while terms.advance()? {
            if terms.term.as_slice() >= from {
                return Some(Some(terms.term));
            }
        }
        Some(None)
    }

    fn terms(self) -> LeafTerms<'a> {
        LeafTerms { leaf: self, start: 0, term: Vec::new(), entry: Bytes(&[]) }
    }

    /// Returns the part that continues the previous leaf.
    pub(super) fn continued(mut self) -> Option<LeafPostings<'a>> {
        let is_last = !self.term_starts.0.is_empty();
        let end = if is_last { self.term_starts.length()? } else { self.content.len() };
        Some(LeafPostings { bytes: self.content.get(HEAD_LEN..end)?, is_last })
    }
}

/// Walks over the terms of a leaf.
struct LeafTerms<'a> {
    leaf: Leaf<'a>,
    /// Where the last term starts in the content.
    start: usize,
    /// The last term.
    term: Vec<u8>,
    /// The content after it.
    entry: Bytes<'a>,
}

impl<'a> LeafTerms<'a> {
    /// Goes on to the next term, if there is any.
    fn advance(&mut self) -> Option<bool> {
        if self.leaf.term_starts.0.is_empty() {
            return Some(false);
        }
        let is_first = self.start == 0;
        self.start += self.leaf.term_starts.length()?;
        self.entry = Bytes(self.leaf.content.get(self.start..)?);
        let num_kept = if is_first { 0 } else { self.entry.length()? };
        let num_new = self.entry.length()?;
        self.term.truncate(num_kept);
        self.term.extend_from_slice(self.entry.take(num_new)?);
        Some(true)
    }

    /// Returns where the last term occurs.
    fn postings(&self) -> Option<LeafPostings<'a>> {
        let content = self.leaf.content;
        let mut ahead = Bytes(self.leaf.term_starts.0);
        let is_last = !ahead.0.is_empty();
        let end = if is_last { self.start + ahead.length()? } else { content.len() };
        let begin = content.len() - self.entry.0.len();
        Some(LeafPostings { bytes: content.get(begin..end)?, is_last })
    }
}

/// Bytes that are consumed from the front.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a number of the list of segments.
    pub(super) fn number(&mut self) -> Option<i64> {
        i64::try_from(self.varint()?).ok()
    }

    /// Reads a number in SQLite's format: seven bits per byte, the highest first, and all eight
    /// bits of the ninth byte.
    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        if *first < 0x80 {
            self.0 = rest;
            return Some(u64::from(*first));
        }
        let mut value = 0;
        for (position, byte) in self.0.iter().enumerate().take(9) {
            if position == 8 {
                value = value << 8 | u64::from(*byte);
            } else {
                value = value << 7 | u64::from(byte & 0x7f);
            }
            if *byte < 0x80 || position == 8 {
                self.0 = &self.0[position + 1..];
                return Some(value);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        self.varint()?.try_into().ok()
    }
}
