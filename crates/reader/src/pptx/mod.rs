//! Reads a presentation: slides as pages, with their tables, charts, diagrams, comments and notes.
//!
//! A PPTX file is a ZIP archive of XML parts (ECMA-376): `ppt/presentation.xml` defines the order of
//! the slides, and each slide refers to its charts, diagrams, comments and notes.

mod comments;

use std::collections::{BTreeMap, HashSet};

use super::drawing::{self, DrawingItem, DrawingLinks};
use super::embedded::EmbeddedFiles;
use super::figures::Figures;
use super::members::Members;
use super::parts::{self, Archive, RelatedPart, SalvagedPart, head, optional, salvage};
use super::writer::BlockWriter;
use super::xml::{self, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use comments::CommentAuthors;

/// Reads a presentation.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut archive = parts::open_office(input.bytes, ".ppt")?;
    let main = parts::main_part(&mut archive, "ppt/presentation.xml")?;
    let presentation = salvage(&mut archive, &main).ok_or_else(|| {
        ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive, not PPTX")
    })?;
    let related = parts::relations(&mut archive, &main).unwrap_or_default();
    let slides = slides(&archive, &main, &related, presentation)?;
    let properties = optional(&mut archive, "docProps/core.xml");
    let page_count = u32::try_from(slides.len()).unwrap_or(u32::MAX);
    emit(AnswerLine::Document(DocumentHead { page_count, ..head(&properties) }))?;
    let authors = CommentAuthors::read(&mut archive, &related);
    let omits_remarks = input.request.omits_remarks;
    let mut deck = Deck { archive, authors, files: EmbeddedFiles::default(), omits_remarks };
    let (mut warnings, mut first_failed, mut num_failed) = (Vec::new(), None, 0);
    for (name, number) in slides.iter().zip(1..) {
        let mut writer = BlockWriter::default();
        let damage = deck.write(name, &mut writer);
        let mut page = writer.page(number);
        if let Some(failed) = damage {
            // A slide is kept up to the damage; one without text has failed.
            if page.blocks.is_empty() {
                page.failed = Some(failed.detail.clone());
                num_failed += 1;
                first_failed.get_or_insert(failed);
            } else {
                warnings.push(format!("slide {number} is damaged: {}", failed.detail));
            }
        }
        emit(AnswerLine::Page(page))?;
    }
    if let Some(failed) = first_failed
        && num_failed == slides.len()
    {
        return Err(failed.into());
    }
    warnings.extend(deck.files.emit(&mut deck.archive, &mut Members::new(emit))?);
    Ok(deck.archive.account(ReadingSummary { warnings, ..ReadingSummary::default() }))
}

/// Returns the names of the slides in their order. If the presentation does not say which parts they are, the parts
/// with the usual names are.
fn slides(
    archive: &Archive<'_>,
    main: &str,
    related: &BTreeMap<String, RelatedPart>,
    presentation: SalvagedPart,
) -> Result<Vec<String>, ReadFailure> {
    let (mut slides, mut num_listed) = (Vec::new(), 0);
    let outcome = xml::each(&presentation.text, |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "sldId"
        {
            num_listed += 1;
            let slide = element.relation().and_then(|id| related.get(&id));
            slides.extend(slide.map(|slide| slide.name.clone()));
        }
    });
    let damage = presentation.damage.or(outcome.err());
    if damage.is_some() || slides.is_empty() && num_listed > 0 {
        let usual = parts::numbered(archive, &parts::resolve(main, "../slides/slide"));
        let listed: HashSet<String> = slides.iter().cloned().collect();
        slides.extend(usual.into_iter().filter(|name| !listed.contains(name)));
    }
    match damage {
        _ if !slides.is_empty() => Ok(slides),
        Some(failed) => Err(failed),
        None => Err(ReadFailure::new(FailureKind::NoPages, "")),
    }
}

