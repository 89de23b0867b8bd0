//! Tests of the text of documents.

use super::super::notes::NoteReader;
use super::*;
use crate::document::{WordAccount, WordDestination};

const STYLES: &str = "<w:styles><w:style w:styleId='h2'><w:name w:val='heading 2'/></w:style>\
    <w:style w:styleId='pre'><w:name w:val='HTML Preformatted'/></w:style>\
    <w:style w:styleId='answer'><w:rPr><w:vanish/></w:rPr></w:style></w:styles>";

const LISTS: &str = "<w:numbering><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'>\
    <w:numFmt w:val='decimal'/></w:lvl></w:abstractNum>\
    <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>";

const FOOTNOTES: &str =
    "<w:footnote w:id='1'><w:p><w:r><w:t>By the gate.</w:t></w:r></w:p></w:footnote>";

const COMMENTS: &str = "<w:comment w:id='0' w:author='Maren'><w:p><w:r><w:t>Is it?</w:t></w:r></w:p>\
    </w:comment><w:comment w:id='1'><w:p><w:r><w:t>Yes.</w:t></w:r></w:p></w:comment>";

fn read_as(body: &str, request: &Request) -> BodyText {
    let styles = DocxStyles::read(STYLES);
    let mut reader =
        NoteReader { styles: &styles, shows_hidden: false, left_out: WordAccount::default() };
    let footnotes = reader.read(FOOTNOTES, "footnote");
    let references = BodyReferences {
        lists: Lists::read(LISTS),
        notes: DocxNotes { footnotes, ..DocxNotes::default() },
        comments: OpenComments::new(reader.read(COMMENTS, "comment"), ""),
        ..BodyReferences::default()
    };
    super::read(body, &styles, references, request)
}

fn texts(writer: BlockWriter) -> Vec<String> {
    writer.finish().into_iter().map(|block| block.text).collect()
}

/// The comments of the sample are not written if the text does not refer to them.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let request = Request { omits_remarks: !body.contains("comment"), ..Request::default() };
    assert_eq!(texts(read_as(body, &request).writer), expected);
}

/// Returns how many words are not shown.
fn num_hidden(body: &str) -> u32 {
    let left_out = read_as(body, &Request::default()).writer.left_out;
    left_out
        .counts()
        .find(|(reason, _)| *reason == WordDestination::Hidden)
        .map_or(0, |(_, count)| count)
}

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn cell(properties: &str, text: &str) -> String {
    format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph("", text))
}

#[test]
fn headings_paragraphs_and_notes_are_written() {
    let body = paragraph("<w:pStyle w:val='h2'/>", "Float gauge")
        + "<w:p><w:r><w:t>Read it at</w:t><w:tab/><w:t>noon</w:t><w:footnoteReference \
           w:id='1'/></w:r><w:r><w:br/><w:t>daily.</w:t></w:r></w:p>";
    check(&body, &["## Float gauge", "Read it at noon[^1]\ndaily.", "[^1]: By the gate."]);
}

#[test]
fn items_are_numbered() {
    let item = |level: usize, list: u8, text: &str| {
        paragraph(
            &format!(
                "<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr>\
                 <w:tabs><w:tab w:val='left'/></w:tabs>"
            ),
            text,
        )
    };
    let body = item(0, 1, "one") + &item(1, 1, "below") + &item(0, 1, "two") + &item(0, 0, "x");
    check(&body, &["1. one\n  1. below", "2. two", "x"]);
}

#[test]
fn tables_are_read() {
    let wide = "<w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p/></w:tc>";
    let inner = format!("<w:tc><w:tbl><w:tr>{}</w:tr></w:tbl></w:tc>", cell("", "in"));
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{wide}</w:tr><w:tr>{inner}{}</w:tr></w:tbl>",
        cell("", "Code"),
        cell("", "Meaning"),
        cell("", "dry"),
    );
    check(&body, &["| Code | Meaning |\n| --- | --- |\n| in | dry |"]);
}

#[test]
fn text_that_is_not_content_is_left_out() {
    let body = "<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val='h2'/></w:pPr></w:pPrChange>\
                </w:pPr><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:del><w:r><w:tab/>\
                <w:delText>old</w:delText><w:footnoteReference w:id='1'/></w:r></w:del><w:r>\
                <w:instrText>PAGE</w:instrText><w:t>new</w:t></w:r></w:p>";
    check(body, &["new"]);
    assert_eq!(num_hidden(body), 2);
}

