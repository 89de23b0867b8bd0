//! Tests what the screen shows in each state, and what each key does there.

use super::*;
use crate::app::query::read::{self, ShowRequest};
use crate::app::testing::World;
use crate::cli::find::state::Panel;
use crate::present::find::PartReading;
use crate::read::PartSelection;

fn world() -> World {
    let world = World::new();
    world.add_note(
        "The sea",
        "# Sea\n\nThe sea.\n\n## Tides\n\nHigh water.\n\n## Gauges\n\nFrozen gauge.",
    );
    world
}

/// Returns the state with a section of a document in place of the list.
fn reading() -> FindState {
    let world = world();
    let (document, selection) = (Some("1".to_owned()), PartSelection::Whole);
    let request = ShowRequest { document, within: None, selection, max_lines: None };
    let shown = read::show(&world.session, &request).unwrap();
    let mut state = found();
    let asked = state.press(control('s'));
    let reading = PartReading::new(shown, "frozen", Some("Frozen gauge."));
    reply(&mut state, number(&asked), WorkerAnswer::Part(Box::new(reading)), false);
    state
}

/// Returns the state with the outline of a document.
fn outlined() -> FindState {
    let world = world();
    let outline = read::outline(&world.session, "1", None, None).unwrap();
    let mut state = found();
    let asked = state.press(control('o'));
    reply(
        &mut state,
        number(&asked),
        WorkerAnswer::Listing(Listing::of_outline(outline, "frozen"), None),
        false,
    );
    state
}

