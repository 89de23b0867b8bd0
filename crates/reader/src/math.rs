//! Writes the formulas of office documents (OMML, `MathML`) on one line: `(a+b)/2`, `x^2`, `√(x)`.
//!
//! The elements are read one after another, so formulas may be nested to any depth.

use super::xml::{Element, XmlEvent};

/// Longest text of a part of a formula, in bytes; the rest is left out. No formula for people is as long.
const MAX_LEN: usize = 20_000;

/// Elements that contain characters.
const TOKENS: &[&str] = &["t", "mi", "mn", "mo", "mtext", "ms"];

/// Elements whose text is not displayed.
const LEFT_OUT: &[&str] = &["annotation", "annotation-xml", "instrText", "delText"];

/// A formula that is being read.
#[derive(Debug, Default)]
pub(super) struct Formula {
    open: Vec<OpenElement>,
}

/// An open element.
#[derive(Debug, Default)]
struct OpenElement {
    name: String,
    /// The closed elements in it, with their text.
    parts: Vec<(String, String)>,
    /// Its own characters.
    text: String,
    /// The sign of a sum or the accent, and the brackets of a group.
    sign: Option<String>,
    begin: Option<String>,
    end: Option<String>,
}

/// Whether an element is a formula.
pub(super) fn is_formula(name: &str) -> bool {
    matches!(name, "oMath" | "math")
}

impl Formula {
    /// Reads the next item; returns the text after the end of the outermost element.
    pub(super) fn on(&mut self, event: XmlEvent<'_>) -> Option<String> {
        match event {
            XmlEvent::Open(element) => self.open(element),
            XmlEvent::Text(text) => {
                if let Some(part) = self.open.last_mut()
                    && TOKENS.contains(&part.name.as_str())
                    && part.text.len() < MAX_LEN
                {
                    part.text.push_str(text);
                }
            }
            XmlEvent::Close(_) => {
                let part = self.open.pop()?;
                let name = part.name.clone();
                let text = part.finish();
                match self.open.last_mut() {
                    Some(outer) => outer.parts.push((name, text)),
                    None => return Some(spaced(&text)),
                }
            }
        }
        None
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        self.open.push(OpenElement { name: name.to_owned(), ..OpenElement::default() });
        if !matches!(name, "chr" | "begChr" | "endChr") {
            return;
        }
        // Properties describe the element around them.
        let value = element.attribute("val").unwrap_or_default();
        let around = self.open.iter_mut().rev().skip(1);
        if let Some(part) = around.into_iter().find(|part| !part.name.ends_with("Pr")) {
            let slot = match name {
                "chr" => &mut part.sign,
                "begChr" => &mut part.begin,
                _ => &mut part.end,
            };
            *slot = Some(value);
        }
    }
}

impl OpenElement {
    /// Returns the text of the element.
    fn finish(mut self) -> String {
        let mut text = match self.name.as_str() {
            "f" => format!("{}/{}", self.group("num"), self.group("den")),
            "sSup" => self.named("e") + &self.script("^", "sup"),
            "sSub" => self.named("e") + &self.script("_", "sub"),
            "sSubSup" => self.named("e") + &self.script("_", "sub") + &self.script("^", "sup"),
            "limLow" => self.named("e") + &self.script("_", "lim"),
            "limUpp" => self.named("e") + &self.script("^", "lim"),
            "rad" => {
                let degree = self.named("deg");
                let root = format!("√({})", self.named("e"));
                if degree.is_empty() { root } else { format!("{degree} root {root}") }
            }
            "nary" => {
                let sign = self.sign.take().unwrap_or_else(|| "∫".to_owned());
                let limits = self.script("_", "sub") + &self.script("^", "sup");
                format!("{sign}{limits} {}", self.named("e"))
            }
            "d" => {
                let begin = self.begin.take().unwrap_or_else(|| "(".to_owned());
                let end = self.end.take().unwrap_or_else(|| ")".to_owned());
                format!("{begin}{}{end}", self.joined("e", ", "))
            }
            "func" => format!("{} {}", self.named("fName"), self.named("e")),
            "mr" => self.joined("e", ", "),
            "m" => self.joined("mr", "; "),
            "eqArr" => self.joined("e", "; "),
            "mfrac" => format!("{}/{}", self.operand(0), self.operand(1)),
            "msup" | "mover" => self.nth(0) + &self.raised("^", 1),
            "msub" | "munder" => self.nth(0) + &self.raised("_", 1),
            "msubsup" | "munderover" => self.nth(0) + &self.raised("_", 1) + &self.raised("^", 2),
            "msqrt" => format!("√({})", self.all()),
            "mroot" => format!("{} root √({})", self.nth(1), self.nth(0)),
            "mtr" => self.joined("mtd", ", "),
            "mtable" => self.joined("mtr", "; "),
            "mfenced" => format!("({})", self.all()),
            // The other children say the same in another notation.
            "semantics" => self.nth(0),
            name if LEFT_OUT.contains(&name) || name.ends_with("Pr") => String::new(),
            _ => self.all(),
        };
        if text.len() > MAX_LEN {
            // A character has at most four bytes.
            text = text.chars().take(MAX_LEN / 4).collect();
        }
        text
    }

