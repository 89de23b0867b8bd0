//! Parses a page, up to a depth of nesting (`html5ever`).
//!
//! For each tag, html5ever searches the elements that are open, so 300,000 nested elements took it 46 s. The parser itself
//! says how many are open, as only it knows which tags close themselves, and which end tags end something.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use ego_tree::NodeId;
use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeSink};
use scraper::{Html, HtmlTreeSink};

use super::attributes;

/// How many elements may be open at once, and formats that apply again in the next block; real pages rarely reach 100.
const MAX_DEPTH: usize = 512;

/// Void elements, elements that end where the next one begins, and those that contain no elements: their tags nest
/// nothing, and without them lines would run together and programs become text. (`dd` is not one of them: in an `li`, it
/// does not end the `dd` around that.)
const SHALLOW: &[&str] = &[
    "area", "base", "body", "br", "caption", "col", "colgroup", "embed", "head", "hr", "html",
    "iframe", "img", "input", "li", "link", "meta", "noembed", "noframes", "noscript", "option",
    "p", "param", "script", "source", "style", "tbody", "td", "textarea", "tfoot", "th", "thead",
    "title", "tr", "track", "wbr", "xmp",
];

/// A page as a tree.
pub(super) struct ParsedPage {
    pub(super) html: Html,
    /// Whether tags were ignored that are nested too deeply. No text is.
    pub(super) is_too_deep: bool,
}

/// Parses a page, in time that grows no faster than its length.
pub(super) fn parse(page: &str) -> ParsedPage {
    let page = attributes::shorten(page);
    let builder = TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), Default::default());
    let sink = DepthLimit {
        builder,
        most_open: Cell::new(0),
        is_full: Cell::new(false),
        is_too_deep: Cell::new(false),
        ignored: RefCell::default(),
    };
    let tokenizer = Tokenizer::new(sink, Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(&page));
    // The parser pauses after each script, for a browser to run it.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let is_too_deep = tokenizer.sink.is_too_deep.get();
    ParsedPage { html: tokenizer.sink.builder.sink.finish(), is_too_deep }
}

/// Builds a tree, and ignores the tags of elements that would be nested too deeply.
struct DepthLimit {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    /// No more elements are open than this.
    most_open: Cell<usize>,
    /// Whether as many elements are open as may be. Only an end tag changes that.
    is_full: Cell<bool>,
    is_too_deep: Cell<bool>,
    /// How many start tags were ignored in the innermost element, whose end tags are also ignored.
    ignored: RefCell<HashMap<LocalName, usize>>,
}

impl DepthLimit {
    fn ignores(&self, tag: &Tag) -> bool {
        match tag.kind {
            TagKind::StartTag => self.ignores_start(tag),
            TagKind::EndTag => self.ignores_end(tag),
        }
    }

    fn ignores_start(&self, tag: &Tag) -> bool {
        if self.most_open.get() >= MAX_DEPTH && !self.is_full.get() {
            self.count_open();
        }
        // In a drawing or a formula, elements of all names contain others.
        let is_shallow = SHALLOW.contains(&&*tag.name)
            && !self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        if !self.is_full.get() || is_shallow {
            // One more for the `html`, `body` or `tbody` that a tag implies.
            self.most_open.set(self.most_open.get() + 2);
            return false;
        }
        self.is_too_deep.set(true);
        *self.ignored.borrow_mut().entry(tag.name.clone()).or_default() += 1;
        true
    }

    fn ignores_end(&self, tag: &Tag) -> bool {
        if !self.is_full.get() {
            return false;
        }
        if let Some(count) =
            self.ignored.borrow_mut().get_mut(&tag.name).filter(|count| **count > 0)
        {
            *count -= 1;
            return true;
        }
        self.is_full.set(false);
        false
    }

    /// Counts the open elements, so that the bound is exact again.
    fn count_open(&self) {
        let counter = Counter(Cell::new(0));
        self.builder.trace_handles(&counter);
        self.most_open.set(counter.0.get());
        self.is_full.set(counter.0.get() >= MAX_DEPTH);
        if !self.is_full.get() {
            self.ignored.borrow_mut().clear();
        }
    }
}

impl TokenSink for DepthLimit {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match &token {
            Token::TagToken(tag) if self.ignores(tag) => TokenSinkResult::Continue,
            _ => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Counts the elements that a parser holds.
struct Counter(Cell<usize>);

impl Tracer for Counter {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of a page and how deeply its elements are nested.
    fn read(page: &str) -> (String, usize) {
        let ParsedPage { html, .. } = parse(page);
        let texts = html.tree.nodes().filter_map(|node| node.value().as_text().map(|text| &**text));
        (texts.collect(), depth(&html))
    }

    #[test]
    fn deep_elements_lose_their_tags_and_keep_their_text() {
        let page = format!("{}words{}<p>after", "<div>".repeat(1000), "</div>".repeat(1000));
        assert_eq!(read(&page).0, "wordsafter");
        let ParsedPage { html, is_too_deep } = parse(&page);
        assert!(is_too_deep);
        let last = html.tree.nodes().next_back().unwrap();
        assert_eq!(last.ancestors().count(), 4, "what follows is not in what was deep");
    }

    #[test]
    fn elements_that_end_themselves_have_no_depth() {
        for drawing in ["<svg>/</svg>", "<math>/</math>", "<svg><g>/</g></svg>"] {
            let page = drawing.replace("/", &"<path d='M1'/>".repeat(2000));
            assert!(read(&format!("<div hidden>{page}</div><p>after")).1 < 10, "{drawing}");
        }
        let open = "<svg><path><text>a</text></svg><![CDATA[<b>]]>".repeat(2000);
        assert!(read(&open).1 < 10);
        assert!(read(&"<li>one<p>two<br>".repeat(2000)).1 < 10);
        assert!(read(&format!("<svg><![CDATA[{}]]></svg>", "<b>".repeat(2000))).1 < 10);
    }

    #[test]
    fn tags_in_a_script_do_not_nest_the_page() {
        let script = format!("<script>x = \"{}\"</script>", "<div>".repeat(MAX_DEPTH));
        assert!(read(&format!("{script}<!-- {script} --><p><b>words</b>")).1 < 10);
    }

    #[test]
    fn a_script_that_is_too_deep_does_not_become_text() {
        let page = "<i>".repeat(600) + "<script>x = 1</script><style>b {}</style>words";
        let html = parse(&page).html;
        let text = html.tree.nodes().next_back().unwrap();
        assert_eq!(text.value().as_text().map(|text| &**text), Some("words"));
    }

    #[test]
    fn no_page_is_deeper_than_the_limit() {
        let pages = [
            "<div>",
            "<b>",
            "<b/>",
            "<p><b id=x>",
            "<dd><li>",
            "<a><b></a>",
            "<b><div></b>",
            "<div><table><td></div>",
            "</p><b>",
            "<script><!--<script></script><style></script><i>",
        ];
        let starts = ["", "<svg><p>", "<svg><foreignObject>", "<math><mi>", "<svg>", "<table>"];
        for (start, tags) in starts.iter().flat_map(|start| pages.map(|tags| (start, tags))) {
            let page = format!("{start}{}words", tags.repeat(3_000));
            assert!(read(&page).1 < 3 * MAX_DEPTH, "{start} {tags}");
        }
    }

    fn depth(html: &Html) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        for edge in html.tree.root().traverse() {
            match edge {
                ego_tree::iter::Edge::Open(_) => depth += 1,
                ego_tree::iter::Edge::Close(_) => depth -= 1,
            }
            deepest = deepest.max(depth);
        }
        deepest
    }
}
