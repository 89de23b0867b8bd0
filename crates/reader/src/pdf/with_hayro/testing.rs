//! Writes small PDF files, for tests.

use crate::ReaderInput;
use crate::extract::protocol::{AnswerLine, ExtractedPage, MemberLine, ReadingSummary};

/// The output of a reader for a file.
#[derive(Debug, Default)]
pub(super) struct PdfOutput {
    pub(super) pages: Vec<ExtractedPage>,
    pub(super) members: Vec<MemberLine>,
    pub(super) tail: ReadingSummary,
}

impl PdfOutput {
    /// Returns the texts of all pages: of their blocks, and after `+` their notes.
    pub(super) fn texts(&self) -> Vec<String> {
        let of_page = |page: &ExtractedPage| {
            let blocks = page.blocks.iter().map(|block| block.text.clone());
            let notes = page.notes.iter().map(|note| format!("+{}", note.text));
            blocks.chain(notes).collect::<Vec<_>>()
        };
        self.pages.iter().flat_map(of_page).collect()
    }

    /// Returns how many words were left out, by reason.
    pub(super) fn left_out(&self) -> Vec<String> {
        let counts = self.pages.iter().flat_map(|page| page.left_out.counts());
        counts.map(|(reason, count)| format!("{reason} {count}")).collect()
    }
}

/// Returns a file of these objects: the first is the catalog, the last the page, whose content draws lines of text at
/// heights from the lower edge. Objects have numbers from 1.
pub(super) fn pdf(objects: &[&str], page: &str, lines: &[(&str, u32)]) -> Vec<u8> {
    let line =
        |(text, height): &(&str, u32)| format!("BT /F 10 Tf 50 {height} Td ({text}) Tj ET\n");
    let content: String = lines.iter().map(line).collect();
    let (first, kids) = (objects.len() + 1, objects.len() + 2);
    let own = [
        format!(
            "<</Type/Page/Parent {kids} 0 R/MediaBox[0 0 600 800]/Contents {} 0 R{page}\
             /Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
            kids + 1
        ),
        format!("<</Type/Pages/Count 1/Kids[{first} 0 R]>>"),
        format!("<</Length {}>>stream\n{content}\nendstream", content.len()),
    ];
    let mut file = "%PDF-1.7\n".to_owned();
    let mut table = String::new();
    for (number, object) in (1..).zip(objects.iter().copied().chain(own.iter().map(String::as_str)))
    {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        let object = object.replace("PAGES", &format!("{kids} 0 R"));
        file.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let (start, size) = (file.len(), objects.len() + 4);
    file.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n{table}"));
    file.push_str(&format!("trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"));
    file.into_bytes()
}

/// Reads a file.
pub(super) fn read(file: &[u8]) -> PdfOutput {
    let mut output = PdfOutput::default();
    let tail = super::read(&ReaderInput::of(file), &mut |line| {
        match line {
            AnswerLine::Page(page) => output.pages.push(page),
            AnswerLine::Member(member) => output.members.push(member),
            _ => {}
        }
        Ok(())
    });
    output.tail = tail.expect("the file is valid");
    output
}
