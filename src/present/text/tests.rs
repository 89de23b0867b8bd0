//! Tests what people read about the documents of a small database.

use std::io;

use crate::app::indexing::update::{Move, UpdateReport};
use crate::app::maintenance::losses::UnreproducibleData;
use crate::app::maintenance::remove::RemoveReport;
use crate::app::maintenance::tag::{RenamedTag, TaggedDocuments};
use crate::app::query::read::{self, DocumentInfo, ShowRequest};
use crate::app::testing::World;
use crate::document::{Filter, PageRange, Quality, StaleReason};
use crate::ingest::survey::{MissingFile, OutOfDate};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::present::text::read as read_text;
use crate::read::PartSelection;
use crate::store::{DocumentId, DocumentName, ListedDocument, TagCount};

const TIME: &str = "2026-05-17T09:30:00Z";

fn shown(write: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut CleanWriter::new(&mut bytes)).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns a world with three notes, two of which have the same title.
fn world() -> World {
    let world = World::new();
    for (title, text) in [("Tides", "ebb"), ("Gauges", "flood"), ("Tides", "neap\ntide")] {
        world.add_note(title, text);
    }
    world
}

fn quality() -> Quality {
    Quality {
        pages_read: 1_200,
        pages_ocr: 12,
        pages_empty: 3,
        pages_unread: 2,
        ..Quality::default()
    }
}

fn listed(world: &World) -> Vec<ListedDocument> {
    let mut documents = world.store().documents(&Filter::default()).unwrap();
    for (document, folder) in documents.iter_mut().zip(["sea", "", "land"]) {
        document.date = Some(TIME[..10].to_owned());
        if !folder.is_empty() {
            document.path = Some(format!("/docs/{folder}/a.md"));
        }
    }
    documents[1].quality = Some(quality());
    documents[1].chunk_count = 1_234;
    documents[2].tags = vec!["a".into(), "b".into()];
    documents
}

