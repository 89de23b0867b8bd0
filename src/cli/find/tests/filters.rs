//! Tests how filters are chosen and typed on the screen.

use super::*;
use crate::app::query::facets::Facet;
use crate::cli::find::filters::FilterKind;
use crate::cli::find::state::Panel;

/// Gives values to the filter that is chosen.
fn values(state: &mut FindState, names: &[&str]) {
    let values = names.iter().zip(1..).map(|(name, num_documents)| FacetValue {
        name: (*name).to_owned(),
        num_documents: num_documents * 600,
    });
    let (slot, number) = (AnswerPane::Beside, state.last[1]);
    let answer = Ok(WorkerAnswer::Values(values.collect()));
    state.receive(WorkerReply::Answer {
        slot,
        number,
        answer,
        took: Duration::ZERO,
        is_first: false,
    });
}

/// Returns the state with a list of values of a filter.
fn choosing(letter: char, names: &[&str]) -> FindState {
    let mut state = found();
    state.press(control('f'));
    state.press(key(KeyCode::Char(letter)));
    values(&mut state, names);
    state
}

#[test]
fn a_filter_is_chosen_among_its_values() {
    let mut state = choosing('f', &["/docs/a", "/docs/b", "/docs/c", "/docs/d"]);
    insta::assert_snapshot!(screen(&mut state, 48, 10), @r"
    folder ›
    3 passages in 2 documents · 7 ms
    ────────────────────────────────────────────────
      /docs/a                                    600
      /docs/b                                  1,200
      /docs/c                                  1,800
    ────────────────────────────────────────────────
    Tide station handbook
    Maintenance › Winter
    Enter choose  Esc back
    ");
    for _ in 0..9 {
        state.press(key(KeyCode::Down));
    }
    insta::assert_snapshot!(screen(&mut state, 48, 10), @r"
    folder ›
    3 passages in 2 documents · 7 ms
    ────────────────────────────────────────────────
      /docs/b                                  1,200
      /docs/c                                  1,800
      /docs/d                                  2,400
    ────────────────────────────────────────────────
    Tide station handbook
    Maintenance › Winter
    Enter choose  Esc back
    ");
    state.press(key(KeyCode::Enter));
    assert_eq!(state.request.filter.paths, ["/docs/d"]);
    state.press(control('f'));
    state.press(key(KeyCode::Char('f')));
    values(&mut state, &["/docs/c", "/docs/d"]);
    insta::assert_snapshot!(screen(&mut state, 48, 10), @r"
    folder ›
    3 passages in 2 documents · 7 ms         /docs/d
    ────────────────────────────────────────────────
      /docs/c                                    600
    ✓ /docs/d                                  1,200

    ────────────────────────────────────────────────
    Tide station handbook
    Maintenance › Winter
    Enter choose  Esc back
    ");
}

#[test]
fn pages_of_values_are_turned() {
    let names: Vec<String> = (0..20).map(|number| format!("tag{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut state = choosing('g', &names);
    state.text_rows = 6;
    let selected = |state: &FindState| match &state.panel {
        Panel::Picker(picker) => picker.selected,
        other => panic!("{other:?}"),
    };
    for (code, expected) in [
        (KeyCode::Up, 0),
        (KeyCode::Down, 1),
        (KeyCode::PageDown, 7),
        (KeyCode::PageDown, 13),
        (KeyCode::PageDown, 19),
        (KeyCode::Down, 19),
        (KeyCode::PageUp, 13),
        (KeyCode::Up, 12),
        (KeyCode::Char('1'), 0),
    ] {
        assert!(state.press(key(code)).is_empty());
        assert_eq!(selected(&state), expected, "{code:?}");
    }
    // Moving within what is typed selects nothing else.
    state.press(key(KeyCode::Down));
    state.press(key(KeyCode::Left));
    assert_eq!(selected(&state), 1);
    state.paste("z");
    assert_eq!(selected(&state), 0);
    assert!(state.press(key(KeyCode::Enter)).is_empty());
    assert!(foot(&mut state, 60).contains("no document has this tag"));
    let effects = state.press(key(KeyCode::Esc));
    assert!(
        matches!(effects.as_slice(), [FindEffect::Ask(asked)] if asked.slot == AnswerPane::Beside)
    );
    assert!(matches!(state.panel, Panel::None));
}

#[test]
fn a_date_is_typed() {
    let mut state = choosing('d', &[]);
    insta::assert_snapshot!(screen(&mut state, 64, 10), @r"
    date ›
    3 passages in 2 documents · 7 ms
    ────────────────────────────────────────────────────────────────
    2026, 2026-05, 2026-05-17, 7d, last month: dates in that period
    2024.. from, ..2024 until, 2023-06..2024 between
    empty: any date
    ────────────────────────────────────────────────────────────────
    Tide station handbook
    Maintenance › Winter
    Enter choose  Esc back
    ");
    typed(&mut state, "2024-05");
    let effects = state.press(key(KeyCode::Enter));
    assert!(matches!(effects.as_slice(), [FindEffect::Ask(_)]));
    assert_eq!(state.request.filter.since.as_deref(), Some("2024-05"));
}

#[test]
fn the_menu_opens_a_filter_by_its_letter() {
    for (letter, kind) in [
        ('t', Some(FilterKind::Of(Facet::Type))),
        ('G', Some(FilterKind::Of(Facet::Tag))),
        ('l', Some(FilterKind::Of(Facet::Language))),
        ('d', Some(FilterKind::Date)),
        ('q', None),
    ] {
        let mut state = found();
        state.press(control('f'));
        let effects = state.press(key(KeyCode::Char(letter)));
        let found = match &state.panel {
            Panel::Picker(picker) => Some(picker.kind),
            _ => None,
        };
        assert_eq!(found, kind, "{letter}");
        let asks = matches!(kind, Some(FilterKind::Of(_)));
        assert_eq!(effects.len(), usize::from(asks), "{letter}");
    }
}
