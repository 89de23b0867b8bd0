//! Tests which parts of a page are its content, on articles and on documentation.

use crate::ReaderInput;
use crate::document::{WordAccount, WordDestination};
use crate::extract::protocol::AnswerLine;
use crate::html::tests::blocks_of;

mod written;

const PROSE: &str = "<p>The gauge in the harbour has been read at noon on every day since 1902, and \
    the book of the readings is kept in the office of the harbour master.</p>";

/// Checks which words the text of a page has, and which it does not have.
#[track_caller]
fn check(page: &str, kept: &[&str], left_out: &[&str]) {
    let text = blocks_of(page.as_bytes()).1.join("\n");
    for words in kept {
        assert!(text.contains(words), "{words} is missing:\n{text}");
    }
    for words in left_out {
        assert!(!text.contains(words), "{words} is there:\n{text}");
    }
}

/// Puts an article between what news sites and blogs put around it.
fn news(article: &str) -> String {
    format!(
        "<body class=has-sidebar><div class=topMenu><ul><li><a>Sport</a><li><a>Boats</a></ul></div>\
         <div id=page><div class=left><h1>Low water</h1><p class=by-line>By Maren Voss</p>\
         <p class=intro>Few ships came in.</p><div class='entry-content'>{article}</div>\
         <div class=tag-links><a>ebb</a> <a>flood</a></div></div>\
         <div class=sidebar-right><h3>Weather</h3>{PROSE}</div>\
         <div id=comments><h3>2 comments</h3><p>I remember it well, it was the year in which the \
         bridge was closed and all of us had to take the ferry.</p></div>\
         <div class=cookieNotice>We use cookies to make this page better for all people who \
         read it, and for us.</div><div id=footer>Imprint</div></div>"
    )
}

#[test]
fn an_article_keeps_its_title_and_lead_and_loses_what_is_around_it() {
    let article =
        [PROSE, "<h2>Ebb</h2>", PROSE, "<ul><li>one gauge<li>two boats</ul>", PROSE].concat();
    check(
        &news(&article),
        &["# Low water", "Few ships", "## Ebb", "- one gauge", "harbour master"],
        &["Sport", "Weather", "comments", "the ferry", "cookies", "Imprint", "flood"],
    );
}

#[test]
fn links_to_other_articles_are_left_out() {
    let related = "<p>Read more: <a>The flood of 1906</a></p><h3>You may also like</h3>\
        <div><a>The new lighthouse</a> A keeper tells</div><ul><li><a>Ten boats</a></ul>\
        <section><h4>More from the coast</h4><div><a>A long story about the crews that went out</a> \
        and never found any fish there</div></section>";
    check(
        &news(&[PROSE, related, PROSE, "<p>See <a>the tables</a> of the office.</p>"].concat()),
        &["See the tables of the office"],
        &["flood of 1906", "like", "lighthouse", "Ten boats", "coast", "crews"],
    );
}

#[test]
fn captions_are_left_out_unless_they_have_a_number() {
    let figures = "<figure><img alt='The harbour at night, seen from the bridge'>\
        <figcaption>The harbour at night, seen from the bridge. Photo: Voss</figcaption></figure>\
        <figure><img alt='Water levels by month'><figcaption>Figure 2. Levels in 1902</figcaption>\
        </figure>";
    check(
        &news(&[PROSE, figures, PROSE].concat()),
        &["Water levels by month", "Figure 2. Levels in 1902"],
        &["at night", "Photo"],
    );
}

#[test]
fn lists_of_things_are_no_lists_of_links() {
    let recipe = "<ul class=ingredients-list><li>200 g <a>flour</a><li>3 large <a>eggs</a></ul>";
    check(&news(&[PROSE, recipe, PROSE].concat()), &["200 g flour", "3 large eggs"], &[]);
}

#[test]
fn headings_without_text_are_left_out() {
    let list = "<h2>Other harbours</h2><ul><li><a>Brest</a><li><a>Hull</a></ul>";
    check(
        &news(&[PROSE, "<h2>Year</h2><h3>Spring</h3>", PROSE, list].concat()),
        &["## Year", "### Spring"],
        &["Other harbours", "Brest"],
    );
}

#[test]
fn sentences_are_no_lists_of_links_and_leads_no_headings() {
    let link = "<a>some say that the water of the harbour was lower in the year in which the bridge was built</a>";
    let page = [
        PROSE,
        "<h2>The lead is a sentence of its own.</h2>",
        &format!(
            "<p>As everybody knows, {link}.</p><p><a>All of this is a link to another page.</a></p>"
        ),
        "<h2>Lost</h2><ul><li><a>Brest</a></ul>",
    ];
    check(
        &news(&page.concat()),
        &["## The lead is a sentence of its own.", "As everybody knows, some say"],
        &["Lost", "Brest", "All of this"],
    );
}