    /// Returns its characters and those of all parts.
    fn all(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        for (_, part) in self.parts.drain(..) {
            if text.is_empty() {
                text = part;
            } else if text.len() < MAX_LEN {
                text.push_str(&part);
            }
        }
        text
    }

    fn named(&mut self, name: &str) -> String {
        let part = self.parts.iter_mut().find(|(part, _)| part == name);
        part.map(|(_, text)| std::mem::take(text)).unwrap_or_default()
    }

    fn nth(&mut self, idx: usize) -> String {
        self.parts.get_mut(idx).map(|(_, text)| std::mem::take(text)).unwrap_or_default()
    }

    fn joined(&self, name: &str, separator: &str) -> String {
        let parts = self.parts.iter().filter(|(part, _)| part == name);
        parts.map(|(_, text)| text.trim()).collect::<Vec<_>>().join(separator)
    }

    fn group(&mut self, name: &str) -> String {
        bracketed(&self.named(name))
    }

    fn operand(&mut self, idx: usize) -> String {
        bracketed(&self.nth(idx))
    }

    fn script(&mut self, mark: &str, name: &str) -> String {
        raised(mark, &self.named(name))
    }

    fn raised(&mut self, mark: &str, idx: usize) -> String {
        raised(mark, &self.nth(idx))
    }
}

fn raised(mark: &str, text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("{mark}{}", bracketed(text)) }
}

/// Puts brackets around text of several characters, except numbers and words.
fn bracketed(text: &str) -> String {
    let text = text.trim();
    let is_single = text.chars().count() <= 1 || text.chars().all(char::is_alphanumeric);
    if is_single { text.to_owned() } else { format!("({text})") }
}

/// Puts blanks around relations, and leaves out signs that are not displayed.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{2061}'..='\u{2064}' => {}
            '=' | '<' | '>' | '≤' | '≥' | '≠' | '≈' | '≡' | '→' | '⇒' | '⇔' => {
                spaced.extend([' ', c, ' ']);
            }
            c => spaced.push(c),
        }
    }
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

    #[track_caller]
    fn check(xml: &str, expected: &str) {
        let mut formula = Formula::default();
        let mut found = None;
        xml::each(xml, |event| found = found.take().or(formula.on(event))).unwrap();
        assert_eq!(found.as_deref(), Some(expected));
    }

    fn run(text: &str) -> String {
        format!("<m:r><m:rPr><m:sty m:val='p'/></m:rPr><m:t>{text}</m:t></m:r>")
    }

    #[test]
    fn formulas_of_word_processors_are_on_one_line() {
        let [a, b, n] = ["a+b", "2", "n"].map(run);
        check(
            &format!(
                "<m:oMath>{n}<m:r><m:t>=</m:t></m:r><m:f><m:num>{a}</m:num><m:den>{b}</m:den></m:f></m:oMath>"
            ),
            "n = (a+b)/2",
        );
        check(
            &format!(
                "<m:oMath><m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{n}</m:sub><m:sup>{a}</m:sup>\
                 <m:e><m:sSup><m:e>{n}</m:e><m:sup>{b}</m:sup></m:sSup></m:e></m:nary></m:oMath>"
            ),
            "∑_n^(a+b) n^2",
        );
        check(
            &format!(
                "<m:oMath><m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=''/></m:dPr><m:e>{n}</m:e><m:e>{b}</m:e></m:d>\
                 <m:rad><m:radPr/><m:deg/><m:e>{a}</m:e></m:rad></m:oMath>"
            ),
            "[n, 2√(a+b)",
        );
    }

    #[test]
    fn mathml_is_on_one_line() {
        check(
            "<math><semantics><mrow><msub><mi>x</mi><mn>1</mn></msub><mo>&#x2061;</mo><mo>=</mo><mfrac><mn>1</mn>\
             <mi>n</mi></mfrac></mrow><annotation>x_1 over</annotation></semantics></math>",
            "x_1 = 1/n",
        );
        check(
            "<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable></math>",
            "1, 0",
        );
    }

    #[test]
    fn an_endlessly_nested_formula_is_read() {
        let depth = 20_000;
        check(
            &format!(
                "<math>{}<mi>x</mi>{}</math>",
                "<mrow>".repeat(depth),
                "</mrow>".repeat(depth)
            ),
            "x",
        );
        let mut formula = Formula::default();
        let sup = "<msup><mi>x</mi>".repeat(depth) + &"</msup>".repeat(depth);
        let mut len = 0;
        xml::each(&format!("<math>{sup}</math>"), |event| {
            len += formula.on(event).map_or(0, |text| text.len());
        })
        .unwrap();
        assert!(len > 0 && len <= MAX_LEN);
    }
}
