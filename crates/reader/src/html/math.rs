//! Writes formulas in `MathML` as text: TeX where the page has it, otherwise on one line.

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::Node;
use scraper::node::Element;

/// Longest text of a formula, in bytes; a longer one is cut. No formula for people is as long.
const MAX_LEN: usize = 20_000;

/// Returns the text of a `math` element, without blanks at its ends.
pub(super) fn text(math: NodeRef<'_, Node>) -> String {
    tex(math).map_or_else(|| linear(math), |tex| format!("${tex}$"))
}

/// Returns the source in TeX that the page states for a formula.
fn tex(math: NodeRef<'_, Node>) -> Option<String> {
    let annotation = math.descendants().find(|node| {
        node.value()
            .as_element()
            .is_some_and(|element| element.name() == "annotation" && is_tex(element))
    });
    let stated = annotation.map(raw_text).or_else(|| {
        let math = math.value().as_element()?;
        math.attr("alttext").map(str::to_owned)
    })?;
    let stated = clean_tex(&stated);
    (!stated.is_empty()).then_some(stated)
}

/// Whether an annotation is source in TeX.
fn is_tex(annotation: &Element) -> bool {
    let encoding = annotation.attr("encoding");
    encoding.is_some_and(|encoding| encoding.to_ascii_lowercase().contains("tex"))
}

/// Removes the group and the style that `MediaWiki` puts around a formula.
fn clean_tex(tex: &str) -> String {
    let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
    let inner = tex.strip_prefix("{\\displaystyle ").or_else(|| tex.strip_prefix("{\\textstyle "));
    let inner = inner.and_then(|inner| inner.strip_suffix('}')).unwrap_or(&tex);
    inner.chars().take(MAX_LEN).collect::<String>().trim().to_owned()
}

fn raw_text(node: NodeRef<'_, Node>) -> String {
    let texts = node.descendants().filter_map(|node| node.value().as_text());
    texts.map(|text| &**text).collect()
}

/// Writes a formula on one line: `(a+b)/2`, `x^2`, `a_1`, `√(x)`.
fn linear(math: NodeRef<'_, Node>) -> String {
    let mut text = String::new();
    let mut skipped = None;
    for edge in math.traverse() {
        if text.len() > MAX_LEN {
            break;
        }
        match edge {
            Edge::Open(node) if skipped.is_none() => {
                text.push_str(mark_before(node));
                match node.value() {
                    Node::Element(element) => match element.name() {
                        "annotation" | "annotation-xml" => skipped = Some(node.id()),
                        "msqrt" | "mroot" => text.push('√'),
                        _ => {}
                    },
                    Node::Text(words) => {
                        text.extend(words.trim().chars().filter(|c| !is_invisible(*c)));
                    }
                    _ => {}
                }
                text.push_str(if is_group(node) { "(" } else { "" });
            }
            Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
            Edge::Close(node) if skipped.is_none() => {
                text.push_str(if is_group(node) { ")" } else { "" });
            }
            Edge::Open(_) | Edge::Close(_) => {}
        }
    }
    text.trim().to_owned()
}

/// Signs for multiplication and function application that are not displayed.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{2061}'..='\u{2064}')
}

/// Returns what separates a part of a formula from the part before it.
fn mark_before(node: NodeRef<'_, Node>) -> &'static str {
    let Some(parent) = node.parent().and_then(|parent| parent.value().as_element()) else {
        return "";
    };
    match (parent.name(), position(node)) {
        ("mfrac", Some(1)) => "/",
        ("msup" | "mover", Some(1)) | ("msubsup" | "munderover", Some(2)) => "^",
        ("msub" | "munder" | "msubsup" | "munderover", Some(1)) => "_",
        ("mroot", Some(1)) => " root ",
        ("mtable", Some(1..)) => "; ",
        ("mtr", Some(1..)) => ", ",
        _ => "",
    }
}

/// Whether a part of a formula needs brackets, because it has parts itself.
fn is_group(node: NodeRef<'_, Node>) -> bool {
    const PLACES: &[&str] =
        &["mfrac", "msup", "msub", "msubsup", "mover", "munder", "munderover", "mroot", "msqrt"];
    let Some(element) = node.value().as_element() else { return false };
    let parent = node.parent().and_then(|parent| parent.value().as_element());
    element.name() == "msqrt"
        || parent.is_some_and(|parent| PLACES.contains(&parent.name()) && parent.name() != "msqrt")
            && element.name() == "mrow"
            && node.children().filter(|child| child.value().is_element()).nth(1).is_some()
}

/// Returns the position of an element among the elements of its parent: 0, 1, 2, or 3 for more.
fn position(node: NodeRef<'_, Node>) -> Option<usize> {
    node.value().as_element()?;
    let before = node.prev_siblings().filter(|sibling| sibling.value().is_element());
    Some(before.take(3).count())
}

#[cfg(test)]
mod tests {
    use crate::html::tests::blocks_of;

    #[track_caller]
    fn check(formula: &str, expected: &str) {
        let page = format!("<p>See <math>{formula}</math>.");
        assert_eq!(blocks_of(page.as_bytes()).1, [format!("See {expected}.")], "{formula}");
    }

    #[test]
    fn tex_is_taken_where_the_page_has_it() {
        check(
            "<semantics><mrow><mi>E</mi></mrow><annotation encoding='application/x-tex'>\
             {\\displaystyle E=mc^{2}}</annotation></semantics>",
            "$E=mc^{2}$",
        );
        let page = "<p>A <math alttext='x^2'><mi>x</mi></math>.";
        assert_eq!(blocks_of(page.as_bytes()).1, ["A $x^2$."]);
    }

    #[test]
    fn other_formulas_are_written_on_one_line() {
        check("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc^2");
        check("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2");
        check("<msqrt><mi>x</mi></msqrt>", "√(x)");
        check("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x_1^2");
        check(
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr>\
             <mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
            "1, 0; 0, 1",
        );
    }
}