#[test]
fn lists_whose_items_begin_with_words_and_lead_elsewhere_are_references() {
    let items = |from: &str| {
        let names = ["Voss, M. (1902):", "Reed, A. (1906):", "Bell, C. (1931):"];
        let item = |name| format!("<li>{name} <a href='{from}'>The water of the harbour</a>");
        names.map(item).concat()
    };
    let [others, own] = ["https://books.example/1", "https://harbour.example/2"].map(items);
    let page = format!("{PROSE}<p><b>Sources</b></p><ul>{others}</ul><p>Then.</p><ol>{own}</ol>");
    check(
        &format!("<link rel=canonical href='https://harbour.example/1'>{}", news(&page)),
        &["- Voss, M. (1902): The water"],
        &["1. Voss"],
    );
}

#[test]
fn references_and_contents_are_no_lists_of_links() {
    let links = |from: &str, names: &[&str]| {
        let item = |(at, name)| format!("<li><a href='{from}{at}'>{name} in the long run</a>");
        names.iter().enumerate().map(item).collect::<String>()
    };
    let (books, exhibits) = (["Roses", "Tulips", "Lilies"], ["Leases", "Loans", "By-laws"]);
    let rows =
        exhibits.map(|name| format!("<tr><td>10.1<td><p><a href=e>{name} of the harbour</a>"));
    let notes = [1, 2].map(|at| format!("<p><a href='#'>[{at}]</a> <a href=x>t.example/{at}</a>"));
    let page = [
        PROSE,
        "<h2>Further reading</h2><ul>",
        &links("https://books.example/", &books),
        "</ul><h2>In this report</h2><ol>",
        &links("#part", &["Ebb", "Flood"]),
        "</ol><h2>Exhibits</h2><table>",
        &rows.concat(),
        "</table>",
        PROSE,
        &notes.concat(),
        "<h2>Other articles here</h2><ul>",
        &links("https://www.harbour.example/", &["Ferries", "Bridges"]),
        "</ul>",
    ];
    check(
        &format!("<link rel=canonical href='https://harbour.example/1'>{}", news(&page.concat())),
        &["## Further reading", "- Roses in", "1. Ebb in", "| 10.1 | Leases of", "[2] t.example/2"],
        &["Other articles here", "Ferries"],
    );
}

#[test]
fn an_article_in_several_containers_is_joined() {
    let part = |n| format!("<div class='content-text'><p>Part {n}.</p>{PROSE}</div>");
    let parts = [1, 2].map(part).concat();
    check(
        &format!("<h1>Low water</h1><div id=parts>{parts}</div><div class=footer>Imprint</div>"),
        &["Part 1.", "Part 2."],
        &["Imprint"],
    );
}

#[test]
fn offers_and_credits_of_pictures_are_left_out() {
    let asides = "<p>Two boats in the harbour at low water (Foto: Maren Voss)</p>\
        <p>Never miss the latest news by signing up to our newsletter, which is sent every day.</p>\
        <div>\u{A9} 2020 Harbour. All Rights Reserved</div><p>Figure 2: Low water (Photo: Voss)</p>";
    check(
        &news(&[&PROSE.repeat(4), asides, "<p>The photo: a gauge, at noon.</p>"].concat()),
        &["Figure 2: Low water", "The photo: a gauge"],
        &["Two boats", "Never miss", "Reserved"],
    );
}

#[test]
fn names_within_a_line_say_nothing() {
    let line = "<p>On <time>2 May 1902</time> the <em class=author>master</em> saw a <b>share</b> of \
        it.</p><pre><span class=hljs-comment># a comment</span>\n<span class=tag>&lt;p></span></pre>";
    check(
        &news(&[PROSE, line, PROSE].concat()),
        &["On 2 May 1902 the master saw a share of it.", "# a comment\n<p>"],
        &[],
    );
    check(
        &format!(
            "<h1>Why <i>not</i></h1><p>My <em>book</em> says so.</p><article>{PROSE}{PROSE}</article>"
        ),
        &["# Why not", "My book says so."],
        &[],
    );
}

#[test]
fn comments_are_kept_where_they_are_the_content() {
    let page =
        format!("<h1>Forum</h1><div class=comment>{PROSE}</div><div class=comment>{PROSE}</div>");
    check(&page, &["harbour master"], &[]);
}