#[test]
fn before_the_first_key_the_screen_says_how_to_begin() {
    insta::assert_snapshot!(screen(&mut state(""), 48, 12), @r#"
    ›                                         hybrid
    1,234 documents
    ────────────────────────────────────────────────
    Type to search 1,234 documents.

    "a phrase"   must match exactly
    ────────────────────────────────────────────────




    Enter open  Esc leave  ^G keys  ^O outline
    "#);
}

#[test]
fn the_keys_have_a_page_that_any_key_leaves() {
    let mut state = found();
    state.press(control('g'));
    insta::assert_snapshot!(screen(&mut state, 60, 24), @r"
    › frozen gauge                                        hybrid
    3 passages in 2 documents · 7 ms
    ────────────────────────────────────────────────────────────
    Enter              open the passage in an editor or viewer
    Up  ^P             go to the previous result or section
    Down  ^N           go to the next result or section
    PgUp               scroll the text up
    PgDn               scroll the text down
    Tab                mode: hybrid, keywords only, meaning only
    ^F                 filter by type, tag, folder, language, d…
    ^O                 show the outline of the document
    ^S                 read the whole section, symbol or page
    ^R                 find similar passages
    ^Y                 copy the passage
    ^T                 copy its citation
    Esc                go back, or leave from the results
    ^C                 leave
    ^G  F1             show all keys
    ^W  Alt-Backspace  delete the word before the cursor
    ^U                 delete everything before the cursor
    ^K                 delete everything after the cursor


    Esc back
    ");
    state.is_printing = true;
    assert!(
        screen(&mut state, 60, 24)
            .contains("Enter              print the path and line, and leave")
    );
    assert!(state.press(key(KeyCode::Down)).is_empty());
    assert!(matches!(state.panel, Panel::None));
    assert_eq!(state.view().selected, 0);
}

#[test]
fn a_part_is_read_from_its_passage_on() {
    let mut state = reading();
    insta::assert_snapshot!(screen(&mut state, 60, 9), @r"
    › frozen gauge                                        hybrid
    The sea
    ────────────────────────────────────────────────────────────

    ## Gauges

    Frozen gauge.

    Enter open  Esc back  Up Down PgUp PgDn scroll
    ");
    let shown = |state: &mut FindState| screen(state, 60, 9);
    let begin = shown(&mut state);
    state.press(key(KeyCode::Up));
    let above = shown(&mut state);
    assert!(
        begin != above && above.contains("## Tides") || above.contains("High water."),
        "{above}"
    );
    state.press(key(KeyCode::Down));
    assert_eq!(shown(&mut state), begin);
    state.press(key(KeyCode::Home));
    assert!(shown(&mut state).contains("# Sea"));
    state.press(key(KeyCode::PageDown));
    let second = shown(&mut state);
    assert!(!second.contains("# Sea") && second.contains("Tides"), "{second}");
    state.press(key(KeyCode::End));
    assert!(shown(&mut state).contains("Frozen gauge."));
    state.press(key(KeyCode::PageUp));
    assert!(!shown(&mut state).contains("Frozen gauge."));
    assert!(state.press(control('f')).is_empty() && matches!(state.panel, Panel::None));
    assert!(state.press(key(KeyCode::Esc)).is_empty());
    assert!(state.page.is_none() && state.view().listing.len() == 3);
}

#[test]
fn an_outline_is_a_list_of_parts() {
    let mut state = outlined();
    insta::assert_snapshot!(screen(&mut state, 60, 16), @r"
    › frozen gauge                                        hybrid
    outline of Tide station handbook
    ────────────────────────────────────────────────────────────
    The sea                                             markdown
      Sea                                                     :3
        Tides
        Gauges
    ────────────────────────────────────────────────────────────
    The sea
    Sea
    kb show 1

    # Sea


    Enter open  Esc back  ^G keys  ^O outline  ^S section
    ");
    // There is nothing to copy or compare.
    assert!(state.press(control('y')).is_empty());
    assert!(foot(&mut state, 100).contains("only a passage can be copied or compared"));
    let effects = state.press(key(KeyCode::Down));
    let [FindEffect::Ask(asked)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(matches!(asked.question, Question::Part { passage: None, .. }));
}

#[test]
fn without_a_hit_there_is_nothing_to_follow() {
    let mut state = state("");
    for pressed in [control('o'), control('s'), control('r'), control('y'), control('t')] {
        assert!(state.press(pressed).is_empty(), "{pressed:?}");
    }
    assert!(state.press(key(KeyCode::Enter)).is_empty() && state.message.is_none());
}

#[test]
fn the_text_is_beside_the_list_from_a_hundred_columns_on() {
    for (columns, bar) in
        [(99, None), (100, Some(41)), (110, Some(45)), (180, Some(73)), (260, Some(73))]
    {
        let shown = screen(&mut found(), columns, 12);
        let rule: Vec<char> = shown.lines().nth(2).unwrap().chars().collect();
        assert_eq!(rule.iter().position(|c| *c == '┬'), bar, "{columns}");
        assert_eq!(rule.len(), usize::from(columns));
    }
}

#[test]
fn the_keys_that_matter_are_in_the_last_row_as_far_as_they_fit() {
    let whole =
        "Enter open  Esc leave  ^G keys  ^O outline  ^S section  ^R similar  ^F filter  Tab mode";
    let len = u16::try_from(whole.len()).unwrap();
    assert_eq!(foot(&mut found(), len), whole);
    assert_eq!(foot(&mut found(), len - 1), whole.trim_end_matches("Tab mode").trim_end());
    assert!(foot(&mut found(), 80).starts_with("Enter open  Esc leave  ^G keys"));
    assert_eq!(foot(&mut reading(), 60), "Enter open  Esc back  Up Down PgUp PgDn scroll");
    assert!(foot(&mut outlined(), 100).starts_with("Enter open  Esc back"));
    let mut state = found();
    state.is_printing = true;
    assert!(foot(&mut state, 100).starts_with("Enter print"));
    state.press(control('f'));
    assert_eq!(
        foot(&mut state, 80),
        "Esc back  t type  g tag  f folder  l language  d date  x none"
    );
    state.press(key(KeyCode::Char('t')));
    assert_eq!(foot(&mut state, 80), "Enter choose  Esc back");
    assert_eq!(screen(&mut found(), 40, 2).lines().count(), 2);
    assert!(!screen(&mut found(), 40, 2).contains("Enter"));
}

#[test]
fn the_list_scrolls_with_the_selection_and_keeps_the_document_above_it() {
    let mut state = state("");
    let asked = typed(&mut state, "gauge");
    let hits = (1..=6).map(|number| hit(number, number, &format!("Book {number}"), "A gauge."));
    answer(&mut state, number(&asked), hits.collect(), false);
    let listed = |state: &mut FindState| -> Vec<String> {
        let shown = screen(state, 60, 14);
        shown.lines().skip(3).take(4).map(|line| line.trim_end().to_owned()).collect()
    };
    assert!(listed(&mut state)[0].starts_with("Book 1"));
    for _ in 0..3 {
        state.press(key(KeyCode::Down));
        state.press(control('n'));
    }
    assert_eq!(state.view().selected, 5);
    let last = listed(&mut state);
    assert!(last[2].starts_with("Book 6") && last[3].contains(":40 A gauge."), "{last:?}");
    for _ in 0..2 {
        state.press(key(KeyCode::Up));
        state.press(control('p'));
    }
    let above = listed(&mut state);
    assert!(above[0].starts_with("Book 2") && above[1].contains(":40 A gauge."), "{above:?}");
    // Without a change nothing is asked.
    state.press(key(KeyCode::Up));
    assert!(state.press(key(KeyCode::Up)).is_empty());
}

#[test]
fn the_mode_is_shown_on_the_right_of_the_query() {
    let mut state = found();
    for mode in ["hybrid", "keywords only", "meaning only"] {
        let shown = screen(&mut state, 60, 8);
        let first = shown.lines().next().unwrap();
        assert!(first.starts_with("› frozen gauge ") && first.ends_with(mode), "{first}");
        assert_eq!(width(first), 60);
        state.press(key(KeyCode::Tab));
    }
    // The end of a long query stays visible, with room for the cursor.
    typed(&mut state, &" and more words".repeat(4));
    let layout = layout(&mut state, &HumanLayout::plain(80), 40, 8);
    assert_eq!(layout.cursor, Some((31, 0)));
}

#[test]
fn esc_goes_back_to_hits_that_were_not_heard_and_searches_again() {
    let mut state = outlined();
    state.is_behind = true;
    let effects = state.press(key(KeyCode::Esc));
    assert!(
        matches!(effects.as_slice(), [FindEffect::Ask(asked)] if asked.slot == AnswerPane::Main)
    );
    assert!(matches!(state.press(control('c')).as_slice(), [FindEffect::Quit]));
    assert!(matches!(state.receive(WorkerReply::Lost).as_slice(), [FindEffect::Quit]));
    state.receive(WorkerReply::Message("the model is slow".into()));
    assert!(foot(&mut state, 60).contains("the model is slow"));
}

#[test]
fn the_welcome_fits_a_usual_terminal() {
    let welcome = include_str!("../welcome.txt");
    assert!(welcome.lines().all(|line| line.len() <= 80), "{welcome}");
}
