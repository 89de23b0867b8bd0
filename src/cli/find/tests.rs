//! Tests the screen without a terminal: presses keys, gives answers and compares the cells.

mod filters;
mod screens;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;

use crate::app::query::facets::FacetValue;
use crate::app::query::read::NeighbourText;
use crate::app::query::search::{LegSelection, SearchRequest};
use crate::cli::find::layout::layout;
use crate::cli::find::screen::draw;
use crate::cli::find::state::{FindEffect, FindState};
use crate::cli::find::worker::{AnswerPane, Question, WorkerAnswer, WorkerReply};
use crate::document::{Chunk, DocType, LineRange};
use crate::error::Error;
use crate::present::find::Listing;
use crate::present::terminal::columns::width;
use crate::present::text::human::HumanLayout;
use crate::search::{self, CitedPlace, Confidence, Hit};
use crate::store::{ChunkId, DocumentId, StoredChunk, StoredHit};

/// Returns a hit in line 40 of a file.
fn hit(document: i64, chunk: i64, title: &str, text: &str) -> Hit {
    let section = Some("Maintenance > Winter".to_owned());
    let chunk = StoredChunk {
        id: ChunkId(chunk),
        chunk_index: 3,
        chunk: Chunk {
            text: text.to_owned(),
            token_count: 1,
            section: section.clone(),
            lines: LineRange::new(40, 40),
            ..Chunk::default()
        },
    };
    Hit {
        score: 1.0,
        rerank_score: None,
        keyword: None,
        vector: None,
        token_match: None,
        document_weight: 1.0,
        recency: None,
        stored: StoredHit {
            chunk,
            document_id: DocumentId(document),
            title: title.to_owned(),
            path: Some(format!("/docs/{document}.md")),
            doc_type: DocType::Markdown,
            format: "markdown".into(),
            language: None,
            tags: vec!["pier".into()],
            total_chunks: 9,
            date: Some("2026-05-17".into()),
            date_origin: None,
            superseded: None,
            natural_language: None,
            aliases: Vec::new(),
        },
        terms: Vec::new(),
        contributions: Vec::new(),
        num_copies: 0,
        stale: None,
        base: None,
        shares_title: false,
        conflict_of: None,
        at: CitedPlace { line: Some(40), section, is_exact: true, ..CitedPlace::default() },
        passage: None,
    }
}