#[test]
fn a_list_of_links_keeps_its_links() {
    let links: String =
        (0..30).map(|n| format!("<li><a href=p{n}.html>Page {n} of all</a>")).collect();
    check(
        &format!("<nav><a>Home</a></nav><h1>All pages</h1><p>Choose one.</p><ul>{links}</ul>"),
        &["# All pages", "Choose one", "- Page 0 of all", "- Page 29 of all"],
        &["Home"],
    );
}

#[test]
fn a_page_of_sphinx_keeps_its_notes_lists_and_contents() {
    check(
        "<meta name=generator content='Docutils 0.21'><div class=related><a>index</a></div>\
         <div class=document><div class=body role=main><section id=search><h1>Search<a \
         class=headerlink href='#search'>¶</a></h1><nav class=contents><a href='#go'>Going</a></nav>\
         <div class='admonition note'><p class=admonition-title>Note</p><p>Be kind.</p></div>\
         <dl><dt id=go><code>go(<em>place</em>)</code><dd><p>Goes.</p></dl>\
         <div class=toctree-wrapper><ul><li><a href=a.html>First steps</a></ul></div>\
         <aside class=footnote>1. A footnote</aside></section></div></div>\
         <div class=sphinxsidebar><a href=b.html>Next topic</a></div><div class=footer>©</div>",
        &[
            "# Search", "Going", "Note", "Be kind", "`go(place)`", "Goes", "First steps",
            "A footnote",
        ],
        &["index", "Next topic", "©", "¶"],
    );
}

#[test]
fn pages_of_mdbook_and_rustdoc_keep_code_and_lists_of_items() {
    check(
        "<!-- Book generated using mdBook --><nav id=sidebar><a>Chapter 2</a></nav><main>\
         <h1 id=a><a class=header href='#a'>Chapter 1</a></h1><p>Run it:<pre><code>kb add .</code>\
         </pre><ul><li><a href=x.html>Install</a><li><a href=y.html>Use</a></ul></main>\
         <nav class=nav-wrapper><a>Next chapter</a></nav>",
        &["# Chapter 1", "kb add .", "- Install", "- Use"],
        &["Chapter 2", "Next chapter"],
    );
    check(
        "<meta name=generator content=rustdoc><body class='rustdoc mod'><nav class=sidebar><a>Crate\
         </a></nav><main><section id=main-content><h1>Module tide</h1><h2 id=structs>Structs<a \
         href='#structs'>§</a></h2><dl class=item-table><dt><a href=s.html>Gauge</a><dd>A gauge.\
         </dl></section></main>",
        &["# Module tide", "## Structs", "Gauge", "A gauge."],
        &["Crate", "§"],
    );
}

#[test]
fn a_page_of_docusaurus_loses_only_the_ways_around() {
    check(
        "<meta name=generator content='Docusaurus v3'><aside class=theme-doc-sidebar-container>\
         <a>Guides</a></aside><main><nav class=theme-doc-breadcrumbs><a>Home</a></nav><article>\
         <div class='theme-doc-markdown markdown'><header><h1>Install</h1></header><div class=\
         'theme-admonition admonition'><p>Needs Rust.</p></div><table><tr><th>Flag<th>Use<tr><td>\
         <code>-v</code><td>Says more</table></div><footer class=theme-doc-footer>Edit this page\
         </footer></article><nav class=pagination-nav><a>Next: Add</a></nav></main>",
        &["# Install", "Needs Rust.", "| -v | Says more |"],
        &["Guides", "Home", "Edit this", "Next: Add"],
    );
}

#[test]
fn a_reference_without_a_known_generator_keeps_its_links() {
    check(
        "<header><a>Docs</a></header><main><article><h1>Array.at()</h1><h2 id=s><a href='#s'>Syntax\
         </a></h2><pre>at(index)</pre><h2 id=x><a href='#x'>Examples</a></h2><pre>a.at(1)</pre>\
         <pre>a.at(-1)</pre><div class=notecard><p>Counts from 0.</p></div><h2>See also</h2>\
         <ul><li><a>Array.find()</a><li><a>Array.slice()</a></ul></article></main>",
        &["# Array.at()", "Syntax", "at(index)", "a.at(-1)", "Counts from 0.", "Array.slice()"],
        &["Docs"],
    );
}

