//! Tests that the content keeps what its author wrote.

use super::{PROSE, check, news};

#[test]
fn what_somebody_wrote_stays_whatever_its_class_is() {
    let written = "<div class='alert alert-warning'><p>Never lift with people.</p></div>\
        <div class=disclaimer>Readings are in local time.</div>\
        <aside><p>A knot is one mile an hour.</p></aside>\
        <section class=shared-memory><h2>Shared</h2><p>Crews kept one book.</p></section>\
        <div class=related-specs><table><tr><th>Ratio<td>40:1<tr><th>Weight<td>11 kg</table></div>\
        <footer><ol><li>The decree is of 1911.</ol></footer>";
    let kept = ["Never lift", "local time", "A knot", "Crews kept", "Ratio | 40:1", "is of 1911"];
    let furniture = "<div class=promo>Now half price</div>\
        <div class=newsletter><p>All the tides, every day.</p><form><label>E-mail</label></form></div>\
        <aside><p>Tell all your friends of it.</p><a href='https://example.org/intent/tweet?u=x'>x</a>\
        </aside><div class=related><p>How the <a>lighthouse</a> was built.</p></div>\
        <div class=author-box><a rel=author>Voss</a> writes about the sea.</div>";
    let left_out = ["half price", "All the tides", "your friends", "lighthouse", "about the sea"];
    check(&news(&[PROSE, written, furniture, PROSE].concat()), &kept, &left_out);
    let page = format!("<main><h1>Gauge</h1>{PROSE}{written}{furniture}{PROSE}</main>");
    check(&page, &kept, &left_out);
    let generator = "<meta name=generator content='Sphinx 7'>";
    check(&format!("{generator}{page}"), &kept, &left_out[..2]);
}

#[test]
fn what_is_around_the_marked_content_is_not_kept_for_its_sentences() {
    let aside = "<aside class=widget><p>Call the coast guard at once.</p></aside>";
    let page = format!("<h1>Low water</h1><div><article>{PROSE}{PROSE}</article>{aside}</div>");
    check(&page, &["harbour master"], &["coast guard"]);
}

#[test]
fn links_are_the_content_of_a_page_that_has_little_else() {
    let links: String = ["belayLine", "castOff", "dropAnchor", "furlJib"]
        .map(|name| format!("<li><a href={name}.html>{name}</a>"))
        .concat();
    check(
        &format!("<nav><a>Home</a></nav><main><h1>Index</h1><p>All.<ul>{links}</ul></main>"),
        &["# Index", "- belayLine", "- furlJib"],
        &["Home"],
    );
    let event = |name, day| {
        format!("<li class=teaser><h3><a href=x>{name}</a></h3><time>{day}</time><p>At nine.")
    };
    check(
        &format!(
            "<main><h1>Events</h1><ul>{}{}</ul></main>",
            event("Gigs", "12 June"),
            event("Yard", "3 July")
        ),
        &["Gigs", "12 June", "Yard", "3 July"],
        &[],
    );
}

#[test]
fn several_articles_and_notes_next_to_one_long_paragraph_are_kept() {
    let post = |words| format!("<article class=post><p>{words}</p></article>");
    check(
        &format!("<main><h1>Thread</h1>{}{}</main>", post(PROSE), post("I saw it, too.")),
        &["harbour master", "I saw it"],
        &[],
    );
    let page = format!(
        "<div id=content><h1>Gate</h1><div><div class=p>{PROSE}</div><div>Mind the gate.</div></div></div>"
    );
    check(&page, &["harbour master", "Mind the gate."], &[]);
}

#[test]
fn a_consent_notice_is_known_by_its_button() {
    let notice = "<div class=bar><p>We set cookies to count all our readers.</p><button>Accept all</button></div>";
    let page = format!(
        "<main><h1>Cookies</h1>{PROSE}<section class=consent><p>We keep consent to \
        cookies for three years.</p></section></main>{notice}"
    );
    check(&page, &["for three years"], &["our readers"]);
    check(&format!("<h1>Low water</h1>{PROSE}{notice}"), &["harbour master"], &["our readers"]);
}