#[test]
fn hidden_text_is_left_out_and_counted() {
    let run = |properties: &str, text: &str| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>")
    };
    let answer = format!(
        "<w:p><w:pPr><w:pStyle w:val='answer'/></w:pPr>{}{}</w:p>",
        run("", "forty two"),
        run("<w:vanish w:val='false'/>", "shown"),
    );
    let body = format!(
        "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}{}{}</w:p>{answer}",
        run("<w:vanish/>", "hidden "),
        run("<w:webHidden/>", "seen "),
        run("<w:rStyle w:val='answer'/>", "secret"),
    );
    check(&body, &["seen", "shown"]);
    assert_eq!(num_hidden(&body), 4);
    let all = Request { keeps_all: true, omits_remarks: true, ..Request::default() };
    assert_eq!(texts(read_as(&body, &all).writer), ["hidden seen secret", "forty twoshown"]);
}

#[test]
fn a_text_box_in_hidden_text_is_hidden() {
    let body = format!(
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:txbxContent>{}</w:txbxContent><w:t>b</w:t></w:r>\
         <w:r><w:t>c</w:t></w:r></w:p>",
        paragraph("", "a")
    );
    check(&body, &["c"]);
}

#[test]
fn rows_and_cells_that_were_deleted_are_left_out() {
    let row = |properties: &str, cells: &[String]| {
        format!("<w:tr><w:trPr>{properties}</w:trPr>{}</w:tr>", cells.concat())
    };
    let inner = format!("<w:tc><w:tbl>{}</w:tbl><w:p/></w:tc>", row("", &[cell("", "x")]));
    let body = format!(
        "<w:tbl>{}{}{}{}</w:tbl>",
        row("<w:ins w:id='1'/>", &[cell("", "Code"), cell("<w:cellDel/>", "Old"), cell("", "Use")]),
        row("<w:del w:id='2'/>", &[cell("", "999"), inner]),
        row("<w:hidden/>", &[cell("", "7"), cell("", "8")]),
        row(
            "<w:trPrChange><w:trPr><w:hidden/></w:trPr></w:trPrChange>",
            &[cell("", "1"), cell("", "2")]
        ),
    );
    check(&body, &["| Code | Use |\n| --- | --- |\n| 1 | 2 |"]);
    assert_eq!(num_hidden(&body), 5);
}

#[test]
fn a_paragraph_whose_end_was_deleted_goes_on_in_the_next() {
    let joined = |text: &str| paragraph("<w:rPr><w:del w:id='1'/></w:rPr>", text);
    let body = joined("inter") + &joined("") + &paragraph("<w:pStyle w:val='h2'/>", "national");
    check(&body, &["## international"]);
    let at_end = format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", joined("a"));
    check(&(joined("before") + &at_end + &joined("end")), &["before", "a", "end"]);
}

#[test]
fn a_comment_follows_its_paragraph_or_table() {
    let of = |id: u8, text: &str| {
        format!(
            "<w:p><w:commentRangeStart w:id='{id}'/><w:r><w:t>{text}</w:t></w:r><w:commentRangeEnd \
             w:id='{id}'/><w:r><w:commentReference w:id='{id}'/></w:r><w:r><w:t> here</w:t></w:r></w:p>"
        )
    };
    let table =
        format!("<w:tbl><w:tr><w:tc>{}</w:tc>{}</w:tr></w:tbl>", of(1, "dry"), cell("", "7"));
    check(
        &(of(0, "wet") + &table + &paragraph("", "end")),
        &[
            "wet here",
            "Comment by Maren on \u{201C}wet\u{201D}: Is it?",
            "| dry here | 7 |\n| --- | --- |",
            "Comment on \u{201C}dry\u{201D}: Yes.",
            "end",
        ],
    );
}

#[test]
fn a_comment_on_an_item_is_part_of_the_item() {
    let item = "<w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>";
    let body = format!(
        "<w:p><w:pPr>{item}</w:pPr><w:r><w:t>one</w:t></w:r><w:del><w:r><w:commentReference \
         w:id='0'/></w:r></w:del></w:p>{}",
        paragraph(item, "two")
    );
    check(&body, &["1. one\n  Comment by Maren: Is it?", "2. two", "Comment: Yes."]);
}