#[test]
fn a_list_has_a_folder_where_titles_are_the_same() {
    let documents = listed(&world());
    let list = |layout: &HumanLayout, documents: &[ListedDocument]| {
        shown(|out| layout.list(documents, true, out))
    };
    insta::assert_snapshot!(list(&HumanLayout::plain(80), &documents), @r"
    ID  TYPE      CHUNKS  PAGES                    DATE        TITLE   FOLDER      TAGS
     1  markdown       1                           2026-05-17  Tides   /docs/sea
     2  markdown   1,234  1205 (12 OCR, 2 unread)  2026-05-17  Gauges
     3  markdown       1                           2026-05-17  Tides   /docs/land  a, b
    ");
    insta::assert_snapshot!(list(&HumanLayout::plain(80), &documents[..1]), @r"
    ID  TYPE      CHUNKS  DATE        TITLE
     1  markdown       1  2026-05-17  Tides
    ");
    let terminal = HumanLayout { is_terminal: true, ..HumanLayout::plain(40) };
    insta::assert_snapshot!(list(&terminal, &documents), @r"
    ID  TYPE      TITLE   FOLDER      TAGS
     1  markdown  Tides   /docs/sea
     2  markdown  Gauges
     3  markdown  Tides   /docs/land  a, b
    ");
    let mut same = documents.clone();
    same[2].path = Some("/docs/sea/b.md".into());
    insta::assert_snapshot!(list(&HumanLayout::plain(80), &same), @r"
    ID  TYPE      CHUNKS  PAGES                    DATE        TITLE   PATH            TAGS
     1  markdown       1                           2026-05-17  Tides   /docs/sea/a.md
     2  markdown   1,234  1205 (12 OCR, 2 unread)  2026-05-17  Gauges
     3  markdown       1                           2026-05-17  Tides   /docs/sea/b.md  a, b
    ");
    assert!(list(&terminal, &[]).starts_with("No documents match."));
    let nothing = shown(|out| terminal.list(&[], false, out));
    assert!(nothing.starts_with("Nothing has been added yet."), "{nothing}");
}

#[test]
fn a_document_is_described_with_all_that_is_known() {
    let world = world();
    let mut info: DocumentInfo = read::info(&world.session, "3").unwrap();
    let document = &mut info.document;
    TIME.clone_into(&mut document.created_at);
    TIME.clone_into(&mut document.updated_at);
    "abc".clone_into(&mut document.content_hash);
    let plain = |info: &DocumentInfo| shown(|out| HumanLayout::plain(80).info(info, out));
    insta::assert_snapshot!(plain(&info), @r"
    Document 3
    Title:    Tides
    Path:     -
    Type:     markdown (markdown)
    Language: -
    Hash:     abc
    Created:  2026-05-17T09:30:00Z
    Updated:  2026-05-17T09:30:00Z
    Tags:
    Chunks:   1

    Chunk 3 (7 tokens, lines 3-4) §Setup
       neap tide
    ");
    info.stale = Some(StaleReason::Changed);
    info.document.date_given = Some("2026-05-17".into());
    let metadata = &mut info.document.metadata;
    (metadata.author, metadata.page_count) = (Some("Ada".into()), Some(1_205));
    (metadata.quality, metadata.warnings) = (Some(quality()), vec!["a page is damaged".into()]);
    let chunk = &mut info.chunks[0].chunk;
    (chunk.pages, chunk.lines, chunk.symbol) = (PageRange::new(7, 7), None, Some("f".into()));
    insta::assert_snapshot!(plain(&info), @r"
    Document 3
    Title:    Tides
    Path:     -
    Type:     markdown (markdown)
    Language: -
    Hash:     abc
    Created:  2026-05-17T09:30:00Z
    Updated:  2026-05-17T09:30:00Z
    Tags:
    Chunks:   1
    Pages:    1,205
    Quality:  pages: 1,200 read, 12 of them by OCR, 3 empty, 2 not read
    Date:     2026-05-17
    Author:   Ada
    File:     has changed since it was indexed; `kb update` reads it again
    Note:     a page is damaged

    Chunk 3 (7 tokens, p.7) §f
       neap tide
    ");
}

#[test]
fn the_quality_of_pages_is_described_by_what_is_not_nothing() {
    let of = |quality: Quality| {
        let world = world();
        let mut info = read::info(&world.session, "1").unwrap();
        info.document.metadata.quality = Some(quality);
        let text = shown(|out| HumanLayout::plain(80).info(&info, out));
        text.lines()
            .find_map(|line| line.trim().strip_prefix("Quality:"))
            .unwrap()
            .trim()
            .to_owned()
    };
    let read = Quality { pages_read: 2, ..Quality::default() };
    assert_eq!(of(read), "pages: 2 read");
    assert_eq!(of(quality()), "pages: 1,200 read, 12 of them by OCR, 3 empty, 2 not read");
}

#[test]
fn changes_are_reported_with_their_numbers() {
    let world = world();
    let layout = HumanLayout::plain(80);
    let document = world.store().document(DocumentId(1)).unwrap().unwrap();
    assert_eq!(shown(|out| layout.tagged(&document, out)), "Tags of 'Tides': none\n");
    assert_eq!(shown(|out| layout.edited(&document, &[], out)), "Nothing changed.\n");
    let edited = shown(|out| layout.edited(&document, &["title", "date"], out));
    assert_eq!(edited, "Changed title, date of document 1, 'Tides'.\n");
    let tagged = TaggedDocuments { documents: vec![document; 2], changed: vec![DocumentId(1)] };
    let text = shown(|out| layout.tagged_all(&tagged, out));
    assert_eq!(text, "Selected 2 documents; changed the tags of 1.\n");
    for (is_merged, expected) in [(true, "Merged 'a' into 'b'"), (false, "Renamed 'a' to 'b'")] {
        let (from, to) = ("a".into(), "b".into());
        let renamed = RenamedTag { from, to, is_merged, num_documents: 2 };
        let text = shown(|out| layout.renamed_tag(&renamed, out));
        assert_eq!(text, format!("{expected}: 2 documents.\n"));
    }
    let tags = [TagCount { name: "tide".into(), count: 12 }];
    assert_eq!(shown(|out| layout.tags(&tags, out)), "COUNT  TAG\n   12  tide\n");
    assert!(shown(|out| layout.tags(&[], out)).starts_with("No tags."));
}

#[test]
fn an_update_lists_ten_files_of_a_kind() {
    let missing = |number: i64| MissingFile {
        path: format!("/{number}.md"),
        document_id: DocumentId(number),
        is_elsewhere: false,
    };
    let moved = |number: i64| {
        let (from, to) = (format!("/{number}.md"), format!("/new/{number}.md"));
        Move { from, to, document_id: DocumentId(number) }
    };
    let report = UpdateReport {
        missing: (0..12).map(missing).collect(),
        moves: (0..10).map(moved).collect(),
        removed_paths: (0..1_011).map(|number| format!("/{number}.md")).collect(),
        ..UpdateReport::default()
    };
    let text = shown(|out| HumanLayout::plain(80).update(&report, out));
    let count = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!((count("missing: "), count("moved: "), count("removed: ")), (11, 10, 11), "{text}");
    assert!(
        text.contains("missing: /9.md (document 9)\nmissing: 2 more (`--format json` lists all)\n")
    );
    assert!(text.contains("removed: 1,001 more (") && text.contains("12 missing"), "{text}");
}

#[test]
fn a_removal_says_what_went_or_would_go() {
    let name = DocumentName { id: DocumentId(7), title: "Tides".into(), path: None };
    let file = DocumentName { path: Some("/a.md".into()), ..name.clone() };
    let removed = RemoveReport {
        ids: vec![DocumentId(7), DocumentId(8)],
        documents: vec![name, file],
        losses: UnreproducibleData { num_notes: 1, ..UnreproducibleData::default() },
        ..RemoveReport::default()
    };
    let text = |removed: &RemoveReport| shown(|out| HumanLayout::plain(80).removed(removed, out));
    assert_eq!(text(&removed), "Removed 2 documents.\n");
    let with_rules =
        RemoveReport { num_rules: 1, ids: vec![DocumentId(7)], ..RemoveReport::default() };
    assert_eq!(text(&with_rules), "Removed 1 document. Added 1 rule to .kbignore.\n");
    let dry = RemoveReport { is_dry_run: true, ..removed };
    insta::assert_snapshot!(text(&dry), @r"
    7 Tides (note)
    7 Tides (/a.md)
    These are in no file: 1 note.
    Would remove 2 documents.
    ");
}

#[test]
fn files_that_are_out_of_date_are_counted_by_what_happened_to_them() {
    let text = |files: OutOfDate| shown(|out| HumanLayout::plain(80).out_of_date(&files, out));
    let nothing = OutOfDate::default();
    assert_eq!(text(nothing), "All files are unchanged.\n");
    assert_eq!(
        text(OutOfDate { num_failed: 2, ..nothing }),
        "All files are unchanged, 2 could not be read. `kb files --failed` lists them.\n"
    );
    assert_eq!(
        text(OutOfDate { num_changed: 1, num_new: 2, num_missing: 3, ..nothing }),
        "Out of date: 1 changed, 2 new, 3 missing. `kb update` updates the database.\n"
    );
    let all = OutOfDate { num_failed: 1, num_folders_away: 2, num_refused: 3, ..nothing };
    assert_eq!(
        text(all),
        "Out of date: 0 changed, 0 new, 0 missing, 1 could not be read, 2 folders missing or empty, \
         3 replaced by links that are not followed. `kb update` updates the database.\n"
    );
}

#[test]
fn parts_of_a_document_have_their_place_and_size() {
    let world = world();
    let mut outline = read::outline(&world.session, "3", None, None).unwrap();
    let part = &mut outline.parts[0];
    let facts = |part: &crate::read::DocumentPart| read_text::facts(part).join(", ");
    assert_eq!(facts(part), "7 tokens, lines 3-4, chunk 3");
    (part.pages, part.start_line) = (PageRange::new(2, 2), None);
    assert_eq!(facts(part), "7 tokens, p.2, chunk 3");
    part.pages = PageRange::new(2, 4);
    part.chunk_ids = [3, 4, 5].map(crate::store::ChunkId).into();
    part.num_tokens = 1_700;
    assert_eq!(facts(part), "1,700 tokens, p.2-4, chunks 3-5");
    part.kind = crate::read::PartKind::Page;
    assert_eq!(facts(part), "1,700 tokens, chunks 3-5");
    part.name = Some("2".into());
    assert_eq!(
        shown(|out| read_text::outline(&outline, "", Some("sea/tides.md"), out)),
        "3 Tides [markdown] 7 tokens in 1 chunk, sea/tides.md\n  page 2 (1,700 tokens, chunks 3-5)\n"
    );
}

#[test]
fn text_that_was_cut_says_how_much_is_missing() {
    let world = world();
    let part = |max_lines| {
        let (document, selection) = (Some("3".to_owned()), PartSelection::Whole);
        read::show(&world.session, &ShowRequest { document, within: None, selection, max_lines })
            .unwrap()
    };
    let (whole, cut) = (part(None), part(Some(1)));
    assert_eq!(shown(|out| read_text::show(&whole, out)), "neap\ntide\n");
    assert_eq!(shown(|out| read_text::show(&cut, out)), "neap\n... (1 more line)\n");
    assert_eq!(read_text::markdown(&whole), "neap\ntide\n");
    assert_eq!(read_text::markdown(&cut), "neap\n\n... (1 more line)\n");
    let mut code = whole;
    code.document.language = Some("rust".into());
    assert_eq!(read_text::markdown(&code), "```rust\nneap\ntide\n```\n");
}

#[test]
fn a_backup_and_a_restored_database_are_described_by_their_contents() {
    let world = world();
    let file = world.path("b.db");
    let backup = crate::app::maintenance::backup::create(&world.session, &file, false).unwrap();
    let text = |is_verified| shown(|out| HumanLayout::plain(80).backup(&backup, is_verified, out));
    let copied = text(false);
    assert!(copied.starts_with("Copied to ") && copied.contains("b.db: 3 documents, 3 chunks, "));
    assert!(copied.ends_with(" MB.\n") && copied.lines().count() == 1, "{copied}");
    assert!(text(true).starts_with("Verified "));
    let restored = crate::app::maintenance::backup::restore(&world.session, &file).unwrap();
    let text = shown(|out| HumanLayout::plain(80).restored(&restored, out));
    assert!(text.starts_with("Restored 3 documents from "), "{text}");
    assert!(text.contains("\nThe previous database was saved as "), "{text}");
}

/// Returns a hit in a note.
fn hit() -> crate::search::Hit {
    let request = crate::app::query::search::SearchRequest {
        query: "neap".into(),
        legs: Some(crate::app::query::search::LegSelection::Keyword),
        ..Default::default()
    };
    let world = world();
    crate::app::query::search::search(&world.session, &request, &world).unwrap().hits.remove(0)
}

#[test]
fn a_document_is_named_by_title_or_path_and_its_parts_by_page_or_line_and_the_last_heading() {
    use crate::present::text::quote;
    let mut hit = hit();
    let id = hit.stored.document_id;
    assert_eq!(quote::document(&hit), format!("**Tides**, document {id}"));
    assert_eq!(quote::part(&hit, true), "§ Setup");
    hit.stored.path = Some("/a.md".into());
    assert_eq!(quote::document(&hit), format!("**Tides**, document {id}"));
    hit.shares_title = true;
    assert_eq!(quote::document(&hit), format!("`/a.md`, document {id}"));
    assert_eq!(quote::part(&hit, true), "line 3, § Setup");
    hit.base = Some("work".into());
    assert_eq!(quote::id(&hit), format!("document {id}, base work"));
    hit.at.section = Some("A > B > C".into());
    assert_eq!(quote::part(&hit, true), "line 3, § C");
    assert_eq!(quote::part(&hit, false), "line 3");
    hit.at.section = Some("Setup".into());
    assert_eq!(quote::citation(&hit), "**Tides**, § Setup (/a.md:3)");
    hit.at.section = None;
    hit.at.pages = PageRange::new(2, 4);
    assert_eq!(quote::part(&hit, true), "pp. 2-4");
    assert_eq!(quote::pages(PageRange::single(2)), "p. 2");
    assert_eq!(quote::behind_path(Some(7), None), ":7");
    assert_eq!(quote::behind_path(Some(7), PageRange::new(2, 2)), " p.2");
    assert_eq!(quote::behind_path(None, PageRange::new(2, 4)), " pp.2-4");
    assert_eq!(quote::behind_path(None, None), "");
}

#[test]
fn a_text_of_several_lines_is_fenced_with_its_language() {
    use crate::present::text::quote;
    let mut hit = hit();
    let brief = |hit: &crate::search::Hit| shown(|out| quote::brief(hit, out));
    assert_eq!(brief(&hit), "```\nneap\ntide\n```\n");
    for (language, expected) in [("c++", "c++"), ("objective-c", "objective-c"), ("c`\n#", "c#")] {
        hit.stored.language = Some(language.into());
        assert_eq!(brief(&hit), format!("```{expected}\nneap\ntide\n```\n"));
    }
    "one line \n".clone_into(&mut hit.stored.chunk.chunk.text);
    assert_eq!(brief(&hit), "> one line\n");
}