#[test]
fn readme_and_encyclopedia_keep_title_tables_and_references() {
    check(
        "<main><div class=file-list><a>src</a></div><article class='markdown-body entry-content'>\
         <h1>kb</h1><ul><li><a href='#use'>Use</a></ul><pre>kb add</pre></article></main>",
        &["# kb", "- Use", "kb add"],
        &["src"],
    );
    check(
        "<meta name=generator content='MediaWiki 1.43'><main><header><nav><a>Deutsch</a></nav>\
         <h1>Tide</h1></header><div class=mw-parser-output><p>A tide is the rise of the sea.</p>\
         <table class=infobox><tr><th>Period<td>12 h<tr><th>Cause<td>Moon</table><h2>See also</h2>\
         <ul><li><a>Moon</a><li><a>Ebb</a></ul><div class=navbox><a>Oceans</a></div>\
         <span class=mwe-math-element><span style='display: none'><math alttext='{\\displaystyle h=2}'>\
         </math></span><img aria-hidden=true alt='{\\displaystyle h=2}'></span></div></main>",
        &["# Tide", "A tide is", "| Period | 12 h |", "## See also", "- Ebb", "$h=2$"],
        &["Deutsch", "Oceans", "displaystyle"],
    );
}

#[test]
fn a_manual_page_keeps_its_sections() {
    check(
        "<body><div class=page-top><a>man7</a></div><div class=manual-text><h2>NAME</h2><pre>kb - \
         finds</pre><h2>SEE ALSO</h2><pre><a href=grep.html>grep(1)</a></pre></div>\
         <div id=footer>HTML rendering</div>",
        &["## NAME", "## SEE ALSO", "grep(1)"],
        &["rendering"],
    );
}

/// Returns the words of a page that are left out.
#[track_caller]
fn left_out(page: &str) -> Vec<(WordDestination, u32)> {
    let mut left_out = WordAccount::default();
    let outcome = crate::html::read(&ReaderInput::of(page.as_bytes()), &mut |line| {
        if let AnswerLine::Page(page) = line {
            left_out = page.left_out;
        }
        Ok(())
    });
    assert!(outcome.is_ok());
    left_out.counts().collect()
}

#[test]
fn what_is_in_a_frame_or_teaser_has_its_own_reason_and_an_offer_is_a_frame() {
    let stories = "<li><a href=x>A story about ships</a>".repeat(70);
    let rest = format!(
        "<p>Never miss the news by signing up to our newsletter.</p><section class=tags>{stories}</section>"
    );
    let page = [&PROSE.repeat(9), rest.as_str()].concat();
    let around = "<footer>Imprint here<nav>Home</nav><div class=cookies>We use them</div></footer>\
        <div class=related>Others <div class=sharing>Tell it to all</div></div>";
    let page = format!("<h1>Low water</h1><article>{page}</article>{around}");
    assert_eq!(
        left_out(&page),
        [
            (WordDestination::Menu, 1),
            (WordDestination::Teaser, 281),
            (WordDestination::CookieNotice, 3),
            (WordDestination::Frame, 16)
        ]
    );
}

#[test]
fn a_paragraph_outside_of_the_content_is_missed_unless_it_offers_something() {
    let words = "the ships of the northern fleet lay in the outer harbour all winter and waited there for ice to go";
    let count = |outside: &str| {
        let page =
            format!("<h1>Low water</h1><article>{}</article><div>{outside}</div>", PROSE.repeat(9));
        left_out(&page)
            .into_iter()
            .find(|(reason, _)| *reason == WordDestination::Outside)
            .map(|(_, count)| count)
    };
    assert_eq!(count(&format!("<p>So {words}.</p>")), Some(21));
    for outside in [
        format!("<p>Our newsletter tells how {words}.</p>"),
        format!("<p>So {words}.</p><form><input></form>"),
        format!("<div><h3><a href=x>Ice</a></h3><p>So {words}.</p></div>"),
        format!("<ul><li><a href=x>Ice</a><p>So {words}.</p></ul>"),
        "<p>So the ships lay there.</p>".to_owned(),
    ] {
        assert_eq!(count(&outside), None, "{outside}");
    }
}

#[test]
fn every_word_that_is_left_out_has_a_reason() {
    let rest = "<script>var tide = 1</script><p hidden>not shown</p><button>Print it</button>\
        <p class=byline>By Ada Reed</p><ul><li><a>Brest</a><li><a>Hull</a></ul><p>Read more: <a>The flood of 1906</a></p>";
    let page = news(&[PROSE, PROSE, PROSE, rest].concat());
    assert_eq!(
        left_out(&page),
        [
            (WordDestination::Undisplayed, 2),
            // Sport, Boats, and the button.
            (WordDestination::Menu, 4),
            (WordDestination::Teaser, 6),
            (WordDestination::CookieNotice, 17),
            (WordDestination::Links, 2),
            (WordDestination::Comments, 25),
            (WordDestination::Byline, 3),
            // The margin, the foot and the words under the article.
            (WordDestination::Frame, 34),
        ]
    );
}