#[test]
fn fields_of_forms_show_their_values() {
    let field = |form: &str, result: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType='begin'><w:ffData>{form}</w:ffData></w:fldChar></w:r><w:r>\
             <w:t>instruction</w:t></w:r><w:r><w:fldChar w:fldCharType='separate'/></w:r>{result}<w:r>\
             <w:fldChar w:fldCharType='end'/></w:r>"
        )
    };
    let control = |state: u8, text: &str| {
        format!(
            "<w:sdt><w:sdtPr><w:rPr><w:vanish/></w:rPr><w14:checkbox><w14:checked w14:val='{state}'/>\
             </w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>{text}</w:t></w:r></w:sdtContent></w:sdt>"
        )
    };
    let body = format!(
        "<w:p>{}{}{}{}{}</w:p>",
        field("<w:checkBox><w:default w:val='1'/></w:checkBox>", ""),
        field("<w:textInput/>", "<w:r><w:t> fish </w:t></w:r>"),
        control(1, "☒"),
        control(0, ""),
        control(0, "☐ meat"),
    );
    check(&body, &["[x] fish [x][ ][ ] ☐ meat"]);
}

#[test]
fn a_field_without_an_end_hides_no_text() {
    let begin = "<w:r><w:fldChar w:fldCharType='begin'/></w:r>";
    let body = format!("<w:p>{begin}<w:r><w:t>one</w:t></w:r></w:p>{}", paragraph("", "two"));
    check(&body, &["one", "two"]);
    assert_eq!(num_hidden(&body), 0);
    let end = "<w:r><w:fldChar w:fldCharType='end'/></w:r>";
    let whole = body.replace("</w:r></w:p><w:p>", &format!("</w:r>{end}</w:p><w:p>"));
    check(&whole, &["two"]);
    assert_eq!(num_hidden(&whole), 1);
}

#[test]
fn symbols_and_hyphens_are_characters() {
    let body = "<w:p><w:r><w:t>Co\u{AD}</w:t><w:softHyphen/><w:t>op</w:t><w:noBreakHyphen/><w:sym \
                w:font='Symbol' w:char='F061'/></w:r><w:r><w:rPr><w:rFonts w:ascii='Wingdings'/></w:rPr>\
                <w:t>\u{F0FC}</w:t></w:r><w:r><w:t>b</w:t></w:r></w:p>";
    check(body, &["Coop-α✓b"]);
}

#[test]
fn formulas_and_descriptions_of_pictures_are_text() {
    let body = "<w:p><w:r><w:t>So </w:t></w:r><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r>\
                <m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath><w:r><w:t> is.</w:t></w:r></w:p>\
                <w:p><w:r><w:drawing><wp:docPr id='1' name='Picture 1' descr='A float in its well'/></w:drawing>\
                <w:drawing><wp:docPr id='2' name='Picture 2' descr='scan of gauge.png'/></w:drawing></w:r></w:p>\
                <w:p><w:r><w:pict><v:shape><v:textpath string='High water'/></v:shape></w:pict></w:r></w:p>";
    check(body, &["So x^2 is.", "A float in its well", "High water"]);
}

#[test]
fn a_numbered_heading_has_its_number() {
    let numbered =
        "<w:pStyle w:val='h2'/><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>";
    check(
        &(paragraph(numbered, "Scope") + &paragraph(numbered, "Terms")),
        &["## 1. Scope", "## 2. Terms"],
    );
}

#[test]
fn source_text_is_one_block() {
    let line = |text: &str| paragraph("<w:pStyle w:val='pre'/>", text);
    check(&(line("if a:") + &line("  b") + &line("") + "<w:p/>"), &["```\nif a:\n  b\n```"]);
}

#[test]
fn a_text_box_is_read_once() {
    let text_box = paragraph("", "boxed");
    let body = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>{text_box}</w:txbxContent>\
         </mc:Choice><mc:Fallback><w:txbxContent>{text_box}</w:txbxContent></mc:Fallback>\
         </mc:AlternateContent><w:t>around</w:t></w:r></w:p>"
    );
    check(&body, &["boxed", "around"]);
}

#[test]
fn text_before_damage_is_read() {
    let start = format!(
        "<w:body>{}<w:tbl><w:tr>{}<w:tc><w:p><w:r><w:t>cut",
        paragraph("", "one"),
        cell("", "two")
    );
    for (end, is_whole) in [
        ("", false),
        ("</w:", false),
        ("</w:r></w:p>", false),
        ("</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body>", true),
    ] {
        let read = read_as(
            &format!("{start}{end}"),
            &Request { omits_remarks: true, ..Request::default() },
        );
        assert_eq!(read.damage.is_none(), is_whole, "{end}");
        assert_eq!(texts(read.writer), ["one", "| two | cut |\n| --- | --- |"], "{end}");
    }
}