/// An open presentation.
struct Deck<'a> {
    archive: Archive<'a>,
    authors: CommentAuthors,
    files: EmbeddedFiles,
    omits_remarks: bool,
}

impl Deck<'_> {
    /// Writes a slide: its title, its other text, comments, its notes. Returns why not all of it could be read.
    fn write(&mut self, name: &str, writer: &mut BlockWriter) -> Option<ReadFailure> {
        let archive = &mut self.archive;
        let slide = salvage(archive, name).unwrap_or_else(|| {
            let missing = ReadFailure::new(FailureKind::Damaged, format!("{name} is missing"));
            SalvagedPart { damage: Some(missing), ..SalvagedPart::default() }
        });
        let related = parts::relations(archive, name).unwrap_or_default();
        let figures = Figures::read(archive, &related);
        let files = self.files.add(archive, &related);
        let mut drawing = drawing::read(&slide.text, DrawingLinks { figures, files });
        // Most programs put the title first, but a slide shows it on top in any case.
        drawing.items.sort_by_key(|item| !matches!(item, DrawingItem::Title(_)));
        drawing.items.into_iter().for_each(|item| item.write(writer));
        let mut damage = slide.damage.or(drawing.damage);
        for related in related.values().filter(|related| related.kind == "comments") {
            if archive.is_untouched(&related.name) {
                let comments = optional(archive, &related.name);
                let remarks = comments::read(&comments, &self.authors);
                remarks.iter().for_each(|remark| writer.remark(remark, self.omits_remarks));
            }
        }
        let notes = related.values().find(|related| related.kind == "notesSlide");
        if let Some(notes) = notes.filter(|notes| archive.is_untouched(&notes.name)) {
            let notes = drawing::read_notes(&optional(archive, &notes.name));
            if notes.items.iter().any(|item| !matches!(item, DrawingItem::Furniture(_))) {
                writer.heading(2, "Notes");
            }
            notes.items.into_iter().for_each(|item| item.write(writer));
            damage = damage.or(notes.damage);
        }
        damage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;
    use crate::testing::{Output, output_of};

    const PRESENTATION: &str = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId9'/>\
        <p:sldId id='257' r:id='rId2'/></p:sldIdLst></p:presentation>";
    const RELATIONS: &str = "<Relationships>\
        <Relationship Id='rId2' Type='x/slide' Target='slides/slide1.xml'/>\
        <Relationship Id='rId9' Type='x/slide' Target='/ppt/slides/slide2.xml'/></Relationships>";
    const FIRST: &str = "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>High water at noon.</a:t></a:r></a:p></p:txBody></p:sp>\
        <p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Tides</a:t></a:r></a:p>\
        </p:txBody></p:sp></p:sld>";
    const SECOND: &str =
        "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>Ends.</a:t></a:r></a:p></p:txBody></p:sp></p:sld>";
    const OF_SLIDE: &str = "<Relationships><Relationship Id='rId1' Type='x/notesSlide' Target='../notesSlides/n.xml'/>\
        </Relationships>";
    const NOTES: &str = "<p:notes><p:sp><p:nvPr><p:ph type='sldNum'/></p:nvPr><p:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p>\
        </p:txBody></p:sp><p:sp><p:nvPr><p:ph type='body' idx='1'/></p:nvPr><p:txBody><a:p><a:r><a:t>Ask Maren.</a:t></a:r>\
        </a:p></p:txBody></p:sp></p:notes>";

    fn outcome(parts: &[(&str, &str)]) -> Result<Output, EarlyEnd> {
        output_of(read, &archive(parts))
    }

    #[test]
    fn slides_are_pages_in_the_order_of_the_presentation() {
        let parts = [
            ("ppt/presentation.xml", PRESENTATION),
            ("ppt/_rels/presentation.xml.rels", RELATIONS),
            ("ppt/slides/slide1.xml", SECOND),
            ("ppt/slides/slide2.xml", FIRST),
            ("ppt/slides/_rels/slide2.xml.rels", OF_SLIDE),
            ("ppt/notesSlides/n.xml", NOTES),
        ];
        let (head, blocks) = outcome(&parts).unwrap();
        assert_eq!(head.page_count, 2);
        assert_eq!(blocks, ["# Tides", "High water at noon.", "## Notes", "Ask Maren.", "Ends."]);
        // A slide that is missing is one page that could not be read.
        assert_eq!(outcome(&parts[..3]).unwrap().1, ["Ends."]);
    }

    #[test]
    fn comments_of_people_are_paragraphs_before_the_notes() {
        let of_slide = "<Relationships><Relationship Id='a' Type='x/notesSlide' Target='../notesSlides/n.xml'/>\
            <Relationship Id='b' Type='x/comments' Target='../comments/comment1.xml'/></Relationships>";
        let comments = "<p:cmLst><p:cm authorId='3' dt='2024-05-01T10:00:00'><p:text>Where from?</p:text></p:cm></p:cmLst>";
        let parts = [
            ("ppt/presentation.xml", PRESENTATION),
            ("ppt/_rels/presentation.xml.rels", RELATIONS),
            (
                "ppt/commentAuthors.xml",
                "<p:cmAuthorLst><p:cmAuthor id='3' name='Maren Voss'/></p:cmAuthorLst>",
            ),
            ("ppt/slides/slide1.xml", SECOND),
            ("ppt/slides/slide2.xml", FIRST),
            ("ppt/slides/_rels/slide2.xml.rels", of_slide),
            ("ppt/notesSlides/n.xml", NOTES),
            ("ppt/comments/comment1.xml", comments),
        ];
        assert_eq!(
            outcome(&parts).unwrap().1,
            [
                "# Tides",
                "High water at noon.",
                "Comment by Maren Voss, 2024-05-01: Where from?",
                "## Notes",
                "Ask Maren.",
                "Ends."
            ]
        );
    }

    #[test]
    fn slides_without_relations_have_their_usual_names() {
        let parts = [
            ("ppt/presentation.xml", PRESENTATION),
            ("ppt/slides/slide10.xml", SECOND),
            ("ppt/slides/slide2.xml", FIRST),
        ];
        let expected = ["# Tides", "High water at noon.", "Ends."];
        assert_eq!(outcome(&parts).unwrap().1, expected);
        let cut_off = PRESENTATION.split("<p:sldId id='257'").next().unwrap();
        let parts = [("ppt/presentation.xml", cut_off), parts[1], parts[2]];
        assert_eq!(outcome(&parts).unwrap().1, expected);
    }

    #[test]
    fn a_damaged_slide_keeps_its_text_and_slides_without_any_are_refused() {
        let cut_off = FIRST.split("</a:t>").next().unwrap();
        let parts = |slide| {
            [
                ("ppt/presentation.xml", PRESENTATION),
                ("ppt/_rels/presentation.xml.rels", RELATIONS),
                ("ppt/slides/slide2.xml", slide),
            ]
        };
        let bytes = archive(&parts(cut_off));
        let mut pages = Vec::new();
        let tail = read(&ReaderInput::of(&bytes), &mut |line| {
            if let AnswerLine::Page(page) = line {
                pages.push((page.blocks.len(), page.failed.is_some()));
            }
            Ok(())
        });
        assert_eq!(tail.unwrap().warnings, ["slide 1 is damaged: it is cut off"]);
        assert_eq!(pages, [(1, false), (0, true)]);
        match outcome(&parts("<p:sld>")) {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, FailureKind::Damaged),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_without_slides_is_refused() {
        for (parts, expected) in [
            (&[("a.txt", "x")][..], FailureKind::WrongFormat),
            (&[("ppt/presentation.xml", "<p:presentation/>")], FailureKind::NoPages),
            (&[("ppt/presentation.xml", "<a></b>")], FailureKind::Damaged),
        ] {
            match outcome(parts) {
                Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
