//! Tests which hidden elements are panels, and what names them.

use crate::html::tests::blocks_of;

const PROSE: &str =
    "<p>The gauge in the harbour has been read at noon on every day since 1902.</p>";

/// Checks the blocks below the first paragraph.
#[track_caller]
fn check(panels: &str, expected: &[&str]) {
    let page = format!("<main><h1>Gauge</h1>{PROSE}{panels}</main>");
    assert_eq!(blocks_of(page.as_bytes()).1[2..], *expected, "{panels}");
}

#[test]
fn a_panel_that_a_control_names_has_its_text_as_heading() {
    let panel = "<div id=x style='display: none'><p>Run it.</p></div>";
    for control in [
        "<button aria-controls=x>Fedora</button>",
        "<button data-target='#x'>Fedora</button>",
        "<div><button data-bs-target='#x'>Fedora</button></div>",
    ] {
        check(&format!("{control}<p>Or:</p>{panel}"), &["Or:", "## Fedora", "Run it."]);
    }
    check(
        "<p id=l>Fedora</p><p>Or:</p><div hidden aria-labelledby=l>Run it.</div>",
        &["Fedora", "Or:", "## Fedora", "Run it."],
    );
    check("<button>Why?</button><div hidden>So.</div>", &["## Why?", "So."]);
}

#[test]
fn tabs_are_the_headings_of_their_panels() {
    check(
        "<div><div role=tablist><button role=tab>Apt</button><button role=tab>Dnf</button></div>\
         <div role=tabpanel>One.</div><div role=tabpanel aria-hidden=true hidden>Two.</div></div>",
        &["## Apt", "One.", "## Dnf", "Two."],
    );
}

#[test]
fn what_follows_its_only_heading_or_line_is_a_panel() {
    check(
        "<h3>Range</h3><div hidden>Cliffs.</div><h3>Food</h3>Fish.",
        &["### Range", "Cliffs.", "### Food", "Fish."],
    );
    check(
        "<div><span>Expand</span><div style='display:none'>List.</div></div>",
        &["Expand", "List."],
    );
    check("<div hidden>More.</div><a href='#'>Read more</a>", &["More."]);
    check("<div hidden=until-found>Found.</div>", &["Found."]);
}

#[test]
fn questions_in_buttons_are_headings() {
    check("<h2><button>Where?</button></h2><div>Here.</div>", &["## Where?", "Here."]);
    let questions =
        "<button class=q>Where?</button><div>Here.</div><button>When?</button><div>Now.</div>";
    check(questions, &["## Where?", "Here.", "## When?", "Now."]);
    check("<button>Copy</button><div>Here.</div>", &["Here."]);
}

#[test]
fn hidden_text_that_nothing_names_stays_out() {
    check("<div hidden>Obey.</div>", &[]);
    check("<h2>Range</h2><p>Cliffs.</p><div hidden>Obey.</div>", &["## Range", "Cliffs."]);
    check("<h2>Range</h2><div hidden>Obey.</div><p>Cliffs.</p>", &["## Range", "Cliffs."]);
    check("<p hidden>Obey.</p><button>Print</button>", &[]);
    check(
        "<div hidden><button aria-controls=x>Go</button></div><p>No.</p><p id=x hidden>Obey.</p>",
        &["No."],
    );
    check("<button aria-controls=x>Log in</button><div id=x hidden>Name: <input></div>", &[]);
    check(
        "<button aria-controls=x>All</button><div id=x hidden><a>Brest</a> <a>Hull</a></div>",
        &[],
    );
}

#[test]
fn a_panel_whose_words_are_elsewhere_is_a_copy() {
    let text = "The water leaves the harbour at noon.";
    check(
        &format!("<p>{text}</p><button aria-controls=x>Phone</button><p id=x hidden>{text}</p>"),
        &[text],
    );
}