fn state(query: &str) -> FindState {
    FindState::new(SearchRequest { query: query.into(), ..SearchRequest::default() }, 1234, false)
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn control(letter: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
}

/// Types a text; returns the questions that it asks.
fn typed(state: &mut FindState, text: &str) -> Vec<FindEffect> {
    text.chars().flat_map(|c| state.press(key(KeyCode::Char(c)))).collect()
}

/// Returns the number of the last question.
fn number(effects: &[FindEffect]) -> u64 {
    match effects.last() {
        Some(FindEffect::Ask(asked)) => asked.number,
        other => panic!("nothing is asked: {other:?}"),
    }
}

/// Answers a search.
fn answer(state: &mut FindState, number: u64, hits: Vec<Hit>, is_first: bool) -> Vec<FindEffect> {
    let results = search::SearchAnswer {
        typed: state.entry.text().to_owned(),
        total_matches: hits.len(),
        hits,
        confidence: Some(Confidence::High),
        ..search::SearchAnswer::empty(&[])
    };
    let around =
        NeighbourText { before: "The end of before.".into(), after: "The next one.".into() };
    let answer = WorkerAnswer::Listing(Listing::of_search(results), Some(around));
    reply(state, number, answer, is_first)
}

fn reply(
    state: &mut FindState,
    number: u64,
    answer: WorkerAnswer,
    is_first: bool,
) -> Vec<FindEffect> {
    let (slot, took) = (AnswerPane::Main, Duration::from_millis(7));
    state.receive(WorkerReply::Answer { slot, number, answer: Ok(answer), took, is_first })
}

/// Draws the screen and returns it as lines without trailing spaces.
fn screen(state: &mut FindState, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let layout = layout(state, &HumanLayout::plain(80), columns.into(), rows.into());
    terminal.draw(|frame| draw(&layout, true, frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let mut lines = Vec::new();
    for y in 0..rows {
        let (mut line, mut x) = (String::new(), 0);
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            line += symbol;
            x += u16::try_from(width(symbol).max(1)).unwrap();
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

fn hits() -> Vec<Hit> {
    vec![
        hit(1, 11, "Tide station handbook", "Pour brine into the frozen pipe of the gauge."),
        hit(2, 21, "東京の潮位", "The frozen gauge. 東京都の潮位計は冬に凍る。"),
        hit(1, 12, "Tide station handbook", "Keep the gauge dry."),
    ]
}

fn found() -> FindState {
    let mut state = state("");
    let asked = typed(&mut state, "frozen gauge");
    answer(&mut state, number(&asked), hits(), false);
    state
}

/// Returns the last row of a screen.
fn foot(state: &mut FindState, columns: u16) -> String {
    screen(state, columns, 12).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn hits_are_next_to_their_passage_on_a_wide_screen() {
    insta::assert_snapshot!(screen(&mut found(), 104, 14), @r"
    › frozen gauge                                                                                    hybrid
    3 passages in 2 documents · 7 ms
    ──────────────────────────────────────────┬─────────────────────────────────────────────────────────────
    Tide station handbook            markdown │ Tide station handbook
        :40 Pour brine into the frozen pipe…  │ Maintenance › Winter
        :40 Keep the gauge dry.               │ /docs/1.md:40  #pier  2026-05-17
    東京の潮位                       markdown │
        :40 The frozen gauge. 東京都の潮位計… │ The end of before.
                                              │
                                              │ Pour brine into the frozen pipe of the gauge.
                                              │
                                              │ The next one.
                                              │
    Enter open  Esc leave  ^G keys  ^O outline  ^S section  ^R similar  ^F filter  Tab mode
    ");
}

#[test]
fn hits_are_above_their_passage_on_a_narrow_screen() {
    let shown = screen(&mut found(), 60, 20);
    insta::assert_snapshot!(shown, @r"
    › frozen gauge                                        hybrid
    3 passages in 2 documents · 7 ms
    ────────────────────────────────────────────────────────────
    Tide station handbook                               markdown
        :40 Pour brine into the frozen pipe of the gauge.
        :40 Keep the gauge dry.
    東京の潮位                                          markdown
        :40 The frozen gauge. 東京都の潮位計は冬に凍る。

    ────────────────────────────────────────────────────────────
    Tide station handbook
    Maintenance › Winter
    /docs/1.md:40  #pier  2026-05-17

    The end of before.

    Pour brine into the frozen pipe of the gauge.

    The next one.
    Enter open  Esc leave  ^G keys  ^O outline  ^S section
    ");
    // Nothing to do but not to panic.
    for (columns, rows) in [(1, 1), (2, 3), (10, 5), (20, 6), (300, 2)] {
        screen(&mut found(), columns, rows);
    }
}

#[test]
fn an_answer_to_an_older_question_is_dropped() {
    let mut state = state("");
    let first = typed(&mut state, "tide");
    let second = typed(&mut state, "s");
    answer(&mut state, number(&first), hits(), false);
    assert!(state.view().listing.is_empty());
    answer(&mut state, number(&second), hits(), false);
    assert_eq!(state.view().listing.len(), 3);
    // Without a query there are no hits, even if an answer is still on its way.
    let third = typed(&mut state, "x");
    state.press(control('u'));
    answer(&mut state, number(&third), hits(), false);
    assert!(state.view().listing.is_empty());
}

#[test]
fn what_is_selected_among_the_first_hits_stays_selected() {
    let mut state = state("");
    let asked = typed(&mut state, "gauge");
    answer(&mut state, number(&asked), hits(), true);
    state.press(key(KeyCode::Down));
    assert_eq!(state.view().listing.chunk(state.view().selected), Some(ChunkId(12)));
    let mut better = hits();
    better.rotate_left(1);
    answer(&mut state, number(&asked), better, false);
    assert_eq!(state.view().listing.chunk(state.view().selected), Some(ChunkId(12)));
    // The next letter begins at the first hit again.
    typed(&mut state, "s");
    assert_eq!(state.view().selected, 0);
}

#[test]
fn enter_waits_for_the_hits_of_what_is_typed() {
    let mut state = state("");
    let asked = typed(&mut state, "gauge");
    assert!(state.press(key(KeyCode::Enter)).is_empty());
    answer(&mut state, number(&asked), hits(), true);
    let effects = answer(&mut state, number(&asked), hits(), false);
    let Some(FindEffect::Open(target, _)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!((target.document, target.line), (DocumentId(1), Some(40)));
    state.is_printing = true;
    let effects = state.press(key(KeyCode::Enter));
    let Some(FindEffect::Print(location)) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(location, b"/docs/1.md:40");
}

#[test]
fn the_rankings_are_chosen_one_after_another() {
    let mut state = found();
    let mut legs = Vec::new();
    for _ in 0..3 {
        let effects = state.press(key(KeyCode::Tab));
        let [FindEffect::Ask(asked)] = effects.as_slice() else { panic!("{effects:?}") };
        let Question::Search(request) = &asked.question else { panic!("{asked:?}") };
        legs.push(request.legs);
    }
    assert_eq!(legs, [Some(LegSelection::Keyword), Some(LegSelection::Vector), None]);
}

#[test]
fn a_filter_is_chosen_by_its_letter_and_its_value() {
    let mut state = found();
    state.press(control('f'));
    assert!(screen(&mut state, 60, 20).contains("t type  g tag  f folder"));
    state.press(key(KeyCode::Char('g')));
    let value = |name: &str| FacetValue { name: name.into(), num_documents: 2 };
    let values = WorkerAnswer::Values(vec![value("garden"), value("pier")]);
    let took = Duration::ZERO;
    let number = 1;
    let slot = AnswerPane::Beside;
    state.receive(WorkerReply::Answer { slot, number, answer: Ok(values), took, is_first: false });
    typed(&mut state, "pi");
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("tag › pi") && !shown.contains("garden"), "{shown}");
    let effects = state.press(key(KeyCode::Enter));
    let Some(FindEffect::Ask(asked)) = effects.first() else { panic!("{effects:?}") };
    let Question::Search(request) = &asked.question else { panic!("{asked:?}") };
    assert_eq!(
        (request.filter.tags.as_slice(), request.query.as_str()),
        (&["pier".to_owned()][..], "frozen gauge gauge*")
    );
    assert!(screen(&mut state, 60, 20).contains("#pier"));
    state.press(control('f'));
    state.press(key(KeyCode::Char('x')));
    assert!(state.request.filter.is_empty());
}

#[test]
fn similar_passages_are_a_list_that_esc_leaves() {
    let mut state = found();
    let asked = state.press(control('r'));
    let answer = WorkerAnswer::Listing(Listing::of_similar(vec![hits().swap_remove(1)]), None);
    reply(&mut state, number(&asked), answer, false);
    let shown = screen(&mut state, 60, 20);
    assert!(shown.contains("similar to Tide station handbook"), "{shown}");
    assert!(state.press(key(KeyCode::Esc)).is_empty());
    assert_eq!(state.view().listing.len(), 3);
    assert!(matches!(state.press(key(KeyCode::Esc)).as_slice(), [FindEffect::Quit]));
}

#[test]
fn the_passage_and_its_citation_are_copied() {
    let mut state = found();
    let effects = state.press(control('y'));
    let [FindEffect::Copy(text)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(text, "Pour brine into the frozen pipe of the gauge.");
    let effects = state.press(control('t'));
    let [FindEffect::Copy(text)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(text, "**Tide station handbook**, § Maintenance > Winter (/docs/1.md:40)");
}

#[test]
fn an_error_is_shown_until_the_next_key() {
    let mut state = found();
    let asked = typed(&mut state, "s");
    let (slot, number, took) = (AnswerPane::Main, number(&asked), Duration::ZERO);
    let answer = Err(Error::UnknownChunk { id: 7 });
    state.receive(WorkerReply::Answer { slot, number, answer, took, is_first: false });
    assert!(screen(&mut state, 90, 20).contains("chunk"), "{}", screen(&mut state, 90, 20));
    state.press(key(KeyCode::Left));
    assert!(state.message.is_none());
}

#[test]
fn the_text_is_scrolled_no_further_than_its_ends() {
    let mut state = found();
    let shown = |state: &mut FindState| screen(state, 104, 12);
    let before = shown(&mut state);
    assert!(before.contains("The end of before."));
    state.press(key(KeyCode::PageUp));
    assert_eq!(shown(&mut state), before);
    for _ in 0..5 {
        state.press(key(KeyCode::PageDown));
        shown(&mut state);
    }
    assert!(shown(&mut state).contains("The next one."));
    state.press(key(KeyCode::PageUp));
    assert_eq!(shown(&mut state), before);
}

#[test]
fn no_text_of_a_document_reaches_the_screen_unclean() {
    let mut state = state("");
    let asked = typed(&mut state, "red");
    let bad = "red \u{1b}[31m \u{202e}x \u{9b}2J \u{7}";
    let mut bad_hit = hit(1, 1, bad, bad);
    bad_hit.stored.tags = vec![bad.into()];
    bad_hit.stored.chunk.chunk.section = Some(bad.into());
    bad_hit.stored.path = Some(format!("/{bad}.md"));
    answer(&mut state, number(&asked), vec![bad_hit], false);
    let layout = layout(&mut state, &HumanLayout::plain(80), 120, 30);
    let pieces = layout.placed.iter().flat_map(|placed| &placed.line);
    for piece in pieces {
        assert!(!piece.text.contains(crate::text::printable::is_harmful), "{:?}", piece.text);
    }
}
